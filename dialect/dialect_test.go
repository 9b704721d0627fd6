package dialect

import (
	"context"
	"errors"
	"testing"

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
	})
	for _, tt := range []struct{ id, password, who string }{
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
		a, err := k.Password(t.Context(), tt.id, tt.password)
		if a.Who != tt.who || (err == nil) != (tt.who != "") || err != nil && !errors.Is(err, adminapi.ErrUnauthorized) {
			t.Errorf("%s with %q: got %q, %v; want %q", tt.id, tt.password, a.Who, err, tt.who)
		}
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
