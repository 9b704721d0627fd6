package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/nomen-project/nomen/fetch/fetchtest"
	"github.com/nomen-project/nomen/uri"
)

// A world is a network in which public addresses are routed to servers of the test.
type world struct {
	mu     sync.Mutex
	hosts  map[string][][]netip.Addr // answers of DNS, one after the other; the last one repeats
	routes map[string]string         // address:port, or address, to address:port
	dialed []string
	asked  []string
}

// Addresses of the public Internet, as package guard sees it.
const (
	publicOne = "8.8.8.8"
	publicTwo = "9.9.9.9"
)

func newWorld() *world {
	return &world{hosts: map[string][][]netip.Addr{}, routes: map[string]string{}}
}

// host sets the addresses of a name, one answer after the other.
func (w *world) host(name string, answers ...string) {
	for _, a := range answers {
		var list []netip.Addr
		for _, s := range strings.Fields(a) {
			list = append(list, netip.MustParseAddr(s))
		}
		w.hosts[name] = append(w.hosts[name], list)
	}
}

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, host)
	answers := w.hosts[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		w.hosts[host] = answers[1:]
	}
	return answers[0], nil
}

var errNoRoute = errors.New("no route to host")

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	to, ok := w.routes[address]
	if host, port, _ := net.SplitHostPort(address); !ok && w.routes[host] != "" {
		to, ok = net.JoinHostPort(w.routes[host], port), true
	}
	w.mu.Unlock()
	if !ok {
		return nil, errNoRoute
	}
	return (&net.Dialer{}).DialContext(ctx, network, to)
}

func (w *world) fetcher(t *testing.T, o Options) *Fetcher {
	t.Helper()
	o.DNS, o.Dial = w, w.dial
	return newFetcher(t, o)
}

func newFetcher(t *testing.T, o Options) *Fetcher {
	t.Helper()
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// serve starts a web server and returns its address.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// started closes a server at the end of the test.
func started(t *testing.T) func(*fetchtest.Server, error) *fetchtest.Server {
	return func(s *fetchtest.Server, err error) *fetchtest.Server {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
}

var own = Request{Trusted: true}

// read fetches all of a resource.
func read(t *testing.T, f *Fetcher, location string, r Request) (*Object, string, error) {
	t.Helper()
	u, err := uri.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.Open(t.Context(), u, r)
	if err != nil {
		return nil, "", err
	}
	defer o.Body.Close()
	text, err := io.ReadAll(o.Body)
	return o, string(text), err
}

// want fetches a resource that must exist.
func want(t *testing.T, f *Fetcher, location string, r Request, text string) *Object {
	t.Helper()
	o, got, err := read(t, f, location, r)
	if err != nil {
		t.Fatalf("%s: %v", location, err)
	}
	if got != text {
		t.Errorf("%s: got %q, want %q", location, got, text)
	}
	return o
}
