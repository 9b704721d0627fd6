package admin

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// A busyStore calls meanwhile before the first change of an import, when the import has begun.
type busyStore struct {
	store.Store
	once      sync.Once
	meanwhile func()
}

func (s *busyStore) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if changes[0].Batch != "" {
		s.once.Do(s.meanwhile)
	}
	return s.Store.Apply(ctx, changes)
}

// onAllStores runs a test with a server on each kind of store.
func onAllStores(t *testing.T, test func(w *workshop)) {
	onPairs(t, func(p *pair) {
		p.api = p.there
		test(p.workshop)
	})
	t.Run("pebblestore", func(t *testing.T) {
		s, err := pebblestore.Open(pebblestore.Options{Dir: "store", FS: vfs.NewMem(), CacheSize: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		fill(t, s)
		w := &workshop{T: t, store: s, now: time.Now}
		w.api = w.node(filepath.Join(t.TempDir(), "jobs"))
		if _, err := w.as("root", registrar.Administrator).PutAuthority(t.Context(), &store.Authority{Prefix: name.MustParsePrefix("urn:x-shop"), Owners: []string{"mailto:shop@example.org"}}, 0, ""); err != nil {
			t.Fatal(err)
		}
		test(w)
	})
}

// What others change while a dry run is applied is not overwritten, and is reported line by line. A
// name that is twice in the file is not such a change.
func TestApplyWhileOthersChange(t *testing.T) {
	onAllStores(t, func(w *workshop) {
		const lines = 5500 // more than one batch
		var file strings.Builder
		file.WriteString("name,url\n")
		for i := range lines {
			fmt.Fprintf(&file, "urn:x-shop:%d,https://file.example/%d\n", i, i)
		}
		file.WriteString("urn:x-shop:0,https://file.example/again\nurn:x-shop:9,https://file.example/again\n")
		for _, n := range []int{1, 3, 4, 9, 5400, 5402} {
			w.locate(fmt.Sprintf("urn:x-shop:%d", n), "https://before.example/")
		}
		c := w.editor()
		dry := w.upload(c, file.String(), bulk.ImportOptions{OnConflict: bulk.Replace})
		if dry.Result.Summary.Refused != 0 {
			w.Fatalf("dry run: %+v", dry.Result)
		}
		usual := w.api.registrar
		others := func() {
			for _, n := range []int{1, 2, 5400, 5401} {
				rec := &store.Record{Spelling: fmt.Sprintf("urn:x-shop:%d", n), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://other.example/"}}}
				rec.Name = name.MustParse(rec.Spelling)
				if _, err := usual.Put(w.Context(), registrar.Operator(), registrar.Request{Record: rec, Expected: store.AnyRevision}, ""); err != nil {
					w.Error(err)
				}
			}
		}
		w.api.registrar = registrar.New(&busyStore{Store: w.store, meanwhile: others}, registrar.Options{Now: w.api.now})
		done := w.apply(c, dry, adminapi.Application{})
		var refused []string
		for _, r := range done.Result.Refusals {
			refused = append(refused, fmt.Sprint(r.Line, " ", r.Name, " ", r.Code))
		}
		want := []string{"3 urn:x-shop:1 changed", "4 urn:x-shop:2 changed", "5402 urn:x-shop:5400 changed", "5403 urn:x-shop:5401 changed"}
		if !done.Complete || !slices.Equal(refused, want) || done.Result.Summary.Refused != 4 {
			w.Errorf("refused %q, want %q: %+v", refused, want, done.Problem)
		}
		for n, url := range map[int]string{
			1: "https://other.example/", 2: "https://other.example/", 5400: "https://other.example/", 5401: "https://other.example/",
			0: "https://file.example/again", 9: "https://file.example/again", 3: "https://file.example/3", 5402: "https://file.example/5402", 5499: "https://file.example/5499",
		} {
			if got := w.url(fmt.Sprintf("urn:x-shop:%d", n)); got != url {
				w.Errorf("urn:x-shop:%d leads to %s, want %s", n, got, url)
			}
		}
	})
}

// The lines that an import rejects have the value of the cell, as those of the dry run.
func TestRejectedLinesHaveValues(t *testing.T) {
	w := newWorkshop(t)
	c := w.editor()
	dry := w.upload(c, threeRows, bulk.ImportOptions{})
	done := w.apply(c, dry, adminapi.Application{SkipRejected: true})
	for what, j := range map[string]adminapi.Job{"dry run": dry, "import": done} {
		if r := j.Result.Refusals; len(r) != 1 || r[0].Value != "relative" || r[0].Field != "url" || r[0].Line != 3 || r[0].Code == "" {
			t.Errorf("%s: %+v", what, r)
		}
	}
}
