package pages

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/signin"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/tlog/publish"
)

const alb = "urn:dns:example.org:alb002" // a name of the fixture

// A fullStore is a store with all abilities that the pages use.
type fullStore interface {
	store.Store
	store.Feed
	store.Users
	store.Tokens
}

// A site is the pages of an admin API with the fixture of package servertest.
type site struct {
	t     *testing.T
	pages *Pages
	store fullStore
	jobs  string // directory of the jobs
	stop  func() // ends the server
	api   *admin.API

	searcher store.Searcher // nil for a server without an index
	links    *links.Watcher // nil for a server that does not check links
	archive  *links.Archive // may be nil
	publish  *publish.Log   // nil for a server that does not publish its log
	misses   *misses.Counter
	counts   *counts.Counter  // nil for a server that does not count
	now      func() time.Time // nil for a clock that stands still
	who      string           // the user who is signed in; "" for none
}

// people are the users of the tests.
func people() map[string]registrar.Actor {
	grant := func(who string, role registrar.Role, prefixes ...string) registrar.Actor {
		g := registrar.Grant{Role: role}
		for _, p := range prefixes {
			g.Prefixes = append(g.Prefixes, name.MustParsePrefix(p))
		}
		return registrar.Actor{Who: who, Grants: []registrar.Grant{g}}
	}
	return map[string]registrar.Actor{
		"reader": grant("u-reader", registrar.Reader, "urn:dns:example.org"),
		"editor": grant("u-editor", registrar.Editor, "urn:dns:example.org"),
		"other":  grant("u-other", registrar.Owner, "urn:dns:other.example"),
		"owner":  grant("u-owner", registrar.Owner),
		"anna":   grant("u-01234567", registrar.Editor, "urn:dns:example.org"),
		"admin":  grant("u-admin", registrar.Administrator),
		"second": grant("u-second", registrar.Administrator),
		"none":   {Who: "u-none"},
	}
}

type fakeSessions struct{}

// Session takes the user from a cookie.
func (fakeSessions) Session(r *http.Request) (*Session, error) {
	c, err := r.Cookie("who")
	if err != nil {
		return nil, nil
	}
	if c.Value == "broken" {
		return nil, errors.New("the store is on fire")
	}
	a, ok := people()[c.Value]
	if !ok {
		return nil, nil
	}
	return &Session{UserID: a.Who, Name: "Ms " + c.Value, Actor: a}, nil
}

// newSite returns a site with the fixture and a failed lookup.
func newSite(t *testing.T) *site {
	t.Helper()
	s := memstore.New()
	servertest.Fill(t, s)
	return siteOf(t, s, "urn:dns:example.org:alb03")
}

// siteOf returns a site with a store, and with failed lookups.
func siteOf(t *testing.T, s fullStore, failed ...string) *site {
	t.Helper()
	next := &site{t: t, store: s, who: "admin", jobs: filepath.Join(t.TempDir(), "jobs")}
	next.misses = newMisses(t, func() time.Time { return servertest.Now }, failed)
	next.start()
	return next
}

// shared returns the texts and the templates of all sites. To parse and escape the templates takes
// longer than the requests of most tests.
var shared = sync.OnceValues(func() (*Pages, error) {
	texts, err := readTexts()
	if err != nil {
		return nil, err
	}
	editions, err := newEditions(texts)
	return &Pages{messages: texts, editions: editions}, err
})

