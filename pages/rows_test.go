package pages

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/signin"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A row is a page in some state. Browsers open it, and look for all kinds of faults.
type row struct {
	route  string // as in handlers
	state  string // empty, full, errors, hostile or kept
	path   string // below Root
	who    string // who is signed in; "" means admin
	form   string // sent by POST, as the query of a URL
	status int    // 0 means 200, and 422 for a form
	file   bool   // the response is a file that browsers save
}

// allRows are the pages in their states. Each route that shows a page has a row for a full page and
// one for hostile content, and each route of a form has one for invalid input.
func allRows() []row {
	return slices.Concat(nameRows(), listRows(), signInRows(), logRows(), tokenRows(), userRows(), authorityRows(), jobRows())
}

func signInRows() (all []row) {
	for _, kind := range []signin.Kind{signin.Choose, signin.Unknown, signin.Disabled, signin.Forged, signin.LinkPage, signin.Listing, signin.SignedOut, signin.Failed} {
		path := "sign-in?kind=" + string(kind) + "&text="
		all = append(all, row{route: "sign-in", state: "full", path: path + "University+of+Example", who: "stranger"})
		all = append(all, row{route: "sign-in", state: "hostile", path: path + url.QueryEscape(strings.Join(hostileTexts(), " ")), who: "stranger"})
	}
	return append(all, row{route: "POST new", state: "kept", path: "new", who: "stranger", form: "name=urn:x-a:1&why=%3Cscript%3E", status: 401})
}

// The name with hostile content, and one with a long key.
const (
	wild = "urn:dns:example.org:wild%3Cscript%3E"
	long = "urn:dns:example.org:long"
)

func longName() string { return long + strings.Repeat("%3Cscript%3E", 70) }

func listRows() []row {
	return []row{
		{route: "GET {$}", state: "empty"},
		{route: "GET {$}", state: "empty", who: "none", status: 403},
		{route: "GET {$}", state: "full"},
		{route: "GET {$}", state: "full", who: "reader"},
		{route: "GET {$}", state: "hostile"},
		{route: "GET names", state: "empty", path: "names"},
		{route: "GET names", state: "full", path: "names"},
		{route: "GET names", state: "full", path: "names?prefix=urn:dns:&after=urn:dns:example.org:a"},
		{route: "GET names", state: "full", path: "names?q=https://example.org/"},
		{route: "GET names", state: "errors", path: "names?q=urn:dns:example.org:none", status: 404},
		{route: "GET names", state: "errors", path: "names?q=urn:dns:example.org:a|b", status: 422},
		{route: "GET names", state: "empty", path: "names?q=words+of+a+title", status: 422},
		{route: "GET names", state: "errors", path: "names?status=lost", status: 422},
		{route: "GET names", state: "hostile", path: "names"},
		{route: "GET names", state: "hostile", path: "names?q=" + url.QueryEscape("urn:dns:example.org:\"><script>\u202e"+strings.Repeat("long", 300)), status: 422},
		{route: "GET new", state: "full", path: "new"},
		{route: "GET new", state: "hostile", path: "new?name=" + url.QueryEscape(longName())},
		{route: "POST new", state: "errors", path: "new", form: "name=no+name&status=active&locations=1&location-0-url=x+y&metadata=1&metadata-0-element=title&do=save"},
		{route: "GET no-page", state: "errors", path: "no-page", status: 404},
	}
}

func nameRows() []row {
	reserved := "urn:dns:example.org:secret"
	all := []row{
		{route: "GET name/{name}", state: "full", path: nameAt(rfc)},
		{route: "GET name/{name}", state: "full", path: nameAt("urn:dns:example.org:old")},
		{route: "GET name/{name}", state: "full", path: nameAt(rfc) + "?done=saved", who: "owner"},
		{route: "GET name/{name}", state: "empty", path: nameAt("urn:dns:example.org:bare")},
		{route: "GET name/{name}", state: "errors", path: nameAt(rfc) + "?at=never", status: 422},
		{route: "GET name/{name}", state: "errors", path: nameAt(rfc), who: "other", status: 403},
		{route: "GET name/{name}/delete", state: "full", path: nameAt(reserved) + "/delete"},
		{route: "GET name/{name}/delete", state: "hostile", path: nameAt(long+"-reserved") + "/delete"},
		{route: "POST name/{name}/delete", state: "errors", path: nameAt(reserved) + "/delete", form: "revision=1&why=%07"},
		{route: "POST name/{name}/edit", state: "errors", path: nameAt(alb) + "/edit", form: "revision=1&status=active&locations=1&location-0-url=https://example.org/mine&metadata=0&do=save&accept=1", status: 409},
		{route: "POST name/{name}/edit", state: "errors", path: nameAt(alb) + "/edit", form: "revision=2&status=active&locations=2&location-0-url=x+y&location-1-priority=many&metadata=1&metadata-0-element=title&metadata-0-value=%07&do=save"},
		{route: "POST name/{name}/retire", state: "errors", path: nameAt(alb) + "/retire", form: "revision=2&successors=no+name"},
		{route: "POST name/{name}/restore", state: "errors", path: nameAt(alb) + "/restore?to=1", form: "revision=2&why=%07"},
		{route: "POST name/{name}/redact", state: "errors", path: nameAt(alb) + "/redact", form: "revision=2"},
	}
	for _, page := range []string{"", "/edit", "/retire", "/restore?to=1", "/redact", "/history", "/diff?a=1&b=2"} {
		path, _, _ := strings.Cut(page, "?")
		route := "GET name/{name}" + path
		all = append(all, row{route: route, state: "full", path: nameAt(alb) + page})
		for _, n := range []string{wild, longName()} {
			all = append(all, row{route: route, state: "hostile", path: nameAt(n) + page})
		}
	}
	return all
}

