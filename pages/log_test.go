package pages

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// addMany stores names with a prefix, one change each, a minute apart.
func (s *site) addMany(prefix string, n int, who string) {
	s.t.Helper()
	for i := range n {
		key := fmt.Sprintf("%s:%04d", prefix, i)
		rec := &store.Record{Name: name.MustParse(key), Spelling: key, Status: nomen.Active}
		c := store.Change{Record: rec, Time: servertest.Now.Add(time.Duration(i) * time.Minute), Who: who, Why: fmt.Sprint("number ", i)}
		if _, err := s.store.Apply(s.t.Context(), []store.Change{c}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// numbers returns the numbers of the changes on a page of the log.
func (a *answer) numbers() string {
	var all []string
	for _, link := range a.elements("a") {
		if seq, ok := strings.CutPrefix(attribute(link, "href"), Root+"log/"); ok {
			all = append(all, seq)
		}
	}
	return strings.Join(all, " ")
}

// nextPage returns the path of the next page, or "".
func (a *answer) nextPage() string {
	for _, link := range a.elements("a") {
		if attribute(link, "rel") == "next" {
			return strings.TrimPrefix(attribute(link, "href"), Root)
		}
	}
	return ""
}

// All pages together have each change once, newest first.
func TestLogPages(t *testing.T) {
	s := newSite(t)
	s.addMany("urn:dns:example.org:m", 120, "tok")
	head, _ := s.store.Head(t.Context())
	want, seen, pages := head.Size, 0, 0
	for path := "log"; path != ""; pages++ {
		a := s.get(path)
		a.want(200, head.String())
		for text := range strings.FieldsSeq(a.numbers()) {
			if text != fmt.Sprint(want) {
				t.Fatalf("got change %s, want %d", text, want)
			}
			want--
			seen++
		}
		path = a.nextPage()
	}
	if want != 0 || seen != int(head.Size) || pages != (seen+pageSize-1)/pageSize {
		t.Errorf("%d changes on %d pages, want %d", seen, pages, head.Size)
	}
}

func TestLogFilters(t *testing.T) {
	s := newSite(t)
	s.addUser("u-01234567", "Ada Lovelace")
	s.addMany("urn:dns:example.org:m", 3, "u-01234567")
	s.addMany("urn:dns:other.example:m", 3, "tok")
	head, _ := s.store.Head(t.Context())
	seqs := func(back ...uint64) string {
		var all []string
		for _, b := range back {
			all = append(all, fmt.Sprint(head.Size-b))
		}
		return strings.Join(all, " ")
	}
	for query, want := range map[string]string{
		"who=ada+lovelace&kind=name":          seqs(3, 4, 5),
		"who=tok":                             seqs(0, 1, 2),
		"who=unknown":                         "",
		"prefix=URN:DNS:other.example:m":      seqs(0, 1, 2),
		"kind=user":                           seqs(6),
		"who=tok&from=2026-11-20T12:01:00Z":   "",
		"who=tok&from=2000-01-01":             seqs(0, 1, 2),
		"who=tok&to=2000-01-01":               "",
		"who=tok&to=2999-01-01":               seqs(0, 1, 2),
		"before=" + seqs(1) + "&who=tok":      seqs(2),
		"before=0&who=tok":                    seqs(0, 1, 2),
		"before=99999&who=tok":                seqs(0, 1, 2),
		"who=tok&prefix=urn:dns:example.org:": "",
	} {
		if strings.Contains(query, "from=2026") { // a minute after the last change
			query = "who=tok&from=" + servertest.Now.Add(3*time.Minute).Format(time.RFC3339)
		}
		a := s.get("log?" + query)
		a.want(200)
		if got := a.numbers(); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	s.get("log?kind=key&from=never&who=x").want(422, "Choose what was changed", "invalid time", "[never]", "[x]")
	s.get("log?who=unknown").want(200, "There are no such changes", fmt.Sprintf("read changes 1 to %d", head.Size))
	if _, err := s.store.Apply(t.Context(), []store.Change{{Rights: &store.TokenRights{ID: "TOKENID", Role: "editor", Who: "Press"}, Time: servertest.Now}}); err != nil {
		t.Fatal(err)
	}
	s.get("log?kind=token").want(200, "Token TOKENID", fmt.Sprint(head.Size+1))
}

// A filter that few changes pass reads a bounded number of changes, and says so.
func TestLogIsBounded(t *testing.T) {
	s := newSite(t)
	before, _ := s.store.Head(t.Context())
	rec := &store.Record{Name: name.MustParse("urn:example:x"), Spelling: "urn:example:x", Status: nomen.Active}
	var all []store.Change
	for i := range maxLogRead + 3000 {
		next := rec.Clone()
		next.Locations = []nomen.Location{{URL: fmt.Sprint("https://example.org/", i)}}
		all = append(all, store.Change{Record: next, Expected: store.AnyRevision, Time: servertest.Now})
	}
	if _, err := s.store.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	a := s.get("log?kind=authority")
	a.want(200, "There are no such changes in this part of the log", "Go on to the next page")
	var looked, to uint64
	if _, err := fmt.Sscanf(a.text()[strings.Index(a.text(), "read changes"):], "read changes %d to %d", &looked, &to); err != nil || to-looked+1 != maxLogRead {
		t.Errorf("read changes %d to %d: %v", looked, to, err)
	}
	found := ""
	for path := a.nextPage(); path != "" && found == ""; path = a.nextPage() {
		a = s.get(path)
		found = a.numbers()
	}
	if found == "" || before.Size == 0 {
		t.Error("the older changes are not found")
	}
}

// People see the changes that they may read, and no others.
func TestLogRights(t *testing.T) {
	s := newSite(t)
	s.addUser("u-01234567", "Ada Lovelace")
	s.addMany("urn:dns:other.example:m", 1, "tok")
	head, _ := s.store.Head(t.Context())
	s.as("other").get("log").want(200, "urn:dns:other.example:m:0000")
	s.as("reader").get("log").without("other.example:m")
	s.as("none").get("log").want(403, "You do not have the rights")
	path := fmt.Sprintf("log/%d", head.Size)
	for _, page := range []string{path, path + "/proof.json"} {
		s.as("reader").get(page).want(403)
		s.as("reader").get(page).without("other.example:m")
		s.as("other").get(page).want(200, "urn:dns:other.example:m:0000")
		s.as("").get(page).wantSee(signInPath + "?next=" + url.QueryEscape(Root+page))
	}
	a := s.as("owner").get(fmt.Sprintf("log/%d", head.Size-1))
	a.want(200, "u-01234567", "The content was removed and cannot be checked")
	a.without("Ada")
	for _, bad := range []string{"log/0", "log/x", "log/99999", "log/-1", fmt.Sprintf("log/%d/proof.json?size=9999", head.Size+1)} {
		s.get(bad).want(404)
	}
	s.get(path + "/proof.json?size=1").want(400)
}

// A downloaded proof can be checked, also for an earlier head.
func TestProofPage(t *testing.T) {
	s := newSite(t)
	s.addMany("urn:dns:example.org:m", 2, "tok")
	noted, _ := s.store.Head(t.Context())
	s.addMany("urn:dns:example.org:n", 3, "tok")
	head, _ := s.store.Head(t.Context())
	path := fmt.Sprintf("log/%d", noted.Size)
	s.get(path).want(200, "Checked now", head.String(), "urn:dns:example.org:m:0001", "number 1", "It also covers the content")

	a := s.get(path + "?head=" + noted.String())
	a.want(200, "is that of this log", noted.String())
	a.without(head.String())
	other := noted
	other.Hash[0]++
	s.get(path+"?head="+other.String()).want(200, "is not the head of this log at that size")
	s.get(path+"?head=1:x").want(422, "Enter the head as it was shown", "[1:x]")
	s.get(fmt.Sprintf("log/%d?head=%s", head.Size, noted)).want(422, "from before this change")
	later := store.Head{Size: head.Size + 1}
	s.get(path+"?head="+later.String()).want(422, "Changes are missing")

	for _, size := range []uint64{noted.Size, head.Size} {
		a = s.get(fmt.Sprintf("%s/proof.json?size=%d", path, size))
		a.want(200)
		if got, want := a.Header().Get("Content-Disposition"), fmt.Sprintf(`attachment; filename="change-%d.json"`, noted.Size); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		var p adminapi.Proof
		if err := json.Unmarshal(a.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		proven, err := newProof(p)
		if err != nil || proven.Check() != nil || proven.Head.Size != size {
			t.Errorf("size %d: %v, %v, head %v", size, err, proven.Check(), proven.Head)
		}
	}
}

// The history of a name links to the proof of each revision, even if changes of many names have
// the same time.
func TestProofOfRevision(t *testing.T) {
	s := newSite(t)
	s.change(alb, "one", at("https://example.org/1"))
	s.change("urn:dns:example.org:old", "other", func(r *store.Record) { r.Reason = "another" })
	s.change(alb, "two", at("https://example.org/2"))
	head, _ := s.store.Head(t.Context())
	newest := s.record(alb).Revision
	s.get(nameAt(alb)+"/history").want(200, "Proof")
	s.get(fmt.Sprintf("%s/proof?revision=%d", nameAt(alb), newest)).wantSee(fmt.Sprintf("%slog/%d", Root, head.Size))
	s.get(fmt.Sprintf("%s/proof?revision=%d", nameAt(alb), newest-1)).wantSee(fmt.Sprintf("%slog/%d", Root, head.Size-2))
	s.get(nameAt(alb) + "/proof?revision=99").want(404)
	s.get(nameAt(alb) + "/proof").want(404)
	s.as("other").get(nameAt(alb) + "/proof?revision=1").want(403)
}

// The log says when the store was last verified, and administrators also see the verifications
// that the server makes itself.
func TestLastVerification(t *testing.T) {
	s := newSite(t)
	s.get("log").want(200, "no verification of the store that has ended")
	if _, err := s.pages.client(people()["admin"]).Verify(t.Context(), func(store.Fault) {}, nil); err != nil {
		t.Fatal(err)
	}
	s.get("log").want(200, "the whole store was verified. No faults were found.")
	s.as("reader").get("log").without("the whole store was verified")
	s.pages.condition = func() Condition { return Condition{Verified: servertest.Now, Faults: 3} }
	s.get("log").want(200, "the server verified the whole store in the background. 3 faults were found.")
	s.as("owner").get("log").without("in the background")
}

// TestRightsInLog checks that each form that changes who may do what is in the log of changes.
func TestRightsInLog(t *testing.T) {
	kinds := map[string]store.Kind{
		"POST tokens/new": store.KindTokenRights, "POST tokens/revoke/{id}": store.KindTokenRights,
		"POST users/new": store.KindUser, "POST users/{id}/grant": store.KindUser, "POST users/{id}/disable": store.KindUser, "POST users/{id}/redact": store.KindUser,
		"POST authorities/new": store.KindAuthority,
	}
	for _, sub := range submissions() {
		kind, changes := kinds[sub.route]
		if !changes {
			continue
		}
		s := attackedSite(t)
		action, form := sub.fill(s)
		before, err := s.store.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a := s.as("admin").send(action, form)
		found := false
		for e, err := range s.store.Changes(t.Context(), before.Size) {
			if err != nil {
				t.Fatal(err)
			}
			found = found || e.Change.Subject().Kind == kind && e.Change.Who == "u-admin"
		}
		delete(kinds, sub.route)
		if !found {
			t.Errorf("%s: status %d, and the log has no change of kind %d by the administrator", sub.route, a.Code, kind)
		}
	}
	if len(kinds) > 0 {
		t.Errorf("forms that were not tested: %v", kinds)
	}
}
