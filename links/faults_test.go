package links

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A memTable is a table in memory. Goroutines in a synctest bubble can use it, unlike a table on
// disk, whose goroutines run outside.
type memTable struct{ blocks [][]memEntry }

type memEntry struct{ key, value []byte }

const memBlock = 256

// at returns the position of the first key that is not less than a key.
func (m *memTable) at(key []byte) (block, i int, found bool) {
	block, _ = slices.BinarySearchFunc(m.blocks, key, func(b []memEntry, key []byte) int { return bytes.Compare(b[len(b)-1].key, key) })
	if block == len(m.blocks) {
		return block, 0, false
	}
	i, found = slices.BinarySearchFunc(m.blocks[block], key, func(e memEntry, key []byte) int { return bytes.Compare(e.key, key) })
	return block, i, found
}

func (m *memTable) scan(from, to []byte, yield func(key, value []byte) bool) error {
	for block, i, _ := m.at(from); block < len(m.blocks); block, i = block+1, 0 {
		for _, e := range m.blocks[block][i:] {
			if bytes.Compare(e.key, to) >= 0 || !yield(e.key, e.value) {
				return nil
			}
		}
	}
	return nil
}

func (m *memTable) get(keys ...[]byte) ([][]byte, error) { return getEach(m, keys) }

func (m *memTable) clear() error { m.blocks = nil; return nil }
func (m *memTable) close() error { return nil }

func (m *memTable) update(_ byte, do func(reader) ([]write, error)) error {
	all, err := do(m)
	if err != nil {
		return err
	}
	return m.apply(all)
}

func (m *memTable) apply(all []write) error {
	for _, w := range all {
		block, i, found := m.at(w.key)
		switch {
		case w.value == nil && found:
			if m.blocks[block] = slices.Delete(m.blocks[block], i, i+1); len(m.blocks[block]) == 0 {
				m.blocks = slices.Delete(m.blocks, block, block+1)
			}
		case w.value == nil:
		case found:
			m.blocks[block][i].value = bytes.Clone(w.value)
		case len(m.blocks) == 0:
			m.blocks = [][]memEntry{{{bytes.Clone(w.key), bytes.Clone(w.value)}}}
		default:
			if block == len(m.blocks) {
				block--
				i = len(m.blocks[block])
			}
			b := slices.Insert(m.blocks[block], i, memEntry{bytes.Clone(w.key), bytes.Clone(w.value)})
			m.blocks[block] = b
			if len(b) > memBlock {
				m.blocks[block] = slices.Clone(b[:len(b)/2])
				m.blocks = slices.Insert(m.blocks, block+1, slices.Clone(b[len(b)/2:]))
			}
		}
	}
	return nil
}

// A behaviour says how a host of the fault server answers. It returns false for the usual answer: a
// page with the name.
type behaviour func(f *faultServer, w http.ResponseWriter, r *http.Request) bool

// A faultServer is many hosts that misbehave. It checks the manners of the client: one request at a
// time to each host, and the gaps between requests. It serves connections that were made by its
// method dial.
type faultServer struct {
	t       testing.TB
	now     func() time.Time
	begun   time.Time
	gap     time.Duration
	faults  float64 // part of the requests with a passing fault
	random  *rand.Rand
	listens chan net.Conn
	ended   chan struct{} // closed when the server accepts no more connections

	mu        sync.Mutex
	hosts     map[string]*faultHost
	addresses map[netip.Addr]*faultHost
	roots     *x509.CertPool
	private   int // connections to addresses that are not public
	requests  int
	down      func(now time.Time) bool // the network of the client fails
}

type faultHost struct {
	name    string
	address netip.Addr
	delay   time.Duration // of robots.txt
	robots  string
	behave  behaviour
	tls     *tls.Config                       // for port 443
	raw     func(c net.Conn)                  // serves connections instead of the HTTP server; nil for none
	dns     func(n int) ([]netip.Addr, error) // answers the lookup number n; nil for the usual answer
	lookups int
	dead    map[string]time.Time // paths that answer with status 404 from a time on
	gone    func(now time.Time) string
	noticed time.Time // first request while the host was away
	busy    bool
	last    time.Time
	first   map[string]time.Time // first answer with status 404 for a path that is dead
}

