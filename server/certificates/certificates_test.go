package certificates

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/acme"

	"github.com/nomen-project/nomen/server/certificates/acmetest"
	"github.com/nomen-project/nomen/store"
)

// TestOrder orders certificates, by either challenge.
func TestOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		plain, tls bool
	}{{"http-01", true, true}, {"http-01 alone", true, false}, {"tls-alpn-01", false, true}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, acmetest.Options{})
			m := w.node(func(o *Options) { o.Email = "names@example.org" })
			tlsPort := w.tlsPort
			if !tt.plain {
				w.httpPort = 0
			}
			if !tt.tls {
				w.tlsPort = 0
			}
			if w.tlsPort = tlsPort; w.served(ours) != nil {
				t.Error("a certificate before the order")
			}
			m.pass(t.Context())
			w.verified(w.served(ours), ours)
			w.verified(w.served(strings.ToUpper(ours)), ours)
			w.forgotten(m)
			w.orders(1)
			m.pass(t.Context())
			w.orders(1)
			s := m.Status()
			if len(s) != 1 || s[0].Host != ours || s[0].Err != "" || s[0].Expires.Before(w.clock.now().Add(80*24*time.Hour)) {
				t.Errorf("status %+v", s)
			}
			restarted := w.node(nil)
			restarted.pass(t.Context())
			w.verified(w.served(ours), ours)
			w.orders(1)
		})
	}
}

// TestWrongHost: nothing is ordered because of a handshake, nor for hosts for which no
// certificate can be issued or that lead to another server.
func TestWrongHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	w.hosts = []string{"localhost", "a.localhost", "192.0.2.1", "[2001:db8::1]", "single", "*.example.org", "bücher.example", "a..example", "-a.example", "1.2.3", "", strings.Repeat("a", 64) + ".example.org"}
	m := w.node(nil)
	m.pass(t.Context())
	if s := m.Status(); len(s) != 0 {
		t.Errorf("hosts: %+v, want none", s)
	}
	reads := w.vault.reads.Load()
	for _, host := range []string{"", second, ours, "localhost", "192.0.2.1"} {
		if c := w.served(host); c != nil {
			t.Errorf("a certificate for the server name %q: %v", host, c.DNSNames)
		}
	}
	for _, path := range []string{"x", "", "../x", "%41", "a/b", strings.Repeat("a", maxToken+1)} {
		resp, err := http.Get(fmt.Sprint("http://127.0.0.1:", w.httpPort, challengePath, path))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("challenge %q: %s, want 404", path, resp.Status)
		}
	}
	if n := w.vault.reads.Load() - reads; n != 1 { // for "x"
		t.Errorf("%d reads of the store, want 1", n)
	}
	w.orders(0)

	elsewhere := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "hello") }))
	defer elsewhere.Close()
	w.hosts = []string{ours}
	w.httpPort, w.tlsPort = elsewhere.Listener.Addr().(*net.TCPAddr).Port, 0
	for range 3 {
		m.pass(t.Context())
		w.clock.add(time.Second)
	}
	w.orders(0)
	s := m.Status()
	if len(s) != 1 || !strings.Contains(s[0].Err, "another server answers") || !strings.Contains(s[0].Err, "connection refused") || s[0].Attempts != 1 || s[0].Next.IsZero() {
		t.Errorf("status %+v", s)
	}
	w.clock.add(firstRecheck)
	m.pass(t.Context())
	if s := m.Status(); s[0].Attempts != 2 {
		t.Errorf("after the pause: %+v", s)
	}
	if n := w.logged("does not lead to this server"); n != 2 { // the line and its error
		t.Errorf("logged %d times:\n%s", n, w.log)
	}
}

// TestHostsChange: hosts that are added get a certificate, and hosts that are removed stop
// being served, without a restart.
func TestHostsChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	m := w.node(nil)
	m.pass(t.Context())
	w.hosts = []string{second + ":443", strings.ToUpper(second) + "."}
	m.pass(t.Context())
	w.verified(w.served(second), second)
	if w.served(ours) != nil {
		t.Error("a host that was removed is still served")
	}
	w.orders(2)
	w.hosts = []string{ours, second}
	m.pass(t.Context())
	w.verified(w.served(ours), ours)
	w.orders(2)
}

