package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/fetchtest"
	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/uri"
)

// inside returns hosts that untrusted locators must not reach, as spelled in locators: each
// kind of address in each spelling.
func inside() []string {
	return []string{
		"127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0X7F.1", "017700000001", "0177.0.0.1", "0x7f.0.0.0x1", "127.0.0.1.",
		"%31%32%37.0.0.1", "0", "0.0.0.0", "00", "0x0",
		"10.0.0.1", "012.0.0.1", "0xa.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "3232235777", "0xc0a80101", "192.168.257",
		"169.254.169.254", "0xA9FEA9FE", "2852039166", "169.254.43518", "100.64.0.1", "198.18.0.1", "192.0.2.1", "224.0.0.1", "255.255.255.255", "240.0.0.1",
		"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:10.0.0.1]",
		"[64:ff9b::127.0.0.1]", "[64:ff9b::a00:1]", "[2002:7f00:1::]", "[2002:c0a8:101::1]", "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]",
		"%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1", // full-width digits
		"localhost", "LOCALHOST", "localhost.", "inside.example", "both.example", "mapped.example",
	}
}

func insideWorld() *world {
	w := newWorld()
	for _, name := range []string{"localhost", "LOCALHOST", "localhost."} {
		w.host(name, "127.0.0.1 ::1")
	}
	w.host("inside.example", "10.1.2.3")
	w.host("both.example", "127.0.0.1 192.168.0.1 fc00::1")
	w.host("mapped.example", "::ffff:127.0.0.1")
	return w
}

func TestStrangersDoNotLeadInside(t *testing.T) {
	for _, scheme := range []string{"http", "https", "ftp", "gopher", "whois", "nntp"} {
		for _, host := range inside() {
			w := insideWorld()
			f := w.fetcher(t, Options{})
			location := scheme + "://" + host + "/g.x"
			u, err := uri.Parse(location)
			if err != nil {
				t.Errorf("%s: invalid URI: %v", location, err)
				continue
			}
			o, err := f.Fetch(t.Context(), u, Request{})
			var refused *RefusedError
			var private *guard.AddressError
			if !errors.As(err, &refused) || !errors.As(err, &private) {
				t.Errorf("%s: %v, %v; want a refusal of the address", location, o, err)
			}
			if len(w.dialed) > 0 {
				t.Errorf("%s: dialled %q", location, w.dialed)
			}
		}
	}
}

// The same applies if a public server redirects there, or a resolver returns the location.
func TestStrangersDoNotRedirectInside(t *testing.T) {
	next := ""
	_, port, _ := strings.Cut(serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", next)
		w.WriteHeader(302)
	}), ":")
	for _, host := range inside() {
		w := insideWorld()
		w.host("www.example", publicOne)
		w.routes[publicOne] = "127.0.0.1"
		next = "http://" + host + "/"
		for _, start := range []string{"http://www.example:" + port, "urn:example:a"} {
			for _, r := range []Request{own, {}} {
				names := oneName{&nomen.Answer{Locations: []nomen.Location{{URL: next}}}}
				f := w.fetcher(t, Options{Resolver: names, Guarded: names})
				_, _, err := read(t, f, start, r)
				var private *guard.AddressError
				if !errors.As(err, &private) {
					t.Errorf("%s to %s: %v", start, next, err)
				}
			}
		}
		for _, a := range w.dialed {
			if !strings.HasPrefix(a, publicOne+":") {
				t.Errorf("%s: dialled %s", next, a)
			}
		}
	}
}

