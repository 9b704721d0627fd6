package pebblestore

import (
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// TestFormatOfValues checks that a store gets the version that earlier programs reject with its
// first typed value, or its first location that is a view of one, and not before; by Apply and by
// Load. It checks that users do not lower the version.
func TestFormatOfValues(t *testing.T) {
	valued := store.Record{Values: []nomen.Value{{Index: 1, Type: "K", Data: "x"}}}
	for _, r := range []store.Record{
		valued,
		{Locations: []nomen.Location{{URL: "u:1", Index: 1}}},
		{Locations: []nomen.Location{{URL: "u:0"}, {URL: "u:1", Attributes: `id="0"`}}},
	} {
		disk := vfs.NewMem()
		s := openMem(t, disk)
		write(t, s, 1)
		applyUsers(t, s, storetest.RichUser())
		if got := formatIn(t, s); got != 4 {
			t.Errorf("version %d of a store without values, want 4", got)
		}
		r.Name = name.FromKey("urn:x-a:valued")
		if _, err := s.Apply(t.Context(), []store.Change{{Record: &r, Time: userChange(storetest.RichUser()).Time}}); err != nil {
			t.Fatal(err)
		}
		if got := formatIn(t, s); got != 5 {
			t.Errorf("version %d of a store with %+v, want 5", got, r)
		}
		loaded, err := Open(Options{Dir: "loaded", FS: disk, CacheSize: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer loaded.Close()
		if err := loaded.Load(t.Context(), s.Changes(t.Context(), 0)); err != nil || formatIn(t, loaded) != 5 {
			t.Errorf("version %d of a loaded store, %v, want 5", formatIn(t, loaded), err)
		}
		again, err := reopen(t, s, disk)
		if err != nil {
			t.Fatal(err)
		}
		write(t, again, 3)
		applyUsers(t, again, &store.User{ID: "u-later", Name: "Later"})
		if got := formatIn(t, again); got != 5 {
			t.Errorf("version %d after later changes, want 5", got)
		}
		rights := &store.TokenRights{ID: "t", Role: "editor"}
		if _, err := again.Apply(t.Context(), []store.Change{{Rights: rights, Time: userChange(storetest.RichUser()).Time}}); err != nil {
			t.Fatal(err)
		}
		if got := formatIn(t, again); got != 6 {
			t.Errorf("version %d of a store with rights of tokens, want 6", got)
		}
	}
}

// TestUnitedValues checks that no value is lost when names become one, and that locations stay views
// of their values.
func TestUnitedValues(t *testing.T) {
	r := &store.Record{
		Locations: []nomen.Location{{URL: "u:1", Index: 1}},
		Values:    []nomen.Value{{Index: 1, Type: "URL", TTL: "60"}, {Index: 3, Type: "K", Data: "same"}, {Index: 5, Type: "K"}},
	}
	addRecord(r, &store.Record{
		Locations: []nomen.Location{{URL: "u:2", Index: 1}, {URL: "u:3", Index: 4}, {URL: "u:4"}},
		Values:    []nomen.Value{{Index: 1, Type: "URL"}, {Index: 3, Type: "K", Data: "same"}, {Index: 4, Type: "URL"}, {Index: 5, Type: "L"}},
	})
	values := []nomen.Value{
		{Index: 1, Type: "URL", TTL: "60"},
		{Index: 2, Type: "URL"},
		{Index: 3, Type: "K", Data: "same"},
		{Index: 4, Type: "URL"},
		{Index: 5, Type: "K"},
		{Index: 6, Type: "L"},
	}
	if !slices.Equal(r.Values, values) {
		t.Errorf("values %+v, want %+v", r.Values, values)
	}
	locations := []nomen.Location{{URL: "u:1", Index: 1}, {URL: "u:2", Index: 2}, {URL: "u:3", Index: 4}, {URL: "u:4"}}
	if !slices.Equal(r.Locations, locations) {
		t.Errorf("locations %+v, want %+v", r.Locations, locations)
	}
}
