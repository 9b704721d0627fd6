package signin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// newHeaderStage returns a stage whose proxy has the address 192.0.2.1:1234 of httptest.
func newHeaderStage(t *testing.T) *stage {
	return newStage(t, func(s *Settings) {
		s.Header = "x-remote-user"
		s.IsProxy = func(r *http.Request) bool { return r.RemoteAddr == "192.0.2.1:1234" }
	})
}

// through returns a request with fields of the proxy.
func (b *browser) through(target string, values ...string) *http.Request {
	r := b.request("GET", target, nil)
	r.Header["X-Remote-User"] = values
	return r
}

// TestHeader: the field of a proxy signs a user in, without a cookie.
func TestHeader(t *testing.T) {
	s := newHeaderStage(t)
	b := s.browser()
	session, err := s.nodes[0].Session(b.through(Root, " "+anna+" "))
	if err != nil || session == nil || session.ID != anna || session.Provider != ByHeader {
		t.Errorf("session %+v, %v", session, err)
	}
	if p := b.do(b.through(Path+"?next=/-/ui/names", anna)); p.to != "/-/ui/names" || len(p.cookies) > 0 {
		t.Errorf("got %+v", p)
	}
	b.do(b.through(Path, "u-nobody00")).want(t, 403, Unknown, "")
	s.people.change(anna, func(p *Person) { p.Disabled = true })
	if session, _ := s.nodes[0].Session(b.through(Root, anna)); session != nil {
		t.Error("a disabled user is signed in")
	}
	b.do(b.through(Path, anna)).want(t, 403, Disabled, "")
	s.wantCounts("proxy disabled 1, proxy unknown 1")
	b.link(zoe)
	for _, none := range []string{"", "(null)", " ", strings.Repeat("x", 1001)} {
		if session, _ := s.nodes[0].Session(b.through(Root, none)); session == nil || session.ID != zoe {
			t.Errorf("%.20q hides the cookie", none)
		}
	}
}

// TestForgedHeader: only the proxy can sign a user in.
func TestForgedHeader(t *testing.T) {
	s := newHeaderStage(t)
	b := s.browser()
	passed := 0
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed++ })
	forged := b.through(Root, anna)
	forged.RemoteAddr = "192.0.2.2:1234"
	for name, r := range map[string]*http.Request{"forged": forged, "doubled": b.through(Root, anna, zoe)} {
		if session, err := s.nodes[0].Session(r); session != nil || err != nil {
			t.Errorf("%s: session %+v, %v", name, session, err)
		}
		b.do(r).want(t, 403, Forged, "")
		s.nodes[0].Protect(next).ServeHTTP(httptest.NewRecorder(), r)
	}
	if passed > 0 {
		t.Error("passed on")
	}
	s.wantCounts("proxy invalid 4")
	s.nodes[0].Protect(next).ServeHTTP(httptest.NewRecorder(), b.through(Root, anna))
	s.nodes[0].Protect(next).ServeHTTP(httptest.NewRecorder(), b.request("GET", Root, nil))
	if passed != 2 {
		t.Error("rejected without reason")
	}
	s.setAll(func(s *Settings) { s.IsProxy = nil })
	if session, _ := s.nodes[0].Session(b.through(Root, anna)); session != nil {
		t.Error("signed in without a proxy")
	}
}

// TestSignOutOfProxy: only the proxy can end its own session.
func TestSignOutOfProxy(t *testing.T) {
	s := newHeaderStage(t)
	r := s.browser().through(signOutPath, anna)
	r.Method = "POST"
	s.browser().do(r).want(t, 200, SignedOut, "")
}
