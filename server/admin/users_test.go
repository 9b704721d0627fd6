package admin

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// signedIn returns the client of a user who has just signed in.
func signedIn(t *testing.T, api *API, id string) *adminapi.Client {
	t.Helper()
	users, err := api.users()
	if err != nil {
		t.Fatal(err)
	}
	u, err := users.User(t.Context(), id, testNow.AddDate(100, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	a, err := registrar.Person(u)
	if err != nil {
		t.Fatal(err)
	}
	return api.Client(a)
}

func grantOf(role string, prefixes ...string) store.UserGrant {
	return store.UserGrant{Role: role, Prefixes: prefixes}
}

// newUsers returns an API, the client of an administrator, and the IDs of an owner of
// urn:dns:example.org and of a user without grants.
func newUsers(t *testing.T) (api *API, admin *adminapi.Client, owner, other string) {
	t.Helper()
	api, _ = newTestAPI(t, nil)
	admin = api.Client(person("", registrar.Administrator))
	add := func(u *store.User) string {
		out, err := admin.PutUser(t.Context(), u, store.AnyRevision, "joins")
		if err != nil || !out.Created || out.User.Revision != 1 || !registrar.IsUserID(out.User.ID) {
			t.Fatalf("%+v, %v", out, err)
		}
		return out.User.ID
	}
	owner = add(&store.User{Name: "Olga", Mail: "olga@example.org", Subjects: []string{"header olga"}, Grants: []store.UserGrant{grantOf("owner", "urn:dns:example.org")}})
	other = add(&store.User{Name: "Otto", Subjects: []string{"header otto"}})
	return api, admin, owner, other
}

// TestUsers checks what clients can do with users, and that the history names them.
func TestUsers(t *testing.T) {
	api, admin, owner, other := newUsers(t)
	ctx := t.Context()
	if all, err := admin.Users(ctx); err != nil || len(all) != 2 || len(all[0].Subjects) != 1 {
		t.Errorf("users: %+v, %v", all, err)
	}
	u, err := admin.User(ctx, owner)
	if err != nil || u.Mail != "olga@example.org" {
		t.Fatalf("%+v, %v", u, err)
	}
	if _, err := admin.User(ctx, "u-00000000"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a user who is not there: %v", err)
	}
	u.Mail = ""
	if out, err := admin.PutUser(ctx, u, 1, "left the address out"); err != nil || out.Revision != 2 {
		t.Errorf("changed: %+v, %v", out, err)
	}
	if _, err := admin.PutUser(ctx, u, 1, ""); !errors.As(err, new(*store.ConflictError)) {
		t.Errorf("on an earlier revision: %v", err)
	}
	if _, err := admin.PutUser(ctx, &store.User{Name: "Thief", Subjects: []string{"header otto"}}, store.AnyRevision, ""); !errors.As(err, new(*store.StateError)) {
		t.Errorf("a subject of another: %v", err)
	}
	c := signedIn(t, api, owner)
	alb := name.MustParse("urn:dns:example.org:alb002")
	if _, err := c.Put(ctx, location(alb.Key(), "https://example.org/olga"), "moved"); err != nil {
		t.Fatal(err)
	}
	named := func(want string) {
		t.Helper()
		for r, err := range admin.Revisions(ctx, alb) {
			if err != nil || r.Who != owner || r.WhoName != want {
				t.Errorf("history: %+v, %v, want the author %q", r, err, want)
			}
			break
		}
	}
	named("Olga")
	g := registrar.Granting{Add: []store.UserGrant{grantOf("editor", "urn:dns:example.org")}, Expected: store.AnyRevision}
	if out, err := c.GrantUser(ctx, other, g, "helps"); err != nil || out.User.Subjects != nil || len(out.User.Grants) != 1 {
		t.Errorf("granted by an owner: %+v, %v", out, err)
	}
	n := 0
	for change, err := range admin.UserHistory(ctx, other) {
		if n++; err != nil || n == 1 && (change.Who != owner || change.Why != "helps") {
			t.Errorf("history of a user: %+v, %v", change, err)
		}
	}
	if n != 2 {
		t.Errorf("%d revisions, want 2", n)
	}
	out, err := admin.RedactUser(ctx, owner, registrar.Redaction{Reason: "left", Expected: store.AnyRevision})
	if err != nil || out.User.Name != "" || !out.User.Disabled {
		t.Errorf("redacted: %+v, %v", out, err)
	}
	named("")
	if err := api.tokenInvalid(ctx, insidePrefix+owner); !errors.Is(err, errJobDisabled) {
		t.Errorf("jobs of a disabled user: %v", err)
	}
	if err := api.tokenInvalid(ctx, insidePrefix+other); err != nil {
		t.Errorf("jobs of another user: %v", err)
	}
	if _, err := signedIn(t, api, owner).Version(ctx); !errors.As(err, new(*registrar.DeniedError)) {
		t.Errorf("a disabled user: %v", err)
	}
}

// TestUserRights checks what each role may see and do.
func TestUserRights(t *testing.T) {
	api, admin, owner, other := newUsers(t)
	ctx := t.Context()
	clients := map[string]*adminapi.Client{
		"administrator of some names": api.Client(person("u-some", registrar.Administrator, "urn:dns:example.org")),
		"owner of all names":          api.Client(person("u-all", registrar.Owner)),
		"editor":                      api.Client(person("u-edit", registrar.Editor)),
		"reader":                      api.Client(person("u-read", registrar.Reader)),
		"without grants":              api.Client(registrar.Actor{Who: "u-none"}),
	}
	denied := func(what string, err error) {
		t.Helper()
		if !errors.As(err, new(*registrar.DeniedError)) {
			t.Errorf("%s: %v, want it denied", what, err)
		}
	}
	for what, c := range clients {
		_, err := c.PutUser(ctx, &store.User{Name: "New"}, store.AnyRevision, "")
		denied(what+" adds", err)
		u, err := admin.User(ctx, other)
		if err != nil {
			t.Fatal(err)
		}
		u.Name = "Changed"
		u.Grants = []store.UserGrant{grantOf("administrator")}
		_, err = c.PutUser(ctx, u, store.AnyRevision, "")
		denied(what+" changes", err)
		_, err = c.GrantUser(ctx, other, registrar.Granting{Add: []store.UserGrant{grantOf("administrator")}, Expected: store.AnyRevision}, "")
		denied(what+" grants", err)
		_, err = c.RedactUser(ctx, other, registrar.Redaction{Reason: "x", Expected: store.AnyRevision})
		denied(what+" redacts", err)
		for _, err := range c.UserHistory(ctx, other) {
			denied(what+" reads the history", err)
		}
		u, err = c.User(ctx, owner)
		switch what {
		case "without grants":
			denied(what+" reads", err)
			continue
		case "reader", "editor":
			if err != nil || u.Name != "Olga" || u.Mail != "" || u.Subjects != nil || u.Grants != nil {
				t.Errorf("%s reads %+v, %v, want the name alone", what, u, err)
			}
			_, err = c.Users(ctx)
			denied(what+" lists", err)
		default:
			if err != nil || u.Mail == "" || u.Subjects != nil || u.Grants == nil {
				t.Errorf("%s reads %+v, %v, want it without subjects", what, u, err)
			}
			all, err := c.Users(ctx)
			if err != nil || len(all) != 2 || all[0].Subjects != nil || all[1].Subjects != nil {
				t.Errorf("%s lists %+v, %v", what, all, err)
			}
		}
	}
	if u, err := signedIn(t, api, owner).User(ctx, owner); err != nil || len(u.Subjects) != 1 {
		t.Errorf("a user reads the own record: %+v, %v", u, err)
	}
}

// TestUsersInChanges checks that the content of users is in the log for administrators of all
// names only, and that others who read everything can still compute the head.
func TestUsersInChanges(t *testing.T) {
	api, admin, owner, _ := newUsers(t)
	ctx := t.Context()
	read := func(c *adminapi.Client) (users, secret int, digests []string) {
		t.Helper()
		for e, err := range c.Changes(ctx, 0) {
			if err != nil {
				t.Fatal(err)
			}
			digests = append(digests, string(e.Digest[:]))
			if u := e.Change.User; u != nil {
				users++
				if u.Name != "" || u.Mail != "" || u.Subjects != nil || u.Grants != nil || e.Change.Why != "" || e.Salt != [16]byte{} {
					secret++
				}
			}
		}
		return users, secret, digests
	}
	users, secret, want := read(admin)
	if users != 2 || secret != 2 {
		t.Errorf("an administrator reads %d users, %d with content, want 2", users, secret)
	}
	for what, a := range map[string]registrar.Actor{
		"a reader": person("u-read", registrar.Reader),
		"an administrator of some names who reads all": {Who: "u-some", Grants: append(person("", registrar.Administrator, "urn:dns:example.org").Grants, registrar.Grant{})},
	} {
		users, secret, got := read(api.Client(a))
		if users != 2 || secret != 0 || !slices.Equal(got, want) {
			t.Errorf("%s reads %d users, %d with content, want 2 and 0, with the same digests", what, users, secret)
		}
	}
	if users, _, _ := read(signedIn(t, api, owner)); users != 0 {
		t.Errorf("an owner of some names reads %d users, want none", users)
	}
	for _, prefix := range []string{"", "\x00", "\x00user\x00", "\x00user\x00header"} {
		for p, err := range admin.Find(ctx, prefix, store.Place{}) {
			if err != nil || strings.HasPrefix(p.URL, "\x00") {
				t.Errorf("a subject is found as a location: %+v, %v", p, err)
			}
		}
	}
}

// TestRightsOfTokensInChanges checks that the rights of tokens are in the log for administrators of
// all names only, without secrets, and that others who read everything can still compute the head.
func TestRightsOfTokensInChanges(t *testing.T) {
	api, admin, owner, _ := newUsers(t)
	ctx := t.Context()
	if _, err := admin.Grant(ctx, adminapi.Grant{Role: "editor", Who: "Press", Prefixes: []string{"urn:dns:example.org"}}); err != nil {
		t.Fatal(err)
	}
	read := func(c *adminapi.Client) (all []*store.Entry) {
		t.Helper()
		for e, err := range c.Changes(ctx, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Change.Rights != nil {
				all = append(all, e)
			}
		}
		return all
	}
	want := read(admin)
	if len(want) == 0 {
		t.Fatal("an administrator reads no rights of tokens")
	}
	last := want[len(want)-1]
	if r := last.Change.Rights; r.Who != "Press" || r.Role != "editor" || !slices.Equal(r.Prefixes, []string{"urn:dns:example.org"}) {
		t.Errorf("an administrator reads %+v", r)
	}
	if got := codec.Digest(last.Salt, codec.Append(nil, last.Change)); got != last.Digest {
		t.Error("the content that an administrator reads does not have the digest")
	}
	got := read(api.Client(person("u-read", registrar.Reader)))
	if len(got) != len(want) {
		t.Fatalf("a reader reads %d changes of rights, want %d", len(got), len(want))
	}
	for i, e := range got {
		if r := e.Change.Rights; r.Who != "" || r.Role != "" || r.Prefixes != nil || !e.Change.Redacted || e.Salt != [16]byte{} || e.Digest != want[i].Digest {
			t.Errorf("a reader reads %+v", e.Change.Rights)
		}
	}
	if got := read(signedIn(t, api, owner)); len(got) != 0 {
		t.Errorf("an owner of some names reads %d changes of rights, want none", len(got))
	}
}

// TestUserRequests checks requests that no client sends.
func TestUserRequests(t *testing.T) {
	api, _, owner, _ := newUsers(t)
	c := api.Client(person("", registrar.Administrator))
	for _, tt := range []struct {
		method, path, body string
		want               int
	}{
		{http.MethodPost, "users", `{"name":"A","id":"u-12345678"}`, 400},
		{http.MethodPost, "users", `{"name":"A","secret":"x"}`, 400},
		{http.MethodPost, "users", `null`, 400},
		{http.MethodPost, "users", `{"name":"A","since":"2001-01-01T00:00:00Z","revision":9,"redacted":true}`, 201},
		{http.MethodPost, "users", `{"name":"` + strings.Repeat("x", 8<<10) + `"}`, 422},
		{http.MethodPost, "users", `{"name":"a\u0000b"}`, 422},
		{http.MethodPost, "users?admin=1", `{"name":"A"}`, 400},
		{http.MethodPut, "users/" + owner, `{"id":"u-12345678","name":"A"}`, 400},
		{http.MethodPut, "users/u-12345678", `{"name":"A"}`, 404},
		{http.MethodPut, "users/" + owner + "?expected=9", `{"name":"A"}`, 409},
		{http.MethodPost, "users/" + owner + "/grants", `{"add":[{"role":"king"}]}`, 422},
		{http.MethodPost, "users/" + owner + "/grants", `{"remove":[{"role":"reader"}]}`, 422},
		{http.MethodPost, "users/" + owner + "/grants", `{"grants":[]}`, 400},
		{http.MethodPost, "users/" + owner + "/grants", `{"add":[{"role":"reader"}],"expected":9}`, 409},
		{http.MethodPost, "users/" + owner + "/redact", `{}`, 422},
		{http.MethodDelete, "users/" + owner, ``, 405},
		{http.MethodGet, "users/" + owner + "/grants", ``, 404},
		{http.MethodGet, "users/%00", ``, 404},
		{http.MethodGet, "users/" + strings.Repeat("u", 4000), ``, 404},
	} {
		r, err := c.NewRequest(t.Context(), tt.method, tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.HTTP.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != tt.want {
			t.Errorf("%s %.60s %.60s: got %d %.200s, %v, want %d", tt.method, tt.path, tt.body, res.StatusCode, b, err, tt.want)
		}
		res.Body.Close()
	}
}
