package admin

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A rotten store has changes that cannot be read.
type rotten struct {
	*memstore.Store
	at uint64 // 0 disables the fault
}

func (r *rotten) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for e, err := range r.Store.Changes(ctx, after) {
			if err == nil && e.Seq == r.at {
				e, err = nil, &codec.CorruptError{Key: "x", Reason: "spoilt"}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func scrubbed(t *testing.T, s store.Reader, dir string) (*API, func() string) {
	t.Helper()
	log, text := logged()
	srv, err := New(Options{Resolver: resolve.New(s, resolve.Options{}), Store: s, Registrar: registrar.New(s.(store.Store), registrar.Options{}), Log: log, Scrub: 1000, ScrubDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return srv, text.String
}

func TestScrub(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &rotten{Store: memstore.New()}
		defer s.Close()
		var batch []store.Change
		for i := range 5000 {
			n := name.MustParse(fmt.Sprintf("urn:example:%d", i))
			batch = append(batch, store.Change{Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/"}}}, Time: time.Now()})
		}
		if _, err := s.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		srv, _ := scrubbed(t, s, dir)
		during := func(d time.Duration, srv *API) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			srv.scrub.run(ctx)
		}
		// The scrub keeps to its rate, and continues after a restart.
		during(2500*time.Millisecond, srv)
		if got := srv.scrub.known(); !strings.HasPrefix(got.Head, "3072:") || !got.Last.Ended.IsZero() {
			t.Errorf("after 2.5 s: %+v", got)
		}
		s.at = 1000 // already verified
		srv, _ = scrubbed(t, s, dir)
		during(5*time.Second, srv)
		if got := srv.scrub.known(); !strings.HasPrefix(got.Head, "5000:") || got.Last.Size != 5000 || got.Last.Faults != 0 || got.Last.Ended.IsZero() {
			t.Errorf("a pass: %+v", got)
		}
		// The next pass starts a day after the first, and finds the fault.
		first := srv.scrub.known().Last.Ended
		srv, said := scrubbed(t, s, dir)
		during(23*time.Hour, srv)
		if got := srv.scrub.known(); !got.Last.Ended.Equal(first) {
			t.Errorf("within a day: %+v", got)
		}
		during(2*time.Hour, srv)
		if got := srv.scrub.known(); got.Last.Faults != 1 || !got.Last.Ended.After(first) || strings.Count(said(), "change 1000 cannot be read") != 1 {
			t.Errorf("after a day: %+v, %s", got, said())
		}
		if got, ok := srv.Scrub(); !ok || got.Faults != 1 || got.Ended.Before(first) || got.Changes != 5000 {
			t.Errorf("state: %+v", got)
		}
		// The scrub waits for a running job. With another store or a damaged file it begins a new
		// pass.
		srv.jobs.all = []*job{{Job: adminapi.Job{State: adminapi.JobRunning}}}
		if rest := srv.scrub.step(t.Context()); rest != time.Hour { // between two passes
			t.Errorf("rest %v", rest)
		}
		time.Sleep(24 * time.Hour)
		if rest := srv.scrub.step(t.Context()); rest != time.Second {
			t.Errorf("while a job runs it rests %v", rest)
		}
		other := memstore.New()
		defer other.Close()
		if _, err := other.Apply(t.Context(), batch[:10]); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, scrubFile), []byte(`{"version":1,"head":"3:`+strings.Repeat("01", 32)+`","started":"2000-01-01T00:00:00Z"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		srv, said = scrubbed(t, other, dir)
		during(2*time.Minute, srv)
		if got := srv.scrub.known(); got.Last.Size != 10 || !strings.Contains(said(), "scrub restarts") {
			t.Errorf("another store: %+v, %s", got, said())
		}
		if err := os.WriteFile(filepath.Join(dir, scrubFile), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, said = scrubbed(t, other, dir); !strings.Contains(said(), "scrub restarts") {
			t.Errorf("a damaged file: %s", said())
		}
	})
}
