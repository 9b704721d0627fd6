package pages

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/signin"
)

const sessionCookie = "__Host-nomen"

// redirectTricks are targets outside of the pages that careless checks accept.
func redirectTricks() []string {
	return []string{
		"https://evil.example/", "http://evil.example/-/ui/", "//evil.example/-/ui/", "///evil.example/-/ui/", "////evil.example", `/\evil.example/-/ui/`, `\/evil.example`, `\\evil.example`,
		`/-/ui/\evil.example`, "/-/ui/..//evil.example", "/-/ui/../..//evil.example", "/-/ui/%2e%2e//evil.example", "/-/ui/%2e%2e/%2e%2e/", "/-/ui/.%2e/x", "/-/ui/..%2f..%2f", "/-/ui/..;/x",
		"/-/ui@evil.example", "@evil.example/-/ui/", ":@evil.example/-/ui/", "https:evil.example", "https:/evil.example", "https:///evil.example", "HTTPS://evil.example", "javascript:alert(1)//-/ui/",
		"JaVaScRiPt:alert(1)", "data:text/html,-/ui/", "vbscript:x", "blob:/-/ui/", "ftp://evil.example/-/ui/", "\t//evil.example", " //evil.example", "/\t/evil.example/-/ui/", "/\r/evil.example", "/-/ui/\r\nLocation: https://evil.example/",
		"/-/ui/\nX: y", "/-/ui", "/", "", "?next=//evil.example", "#//evil.example", "-/ui/", "./-/ui/", "../-/ui/", "/api/v1/users", "/-/uix/", "/-/UI/", "/%2f/evil.example/-/ui/", "/%5cevil.example/-/ui/", "%2f%2fevil.example",
		"\u2028//evil.example", "\u3002evil.example", "/-/ui/sign-out", "/-/ui/sign-in", "/-/ui/sign-in/at/uni", "/-/ui/x/%2e./%2e./%2e./x", "/-/ui/\x00//evil.example", "/-/ui/%00/..", "/-/ui/" + strings.Repeat("a", 5000), "http:\\\\evil.example", "x://evil.example\\@127.0.0.1/-/ui/",
	}
}

// wantInside checks that a redirection leads to a page of this site, however a client reads it.
func wantInside(t *testing.T, what, location string) {
	t.Helper()
	u, err := url.Parse(location)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(location, Root) || strings.ContainsAny(location, "\\\r\n\t\x00") ||
		!strings.HasPrefix(path.Clean(u.Path)+"/", Root) || strings.HasPrefix(u.Path, Root+"sign-") {
		t.Errorf("%q leads to %q", what, location)
	}
}

// TestAttackRedirect: after signing in, and after choosing a language, people are on a page.
func TestAttackRedirect(t *testing.T) {
	w := newWhole(t, nil)
	if n := len(redirectTricks()); n < 40 {
		t.Errorf("only %d tricks", n)
	}
	for _, next := range redirectTricks() {
		w.pass(time.Second) // the oldest sessions end
		r := w.guest().signIn("editor", next)
		if r.StatusCode != 303 {
			t.Fatalf("%q: got %d:\n%s", next, r.StatusCode, r.body)
		}
		wantInside(t, next, r.Header.Get("Location"))
		g := w.guest()
		g.signIn("editor", Root)
		wantInside(t, next, g.do("GET", "/-/ui/sign-in?next="+url.QueryEscape(next), nil).Header.Get("Location"))
		if location := g.do("POST", "/-/ui/language", url.Values{"lang": {"de"}, "next": {next}}).Header.Get("Location"); !strings.HasPrefix(next, "/-/ui/sign-") {
			wantInside(t, next, location)
		}
	}
	for _, next := range []string{"/-/ui/names?q=a%2Fb", "/-/ui/name/urn%3Ax%3Ay/edit"} {
		if got := w.guest().signIn("editor", next).Header.Get("Location"); got != next {
			t.Errorf("%q leads to %q", next, got)
		}
	}
}

