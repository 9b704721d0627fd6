package pebblestore

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A store of the version before can be read and backed up as it is; it gets its
// aliases when it is opened for writing, and keeps them; what verify finds says
// that none is missing and none too many.
func TestAliasesOfTheVersionBefore(t *testing.T) {
	disk := vfs.NewMem()
	alias := name.MustParse("doi:10.5072/a")
	s, err := Open(Options{Dir: "store", FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	rec := &store.Record{Name: name.MustParse("urn:example:1"), Status: nomen.Active, SameAs: []string{"doi:10.5072/A", "https://example.org/"}, Locations: []nomen.Location{{URL: "https://example.org/1"}}}
	if _, err := s.Apply(t.Context(), []store.Change{{Record: rec, Expected: store.AnyRevision, Time: time.UnixMilli(1)}}); err != nil {
		t.Fatal(err)
	}
	from, to := store.AliasSpan()
	if err := s.engine.Load().db.DeleteRange(appendEscaped([]byte{spaceLocation}, from), appendEscaped([]byte{spaceLocation}, to), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	// One that no record has any more is forgotten.
	set(t, s, string(appendPlace(nil, store.Place{URL: from + "urn:example:gone", Name: rec.Name})), nil)
	set(t, s, metaFormat, encodeNumber(formatUnaliased))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{ReadOnly: true}, {Keep: true}} { // neither converts it
		o.Dir, o.FS = "store", disk
		s, err := Open(o)
		if err != nil {
			t.Fatalf("opened for reading: %v", err)
		}
		if format, _, err := number(s.engine.Load().db, metaFormat); format != formatUnaliased || err != nil {
			t.Errorf("opened for reading: format %d, %v", format, err)
		}
		if _, err := s.Apply(t.Context(), []store.Change{{Record: rec, Expected: store.AnyRevision, Time: time.UnixMilli(2)}}); !errors.Is(err, ErrReadOnly) {
			t.Errorf("Apply: %v, want ErrReadOnly", err)
		}
		if _, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("fault: %+v", f) }, nil); err != nil {
			t.Error(err)
		}
		if o.Keep {
			if err := s.Backup(t.Context(), "backup", nil); err != nil {
				t.Errorf("Backup: %v", err)
			}
			if err := s.Backup(t.Context(), "backup", nil); err != nil {
				t.Errorf("Backup over an earlier one: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, readOnly := range []bool{false, true} {
		s, err := Open(Options{Dir: "store", FS: disk, ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		if names, err := store.Aliased(t.Context(), s, alias); err != nil || len(names) != 1 || names[0] != rec.Name {
			t.Errorf("Aliased: %v, %v", names, err)
		}
		if _, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("fault: %+v", f) }, nil); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
