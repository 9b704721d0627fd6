package links

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

const site = "site.example" // the host of TestBehaviours

// only returns a behaviour of a single location.
func only(b behaviour) behaviour {
	return func(f *faultServer, w http.ResponseWriter, r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "-0") && b(f, w, r)
	}
}

func always(status int) behaviour {
	return func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool { return statusIf(w, true, status) }
}

// cutOff sends the head and part of a response, and then closes the connection.
func cutOff(field, value string) behaviour {
	return func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
		if field != "" {
			w.Header().Set(field, value)
		}
		fmt.Fprint(w, "<title>cut")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// trickle sends a page octet by octet, for longer than a client should wait.
func trickle(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
	for {
		if _, err := io.WriteString(w, "a"); err != nil || r.Context().Err() != nil {
			return true
		}
		_ = http.NewResponseController(w).Flush()
		wait(r.Context(), time.Second, nil)
	}
}

func redirect(to string, status int) behaviour {
	return func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/item/") && !strings.HasSuffix(r.URL.Path, "/new") {
			http.Redirect(w, r, strings.ReplaceAll(to, "PATH", r.URL.Path), status)
			return true
		}
		return false
	}
}

// hops returns redirects that lead to the page after some hops.
func hops(n int) behaviour {
	return func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		if done := len(r.URL.RawQuery); done < n {
			http.Redirect(w, r, r.URL.Path+"?"+strings.Repeat("x", done+1), http.StatusFound)
			return true
		}
		return false
	}
}

func text(kind, body string) behaviour {
	return func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
		return true
	}
}

var bomb = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	return b.Bytes()
})

// answering serves connections with fixed octets, or drips them until the client closes if drip is set.
func answering(octets string, drip bool) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		go func() { _, _ = io.Copy(io.Discard, c) }()
		if !drip {
			_, _ = io.WriteString(c, octets)
			return
		}
		for i := 0; ; i++ {
			if _, err := c.Write([]byte{octets[i%len(octets)]}); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}
}

// certify gives a host a certificate for names, valid for some days around the time now.
func (f *faultServer) certify(h *faultHost, trusted bool, from, to time.Time, names ...string) {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: to, DNSNames: names,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		f.t.Fatal(err)
	}
	if trusted {
		parsed, err := x509.ParseCertificate(der)
		if err != nil {
			f.t.Fatal(err)
		}
		f.roots.AddCert(parsed)
	}
	h.tls = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

const longText = "the quick brown fox jumps over a lazy dog while many other animals of the forest watch quietly from behind old trees and wait for rain "

// A misbehaving is a way in which a host fails, with the verdict after some days.
type misbehaving struct {
	name   string
	set    func(f *faultServer, h *faultHost)
	scheme string // http if empty
	days   int
	want   Verdict // of the first location
	others Verdict // of the other locations; the same if 0
	// If want is Dead: days from the first check until the location is dead.
	least, most int
	reports     int             // how often the host is reported, or anyReports
	holds       func(Link) bool // what else is true of the first location; nil for nothing
}

const anyReports = -1

func behaves(b behaviour) func(*faultServer, *faultHost) {
	return func(_ *faultServer, h *faultHost) { h.behave = b }
}

func robotsOf(text string) func(*faultServer, *faultHost) {
	return func(_ *faultServer, h *faultHost) { h.robots = text }
}

func rawly(octets string, drip bool) func(*faultServer, *faultHost) {
	return func(_ *faultServer, h *faultHost) { h.raw = answering(octets, drip) }
}

func secure(trusted bool, from, to int, names ...string) func(*faultServer, *faultHost) {
	return func(f *faultServer, h *faultHost) {
		f.certify(h, trusted, f.now().AddDate(0, 0, from), f.now().AddDate(0, 0, to), names...)
	}
}

func looksUp(dns func(f *faultServer, h *faultHost, n int) ([]netip.Addr, error)) func(*faultServer, *faultHost) {
	return func(f *faultServer, h *faultHost) {
		h.dns = func(n int) ([]netip.Addr, error) { return dns(f, h, n) }
	}
}

func noSuchHost() error { return &net.DNSError{Err: "no such host", Name: site, IsNotFound: true} }

func noDNS() error        { return &net.DNSError{Err: "server misbehaving", Name: site, IsTemporary: true} }
func good(v Verdict) bool { return v == Good || v == Confirmed }

