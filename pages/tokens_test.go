package pages

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// follow requests the page to which an answer redirects, with the cookies that it sets.
func (a *answer) follow(s *site) *answer {
	a.t.Helper()
	if a.Code != http.StatusSeeOther {
		a.t.Fatalf("got %d, want a redirection:\n%s", a.Code, a.text())
	}
	r := httptest.NewRequest(http.MethodGet, a.Header().Get("Location"), nil)
	for _, c := range a.Result().Cookies() {
		if c.MaxAge >= 0 {
			r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
		}
	}
	return s.do(r)
}

// inputOf returns the value of the field with an ID.
func (a *answer) inputOf(id string) string {
	for _, n := range a.elements("input") {
		if attribute(n, "id") == id {
			return attribute(n, "value")
		}
	}
	return ""
}

// allTokens returns the tokens of the store.
func (s *site) allTokens() (all []*store.Token) {
	s.t.Helper()
	for t, err := range store.AllTokens(context.Background(), s.store) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, t)
	}
	return all
}

// A secret is shown once, in no URL, and to no other user.
func TestMakeToken(t *testing.T) {
	s := newSite(t)
	s.get("tokens").want(200, "There are no tokens", "Make a token")
	form := fill(s.get("tokens/new").form("/-/ui/tokens/new"), "who", "Harvester", "role", "editor", "prefixes", "urn:dns:example.org\r\nark:12345", "expires", "2027-01-31")
	form.Set("id", "chosen") // ignored
	form.Set("used", "2026-01-01")
	a := s.send("tokens/new", form)
	a.wantSee("/-/ui/tokens/made")
	shown := a.follow(s)
	shown.want(200, "It is valid until 2027-02-01 00:00 UTC")
	secret := shown.inputOf("token")
	id, _, found := strings.Cut(secret, ".")
	all := s.allTokens()
	if !found || len(all) != 1 || all[0].ID != id || all[0].Role != "editor" || all[0].Who != "Harvester" || strings.Join(all[0].Prefixes, " ") != "urn:dns:example.org ark:12345" {
		t.Fatalf("shown %q, stored %+v", secret, all)
	}
	if got := shown.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("the page may be stored: %q", got)
	}
	if cookies := shown.Result().Cookies(); len(cookies) != 1 || cookies[0].MaxAge >= 0 || cookies[0].Name != onceCookie {
		t.Errorf("the page leaves %v", cookies)
	}
	c := a.Result().Cookies()[0]
	if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge != 60 || c.Path != "/" {
		t.Errorf("cookie %v", c)
	}
	s.get("tokens/made").want(200, "was shown already")
	s.get("tokens/made").without(secret)
	a.follow(s.as("owner")).want(200, "was shown already") // another person in the same browser
	s.get("tokens").want(200, "Harvester Editor urn:dns:example.org ark:12345 2026-11-20 12:00 UTC not yet 2027-02-01 00:00 UTC "+id)
	s.get("tokens").without(secret)
}

func TestInvalidTokens(t *testing.T) {
	s := newSite(t)
	valid := fill(s.get("tokens/new").form("/-/ui/tokens/new"), "who", "Harvester", "role", "reader", "prefixes", "ark:12345")
	for _, tt := range []struct{ field, value, part, id string }{
		{"who", "", "must not be empty", "who"},
		{"who", "u-01234567", "looks like the ID of a user", "who"},
		{"role", "boss", "must be reader, editor, owner or administrator", "role"},
		{"prefixes", " \n", "Enter a prefix, or choose all names", "prefixes"},
		{"prefixes", "urn:dns:example.org\nx y", "", "prefixes"},
		{"expires", "next year", "invalid time", "expires"},
		{"expires", "2026-01-01", "is in the past", "expires"},
	} {
		form := fill(valid, tt.field, tt.value)
		a := s.send("tokens/new", form)
		a.want(422, "There is a problem", tt.part)
		kept := a.form("/-/ui/tokens/new")
		if got := kept.Get(tt.field); tt.field != "role" && strings.TrimSpace(got) != strings.TrimSpace(tt.value) {
			t.Errorf("%s=%q: kept %q", tt.field, tt.value, got)
		}
		if faults := a.elements("a"); !hasTarget(faults, "#"+tt.id) {
			t.Errorf("%s=%q: no link to the field", tt.field, tt.value)
		}
	}
	if all := s.allTokens(); len(all) > 0 {
		t.Errorf("made %+v", all)
	}
	s.send("tokens/new", fill(valid, "scope", "all", "prefixes", "")).follow(s).want(200, "New token")
	if all := s.allTokens(); len(all) != 1 || len(all[0].Prefixes) > 0 {
		t.Errorf("made %+v", all)
	}
}

