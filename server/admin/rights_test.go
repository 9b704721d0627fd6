package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// folding is the authority of the names in the tests of rights; its names are stored in
// lower case.
func folding() *store.Authority {
	return &store.Authority{Prefix: name.MustParsePrefix("urn:x-fold"), FoldCase: true, Owners: []string{"a", "b"}}
}

// A counter is a client of the admin listener with one token.
type counter struct {
	t     *testing.T
	url   string
	token string
}

// do sends a request and returns the status and the body.
func (d counter) do(method, path, body string) (int, string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.url+adminapi.Root+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// newCounter serves names that the token has rights on and, optionally, reserved names of
// others.
func newCounter(t *testing.T, others bool, role string, prefixes ...string) (counter, store.Store) {
	t.Helper()
	srv, s := newTestAPI(t, nil)
	changes := []store.Change{{Authority: folding(), Time: testNow}}
	add := func(key string, status nomen.Status) {
		changes = append(changes, store.Change{Time: testNow, Who: "anna", Why: "why of " + key, Record: &store.Record{
			Name: name.MustParse(key), Spelling: key, Status: status,
			Locations: []nomen.Location{{URL: "https://shared.example/" + key}}, SameAs: []string{"urn:x-fold:alias:" + key[len(key)-1:]},
		}})
	}
	add("urn:x-fold:mine:1", nomen.Active)
	add("urn:x-fold:mine:3", nomen.Reserved)
	if others {
		for _, key := range []string{"urn:x-fold:other:1", "urn:x-fold:other:2", "urn:x-fold:miners:1", "urn:x-fold:a:1", "urn:x-fold:mine2:1"} {
			add(key, nomen.Reserved)
		}
	}
	spelling, token := adminapi.NewToken(adminapi.Grant{Who: "scoped", Role: role, Prefixes: prefixes}, testNow)
	changes = append(changes, store.Change{Token: token, Time: testNow})
	if _, err := s.Apply(context.Background(), changes); err != nil {
		t.Fatal(err)
	}
	return counter{t, "http://" + listen(t, srv).Admin.String(), spelling}, s
}

// Rights apply to names as stored: spelling a name in another case does not circumvent
// them in any operation.
func TestRightsFold(t *testing.T) {
	for _, prefix := range []string{"urn:x-fold:OTHER", "urn:x-fold:Other", "urn:x-fold:mine"} {
		t.Run(prefix, func(t *testing.T) {
			d, s := newCounter(t, true, "administrator", prefix)
			before, err := s.Get(t.Context(), name.MustParse("urn:x-fold:other:1"), testNow)
			if err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct{ method, path, body string }{
				{"GET", "names/urn:x-fold:OTHER:1", ""},
				{"HEAD", "names/urn:x-fold:OTHER:1", ""},
				{"GET", "names/urn:x-fold:Other:1?at=2030-01-01T00:00:00Z", ""},
				{"GET", "names/urn:x-fold:OTHER:1/history", ""},
				{"GET", "names/urn:x-fold:OTHER:1/history?format=jsonl", ""},
				{"PUT", "names/urn:x-fold:OTHER:1", `{"locations":[{"url":"https://evil.example/"}]}`},
				{"DELETE", "names/urn:x-fold:OTHER:1", ""},
				{"POST", "names/urn:x-fold:OTHER:1/retire", `{"reason":"x"}`},
				{"POST", "names/urn:x-fold:OTHER:1/redact", `{"reason":"x","revisions":[1]}`},
				{"GET", "resolve?name=urn:x-fold:OTHER:1&explain=yes", ""},
				{"POST", "mint", `{"prefix":"urn:x-fold:OTHER","template":"{seq}","count":1,"dry_run":true}`},
				{"POST", "mint", `{"prefix":"urn:x-fold:OTHER","template":"{seq}","count":1}`},
			} {
				status, body := d.do(tt.method, tt.path, tt.body)
				if status != http.StatusForbidden {
					t.Errorf("%s %s: got %d %s, want 403", tt.method, tt.path, status, body)
				}
			}
			for _, tt := range []struct{ method, path, body string }{
				{"POST", "names", `{"requests":[{"record":{"name":"urn:x-fold:OTHER:1","locations":[{"url":"https://evil.example/"}]}}]}`},
				{"POST", "names", `{"dry_run":true,"requests":[{"record":{"name":"urn:x-fold:OTHER:1"}}]}`},
				{"POST", "import", `{"name":"urn:x-fold:OTHER:1","locations":[{"url":"https://evil.example/"}]}`},
				{"POST", "import?dry_run=1&changes=1&on_conflict=fail", `{"name":"urn:x-fold:OTHER:1","locations":[{"url":"https://evil.example/"}]}`},
				{"POST", "relocate", `{"from":"https://shared.example/","to":"https://evil.example/x/"}`},
				{"POST", "undo", `{"from":1,"to":1000,"force":true}`},
				{"GET", "names?prefix=urn:x-fold", ""},
				{"GET", "names?only=keys&limit=1", ""},
				{"GET", "export", ""},
				{"GET", "export?revisions=1&prefix=urn:x-fold:OTHER", ""},
				{"GET", "find?location=", ""},
				{"GET", "changes", ""},
			} {
				_, body := d.do(tt.method, tt.path, tt.body)
				for _, secret := range []string{"shared.example/urn:x-fold:other", "why of urn:x-fold:other", `"keys":["urn:x-fold:other`, "anna\",\"why\":\"why of urn:x-fold:o"} {
					if strings.Contains(body, secret) {
						t.Errorf("%s %s: got\n%s", tt.method, tt.path, body)
					}
				}
			}
			after, err := s.Get(t.Context(), name.MustParse("urn:x-fold:other:1"), testNow)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, after, cmp.Comparer(func(a, b name.Name) bool { return a == b })); diff != "" {
				t.Errorf("a reserved name of others has changed:\n%s", diff)
			}
		})
	}
	// In the right case the rights apply.
	d, _ := newCounter(t, true, "editor", "urn:x-fold:mine")
	if status, body := d.do("DELETE", "names/urn:x-fold:MINE:3", ""); status != http.StatusOK {
		t.Errorf("one's own name in another case: %d %s", status, body)
	}
	if status, body := d.do("GET", "names/urn:x-fold:MINE:1", ""); status != http.StatusOK || !strings.Contains(body, "mine:1") {
		t.Errorf("one's own name in another case: %d %s", status, body)
	}
}

