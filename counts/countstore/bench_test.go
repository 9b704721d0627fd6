package countstore

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/nomen-project/nomen/counts"
)

// BenchmarkSize measures the files after 8 days of a million resolutions for each iteration, by
// Zipf's law (1.1) over 9.2 million names.
func BenchmarkSize(b *testing.B) {
	for b.Loop() {
		dir := filepath.Join(b.TempDir(), "counts")
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			b.Fatal(err)
		}
		s, err := Open(Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		names := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, 9_200_000)
		rows, seq := map[string]bool{}, uint64(0)
		for day := uint8(1); day <= 8; day++ {
			for range 10 {
				byKey := map[counts.Key][]counts.Cell{}
				for range 100_000 {
					k := counts.Key{Month: 24322, Kind: counts.OfName, Text: fmt.Sprintf("urn:nbn:de:gbv:7-isbn-%08d", names.Uint64()*2654435761%100_000_000)}
					byKey[k] = counts.Add(byKey[k], []counts.Cell{{Day: day, What: 1, N: 1}})
				}
				batch := counts.Batch{Node: "n"}
				for k, cells := range byKey {
					rows[k.Text+string(rune(day))] = true
					batch.Rows = append(batch.Rows, counts.Row{Key: k, Cells: cells})
				}
				seq++
				batch.Seq = seq
				if err := s.Add(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := s.db.Compact(b.Context(), []byte{0}, []byte{0xff}, true); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		size := int64(0)
		_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".sst" {
				size += info.Size()
			}
			return err
		})
		b.ReportMetric(float64(len(rows)), "name-days")
		b.ReportMetric(float64(size)/float64(len(rows)), "B/name-day")
		b.ReportMetric(float64(size)/8/1e6, "MB/day")
	}
}