func newFaultServer(t testing.TB, now func() time.Time, faults float64) *faultServer {
	return &faultServer{
		t: t, now: now, begun: now(), gap: time.Second, faults: faults, random: rand.New(rand.NewPCG(3, 4)),
		listens: make(chan net.Conn), ended: make(chan struct{}), hosts: map[string]*faultHost{}, addresses: map[netip.Addr]*faultHost{}, roots: x509.NewCertPool(), down: func(time.Time) bool { return false },
	}
}

// host adds a host.
func (f *faultServer) host(name string, b behaviour) *faultHost {
	n := len(f.hosts)
	h := &faultHost{name: name, address: netip.AddrFrom4([4]byte{20, byte(n >> 16), byte(n >> 8), byte(n)}), behave: b, dead: map[string]time.Time{}, first: map[string]time.Time{}}
	f.hosts[name], f.addresses[h.address] = h, h
	return h
}

// LookupNetIP implements [discover.DNS].
func (f *faultServer) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[host]
	f.notice(h)
	switch {
	case f.down(f.now()):
		return nil, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	case h == nil || h.gone != nil && h.gone(f.now()) == "dns":
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if h.dns != nil {
		h.lookups++
		return h.dns(h.lookups)
	}
	return []netip.Addr{h.address}, nil
}

// notice records that the client has found out that a host is away. The caller must hold mu.
func (f *faultServer) notice(h *faultHost) {
	if h != nil && h.gone != nil && h.noticed.IsZero() && h.gone(f.now()) != "" {
		h.noticed = f.now()
	}
}

// dial connects to a host.
func (f *faultServer) dial(_ context.Context, _, address string) (net.Conn, error) {
	ap := netip.MustParseAddrPort(address)
	f.mu.Lock()
	for _, b := range []string{"10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "::/8", "fc00::/7"} {
		if netip.MustParsePrefix(b).Contains(ap.Addr()) {
			f.private++
		}
	}
	h, down := f.addresses[ap.Addr()], f.down(f.now())
	f.mu.Unlock()
	if down || h == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("network is unreachable")}
	}
	near, far := net.Pipe()
	if h.raw != nil {
		go h.raw(far)
		return near, nil
	}
	if ap.Port() == 443 && h.tls != nil {
		far = tls.Server(far, h.tls)
	}
	select {
	case f.listens <- far:
		return near, nil
	case <-f.ended:
		return nil, net.ErrClosed
	}
}

// Accept implements [net.Listener].
func (f *faultServer) Accept() (net.Conn, error) {
	select {
	case c := <-f.listens:
		return c, nil
	case <-f.ended:
		return nil, net.ErrClosed
	}
}

func (f *faultServer) Close() error   { return nil }
func (f *faultServer) Addr() net.Addr { return &net.TCPAddr{} }

// serve serves connections until the function that it returns is called.
func (f *faultServer) serve() (end func()) {
	s := &http.Server{Handler: f, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan struct{})
	go func() {
		_ = s.Serve(f)
		close(done)
	}()
	return func() {
		close(f.ended)
		<-done
		_ = s.Close()
	}
}

