package signin

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// TestCookie checks what keeps the cookie secret, and to this host.
func TestCookie(t *testing.T) {
	s := newStage(t, nil)
	p := s.browser().link(anna)
	p.wantTo(t, "/-/ui/")
	if len(p.cookies) != 1 {
		t.Fatalf("cookies: %v", p.cookies)
	}
	c := p.cookies[0]
	if c.Name != "__Host-nomen" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 {
		t.Errorf("cookie: %v", c)
	}
	user, secret, _ := strings.Cut(c.Value, ".")
	if user != anna || len(secret) < 40 {
		t.Errorf("value %q", c.Value)
	}
	for _, key := range []string{"sessions." + anna, "link." + anna} {
		if text, err := s.vault.Secret(t.Context(), key); err == nil && strings.Contains(string(text), secret) {
			t.Errorf("%s has the secret: %s", key, text)
		}
	}
}

// TestIdle: a session ends when it has not been used for an hour, and after 12 hours.
func TestIdle(t *testing.T) {
	s := newStage(t, nil)
	b := s.browser()
	b.link(anna)
	for range 2 {
		s.pass(59 * time.Minute)
		if b.user() != anna {
			t.Fatal("ended during its use")
		}
	}
	s.pass(time.Hour)
	if got := b.user(); got != "" {
		t.Error("did not end when it was idle")
	}
	b.link(anna)
	for i := range 24 {
		if got := b.user(); got != anna {
			t.Fatalf("ended after %d half hours", i)
		}
		s.pass(30 * time.Minute)
	}
	if got := b.user(); got != "" {
		t.Error("did not end after 12 hours")
	}
}

// TestGrain: requests write at most every five minutes.
func TestGrain(t *testing.T) {
	s := newStage(t, nil)
	b := s.browser()
	b.link(anna)
	read := func() string { text, _ := s.vault.Secret(t.Context(), "sessions."+anna); return string(text) }
	before := read()
	s.pass(4 * time.Minute)
	if b.user(); read() != before {
		t.Error("written after 4 minutes")
	}
	s.pass(time.Minute)
	if b.user(); read() == before {
		t.Error("not written after 5 minutes")
	}
}

// TestSettingsOfSessions: lifetimes can be configured, also for sessions that exist.
func TestSettingsOfSessions(t *testing.T) {
	s := newStage(t, func(s *Settings) { s.Idle, s.Absolute = 2*time.Minute, 3*time.Minute })
	b := s.browser()
	b.link(anna)
	s.pass(90 * time.Second)
	if b.user() != anna {
		t.Error("ended early")
	}
	s.pass(80 * time.Second)
	if b.user() != anna {
		t.Error("use was not noted")
	}
	s.pass(10 * time.Second)
	if b.user() != "" {
		t.Error("did not end after 3 minutes")
	}
	b.link(anna)
	s.pass(time.Minute)
	s.setAll(func(s *Settings) { s.Absolute = time.Minute })
	if b.user() != "" {
		t.Error("did not end by the new settings")
	}
}

// TestRights: a session has the rights that the user has at each request.
func TestRights(t *testing.T) {
	s := newStage(t, nil)
	b := s.browser()
	b.link(anna)
	if got := b.session(); got.Actor.Role() != registrar.Editor || got.Actor.Who != anna || got.Provider != ByLink || got.Name != "Ms "+anna {
		t.Errorf("session %+v", got)
	}
	s.people.change(anna, func(p *Person) { p.Actor.Grants = nil; p.Name = "Anna" })
	if got := b.session(); len(got.Actor.Grants) > 0 || got.Name != "Anna" {
		t.Errorf("session %+v", got)
	}
	s.people.change(anna, func(p *Person) { p.Disabled = true })
	if b.user() != "" {
		t.Error("a disabled user is signed in")
	}
	s.people.change(anna, func(p *Person) { p.Disabled = false })
	if b.user() != "" {
		t.Error("the session came back")
	}
}