// Responses to a token with prefixes do not reveal whether others have reserved names:
// they are compared with those of a server without such names.
func TestReservedNamesOfOthersDoNotShow(t *testing.T) {
	with, _ := newCounter(t, true, "administrator", "urn:x-fold:mine")
	without, _ := newCounter(t, false, "administrator", "urn:x-fold:mine")
	for _, tt := range []struct{ method, path, body string }{
		{"GET", "names/urn:x-fold:other:1", ""},
		{"GET", "names/urn:x-fold:other:1/history", ""},
		{"PUT", "names/urn:x-fold:other:1", `{"locations":[{"url":"https://shared.example/"}]}`},
		{"PUT", "names/urn:x-fold:other:1?expected=7", `{"locations":[{"url":"https://shared.example/"}]}`},
		{"DELETE", "names/urn:x-fold:other:1", ""},
		{"DELETE", "names/urn:x-fold:OTHER:1?expected=9", ""},
		{"POST", "names/urn:x-fold:other:1/retire", `{"reason":"x"}`},
		{"POST", "names/urn:x-fold:other:1/redact", `{"reason":"x","revisions":[1]}`},
		{"POST", "names", `{"dry_run":true,"requests":[{"record":{"name":"urn:x-fold:other:1"}},{"record":{"name":"urn:x-fold:other:9"}}]}`},
		{"POST", "names", `{"requests":[{"record":{"name":"urn:x-fold:other:1"},"existing":"refuse"}]}`},
		{"POST", "names", `{"requests":[{"record":{"name":"urn:x-fold:mine:4","same_as":["urn:x-fold:other:1"],"successors":["urn:x-fold:other:1"]}}]}`},
		{"POST", "import?dry_run=1&changes=1", `{"name":"urn:x-fold:other:1"}` + "\n" + `{"name":"urn:x-fold:mine:5","same_as":["urn:x-fold:other:2"]}`},
		{"POST", "import?on_conflict=fail", `{"name":"urn:x-fold:other:1"}`},
		{"POST", "mint", `{"prefix":"urn:x-fold:other","template":"{seq}","count":1,"dry_run":true}`},
		{"POST", "mint", `{"prefix":"urn:x-fold:other","count":1,"dry_run":true}`},
		{"POST", "mint", `{"prefix":"urn:x-fold","template":"other:{seq}","count":2,"dry_run":true}`},
		{"POST", "mint", `{"prefix":"urn:x-fold","template":"other:{seq}","count":2}`},
		{"POST", "mint", `{"prefix":"urn:x-fold:mine","template":"{seq}","count":2,"dry_run":true}`},
		{"POST", "names/urn:x-fold:mine:1/retire", `{"reason":"moved","successors":["urn:x-fold:other:1"]}`},
		{"POST", "names/urn:x-fold:mine:1/retire", `{"reason":"moved","successors":["urn:x-fold:OTHER:2"]}`},
		{"GET", "names", ""},
		{"GET", "names?limit=1&only=keys", ""},
		{"GET", "names?prefix=urn:x-fold:other", ""},
		{"GET", "names?prefix=urn:x-fold:min", ""},
		{"GET", "export", ""},
		{"GET", "find?location=https://shared.example/", ""},
		{"GET", "resolve?name=urn:x-fold:other:1&explain=yes", ""},
		{"GET", "resolve?name=urn:x-fold:alias:1&explain=yes", ""},
		{"GET", "resolve?name=urn:x-fold:mine:9&explain=yes", ""},
		{"GET", "misses", ""},
		{"POST", "relocate", `{"from":"https://shared.example/","to":"https://new.example/","dry_run":true}`},
		{"POST", "undo", `{"from":1,"to":1000,"force":true,"dry_run":true}`},
		{"POST", "verify", ""},
		{"GET", "tokens", ""},
		{"POST", "backup", `{"dir":"/tmp/x"}`},
	} {
		want, wanted := without.do(tt.method, tt.path, tt.body)
		got, body := with.do(tt.method, tt.path, tt.body)
		if diff := cmp.Diff(wanted, body); got != want || diff != "" {
			t.Errorf("%s %s %s: got %d, want %d\n%s", tt.method, tt.path, tt.body, got, want, diff)
		}
	}
}