// ServeHTTP implements [http.Handler].
func (f *faultServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	h := f.hosts[r.Host]
	if h == nil {
		f.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	now := f.now()
	f.requests++
	if h.busy {
		f.t.Errorf("%v: two requests at once to %s: %s %s", now, h.name, r.Method, r.URL)
	}
	if gap := now.Sub(h.last); !h.last.IsZero() && gap < max(f.gap, h.delay) && r.URL.Path != "/robots.txt" {
		f.t.Errorf("%v: %s: %v after the last request: %s %s, want at least %v", now, h.name, gap, r.Method, r.URL, max(f.gap, h.delay))
	}
	h.busy = true
	fault := f.random.Float64() < f.faults
	kind := f.random.IntN(8)
	if r.URL.Path == "/robots.txt" && (kind == 0 || kind == 4) {
		kind = 1 // that there are no rules would not be a passing fault
	}
	if at, ok := h.dead[r.URL.Path]; ok && !now.Before(at) && h.first[r.URL.Path].IsZero() && r.Method == http.MethodGet && !fault {
		h.first[r.URL.Path] = now
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		h.busy, h.last = false, f.now()
		f.mu.Unlock()
	}()
	if fault {
		f.fault(w, r, kind)
		return
	}
	f.answer(w, r, h)
}

// endless is the end of a file robots.txt that is repeated as long as the client reads.
const endless = "# this line is repeated\n"

// fault answers with a passing fault.
func (f *faultServer) fault(w http.ResponseWriter, r *http.Request, kind int) {
	switch kind {
	case 0:
		w.WriteHeader(http.StatusNotFound)
	case 1:
		w.WriteHeader(http.StatusServiceUnavailable)
	case 2:
		w.WriteHeader(http.StatusInternalServerError)
	case 3:
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
	case 4:
		w.WriteHeader(http.StatusForbidden)
	case 5:
		<-r.Context().Done() // until the client gives up
	case 6:
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "cut off")
	default:
		panic(http.ErrAbortHandler)
	}
}

// answer answers without passing faults.
func (f *faultServer) answer(w http.ResponseWriter, r *http.Request, h *faultHost) {
	now := f.now()
	if h.gone != nil {
		switch h.gone(now) {
		case "404":
			w.WriteHeader(http.StatusNotFound)
			return
		case "503":
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case "reset":
			panic(http.ErrAbortHandler)
		}
	}
	if r.URL.Path == "/robots.txt" {
		switch h.robots {
		case "":
			w.WriteHeader(http.StatusNotFound)
			return
		case "403", "500", "503":
			status, _ := strconv.Atoi(h.robots)
			w.WriteHeader(status)
			return
		case "hangs":
			<-r.Context().Done()
			return
		case "loops":
			http.Redirect(w, r, "/robots.txt", http.StatusFound)
			return
		}
		fmt.Fprint(w, h.robots)
		for strings.HasSuffix(h.robots, endless) {
			if _, err := fmt.Fprint(w, endless); err != nil {
				return
			}
		}
		return
	}
	if at, ok := h.dead[r.URL.Path]; ok && !now.Before(at) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if h.behave != nil && h.behave(f, w, r) {
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/item/") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, pageOf(r.URL.Path))
}

// pageOf returns a page about an item. Every second item has no name on its page.
func pageOf(path string) string {
	n := fnv.New32a()
	_, _ = io.WriteString(n, path)
	sum := n.Sum32()
	about := ""
	if sum%2 == 0 {
		about = "urn:example:" + strings.TrimPrefix(path, "/item/")
	}
	return fmt.Sprintf("<!DOCTYPE html><title>Item</title><nav>Home</nav><p>%s %s", about, strings.Repeat(fmt.Sprintf("words of %c and %c with some %c ", 'a'+sum%26, 'a'+sum/26%26, 'a'+sum/676%26), 6))
}

// The behaviours of hosts.
var behaviours = map[string]behaviour{
	"plain": nil,
	"head-405": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		return statusIf(w, r.Method == http.MethodHead, http.StatusMethodNotAllowed)
	},
	"head-403": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		return statusIf(w, r.Method == http.MethodHead, http.StatusForbidden)
	},
	"head-501": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		return statusIf(w, r.Method == http.MethodHead, http.StatusNotImplemented)
	},
	"head-404": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		return statusIf(w, r.Method == http.MethodHead, http.StatusNotFound)
	},
	"head-hangs": func(_ *faultServer, _ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead {
			<-r.Context().Done()
			return true
		}
		return false
	},
	"odd-days": func(f *faultServer, w http.ResponseWriter, _ *http.Request) bool {
		return statusIf(w, int(f.now().Sub(f.begun).Hours()/24)%2 == 1, http.StatusNotFound)
	},
	"three-days": func(f *faultServer, w http.ResponseWriter, _ *http.Request) bool {
		return statusIf(w, int(f.now().Sub(f.begun).Hours()/24)%20 < 3, http.StatusBadGateway)
	},
	"forbidden": func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
		return statusIf(w, true, http.StatusForbidden)
	},
	"unauthorized": func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
		return statusIf(w, true, http.StatusUnauthorized)
	},
	"busy": func(f *faultServer, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Retry-After", []string{"3", "Thu, 01 Jan 2099 00:00:00 GMT", "99999999999999999999", "soon"}[len(r.URL.Path)%4])
		return statusIf(w, true, http.StatusTooManyRequests)
	},
	"captcha": func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Just a moment...</title>")
		return true
	},
	"loop": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
		return true
	},
	"home": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>Home</title>")
			return true
		}
		http.Redirect(w, r, "/", http.StatusFound)
		return true
	},
	"to-private": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		to := []string{"http://127.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/", "http://2130706433/", "http://10.0.0.1:8080/"}
		http.Redirect(w, r, to[len(r.URL.Path)%len(to)], http.StatusFound)
		return true
	},
	"to-scheme": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		return true
	},
	"cookie": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		if _, err := r.Cookie("session"); err == nil {
			return false
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
		return true
	},
	"moved": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/new") {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, pageOf(strings.TrimSuffix(r.URL.Path, "/new")))
			return true
		}
		http.Redirect(w, r, r.URL.Path+"/new", http.StatusMovedPermanently)
		return true
	},
	"elsewhere": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "http://plain-0.example"+r.URL.Path, http.StatusFound)
		return true
	},
	"soft-404": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>Sorry</title><p>The page %s that you have requested was not found on this server so please go back to the home page and try again from there", r.URL.Path)
		return true
	},
	"etag": func(_ *faultServer, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", `"1"`)
		return statusIf(w, r.Header.Get("If-None-Match") == `"1"`, http.StatusNotModified)
	},
	"robots-forbids": nil,
	"robots-broken":  nil, // see faultHost.robots
	"slow-crawl":     nil,
}