// TestNewSecret: a sign-in ends the session that the browser had, and never takes over a secret
// from the browser.
func TestNewSecret(t *testing.T) {
	s := newStage(t, nil)
	b := s.browser()
	fixed := newCredential(anna).String()
	b.cookies[cookieName] = fixed
	b.link(anna)
	first := b.cookies[cookieName]
	if first == fixed || first == "" {
		t.Fatalf("cookie %q", first)
	}
	b.link(anna)
	second := b.cookies[cookieName]
	b.link(zoe)
	if b.user() != zoe {
		t.Error("the other user is not signed in")
	}
	for _, old := range []string{fixed, first, second} {
		if b.cookies[cookieName] = old; b.user() != "" {
			t.Errorf("%q is valid", old)
		}
	}
}

// TestSignOut: sign-out ends one session, or all of the user, on all nodes.
func TestSignOut(t *testing.T) {
	s := newStage(t, nil)
	one, two, other := s.browser(), s.browser(), s.browser()
	two.node = 1
	one.link(anna)
	two.link(anna)
	other.link(zoe)
	old := one.cookies[cookieName]
	one.post(signOutPath).wantTo(t, "/-/ui/sign-in?ended")
	if _, kept := one.cookies[cookieName]; kept || one.user() != "" {
		t.Error("the cookie is still there")
	}
	if one.cookies[cookieName] = old; one.user() != "" {
		t.Error("the session goes on")
	}
	one.link(anna)
	if list := one.get(sessionsPath); list.Kind != Listing || len(list.Sessions) != 2 || list.Sessions[0].Current == list.Sessions[1].Current {
		t.Errorf("sessions: %+v", list.View)
	}
	one.post(endAllPath).wantTo(t, "/-/ui/sign-in?ended")
	if got := []string{one.user(), two.user(), other.user()}; !slices.Equal(got, []string{"", "", zoe}) {
		t.Errorf("signed in: %q", got)
	}
	one.get(sessionsPath).wantTo(t, "/-/ui/sign-in?next=%2F-%2Fui%2F")
	one.get("/-/ui/sign-in?ended").want(t, 200, Choose, "")
}

// TestMostSessions: the twenty sessions used last are kept.
func TestMostSessions(t *testing.T) {
	s := newStage(t, nil)
	var all []*browser
	for range maxSessions + 2 {
		b := s.browser()
		b.link(anna)
		s.pass(time.Second)
		all = append(all, b)
	}
	for i, b := range all {
		if got, want := b.user() == anna, i >= 2; got != want {
			t.Errorf("session %d: %v, want %v", i, got, want)
		}
	}
}

// TestNodes: sessions of a user begin, are used and end at two nodes at once. None is lost, and
// one that was ended does not come back.
func TestNodes(t *testing.T) { synctest.Test(t, testNodes) }

func testNodes(t *testing.T) {
	s := newStage(t, nil)
	s.slow()
	var all, ended []*browser
	for i := range 12 {
		b := s.browser()
		b.node = i % 2
		if all = append(all, b); i < 6 {
			ended = append(ended, b)
		}
	}
	for _, b := range all {
		b.link(anna)
	}
	s.pass(10 * time.Minute) // so that each request writes
	var running sync.WaitGroup
	for i, b := range all {
		running.Go(func() {
			session, err := s.nodes[(i+1)%2].Session(b.request("GET", Root, nil))
			if err != nil || session == nil {
				t.Errorf("session %d: %v, %v", i, session, err)
			}
		})
	}
	running.Wait()
	old := map[*browser]string{}
	for _, b := range all {
		old[b] = b.cookies[cookieName]
	}
	for i, b := range ended {
		r := b.request("GET", Root, nil)
		running.Go(func() { _, _ = s.nodes[i%2].Session(r) })
		running.Go(func() { b.post(signOutPath) })
	}
	running.Wait()
	for i, b := range all {
		b.cookies[cookieName] = old[b]
		if got, want := b.user() == anna, i >= 6; got != want {
			t.Errorf("session %d: %v, want %v", i, got, want)
		}
	}
}

