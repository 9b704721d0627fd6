package pages

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// user returns a user as stored.
func (s *site) user(id string) *store.User {
	s.t.Helper()
	u, err := s.store.User(context.Background(), id, time.Time{})
	if err != nil {
		s.t.Fatal(err)
	}
	return u
}

// newUser adds a user with a page, and returns the ID.
func (s *site) newUser(form ...string) string {
	s.t.Helper()
	a := s.send("users/new", fill(s.get("users/new").form("/-/ui/users/new"), form...))
	to, _, _ := strings.Cut(strings.TrimPrefix(a.Header().Get("Location"), "/-/ui/users/"), "?")
	if a.Code != 303 || !registrar.IsUserID(to) {
		s.t.Fatalf("got %d to %q:\n%s", a.Code, a.Header().Get("Location"), a.text())
	}
	return to
}

func grants(role string, prefixes ...string) []store.UserGrant {
	return []store.UserGrant{{Role: role, Prefixes: prefixes}}
}

func TestAddUser(t *testing.T) {
	s := newSite(t)
	s.get("users").want(200, "There are no such users", "Add a user")
	if got := s.get("users/new").elements("option"); len(got) == 0 || attribute(got[0], "value") == "" {
		t.Error("no prefixes are suggested")
	}
	id := s.newUser("name", " Berta Berg ", "mail", "berta@example.org", "role", "editor", "scope", "some", "prefix", "urn:dns:example.org", "why", "new here",
		"disabled", "1", "id", "u-00000001", "redacted", "1") // the last ones do nothing
	u := s.user(id)
	want := &store.User{ID: id, Name: "Berta Berg", Mail: "berta@example.org", Grants: grants("editor", "urn:dns:example.org"), Since: u.Since}
	if !u.SameContent(want) {
		t.Errorf("stored %+v", u)
	}
	s.get("users/"+id+"?done=user-added").want(200, "The user has been added", "User Berta Berg", "berta@example.org", id, "Only with a link that you make", "urn:dns:example.org Editor")
	s.get("users").want(200, "Berta Berg berta@example.org Editor: urn:dns:example.org "+id)
	all := s.newUser("name", "Zoe", "scope", "all", "role", "reader")
	if got := s.user(all).Grants; len(got) != 1 || len(got[0].Prefixes) > 0 {
		t.Errorf("grants %+v", got)
	}
	a := s.get("users?q=BERG")
	a.want(200, "Berta Berg")
	a.without("Zoe")
	s.get("users?q=nothing").want(200, "There are no such users")
}

func TestAddInvalidUser(t *testing.T) {
	s := newSite(t)
	s.newUser("name", "Taken", "subjects", "header taken", "prefix", "ark:12345")
	valid := fill(s.get("users/new").form("/-/ui/users/new"), "name", "Berta", "mail", "b@example.org", "subjects", "header b", "role", "editor", "prefix", "ark:12345", "why", "she is new")
	for _, tt := range []struct{ field, value, part, id string }{
		{"name", "", "must not be empty", "name"},
		{"name", "x\u202ey", "control character", "name"},
		{"mail", "Berta <b@example.org>", "invalid address", "mail"},
		{"subjects", "berta", "invalid subject", "subjects"},
		{"subjects", "header taken", "belongs to", "subjects"},
		{"role", "boss", "must be reader, editor, owner or administrator", "role"},
		{"prefix", " ", "Enter a prefix", "prefix"},
		{"prefix", "ark:12345/x0", "ends in the middle", "prefix"},
		{"why", "bell \a", "U+0007", "why"},
	} {
		form := fill(valid, tt.field, tt.value)
		a := s.send("users/new", form)
		a.want(422, "There is a problem", tt.part)
		kept := a.form("/-/ui/users/new")
		if tt.field != "name" && kept.Get("name") != "Berta" || tt.field != "why" && kept.Get("why") != "she is new" {
			t.Errorf("%s=%q: kept %q", tt.field, tt.value, kept)
		}
		if !hasTarget(a.elements("a"), "#"+tt.id) {
			t.Errorf("%s=%q: no link to the field:\n%s", tt.field, tt.value, a.text())
		}
	}
	a := s.send("users/new", fill(valid, "name", "TAKEN", "subjects", ""))
	a.want(422, "There is an account with this name or address already")
	form := a.form("/-/ui/users/new")
	s.send("users/new", fill(form, "accept", "1"))
	n := 0
	for range s.store.AllUsers(context.Background(), time.Time{}) {
		n++
	}
	if n != 2 {
		t.Errorf("%d users, want 2", n)
	}
}