func tokenRows() (all []row) {
	all = []row{
		{route: "GET tokens", state: "empty", path: "tokens"},
		{route: "GET me", state: "full", path: "me", who: "anna"},
		{route: "POST tokens/new", state: "empty", path: "tokens/new", form: "who=Harvester&role=reader&scope=all", status: 303},
		{route: "POST tokens/new", state: "errors", path: "tokens/new", form: "who=&role=reader&prefixes=x+y&expires=never"},
		{route: "POST tokens/revoke/{id}", state: "errors", path: "tokens/revoke/none", form: "why=", status: 404},
	}
	for _, state := range []string{"full", "hostile"} {
		all = append(all,
			row{route: "GET me", state: state, path: "me"},
			row{route: "GET tokens", state: state, path: "tokens?all=1"},
			row{route: "GET tokens/new", state: state, path: "tokens/new"},
			row{route: "GET tokens/made", state: state, path: "tokens/made"},
			row{route: "GET tokens/revoke/{id}", state: state, path: "tokens/revoke/0000"},
		)
	}
	// This is the last one, because the list of tokens then has a random ID.
	return append(all, row{route: "POST tokens/new", state: "full", path: "tokens/new", form: "who=Harvester&role=reader&scope=all", status: 303})
}

// Two users of the stage: one with rights, and a disabled one.
const (
	berta  = "u-berta000"
	closed = "u-closed00"
)

func authorityRows() (all []row) {
	all = []row{
		{route: "GET authorities", state: "empty", path: "authorities"},
		{route: "GET authorities", state: "full", path: "authorities", who: "other"},
		{route: "GET authorities/{prefix}", state: "full", path: "authorities/ark%3A12345", who: "other"},
		{route: "GET authorities/{prefix}", state: "errors", path: "authorities/urn%3Ax-none", status: 404},
		{route: "POST authorities/new", state: "errors", path: "authorities/new", form: "prefix=x+y&max_age=many&rules=%5B&do=save"},
		{route: "POST authorities/{prefix}/edit", state: "full", path: ownAuthority + "/edit", form: "revision=2&owners=archive&access=denied&access_note=closed&do=check", status: 200},
		{route: "POST authorities/{prefix}/edit", state: "errors", path: ownAuthority + "/edit", form: "revision=1&owners=archive&do=save&accept=1", status: 409},
		{route: "POST authorities/{prefix}/edit", state: "errors", path: ownAuthority + "/edit", form: "revision=2&hosts=x+y&delegation.mode=redirect&do=save"},
		{route: "POST authorities/{prefix}/edit", state: "errors", path: ownAuthority + "/edit", form: "revision=2&owners=archive&rules=" + url.QueryEscape(failingRules) + "&do=save"},
		{route: "POST authorities/{prefix}/text", state: "errors", path: ownAuthority + "/text", form: "revision=2&text=%7B%22x%22%3A1%7D&do=save"},
		{route: "POST authorities/{prefix}/restore", state: "errors", path: ownAuthority + "/restore?to=1", form: "revision=1&do=save&accept=1", status: 409},
	}
	for _, state := range []string{"full", "hostile"} {
		all = append(all, row{route: "GET authorities", state: state, path: "authorities"}, row{route: "GET authorities/new", state: state, path: "authorities/new?prefix=" + url.QueryEscape(hostileTexts()[1])})
		for _, page := range []string{"", "/edit", "/text", "/history", "/restore?to=1"} {
			path, _, _ := strings.Cut(page, "?")
			all = append(all, row{route: "GET authorities/{prefix}" + path, state: state, path: ownAuthority + page})
		}
	}
	return all
}

