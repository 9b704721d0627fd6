package pages

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen/signin"
)

// in sends a request with a field Accept-Language.
func (s *site) in(languages, path string) *answer {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodGet, Root+path, nil)
	r.Header.Set("Accept-Language", languages)
	return s.do(r)
}

func (a *answer) wantLanguage(tag string) {
	a.t.Helper()
	var lang string
	for _, n := range a.elements("html") {
		lang = attribute(n, "lang")
	}
	if h := a.Header(); lang != tag || h.Get("Content-Language") != tag || h.Get("Vary") != "Accept-Language, Cookie" {
		a.t.Errorf("the page is in %q, want %q; header %v", lang, tag, h)
	}
}

// TestLanguage: every kind of page is in the language of the client.
func TestLanguage(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct{ path, german string }{
		{"", "Zu erledigen"},
		{"names", "Durchblättern"},
		{nameAt(alb), "Wohin er führt"},
		{nameAt(alb) + "/edit", "Adresse hinzufügen"},
		{"nothing", "Das hat nicht funktioniert"},
		{"static/none", "Das hat nicht funktioniert"},
		{"name/x%FF", "Das hat nicht funktioniert"},
	} {
		a := s.in("de-AT, en;q=0.5", tt.path)
		a.wantLanguage("de")
		a.want(a.Code, tt.german, "English")
		a = s.in("sv", tt.path)
		a.wantLanguage("en")
		a.without(tt.german)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, signin.Path, nil)
	r.Header.Set("Accept-Language", "de")
	s.pages.ShowSignIn(w, r, http.StatusOK, signin.View{Kind: signin.SignedOut})
	a := &answer{w, t}
	a.wantLanguage("de")
	a.want(200, "Sie haben diese Seiten verlassen.")
	r = httptest.NewRequest(http.MethodPost, Root+"new", strings.NewReader("name=x"))
	r.Header.Set("Accept-Language", "de")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	s.do(r).want(403, "Website")
}

// TestLanguageChoice chooses a language with the form of the footer.
func TestLanguageChoice(t *testing.T) {
	s := newSite(t)
	page := s.get("names?prefix=urn:dns:")
	form := page.form(languagePath)
	if got := form.Get("next"); got != Root+"names?prefix=urn:dns:" {
		t.Errorf("next is %q", got)
	}
	form.Set("lang", "de")
	a := s.as("").send("language", form) // also without a session
	a.wantSee(Root + "names?prefix=urn:dns:")
	if got, want := a.Header().Get("Set-Cookie"), "lang=de; Path=/-/ui/; Max-Age=31536000; HttpOnly; SameSite=Lax"; got != want {
		t.Errorf("cookie %q, want %q", got, want)
	}
	r := httptest.NewRequest(http.MethodGet, Root+"names", nil)
	r.AddCookie(a.Result().Cookies()[0])
	r.Header.Set("Accept-Language", "en")
	s.do(r).wantLanguage("de")
}

// TestLanguageChoiceRejects: the choice redirects only to pages, and takes only our languages.
func TestLanguageChoiceRejects(t *testing.T) {
	s := newSite(t)
	for _, next := range []string{"", "https://evil.example/", "//evil.example/", "/", `/-/ui/\evil`, "/-/ui/../..//evil.example", "/-/ui/\r\nX: y"} {
		s.post("language", "lang", "de", "next", next).wantSee(Root)
	}
	for _, lang := range []string{"", "ja", "de; Domain=example", "de\r\nX: y", "DE"} {
		a := s.post("language", "lang", lang, "next", Root)
		if a.Code != 400 || a.Header().Get("Set-Cookie") != "" {
			t.Errorf("%q: got %d, %v", lang, a.Code, a.Header())
		}
	}
	if a := s.get("language?lang=de"); a.Code != 404 || a.Header().Get("Set-Cookie") != "" {
		t.Errorf("GET: got %d, %v", a.Code, a.Header())
	}
	r := httptest.NewRequest(http.MethodPost, Root+"language", strings.NewReader(url.Values{"lang": {"de"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if a := s.do(r); a.Code != 403 || a.Header().Get("Set-Cookie") != "" {
		t.Errorf("from another site: got %d, %v", a.Code, a.Header())
	}
}

// A page that shows what was entered has no choice of languages, which would lose the text.
func TestNoLanguageChoiceWithInput(t *testing.T) {
	s := newSite(t)
	if !has(s.get("new").elements("form"), languagePath) {
		t.Error("the empty form has no choice of languages")
	}
	a := s.post("new", "do", "save", "name", "not a name", "locations", "0", "metadata", "0")
	a.want(422, "not a name")
	if has(a.elements("form"), languagePath) {
		t.Error("the choice of a language would lose what was entered")
	}
}

// has reports whether one of the forms has an action.
func has(forms []*html.Node, action string) bool {
	for _, f := range forms {
		if attribute(f, "action") == action {
			return true
		}
	}
	return false
}

// An answer of an identity provider cannot be sent again.
func TestLanguageChoiceAfterProvider(t *testing.T) {
	s := newSite(t)
	for target, want := range map[string]string{signin.Path + "/at/uni/callback?code=x": signInPath, signin.Path + "?next=%2F": signin.Path + "?next=%2F"} {
		w := httptest.NewRecorder()
		s.pages.ShowSignIn(w, httptest.NewRequest(http.MethodGet, target, nil), http.StatusOK, signin.View{Kind: signin.Choose})
		if got := (&answer{w, t}).form(languagePath).Get("next"); got != want {
			t.Errorf("%s: next is %q, want %q", target, got, want)
		}
	}
}

// What is wrong with the input is in German if it is a text of the pages, and marked as English if
// it is a message of the API.
func TestLanguageOfFaults(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct {
		typed, url, fault, lang string
	}{
		{"not a name", "", "Fehler an Position", "de"},
		{"urn:dns:example.org:new", "javascript:alert(1)", "javascript", "en"},
	} {
		form := url.Values{"do": {"save"}, "name": {tt.typed}, "status": {"active"}, "locations": {"1"}, "location-0-url": {tt.url}, "metadata": {"0"}}
		r := httptest.NewRequest(http.MethodPost, Root+"new", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept-Language", "de")
		a := s.do(r)
		a.wantLanguage("de")
		a.want(422, "Es ist ein Problem aufgetreten", tt.fault)
		found := 0
		for _, n := range append(a.elements("li"), a.elements("p")...) {
			if strings.Contains(textOf(n), tt.fault) {
				found++
				if got := attribute(n, "lang"); got != tt.lang {
					t.Errorf("%q is in %q, want %q", textOf(n), got, tt.lang)
				}
			}
		}
		if found != 2 { // in the summary and at the field
			t.Errorf("%q is on the page %d times:\n%s", tt.fault, found, a.Body)
		}
	}
}

// textOf returns the text in an element.
func textOf(n *html.Node) (text string) {
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text += d.Data
		}
	}
	return text
}
