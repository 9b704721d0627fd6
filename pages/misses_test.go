package pages

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// missSite has failed lookups: each name as often as given.
func missSite(t *testing.T, failed ...string) *site {
	t.Helper()
	s := memstore.New()
	servertest.Fill(t, s)
	return siteOf(t, s, failed...)
}

func TestMisses(t *testing.T) {
	s := missSite(t, "urn:dns:example.org:alb03", "urn:dns:example.org:alb03", "urn:dns:example.org:other", "urn:dns:other.example:x")
	a := s.get("misses")
	a.want(200, "urn:dns:example.org:alb03", "urn:dns:other.example:x", "Make this name", "since")
	if strings.Index(a.text(), "example.org:alb03") > strings.Index(a.text(), "example.org:other") {
		t.Error("the most frequent one is not the first")
	}
	links := a.elements("a")
	if !slices.ContainsFunc(links, func(link *html.Node) bool {
		return strings.EqualFold(attribute(link, "href"), Root+alias("urn:dns:example.org:alb03", alb))
	}) {
		t.Errorf("no link to the form for a misprint:\n%s", a.Body)
	}
	s.get("misses?prefix=URN:DNS:other.example:").without("alb03")
	s.as("other").get("misses").without("example.org:alb03")
	a = s.as("reader").get("misses")
	a.want(200, "urn:dns:example.org:alb03")
	a.without("Make this name", "Hide")
	s.as("none").get("misses").want(403)
}

// alias returns the path of the form for a misprint.
func alias(failed, meant string) string {
	return "misses/alias?" + url.Values{"name": {failed}, "of": {meant}}.Encode()
}

func TestHideMiss(t *testing.T) {
	const failed = "urn:dns:example.org:alb03"
	s := missSite(t, failed)
	form := s.get("misses").form("/-/ui/misses")
	s.as("reader").send("misses", form).want(403)
	s.as("other").send("misses", form).want(403)
	s.get("misses").want(200, failed)
	s.as("editor").send("misses", form).wantSee("/-/ui/misses?done=hidden")
	s.get("misses?done=hidden").want(200, "The name is hidden now.", "There are no such failed lookups")
	s.get("").without(failed)
	s.send("misses", form).wantSee("/-/ui/misses?done=hidden") // a double submit
	a := s.get("misses?hidden=1")
	a.want(200, failed)
	s.send("misses", a.form("/-/ui/misses")).wantSee("/-/ui/misses?done=shown&hidden=1")
	s.get("misses").want(200, failed)
	s.post("misses", "name", "urn:dns:example.org:unknown", "hidden", "1").wantSee("/-/ui/misses?done=hidden")
	for _, back := range []string{"https://evil.example/-/ui/misses", "//evil.example/-/ui/misses", "/-/ui/names", "javascript:x"} {
		s.post("misses", "name", failed, "back", back, "hidden", "1").wantSee("/-/ui/misses?done=hidden")
	}
}

// Names that were requested only once and resemble no registered name are not shown by default.
func TestRareMisses(t *testing.T) {
	s := missSite(t)
	for i := range 3 {
		s.misses.Add(fmt.Sprintf("urn:dns:example.org:wp-login-%d", i), nil)
	}
	s.misses.Add("urn:dns:example.org:twice", nil)
	s.misses.Add("urn:dns:example.org:twice", nil)
	a := s.get("misses")
	a.want(200, "urn:dns:example.org:twice", "3 names that were requested once")
	a.without("wp-login")
	s.get("misses?rare=1").want(200, "wp-login-2")
}

func TestMissPages(t *testing.T) {
	s := missSite(t)
	for i := range 120 {
		s.misses.Add(fmt.Sprintf("urn:dns:example.org:m%03d", i), []string{alb})
	}
	seen := map[string]bool{}
	for path := "misses"; path != ""; {
		a := s.get(path)
		for _, link := range a.elements("a") {
			if n, ok := strings.CutPrefix(attribute(link, "href"), "/-/ui/new?name="); ok {
				seen[n] = true
			}
		}
		path = a.nextPage()
	}
	if len(seen) != 120 {
		t.Errorf("got %d names", len(seen))
	}
	s.get("misses?skip=-1").want(200)
	s.get("misses?skip=99999").want(200)
}

func TestAliasForMisprint(t *testing.T) {
	const failed = "urn:dns:example.org:alb03"
	s := missSite(t, failed)
	path := alias(failed, alb)
	s.as("reader").get(path).want(403)
	s.as("other").get(path).want(403)
	form := s.as("editor").get(path).form("/-/ui/misses/alias")
	s.as("reader").send("misses/alias", form).want(403)
	if got := s.record(alb).SameAs; len(got) > 0 {
		t.Fatalf("got %q", got)
	}
	before := s.record(alb)
	s.as("editor").send("misses/alias", fill(form, "why", "seen in print", "status", "retired", "reason", "x")).wantSee(namePath(alb) + "?done=alias")
	rec := s.record(alb)
	if !slices.Equal(rec.SameAs, []string{failed}) || rec.Status != before.Status || rec.Reason != before.Reason || len(rec.Locations) != len(before.Locations) {
		t.Errorf("got %+v", rec)
	}
	s.get(nameAt(alb)+"?done=alias").want(200, "The alias has been saved. Requests for the misprint get this record now.")
	s.get("misses").without(failed)
	s.as("editor").send("misses/alias", form).wantSee(namePath(alb) + "?done=alias") // a double submit
	if again := s.record(alb); again.Revision != rec.Revision {
		t.Errorf("revision %d after a double submit, want %d", again.Revision, rec.Revision)
	}
	s.get(nameAt(alb)+"/history").want(200, "seen in print")
}

func TestAliasFaults(t *testing.T) {
	const failed = "urn:dns:example.org:alb03"
	s := missSite(t, failed)
	s.get("misses/alias?name=nonsense").want(400)
	s.get(alias(failed, "")).want(200, "Name that was meant", "Make this name")
	s.post("misses/alias", "name", failed, "why", "my reason").want(422, "Enter the name that was meant", "my reason")
	s.post("misses/alias", "name", failed, "of", "no name").want(422, "Invalid at offset", "[no name]")
	s.post("misses/alias", "name", failed, "of", "urn:dns:example.org:none").want(422, "does not exist here")
	form := s.get(alias(failed, alb)).form("/-/ui/misses/alias")
	s.change(alb, "meanwhile", at("https://example.org/2"))
	s.send("misses/alias", fill(form, "why", "my reason")).want(409, "Another user has changed that name", "my reason")
	if got := s.record(alb).SameAs; len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

// An alias across authorities without a common owner leads nowhere, and the page says so.
func TestIdleAlias(t *testing.T) {
	const failed = "urn:dns:third.example:alb03"
	s := missSite(t, failed)
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:third.example"), Owners: []string{"another"}}
	if _, err := s.store.Apply(t.Context(), []store.Change{{Authority: a, Time: servertest.Now}}); err != nil {
		t.Fatal(err)
	}
	s.send("misses/alias", s.get(alias(failed, alb)).form("/-/ui/misses/alias")).wantSee(namePath(alb) + "?done=alias-idle")
	s.get(nameAt(alb)+"?done=alias-idle").want(200, "requests for it still fail")
	s.get("misses").want(200, failed)
}