// A name whose address is public when looked up and private a moment later is not dangerous: the
// connection goes to the address that was checked.
func TestRebinding(t *testing.T) {
	secret := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "secret") })
	_, port, _ := strings.Cut(secret, ":")
	public := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/again" {
			w.Header().Set("Location", "http://evil.example:"+port+"/")
			w.WriteHeader(302)
			return
		}
		io.WriteString(w, "public")
	})
	for _, answers := range [][]string{
		{publicOne, "127.0.0.1"},
		{publicOne, publicOne + " 127.0.0.1", "127.0.0.1"},
	} {
		w := newWorld()
		w.host("evil.example", answers...)
		w.routes[publicOne+":"+port] = public
		w.routes["127.0.0.1:"+port] = secret
		f := w.fetcher(t, Options{})
		want(t, f, "http://evil.example:"+port+"/", Request{}, "public")
		f.Close() // no connection is kept
		for range 3 {
			_, got, err := read(t, f, "http://evil.example:"+port+"/again", Request{})
			if err == nil && got != "public" || strings.Contains(got, "secret") {
				t.Errorf("%q: got %q", answers, got)
			}
		}
		if slices.Contains(w.dialed, "127.0.0.1:"+port) {
			t.Errorf("%q: dialled %q", answers, w.dialed)
		}
	}
}

// A locator from the user may have a private address and may redirect to the same address. It must
// not lead to other private addresses, not even over an open connection.
func TestOwnWord(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "other") })
	at := ""
	at = serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/plain", http.StatusFound)
		case "/there":
			http.Redirect(w, r, "http://"+other+"/", http.StatusFound)
		default:
			site(w, r)
		}
	})
	f := newFetcher(t, Options{})
	want(t, f, "http://"+at+"/here", own, "plain text")
	want(t, f, "http://"+other+"/", own, "other")
	var refused *RefusedError
	for _, tt := range []struct {
		location string
		request  Request
	}{{"http://" + at + "/there", own}, {"http://" + at + "/plain", Request{}}, {"http://" + other + "/", Request{}}} {
		if _, got, err := read(t, f, tt.location, tt.request); !errors.As(err, &refused) {
			t.Errorf("%s: %q, %v", tt.location, got, err)
		}
	}
	allowed := newFetcher(t, Options{AllowPrivate: true})
	want(t, allowed, "http://"+at+"/there", Request{}, "other")
}

// Untrusted locators may share a connection to one server, since its address was checked.
func TestKeptConnections(t *testing.T) {
	at := serve(t, site)
	_, port, _ := strings.Cut(at, ":")
	w := newWorld()
	w.host("www.example", publicOne)
	w.routes[publicOne] = "127.0.0.1"
	f := w.fetcher(t, Options{})
	for range 3 {
		want(t, f, "http://www.example:"+port+"/plain", Request{}, "plain text")
	}
	if len(w.dialed) != 1 {
		t.Errorf("dialled %q, want one connection", w.dialed)
	}
}

func TestDangers(t *testing.T) {
	w := newWorld()
	w.host("www.example", publicOne)
	f := w.fetcher(t, Options{Schemes: nil})
	for _, r := range []Request{own, {}} {
		for _, location := range []string{"javascript:alert(1)", "JavaScript:alert(1)", "vbscript:x"} {
			var refused *RefusedError
			if _, _, err := read(t, f, location, r); !errors.As(err, &refused) {
				t.Errorf("%s: %v", location, err)
			}
		}
	}
	for _, location := range []string{
		"file:///etc/passwd", "FILE:/etc/passwd", "file://localhost/etc/passwd", "afs://cell.example/x",
		"http://user@www.example/", "http://user:pw@www.example/", "ftp://joe:pw@www.example/x", "news://u:p@www.example/a@b.example",
		"http://www.example:25/", "http://www.example:22/", "gopher://www.example:6667/1x", "http://www.example:6000/", "ftp://www.example:22/x", "http://www.example:99999/",
	} {
		var refused *RefusedError
		if _, _, err := read(t, f, location, Request{}); !errors.As(err, &refused) {
			t.Errorf("%s: %v", location, err)
		} else if strings.Contains(err.Error(), "pw@") {
			t.Errorf("%s: the password is shown: %v", location, err)
		}
	}
	if len(w.dialed)+len(w.asked) > 0 {
		t.Errorf("dialled %q, looked up %q", w.dialed, w.asked)
	}
	web := w.fetcher(t, Options{Schemes: []string{"HTTP", "https"}})
	var refused *RefusedError
	for _, location := range []string{"ftp://www.example/x", "gopher://www.example/", "data:,x", "whois://www.example/x"} {
		if _, err := web.Location(t.Context(), location); !errors.As(err, &refused) {
			t.Errorf("%s: %v", location, err)
		}
	}
	for _, location := range []string{"", "a/b", "//www.example/", "http://", "http://a\r\nb/"} {
		if _, err := web.Location(t.Context(), location); err == nil {
			t.Errorf("%q: no error", location)
		}
	}
}

