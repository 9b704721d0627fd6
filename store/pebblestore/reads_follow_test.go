package pebblestore

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// TestReadsFollow checks that a store that follows the log of another store forgets records that it
// has kept for a change when it loads their next revisions.
func TestReadsFollow(t *testing.T) {
	from, to := openMem(t, vfs.NewMem()), openMem(t, vfs.NewMem())
	keys := []name.Name{name.FromKey("urn:x-w:1"), name.FromKey("urn:x-w:2")}
	for revision := range uint64(3) {
		var changes []store.Change
		for _, key := range keys {
			changes = append(changes, store.Change{
				Record: &store.Record{Name: key, Status: nomen.Active, Locations: []nomen.Location{{URL: fmt.Sprint("u:", revision)}}}, Expected: revision, Time: time.Unix(1, 0),
			})
		}
		if _, err := from.Apply(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Records(t.Context(), keys, true); err != nil { // the store now keeps these records
			t.Fatal(err)
		}
		if revision > 0 && len(to.reads.all) != len(keys) {
			t.Errorf("%d records are kept, want %d", len(to.reads.all), len(keys))
		}
		if err := to.Load(t.Context(), from.Changes(t.Context(), 0)); err != nil {
			t.Fatalf("revision %d: %v", revision+1, err)
		}
		if len(to.reads.all) != 0 || to.reads.size != 0 {
			t.Errorf("revision %d: kept %v", revision+1, to.reads.all)
		}
		recs, err := to.Records(t.Context(), keys, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range recs {
			if rec.Revision != revision+1 || rec.Locations[0].URL != fmt.Sprint("u:", revision) {
				t.Errorf("%s has revision %d, want %d", rec.Name, rec.Revision, revision+1)
			}
		}
	}
	if h, err := store.HeadOf(t.Context(), to); err != nil || h != from.sealed.head() {
		t.Errorf("head %v, %v, want %v", h, err, from.sealed.head())
	}
	if _, err := to.Verify(t.Context(), func(f store.Fault) { t.Errorf("%+v", f) }, nil); err != nil {
		t.Error(err)
	}
}
