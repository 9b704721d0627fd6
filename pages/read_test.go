package pages

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

func TestSignInIsRequired(t *testing.T) {
	s := newSite(t).as("")
	s.get("names?prefix=a&status=active").wantSee("/-/ui/sign-in?next=%2F-%2Fui%2Fnames%3Fprefix%3Da%26status%3Dactive")
	s.get("nothing").wantSee("/-/ui/sign-in?next=%2F-%2Fui%2Fnothing")
	s.get("sign-in").want(200, "signing in")
	s.as("unknown").get("").wantSee("/-/ui/sign-in?next=%2F-%2Fui%2F")
	s.as("broken").get("").want(500, "The server could not answer")
}

// The text of a form survives the end of a session.
func TestFormsAreKept(t *testing.T) {
	s := newSite(t)
	a := s.as("").post("name/x/edit?a=1", "why", "a \"reason\" <b>\r\nof two lines", "location-0-url", "https://example.org/1", "location-0-url", "2")
	a.want(401, "kept on this page")
	got := a.form("/-/ui/name/x/edit?a=1")
	if got.Get("why") != "a \"reason\" <b>\nof two lines" || len(got["location-0-url"]) != 2 {
		t.Errorf("kept %q", got)
	}
	if a := s.as("").post("new", "x", strings.Repeat("x", maxForm)); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge form: got %d", a.Code)
	}
	if a := s.post("new", "x", strings.Repeat("x", maxForm)); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge form of a user: got %d", a.Code)
	}
}

func TestIsLocal(t *testing.T) {
	for next, want := range map[string]bool{
		"/-/ui/": true, "/-/ui/names?q=a%2Fb": true, "/-/ui/name/urn%3Ax%3Ay": true,
		"": false, "/": false, "/-/ui": false, "//evil.example/-/ui/": false, "https://evil.example/-/ui/": false,
		"/-/ui/../../x": false, "/-/ui/..": false, "/-/ui/%2e%2e/x": false, "/-/ui/\\evil": false, "/-/ui/\r\nX: y": false, "-/ui/": false,
		`/\evil.example/-/ui/`: false, "javascript:/-/ui/": false,
	} {
		if got := IsLocal(next); got != want {
			t.Errorf("%q: got %v", next, got)
		}
	}
}

func TestOtherSitesAreRejected(t *testing.T) {
	s := newSite(t)
	for _, fields := range []map[string]string{{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}} {
		r := httptest.NewRequest(http.MethodPost, Root+"new", nil)
		for k, v := range fields {
			r.Header.Set(k, v)
		}
		s.do(r).want(403, "page of another site")
	}
}

func TestStatic(t *testing.T) {
	s := newSite(t).as("")
	a := s.do(httptest.NewRequest(http.MethodGet, staticPath+styleName(), nil))
	if a.Code != 200 || a.Body.String() != styles() || !strings.Contains(a.Header().Get("Cache-Control"), "immutable") || a.Header().Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("style sheet: %d %v", a.Code, a.Header())
	}
	s.get("static/style.0.css").want(404)
	page := newSite(t).get("")
	if got := attribute(page.elements("link")[0], "href"); got != staticPath+styleName() {
		t.Errorf("style sheet of pages: %s", got)
	}
	if got := page.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("a page may be stored: %q", got)
	}
}

func TestUnknownPages(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"nothing", "name/", "name/a/b/c", "names/x"} {
		s.get(path).want(404, "Page or name not found")
	}
	if a := s.do(httptest.NewRequest(http.MethodHead, Root, nil)); a.Code != 200 || a.Body.Len() > 0 {
		t.Errorf("HEAD: got %d with %d bytes", a.Code, a.Body.Len())
	}
}

func TestDashboard(t *testing.T) {
	s := newSite(t)
	s.change(alb, "moved", at("https://example.org/new"))
	a := s.as("reader").get("")
	a.want(200, "Ms reader", "urn:dns:example.org 10", alb+" u-colleague moved 2026-11-19 08:30 UTC urn:dns:example.org:secret", "urn:dns:example.org:alb03 1 2026-11-20 12:00 UTC "+alb)
	a.without("ark:12345", "Backups", "at least")
	s.as("other").get("").want(200, "urn:dns:other.example 1")
	s.as("other").get("").without(alb, "moved", "alb03")
	a = s.as("owner").get("")
	a.want(200, "ark:12345 1", "urn:ietf:rfc 1")
	a.without("fewer than two owners", "Backups")
	s.get("").without("Backups", "Certificate")
	s.as("none").get("").want(403, "You do not have the rights")
}

