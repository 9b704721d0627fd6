package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// A submission is a valid form: what must be entered on a page so that the form succeeds.
type submission struct {
	route  string // as in handlers
	page   string // with the form, below Root
	fields []string
}

// submissions are the valid forms of all routes with the method POST.
func submissions() []submission {
	const reserved = "urn:dns:example.org:secret"
	return []submission{
		{"POST new", "new?name=urn:dns:example.org:new", []string{"location-0-url", "https://example.org/new", "do", "save", "accept", "1"}},
		{"POST name/{name}/edit", nameAt(alb) + "/edit", []string{"location-0-url", "https://example.org/edited", "do", "save", "accept", "1", "why", "moved"}},
		{"POST name/{name}/retire", nameAt(alb) + "/retire", []string{"reason", "out of print"}},
		{"POST name/{name}/delete", nameAt(reserved) + "/delete", nil},
		{"POST name/{name}/restore", nameAt(alb) + "/restore?to=1", []string{"why", "a mistake"}},
		{"POST name/{name}/redact", nameAt(alb) + "/redact", []string{"revisions", "1", "reason", "personal data", "typed", alb}},
		{"POST tokens/new", "tokens/new", []string{"who", "Harvester", "role", "reader", "scope", "some", "prefixes", "ark:12345"}},
		{"POST tokens/revoke/{id}", "tokens/revoke/0000", nil},
		{"POST users/new", "users/new", []string{"name", "Carla Conti", "role", "editor", "scope", "some", "prefix", "urn:dns:example.org"}},
		{"POST users/{id}/grant", "users/" + berta, []string{"role", "owner", "scope", "some", "prefix", "urn:dns:example.org"}},
		{"POST users/{id}/revoke", "users/" + berta, nil},
		{"POST users/{id}/edit", "users/" + berta + "/edit", []string{"name", "Berta Bach"}},
		{"POST users/{id}/disable", "users/" + berta + "/disable", nil},
		{"POST users/{id}/enable", "users/" + closed, nil},
		{"POST users/{id}/sign-out", "users/" + berta, nil},
		{"POST users/{id}/link", "users/" + berta, nil},
		{"POST misses", "misses", nil},
		{"POST mint", "mint", []string{"prefix", "urn:dns:example.org", "template", "x{seq}", "count", "2", "do", "mint"}},
		{"POST misses/alias", "misses/alias?name=urn:dns:example.org:alb03&of=" + alb, nil},
		{"POST settings", "settings", nil},
		{"POST users/{id}/redact", "users/" + berta + "/redact", []string{"why", "asked for it", "typed", "Berta Berg"}},
		{"POST authorities/new", "authorities/new?prefix=urn:x-new", []string{"owners", "archive\nlibrary", "do", "save", "accept", "1"}},
		{"POST authorities/{prefix}/edit", ownAuthority + "/edit", []string{"description", "albums", "do", "save", "accept", "1"}},
		{"POST authorities/{prefix}/text", ownAuthority + "/text", []string{"text", `{"prefix": "urn:dns:example.org", "owners": ["archive"]}`, "do", "save", "accept", "1"}},
		{"POST authorities/{prefix}/restore", ownAuthority + "/restore?to=1", []string{"do", "save", "accept", "1"}},
		{"POST upload", "upload?file=" + checkedJob + "&format=csv", nil},
		{"POST relocate", "relocate", []string{"from", "https://example.org/", "to", "https://new.example/"}},
		{"POST retire", "retire", []string{"names", alb, "reason", "out of print"}},
		{"POST merge", "merge", []string{"keep", alb, "drop", "urn:dns:example.org:secret"}},
		{"POST jobs/{id}/apply", "jobs/" + checkedJob, []string{"skip_rejected", "1"}},
		{"POST jobs/{id}/undo", "jobs/" + doneJob, nil},
	}
}

// outside are the routes whose effect is not a change of the store. Some of them start a dry run.
var outside = []string{"POST users/{id}/sign-out", "POST users/{id}/link", "POST misses", "POST settings", "POST upload", "POST relocate", "POST retire", "POST merge", "POST jobs/{id}/undo"}