// start starts the server of the site, which reads the jobs of an earlier one.
func (s *site) start() {
	s.t.Helper()
	now := s.now
	if now == nil {
		now = func() time.Time { return servertest.Now }
	}
	api, err := admin.New(admin.Options{
		Store: s.store, Resolver: resolve.New(s.store, resolve.Options{Now: now}), Registrar: registrar.New(s.store, registrar.Options{Now: now}),
		Now: now, Misses: s.misses, Counts: s.counts, Jobs: s.jobs, Config: fakeConfig{}, Search: s.searcher, Links: s.links, Archive: s.archive, Publication: s.publish, SignInLink: signInLink, EndSessions: func(context.Context, string) error { return nil },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.api = api
	s.stop = func() { api.Shutdown(context.Background()) }
	s.t.Cleanup(s.stop)
	common, err := shared()
	if err != nil {
		s.t.Fatal(err)
	}
	if s.pages, err = newPages(Options{Client: api.Client, Sessions: fakeSessions{}, SignIn: http.HandlerFunc(s.signIn), Now: now}, common.messages, common.editions); err != nil {
		s.t.Fatal(err)
	}
}

// restart stops the server of the site, and starts another one with the same store and jobs.
func (s *site) restart() {
	s.t.Helper()
	s.stop()
	s.start()
}

// signIn shows the page about signing in of the kind in the request, if there is one.
func (s *site) signIn(w http.ResponseWriter, r *http.Request) {
	if kind := signin.Kind(r.FormValue("kind")); kind != "" {
		s.pages.ShowSignIn(w, r, http.StatusOK, signInPage(kind, signin.Fault(r.FormValue("fault")), r.FormValue("text")))
		return
	}
	io.WriteString(w, "signing in")
}

// signInPage returns a view that has a text everywhere.
func signInPage(kind signin.Kind, fault signin.Fault, text string) signin.View {
	return signin.View{
		Kind: kind, Fault: fault, Providers: []signin.ProviderView{{Name: text, SignIn: signin.Path + "/at/uni?next=%2F", Away: true}}, Contact: text, Subject: text, Person: text, Code: text,
		Header: "X-Remote-User", Provider: text, SignOut: "https://login.example.org/logout?client_id=pages", ByHeader: true, Ended: true,
		Sessions: []signin.SessionView{{Provider: text, Created: servertest.Now, Used: servertest.Now, Current: true}, {Created: servertest.Now, Used: servertest.Now}},
	}
}

// signInLink makes links for the tests.
func signInLink(_ context.Context, user string) (string, time.Time, error) {
	return "https://pages.example.org/-/ui/sign-in/link?code=" + user + ".secret", servertest.Now.Add(10 * time.Minute), nil
}

// newMisses returns a counter that has seen failed lookups.
func newMisses(t *testing.T, now func() time.Time, failed []string) *misses.Counter {
	t.Helper()
	c, err := misses.Open(misses.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for _, n := range failed {
		c.Add(n, []string{alb})
	}
	return c
}

func (s *site) as(who string) *site {
	next := *s
	next.who = who
	return &next
}

// An answer is the response to a request for a page.
type answer struct {
	*httptest.ResponseRecorder
	t *testing.T
}

func (s *site) do(r *http.Request) *answer {
	s.t.Helper()
	if s.who != "" {
		r.AddCookie(&http.Cookie{Name: "who", Value: s.who})
	}
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r)
	if got := w.Header().Get("Content-Security-Policy"); got != policy {
		s.t.Errorf("%s %s: policy %q", r.Method, r.URL, got)
	}
	return &answer{w, s.t}
}

func (s *site) get(path string) *answer {
	s.t.Helper()
	return s.do(httptest.NewRequest(http.MethodGet, Root+path, nil))
}

// post sends a form: keys and values in turn.
func (s *site) post(path string, form ...string) *answer {
	s.t.Helper()
	v := url.Values{}
	for i := 0; i < len(form); i += 2 {
		v.Add(form[i], form[i+1])
	}
	return s.send(path, v)
}

func (s *site) send(path string, form url.Values) *answer {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodPost, Root+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(r)
}

// record returns a name as stored.
func (s *site) record(spelling string) *store.Record {
	s.t.Helper()
	rec, err := s.store.Get(context.Background(), name.MustParse(spelling), time.Time{})
	if err != nil {
		s.t.Fatal(err)
	}
	return rec
}

// want checks the status and that the text of the page has all parts.
func (a *answer) want(status int, parts ...string) {
	a.t.Helper()
	if a.Code != status {
		a.t.Errorf("got %d, want %d:\n%s", a.Code, status, a.text())
	}
	text := a.text()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			a.t.Errorf("%q is not on the page:\n%s", part, text)
		}
	}
}

// without checks that the page has none of the texts.
func (a *answer) without(parts ...string) {
	a.t.Helper()
	for _, part := range parts {
		if strings.Contains(a.text(), part) {
			a.t.Errorf("%q is on the page:\n%s", part, a.text())
		}
	}
}

// wantSee checks that the answer redirects.
func (a *answer) wantSee(target string) {
	a.t.Helper()
	if a.Code != http.StatusSeeOther || a.Header().Get("Location") != target {
		a.t.Errorf("got %d to %q, want 303 to %q:\n%s", a.Code, a.Header().Get("Location"), target, a.text())
	}
}

