package rfcindex

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// load imports the collection into a new store.
func load(t testing.TB) (store.Store, *registrar.Registrar, bulk.Summary) {
	t.Helper()
	s := memstore.New()
	t.Cleanup(func() { s.Close() })
	reg := registrar.New(s, registrar.Options{})
	if _, err := reg.PutAuthority(context.Background(), registrar.Operator(), Authority(), 0, ""); err != nil {
		t.Fatalf("PutAuthority(Authority()): %v", err)
	}
	return s, reg, bring(t, reg)
}

func bring(t testing.TB, reg *registrar.Registrar) bulk.Summary {
	t.Helper()
	r, err := Open()
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer r.Close()
	sum, err := bulk.Import(context.Background(), reg, registrar.Operator(), r, bulk.ImportOptions{
		Now:     func() time.Time { return time.Time{} },
		Refused: func(r bulk.Refusal) { t.Errorf("refused: %v", r) },
	})
	if err != nil {
		t.Fatalf("Import: %v", err)
	}
	return sum
}

func TestAllGoIn(t *testing.T) {
	_, reg, got := load(t)
	if got.Import == "" {
		t.Error("first import: no ID")
	}
	if want := (bulk.Summary{Read: Names, Created: Names, Import: got.Import}); got != want {
		t.Errorf("first import: got %+v, want %+v", got, want)
	}
	if got, want := bring(t, reg), (bulk.Summary{Read: Names, Unchanged: Names}); got != want {
		t.Errorf("second import: got %+v, want %+v", got, want)
	}
}

func TestSize(t *testing.T) {
	r, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.Copy(io.Discard, r)
	if err != nil || got != Size {
		t.Errorf("Open yields %d bytes, %v; want %d", got, err, Size)
	}
}

func TestRecords(t *testing.T) {
	s, _, _ := load(t)
	place := func(url, mediaType, rel string, priority int) nomen.Location {
		return nomen.Location{URL: url, Type: mediaType, Lang: "en", Rel: rel, Priority: priority}
	}
	for _, want := range []*store.Record{
		{
			Spelling: "urn:ietf:rfc:2648", Status: nomen.Active,
			Locations: []nomen.Location{
				place("https://www.rfc-editor.org/rfc/rfc2648.txt", "text/plain", "item", 1),
				place("https://datatracker.ietf.org/doc/html/rfc2648", "text/html", "item", 2),
				place("https://www.rfc-editor.org/info/rfc2648", "text/html", "describedby", 3),
				place("https://doi.org/10.17487/RFC2648", "text/html", "describedby", 4),
			},
			Metadata: nomen.Metadata{
				"title": {"A URN Namespace for IETF Documents"}, "creator": {"R. Moats"}, "date": {"1999-08"},
			},
			SameAs: []string{"urn:doi:10.17487/rfc2648"},
		},
		{
			Spelling: "urn:ietf:rfc:2141", Status: nomen.Active, // obsoleted
			Locations: []nomen.Location{
				place("https://www.rfc-editor.org/rfc/rfc2141.txt", "text/plain", "item", 1),
				place("https://datatracker.ietf.org/doc/html/rfc2141", "text/html", "item", 2),
				place("https://www.rfc-editor.org/info/rfc2141", "text/html", "describedby", 3),
				place("https://doi.org/10.17487/RFC2141", "text/html", "describedby", 4),
			},
			Metadata: nomen.Metadata{"title": {"URN Syntax"}, "creator": {"R. Moats"}, "date": {"1997-05"}},
			SameAs:   []string{"urn:doi:10.17487/rfc2141"}, Successors: []string{"urn:ietf:rfc:8141"},
		},
		{
			Spelling: "urn:ietf:rfc:8", Status: nomen.Active, // page images alone
			Locations: []nomen.Location{
				place("https://www.rfc-editor.org/info/rfc8", "text/html", "describedby", 1),
				place("https://datatracker.ietf.org/doc/html/rfc8", "text/html", "item", 2),
				place("https://doi.org/10.17487/RFC0008", "text/html", "describedby", 3),
				place("https://www.rfc-editor.org/rfc/rfc8.txt", "text/plain", "item", 4),
			},
			Metadata: nomen.Metadata{
				"title": {"ARPA Network Functional Specifications"}, "creator": {"G. Deloche"}, "date": {"1969-05"},
			},
			SameAs: []string{"urn:doi:10.17487/rfc0008"},
		},
	} {
		want.Name = name.MustParse(want.Spelling)
		got, err := s.Get(context.Background(), want.Name, time.Time{})
		if err != nil {
			t.Errorf("Get(%s): %v", want.Name, err)
			continue
		}
		got.Modified, got.Revision = time.Time{}, 0
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(name.Name{})); diff != "" {
			t.Errorf("Get(%s): (-want +got)\n%s", want.Name, diff)
		}
	}
}
