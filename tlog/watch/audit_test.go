package watch_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/watch"
)

// A madeLog is a long log whose entries are computed when they are read, so that it needs little
// memory itself: only the hashes of the tiles above the lowest.
type madeLog struct {
	size  uint64
	text  []byte                // the checkpoint
	nodes map[int][]ledger.Hash // by level of tiles, from 1
}

func madeLeaf(i uint64) []byte {
	return leafOf(change{name: fmt.Sprintf("urn:x-a:n%d", i), revision: 1, at: start.Add(time.Duration(i) * time.Second), status: nomen.Active, location: "https://example.org/"})
}

func newMadeLog(t testing.TB, size uint64, signer note.Signer) *madeLog {
	t.Helper()
	l := &madeLog{size: size, nodes: map[int][]ledger.Hash{}}
	var log ledger.Log
	for i := range size {
		for _, n := range log.Append(nil, madeLeaf(i)) {
			if n.Level%8 == 0 {
				l.nodes[n.Level/8] = append(l.nodes[n.Level/8], n.Hash)
			}
		}
	}
	var err error
	if l.text, err = (tlog.Checkpoint{Origin: origin, Size: size, Root: log.Head().Hash}).Sign(signer); err != nil {
		t.Fatal(err)
	}
	return l
}

// Checkpoint implements [watch.Log].
func (l *madeLog) Checkpoint(context.Context) ([]byte, error) { return l.text, nil }

// ReadTile implements [tlog.TileReader].
func (l *madeLog) ReadTile(_ context.Context, path string) (data []byte, err error) {
	t, err := tlog.ParseTilePath(path)
	if err != nil || !t.In(l.size) {
		return nil, fs.ErrNotExist
	}
	first := t.N * tlog.TileWidth
	for i := first; i < first+uint64(t.Width); i++ {
		switch t.Level {
		case tlog.EntriesLevel:
			if data, err = tlog.AppendEntry(data, madeLeaf(i)); err != nil {
				return nil, err
			}
		case 0:
			h := tlog.EntryHash(madeLeaf(i))
			data = append(data, h[:]...)
		default:
			data = append(data, l.nodes[t.Level][i][:]...)
		}
	}
	return data, nil
}

// audited audits a log, with a file for its state, and returns the most memory that was in use
// during the audit, in addition to that before.
func audited(t testing.TB, l *madeLog, key note.Verifier) (peak uint64) {
	t.Helper()
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, calls := inUse(), 0
	w, err := watch.New(watch.Options{
		Log: l, Key: key, All: true, State: filepath.Join(t.TempDir(), "audit"),
		Now:   func() time.Time { return start.Add(time.Duration(l.size) * time.Second) },
		Alert: func(a *watch.Alert) { t.Errorf("alert: %+v", a) },
		Progress: func(uint64, uint64) {
			if calls++; calls%64 == 1 {
				peak = max(peak, inUse())
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Check(t.Context())
	if err != nil || r.Size != l.size || r.Checked != l.size || !r.Entries || r.Alerts > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if calls == 0 {
		t.Error("no progress was reported")
	}
	return peak - min(peak, before)
}

// TestAuditMemory checks that the memory of an audit does not grow with the log.
func TestAuditMemory(t *testing.T) {
	signer, key := keyPair(t, origin, false)
	for _, size := range []uint64{5_000, 100_000} {
		if got := audited(t, newMadeLog(t, size, signer), key); got > 4<<20 {
			t.Errorf("%d entries: %d bytes, want at most 4 MiB", size, got)
		}
	}
}

// BenchmarkAudit audits a log of 100,000 entries, or of as many as NOMEN_NAMES says. The log computes
// its tiles when they are read, which is part of the time.
func BenchmarkAudit(b *testing.B) {
	size := uint64(100_000)
	if n, err := strconv.ParseUint(os.Getenv("NOMEN_NAMES"), 10, 64); err == nil {
		size = n
	}
	signer, key := keyPair(b, origin, false)
	l := newMadeLog(b, size, signer)
	var peak uint64
	for b.Loop() {
		peak = max(peak, audited(b, l, key))
	}
	b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
	b.ReportMetric(float64(peak)/(1<<20), "MiB")
}
