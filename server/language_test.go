package server

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/messages"
)

// inHTML makes a request as a browser does, in a language.
func inHTML(languages string) func(*request) {
	return func(r *request) { r.accept, r.languages = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", languages }
}

// pagesForPeople are targets with pages, and a text of each in four languages.
var pagesForPeople = []struct {
	target         string
	status         int
	en, de, fr, fi string
}{
	{"/", 200, "Look up a name", "Identifikator nachschlagen", "Rechercher un identifiant", "Hae tunnisteen tiedot"},
	{"/?name=urn:ietf:rfc:2648", 200, "What is this name?", "Was ist das für ein Identifikator?", "Quel est cet identifiant", "Mikä tämä tunniste on?"},
	{"/urn:ietf:rfc:2648?s=I2C", 200, "Where it leads", "Wohin er führt", "Où il mène", "Mihin tunniste johtaa"},
	{"/urn:ietf:rfc:2648?s=I2Ls", 200, "Where it leads", "Wohin er führt", "Où il mène", "Mihin tunniste johtaa"},
	{"/urn:dns:example.org:split?s=I2C", 410, "This name was retired", "wurde am 19.11.2026, 08:30 Uhr UTC stillgelegt", "a été retiré le 19/11/2026", "poistettiin käytöstä 19.11.2026 klo 08.30"},
	{"/urn:dns:example.org:none", 404, "The name was not found", "Der Identifikator wurde nicht gefunden", "L’identifiant est introuvable", "Tunnistetta ei löytynyt"},
	{"/urn:example:%zz", 400, "The name is malformed", "Der Identifikator ist fehlerhaft", "L’identifiant est mal formé", "Tunniste on virheellinen"},
	{"/-/registry/", 200, "What this server knows", "Was dieser Server über Identifikatoren weiß", "Ce que ce serveur sait", "Mitä tämä palvelin tietää"},
	{"/-/registry/no.html", 404, "Page not found", "Diese Seite gibt es nicht", "Cette page n’existe pas", "Sivua ei ole"},
	{"/-/nothing", 404, "Page not found", "Diese Seite gibt es nicht", "Cette page n’existe pas", "Sivua ei ole"},
}

// TestLanguages: pages are in the language that the client prefers. Their fields say so, also in
// responses to HEAD and in 304.
func TestLanguages(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, tt := range pagesForPeople {
		tags := map[string]bool{}
		for tag, text := range map[string]string{"en": tt.en, "de": tt.de, "fr": tt.fr, "fi": tt.fi} {
			p := ask(s, tt.target, inHTML("sv, "+tag+";q=0.9"))
			if body := string(p.body); p.status != tt.status || !strings.Contains(body, "<html lang=\""+tag+"\">") || !strings.Contains(strings.ReplaceAll(body, "</time>", ""), text) && !strings.Contains(withoutTags(body), text) {
				t.Errorf("%s in %s: %d, want %d with %q:\n%s", tt.target, tag, p.status, tt.status, text, withoutTags(body))
			}
			wantLanguageFields(t, p, tag)
			head := ask(s, tt.target, inHTML(tag), func(r *request) { r.method = http.MethodHead })
			wantLanguageFields(t, head, tag)
			if tags[p.get("ETag")] && p.get("ETag") != "" {
				t.Errorf("%s: two languages have the entity tag %s", tt.target, p.get("ETag"))
			}
			tags[p.get("ETag")] = true
		}
	}
}

// withoutTags returns the text of a page.
func withoutTags(page string) string {
	var b strings.Builder
	for i, part := range strings.Split(page, "<") {
		if _, text, ok := strings.Cut(part, ">"); ok && i > 0 && !strings.HasPrefix(part, "style") {
			b.WriteString(text)
		}
	}
	return b.String()
}

func wantLanguageFields(t *testing.T, p *reply, tag string) {
	t.Helper()
	var vary []string
	for _, f := range p.fields {
		if f.name == "Vary" {
			vary = append(vary, strings.Split(f.value, ", ")...)
		}
	}
	for _, field := range []string{"Accept", "Accept-Language", "Cookie"} {
		if n := len(slices.DeleteFunc(slices.Clone(vary), func(s string) bool { return s != field })); n != 1 {
			t.Errorf("Vary has %s %d times: %q", field, n, vary)
		}
	}
	if got := p.get("Content-Language"); got != tag {
		t.Errorf("Content-Language is %q, want %q", got, tag)
	}
}

// A page in one language is not modified for a client that has the page in that language only.
func TestLanguagesOfCopies(t *testing.T) {
	s, _ := newTestServer(t, nil)
	const target = "/urn:ietf:rfc:2648?s=I2C"
	english := ask(s, target, inHTML("en"))
	again := func(languages string) *reply {
		return ask(s, target, inHTML(languages), func(r *request) { r.ifNoneMatch = english.get("ETag") })
	}
	if p := again("en"); p.status != http.StatusNotModified || p.get("Vary") != english.get("Vary") {
		t.Errorf("got %d, Vary %q, want 304 and %q", p.status, p.get("Vary"), english.get("Vary"))
	}
	if p := again("fi"); p.status != http.StatusOK {
		t.Errorf("in another language: got %d, want 200", p.status)
	}
}

// Responses for programs, and redirects, do not depend on the language of texts: they are the
// same octets with and without it.
func TestLanguagesOfPrograms(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, accept := range []string{"", "*/*", "application/json", "text/plain", "application/problem+json", "text/uri-list", "application/ld+json", "none/none"} {
		for _, tt := range pagesForPeople {
			for _, target := range []string{tt.target, strings.TrimSuffix(tt.target, "?s=I2C")} {
				want := ask(s, target, accepting(accept))
				got := ask(s, target, accepting(accept), speaking("fi"), func(r *request) { r.language = "de" })
				if strings.HasPrefix(want.get("Content-Type"), format.TypeHTML) && !isRedirect(want.status) {
					continue
				}
				if got.status != want.status || !slices.Equal(got.fields, want.fields) || !bytes.Equal(got.body, want.body) {
					t.Errorf("%s, Accept %q: %d %v\n%s\nwant %d %v\n%s", target, accept, got.status, got.fields, got.body, want.status, want.fields, want.body)
				}
				if want.has("Content-Language") || strings.Contains(want.get("Vary"), "Cookie") {
					t.Errorf("%s, Accept %q: %v", target, accept, want.fields)
				}
			}
		}
	}
	if p := ask(s, "/urn:ietf:rfc:2648", inHTML("fi")); !isRedirect(p.status) || p.has("Content-Language") || strings.Contains(p.get("Vary"), "Cookie") {
		t.Errorf("a redirect in a browser: %d %v", p.status, p.fields)
	}
}

// Errors of the server, and of the Accept field, are pages in the language of the client too.
func TestLanguagesOfFailures(t *testing.T) {
	s, _ := newTestServer(t, nil)
	r := &request{method: "GET", target: "/x", version: version{1, 1}, host: "example.org"}
	inHTML("fi")(r)
	p := s.failure(r, errors.New("broken"))
	if !strings.Contains(string(p.body), "Palvelussa on häiriö") {
		t.Errorf("got %s", p.body)
	}
	wantLanguageFields(t, p, "fi")
	p = s.notAcceptable(r, offersFor("I2C"))
	if !strings.Contains(string(p.body), "Sopivaa muotoa ei ole") {
		t.Errorf("got %s", p.body)
	}
	wantLanguageFields(t, p, "fi")
	kind := ask(s, format.ProblemPath+"unknown-name", inHTML("fi")) // its text is in English only
	if !strings.Contains(string(kind.body), `<html lang="en">`) || kind.get("Vary") != "Accept" || strings.Contains(string(kind.body), languagePath) {
		t.Errorf("got %v\n%s", kind.fields, kind.body)
	}
}

// Clients of 1995 send no languages. What they get is in English.
func TestLanguageOfElements(t *testing.T) {
	s, _ := newTestServer(t, nil)
	p := ask(s, "urn:dns:example.org:none", accepting("text/html"), func(r *request) { r.version = version{0, 9} })
	if !strings.Contains(string(p.body), `<html lang="en">`) || strings.Contains(string(p.body), languagePath) {
		t.Errorf("got %s", p.body)
	}
	p = ask(s, "urn:dns:example.org:old", accepting("text/html"), func(r *request) { r.version = version{0, 9} })
	if !isRedirect(p.status) || !strings.Contains(string(p.body), `<html lang="en">`) {
		t.Errorf("got %d %s", p.status, p.body)
	}
	wantLanguageFields(t, p, "en")
}

// A page at the URL of another server cannot offer the choice, which is at a path of this server.
func TestLanguageOfOtherHosts(t *testing.T) {
	s, _ := newTestServer(t, nil)
	p := ask(s, "http://www.example.com/x", inHTML("fi"))
	if p.status != http.StatusMisdirectedRequest || !strings.Contains(string(p.body), `<html lang="fi">`) || strings.Contains(string(p.body), languagePath) {
		t.Errorf("got %d %s", p.status, p.body)
	}
	wantLanguageFields(t, p, "fi")
	r, h := &request{method: "GET", target: "http://www.example.com/x", languages: "fi"}, http.Header{}
	body := string(s.showRefusal(r, h, http.StatusForbidden, "why"))
	if h.Get("Content-Language") != "fi" || !strings.Contains(body, `<html lang="fi">`) || strings.Contains(body, languagePath) {
		t.Errorf("a request that is not forwarded: %v\n%s", h, body)
	}
}

// TestChooseLanguage chooses a language with the form of a page, over HTTP.
func TestChooseLanguage(t *testing.T) {
	s, _ := newTestServer(t, nil)
	h := http.StripPrefix("/names", s.Public())
	get := func(target string, change func(*http.Request)) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(http.MethodGet, target, nil), httptest.NewRecorder()
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Accept-Language", "fr")
		change(r)
		h.ServeHTTP(w, r)
		return w
	}
	const page = "/names/urn:dns:example.org:none?s=I2C&at=2026-11-19"
	w := get(page, func(*http.Request) {})
	for _, part := range []string{`action="/names/-/language"`, `name="next" value="/urn:dns:example.org:none?s=I2C&amp;at=2026-11-19"`, `<html lang="fr">`, `<button class="plain" name="lang" value="fi" lang="fi">Suomi</button>`} {
		if !strings.Contains(w.Body.String(), part) {
			t.Errorf("the page lacks %s:\n%s", part, w.Body)
		}
	}
	w = get("/names/-/language?next=%2Furn%3Adns%3Aexample.org%3Anone%3Fs%3DI2C%26at%3D2026-11-19&lang=fi", func(*http.Request) {})
	if got := w.Header().Get("Set-Cookie"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != page || got != "lang=fi; Path=/names/; Max-Age=31536000; HttpOnly; SameSite=Lax" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d, %v", w.Code, w.Header())
	}
	for cookie, tag := range map[string]string{"fi": "fi", "ja": "fr", "": "fr"} {
		w = get(page, func(r *http.Request) { r.AddCookie(messages.NewCookie(cookie, "/")) })
		if got := w.Header().Get("Content-Language"); got != tag {
			t.Errorf("cookie %q: got %q, want %q", cookie, got, tag)
		}
	}
}

