//go:build unix

package bulk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nomen-project/nomen/bulk/bulktest"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
)

const benchRecords = 200_000

// cpu returns the processor time that this program has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// passes calls f, which processes all records of a file, and reports the cost of one record: the
// time, and the processor time, which depends less on other programs on the machine.
func passes(b *testing.B, f func()) {
	b.ReportAllocs()
	before := cpu()
	for b.Loop() {
		f()
	}
	records := float64(b.N) * benchRecords
	b.ReportMetric(float64((cpu()-before).Nanoseconds())/records, "cpu-ns/record")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/records, "ns/record")
	b.ReportMetric(records/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(0, "ns/op")
}

func file(b *testing.B, o bulktest.Options) []byte {
	b.Helper()
	text, err := io.ReadAll(bulktest.NewReader(benchRecords, o))
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func BenchmarkGenerate(b *testing.B) {
	passes(b, func() {
		if _, err := bulktest.NewReader(benchRecords, bulktest.Options{}).WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkDecode reads records and does nothing with them.
func BenchmarkDecode(b *testing.B) {
	for _, kind := range kinds {
		for _, f := range []Format{JSONLines, CSV, TSV} {
			text := benchFile(b, kind.options, f)
			b.Run(f.String()+"/"+kind.name, func(b *testing.B) { passes(b, func() { decode(b, text, f) }) })
		}
	}
}

var kinds = []struct {
	name    string
	options bulktest.Options
}{{"Small", bulktest.Options{}}, {"Rich", bulktest.Options{Rich: true}}}

// benchFile returns a file in any format.
func benchFile(b *testing.B, o bulktest.Options, f Format) []byte {
	b.Helper()
	text := file(b, o)
	if f == JSONLines {
		return text
	}
	s := memstore.New()
	benchImport(b, s, text)
	var out bytes.Buffer
	if _, err := Export(b.Context(), s, &out, ExportOptions{Format: f}); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// BenchmarkCheck makes the checks of the registrar that need no record.
func BenchmarkCheck(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			reg := benchRegistrar(b, memstore.New())
			load, err := reg.NewLoad(registrar.Operator(), "")
			if err != nil {
				b.Fatal(err)
			}
			var reqs []registrar.Request
			in, err := newReader(bytes.NewReader(file(b, kind.options)), JSONLines, Plain, Sheet{})
			if err != nil {
				b.Fatal(err)
			}
			defer in.close()
			for line, err := in.next(); err == nil; line, err = in.next() {
				reqs = append(reqs, registrar.Request{Record: line.Record, Fields: line.Fields, Add: true, Expected: store.AnyRevision})
			}
			passes(b, func() {
				for i := 0; i < benchRecords; i += batchSize {
					if _, err := load.Check(b.Context(), reqs[i:i+batchSize]); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// BenchmarkExport writes records.
func BenchmarkExport(b *testing.B) {
	for _, kind := range kinds {
		s := benchStore(b, "pebblestore")
		benchImport(b, s, file(b, kind.options))
		for _, f := range Formats() {
			b.Run(f.String()+"/"+kind.name, func(b *testing.B) {
				passes(b, func() {
					if _, err := Export(b.Context(), s, io.Discard, ExportOptions{Format: f}); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

func decode(b *testing.B, text []byte, f Format) {
	in, err := newReader(bytes.NewReader(text), f, Plain, Sheet{})
	if err != nil {
		b.Fatal(err)
	}
	defer in.close()
	for n := 0; ; n++ {
		if _, err := in.next(); errors.Is(err, io.EOF) && n == benchRecords {
			return
		} else if err != nil {
			b.Fatal(n, err)
		}
	}
}

func benchStore(b *testing.B, kind string) store.Store {
	b.Helper()
	if kind == "memstore" {
		return memstore.New()
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

func benchRegistrar(b *testing.B, s store.Store) *registrar.Registrar {
	b.Helper()
	reg := registrar.New(s, registrar.Options{})
	for _, a := range bulktest.Authorities() {
		if _, err := reg.PutAuthority(b.Context(), registrar.Operator(), a, store.AnyRevision, ""); err != nil {
			b.Fatal(err)
		}
	}
	return reg
}

// benchImport imports a file and returns the summary.
func benchImport(b *testing.B, s store.Store, text []byte) Summary {
	b.Helper()
	reg := benchRegistrar(b, s)
	sum, err := Import(context.Background(), reg, registrar.Operator(), bytes.NewReader(text), ImportOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return sum
}

// BenchmarkImport measures a complete import: of new records in the order of their names, of new
// records in random order, and of the same records again.
func BenchmarkImport(b *testing.B) {
	sorted, shuffled := file(b, bulktest.Options{}), file(b, bulktest.Options{Shuffled: true})
	for _, kind := range []string{"memstore", "pebblestore"} {
		b.Run("New/"+kind, func(b *testing.B) {
			passes(b, func() {
				if sum := benchImport(b, benchStore(b, kind), sorted); sum.Created != benchRecords {
					b.Fatal(sum)
				}
			})
		})
		b.Run("Shuffled/"+kind, func(b *testing.B) {
			passes(b, func() {
				if sum := benchImport(b, benchStore(b, kind), shuffled); sum.Created != benchRecords {
					b.Fatal(sum)
				}
			})
		})
		b.Run("Again/"+kind, func(b *testing.B) {
			s := benchStore(b, kind)
			benchImport(b, s, sorted)
			passes(b, func() {
				if sum := benchImport(b, s, sorted); sum.Unchanged != benchRecords {
					b.Fatal(sum)
				}
			})
		})
	}
}

// BenchmarkVerify verifies a store with records that were imported in the order of their names, and
// another store with records that were imported in random order.
func BenchmarkVerify(b *testing.B) {
	for _, kind := range []struct {
		name    string
		options bulktest.Options
	}{{"Ordered", bulktest.Options{}}, {"Shuffled", bulktest.Options{Shuffled: true}}} {
		b.Run(kind.name, func(b *testing.B) {
			s := benchStore(b, "pebblestore")
			benchImport(b, s, file(b, kind.options))
			fault := func(f store.Fault) { b.Error(f) }
			passes(b, func() {
				if head, err := s.(store.Verifier).Verify(b.Context(), fault, nil); err != nil || head.Size < benchRecords {
					b.Fatal(head, err)
				}
			})
		})
	}
}

// opaque returns a file of records whose names have another order than their locations, as is usual
// for opaque identifiers.
func opaque() []byte {
	var b bytes.Buffer
	for i := range benchRecords {
		h := sha256.Sum256(strconv.AppendInt(nil, int64(i), 10))
		fmt.Fprintf(&b, `{"name":"ark:99999/%x","locations":[{"url":"https://old.example.org/item/%07d"}],"metadata":{"title":["Report number %d of the series"]}}`+"\n", h[:6], i, i)
	}
	return b.Bytes()
}

// BenchmarkRelocate changes the location of every record after an import of them, and
// compares the two rates.
func BenchmarkRelocate(b *testing.B) {
	for _, c := range []struct {
		name, from string
		text       []byte
		moved      int64
	}{
		{"Ordered", "https://packages.example.org/", file(b, bulktest.Options{}), benchRecords * 12 / 20},
		{"Opaque", "https://old.example.org/", opaque(), benchRecords},
	} {
		b.Run(c.name, func(b *testing.B) {
			var imported, relocated time.Duration
			var importCPU, relocateCPU time.Duration
			for b.Loop() {
				s := benchStore(b, "pebblestore")
				reg := benchRegistrar(b, s)
				start, work := time.Now(), cpu()
				if _, err := Import(b.Context(), reg, registrar.Operator(), bytes.NewReader(c.text), ImportOptions{}); err != nil {
					b.Fatal(err)
				}
				imported, importCPU = imported+time.Since(start), importCPU+cpu()-work
				start, work = time.Now(), cpu()
				sum, err := reg.Relocate(b.Context(), registrar.Operator(), registrar.Relocation{From: c.from, To: "https://new.example.org/a/"})
				if err != nil || sum.Names != c.moved {
					b.Fatal(sum, err)
				}
				relocated, relocateCPU = relocated+time.Since(start), relocateCPU+cpu()-work
			}
			n := float64(b.N)
			b.ReportMetric(n*benchRecords/imported.Seconds(), "imported/s")
			b.ReportMetric(n*float64(c.moved)/relocated.Seconds(), "relocated/s")
			b.ReportMetric(float64(importCPU.Microseconds())/n/benchRecords, "import-cpu-us")
			b.ReportMetric(float64(relocateCPU.Microseconds())/n/float64(c.moved), "relocate-cpu-us")
			b.ReportMetric(0, "ns/op")
		})
	}
}