// TestOthersLeadToLocations has a server redirect to targets that no location may have. A
// redirection may lead only to what a record could also have as location.
func TestOthersLeadToLocations(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Location"] = []string{r.URL.RawQuery}
		w.WriteHeader(302)
	})
	f := newFetcher(t, Options{AllowPrivate: true})
	for _, location := range []string{
		"ms-msdt:/id", "ssh://-oProxyCommand=x/", "data:,x", "whois://127.0.0.1/x", "https://127.0.0.1:65536/", "ftp://127.0.0.1/a%0D%0ADELE%20b", "gopher://127.0.0.1/0a%0D%0Ab",
	} {
		var refused *RefusedError
		if _, _, err := read(t, f, "http://"+at+"/?"+location, own); !errors.As(err, &refused) {
			t.Errorf("%s: %v", location, err)
		}
		if _, err := f.Location(t.Context(), location); !errors.As(err, &refused) {
			t.Errorf("%s as a location: %v", location, err)
		}
	}
}

// Credentials are sent only to the origin for which the user gave them.
func TestCredentials(t *testing.T) {
	sent := func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "%s %s %s", user, password, r.Referer())
	}
	other := serve(t, sent)
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			w.Header().Set("Location", "/echo")
			w.WriteHeader(302)
		case "/there":
			w.Header().Set("Location", "http://"+other+"/")
			w.WriteHeader(302)
		case "/userinfo":
			w.Header().Set("Location", "http://a:b@"+r.Host+"/echo")
			w.WriteHeader(302)
		default:
			sent(w, r)
		}
	})
	f := newFetcher(t, Options{AllowPrivate: true})
	want(t, f, "http://joe:p%40w@"+at+"/", own, "joe p@w ")
	want(t, f, "http://joe:pw@"+at+"/here", own, "joe pw ")
	want(t, f, "http://joe:pw@"+at+"/there", own, "  ")
	var refused *RefusedError
	if _, got, err := read(t, f, "http://joe:pw@"+at+"/userinfo", own); !errors.As(err, &refused) {
		t.Errorf("credentials in a redirection: %q, %v", got, err)
	}
	o := want(t, f, "http://joe:pw@"+at+"/here", own, "joe pw ")
	if text := fmt.Sprintf("%+v", o.Chain) + o.URL; strings.Contains(text, "pw") {
		t.Errorf("the password is shown: %s", text)
	}
}

// The data connection does not reach an FTP server inside, either.
func TestDataConnectionIsGuarded(t *testing.T) {
	s := started(t)(fetchtest.FTP(fetchtest.Files{Texts: shelf, Tells: "127.0.0.1"}))
	_, port, _ := strings.Cut(s.Addr, ":")
	w := newWorld()
	w.host("files.example", publicOne, "127.0.0.1")
	w.routes[publicOne] = "127.0.0.1"
	f := w.fetcher(t, Options{})
	want(t, f, "ftp://files.example:"+port+"/etc/motd", Request{}, "hello")
	for _, a := range w.dialed {
		if !strings.HasPrefix(a, publicOne+":") {
			t.Errorf("dialled %s", a)
		}
	}
}

// Exactly the addresses that package guard rejects are rejected.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1}, true)
	f.Add([]byte{8, 8, 8, 8}, true)
	f.Add(netip.MustParseAddr("::ffff:10.0.0.1").AsSlice(), false)
	f.Fuzz(func(t *testing.T, b []byte, guarded bool) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		ap := netip.AddrPortFrom(a, 80)
		got, want := (policy{guarded: guarded}).check(ap) != nil, guarded && guard.Check(a) != nil
		if got != want {
			t.Errorf("check(%s), guarded %v: refused %v, want %v", a, guarded, got, want)
		}
		if err := (policy{guarded: true, own: ap}).check(ap); err != nil {
			t.Errorf("check of the user's own %s: %v", ap, err)
		}
	})
}