func misbehaviours() []misbehaving {
	stays := func(l Link) bool { return !l.Drifted }
	return []misbehaving{
		{name: "404", set: behaves(only(always(404))), days: 30, want: Dead, others: Good, least: 14, most: 21},
		{name: "404 to GET, 200 to HEAD", set: behaves(only(func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
			return statusIf(w, r.Method == http.MethodGet, 404)
		})), days: 30, want: Dead, others: Good, least: 14, most: 21},
		{name: "410", set: behaves(only(always(410))), days: 20, want: Dead, others: Good, least: 7, most: 8},
		{name: "404 on odd days", set: behaves(only(behaviours["odd-days"])), days: 200, want: Good, others: Good},
		{name: "5xx for three days in twenty", set: behaves(only(behaviours["three-days"])), days: 200, want: Good, others: Good},
		{name: "500 for a month", set: behaves(only(always(500))), days: 25, want: Failing, others: Good},
		{name: "500", set: behaves(only(always(500))), days: 60, want: Dead, others: Good, least: 30, most: 45},
		{name: "408", set: behaves(only(always(408))), days: 60, want: Dead, others: Good, least: 30, most: 45},
		{name: "401", set: behaves(only(always(401))), days: 200, want: Blocked, others: Good},
		{name: "402", set: behaves(only(always(402))), days: 200, want: Blocked, others: Good},
		{name: "403", set: behaves(only(always(403))), days: 200, want: Blocked, others: Good},
		{name: "407", set: behaves(only(always(407))), days: 200, want: Blocked, others: Good},
		{name: "451", set: behaves(only(always(451))), days: 200, want: Blocked, others: Good},
		{name: "429", set: behaves(behaviours["busy"]), days: 60, want: Blocked},
		{name: "403 to this agent", set: behaves(only(func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
			return statusIf(w, strings.HasPrefix(r.UserAgent(), "nomen"), 403)
		})), days: 60, want: Blocked, others: Good},
		{name: "a test for humans", set: behaves(only(behaviours["captcha"])), days: 60, want: Blocked, others: Good},
		{name: "405 to HEAD", set: behaves(behaviours["head-405"]), days: 60, want: Good},
		{name: "501 to HEAD", set: behaves(behaviours["head-501"]), days: 60, want: Good},
		{name: "HEAD hangs", set: behaves(behaviours["head-hangs"]), days: 60, want: Good},
		{name: "400 to HEAD", set: behaves(func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
			return statusIf(w, r.Method == http.MethodHead, 400)
		}), days: 60, want: Good},

		{name: "redirect in a loop", set: behaves(only(behaviours["loop"])), days: 25, want: Failing, others: Good},
		{name: "10 redirects", set: behaves(hops(10)), days: 60, want: Good},
		{name: "11 redirects", set: behaves(only(hops(11))), days: 60, want: Dead, others: Good, least: 30, most: 45},
		{name: "redirect to the home page", set: behaves(behaviours["home"]), days: 60, want: Suspect},
		{name: "redirect to sign in", set: behaves(func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/login" {
				return text("text/html", "<title>Sign in</title>")(nil, w, r)
			}
			http.Redirect(w, r, "/login?to="+r.URL.Path, http.StatusFound)
			return true
		}), days: 60, want: Suspect},
		{name: "redirects of many to one page", set: behaves(func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/landing" {
				return text("text/html", "<title>Welcome</title>"+longText)(nil, w, r)
			}
			return redirect("/landing", 302)(nil, w, r)
		}), days: 60, want: Suspect},
		{name: "https to http", scheme: "https", set: func(f *faultServer, h *faultHost) {
			secure(true, -1, 400, site)(f, h)
			h.behave = func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
				if r.TLS != nil && r.URL.Path != "/robots.txt" {
					http.Redirect(w, r, "http://"+site+r.URL.Path, http.StatusFound)
					return true
				}
				return false
			}
		}, days: 60, want: Good},
		{name: "redirect to private addresses", set: behaves(behaviours["to-private"]), days: 60, want: Blocked},
		{name: "redirect to another scheme", set: behaves(only(behaviours["to-scheme"])), days: 60, want: Suspect, others: Good},
		{name: "cookie and redirect", set: behaves(behaviours["cookie"]), days: 60, want: Good},
		{name: "moved for good", set: behaves(redirect("PATH/new", 301)), days: 130, want: Good, holds: func(l Link) bool { return l.HasMoved() }},
		{name: "moved for good to a subdomain", set: func(f *faultServer, h *faultHost) {
			h.behave = redirect("http://www."+site+"PATH", 301)
			f.host("www."+site, nil)
		}, days: 130, want: Good, holds: func(l Link) bool { return l.HasMoved() }},
		{name: "all moved to another site", set: func(f *faultServer, h *faultHost) {
			h.behave = redirect("http://new.example/PATH", 301)
			f.host("new.example", func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
				return strings.HasPrefix(r.URL.Path, "//item/") && text("text/html", pageOf(r.URL.Path[1:]))(nil, w, r)
			})
		}, days: 130, want: Good, holds: func(l Link) bool { return !l.HasMoved() }},

		{name: "a head octet by octet", set: rawly("HTTP/1.1 200 OK\r\nX: ", true), days: 20, want: Failing, reports: 1},
		{name: "a body octet by octet", set: behaves(only(trickle)), days: 60, want: Dead, others: Good, least: 30, most: 45},
		{name: "an endless body", set: behaves(only(func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
			for r.Method == http.MethodGet {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					break
				}
			}
			return true
		})), days: 60, want: Good, others: Good},
		{name: "a compressed body that is very large", set: behaves(only(func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write(bomb())
			return true
		})), days: 60, want: Good, others: Good},
		{name: "a compressed body that is not", set: behaves(only(func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "not compressed")
			return true
		})), days: 25, want: Failing, others: Good},
		{name: "a body that is shorter than it says", set: behaves(only(cutOff("Content-Length", "1000"))), days: 25, want: Failing, others: Good},
		{name: "a chunk that is cut off", set: behaves(only(cutOff("", ""))), days: 60, want: Dead, others: Good, least: 30, most: 45},
		{name: "HTTP/2 without being asked", set: rawly("\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80\x00\x04\x00\x01\x00\x00\x00\x05\x00\xff\xff\xff", false), days: 20, want: Failing, reports: 1},
		{name: "a response of another protocol", set: rawly("220 mail ready\r\n", false), days: 20, want: Failing, reports: 1},
		{name: "a very large head", set: behaves(only(func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("X", strings.Repeat("x", 100<<10))
			return false
		})), days: 25, want: Failing, others: Good},
		{name: "early hints", set: behaves(func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusEarlyHints)
			return false
		}), days: 60, want: Good},
		{name: "206", set: behaves(only(always(206))), days: 60, want: Good, others: Good},
		{name: "416", set: behaves(only(always(416))), days: 60, want: Good, others: Good},
		{name: "304 to a conditional request", set: behaves(behaviours["etag"]), days: 200, want: Good},

		{name: "valid certificate", scheme: "https", set: secure(true, -1, 400, site), days: 60, want: Good},
		{name: "expired certificate", scheme: "https", set: secure(true, -100, -1, site), days: 80, want: Dead, least: 30, most: 70, reports: 1},
		{name: "certificate that expires for a week", scheme: "https", set: func(f *faultServer, h *faultHost) {
			secure(true, -100, 20, site)(f, h)
			end := f.now().AddDate(0, 0, 27)
			expired, renewed := h.tls, (*tls.Config)(nil)
			secure(true, -1, 400, site)(f, h)
			renewed = h.tls
			h.tls = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				if f.now().Before(end) {
					return expired, nil
				}
				return renewed, nil
			}}
		}, days: 60, want: Good, reports: anyReports},
		{name: "self-signed certificate", scheme: "https", set: secure(false, -1, 400, site), days: 20, want: Failing, reports: 1},
		{name: "certificate of another host", scheme: "https", set: secure(true, -1, 400, "other.example"), days: 20, want: Failing, reports: 1},
		{name: "TLS 1.0", scheme: "https", set: func(f *faultServer, h *faultHost) {
			secure(true, -1, 400, site)(f, h)
			h.tls.MinVersion, h.tls.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
		}, days: 20, want: Failing, reports: 1},
		{name: "no TLS at the port for it", scheme: "https", set: func(*faultServer, *faultHost) {}, days: 20, want: Failing, reports: 1},

		{name: "NXDOMAIN", set: looksUp(func(*faultServer, *faultHost, int) ([]netip.Addr, error) { return nil, noSuchHost() }), days: 80, want: Dead, least: 30, most: 70, reports: 1},
		{name: "NXDOMAIN for ten days", set: looksUp(func(f *faultServer, h *faultHost, _ int) ([]netip.Addr, error) {
			if d := f.now().Sub(f.begun); d < 10*24*time.Hour {
				return nil, noSuchHost()
			}
			return []netip.Addr{h.address}, nil
		}), days: 30, want: Good, reports: 1},
		{name: "SERVFAIL", set: looksUp(func(*faultServer, *faultHost, int) ([]netip.Addr, error) { return nil, noDNS() }), days: 20, want: Failing, reports: 1},
		{name: "DNS that fails every second time", set: looksUp(func(_ *faultServer, h *faultHost, n int) ([]netip.Addr, error) {
			if n%2 == 0 {
				return nil, []error{noSuchHost(), noDNS()}[n/2%2]
			}
			return []netip.Addr{h.address}, nil
		}), days: 200, want: Good},
		{name: "only the IPv4 address works", set: looksUp(func(_ *faultServer, h *faultHost, _ int) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("2606:4700::1"), h.address}, nil
		}), days: 60, want: Good},
		{name: "a private address in DNS", set: looksUp(func(*faultServer, *faultHost, int) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		}), days: 60, want: Blocked},
		{name: "a private address beside a public one", set: looksUp(func(_ *faultServer, h *faultHost, _ int) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), h.address}, nil
		}), days: 60, want: Good},

		{name: "robots.txt allows", set: robotsOf("User-agent: *\nAllow: /\n"), days: 60, want: Good},
		{name: "robots.txt forbids", set: robotsOf("User-agent: nomen\nDisallow: /item/\n"), days: 60, want: Blocked},
		{name: "robots.txt with status 403", set: robotsOf("403"), days: 60, want: Good},
		{name: "robots.txt with status 500", set: robotsOf("500"), days: 20, want: Blocked},
		{name: "robots.txt with status 500 for months", set: robotsOf("500"), days: 90, want: Good},
		{name: "robots.txt that hangs", set: robotsOf("hangs"), days: 20, want: Failing, reports: 1},
		{name: "robots.txt that redirects in a loop", set: robotsOf("loops"), days: 60, want: Good},
		{name: "robots.txt without end", set: robotsOf("User-agent: *\nDisallow: /item/\n" + endless), days: 60, want: Blocked},
		{name: "robots.txt without end that allows", set: robotsOf("User-agent: *\nDisallow: /other/\n" + endless), days: 60, want: Good},

		{name: "soft 404, always the same page", set: behaves(text("text/html", "<title>Sorry</title>"+longText)), days: 60, want: Suspect},
		{name: "soft 404 with the path", set: behaves(behaviours["soft-404"]), days: 60, want: Suspect},
		{name: "soft 404 with a short page", set: behaves(text("text/html", "<title>Sorry</title>Not found.")), days: 60, want: Suspect},
		{name: "parked at a company", set: func(f *faultServer, h *faultHost) {
			h.behave = redirect("http://www.sedoparking.com/site.example", 302)
			f.host("www.sedoparking.com", text("text/html", "<title>site.example</title>"+longText))
		}, days: 60, want: Suspect},
		{name: "parked in its place", set: behaves(text("text/html", "<title>site.example is for sale</title>"+strings.Repeat("cheap flights insurance loans credit hotels ", 5))), days: 60, want: Suspect},
		{name: "the text changes at once", set: behaves(only(func(f *faultServer, w http.ResponseWriter, r *http.Request) bool {
			if f.now().Sub(f.begun) < 500*24*time.Hour {
				return text("text/html", "<title>A</title>"+longText)(f, w, r)
			}
			return text("text/html", "<title>B</title>"+strings.Repeat("quite different content about ships harbours cargo routes and weather at sea ", 3))(f, w, r)
		})), days: 800, want: Good, others: Good, holds: func(l Link) bool { return l.Drifted }},
		{name: "the text changes a little", set: behaves(only(func(f *faultServer, w http.ResponseWriter, r *http.Request) bool {
			n := int(f.now().Sub(f.begun).Hours() / 24 / 180)
			return text("text/html", "<title>A</title>"+strings.Repeat(longText, 3)+strings.Repeat("addition ", n))(f, w, r)
		})), days: 800, want: Good, others: Good, holds: stays},
		{name: "PDF", set: behaves(text("application/pdf", "%PDF-1.7 about urn:example:site.example-0")), days: 60, want: Confirmed, others: Good},
		{name: "a week away", set: func(_ *faultServer, h *faultHost) {
			begun := time.Now()
			h.gone = func(now time.Time) string {
				if d := now.Sub(begun); d > 40*24*time.Hour && d < 47*24*time.Hour {
					return "503"
				}
				return ""
			}
		}, days: 120, want: Good, reports: anyReports},
	}
}

