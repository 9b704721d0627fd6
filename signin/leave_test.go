package signin

import (
	"net/url"
	"testing"
)

// A person who signs out here is offered to sign out at the provider, if the settings say so and the
// provider has a safe URL for this. The URL asks to send the person back to this server only.
func TestSignOutAtProvider(t *testing.T) {
	for title, tt := range map[string]struct {
		option bool
		logout string
		want   string // URL without its query
	}{
		"not configured":    {false, "https://login.example.org/logout", ""},
		"none":              {true, "", ""},
		"offered":           {true, "https://login.example.org/logout?tenant=7#x", "https://login.example.org/logout"},
		"not encrypted":     {true, "http://login.example.org/logout", ""},
		"a script":          {true, "javascript:alert(1)", ""},
		"with a password":   {true, "https://a:b@login.example.org/logout", ""},
		"hostile parameter": {true, "https://login.example.org/logout?post_logout_redirect_uri=https://evil.example", "https://login.example.org/logout"},
	} {
		t.Run(title, func(t *testing.T) {
			s, p := newProviderStage(t)
			p.Logout = tt.logout
			s.setAll(func(set *Settings) { set.Providers[0].SignOut = tt.option })
			b := s.browser()
			b.get(b.at("/-/ui/names"))
			if b.user() == "" {
				t.Fatal("not signed in")
			}
			out := b.post(signOutPath, "next", "https://evil.example", "post_logout_redirect_uri", "https://evil.example")
			if b.user() != "" {
				t.Error("still signed in")
			}
			if !tt.option {
				out.wantTo(t, Path+"?ended")
				return
			}
			out.want(t, 200, SignedOut, "")
			u, err := url.Parse(out.SignOut)
			if err != nil || out.Provider != "University" {
				t.Fatalf("got %+v, %v", out.View, err)
			}
			q := u.Query()
			u.RawQuery = ""
			if u.String() != tt.want {
				t.Errorf("got %s, want %s", u, tt.want)
			}
			if tt.want != "" && (len(q["post_logout_redirect_uri"]) != 1 || q.Get("post_logout_redirect_uri") != s.set.URL+Path || q.Get("client_id") != s.set.Providers[0].ClientID) {
				t.Errorf("got parameters %v", q)
			}
		})
	}
}

// A person who has signed in with a link, or whose provider is away, signs out here.
func TestSignOutWithoutProvider(t *testing.T) {
	s, p := newProviderStage(t)
	p.Logout = "https://login.example.org/logout"
	s.setAll(func(set *Settings) { set.Providers[0].SignOut = true })
	b := s.browser()
	b.link(anna)
	b.post(signOutPath).wantTo(t, Path+"?ended")
	b.get(b.at("/-/ui/names"))
	s.pass(2 * discoveryTime)
	p.Away = true
	b.post(signOutPath)
	if b.user() != "" {
		t.Error("still signed in while the provider is away")
	}
	s.browser().post(signOutPath).wantTo(t, Path+"?ended")
}
