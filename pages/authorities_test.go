package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// policyOf returns an authority as stored.
func (s *site) policyOf(prefix string) *store.Authority {
	s.t.Helper()
	a, err := s.store.Authority(context.Background(), name.MustParsePrefix(prefix), time.Time{})
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

const otherAuthority = "authorities/urn%3Adns%3Aother.example"

func TestAuthorities(t *testing.T) {
	s := newSite(t)
	s.get("authorities").want(200, "urn:dns:example.org Albums of all kinds 10 archive library mailto:names@example.org", "ark:12345", "New naming authority")
	a := s.as("other").get("authorities")
	a.want(200, "urn:dns:example.org Albums of all kinds not visible to you", "urn:dns:other.example 1 archive library", "New naming authority")
	s.as("reader").get("authorities").without("New naming authority", "fewer than two")
	s.as("none").get("authorities").want(403)
	s.get("authorities/urn:dns:other.example").want(200, "redirect_status 307", "addresses 127.0.0.9", "There are no rules", "cannot be deleted")
	s.as("reader").get("authorities/urn:dns:other.example").without("Edit in a form")
	s.get("authorities/https%3A%2F%2Fpurl.example").want(200, "https://purl.example")
	s.get("authorities/urn:dns:none.example").want(404)
	s.get("authorities/nonsense").want(400)
	var changes []store.Change
	for i := range maxAuthorityCount + 1 {
		n := name.MustParse(fmt.Sprintf("ark:12345/many%03d", i))
		changes = append(changes, store.Change{Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active}, Time: servertest.Now})
	}
	for i := range pageSize {
		changes = append(changes, store.Change{Authority: &store.Authority{Prefix: name.MustParsePrefix(fmt.Sprintf("urn:x-%03d", i)), Owners: []string{"only"}}, Time: servertest.Now})
	}
	if _, err := s.store.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	a = s.get("authorities")
	a.want(200, "at least 100", "Next page", "only fewer than two")
	a.without("urn:x-045")
	s.get("authorities?after=urn:x-044").want(200, "First page", "urn:x-045", "urn:x-049")
	s.get("authorities/urn:x-001").want(200, "who decides about these names")
}

// The form keeps the fields that it does not have.
func TestEditAuthority(t *testing.T) {
	s := newSite(t)
	text := `{"prefix": "urn:dns:other.example", "owners": ["archive", "library"], "services": ["I2L", "I2C"], "keywords": {"c": ["toc"]}, "query": "append", "addresses": ["127.0.0.9"], "redirect_status": 307}`
	s.send(otherAuthority+"/text", url.Values{"text": {text}, "revision": {"1"}, "accept": {"1"}, "do": {"save"}}).wantSee(Root + otherAuthority + "?done=saved")
	form := s.get(otherAuthority + "/edit").form(Root + otherAuthority + "/edit")
	edited := fill(form, "owners", "archive\r\nlegal office\r\n", "contact", "mailto:x@example.org", "max_age", "60", "redirect_status", "", "delegation.mode", "redirect", "delegation.to", "https://r.example/{+name}",
		"list", "1", "why", "new office", "do", "save", "prefix", "urn:dns:example.org", "revision", "2", "services", "I2N", "modified", "x")
	a := s.send(otherAuthority+"/edit", edited)
	a.want(422, "What this change does", "urn:dns:other.example:alb002", "https://other.example/2, status 307", "may be kept for 1m0s", "Save it anyway")
	if got := s.policyOf("urn:dns:other.example"); got.Revision != 2 {
		t.Fatalf("saved without being accepted: %+v", got)
	}
	edited = fill(a.form(Root+otherAuthority+"/edit"), "accept", "1", "do", "save")
	for range 2 { // the second is a double submit
		s.send(otherAuthority+"/edit", edited).wantSee(Root + otherAuthority + "?done=saved")
	}
	got := s.policyOf("urn:dns:other.example")
	want := &store.Authority{Prefix: got.Prefix, Owners: []string{"archive", "legal office"}, Contact: "mailto:x@example.org", List: true, Addresses: []string{"127.0.0.9"}, Policy: store.Policy{
		MaxAge: 60, Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://r.example/{+name}"}, Services: []nomen.Service{"I2L", "I2C"}, Keywords: map[string][]string{"c": {"toc"}}, Query: store.PassAppend,
	}}
	if !got.SameContent(want) || got.Revision != 3 {
		t.Errorf("stored %+v", got)
	}
	s.send(otherAuthority+"/edit", fill(form, "revision", "3", "do", "save", "why", "x")).want(422) // as before, with effects
	s.send(otherAuthority+"/edit", fill(s.get(otherAuthority+"/edit").form(Root+otherAuthority+"/edit"), "do", "save")).wantSee(Root + otherAuthority + "?done=unchanged")
}