// A link is shown once.
func TestSignInLinkOfUser(t *testing.T) {
	s := newSite(t)
	a := s.send("users/new", fill(s.get("users/new").form("/-/ui/users/new"), "name", "Berta", "prefix", "ark:12345", "link", "1"))
	page := a.Header().Get("Location")
	id := strings.TrimSuffix(strings.TrimPrefix(page, "/-/ui/users/"), "/link")
	if strings.Contains(page, "secret") || !registrar.IsUserID(id) {
		t.Fatalf("redirected to %q", page)
	}
	shown := a.follow(s)
	shown.want(200, "signed in as Berta", "It is valid until 2026-11-20 12:10 UTC")
	if got := shown.inputOf("sign-in-link"); got != "https://pages.example.org/-/ui/sign-in/link?code="+id+".secret" {
		t.Errorf("link %q", got)
	}
	s.get("users/"+id+"/link").want(200, "was shown already")
	other := s.newUser("name", "Zoe", "prefix", "ark:12345")
	again := s.send("users/"+id+"/link", url.Values{})
	again.wantSee(page)
	again.Header().Set("Location", "/-/ui/users/"+other+"/link") // the cookie is for one page
	again.follow(s).want(200, "was shown already")
	for _, who := range []string{"owner", "editor", "none"} {
		s.as(who).post("users/" + id + "/link").want(403)
		s.as(who).get("users/" + id + "/link").want(403)
	}
}

func TestGrantAndRevoke(t *testing.T) {
	s := newSite(t)
	id := s.newUser("name", "Berta", "prefix", "ark:12345")
	page := "users/" + id
	form := s.get(page).form(Root + page + "/grant")
	for range 2 { // the second is a double submit
		s.send(page+"/grant", fill(form, "role", "owner", "prefix", "urn:dns:example.org", "why", "leads the team", "name", "Mallory")).wantSee(Root + page + "?done=granted")
	}
	want := []store.UserGrant{{Role: "owner", Prefixes: []string{"urn:dns:example.org"}}, {Role: "editor", Prefixes: []string{"ark:12345"}}}
	if u := s.user(id); !u.SameContent(&store.User{ID: id, Name: "Berta", Grants: want, Since: u.Since}) || u.Revision != 2 {
		t.Errorf("stored %+v", u)
	}
	s.send(page+"/grant", fill(form, "prefix", "")).want(422, "Enter a prefix")
	a := s.send(page+"/grant", fill(form, "prefix", "no prefix"))
	a.want(422, "There is a problem")
	if got := a.inputOf("prefix"); got != "no prefix" {
		t.Errorf("kept %q", got)
	}
	for i := range 2 { // the second is a double submit
		done := []string{"revoked-role", "unchanged"}[i]
		s.post(page+"/revoke", "role", "editor", "prefix", "ark:12345").wantSee(Root + page + "?done=" + done)
	}
	if got := s.user(id).Grants; len(got) != 1 || got[0].Role != "owner" {
		t.Errorf("grants %+v", got)
	}
	a = s.get(page + "/history")
	a.want(200, "Revision 3", "grants editor of ark:12345 (removed)", "Revision 2", "leads the team", "Revision 1", "name (not there) Berta")
	s.get("users/u-00000000").want(404)
	s.post("users/u-00000000/grant", "role", "reader", "scope", "all").want(404)
}