// ofRunning are the routes whose form is only on the page of a job that runs, of a job that waits
// for a second person (TestSecondPerson), or of a location for which an archive has suggested a copy
// (TestCopiesPage).
var ofRunning = []string{"POST jobs/{id}/cancel", "POST jobs/{id}/approve", "POST jobs/{id}/reject", "POST links/copy"}

// ofEditors are the routes that editors of any prefix may use. The job that they start has no more
// rights than its user.
var ofEditors = []string{"POST upload", "POST relocate", "POST retire", "POST merge"}

// ofOwners are the routes that owners of any prefix may use, because they may give other users
// rights within their prefixes.
var ofOwners = []string{"GET {$}", "GET users/{id}", "POST users/{id}/grant", "POST users/{id}/revoke"}

// ofEveryone are the routes that show what everyone who has any rights may see.
var ofEveryone = []string{"GET authorities/{prefix}", "GET authorities/{prefix}/history"}

// ownAuthority is the path of an authority that has two revisions.
const ownAuthority = "authorities/urn%3Adns%3Aexample.org"

// describe changes the description of that authority.
func (s *site) describe(text string) {
	s.t.Helper()
	a, err := s.store.Authority(s.t.Context(), name.MustParsePrefix("urn:dns:example.org"), servertest.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	a = a.Clone()
	a.Description = text
	if _, err := s.store.Apply(s.t.Context(), []store.Change{{Authority: a, Expected: store.AnyRevision, Time: servertest.Now, Who: "u-colleague", Why: "said better"}}); err != nil {
		s.t.Fatal(err)
	}
}

// canary is in every text that people with rights on other names must not see.
const canary = "CANARY"

// attackedSite returns a site with names that have revisions, and tokens.
func attackedSite(t *testing.T) *site {
	s := newSite(t)
	s.addUser("u-colleague", "Zoe Zhang")
	s.addTokens(canary)
	s.describe("Albums")
	for _, id := range []string{berta, closed} {
		u := &store.User{ID: id, Name: "Berta Berg", Subjects: []string{"header " + canary + id}, Since: servertest.Now, Disabled: id == closed}
		u.Grants = []store.UserGrant{{Role: "editor", Prefixes: []string{"urn:dns:example.org"}}}
		if _, err := s.store.Apply(t.Context(), []store.Change{{User: u, Time: servertest.Now, Who: "u-admin", Why: canary}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{alb, "urn:dns:example.org:secret"} {
		s.change(n, canary, func(r *store.Record) {
			r.Locations = []nomen.Location{{URL: "https://example.org/" + canary, Note: canary}}
			r.Metadata = nomen.Metadata{"title": {canary}}
		})
	}
	s.addJobs(canary)
	return s
}

// braces are the parts of a route that stand for values.
var braces = regexp.MustCompile(`\{[^}]*\}`)

// fill opens the page of a submission, and returns where its form leads and what a browser sends.
func (sub submission) fill(s *site) (action string, form url.Values) {
	s.t.Helper()
	a := s.get(sub.page)
	a.want(200)
	_, path, _ := strings.Cut(sub.route, " ")
	own := regexp.MustCompile("^" + Root + braces.ReplaceAllString(path, "[^/?]+") + `(\?.*)?$`)
	for _, f := range a.elements("form") {
		if action := attribute(f, "action"); attribute(f, "method") == "post" && own.MatchString(action) {
			return strings.TrimPrefix(action, Root), fill(formValues(f), sub.fields...)
		}
	}
	s.t.Fatalf("%s: no form on %s", sub.route, sub.page)
	return "", nil
}

// randomUser is the ID of a user that the server has made.
var randomUser = regexp.MustCompile(`"u-[0-9a-z]{8}"`)

// randomBatch is the ID of the changes of a job.
var randomBatch = regexp.MustCompile(`"Batch":"[0-9]+-[0-9a-z]{8}"`)

// state returns all changes and tokens, without what is random.
func (s *site) state() string {
	s.t.Helper()
	var b strings.Builder
	for e, err := range s.store.Changes(s.t.Context(), 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		text, _ := json.Marshal(e.Change) // cannot fail
		if e.Change.User != nil && e.Change.User.ID != berta && e.Change.User.ID != closed {
			text = randomUser.ReplaceAll(text, []byte(`"u-random"`))
		}
		if r := e.Change.Rights; r != nil && len(r.ID) > 4 { // not of the fixture
			text = bytes.ReplaceAll(text, []byte(r.ID), []byte("random"))
		}
		text = randomBatch.ReplaceAll(text, []byte(`"Batch":"random"`))
		b.Write(append(text, '\n'))
	}
	for _, t := range s.allTokens() {
		if len(t.ID) == 4 { // of the fixture
			fmt.Fprintf(&b, "%s %v\n", t.ID, t.Revoked)
			continue
		}
		fmt.Fprintf(&b, "%s %s %q %v %v %v\n", t.Who, t.Role, t.Prefixes, t.Created, t.Expires, t.Revoked)
	}
	return b.String()
}

// TestSubmissions: every form that is attacked below succeeds without the attack, and all are
// attacked.
func TestSubmissions(t *testing.T) {
	missing := map[string]bool{}
	for _, handlers := range allHandlers() {
		for route := range handlers {
			if strings.HasPrefix(route, "POST ") && !slices.Contains(ofRunning, route) {
				missing[route] = true
			}
		}
	}
	for _, sub := range submissions() {
		s := attackedSite(t)
		before := s.state()
		action, form := sub.fill(s)
		if a := s.send(action, form); a.Code != 303 || s.state() == before && !slices.Contains(outside, sub.route) {
			t.Errorf("%s: got %d:\n%s", sub.route, a.Code, a.text())
		}
		delete(missing, sub.route)
	}
	for route := range missing {
		t.Errorf("no valid form for %s: add one to submissions", route)
	}
}

// pathOf returns a path for a route: of a name, user, token or change with the canary.
func (s *site) pathOf(route string) string {
	s.t.Helper()
	_, path, _ := strings.Cut(route, " ")
	head, err := s.store.Head(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	values := map[string]string{
		"{name}": strings.TrimPrefix(nameAt(alb), "name/"), "{id}": berta, "{prefix}": "urn:dns:example.org", "{$}": "", "{seq}": strconv.FormatUint(head.Size, 10),
	}
	switch {
	case strings.HasPrefix(path, "tokens/"):
		values["{id}"] = "0000"
	case strings.HasPrefix(path, "jobs/"):
		values["{id}"] = checkedJob
	}
	path = braces.ReplaceAllStringFunc(path, func(part string) string {
		value, ok := values[part]
		if !ok {
			s.t.Errorf("%s: no value for %s: add one", route, part)
		}
		return value
	})
	return path + "?a=1&b=2&to=1&prefix=urn:dns:example.org&q=&undo=2"
}

// everyRoute calls check with every route, its method and a path.
func (s *site) everyRoute(check func(route, method, path string)) {
	s.t.Helper()
	for _, handlers := range allHandlers() {
		for _, route := range slices.Sorted(maps.Keys(handlers)) {
			method, _, _ := strings.Cut(route, " ")
			check(route, method, s.pathOf(route))
		}
	}
}

// wantNothing checks that an answer has nothing of the content of a name.
func (a *answer) wantNothing(what string) {
	a.t.Helper()
	if all := fmt.Sprint(a.Header()) + a.Body.String(); strings.Contains(all, canary) {
		a.t.Errorf("%s shows what the user must not see:\n%s", what, all)
	}
}

// TestAttackOtherPrefix: people with rights on other prefixes, or without rights, see nothing of a
// name on any page, and change nothing.
func TestAttackOtherPrefix(t *testing.T) {
	s := attackedSite(t)
	before := s.state()
	for _, who := range []string{"other", "none"} {
		s.everyRoute(func(route, method, path string) {
			a := s.as(who).do(httptest.NewRequest(method, Root+path, nil))
			a.wantNothing(who + ": " + route)
			if strings.Contains(route, "{") && !slices.Contains(ofOwners, route) && !slices.Contains(ofEveryone, route) && a.Code != 403 && a.Code != 404 {
				t.Errorf("%s: %s: got %d", who, route, a.Code)
			}
		})
		for _, sub := range submissions() {
			action, form := sub.fill(s)
			a := s.as(who).send(action, form)
			a.wantNothing(who + ": " + sub.route)
			if a.Code != 403 && a.Code != 404 && !slices.Contains(ofOwners, sub.route) && !(who == "other" && slices.Contains(ofEditors, sub.route)) {
				t.Errorf("%s: %s: got %d", who, sub.route, a.Code)
			}
		}
	}
	if s.state() != before {
		t.Error("something was changed")
	}
}

// TestAttackWithoutSession: without a session there is nothing to see, and nothing to change.
func TestAttackWithoutSession(t *testing.T) {
	s := attackedSite(t)
	before := s.state()
	s.everyRoute(func(route, method, path string) {
		a := s.as("stranger").do(httptest.NewRequest(method, Root+path, nil))
		a.wantNothing(route)
		if want := map[string]int{"GET": 303, "POST": 401}[method]; a.Code != want {
			t.Errorf("%s: got %d, want %d", route, a.Code, want)
		}
	})
	for _, sub := range submissions() {
		action, form := sub.fill(s)
		if a := s.as("stranger").send(action, form); a.Code != 401 {
			t.Errorf("%s: got %d", sub.route, a.Code)
		}
	}
	if s.state() != before {
		t.Error("something was changed")
	}
}

// crossSite are the fields by which a browser says that the page of another site sends a form.
func crossSite() []http.Header {
	return []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"same-site"}}, // a sibling, such as evil.example.org
		{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"http://example.com"}},
		{"Sec-Fetch-Site": {"nonsense"}},
		{"Origin": {"https://evil.example"}},
		{"Origin": {"null"}},
		{"Origin": {"https://example.com.evil.example"}},
		{"Origin": {"https://example.com:444"}},
	}
}

// TestAttackCrossSite: forms of other sites change nothing.
func TestAttackCrossSite(t *testing.T) {
	s := attackedSite(t)
	before := s.state()
	for _, sub := range submissions() {
		action, form := sub.fill(s)
		for _, fields := range crossSite() {
			r := httptest.NewRequest(http.MethodPost, Root+action, strings.NewReader(form.Encode()))
			maps.Copy(r.Header, fields)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			a := s.do(r)
			if a.wantNothing(sub.route); a.Code != 403 {
				t.Errorf("%s %v: got %d", sub.route, fields, a.Code)
			}
		}
	}
	if s.state() != before {
		t.Error("something was changed")
	}
}

// TestAttackMethods: GET, other methods and overrides of the method change nothing.
func TestAttackMethods(t *testing.T) {
	s := attackedSite(t)
	before := s.state()
	for _, sub := range submissions() {
		action, form := sub.fill(s)
		path, query, _ := strings.Cut(action, "?")
		for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "post", "PROPFIND"} {
			q := form.Encode() + "&_method=POST&" + query
			r := httptest.NewRequest(method, Root+path+"?"+q, strings.NewReader(form.Encode()))
			r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Http-Method-Override": {"POST"}, "X-Method-Override": {"POST"}}
			a := s.do(r)
			if method != "GET" && method != "HEAD" && a.Code != 404 && a.Code != 405 {
				t.Errorf("%s %s: got %d", method, action, a.Code)
			}
			for key := range a.Header() {
				if strings.HasPrefix(key, "Access-Control-") {
					t.Errorf("%s %s: %s", method, action, key)
				}
			}
		}
	}
	if s.state() != before {
		t.Error("something was changed")
	}
}