func statusIf(w http.ResponseWriter, is bool, status int) bool {
	if is {
		w.WriteHeader(status)
	}
	return is
}

// behaving adds a host with a behaviour.
func (f *faultServer) behaving(kind string, n int) *faultHost {
	b, ok := behaviours[kind]
	if !ok {
		f.t.Fatalf("no behaviour %q", kind)
	}
	h := f.host(fmt.Sprintf("%s-%d.example", kind, n), b)
	switch kind {
	case "robots-forbids":
		h.robots = "User-agent: nomen\nDisallow: /item/\n"
	case "robots-broken":
		h.robots = "503"
	case "slow-crawl":
		h.robots, h.delay = "User-agent: *\nCrawl-delay: 20\n", 20*time.Second
	}
	return h
}

// item returns the name and the location of an item of a host.
func item(host string, i int) (name.Name, string) {
	return name.MustParse(fmt.Sprintf("urn:example:%s-%d", host, i)), fmt.Sprintf("http://%s/item/%s-%d", host, host, i)
}

// fill makes a store with n items of each host.
func fill(t testing.TB, s store.Store, hosts []*faultHost, n func(*faultHost) int) {
	t.Helper()
	var all []store.Change
	for _, h := range hosts {
		for i := range n(h) {
			id, url := item(h.name, i)
			all = append(all, store.Change{Record: &store.Record{Name: id, Status: nomen.Active, Locations: []nomen.Location{{URL: url}}}, Expected: 0, Time: time.Unix(1_700_000_000, 0)})
		}
	}
	for part := range slices.Chunk(all, 1000) {
		if _, err := s.Apply(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
}

// sorted returns the hosts of the server in the order of their names.
func (f *faultServer) sorted() (all []*faultHost) {
	for _, h := range f.hosts {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *faultHost) int { return cmp.Compare(a.name, b.name) })
	return all
}

// watch opens a watcher of a store that asks the server.
func (f *faultServer) watch(s Source, o Options) *Watcher {
	f.t.Helper()
	o.Store, o.Agent, o.DNS, o.Dial, o.TLS = s, "nomen/test", f, f.dial, &tls.Config{RootCAs: f.roots}
	if o.Now == nil {
		o.Now = f.now
	}
	if o.table == nil {
		o.table = &memTable{}
	}
	w, err := Open(o)
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

var _ Source = (*memstore.Store)(nil)