// TestRenewal: a certificate is renewed when a third of its lifetime is left, whatever the
// lifetime is.
func TestRenewal(t *testing.T) {
	t.Parallel()
	for _, life := range []time.Duration{90 * 24 * time.Hour, 6 * 24 * time.Hour, 3 * time.Hour} {
		t.Run(life.String(), func(t *testing.T) {
			w := newWorld(t, acmetest.Options{Lifetime: life})
			m := w.node(nil)
			m.pass(t.Context())
			first := w.served(ours)
			w.verified(first, ours)
			third := first.NotAfter.Sub(first.NotBefore) / 3
			w.clock.add(first.NotAfter.Add(-third - time.Second).Sub(w.clock.now()))
			m.pass(t.Context())
			w.orders(1)
			w.clock.add(time.Second)
			m.pass(t.Context())
			w.orders(2)
			if w.served(ours).Equal(first) {
				t.Error("the old certificate is still served")
			}
		})
	}
}

// TestClockAhead: a clock that is so far ahead that new certificates are due does not cause
// order after order.
func TestClockAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	w.clock.add(80 * 24 * time.Hour)
	m, other := w.node(nil), w.node(nil)
	for range 5 {
		m.pass(t.Context())
		other.pass(t.Context())
		w.clock.add(time.Hour)
	}
	w.orders(1)
	if s := m.Status()[0]; !strings.Contains(s.Err, "check the clock") || w.served(ours) == nil {
		t.Errorf("status %+v", s)
	}
	w.clock.add(clockPause)
	m.pass(t.Context())
	w.orders(2)
}

// TestFailingHostsLast: hosts that fail do not delay the others.
func TestFailingHostsLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	w.hosts = []string{"a.example.org", ours}
	m := w.node(nil)
	if err := m.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.update("a.example.org", func(h *host) { h.back.Failures = 3 })
	due, err := m.adopt(t.Context())
	if err != nil || !slices.Equal(due, []string{ours, "a.example.org"}) {
		t.Errorf("%v, %v", due, err)
	}
}

// TestAuthorityDown: while the authority is down, the certificate stays in use, even after it
// has expired; orders are repeated with growing pauses.
func TestAuthorityDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	m := w.node(nil)
	m.pass(t.Context())
	first := w.served(ours)
	w.verified(first, ours)
	w.authority.Close()
	w.clock.add(first.NotAfter.Sub(w.clock.now()) / 3 * 2)
	w.clock.add(time.Hour)
	var at []time.Duration
	begun, failures := w.clock.now(), 0
	for w.clock.now().Before(first.NotAfter.Add(48 * time.Hour)) {
		m.pass(t.Context())
		s := m.Status()[0]
		if s.Attempts != failures {
			failures = s.Attempts
			at = append(at, w.clock.now().Sub(begun))
		}
		w.clock.add(max(s.Next.Sub(w.clock.now())/2, time.Minute))
		if !w.served(ours).Equal(first) {
			t.Fatal("another certificate, or none, is served")
		}
	}
	for i := 2; i < len(at); i++ {
		if d := at[i] - at[i-1]; d < at[i-1]-at[i-2]-time.Minute && d < lastPause || d > lastPause+2*time.Minute {
			t.Errorf("attempt %d after %v, the one before after %v", i, d, at[i-1]-at[i-2])
		}
	}
	if len(at) < 100 || !strings.Contains(m.Status()[0].Err, "connection refused") {
		t.Errorf("%d attempts in 32 days, the last error: %s", len(at), m.Status()[0].Err)
	}
	if soon, late := w.logged("expires soon"), w.logged("has expired"); soon < 10 || soon > 16 || late < 1 || late > 3 {
		t.Errorf("logged %d times that it expires soon, %d times that it has expired", soon, late)
	}
	restarted := w.node(nil)
	restarted.pass(t.Context())
	if !w.served(ours).Equal(first) {
		t.Error("after a restart the expired certificate is not served")
	}
}

// TestRateLimited: after a rate limit nothing is ordered for an hour, or for as long as the
// authority says, by no node, and not after a reload.
func TestRateLimited(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]time.Duration{"": time.Hour, "60": time.Hour, "18000": 5 * time.Hour, "99999999": maxPause} {
		t.Run("Retry-After "+after, func(t *testing.T) {
			w := newWorld(t, acmetest.Options{})
			requests := 0
			w.authority.Intercept = func(rw http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/order-plz" || requests > 0 {
					return false
				}
				requests++
				if after != "" {
					rw.Header().Set("Retry-After", after)
				}
				acmetest.Reject(rw, http.StatusTooManyRequests, "rateLimited", "too many certificates\nalready issued")
				return true
			}
			m := w.node(nil)
			m.pass(t.Context())
			other := w.node(nil)
			other.pass(t.Context())
			for _, n := range []*Manager{m, other} {
				if err := n.Reload(); err != nil {
					t.Fatal(err)
				}
				n.pass(t.Context())
				s := n.Status()[0]
				if got := s.Next.Sub(w.clock.now()); got != want || !strings.Contains(s.Err, "too many certificates already issued") {
					t.Errorf("the next attempt after %v, want %v: %s", got, want, s.Err)
				}
			}
			if requests != 1 {
				t.Errorf("%d orders, want 1", requests)
			}
			w.clock.add(want - time.Second)
			m.pass(t.Context())
			w.orders(0)
			w.clock.add(time.Second)
			other.pass(t.Context())
			w.orders(1)
			m.pass(t.Context())
			if s := m.Status()[0]; s.Err != "" || s.Expires.IsZero() {
				t.Errorf("after the order of another node: %+v", s)
			}
		})
	}
}