// root parses the page.
func (a *answer) root() *html.Node {
	a.t.Helper()
	n, err := html.Parse(strings.NewReader(a.Body.String()))
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// text returns the visible text of the page, with its fields' values.
func (a *answer) text() string {
	var b strings.Builder
	for n := range a.root().Descendants() {
		switch {
		case n.Type == html.TextNode && n.Parent.Data != "title":
			b.WriteString(strings.Join(strings.Fields(n.Data), " ") + " ")
		case n.Data == "input" && attribute(n, "name") != "next": // which repeats the URL of the page
			b.WriteString("[" + attribute(n, "value") + "] ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// elements returns the elements of a page with a name.
func (a *answer) elements(element string) (all []*html.Node) {
	for n := range a.root().Descendants() {
		if n.Type == html.ElementNode && n.Data == element {
			all = append(all, n)
		}
	}
	return all
}

// form returns what a browser would send for the form with an action, without the buttons.
func (a *answer) form(action string) url.Values {
	a.t.Helper()
	for _, f := range a.elements("form") {
		if attribute(f, "action") == action && attribute(f, "method") == "post" {
			return formValues(f)
		}
	}
	a.t.Fatalf("no form with the action %q:\n%s", action, a.Body)
	return nil
}

func formValues(form *html.Node) url.Values {
	v := url.Values{}
	for n := range form.Descendants() {
		key := attribute(n, "name")
		_, checked := find(n, "checked")
		switch kind := attribute(n, "type"); {
		case n.Type != html.ElementNode || key == "" || n.Data == "button":
		case kind == "radio", kind == "checkbox":
			if checked {
				v.Add(key, attribute(n, "value"))
			}
		case n.Data == "textarea":
			text := ""
			for c := range n.Descendants() {
				text += c.Data
			}
			v.Add(key, text)
		case n.Data == "select":
			v.Add(key, selected(n))
		default:
			v.Add(key, attribute(n, "value"))
		}
	}
	return v
}

// selected returns the value of the selected option, or of the first one.
func selected(sel *html.Node) string {
	first, any := "", false
	for n := range sel.Descendants() {
		if n.Data != "option" {
			continue
		}
		if _, ok := find(n, "selected"); ok {
			return attribute(n, "value")
		}
		if !any {
			first, any = attribute(n, "value"), true
		}
	}
	return first
}

func find(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// nameAt returns the path of a name below Root.
func nameAt(spelling string) string { return strings.TrimPrefix(namePath(spelling), Root) }

// change stores a change of a record.
func (s *site) change(spelling, why string, edit func(*store.Record)) {
	s.t.Helper()
	rec := s.record(spelling).Clone()
	edit(rec)
	c := store.Change{Record: rec, Expected: store.AnyRevision, Time: servertest.Now, Who: "u-colleague", Why: why}
	if _, err := s.store.Apply(context.Background(), []store.Change{c}); err != nil {
		s.t.Fatal(err)
	}
}

func at(url string) func(*store.Record) {
	return func(r *store.Record) { r.Locations = []nomen.Location{{URL: url}} }
}

// addUser stores a user. The change is by that user too.
func (s *site) addUser(id, display string) {
	s.t.Helper()
	u := &store.User{ID: id, Name: display, Since: servertest.Now}
	if _, err := s.store.Apply(context.Background(), []store.Change{{User: u, Time: servertest.Now, Who: id}}); err != nil {
		s.t.Fatal(err)
	}
}

// add stores an active name.
func (s *site) add(spelling string) {
	s.t.Helper()
	s.apply(store.Record{Spelling: spelling, Status: nomen.Active})
}

// apply stores a record.
func (s *site) apply(rec store.Record) {
	s.t.Helper()
	rec.Name = name.MustParse(rec.Spelling)
	if _, err := s.store.Apply(context.Background(), []store.Change{{Record: &rec, Time: servertest.Now}}); err != nil {
		s.t.Fatal(err)
	}
}

// hasTarget reports whether one of the links has a target.
func hasTarget(links []*html.Node, target string) bool {
	return slices.ContainsFunc(links, func(n *html.Node) bool { return attribute(n, "href") == target })
}