// The choice of a language redirects only to paths of this server, and sets only its languages.
func TestChooseLanguageIsSafe(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for next, want := range map[string]string{
		"":                          "/",
		"https://evil.example/":     "/https://evil.example/",
		"//evil.example/":           "/evil.example/",
		`/\evil.example/`:           "/%5Cevil.example/",
		`\\evil.example/`:           "/%5C%5Cevil.example/",
		"/\t/evil.example":          "/%09/evil.example",
		"/urn:x:1\r\nSet-Cookie: a": "/urn:x:1%0D%0ASet-Cookie:%20a",
		"/urn:ietf:rfc:2648?s=I2C":  "/urn:ietf:rfc:2648?s=I2C",
		"/urn:example:a%2Fb":        "/urn:example:a%2Fb",
	} {
		p := ask(s, languagePath+"?lang=de&next="+url.QueryEscape(next))
		if got := p.get("Location"); p.status != 303 || got != want {
			t.Errorf("%q: %d to %q, want %q", next, p.status, got, want)
		}
	}
	for _, lang := range []string{"", "ja", "DE", "de%3B%20Domain=example", "de%0D%0AX:y"} {
		if p := ask(s, languagePath+"?next=/&lang="+lang); p.status != 303 || p.has("Set-Cookie") {
			t.Errorf("%q: %d %v", lang, p.status, p.fields)
		}
	}
}
