package dialect

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
)

// fakeAccounts has the token t1 with the secret s1, and the user anna.
type fakeAccounts struct{}

func (fakeAccounts) Bearer(_ context.Context, token string) (registrar.Actor, error) {
	if token != "t1.s1" {
		return registrar.Actor{}, adminapi.ErrUnknownToken
	}
	return registrar.Actor{Who: "token"}, nil
}

func (fakeAccounts) Account(_ context.Context, token, user string) (registrar.Actor, error) {
	switch {
	case token == "t1":
		return registrar.Actor{Who: "token"}, nil
	case user == "anna":
		return registrar.Actor{Who: "anna"}, nil
	}
	return registrar.Actor{}, adminapi.ErrUnknownToken
}

func TestPassword(t *testing.T) {
	k := NewIdentities(fakeAccounts{}, []Identity{
		{ID: "of token", Token: "t1"},
		{ID: "of token with secret", Token: "t1", Secret: []byte("long secret")},
		{ID: "of user", User: "anna", Secret: []byte("her secret")},
		{ID: "of user with key", User: "anna"},
		{ID: "of revoked token", Token: "t2", Secret: []byte("long secret")},
	}, time.Now)
	for i, tt := range []struct{ id, password, who string }{
		{"anything", "t1.s1", "token"},
		{"anything", "t1.s2", ""},
		{"anything", "s1", ""},
		{"of token", "t1.s1", "token"},
		{"of token", "s1", "token"},
		{"of token", "s2", ""},
		{"of token", "", ""},
		{"of token", "t1.", ""},
		{"of token", "t2.s1", ""},
		{"of token with secret", "long secret", "token"},
		{"of token with secret", "t1.s1", ""},
		{"of token with secret", "", ""},
		{"of user", "her secret", "anna"},
		{"of user", "her secre", ""},
		{"of user", "t1.s1", ""},
		{"of user with key", "", ""},
		{"of user with key", "t1.s1", ""},
		{"of revoked token", "long secret", ""},
	} {
		a, err := k.Password(t.Context(), netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), tt.id, tt.password)
		if a.Who != tt.who || (err == nil) != (tt.who != "") || err != nil && !errors.Is(err, adminapi.ErrUnauthorized) {
			t.Errorf("%s with %q: got %q, %v; want %q", tt.id, tt.password, a.Who, err, tt.who)
		}
	}
}

// A client that has sent too many wrong passwords must wait, even with a right one. Other clients need
// not.
func TestAttempts(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k := NewIdentities(fakeAccounts{}, []Identity{{ID: "anna", User: "anna", Secret: []byte("her secret")}}, func() time.Time { return now })
	try := func(from, password string) string {
		_, err := k.Password(t.Context(), netip.MustParseAddr(from), "anna", password)
		var attempts *AttemptsError
		switch {
		case errors.As(err, &attempts):
			return "wait " + attempts.RetryAfter()
		case errors.Is(err, adminapi.ErrUnauthorized):
			return "wrong"
		case err != nil:
			return err.Error()
		}
		return "right"
	}
	for i, tt := range []struct {
		after          time.Duration
		from, password string
		times          int
		want           string // of the last
	}{
		{0, "2001:db8::1", "her secret", 50, "right"},
		{0, "2001:db8::1", "guess", 10, "wrong"},
		{0, "2001:db8::1", "guess", 5, "wait 10"},
		{0, "2001:db8::1", "her secret", 1, "wait 10"},
		{0, "2001:db8::ffff", "her secret", 1, "wait 10"}, // of the same network
		{0, "2001:db8:0:1::1", "her secret", 1, "right"},
		{4 * time.Second, "2001:db8::1", "her secret", 1, "wait 6"},
		{6 * time.Second, "2001:db8::1", "her secret", 20, "right"},
		{0, "2001:db8::1", "guess", 1, "wrong"},
		{0, "2001:db8::1", "her secret", 1, "wait 10"},
		{time.Hour, "2001:db8::1", "guess", 10, "wrong"},
		{0, "2001:db8::1", "guess", 1, "wait 10"},
	} {
		now = now.Add(tt.after)
		got := ""
		for range tt.times {
			got = try(tt.from, tt.password)
		}
		if got != tt.want {
			t.Errorf("step %d, %s with %q: got %q, want %q", i, tt.from, tt.password, got, tt.want)
		}
	}
}

// Attempts at the same time do not gain anything: what they exceed, the client must wait for later.
func TestAttemptsAtOnce(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k := NewIdentities(fakeAccounts{}, nil, func() time.Time { return now })
	from := netip.MustParseAddr("192.0.2.1")
	begun, end := make(chan bool), make(chan bool)
	var all sync.WaitGroup
	for range 3 * failureBurst {
		all.Go(func() {
			_, _ = k.Attempt(from, func() (registrar.Actor, error) {
				begun <- true
				<-end
				return registrar.Actor{}, adminapi.ErrUnknownToken
			})
		})
		<-begun
	}
	close(end)
	all.Wait()
	var attempts *AttemptsError
	_, err := k.Password(t.Context(), from, "", "t1.s1")
	if want := (2*failureBurst + 1) * failureRefill; !errors.As(err, &attempts) || attempts.After != want {
		t.Errorf("got %v, want to wait %s", err, want)
	}
}

func TestScope(t *testing.T) {
	s := Scope{name.MustParsePrefix("hdl:20.500.9999"), name.MustParsePrefix("ark:99999")}
	for key, want := range map[string]bool{"hdl:20.500.9999/a": true, "hdl:20.500.99990/a": false, "ark:99999/b": true, "ark:99998/b": false} {
		if got := s.Covers(name.MustParse(key)); got != want {
			t.Errorf("Covers(%s) = %v, want %v", key, got, want)
		}
	}
}
