package pages

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/search"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// searchable returns a site with a search index and names with titles, and the index.
func searchable(t *testing.T) (*site, *search.Index) {
	t.Helper()
	s := newSite(t)
	x, err := search.Open(search.Options{Dir: "search", FS: vfs.NewMem(), Store: s.store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	for i := range 60 {
		s.title(fmt.Sprintf("urn:dns:example.org:box%02d", i), fmt.Sprintf("Zettelkasten <b>%d</b>", i))
	}
	s.title("urn:dns:other.example:box", "Zettel eines anderen")
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.searcher = x
	s.restart()
	return s, x
}

// title stores a reserved name with a title.
func (s *site) title(key, title string) {
	s.t.Helper()
	_, err := s.store.Apply(context.Background(), []store.Change{{Time: servertest.Now, Expected: store.AnyRevision, Record: &store.Record{
		Name: name.MustParse(key), Spelling: key, Status: nomen.Reserved, Metadata: nomen.Metadata{"title": {title}},
	}}})
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestFindWords: the field for names finds words, by pages, within the rights of the user.
func TestFindWords(t *testing.T) {
	s, _ := searchable(t)
	reader := s.as("reader")
	a := reader.get("names?q=<b>+zettelk")
	a.want(200, "Names with all these words", "urn:dns:example.org:box00", "Zettelkasten <b>0</b>", "reserved")
	a.without("urn:dns:other.example:box", "not a valid name")
	seen, path := 0, "names?q=zettel&status=reserved"
	for pages := 0; path != ""; pages++ {
		if pages > 2 {
			t.Fatal("too many pages")
		}
		a := reader.get(path)
		a.want(200)
		a.without("urn:dns:other.example:box")
		seen += strings.Count(a.text(), "urn:dns:example.org:box")
		path = ""
		for _, link := range a.elements("a") {
			if attribute(link, "rel") == "next" {
				path = strings.TrimPrefix(attribute(link, "href"), Root)
			}
		}
	}
	if seen != 60 {
		t.Errorf("saw %d names, want 60", seen)
	}
	s.as("admin").get("names?q=zettel+anderen").want(200, "urn:dns:other.example:box")
	reader.get("names?q=zettel+anderen").want(200, "No name has all these words.")
	reader.get("names?q=zettel&status=retired").want(200, "No name has all these words.")
	reader.get("names?q=zettel&prefix=urn:dns:example.org:box0").want(200, "urn:dns:example.org:box09")
	reader.get("names?q=zettel&prefix=urn:dns:example.org:box0").without("urn:dns:example.org:box10")
	reader.get("names?q=zettel&status=odd").want(422, "must be reserved, active or retired")
	reader.get("names?q=zettel&after=urn:dns:other.example:x").want(200, "No name has all these words.")
	reader.get("names?q=" + alb).wantSee(namePath(alb))
	a = s.as("editor").get("names?q=urn:dns:example.org:box")
	a.want(404, "not registered", "Create this name", "urn:dns:example.org:box07")
	reader.get("names?q=urn:dns:example.org:none|none").want(422, "not a valid name")
	reader.get("names?q=%7C").want(422, "not a valid name")
	s.as("").get("names?q=zettel").wantSee("/-/ui/sign-in?next=%2F-%2Fui%2Fnames%3Fq%3Dzettel")
}

// TestFindWordsIncomplete: the page says if the index lacks names or does not exist.
func TestFindWordsIncomplete(t *testing.T) {
	s, x := searchable(t)
	s.searcher = oldIndex{x, store.IndexStatus{Built: true, Head: 9}}
	s.restart()
	s.as("reader").get("names?q=zettel").want(200, "does not cover the last changes", "urn:dns:example.org:box00")
	s.searcher = oldIndex{x, store.IndexStatus{}}
	s.restart()
	s.as("reader").get("names?q=zettel").want(200, "still preparing the search", "urn:dns:example.org:box00")
	s.searcher = nil
	s.restart()
	s.as("reader").get("names?q=zettel").want(422, "cannot search for words", "not a valid name")
	s.as("reader").get("names?q=zettel&after=a").want(200, "cannot search for words")
}

// An oldIndex is an index with another status.
type oldIndex struct {
	*search.Index
	status store.IndexStatus
}

func (o oldIndex) Status() store.IndexStatus { return o.status }
