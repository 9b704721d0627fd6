package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/server/certificates/acmetest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

const (
	ours   = "names.example.org"
	second = "urn.example.net"
)

// A clock is set by tests.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// A vault is that of a store in memory, whose leases follow the clock of the test. It can fail.
type vault struct {
	*memstore.Store
	clock  *clock
	leases store.Leases
	err    atomic.Pointer[error]
	reads  atomic.Int64

	mu   sync.Mutex
	keys map[string]bool // that were written
}

// written returns the keys that were written.
func (v *vault) written() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Sorted(maps.Keys(v.keys))
}

func (v *vault) Lease(_ context.Context, key, holder string, d time.Duration) (bool, error) {
	if err := v.err.Load(); err != nil {
		return false, *err
	}
	return v.leases.Lease(key, holder, d, v.clock.now()), nil
}

func (v *vault) Secret(ctx context.Context, key string) ([]byte, error) {
	v.reads.Add(1)
	if err := v.err.Load(); err != nil {
		return nil, *err
	}
	return v.Store.Secret(ctx, key)
}

func (v *vault) PutSecret(ctx context.Context, key string, value []byte) error {
	if err := v.err.Load(); err != nil {
		return *err
	}
	v.mu.Lock()
	v.keys[key] = true
	v.mu.Unlock()
	return v.Store.PutSecret(ctx, key, value)
}

// A world is an authority, a vault, and the listeners to which all hosts lead.
type world struct {
	*testing.T
	authority *acmetest.Authority
	vault     *vault
	clock     *clock
	log       *bytes.Buffer
	logMu     sync.Mutex
	hosts     []string
	front     atomic.Pointer[Manager] // serves the listeners
	httpPort  int                     // of the listener without TLS; 0 if none
	tlsPort   int
	dials     atomic.Int64
}

func (w *world) Write(p []byte) (int, error) {
	w.logMu.Lock()
	defer w.logMu.Unlock()
	return w.log.Write(p)
}

func (w *world) logged(text string) int {
	w.logMu.Lock()
	defer w.logMu.Unlock()
	return strings.Count(w.log.String(), text)
}

func newWorld(t *testing.T, o acmetest.Options) *world {
	w := &world{T: t, clock: &clock{t: time.Now()}, log: new(bytes.Buffer), hosts: []string{ours}}
	w.vault = &vault{Store: memstore.New(), clock: w.clock, keys: map[string]bool{}}
	plain := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.front.Load().WellKnown(http.NotFoundHandler()).ServeHTTP(rw, r)
	}))
	t.Cleanup(plain.Close)
	secure, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		c := w.front.Load().TLS()
		if own, err := c.GetConfigForClient(h); own != nil || err != nil {
			return own, err
		}
		return c, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = http.Serve(secure, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "ok") }))
	}()
	t.Cleanup(func() { _ = secure.Close() })
	w.httpPort, w.tlsPort = plain.Listener.Addr().(*net.TCPAddr).Port, secure.Addr().(*net.TCPAddr).Port
	o.HTTPPort, o.TLSPort = w.httpPort, w.tlsPort
	o.Hosts = append(o.Hosts, ours, second)
	if w.authority, err = acmetest.Start(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.authority.Close)
	return w
}

// dial leads all hosts to the listeners, as the DNS server of the authority does.
func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.dials.Add(1)
	_, port, _ := net.SplitHostPort(address)
	to := map[string]int{"80": w.httpPort, "443": w.tlsPort}[port]
	if to == 0 {
		return nil, errors.New("connection refused")
	}
	return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", strconv.Itoa(to)))
}

// node returns another server of the vault. The listeners lead to the last one.
func (w *world) node(change func(*Options)) *Manager {
	w.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.authority.Roots)
	o := Options{
		Vault: w.vault, Hosts: func(context.Context) ([]string, error) { return w.hosts, nil },
		Directory: w.authority.URL, AcceptTerms: true, Roots: roots, Now: w.clock.now,
		Log: slog.New(slog.NewTextHandler(w, nil)), Dial: w.dial,
	}
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	if err != nil {
		w.Fatal(err)
	}
	w.front.Store(m)
	return m
}

// served returns the certificate of a handshake at the listener, or nil if it has none.
func (w *world) served(host string) *x509.Certificate {
	w.Helper()
	c, err := tls.Dial("tcp", fmt.Sprint("127.0.0.1:", w.tlsPort), &tls.Config{ServerName: host, InsecureSkipVerify: true})
	if err != nil {
		if host != "" && !strings.Contains(err.Error(), "unrecognized name") {
			w.Errorf("handshake for %s: %v, want the alert unrecognized name", host, err)
		}
		return nil
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0]
}

// verified checks that a certificate is for a host and was issued by the authority.
func (w *world) verified(c *x509.Certificate, host string) {
	w.Helper()
	if c == nil {
		w.Fatalf("%s has no certificate; the log:\n%s", host, w.log)
	}
	if err := c.VerifyHostname(host); err != nil || c.NotAfter.Before(w.clock.now()) {
		w.Errorf("the certificate of %s: %v, expires %v", host, err, c.NotAfter)
	}
}

func (w *world) orders(want int) {
	w.Helper()
	if got := w.authority.Orders(); got != want {
		w.Errorf("%d orders, want %d; the log:\n%s", got, want, w.log)
	}
}

// forgotten checks that the answers to challenges were removed.
func (w *world) forgotten(m *Manager) {
	w.Helper()
	if len(w.vault.written()) < 3 {
		w.Errorf("written: %q, want an account, an answer and a certificate", w.vault.written())
	}
	for _, key := range w.vault.written() {
		_, err := w.vault.Store.Secret(w.Context(), key)
		if kept := key == m.prefix+ours || key == m.prefix+"account"; kept != (err == nil) {
			w.Errorf("after the order, secret %s: %v, want it kept: %v", key, err, kept)
		}
	}
}