// TestAttackFixation: a session that another user has put into the browser does not become that
// of the person who signs in, and signing in ends the session before.
func TestAttackFixation(t *testing.T) {
	w := newWhole(t, nil)
	thief := w.guest()
	thief.signIn("other", Root)
	planted := thief.cookies[sessionCookie]
	for _, cookie := range []string{planted, "u-editor00.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "x"} {
		g := w.guest()
		g.cookies[sessionCookie] = cookie
		g.signIn("editor", Root)
		if got := g.cookies[sessionCookie]; got == cookie || !strings.HasPrefix(got, "u-editor00.") {
			t.Errorf("after signing in the cookie is %q", got)
		}
		if r := g.do("GET", Root, nil); !strings.Contains(r.body, "Zoe Zhang") {
			t.Errorf("got %d:\n%s", r.StatusCode, r.body)
		}
		before := g.cookies[sessionCookie]
		g.signIn("editor", Root)
		old := w.guest()
		old.cookies[sessionCookie] = before
		if r := old.do("GET", Root, nil); r.StatusCode != 303 {
			t.Errorf("the session before is still valid: %d", r.StatusCode)
		}
	}
	g := w.guest()
	g.signIn("editor", Root)
	good := g.cookies[sessionCookie]
	thief.signIn("other", Root)
	planted = thief.cookies[sessionCookie] // the one before has ended
	for _, cookies := range []string{
		sessionCookie + "=" + planted + "; " + sessionCookie + "=" + good, // two: which is whose?
		sessionCookie + "=" + good + "x", sessionCookie + "=" + strings.Replace(good, "u-editor00", "u-admin000", 1), sessionCookie + "=" + strings.ToUpper(good),
		"__host-nomen=" + good, "nomen=" + good, sessionCookie + "=\"" + good + ".\"", "__Host-nomen-flow=" + good,
	} {
		if r := w.guest().do("GET", Root, nil, "Cookie", cookies); r.StatusCode != 303 {
			t.Errorf("%q: got %d", cookies, r.StatusCode)
		}
	}
}

// TestAttackForgedFields: no field of a request names a user or another host.
func TestAttackForgedFields(t *testing.T) {
	w := newWhole(t, func(s *signin.Settings) {
		s.Header, s.IsProxy = "X-Remote-User", func(*http.Request) bool { return false }
	})
	plain := w.guest().do("GET", Root, nil)
	for _, field := range []string{
		"Remote-User", "REMOTE_USER", "Remote_User", "X-Forwarded-User", "X-Auth-Request-User", "X-Auth-Request-Email", "X-User", "X-Forwarded-Preferred-Username", "X-Webauth-User", "Authorization", "Proxy-Authorization",
		"X-Forwarded-For", "X-Real-Ip", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "X-Forwarded-Port", "Forwarded", "X-Original-Url", "X-Rewrite-Url", "X-Host", "X-Http-Host-Override", "True-Client-Ip",
	} {
		for _, value := range []string{"admin", "u-admin000", "header admin", "evil.example", "for=127.0.0.1;host=evil.example;proto=https", "Bearer u-admin000", "/-/ui/tokens", "127.0.0.1"} {
			r := w.guest().do("GET", Root, nil, field, value)
			if r.StatusCode != plain.StatusCode || r.Header.Get("Location") != plain.Header.Get("Location") || r.body != plain.body {
				t.Errorf("%s: %s: got %d to %q", field, value, r.StatusCode, r.Header.Get("Location"))
			}
		}
	}
	for _, field := range []string{"X-Remote-User", "x-remote-user", "X-REMOTE-USER"} {
		if r := w.guest().do("GET", Root, nil, field, "admin"); r.StatusCode != 403 {
			t.Errorf("%s: got %d", field, r.StatusCode)
		}
	}
}

// TestAttackHost: a request for another host gets no page, so that no name that an attacker points
// at this address is the origin of pages.
func TestAttackHost(t *testing.T) {
	w := newWhole(t, nil)
	g := w.guest()
	g.signIn("admin", Root)
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil.example", "", "evil.example#localhost"} {
		for _, target := range []string{Root, "/-/ui/sign-in", "/-/ui/static/" + styleName(), "/-/ui/sign-in/at/uni"} {
			got := g.raw(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\nConnection: close\r\n\r\n", target, host, sessionCookie, g.cookies[sessionCookie]))
			if got.StatusCode != 421 && got.StatusCode != 400 || strings.Contains(got.body, "Anna Berg") || got.Header.Get("Location") != "" {
				t.Errorf("Host %q, %s: got %d", host, target, got.StatusCode)
			}
		}
	}
	own := strings.TrimPrefix(w.url, "http://")
	if got := g.raw("GET " + Root + " HTTP/1.1\r\nHost: " + own + "\r\nHost: evil.example\r\nConnection: close\r\n\r\n"); got.StatusCode != 400 {
		t.Errorf("two Host fields: got %d", got.StatusCode)
	}
	if got := g.raw("GET http://evil.example" + Root + " HTTP/1.1\r\nHost: " + own + "\r\nConnection: close\r\n\r\n"); got.StatusCode != 421 {
		t.Errorf("another host in the target: got %d", got.StatusCode)
	}
}