// Administrators see what to do about the server.
func TestDashboardShowsTheCondition(t *testing.T) {
	s := newSite(t)
	const day = 24 * time.Hour
	for _, tt := range []struct {
		is   Condition
		want string
	}{
		{Condition{}, "No backup"},
		{Condition{Database: true}, ""},
		{Condition{Backup: servertest.Now.Add(-8 * day)}, "The last backup succeeded at 2026-11-12 12:00 UTC"},
		{Condition{Backup: servertest.Now.Add(-6 * day), Certificate: servertest.Now.Add(6 * day)}, "expires at 2026-11-26 12:00 UTC"},
		{Condition{Backup: servertest.Now, Certificate: servertest.Now.Add(-day)}, "expires at 2026-11-19 12:00 UTC"},
		{Condition{Backup: servertest.Now.Add(-6 * day), Certificate: servertest.Now.Add(8 * day)}, ""},
	} {
		s.pages.condition = func() Condition { return tt.is }
		a := s.get("")
		a.want(200, tt.want)
		if tt.want == "" {
			a.without("Backups", "Certificate")
		}
		s.as("owner").get("").without("Backups", "Certificate")
	}
}

// Owners see which authorities need a second owner.
func TestDashboardShowsLonelyAuthorities(t *testing.T) {
	s := newSite(t)
	for _, prefix := range []string{"urn:dns:other.example", "ark:12345"} {
		a, err := s.store.Authority(t.Context(), name.MustParsePrefix(prefix), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		a = a.Clone()
		a.Owners = a.Owners[:1]
		if _, err := s.store.Apply(t.Context(), []store.Change{{Authority: a, Expected: store.AnyRevision, Time: servertest.Now}}); err != nil {
			t.Fatal(err)
		}
	}
	s.as("other").get("").want(200, "Naming authorities with fewer than two owners", "Name a second person or department. urn:dns:other.example Last changes")
	s.as("editor").get("").without("fewer than two owners")
	s.get("").want(200, "ark:12345 urn:dns:other.example")
}

// The history shows the present names of users.
func TestNamesOfUsers(t *testing.T) {
	s := newSite(t)
	const id = "u-01234567"
	s.addUser(id, "Anna <b>\u202e")
	s.get("").want(200, "User "+id+" Anna <b>[U+202E] "+id)
	s.as("reader").get("").without(id)
	form := fill(s.editForm(alb), "do", "save", "location-0-url", "https://example.org/anna")
	(&site{t: t, pages: s.pages, store: s.store, who: "anna"}).send(nameAt(alb)+"/edit", form).wantSee(namePath(alb) + "?done=saved")
	s.as("reader").get("").want(200, "Anna <b>[U+202E] "+id)
	s.as("reader").get(nameAt(alb)+"/history").want(200, "Anna <b>[U+202E] "+id)
}

func TestNames(t *testing.T) {
	s := newSite(t)
	a := s.as("reader").get("names?prefix=urn:dns:example.org:a")
	a.want(200, alb, "active", "https://example.org/albums/2")
	a.without("urn:dns:other.example", "urn:dns:example.org:old")
	s.as("reader").get("names?status=retired").want(200, "urn:dns:example.org:old")
	s.as("reader").get("names?status=retired").without(alb)
	s.as("reader").get("names?prefix=ark:").want(200, "There are no such names")
	s.get("names?prefix=ark:").want(200, "ark:12345/x")
	s.get("names?prefix=URN:DNS:Example.org:alb").want(200, alb)
	s.get("names?prefix=ar").want(200, "ark:12345/x")
	s.get("names?status=odd").want(422, "There is a problem", "must be reserved, active or retired")
}

// Pages of the list follow each other by key.
func TestNamesPages(t *testing.T) {
	s := newSite(t)
	for i := range 120 {
		key := "urn:dns:example.org:many" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		s.add(key)
	}
	seen, path := 0, "names?prefix=urn:dns:example.org:many"
	for pages := 0; path != ""; pages++ {
		if pages > 3 {
			t.Fatal("too many pages")
		}
		a := s.as("reader").get(path)
		a.want(200)
		seen += strings.Count(a.text(), "urn:dns:example.org:many")
		path = ""
		for _, link := range a.elements("a") {
			if attribute(link, "rel") == "next" {
				path = strings.TrimPrefix(attribute(link, "href"), Root)
			}
		}
	}
	if seen != 120+3 { // the names, and the field of each page
		t.Errorf("saw %d names", seen)
	}
}

func TestFind(t *testing.T) {
	s := newSite(t)
	s.as("reader").get("names?q=++" + alb + "+").wantSee(namePath(alb))
	s.as("reader").get("names?q=https://example.org/albums").want(200, alb)
	s.as("reader").get("names?q=https://other.example/2").want(403)
	s.get("names?q=https://other.example/2").want(200, "urn:dns:other.example:alb002")
	s.get("names?q=https://purl.example/net/x").wantSee(namePath("https://purl.example/net/x"))
	a := s.as("editor").get("names?q=urn:dns:example.org:new")
	a.want(404, "not registered", "Create this name")
	s.as("reader").get("names?q=urn:dns:example.org:new").without("Create this name")
	s.as("reader").get("names?q=ark:12345/x").want(403)
	a = s.get("names?q=urn:dns:example.org:a|b")
	a.want(422, "not a valid name", "urn:dns:example.org:a | b", "offset 21", "[urn:dns:example.org:a|b]")
	if got := len(a.elements("mark")); got != 1 {
		t.Errorf("%d marks", got)
	}
	s.get("names?q=urn:").want(422, "␣")
	s.get("names?q=rfc2648").want(422)
}

func TestName(t *testing.T) {
	s := newSite(t)
	a := s.as("editor").get(nameAt("urn:ietf:rfc:2648"))
	a.want(403)
	a = s.as("reader").get(nameAt(alb))
	a.want(200, "active", "https://example.org/albums/2", "The second album", "2026-11-19 08:30", "revision 1")
	a.without("Edit", "Redact")
	s.as("editor").get(nameAt(alb)).want(200, "Edit", "Retire")
	s.as("editor").get(nameAt(alb)).without("Redact")
	a = s.get(nameAt("urn:ietf:rfc:2648"))
	a.want(200, "A URN Namespace for IETF Documents", "text/html", "urn:doi:10.17487/rfc2648", "Redact")
	if got := attribute(a.elements("details")[0], "open"); got != "" {
		t.Errorf("details: %q", got)
	}
	s.get(nameAt("urn:dns:example.org:old")).want(200, "a new edition", alb)
	s.get(nameAt("urn:dns:example.org:bare")).want(200, "This name has no location", "It does not lead to a location")
	s.get(nameAt("urn:dns:example.org:none")).want(404)
	s.get(nameAt("urn:dns:example.org:a%2Fb")).want(200, "https://example.org/escaped")
	s.get(nameAt("urn:dns:example.org:deep/er")).want(200, "https://example.org/deeper")
	s.get(nameAt("nonsense")).want(400)
}

func TestNameAsOf(t *testing.T) {
	s := newSite(t)
	s.change(alb, "moved", at("https://example.org/new"))
	s.get(nameAt(alb)+"?at=2026-11-19T10:00:00Z").want(200, "the state as of 2026-11-19 10:00 UTC", "https://example.org/albums/2")
	s.get(nameAt(alb)+"?at=2026-11-19T10:00:00Z").without("https://example.org/new", "Edit")
	s.get(nameAt(alb)+"?at=2026-11-18").want(200, "did not exist at that time")
	s.get(nameAt(alb)+"?at=yesterday").want(422, "invalid time", "[yesterday]")
	s.as("other").get(nameAt(alb) + "?at=2026-11-19").want(403)
}

func TestHistory(t *testing.T) {
	s := newSite(t)
	s.change(alb, "moved", at("https://example.org/new"))
	s.change(alb, "named", func(r *store.Record) { r.Metadata = map[string][]string{"title": {"Two"}} })
	a := s.as("reader").get(nameAt(alb) + "/history")
	a.want(200, "u-colleague named metadata.title", "u-colleague moved locations")
	a.without("Undo")
	s.as("editor").get(nameAt(alb)+"/history").want(200, "Undo this change", "Restore this revision")
	s.as("other").get(nameAt(alb) + "/history").want(403)
	s.get(nameAt("urn:dns:example.org:none") + "/history").want(404)
	a = s.as("reader").get(nameAt(alb) + "/diff?b=1&a=3")
	a.want(200, "From revision 1 to 3", "locations https://example.org/albums/2 (note: The second album) (removed) locations (not there) https://example.org/new", "metadata.title", "Two")
	s.get(nameAt(alb)+"/diff?a=2&b=2").want(200, "no differences")
	s.get(nameAt(alb)+"/diff?a=1&b=9").want(404, "no such revision")
	s.get(nameAt(alb) + "/diff").want(404)
	s.as("other").get(nameAt(alb) + "/diff?a=1&b=2").want(403)
}

func TestHistoryPages(t *testing.T) {
	s := newSite(t)
	for i := range pageSize + 5 {
		s.change(alb, "change", at("https://example.org/"+string(rune('A'+i))))
	}
	a := s.get(nameAt(alb) + "/history")
	a.want(200, "Next page")
	if got := strings.Count(a.text(), "u-colleague"); got != pageSize {
		t.Errorf("%d revisions on the first page", got)
	}
	a = s.get(nameAt(alb) + "/history?before=7")
	a.want(200, "First page")
	if got := strings.Count(a.text(), "u-colleague"); got != 5 { // 2 to 6
		t.Errorf("%d revisions on the last page", got)
	}
}