func TestAuthorityFaults(t *testing.T) {
	s := newSite(t)
	form := fill(s.get(ownAuthority+"/edit").form(Root+ownAuthority+"/edit"), "do", "save", "why", "my reason", "description", "changed")
	for _, tt := range []struct{ field, value, part, id string }{
		{"contact", "names@example.org", "mailto:names@example.org", "contact"},
		{"hosts", "x y", "invalid host", "hosts"},
		{"addresses", "127.0.0.9", "belongs to", "addresses"},
		{"max_age", "many", "must be a number", "max_age"},
		{"redirect_status", "200", "must be one of 301", "redirect_status"},
		{"delegation.mode", "redirect", "needs the address", "delegation.to"},
		{"access", "closed", "must be one of denied, legal", "access"},
		{"check_digit", "x", "must be one of", "check_digit"},
		{"rules", "[{\"x\": 1}]", `line 1, column`, "rules"},
		{"rules", "[] []", "unexpected text after the value", "rules"},
		{"rules", `[{"match": "{"}]`, "", "rules"},
		{"why", "bell \a", "U+0007", "why"},
	} {
		a := s.send(ownAuthority+"/edit", fill(form, tt.field, tt.value))
		a.want(422, "There is a problem", tt.part)
		kept := a.form(Root + ownAuthority + "/edit")
		if tt.field != "why" && kept.Get("why") != "my reason" || tt.field != "access" && tt.field != "check_digit" && kept.Get(tt.field) != tt.value {
			t.Errorf("%s: kept %q", tt.field, kept)
		}
		if !hasTarget(a.elements("a"), "#"+tt.id) {
			t.Errorf("%s=%q: no link to the field", tt.field, tt.value)
		}
	}
	for _, text := range []string{"", "{", `{"prefix": "urn:dns:example.org", "x": 1}`, `{"prefix": "urn:dns:other.example"}`, `{"owners": ["a"]}`, `{"prefix": "urn:dns:example.org", "max_age": -1}`} {
		a := s.send(ownAuthority+"/text", url.Values{"text": {text}, "revision": {"1"}, "do": {"save"}})
		a.want(422, "There is a problem")
		if got := a.form(Root + ownAuthority + "/text").Get("text"); got != text || !hasTarget(a.elements("a"), "#text") {
			t.Errorf("%q: kept %q", text, got)
		}
	}
	if got := s.policyOf("urn:dns:example.org"); got.Revision != 1 {
		t.Errorf("stored %+v", got)
	}
}

// A failing test blocks saving, even if the person accepts what the change does. The table shows all
// tests.
func TestRulesWithTests(t *testing.T) {
	s := newSite(t)
	form := fill(s.get(ownAuthority+"/edit").form(Root+ownAuthority+"/edit"), "rules", failingRules, "do", "save", "accept", "1")
	a := s.send(ownAuthority+"/edit", form)
	a.want(422, "urn:dns:example.org:x1 https://example.org/1 https://example.org/1 passed", "urn:dns:example.org:x2 https://example.org/wrong https://example.org/2 failed", "test 2 of rule 1")
	s.send(ownAuthority+"/edit", fill(form, "do", "check")).want(422, "failed")
	if got := s.policyOf("urn:dns:example.org"); got.Revision != 1 {
		t.Errorf("stored %+v", got)
	}
	right := strings.Replace(failingRules, "wrong", "2", 1)
	form = fill(form, "rules", right)
	form.Del("accept")
	a = s.send(ownAuthority+"/edit", fill(form, "do", "check"))
	a.want(200, "urn:dns:example.org:x2 not found https://example.org/2", "Names whose answers change")
	a.without("failed Names")
	if got := s.policyOf("urn:dns:example.org"); got.Revision != 1 {
		t.Errorf("a check stored %+v", got)
	}
	s.send(ownAuthority+"/edit", form).want(422, "Save it anyway")
	s.send(ownAuthority+"/edit", fill(form, "accept", "1")).wantSee(Root + ownAuthority + "?done=saved")
	s.get(ownAuthority).want(200, "x{n:d} : https://example.org/{n}", "Tests of the rules", "passed")
	s.get("name/urn:dns:example.org:x7").want(404)
}