// TestBehaviours checks the verdict about each way in which hosts fail, in simulated time. The server
// asserts the manners, and that there are no connections to private addresses.
func TestBehaviours(t *testing.T) {
	for _, tt := range misbehaviours() {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { misbehave(t, &tt) })
		})
	}
}

const siteItems = 6

func misbehave(t *testing.T, tt *misbehaving) {
	f := newFaultServer(t, time.Now, 0)
	h := f.host(site, nil)
	tt.set(f, h)
	c := newCourse(t, f, tt.scheme, Options{})
	var died time.Time
	reports := 0
	for day := range tt.days {
		c.days(1)
		for _, e := range c.events(day) {
			switch {
			case e.Event == HostFails:
				reports++
			case e.Event == Died && e.URL == c.urls[0] && died.IsZero():
				died = e.Time
			}
		}
	}
	c.end()
	for i, url := range c.urls {
		want := tt.want
		if i > 0 && tt.others != Unknown {
			want = tt.others
		}
		l := c.of(url)
		if l.Verdict != want && !(good(want) && good(l.Verdict)) {
			t.Errorf("location %d: got %v, want %v: %+v", i, l.Verdict, want, l)
		}
		if i == 0 && tt.holds != nil && !tt.holds(l) {
			t.Errorf("hints are wrong: %+v", l)
		}
	}
	switch took := died.Sub(f.begun); {
	case tt.want != Dead && !died.IsZero():
		t.Errorf("dead after %v, want %v", took, tt.want)
	case tt.want == Dead && (took < time.Duration(tt.least)*24*time.Hour || took > time.Duration(tt.most)*24*time.Hour):
		t.Errorf("dead after %v, want %d to %d days", took, tt.least, tt.most)
	}
	if reports != tt.reports && tt.reports != anyReports {
		t.Errorf("the host was reported %d times, want %d", reports, tt.reports)
	}
	if f.private != 0 {
		t.Errorf("%d connections to private addresses", f.private)
	}
}