// TestLateUse: a request that read the session before it was ended does not revive it.
func TestLateUse(t *testing.T) {
	s := newStage(t, nil)
	b := s.browser()
	b.link(anna)
	c, _ := presented(b.request("GET", Root, nil))
	s.pass(10 * time.Minute)
	if err := s.nodes[1].EndAll(t.Context(), anna); err != nil {
		t.Fatal(err)
	}
	if s.nodes[0].noteUse(t.Context(), c, &sessionEntry{Used: noon}, 0, s.nodes[0].state.Load()) {
		t.Error("an ended session is valid")
	}
	if b.user() != "" {
		t.Error("the session came back")
	}
}

// TestMalformedCookies: only the value that was set is valid. Any other value means that the client
// is not signed in, and is not an error.
func TestMalformedCookies(t *testing.T) {
	s := newStage(t, nil)
	b := s.browser()
	b.link(anna)
	good := b.cookies[cookieName]
	_, secret, _ := strings.Cut(good, ".")
	last := map[bool]string{true: "B", false: "A"}[strings.HasSuffix(good, "A")]
	for _, value := range []string{
		"", ".", anna, anna + ".", "." + secret, zoe + "." + secret, secret, good + "A", good[:len(good)-1], good + "=",
		anna + "..." + secret, strings.ToUpper(anna) + "." + secret, "../" + good, "u-anna0000%00." + secret, strings.Repeat("u", 300) + "." + secret,
		anna + "." + strings.Repeat("A", 43), anna + "." + strings.Repeat("A", 1<<15), good[:len(good)-1] + last, " " + good + " ", `"` + good + `" x`,
		strings.Repeat("\xff", 99), "u-*." + secret,
	} {
		r, _ := http.NewRequest("GET", Root, nil)
		r.Header.Set("Cookie", cookieName+"="+value)
		if session, err := s.nodes[0].Session(r); session != nil && strings.TrimSpace(value) != good || err != nil {
			t.Errorf("cookie %.80q: %+v, %v", value, session, err)
		}
	}
	r, _ := http.NewRequest("GET", Root, nil)
	r.Header.Set("Cookie", cookieName+"="+good+"; "+cookieName+"="+good)
	if session, _ := s.nodes[0].Session(r); session != nil {
		t.Error("two cookies are accepted")
	}
}

// TestUnreadableSessions: a value that is not a list of sessions is ignored, and the next sign-in
// replaces it.
func TestUnreadableSessions(t *testing.T) {
	s := newStage(t, nil)
	b := s.browser()
	b.link(anna)
	if err := s.vault.PutSecret(t.Context(), "sessions."+anna, []byte("{")); err != nil {
		t.Fatal(err)
	}
	if b.user() != "" {
		t.Error("signed in")
	}
	if b.link(anna); b.user() != anna {
		t.Error("cannot sign in")
	}
}

// TestStoreAway: if the store fails, the result is an error, and not a client without a session.
func TestStoreAway(t *testing.T) {
	s := newStage(t, nil)
	b := s.browser()
	b.link(anna)
	s.people.err = store.ErrClosed
	if session, err := s.nodes[0].Session(b.request("GET", Root, nil)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, %v", session, err)
	}
	b.get(Path).want(t, 503, Failed, FaultStore)
	s.people.err = nil
	if err := s.vault.Close(); err != nil {
		t.Fatal(err)
	}
	if session, err := s.nodes[0].Session(b.request("GET", Root, nil)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, %v", session, err)
	}
	b.post(signOutPath).want(t, 503, Failed, FaultStore)
	s.wantCounts("link success 1") // signing out is not counted
}

// TestTooLarge: sessions that do not fit into the vault make room.
func TestTooLarge(t *testing.T) {
	var all []sessionEntry
	for i := range 10 {
		claims := []claimValue{{"groups", strings.Repeat("x", 10_000)}}
		all = append(all, sessionEntry{newCredential(anna).hash(), "p", noon, noon.Add(time.Duration(i)), claims, 0})
	}
	text, err := formatSessions(all)
	if err != nil || len(text) > store.MaxSecret {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	kept, err := parseSessions(text)
	if err != nil || len(kept) != 6 || !kept[0].Used.Equal(noon.Add(9)) {
		t.Errorf("kept %d, %v", len(kept), err)
	}
}