// TestHead: HEAD has the status and the fields of GET, and no body.
func TestHead(t *testing.T) {
	s := attackedSite(t)
	s.everyRoute(func(route, method, path string) {
		if method != http.MethodGet {
			return
		}
		get, head := s.get(path), s.do(httptest.NewRequest(http.MethodHead, Root+path, nil))
		if head.Code != get.Code || fmt.Sprint(head.Header()) != fmt.Sprint(get.Header()) || head.Body.Len() > 0 {
			t.Errorf("%s: HEAD %d %v, %d bytes; GET %d %v", route, head.Code, head.Header(), head.Body.Len(), get.Code, get.Header())
		}
	})
}

// extra are fields that no form has, as an attacker adds them: all that our data types know.
func extra() url.Values {
	v := url.Values{}
	for _, key := range []string{
		"id", "who", "actor", "user", "User", "role", "grants", "prefixes", "admin", "disabled", "redacted", "redacts", "modified", "created", "since", "time", "batch",
		"expected", "used", "hash", "secret", "token", "owners", "policy", "prefix", "spelling", "Spelling", "name_", "Status", "Who", "Grants", "Revision",
		"location-0-down_", "location-1-url", "location-9-url", "metadata-9-value", "record", "record.status", "record[status]", "status[]", "__proto__", "any_time", "use_only", "force",
		"if-match", "dry_run", "path", "next", "done", "at", "sames_as", "show_locations_", "kind", "mail", "subjects",
	} {
		v.Set(key, "u-admin")
	}
	return v
}