// failingRules have one test that passes and one that fails.
const failingRules = `[{"match": "x{n:d}", "locations": [{"url": "https://example.org/{n}"}], "tests": [
	{"from": "urn:dns:example.org:x1", "to": ["https://example.org/1"]}, {"from": "urn:dns:example.org:x2", "to": ["https://example.org/wrong"]}]}]`

func userRows() (all []row) {
	all = []row{
		{route: "GET users", state: "empty", path: "users"},
		{route: "GET users", state: "full", path: "users?q=berta", who: "other"},
		{route: "GET users/{id}", state: "full", path: "users/" + closed},
		{route: "GET users/{id}", state: "full", path: "users/" + berta, who: "other"},
		{route: "GET users/{id}", state: "errors", path: "users/u-00000000", status: 404},
		{route: "POST users/new", state: "errors", path: "users/new", form: "name=Berta+Berg&scope=all&role=reader&mail=x"},
		{route: "POST users/new", state: "errors", path: "users/new", form: "name=&scope=some&prefix=x+y&role=boss&mail=x&subjects=x"},
		{route: "POST users/{id}/grant", state: "errors", path: "users/" + berta + "/grant", form: "role=editor&scope=some&prefix=x+y"},
		{route: "POST users/{id}/revoke", state: "errors", path: "users/" + berta + "/revoke", who: "other", form: "role=editor&prefix=urn:dns:example.org", status: 403},
		{route: "POST users/{id}/edit", state: "errors", path: "users/" + berta + "/edit", form: "name=&mail=x&revision=2"},
		{route: "POST users/{id}/disable", state: "errors", path: "users/" + berta + "/disable", form: "revision=1", status: 409},
		{route: "POST users/{id}/enable", state: "errors", path: "users/" + closed + "/enable", form: "revision=9", status: 409},
		{route: "POST users/{id}/sign-out", state: "errors", path: "users/none/sign-out", form: "x=", status: 404},
		{route: "POST users/{id}/link", state: "errors", path: "users/" + berta + "/link", who: "owner", form: "x=", status: 403},
		{route: "POST users/{id}/redact", state: "errors", path: "users/" + berta + "/redact", form: "revision=2&typed=x"},
	}
	for _, state := range []string{"full", "hostile"} {
		all = append(all, row{route: "GET users", state: state, path: "users?all=1"}, row{route: "GET users/new", state: state, path: "users/new"})
		for _, page := range []string{"", "/edit", "/disable", "/link", "/redact", "/history"} {
			all = append(all, row{route: "GET users/{id}" + page, state: state, path: "users/" + berta + page})
		}
	}
	return all
}