// TestReload: after other failures, a reload retries at once.
func TestReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	broken := true
	w.authority.Intercept = func(rw http.ResponseWriter, r *http.Request) bool {
		if broken && r.URL.Path == "/order-plz" {
			acmetest.Reject(rw, http.StatusForbidden, "rejectedIdentifier", "policy forbids it")
			return true
		}
		return false
	}
	m := w.node(nil)
	m.pass(t.Context())
	m.pass(t.Context())
	if s := m.Status()[0]; s.Attempts != 1 || !strings.Contains(s.Err, "policy forbids it") {
		t.Errorf("%+v", s)
	}
	broken = false
	_ = m.Reload()
	m.pass(t.Context())
	w.verified(w.served(ours), ours)
}

// TestSecondNode: one of two nodes orders; if it dies with the lease, the other one takes over
// when the lease has expired.
func TestSecondNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	dead := w.node(nil)
	if ok, err := w.vault.Lease(t.Context(), dead.prefix+"lease", dead.node, leaseTime); err != nil || !ok {
		t.Fatal(ok, err)
	}
	m := w.node(nil)
	m.pass(t.Context())
	w.clock.add(leaseTime - time.Second)
	m.pass(t.Context())
	w.orders(0)
	w.clock.add(time.Second)
	m.pass(t.Context())
	w.orders(1)
	w.verified(w.served(ours), ours)
}

// TestNodesAtOnce: of several nodes that look at the same time, one orders, all serve the
// certificate, and all answer the challenge.
func TestNodesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	w.hosts = []string{ours, second}
	nodes := make([]*Manager, 4)
	for i := range nodes {
		nodes[i] = w.node(nil)
		nodes[i].look(t.Context())
	}
	var wg sync.WaitGroup
	for _, m := range nodes {
		wg.Go(func() { m.pass(t.Context()) })
	}
	wg.Wait()
	w.orders(2)
	for _, m := range nodes {
		m.pass(t.Context())
		w.front.Store(m)
		w.verified(w.served(ours), ours)
		w.verified(w.served(second), second)
	}
	w.orders(2)
}

// TestVaultFails: while the store is away or read-only, the certificates in memory stay in
// use, nothing is ordered, and the log says so once.
func TestVaultFails(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{&store.AwayError{Cause: "the database cannot be reached"}, store.ErrReadOnly} {
		w := newWorld(t, acmetest.Options{})
		m := w.node(nil)
		m.pass(t.Context())
		w.vault.err.Store(&cause)
		w.clock.add(75 * 24 * time.Hour)
		for range 3 {
			m.pass(t.Context())
			w.clock.add(time.Minute)
		}
		w.orders(1)
		if w.served(ours) == nil {
			t.Errorf("%v: the certificate is not served", cause)
		}
		if n := w.logged("no certificate can be ordered"); n != 1 {
			t.Errorf("%v: logged %d times:\n%s", cause, n, w.log)
		}
		w.vault.err.Store(nil)
		m.pass(t.Context())
		w.orders(2)
	}
}

// TestVaultFailsAfterOrder: a certificate that cannot be stored is served, not ordered again,
// and stored later.
func TestVaultFailsAfterOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	gone := error(&store.AwayError{Cause: "the disk is full"})
	w.authority.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/certZ/") {
			w.vault.err.Store(&gone)
		}
		return false
	}
	m := w.node(nil)
	m.pass(t.Context())
	w.verified(w.served(ours), ours)
	w.vault.err.Store(nil)
	m.pass(t.Context())
	restarted := w.node(nil)
	restarted.pass(t.Context())
	w.verified(w.served(ours), ours)
	w.orders(1)
}