func TestRevokeToken(t *testing.T) {
	s := newSite(t)
	valid := fill(s.get("tokens/new").form("/-/ui/tokens/new"), "who", "Harvester", "prefixes", "ark:12345")
	s.send("tokens/new", valid)
	id := s.allTokens()[0].ID
	form := s.get("tokens/revoke/" + id)
	form.want(200, "Harvester", "cannot be undone")
	for range 2 { // the second is a double submit
		s.send("tokens/revoke/"+id, form.form("/-/ui/tokens/revoke/"+id)).wantSee("/-/ui/tokens?done=revoked")
	}
	s.get("tokens?done=revoked").want(200, "The token has been revoked", "There are no tokens")
	s.get("tokens?all=1").want(200, "Harvester", "revoked")
	s.get("tokens/revoke/"+id).want(200, "is revoked already")
	s.get("tokens/revoke/NONE").want(404)
	s.post("tokens/revoke/NONE").want(404)
}

// Only administrators of all names see and change tokens.
func TestTokensAreForAdministrators(t *testing.T) {
	s := newSite(t)
	form := fill(s.get("tokens/new").form("/-/ui/tokens/new"), "who", "Harvester", "prefixes", "ark:12345")
	s.send("tokens/new", form)
	id := s.allTokens()[0].ID
	s.get("").want(200, "Tokens")
	for _, who := range []string{"reader", "editor", "other", "owner", "none"} {
		s := s.as(who)
		s.get("tokens").want(403)
		s.get("tokens/new").want(403)
		s.send("tokens/new", form).want(403)
		s.get("tokens/revoke/" + id).want(403)
		s.post("tokens/revoke/" + id).want(403)
		s.get("me").without("Tokens")
	}
	if all := s.allTokens(); len(all) != 1 || all[0].Revoked {
		t.Errorf("tokens %+v", all)
	}
}

func TestTokenPages(t *testing.T) {
	s := newSite(t)
	var changes []store.Change
	for i := range pageSize + 3 {
		token := &store.Token{ID: "T" + string(rune('A'+i/26)) + string(rune('A'+i%26)), Hash: [32]byte{1}, Role: "reader", Who: "Program", Created: servertest.Now}
		if i == 1 {
			token.Expires = servertest.Now.Add(-time.Hour)
		}
		changes = append(changes, store.Change{Token: token, Time: servertest.Now})
	}
	if _, err := s.store.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	a := s.get("tokens")
	if got := strings.Count(a.text(), "Program Reader all names"); got != pageSize {
		t.Errorf("%d tokens on the first page", got)
	}
	a.want(200, "Next page")
	if a.without("TAB"); !hasTarget(a.elements("a"), "/-/ui/tokens?after=TBY") {
		t.Error("no link to the next page")
	}
	a = s.get("tokens?after=TBY")
	a.want(200, "First page", "TBZ", "TCA")
	if got := strings.Count(a.text(), "Program Reader all names"); got != 2 {
		t.Errorf("%d tokens on the second page", got)
	}
	a = s.get("tokens?all=1")
	a.want(200, "expired")
	if !hasTarget(a.elements("a"), "/-/ui/tokens?after=TBX&all=1") {
		t.Error("no link to the next page of all")
	}
	s.get("tokens?after=zzz").want(200, "There are no tokens")
}