// TestAttackMassAssignment: fields that a form does not have change nothing in what it does.
func TestAttackMassAssignment(t *testing.T) {
	for _, sub := range submissions() {
		plain, attacked := attackedSite(t), attackedSite(t)
		action, form := sub.fill(plain)
		plain.send(action, form)
		for key, values := range extra() {
			if !form.Has(key) {
				form[key] = values
			}
		}
		if a := attacked.send(action, form); a.Code != 303 {
			t.Errorf("%s: got %d:\n%s", sub.route, a.Code, a.text())
		}
		if d := cmp.Diff(attacked.state(), plain.state()); d != "" {
			t.Errorf("%s (got -, want +):\n%s", sub.route, d)
		}
	}
}

// splits are texts that end a header field in careless programs.
func splits() []string {
	return []string{"\r\nX-Injected: 1", "\nX-Injected: 1", "\rX-Injected: 1", "\u560d\u560aX-Injected: 1", "%0d%0aX-Injected: 1", "\x00X-Injected: 1"}
}

// filled returns all valid forms, by the path to which they are sent.
func filled(s *site) map[string]url.Values {
	all := map[string]url.Values{}
	for _, sub := range submissions() {
		action, form := sub.fill(s)
		all[action] = form
	}
	return all
}

// TestAttackSplit: no text in a path, a query or a form ends a header field.
func TestAttackSplit(t *testing.T) {
	for _, split := range splits() {
		s := attackedSite(t)
		check := func(what string, a *answer) {
			for key, values := range a.Header() {
				if all := strings.Join(values, ""); strings.ContainsAny(all, "\r\n\x00") || key == "X-Injected" {
					t.Errorf("%s: field %s: %q", what, key, all)
				}
			}
		}
		s.everyRoute(func(route, method, path string) {
			bare, _, _ := strings.Cut(path, "?")
			q := url.Values{}
			for _, key := range []string{"q", "prefix", "status", "after", "at", "done", "next", "a", "b", "to", "undo", "before", "name", "all"} {
				q.Set(key, "urn:dns:example.org:a"+split)
			}
			check(route, s.do(httptest.NewRequest(method, Root+bare+"?"+q.Encode(), nil)))
			check(route, s.as("stranger").do(httptest.NewRequest(method, Root+bare+"?"+q.Encode(), nil)))
			check(route, s.do(httptest.NewRequest(method, Root+strings.Replace(bare, "alb002", "alb002"+url.PathEscape(split), 1), nil)))
		})
		for action, form := range filled(attackedSite(t)) {
			for key := range form {
				check(action, s.send(action, fill(form, key, form.Get(key)+split)))
			}
		}
		check("language", s.post("language", "lang", "de", "next", Root+split))
		check("language", s.post("language", "lang", "de"+split, "next", Root))
	}
}

// TestAttackCaches: no response but a static file may be kept by a cache, and all are protected
// against framing and sniffing, whatever their status.
func TestAttackCaches(t *testing.T) {
	s := attackedSite(t)
	check := func(what string, a *answer) {
		h := a.Header()
		if h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s: %d %v", what, a.Code, h)
		}
	}
	for _, who := range []string{"admin", "other", "stranger", "broken"} {
		s.everyRoute(func(route, method, path string) {
			check(who+" "+route, s.as(who).do(httptest.NewRequest(method, Root+path, nil)))
		})
		for _, sub := range submissions()[:2] {
			action, form := sub.fill(s)
			check(who+" "+sub.route, s.as(who).send(action, form))
		}
		check(who, s.as(who).get("none"))
	}
}