// TestExternalAccount: an authority that needs an external account gets it, and the log says
// what is missing.
func TestExternalAccount(t *testing.T) {
	t.Parallel()
	const key = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
	w := newWorld(t, acmetest.Options{EABID: "kid-1", EABKey: key})
	m := w.node(nil)
	m.pass(t.Context())
	w.orders(0)
	if s := m.Status()[0]; !strings.Contains(s.Err, "needs an external account") {
		t.Errorf("without an external account: %+v", s)
	}
	raw, err := ParseAccountKey(key + "\n")
	if err != nil {
		t.Fatal(err)
	}
	w.clock.add(time.Second)
	m = w.node(func(o *Options) { o.AccountID, o.AccountKey = "kid-1", raw })
	m.pass(t.Context())
	w.verified(w.served(ours), ours)
	m = w.node(func(o *Options) { // an account that exists needs none, and its address can change
		o.AccountID, o.AccountKey, o.Email = "kid-1", raw, "new@example.org"
	})
	w.clock.add(75 * 24 * time.Hour)
	m.pass(t.Context())
	w.orders(2)
	for _, bad := range []string{"", "a b", "???", "a"} {
		if got, err := ParseAccountKey(bad); err == nil {
			t.Errorf("ParseAccountKey(%q): %v, want an error", bad, got)
		}
	}
}

// TestUnchecked: without the check nothing is dialled; the challenges are tried in turn.
func TestUnchecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	m := w.node(func(o *Options) { o.Unchecked = true })
	m.pass(t.Context())
	w.verified(w.served(ours), ours)
	if n := w.dials.Load(); n != 0 {
		t.Errorf("%d connections, want none", n)
	}
	m.update(ours, func(h *host) { h.cert, h.back.Failures = nil, 1 })
	got, err := m.challenges(t.Context(), nil, ours)
	if err != nil || got[0] != typeTLS {
		t.Errorf("after a failure: %v, %v", got, err)
	}
}

// TestDirectories: the certificates of one authority are not used with another one.
func TestDirectories(t *testing.T) {
	t.Parallel()
	w := newWorld(t, acmetest.Options{})
	m := w.node(nil)
	m.pass(t.Context())
	other := w.node(func(o *Options) { o.Directory = w.authority.URL + "?other" })
	other.pass(t.Context())
	w.orders(2)
}

func TestTerms(t *testing.T) {
	if _, err := New(Options{}); err != errTerms {
		t.Errorf("%v, want %v", err, errTerms)
	}
}

// TestBackOff checks the pauses that are not seen elsewhere.
func TestBackOff(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		failures int
		err      error
		want     time.Duration
	}{
		{0, errors.New("x"), firstPause},
		{1, errors.New("x"), 2 * firstPause},
		{50, errors.New("x"), lastPause},
		{0, &unreachableError{}, firstRecheck},
		{3, &unreachableError{}, 8 * firstRecheck},
		{50, &unreachableError{}, lastRecheck},
		{0, &acme.Error{StatusCode: 503, Header: http.Header{"Retry-After": {"7200"}}}, 2 * time.Hour},
		{0, &acme.Error{StatusCode: 503, Header: http.Header{"Retry-After": {now.Add(time.Hour).UTC().Truncate(time.Second).Format(http.TimeFormat)}}}, time.Hour - now.Sub(now.Truncate(time.Second))},
		{0, &acme.Error{StatusCode: 503, Header: http.Header{"Retry-After": {"soon"}}}, firstPause},
		{0, &acme.Error{StatusCode: 429}, time.Hour},
		{0, fmt.Errorf("wrapped: %w", &acme.Error{StatusCode: 403, ProblemType: "urn:ietf:params:acme:error:rateLimited"}), time.Hour},
	} {
		b := backOff{Failures: tt.failures}.next(tt.err, now)
		if got := b.After.Sub(now); got != tt.want || b.Failures != tt.failures+1 {
			t.Errorf("after %d failures, %v: %v, want %v", tt.failures, tt.err, got, tt.want)
		}
	}
	if got := oneLine(errors.New("a\n b\xff" + strings.Repeat("c", 1000))); strings.Contains(got, "\n") || !utf8.ValidString(got) || len(got) > maxText+3 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestLikeNamedHosts: hosts whose names begin like the keys of other secrets keep their
// certificates while those of other hosts are ordered, and serve no challenge of others.
func TestLikeNamedHosts(t *testing.T) {
	t.Parallel()
	all := []string{"tls-" + ours, "state-" + ours, "http-" + ours, "account-" + ours, ours}
	w := newWorld(t, acmetest.Options{Hosts: all[:4]})
	w.hosts = all[:4]
	m := w.node(nil)
	m.pass(t.Context())
	w.orders(4)
	w.hosts, w.httpPort = all, 0 // by tls-alpn-01
	m.pass(t.Context())
	w.orders(5)
	restarted := w.node(nil)
	restarted.pass(t.Context())
	for _, host := range all {
		w.verified(w.served(host), host)
	}
	w.orders(5)
}