func TestMe(t *testing.T) {
	s := newSite(t)
	s.addUser("u-01234567", "Anna")
	s.as("anna").get("me").want(200, "Ms anna", "u-01234567", "urn:dns:example.org Editor create, change, retire", "See where you are signed in")
	s.get("me").want(200, "all names Administrator do everything")
	s.as("none").get("me").want(200, "You have no rights yet")
	s.as("").get("me").wantSee("/-/ui/sign-in?next=%2F-%2Fui%2Fme")
}

// sendAtOnce sends a form twice at the same time, as a double click does, and returns the answers.
func (s *site) sendAtOnce(path string, form url.Values) (answers [2]*answer) {
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = s.send(path, form) })
	}
	all.Wait()
	return answers
}

// A double click makes one thing, and each answer leads to it. If the form is then sent with other
// content or to make a second thing, this is made too.
func TestDoubleClick(t *testing.T) {
	s := newSite(t)
	count := func(page string) func() int { // without the line of titles
		return func() int { return max(len(s.get(page).elements("tr"))-1, 0) }
	}
	tokens, users := count("tokens"), count("users")
	for _, tt := range []struct {
		path  string
		form  []string
		count func() int
	}{
		{"tokens/new", []string{"who", "Twice", "role", "reader", "scope", "all"}, tokens},
		{"users/new", []string{"name", "Twice", "role", "reader", "scope", "all"}, users},
		{"users/new", []string{"name", "Thrice", "role", "reader", "scope", "all", "link", "1"}, users},
	} {
		before := tt.count()
		form := fill(s.get(tt.path).form(Root+tt.path), tt.form...)
		if form.Get("key") == "" {
			t.Fatalf("%s has no key", tt.path)
		}
		both := s.sendAtOnce(tt.path, form)
		for _, a := range both {
			if a.Code != http.StatusSeeOther || a.Header().Get("Location") != both[0].Header().Get("Location") || a.Header().Get("Set-Cookie") != both[0].Header().Get("Set-Cookie") {
				t.Errorf("%s: %d to %s", tt.path, a.Code, a.Header().Get("Location"))
			}
		}
		if got := tt.count() - before; got != 1 {
			t.Errorf("%s: %d were made", tt.path, got)
		}
		form.Set("key", adminapi.NewJobID())
		form.Set("accept", "1")
		s.send(tt.path, form)
		if got := tt.count() - before; got != 2 {
			t.Errorf("%s with another key: %d were made", tt.path, got)
		}
	}
}

// A form that was rejected can be corrected and sent again with its key.
func TestCorrectedFormIsSentAgain(t *testing.T) {
	s := newSite(t)
	form := fill(s.get("tokens/new").form(Root+"tokens/new"), "who", "Once", "role", "reader", "scope", "some")
	for range 2 {
		s.send("tokens/new", form).want(422)
	}
	form.Set("scope", "all")
	s.send("tokens/new", form).wantSee(Root + "tokens/made")
	s.as("owner").send("tokens/new", form).want(403) // another person does not get the answer
}

// The forms that make something, and those that change a name, have a key. So a form that is sent
// twice has an effect only once.
func TestFormsHaveKeys(t *testing.T) {
	s := newSite(t)
	for path, action := range map[string]string{
		"new": "new", "mint": "mint", "tokens/new": "tokens/new", "users/new": "users/new", "authorities/new": "authorities/new", "upload": "upload",
		"relocate": "relocate", "retire": "retire", "merge": "merge", nameAt(alb) + "/edit": nameAt(alb) + "/edit", nameAt(alb) + "/retire": nameAt(alb) + "/retire",
	} {
		if s.get(path).form(Root+action).Get("key") == "" {
			t.Errorf("%s has no key", path)
		}
	}
}
