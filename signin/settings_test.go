package signin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/signin/signintest"
)

func TestCheckSettings(t *testing.T) {
	good := func() Settings {
		return Settings{URL: "https://pages.example.org", Header: "X-Remote-User", Providers: []Provider{
			{ID: "uni", Issuer: "https://login.example.org/realms/a", ClientID: "nomen"},
			{ID: "uni-2", Issuer: "http://127.0.0.1:99", ClientID: "nomen"},
		}}
	}
	s := good()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		key      string
		provider int
		change   func(*Settings)
	}{
		{"idle", -1, func(s *Settings) { s.Idle = -time.Second }},
		{"absolute", -1, func(s *Settings) { s.Absolute = -time.Second }},
		{"url", -1, func(s *Settings) { s.URL = "" }},
		{"url", -1, func(s *Settings) { s.URL = "http://pages.example.org" }},
		{"url", -1, func(s *Settings) { s.URL = "https://pages.example.org/" }},
		{"header", -1, func(s *Settings) { s.Header = "cookie" }},
		{"id", 0, func(s *Settings) { s.Providers[0].ID = "../x" }},
		{"id", 1, func(s *Settings) { s.Providers[1].ID = "uni" }},
		{"issuer", 1, func(s *Settings) { s.Providers[1].Issuer = s.Providers[0].Issuer }},
		{"issuer", 0, func(s *Settings) { s.Providers[0].Issuer = "http://login.example.org" }},
		{"issuer", 0, func(s *Settings) { s.Providers[0].Issuer = "https://login.example.org?x" }},
		{"issuer", 0, func(s *Settings) { s.Providers[0].Issuer = "https://u:p@login.example.org" }},
		{"issuer", 0, func(s *Settings) { s.Providers[0].Issuer = "login.example.org" }},
		{"client-id", 1, func(s *Settings) { s.Providers[1].ClientID = "" }},
	} {
		s := good()
		tt.change(&s)
		var bad *SettingError
		if err := s.Check(); !errors.As(err, &bad) || bad.Key != tt.key || bad.Provider != tt.provider {
			t.Errorf("%s: got %v", tt.key, err)
		}
	}
}

// TestSet: invalid settings change nothing, and unchanged providers are not asked again.
func TestSet(t *testing.T) {
	s, p := newProviderStage(t)
	b := s.browser()
	b.get(b.at(Root))
	bad := s.set
	bad.URL = "x"
	if err := s.nodes[0].Set(bad); err == nil || !strings.Contains(err.Error(), "url") {
		t.Errorf("got %v", err)
	}
	s.setAll(func(s *Settings) { s.Idle = time.Minute })
	b.get(b.at(Root)).wantTo(t, Root)
	if n := p.Requests("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("%d requests", n)
	}
	s.setAll(withProvider(signintest.New(t)))
	if b.user() != "" {
		t.Error("signed in by a provider that was removed")
	}
	if _, err := New(Options{}, Settings{}); err == nil {
		t.Error("New accepts no options")
	}
}