// An owner gives a colleague roles within the own prefix, and nothing more.
func TestOwnerGrants(t *testing.T) {
	s := newSite(t)
	id := s.newUser("name", "Berta", "mail", "b@example.org", "subjects", "header berta", "prefix", "ark:12345")
	page, other := "users/"+id, s.as("other") // owner of urn:dns:other.example
	a := other.get(page)
	a.want(200, "Berta", "b@example.org", "ark:12345 Editor", "Give a role")
	a.without("header berta", "Take back for", "Close this account", "All changes", "Erase", "Administrator:")
	form := fill(a.form(Root+page+"/grant"), "role", "editor", "prefix", "urn:dns:other.example")
	other.send(page+"/grant", form).wantSee(Root + page + "?done=granted")
	other.get(page).want(200, "urn:dns:other.example Editor", "Take back for urn:dns:other.example")
	for _, bad := range [][]string{
		{"prefix", "ark:12345", "role", "owner"}, {"prefix", "urn:dns:other.example", "role", "administrator"}, {"scope", "all"}, {"prefix", "urn:dns:example.org"},
	} {
		other.send(page+"/grant", fill(form, bad...)).want(403)
	}
	other.post(page+"/revoke", "role", "editor", "prefix", "ark:12345").want(403)
	other.post(page+"/revoke", "role", "editor", "prefix", "urn:dns:other.example").wantSee(Root + page + "?done=revoked-role")
	for _, path := range []string{"/edit", "/disable", "/history", "/redact", "/link"} {
		other.get(page + path).want(403)
	}
	for _, path := range []string{"/edit", "/disable", "/enable", "/sign-out", "/redact", "/link"} {
		other.post(page+path, "revision", "1", "name", "x", "why", "x", "typed", "Berta").want(403)
	}
	other.get("users/new").want(403)
	other.post("users/new", "name", "x", "scope", "all", "role", "reader").want(403)
	if u := s.user(id); u.Name != "Berta" || u.Disabled || !slices.EqualFunc(u.Grants, grants("editor", "ark:12345"), func(a, b store.UserGrant) bool { return a.Role == b.Role && slices.Equal(a.Prefixes, b.Prefixes) }) {
		t.Errorf("stored %+v", u)
	}
	s.addUser("u-01234567", "Anna")
	s.as("anna").get(page).without("b@example.org", "header berta", "Give a role", "ark:12345")
	for _, who := range []string{"anna", "reader", "editor", "none"} {
		s := s.as(who)
		s.get("users").want(403)
		s.send(page+"/grant", form).want(403)
		s.get("me").without("Users")
	}
}

func TestCloseAccount(t *testing.T) {
	s := newSite(t)
	id := s.newUser("name", "Berta", "prefix", "ark:12345")
	page := "users/" + id
	s.get(page).want(200, "Close this account")
	form := fill(s.get(page+"/disable").form(Root+page+"/disable"), "why", "left the library")
	s.send(page+"/disable", fill(form, "revision", "7")).want(409, "Another user has changed this account", "left the library")
	s.send(page+"/disable", fill(form, "why", "bell \a")).want(422, "U+0007")
	for range 2 { // the second is a double submit
		s.send(page+"/disable", form).wantSee(Root + page + "?done=disabled")
	}
	a := s.get(page + "?done=disabled")
	a.want(200, "The account has been closed", "This account is closed", "ark:12345 Editor", "Open this account again")
	a.without("Give a role", "Make a link", "Take back for")
	s.get("users").without("Berta")
	s.get("users?all=1").want(200, "Berta closed")
	open := a.form(Root + page + "/enable")
	s.send(page+"/enable", fill(open, "revision", "1")).want(409, "Another user has changed")
	for range 2 {
		s.send(page+"/enable", open).wantSee(Root + page + "?done=enabled")
	}
	if u := s.user(id); u.Disabled || u.Revision != 3 || len(u.Grants) != 1 {
		t.Errorf("stored %+v", u)
	}
	s.post(page + "/sign-out").wantSee(Root + page + "?done=signed-out")
	s.get(page+"?done=signed-out").want(200, "signed out everywhere")
	s.post("users/u-00000000/sign-out").want(404)
	last := s.newUser("name", "Last", "scope", "all", "role", "administrator")
	s.post("users/"+last+"/disable", "revision", "1").wantSee("/-/ui/users/" + last + "?done=last-administrator")
	s.get("users/"+last+"?done=last-administrator").want(200, "no user is an administrator of all names")
}