// addPeople stores users with a text in all fields.
func (s *site) addPeople(display, text string) {
	s.t.Helper()
	u := store.User{ID: berta, Name: display, Mail: text, Subjects: []string{"header " + text}, Since: servertest.Now}
	u.Grants = []store.UserGrant{{Role: "editor", Prefixes: []string{"urn:dns:example.org", text}}}
	more := u
	more.Grants = append(more.Grants, store.UserGrant{Role: "reader"})
	gone := store.User{ID: closed, Name: display, Disabled: true, Since: servertest.Now}
	for _, u := range []*store.User{&u, &more, &gone} {
		if _, err := s.store.Apply(s.t.Context(), []store.Change{{User: u, Expected: store.AnyRevision, Time: servertest.Now, Who: berta, Why: text}}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// addTokens stores tokens with a text in all fields: a valid one, and one that is revoked.
func (s *site) addTokens(text string) {
	s.t.Helper()
	for i, revoked := range []bool{false, true} {
		token := &store.Token{ID: fmt.Sprintf("%04d", i), Role: "editor", Who: text, Prefixes: []string{"urn:dns:example.org", text}, Created: servertest.Now, Revoked: revoked}
		if _, err := s.store.Apply(s.t.Context(), []store.Change{{Token: token, Time: servertest.Now}}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// A stage is the sites that the rows are about.
type stage struct{ empty, full, hostile *site }

func newStage(t *testing.T) *stage {
	return &stage{siteOf(t, memstore.New()), fullSite(t), hostileSite(t)}
}

// of returns the site of a row, in which its user is signed in.
func (g *stage) of(r row) *site {
	s := g.full
	switch r.state {
	case "empty":
		if r.route != "GET name/{name}" {
			s = g.empty
		}
	case "hostile":
		s = g.hostile
	}
	if r.who != "" {
		s = s.as(r.who)
	}
	return s
}

// answer returns the response for a row.
func (g *stage) answer(r row) *answer {
	s := g.of(r)
	if r.form == "" {
		return s.get(r.path)
	}
	form, err := url.ParseQuery(r.form)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.send(r.path, form)
}

func (r row) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s (%s) %.100s %s", r.route, r.state, r.path, r.who))
}

// want returns the status of the response.
func (r row) want() int {
	switch {
	case r.status != 0:
		return r.status
	case r.form != "":
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// maxPage is the limit of the size of a page without compression, in bytes.
const maxPage = 100_000

// TestRows opens each page. Those about signing in have their own table.
func TestRows(t *testing.T) {
	g := newStage(t)
	missing := map[string]bool{}
	for _, handlers := range allHandlers() {
		for route := range handlers {
			if strings.HasPrefix(route, "GET ") {
				missing[route+" full"], missing[route+" hostile"] = true, true
			} else {
				missing[route+" errors"] = true
			}
		}
	}
	for _, r := range allRows() {
		a := g.answer(r)
		if a.Code != r.want() {
			t.Errorf("%s: got %d, want %d:\n%s", r, a.Code, r.want(), a.text())
		}
		if a.Body.Len() > maxPage {
			t.Errorf("%s: the page has %d bytes, more than %d", r, a.Body.Len(), maxPage)
		}
		if r.file {
			a.wantFile()
		} else {
			a.wantHarmless(r.String())
		}
		delete(missing, r.route+" "+r.state)
	}
	for what := range maps.Keys(missing) {
		t.Errorf("no row for %s: add one to a function of this file", what)
	}
}

// wantFile checks that a browser saves the response.
func (a *answer) wantFile() {
	a.t.Helper()
	if h := a.Header(); !strings.HasPrefix(h.Get("Content-Disposition"), "attachment; filename=") || h.Get("X-Content-Type-Options") != "nosniff" {
		a.t.Errorf("the response is not a file to save: %v", h)
	}
}

// fullSite has a user and a name with a history.
func fullSite(t *testing.T) *site {
	s := newSite(t)
	s.addUser("u-colleague", "Zoe Zhang")
	s.addTokens("Harvester")
	s.addPeople("Berta Berg", "berta@example.org")
	s.describe("Albums, and what belongs to them")
	s.change(alb, "moved to a longer place", func(r *store.Record) {
		r.Locations = append(r.Locations, nomen.Location{URL: "https://example.org/" + fmt.Sprintf("%0300d", 7), Type: "text/html", Lang: "de", Note: "a note", Priority: 2})
		r.Locations[0].Priority = 1
		r.Metadata = nomen.Metadata{"title": {"A title that is quite long, as titles of albums are"}}
	})
	s.addJobs("albums.csv")
	return s
}

// hostileSite has records with hostile texts in all fields, and many revisions of one of them.
func hostileSite(t *testing.T) *site {
	s := newSite(t)
	s.store = memstore.New()
	servertest.Fill(t, s.store)
	evil := strings.Join(hostileTexts(), " ")
	s.addUser("u-colleague", strings.Join(shortHostileTexts(), " "))
	s.addTokens(evil)
	s.addPeople(strings.Join(shortHostileTexts(), " "), evil)
	s.describe(evil)
	s.add(wild)
	s.add(longName())
	for i := range 60 {
		s.change(wild, evil, func(r *store.Record) { r.Metadata = hostileMetadata(i) })
		s.add("urn:dns:example.org:" + strconv.Itoa(i))
	}
	for _, n := range []string{wild, longName()} {
		s.change(n, evil, stuffRecord)
	}
	s.apply(store.Record{Spelling: long + "-reserved", Status: nomen.Reserved, Metadata: hostileMetadata(1)})
	s = siteOf(t, s.store, "urn:dns:example.org:<script>\u202e", longName())
	s.addJobs(evil)
	return s
}

// stuffRecord sets all texts of a record.
func stuffRecord(r *store.Record) {
	for _, text := range shortHostileTexts() {
		r.Locations = append(r.Locations, nomen.Location{URL: text, Type: text, Lang: text, Rel: text, Country: text, Component: text, Charset: text, Note: text})
		r.SameAs = append(r.SameAs, text)
	}
	r.Metadata = hostileMetadata(0)
}

func hostileMetadata(i int) nomen.Metadata {
	return nomen.Metadata{"title": {strings.Join(hostileTexts(), " ")}, "date": {strconv.Itoa(i)}, hostileTexts()[1]: shortHostileTexts()}
}

func shortHostileTexts() []string {
	return slices.DeleteFunc(hostileTexts(), func(text string) bool { return len(text) > 100 })
}