// A token with prefixes cannot take over the requests or names of other authorities in
// any operation that changes authorities.
func TestScopedAdministratorStaysInside(t *testing.T) {
	d, s := newCounter(t, true, "administrator", "urn:x-fold:mine", "urn:dns:evil.example", "https://evil.example")
	mine := &store.Authority{Prefix: name.MustParsePrefix("urn:x-fold:mine"), Owners: []string{"me", "you"}}
	served := mine.Clone()
	served.Hosts = []string{"served.example"}
	for i, a := range []*store.Authority{mine, served, mine} { // by an administrator of all names
		if _, err := s.Apply(t.Context(), []store.Change{{Authority: a, Expected: uint64(i), Time: testNow}}); err != nil {
			t.Fatal(err)
		}
	}
	head, err := store.HeadOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, body string }{
		{"urn:x-fold:mine", `{"hosts":["example.org"],"owners":["me","you"]}`},
		{"urn:x-fold:mine", `{"addresses":["127.0.0.1"],"owners":["me","you"]}`},
		{"urn:x-fold:mine", `{"default":true,"owners":["me","you"]}`},
		{"urn:x-fold:mine", `{"owners":["me","a"]}`},
		{"urn:x-fold:mine", `{"owners":["me","you"],"delegation":{"mode":"ask","to":"10.0.0.1"}}`},
		{"urn:x-fold:mine:new", `{"delegation":{"mode":"ask","to":"http://10.0.0.1/secret?{+name}"}}`},
		{"urn:x-fold:mine:new", `{"hosts":["example.org"]}`},
		{"urn:x-fold:mine:new", `{"owners":["b"]}`},
		{"urn:dns:evil.example", `{}`},
		{"https://evil.example", `{}`},
		{"https://evil.example/path", `{}`},
		{"urn:x-fold", `{"fold_case":false}`},
		{"urn:x-fold:other", `{}`},
		{"urn:x-fold:MINE", `{}`},
	} {
		if status, body := d.do("PUT", "authorities/"+tt.path, tt.body); status != http.StatusForbidden {
			t.Errorf("%s %s: got %d %s, want 403", tt.path, tt.body, status, body)
		}
	}
	if status, body := d.do("PUT", "authorities/urn:x-fold:mine", `{"owners":["me","you"],"description":"ours"}`); status != http.StatusOK {
		t.Errorf("an allowed change: %d %s", status, body)
	}
	// The token must not undo the change that removed the host, which would return it.
	_, body := d.do("POST", "undo", fmt.Sprintf(`{"from":%d,"to":%[1]d,"force":true}`, head.Size))
	if a, err := s.Authority(t.Context(), mine.Prefix, testNow); err != nil || len(a.Hosts) != 0 || !strings.Contains(body, "not-permitted") {
		t.Errorf("undo: %+v, %v\n%s", a, err, body)
	}
}

// TestAllNames: what concerns all names needs the role for all names, and not only somewhere.
func TestAllNames(t *testing.T) {
	some := registrar.Grant{Role: registrar.Administrator, Prefixes: []name.Prefix{name.MustParsePrefix("urn:x-fold")}}
	c := &call{actor: registrar.Actor{Who: "w", Grants: []registrar.Grant{some, {Role: registrar.Owner}}}}
	if err := c.requireAllNames("tokens"); err == nil || c.isOperator() || c.permitAuthor("other") == nil {
		t.Errorf("an administrator of some names who owns all passes as an administrator of all: %v", err)
	}
	c.actor.Grants[1].Role = registrar.Administrator
	if err := c.requireAllNames("tokens"); err != nil || !c.isOperator() || c.permitAuthor("other") != nil {
		t.Errorf("an administrator of all names is rejected: %v", err)
	}
}