// A course is the checks of some locations of a host in simulated time.
type course struct {
	t    *testing.T
	w    *Watcher
	f    *faultServer
	urls []string
	end  func()
}

func newCourse(t *testing.T, f *faultServer, scheme string, o Options) *course {
	t.Helper()
	s := memstore.New()
	c := &course{t: t, f: f}
	var all []store.Change
	for i := range siteItems {
		id := name.MustParse(fmt.Sprintf("urn:example:%s-%d", site, i))
		url := fmt.Sprintf("%s://%s/item/%s-%d", cmp.Or(scheme, "http"), site, site, i)
		c.urls = append(c.urls, url)
		all = append(all, store.Change{Record: &store.Record{Name: id, Status: nomen.Active, Locations: []nomen.Location{{URL: url}}}, Time: time.Unix(1_700_000_000, 0)})
	}
	if _, err := s.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	end := f.serve()
	o.Every, o.idle = 24*time.Hour, time.Hour
	c.w = f.watch(s, o)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.w.Run(ctx) })
	c.end = func() {
		cancel()
		running.Wait()
		end()
		_ = s.Close()
	}
	return c
}

func (c *course) days(n int) { time.Sleep(time.Duration(n) * 24 * time.Hour) }

// events returns the events of a day.
func (c *course) events(day int) (all []Happening) {
	c.t.Helper()
	from := c.f.begun.AddDate(0, 0, day)
	if err := c.w.Events(from, func(h Happening) bool {
		if h.Time.Before(from.AddDate(0, 0, 1)) {
			all = append(all, h)
		}
		return true
	}); err != nil {
		c.t.Error(err)
	}
	return all
}

func (c *course) of(url string) Link {
	c.t.Helper()
	l, ok, err := c.w.Of(url)
	if err != nil || !ok {
		c.t.Fatalf("%s: %v, %v", url, ok, err)
	}
	return l
}
