package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// mintForm returns the form that makes names, filled in.
func (s *site) mintForm(fields ...string) url.Values {
	s.t.Helper()
	return fill(s.get("mint").form("/-/ui/mint"), append([]string{"prefix", "urn:dns:example.org", "template", "x{seq}", "do", "mint"}, fields...)...)
}

// made returns how many names begin with x.
func (s *site) made() (n int) {
	s.t.Helper()
	for rec, err := range s.store.List(s.t.Context(), store.Scan{Prefix: "urn:dns:example.org:x"}) {
		if err != nil {
			s.t.Fatal(err)
		}
		if rec.Status != "" {
			n++
		}
	}
	return n
}

func TestMint(t *testing.T) {
	s := newSite(t)
	editor := s.as("editor")
	a := editor.send("mint", s.mintForm("count", "3", "why", "for the new series", "status", "retired"))
	to := strings.TrimPrefix(a.Header().Get("Location"), Root)
	if a.Code != 303 || !strings.HasPrefix(to, "mint/made?") || s.made() != 3 {
		t.Fatalf("got %d to %s, %d names:\n%s", a.Code, to, s.made(), a.text())
	}
	if rec := s.record("urn:dns:example.org:x2"); rec.Status != nomen.Reserved || rec.Revision != 1 {
		t.Errorf("got %+v", rec)
	}
	a = editor.get(to)
	a.want(200, "3 names were made", "urn:dns:example.org:x1", "urn:dns:example.org:x3")
	rows := editor.get(strings.Replace(to, "made?", "made.csv?", 1)).rows()
	if got, want := fmt.Sprint(rows), "[[name url title] [urn:dns:example.org:x1  ] [urn:dns:example.org:x2  ] [urn:dns:example.org:x3  ]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.get(to).want(200, "3 names were made") // for a colleague
	s.as("other").get(to).without("example.org:x1")
	for _, bad := range []string{"mint/made", "mint/made?after=x&until=3&who=a", "mint/made.csv?after=1&until=2"} {
		s.get(bad).want(404)
	}
	s.get("mint/made?after=0&until=99999999999&who=u-editor").want(200, "urn:dns:example.org:x1")
	s.get("mint/made?after=5&until=1&who=u-editor").want(200, "There are no names")
}

// A form that is sent twice, also at once, makes the names once; another form makes more.
func TestMintTwice(t *testing.T) {
	s := newSite(t)
	form := s.mintForm("count", "2", "why", "series")
	both := s.sendAtOnce("mint", form)
	again := s.send("mint", form)
	for _, a := range append(both[:], again) {
		a.wantSee(both[0].Header().Get("Location"))
	}
	if s.made() != 2 {
		t.Errorf("%d names", s.made())
	}
	s.get(strings.TrimPrefix(again.Header().Get("Location"), Root)).want(200, "2 names were made", "x1", "x2")
	s.send("mint", s.mintForm("count", "2", "why", "series"))
	if s.made() != 4 {
		t.Errorf("%d names after another form", s.made())
	}
}

// A form that is sent twice makes the names once although the log was empty before.
func TestMintTwiceInEmptyStore(t *testing.T) {
	s := newSite(t)
	s.store = memstore.New()
	s = siteOf(t, s.store)
	form := s.mintForm("count", "2")
	for _, a := range s.sendAtOnce("mint", form) {
		a.wantSee(madePath("u-admin", 0, 2))
	}
	if s.made() != 2 {
		t.Errorf("%d names", s.made())
	}
}

// A slowStore waits before it creates a name with "slow".
type slowStore struct {
	fullStore
	begun, end chan struct{}
}

func (s *slowStore) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if r := changes[0].Record; r != nil && strings.Contains(r.Name.Key(), "slow") {
		s.begun <- struct{}{}
		<-s.end
	}
	return s.fullStore.Apply(ctx, changes)
}

// A slow request for names does not delay others.
func TestMintSlowly(t *testing.T) {
	s := newSite(t)
	slow := &slowStore{s.store, make(chan struct{}), make(chan struct{})}
	s = siteOf(t, slow)
	form, first := s.mintForm("template", "slow{seq}"), make(chan *answer)
	go func() { first <- s.send("mint", form) }()
	<-slow.begun
	second := make(chan *answer)
	form = s.mintForm("count", "2")
	go func() { second <- s.send("mint", form) }()
	select {
	case a := <-second:
		a.want(http.StatusSeeOther)
	case <-time.After(30 * time.Second):
		t.Error("the second form waits for the first")
		defer func() { <-second }()
	}
	close(slow.end)
	(<-first).want(http.StatusSeeOther)
}

// If an error occurs after some names were made, the form leads to them.
func TestMintSome(t *testing.T) {
	s := newSite(t)
	a := s.send("mint", s.mintForm("count", "12", "template", "x{seq:1}"))
	a.want(422, "Some names were made before the error")
	var made string
	for _, link := range a.elements("a") {
		if to := attribute(link, "href"); strings.HasPrefix(to, Root+"mint/made?") {
			made = strings.TrimPrefix(to, Root)
		}
	}
	s.get(made).want(200, fmt.Sprint(s.made(), " names were made"))
}

func TestMintAndPublish(t *testing.T) {
	s := newSite(t)
	s.send("mint", s.mintForm("count", "2", "publish", "1"))
	for _, n := range []string{"urn:dns:example.org:x1", "urn:dns:example.org:x2"} {
		if rec := s.record(n); rec.Status != nomen.Active {
			t.Errorf("got %+v", rec)
		}
	}
}

func TestMintFaults(t *testing.T) {
	s := newSite(t)
	for _, count := range []string{"0", "-1", "1001", "many", ""} {
		s.send("mint", s.mintForm("count", count, "why", "my reason")).want(422, "Enter a number from 1 to 1000", "my reason")
	}
	s.send("mint", s.mintForm("template", "x{nonsense}")).want(422, "[x{nonsense}]")
	a := s.send("mint", s.mintForm("count", "9", "do", "try"))
	a.want(200, "The next names would be", "urn:dns:example.org:x5")
	a.without("urn:dns:example.org:x6")
	if s.made() != 0 {
		t.Errorf("%d names were made", s.made())
	}
	form := s.mintForm("count", "1")
	s.as("reader").send("mint", form).want(403)
	s.as("other").send("mint", form).want(403)
	s.as("reader").get("mint").want(403)
	if s.made() != 0 {
		t.Errorf("%d names were made", s.made())
	}
}
