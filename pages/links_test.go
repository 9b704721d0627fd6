package pages

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/store"
)

// linkSite returns a site that checks links, with locations that may not be asked.
func linkSite(t *testing.T, urls ...string) *site {
	t.Helper()
	s := newSite(t)
	s.change(alb, "x", func(r *store.Record) {
		r.Locations = nil
		for _, u := range urls {
			r.Locations = append(r.Locations, nomen.Location{URL: u})
		}
	})
	w, err := links.Open(links.Options{Dir: filepath.Join(t.TempDir(), "links"), Store: s.store, Agent: "nomen/test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, u := range urls {
		if _, _, err := w.Check(t.Context(), u); err != nil && !errors.Is(err, links.ErrUnknown) {
			t.Fatal(err)
		}
	}
	s.links = w
	s.stop()
	s.start()
	return s
}

// The page shows the results of checks, to each user those of the names that the user may read.
func TestCheckedLinks(t *testing.T) {
	const url = "http://127.0.0.1:1/a?<b>"
	s := linkSite(t, url, "mailto:a@example.org")
	a := s.get("links")
	a.want(200, "Results of the checks", "There are no such locations.", "(1)", "Dead locations")
	a.without("does not open the locations", url)
	s.get("links?verdict=blocked").want(200, url, alb)
	s.get("links?verdict=none").want(200, "There are no such locations.")
	s.as("other").get("links?verdict=blocked").without("127.0.0.1", "(1)")
	if got := s.as("reader").get("links?verdict=blocked"); !strings.Contains(got.text(), url) {
		t.Error("a reader of the name does not see its location")
	}
}

// The page of a name shows the verdict about each location to those who may read the name. It shows
// nothing about checks if the server makes none, or for an earlier time.
func TestChecksOfName(t *testing.T) {
	newSite(t).get("name/"+alb).without("Last check", "not checked")
	s := linkSite(t, "http://127.0.0.1:1/a", "mailto:a@example.org", "http://127.0.0.1:1/b")
	path := "name/" + alb
	page := s.get(path)
	page.want(200, "Last check", "keeps programs out", "checked 20", "next check 20")
	if n := strings.Count(page.text(), "keeps programs out"); n != 2 {
		t.Errorf("got %d verdicts, want 2: the location with mailto is not checked", n)
	}
	s.as("reader").get(path).want(200, "keeps programs out")
	s.as("other").get(path).without("keeps programs out", "127.0.0.1")
	s.as("owner").get(path+"?at=2099-01-01").without("Last check", "next check")
	if _, err := s.links.Ignore("http://127.0.0.1:1/a", time.Now().AddDate(0, 1, 0)); err != nil {
		t.Fatal(err)
	}
	s.get(path).want(200, "not checked at present")
}
