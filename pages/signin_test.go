package pages

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/signin"
)

// TestShowSignIn shows each page about signing in, with hostile texts.
func TestShowSignIn(t *testing.T) {
	s := newSite(t)
	const bad = "<script>x</script>\u202e\"'"
	texts := map[string]bool{}
	show := func(kind signin.Kind, fault signin.Fault) *answer {
		w := httptest.NewRecorder()
		s.pages.ShowSignIn(w, httptest.NewRequest("GET", signin.Path, nil), http.StatusForbidden, signInPage(kind, fault, bad))
		a := &answer{w, t}
		if texts[a.text()] {
			t.Errorf("%s %s: the same page as another one", kind, fault)
		}
		texts[a.text()] = true
		if len(a.elements("script")) > 0 || strings.Contains(w.Body.String(), "\u202e") && kind != signin.LinkPage || w.Header().Get("Content-Security-Policy") != policy || w.Code != http.StatusForbidden {
			t.Errorf("%s %s: %d %v\n%s", kind, fault, w.Code, w.Header(), w.Body)
		}
		return a
	}
	show(signin.Choose, "").want(403, "Sign in with", "does not answer", "You have signed out.", "Contact:")
	show(signin.Unknown, "").want(403, "no rights here yet", "Contact:", "Tell them this identifier: <script>")
	show(signin.Disabled, "").want(403, "is disabled", "Contact:")
	show(signin.Forged, "").want(403, "X-Remote-User")
	show(signin.Listing, "").want(403, "this browser", "one-time link", "2026")
	there := show(signin.SignedOut, "")
	there.want(403, "You are still signed in at <script>", "Sign out at <script>")
	if body := there.Body.String(); !strings.Contains(body, `<a href="https://login.example.org/logout?client_id=pages">`) {
		t.Errorf("no link to the provider:\n%s", body)
	}
	if got := show(signin.LinkPage, "").form("/-/ui/sign-in/link").Get("code"); got != bad {
		t.Errorf("code %q", got)
	}
	for _, f := range []signin.Fault{signin.FaultFlow, signin.FaultDenied, signin.FaultProvider, signin.FaultAway, signin.FaultLink, signin.FaultStore, signin.FaultPath} {
		show(signin.Failed, f).want(403, "Signing in did not work", "Sign in with")
	}
}

// TestShowSignedOut: the page after sign-out says where the person is still signed in.
func TestShowSignedOut(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct{ provider, signOut, want, without string }{
		{"", "", "sign out at your institution", "https://login"},
		{"University", "", "may still be signed in at University", "https://login"},
		{"University", "https://login.example.org/logout", "Sign out at University", "may still"},
	} {
		w := httptest.NewRecorder()
		s.pages.ShowSignIn(w, httptest.NewRequest("GET", signin.Path, nil), http.StatusOK, signin.View{Kind: signin.SignedOut, Provider: tt.provider, SignOut: tt.signOut})
		a := &answer{w, t}
		a.want(200, tt.want)
		a.without(tt.without)
	}
}

// TestSignInRoot: both packages mean the same paths.
func TestSignInRoot(t *testing.T) {
	if signin.Root != Root || signin.Path != signInPath {
		t.Errorf("%q, %q", signin.Root, signin.Path)
	}
}