// raw sends the bytes of a request.
func (g *guest) raw(request string) reply {
	g.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		g.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, request); err != nil {
		g.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		g.Fatalf("%q: %v", request, err)
	}
	body, _ := io.ReadAll(resp.Body)
	return reply{resp, string(body)}
}

// TestAttackPaths: no spelling of a path gets around the check of the session, or leads elsewhere.
func TestAttackPaths(t *testing.T) {
	w := newWhole(t, nil)
	own := strings.TrimPrefix(w.url, "http://")
	for _, target := range []string{
		"/-/ui//", "/-/ui//names", "/-/ui/./names", "/-/ui/x/../names", "/-/ui/%2e%2e/ui/names", "/-/ui/%2e/names", "/-%2fui/names", "/-/ui%2fnames", "/-/ui/names%2f", "/-/ui/names/", "/-/ui/names;x", "/-/ui/names%00", "/-/ui/names%3fq=",
		"/-/ui/static/../names", "/-/ui/static/%2e%2e/names", "/-/ui/static/..%2fnames", "/-/ui/static/" + styleName() + "/../../names", "/-/ui/sign-in/../names", "/-/ui/sign-in/..%2f../names", "/-/ui/sign-in/at/uni/../../../names", "/-/ui/sign-out/../names",
		"//-/ui/names", "/./-/ui/names", "/x/../-/ui/names", "/api/v1/../../-/ui/names", "/-/ui/../../api/v1/names", "/-/ui/..%2f..%2fapi/v1/names", "/-/ui//evil.example/..", "/-/ui/..//evil.example/x", `/-/ui/..\..\evil`, "/-/UI/names", "/-/ui/NAMES", "/-/ui/\xff", "/-/ui/name/", "/-/ui/name/..", "/-/ui/name/%2e%2e",
		"/-/ui/name/" + strings.TrimPrefix(nameAt(alb), "name/") + "%2fedit", "/-/ui/name//edit",
	} {
		for _, cookie := range []string{"", "other"} {
			g := w.guest()
			if cookie != "" {
				g.signIn(cookie, Root)
			}
			got := g.raw(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\nConnection: close\r\n\r\n", target, own, sessionCookie, g.cookies[sessionCookie]))
			location := got.Header.Get("Location")
			if u, err := url.Parse(location); err != nil || u.Host != "" || u.IsAbs() || strings.HasPrefix(location, "//") || strings.ContainsAny(location, "\\") {
				t.Errorf("%s leads to %q", target, location)
			}
			if strings.Contains(got.body, "alb002") && strings.Contains(got.body, "second album") {
				t.Errorf("%s (%s): got %d:\n%s", target, cookie, got.StatusCode, got.body)
			}
			if cookie == "" && got.StatusCode == 200 {
				t.Errorf("%s without a session: got 200:\n%s", target, got.body)
			}
		}
	}
}

// TestAttackSignInCrossSite: pages of other sites can neither sign people in, as the attacker, nor
// out.
func TestAttackSignInCrossSite(t *testing.T) {
	w := newWhole(t, nil)
	g := w.guest()
	g.signIn("editor", Root)
	link, _, err := w.manager.Link(t.Context(), "u-admin000")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(link, "code=")
	before := g.cookies[sessionCookie]
	for _, target := range []string{"/-/ui/sign-in/link", "/-/ui/sign-in/end-all", "/-/ui/sign-out", "/-/ui/language"} {
		for _, fields := range crossSite() {
			r := g.do("POST", target, url.Values{"code": {code}, "lang": {"de"}}, "Sec-Fetch-Site", fields.Get("Sec-Fetch-Site"), "Origin", fields.Get("Origin"))
			if r.StatusCode != 403 || len(r.Cookies()) > 0 {
				t.Errorf("%s %v: got %d, %v", target, fields, r.StatusCode, r.Cookies())
			}
		}
		if r := g.do("GET", target+"?code="+code, nil); len(r.Cookies()) > 0 {
			t.Errorf("GET %s sets %v", target, r.Cookies())
		}
	}
	if r := g.do("GET", Root, nil); r.StatusCode != 200 || g.cookies[sessionCookie] != before {
		t.Errorf("signed out: %d", r.StatusCode)
	}
	if r := w.guest().do("POST", "/-/ui/sign-in/link", url.Values{"code": {code}}); r.StatusCode != 303 {
		t.Errorf("the link does not work any more: %d", r.StatusCode)
	}
	for _, target := range []string{"/api/v1/users", "/api/v1/names"} { // the session is for pages only
		if r := g.do("GET", target, nil); r.StatusCode != 401 {
			t.Errorf("%s: got %d", target, r.StatusCode)
		}
	}
}
