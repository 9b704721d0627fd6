package pages

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// someHosts is a resolver for which all hosts exist.
type someHosts struct{}

func (someHosts) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

const deadPage = "http://gone.example/dead?<b>"

// copySite returns a site with a dead location, and an archive with an answer.
func copySite(t *testing.T, archive string) *site {
	t.Helper()
	s := newSite(t)
	s.change(alb, "x", func(r *store.Record) { r.Locations = []nomen.Location{{URL: deadPage}} })
	var day atomic.Int64
	begun := time.Now()
	now := func() time.Time { return servertest.Now.AddDate(0, 0, int(day.Load())).Add(time.Since(begun)) }
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "archive.example" {
			fmt.Fprint(w, archive)
		} else {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(web.Close)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, web.Listener.Addr().String())
	}
	allow := func(netip.Addr) error { return nil }
	w, err := links.Open(links.Options{Dir: filepath.Join(t.TempDir(), "links"), Store: s.store, Agent: "nomen/test", Gap: time.Nanosecond, Now: now, DNS: someHosts{}, Allow: allow, Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, d := range []int64{0, 1, 2, 5, 6, 9, 10, 14, 15, 20, 21, 22} {
		day.Store(d)
		if _, _, err := w.Check(t.Context(), deadPage); err != nil {
			t.Fatal(err)
		}
	}
	s.links = w
	if archive != "" {
		if s.archive, err = links.NewArchive(links.ArchiveOptions{Availability: "http://archive.example/available", Agent: "nomen/test", Gap: time.Nanosecond, Now: now, DNS: someHosts{}, Allow: allow, Dial: dial}); err != nil {
			t.Fatal(err)
		}
	}
	s.stop()
	s.start()
	return s
}

func suggestion(copied string) string {
	return fmt.Sprintf(`{"archived_snapshots":{"closest":{"available":true,"status":"200","url":%q,"timestamp":"20261201000000"}}}`, copied)
}

const copiesPath = "links/copy?name="

// The page of dead locations has a button that asks the archive for a copy. The page with the copy says
// when it was made, and has a button that adds it to the record.
func TestCopiesPage(t *testing.T) {
	const preserved = "http://archive.example/1?b"
	s := copySite(t, suggestion(preserved))
	a := s.as("editor").get("links")
	a.want(200, deadPage, "Find an archived copy")
	asked := ""
	for _, in := range a.elements("input") {
		if attribute(in, "name") == "name" {
			asked = attribute(in, "value")
		}
	}
	if asked != alb {
		t.Fatalf("the button is for %q, want %q", asked, alb)
	}
	path := copiesPath + url.QueryEscape(alb)
	s.as("reader").get("links").without("Find an archived copy")
	s.as("reader").get(path).want(403)
	s.as("other").get(path).want(403)
	a = s.as("editor").get(path)
	a.want(200, deadPage, preserved, "Never", "made this copy after the location had begun to fail")
	form := a.form("/-/ui/links/copy")
	s.as("reader").send("links/copy", form).want(403)
	s.as("editor").send("links/copy", fill(form, "copy", "http://archive.example/2")).want(422, "is not the copy that the archive has suggested", preserved)
	s.as("editor").send("links/copy", fill(form, "copy", "javascript:alert(1)")).want(422)
	if got := s.record(alb).Locations; len(got) != 1 {
		t.Fatalf("got %+v, want no copy yet", got)
	}
	for range 2 { // the second is a double submit
		s.as("editor").send("links/copy", form).wantSee(namePath(alb) + "?done=copied")
	}
	rec := s.record(alb)
	if len(rec.Locations) != 2 || rec.Locations[1].URL != preserved || rec.Locations[1].Rel != "archive" {
		t.Errorf("got %+v, want the copy", rec.Locations)
	}
	s.get(nameAt(alb)+"?done=copied").want(200, "The archived copy was added to the locations.")
	s.get(nameAt(alb)+"/history").want(200, "archived copy of "+deadPage)
	a = s.as("editor").get("links")
	a.want(200, "has an archived copy")
	a.without("Find an archived copy")
	s.as("editor").get(path).want(200, "The record already has an archived copy.")
	s.get(copiesPath + "nonsense").want(400)
	s.get(copiesPath + url.QueryEscape(web)).want(400)
}

// A hostile answer of the archive adds nothing and is not a link. A server without an archive has no
// button.
func TestNoCopiesPage(t *testing.T) {
	path := copiesPath + url.QueryEscape(alb)
	for _, bad := range []string{"javascript:alert(1)", "http://evil.example/", "http://127.0.0.1/"} {
		s := copySite(t, suggestion(bad))
		a := s.as("editor").get(path)
		a.want(200, "No copy can be added.")
		for _, l := range a.elements("a") {
			if attribute(l, "href") == bad {
				t.Errorf("the page links to %s", bad)
			}
		}
		if len(a.elements("button")) == 0 {
			continue
		}
		s.as("editor").post("links/copy", "name", alb, "url", deadPage, "copy", bad).want(422)
	}
	s := copySite(t, "")
	s.as("editor").get("links").without("Find an archived copy")
	s.as("editor").get(path).want(503)
}