func TestEditUser(t *testing.T) {
	s := newSite(t)
	id := s.newUser("name", "Berta", "prefix", "ark:12345")
	other := s.newUser("name", "Olga", "subjects", "header olga", "prefix", "ark:12345")
	page := "users/" + id
	form := fill(s.get(page+"/edit").form(Root+page+"/edit"), "name", "Berta Berg", "subjects", "header berta\r\nhttps://login.example.org 17\r\n", "why", "married", "disabled", "1", "grants", "x")
	for range 2 { // the second is a double submit
		s.send(page+"/edit", form).wantSee(Root + page + "?done=saved")
	}
	u := s.user(id)
	if u.Name != "Berta Berg" || strings.Join(u.Subjects, "|") != "header berta|https://login.example.org 17" || u.Disabled || len(u.Grants) != 1 || u.Revision != 2 {
		t.Errorf("stored %+v", u)
	}
	s.send(page+"/edit", fill(form, "name", "Berta B.")).want(409, "Another user has changed", "married", "[Berta B.]")
	form = s.get(page + "/edit").form(Root + page + "/edit")
	s.send(page+"/edit", fill(form, "name", "")).want(422, "must not be empty")
	s.send(page+"/edit", fill(form, "subjects", "header olga")).want(422, "There is a problem")
	if got := s.user(other).Subjects; len(got) != 1 {
		t.Errorf("the other user has %q", got)
	}
}

func TestEraseUser(t *testing.T) {
	s := newSite(t)
	id := s.newUser("name", "Berta", "mail", "b@example.org", "prefix", "ark:12345")
	page := "users/" + id
	form := fill(s.get(page+"/redact").form(Root+page+"/redact"), "typed", "Berta", "why", "erasure requested")
	s.send(page+"/redact", fill(form, "typed", "berta")).want(422, "Enter exactly Berta", "erasure requested")
	s.send(page+"/redact", fill(form, "why", "")).want(422, "Enter a reason")
	s.send(page+"/redact", fill(form, "revision", "9")).want(409, "Another user has changed")
	for range 2 { // the second is a double submit
		s.send(page+"/redact", form).wantSee(Root + page + "?done=erased")
	}
	if u := s.user(id); u.Name != "" || u.Mail != "" || !u.Disabled || len(u.Grants) > 0 {
		t.Errorf("stored %+v", u)
	}
	s.get(page).want(200, "everything else about this person has been removed", id)
	a := s.get(page + "/history")
	a.want(200, "The content was removed", "erasure requested")
	a.without("Berta", "b@example.org")
	s.get(page+"/redact").without("Erase this person and", "[Berta]")
}

func TestUserPages(t *testing.T) {
	s := newSite(t)
	for i := range pageSize + 5 {
		s.addUser(fmt.Sprintf("u-%08d", 1000-i), fmt.Sprintf("Person %02d", i))
	}
	a := s.get("users?q=person")
	a.want(200, "Next page", "Person 00", "Person 49")
	a.without("Person 50")
	next := ""
	for _, link := range a.elements("a") {
		if attribute(link, "rel") == "next" {
			next = strings.TrimPrefix(attribute(link, "href"), Root)
		}
	}
	a = s.get(next)
	a.want(200, "First page", "Person 50", "Person 54")
	a.without("Person 49", "Next page")
	for i := range pageSize + 3 {
		u := s.user("u-00001000").Clone()
		u.Mail = fmt.Sprintf("p%d@example.org", i)
		if _, err := s.store.Apply(t.Context(), []store.Change{{User: u, Expected: store.AnyRevision, Time: servertest.Now}}); err != nil {
			t.Fatal(err)
		}
	}
	a = s.get("users/u-00001000/history")
	a.want(200, "Next page", "Revision 54", "Revision 5 ")
	a.without("Revision 4 ")
	s.get("users/u-00001000/history?before=5").want(200, "First page", "Revision 4", "mail p1@example.org p2@example.org", "Revision 1")
}

// The page of a user leads to the changes by this user.
func TestChangesOfUser(t *testing.T) {
	s := newSite(t)
	s.addUser("u-01234567", "Anna")
	form := fill(s.editForm(alb), "do", "save", "location-0-url", "https://example.org/anna")
	s.as("anna").send(nameAt(alb)+"/edit", form).wantSee(namePath(alb) + "?done=saved")
	for _, page := range []string{"users/u-01234567", "me"} {
		a := s.as("anna").get(page)
		if !hasTarget(a.elements("a"), Root+"log?who=u-01234567") {
			t.Errorf("%s: no link to the log", page)
		}
	}
	s.as("anna").get("log?who=u-01234567").want(200, alb)
	s.get("log?who=u-00000001").without(alb)
}