func TestAuthorityConflict(t *testing.T) {
	s := newSite(t)
	form := fill(s.get(ownAuthority+"/edit").form(Root+ownAuthority+"/edit"), "contact", "mailto:mine@example.org", "do", "save", "why", "mine")
	text := fill(s.get(ownAuthority+"/text").form(Root+ownAuthority+"/text"), "do", "save")
	s.describe("Theirs")
	a := s.send(ownAuthority+"/edit", fill(form, "accept", "1"))
	a.want(409, "Another user has saved this authority", "u-colleague", "contact mailto:names@example.org mailto:names@example.org mailto:mine@example.org", "description Albums of all kinds Theirs Albums of all kinds", "[mine]")
	s.send(ownAuthority+"/text", fill(text, "text", strings.Replace(text.Get("text"), "names@", "mine@", 1), "accept", "1")).want(409, "Another user has saved", "mine@example.org")
	s.send(ownAuthority+"/edit", fill(a.form(Root+ownAuthority+"/edit"), "do", "save", "accept", "1")).wantSee(Root + ownAuthority + "?done=saved")
	if got := s.policyOf("urn:dns:example.org"); got.Revision != 3 || got.Contact != "mailto:mine@example.org" || got.Description != "Albums of all kinds" {
		t.Errorf("stored %+v", got)
	}
}

func TestAuthorityText(t *testing.T) {
	s := newSite(t)
	form := s.get(ownAuthority + "/text").form(Root + ownAuthority + "/text")
	var a store.Authority
	if err := json.Unmarshal([]byte(form.Get("text")), &a); err != nil || !a.Clone().SameContent(s.policyOf("urn:dns:example.org")) {
		t.Errorf("text %q: %v", form.Get("text"), err)
	}
	if strings.Contains(form.Get("text"), "revision") || strings.Contains(form.Get("text"), "modified") {
		t.Errorf("text %q", form.Get("text"))
	}
	s.get(ownAuthority+"/text").want(200, "has no comments here")
}

func TestNewAuthority(t *testing.T) {
	s := newSite(t)
	form := fill(s.get("authorities/new?prefix=urn:x-new").form(Root+"authorities/new"), "owners", "archive\nlibrary", "description", "New ones", "do", "save")
	s.send("authorities/new", fill(form, "prefix", "no prefix")).want(422, "There is a problem", "[no prefix]")
	s.send("authorities/new", fill(form, "do", "check")).want(200, "What this change does")
	s.send("authorities/new", fill(form, "prefix", "ark:12345")).want(409, "already")
	s.send("authorities/new", fill(form, "owners", "archive")).want(422, "fewer than two owners", "Save it anyway")
	for range 2 { // the second is a double submit
		s.send("authorities/new", form).wantSee(Root + "authorities/urn%3Ax-new?done=authority-created")
	}
	if got := s.policyOf("urn:x-new"); got.Revision != 1 || got.Description != "New ones" || len(got.Owners) != 2 {
		t.Errorf("stored %+v", got)
	}
	for _, who := range []string{"reader", "editor", "none"} {
		s.as(who).get("authorities/new").want(403)
		s.as(who).send("authorities/new", form).want(403)
	}
	s.as("other").send("authorities/new", fill(form, "prefix", "urn:x-mine")).want(403)
	s.as("owner").send("authorities/new", fill(form, "prefix", "urn:x-owned", "hosts", "a.example")).want(403)
	s.as("owner").send("authorities/new", fill(form, "prefix", "urn:x-owned")).wantSee(Root + "authorities/urn%3Ax-owned?done=authority-created")
}

func TestAuthorityHistoryAndRestore(t *testing.T) {
	s := newSite(t)
	s.describe("Second")
	s.describe("Third")
	s.get(ownAuthority+"/history").want(200, "Revision 3", "said better", "description Second Third", "Restore revision 2", "Restore revision 1")
	s.as("reader").get(ownAuthority+"/history").want(200, "Revision 3")
	s.as("reader").get(ownAuthority + "/history").without("Restore")
	form := s.get(ownAuthority + "/restore?to=1").form(Root + ownAuthority + "/restore?to=1")
	s.get(ownAuthority+"/restore?to=9").want(404, "no such revision")
	for range 2 { // the second is a double submit
		s.send(ownAuthority+"/restore?to=1", fill(form, "why", "better", "do", "save")).wantSee(Root + ownAuthority + "?done=authority-restored")
	}
	if got := s.policyOf("urn:dns:example.org"); got.Revision != 4 || got.Description != "Albums of all kinds" {
		t.Errorf("stored %+v", got)
	}
	s.send(ownAuthority+"/restore?to=2", form).want(409, "Another user has saved this authority")
	for _, who := range []string{"reader", "editor", "other", "none"} {
		for _, page := range []string{"/edit", "/text", "/restore?to=1"} {
			s.as(who).get(ownAuthority + page).want(403)
			s.as(who).send(ownAuthority+page, fill(form, "do", "save", "text", "{}")).want(403)
		}
	}
	for i := range pageSize {
		s.describe(fmt.Sprint("Number ", i))
	}
	a := s.get(ownAuthority + "/history")
	a.want(200, "Next page", "Revision 54", "Revision 5 ")
	a.without("Revision 4 ")
	s.get(ownAuthority+"/history?before=5").want(200, "First page", "Revision 4", "Revision 1")
}
