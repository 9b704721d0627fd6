package discover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen/discover/dnstest"
)

// startDNS starts a server of a zone. It returns the server, and a resolver that queries only this
// server and has a short timeout.
func startDNS(t *testing.T, zone string, fault func(dnstest.Query) dnstest.Fault) (*dnstest.Server, *Resolver) {
	t.Helper()
	s, err := dnstest.Start(zone, fault)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, resolverOf(t, ResolverOptions{Servers: []string{s.Addr}, Timeout: time.Minute})
}

func resolverOf(t *testing.T, o ResolverOptions) *Resolver {
	t.Helper()
	r, err := NewResolver(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// always returns a function that injects the same fault into every response.
func always(f dnstest.Fault) func(dnstest.Query) dnstest.Fault {
	return func(dnstest.Query) dnstest.Fault { return f }
}

const hosts = `
example.org.        IN SOA ns.example.org. hostmaster.example.org. 1 3600 600 86400 120
names.example.org.  IN A 192.0.2.1
names.example.org.  IN A 192.0.2.2
names.example.org.  IN AAAA 2001:db8::1
four.example.org.   IN A 192.0.2.4
alias.example.org.  IN CNAME names.example.org.
away.example.org.   IN CNAME elsewhere.example.
text.example.org.   IN TXT "text"
loop.example.org.   IN CNAME pool.example.org.
pool.example.org.   IN CNAME loop.example.org.
short.example.org.  0 IN A 192.0.2.9
`

func TestResolverAddresses(t *testing.T) {
	_, r := startDNS(t, hosts, nil)
	for _, tt := range []struct{ network, host, want string }{
		{"ip", "names.example.org.", "2001:db8::1 192.0.2.1 192.0.2.2"},
		{"ip", "NAMES.example.org", "2001:db8::1 192.0.2.1 192.0.2.2"},
		{"ip4", "names.example.org.", "192.0.2.1 192.0.2.2"},
		{"ip6", "names.example.org.", "2001:db8::1"},
		{"ip", "four.example.org.", "192.0.2.4"},
		{"ip", "alias.example.org.", "2001:db8::1 192.0.2.1 192.0.2.2"},
		{"ip", "192.0.2.7", "192.0.2.7"},
		{"ip", "::ffff:192.0.2.7", "192.0.2.7"},
		{"ip", "localhost", "::1 127.0.0.1"},
		{"ip4", "a.localhost.", "127.0.0.1"},
		{"ip", "names", "not found"},              // no search list
		{"ip6", "four.example.org.", "not found"}, // another type is there
		{"ip", "text.example.org.", "not found"},
		{"ip", "none.example.org.", "not found"},
		{"ip", "away.example.org.", "not found"}, // the alias leads to nothing
		{"ip", "loop.example.org.", "failure"},
		{"ip", "a..b", "not found"},
		{"ip", "a b.example.org", "not found"},
		{"ip", strings.Repeat("a", 64) + ".example.org", "not found"},
		{"tcp", "names.example.org.", "failure"},
	} {
		got, err := r.LookupNetIP(t.Context(), tt.network, tt.host)
		text := strings.Trim(fmt.Sprint(got), "[]")
		switch {
		case isNotFound(err):
			text = "not found"
		case err != nil:
			text = "failure"
		}
		if text != tt.want {
			t.Errorf("LookupNetIP(%q, %q): %s, %v, want %s", tt.network, tt.host, text, err, tt.want)
		}
	}
}

// TestResolverBadAnswers checks that the resolver uses only records that answer its question, and
// that it gets the right answer in spite of faults.
func TestResolverBadAnswers(t *testing.T) {
	for name, fault := range map[string]dnstest.Fault{
		"forged":    {Forged: 3},
		"garbage":   {Garbage: true},
		"truncated": {Truncate: true},
		"torn":      {Torn: true},
		"slow":      {Delay: 100 * time.Millisecond},
		"alien":     {Alien: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := startDNS(t, hosts, func(q dnstest.Query) dnstest.Fault {
				if q.TCP {
					return dnstest.Fault{}
				}
				return fault
			})
			got, err := r.LookupNetIP(t.Context(), "ip4", "names.example.org.")
			if want := addrs("192.0.2.1", "192.0.2.2"); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
			if asked := s.Queries(); name == "truncated" && (len(asked) != 2 || !asked[1].TCP) {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

// If a server never answers queries for one address family, the lookup takes only a moment longer.
func TestOneFamilyIsSilent(t *testing.T) {
	for silent, want := range map[string][]netip.Addr{"AAAA": addrs("192.0.2.1", "192.0.2.2"), "A": addrs("2001:db8::1")} {
		s, _ := startDNS(t, hosts, func(q dnstest.Query) dnstest.Fault { return dnstest.Fault{Silent: q.Type == silent} })
		r := resolverOf(t, ResolverOptions{Servers: []string{s.Addr}, Timeout: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		got, err := r.LookupNetIP(ctx, "ip", "names.example.org")
		cancel()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("silent about %s: got %v, %v, want %v", silent, got, err, want)
		}
	}
}

func TestResolverFailures(t *testing.T) {
	for _, tt := range []struct {
		name    string
		fault   dnstest.Fault
		found   bool // DNS has answered that the name does not exist
		timeout bool
	}{
		{"SERVFAIL", dnstest.Fault{Rcode: 2}, false, false},
		{"REFUSED", dnstest.Fault{Rcode: 5}, false, false},
		{"an unknown error", dnstest.Fault{Rcode: 15}, false, false},
		{"NXDOMAIN", dnstest.Fault{Rcode: 3}, true, false},
		{"silence", dnstest.Fault{Silent: true}, false, true},
		{"only forgeries", dnstest.Fault{Silent: true, Forged: 2}, false, true},
		{"a flood of forgeries", dnstest.Fault{Forged: 200}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := startDNS(t, hosts, always(tt.fault))
			patience := time.Minute
			if tt.timeout {
				patience = 200 * time.Millisecond
			}
			r := resolverOf(t, ResolverOptions{Servers: []string{s.Addr}, Timeout: patience})
			got, err := r.LookupNetIP(t.Context(), "ip4", "names.example.org.")
			var e *net.DNSError
			if !errors.As(err, &e) || e.IsNotFound != tt.found || e.IsTimeout != tt.timeout || e.IsTemporary == tt.found || e.Name != "names.example.org" {
				t.Fatalf("got %v, %#v", got, err)
			}
			if n := len(s.Queries()); tt.found != (n == 1) {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// TestResolverServers checks that a lookup succeeds as long as one of the servers answers.
func TestResolverServers(t *testing.T) {
	t.Parallel() // it waits for the silent one
	bad, _ := startDNS(t, hosts, always(dnstest.Fault{Rcode: 2}))
	silent, _ := startDNS(t, hosts, always(dnstest.Fault{Silent: true}))
	good, _ := startDNS(t, hosts, nil)
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refuses := l.LocalAddr().String()
	_ = l.Close()
	r := resolverOf(t, ResolverOptions{Servers: []string{refuses, bad.Addr, silent.Addr, good.Addr}, Timeout: 3 * time.Second})
	got, err := r.LookupNetIP(t.Context(), "ip4", "four.example.org")
	if want := addrs("192.0.2.4"); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, s := range []string{"", "ns.example.org", "192.0.2.1:0", "192.0.2.1:99999", "[::1"} {
		if _, err := NewResolver(ResolverOptions{Servers: []string{s}}); err == nil {
			t.Errorf("server %q was accepted", s)
		}
	}
}

// TestResolverOldServer checks that a server that does not support EDNS is queried without EDNS.
func TestResolverOldServer(t *testing.T) {
	s, r := startDNS(t, hosts, func(q dnstest.Query) dnstest.Fault {
		if q.EDNS {
			return dnstest.Fault{Rcode: 1}
		}
		return dnstest.Fault{}
	})
	got, err := r.LookupNetIP(t.Context(), "ip4", "four.example.org")
	if want := addrs("192.0.2.4"); err != nil || !slices.Equal(got, want) || len(s.Queries()) != 2 {
		t.Errorf("got %v, %v after %v, want %v", got, err, s.Queries(), want)
	}
}

func TestResolverCancelled(t *testing.T) {
	s, _ := startDNS(t, hosts, always(dnstest.Fault{Silent: true}))
	r := resolverOf(t, ResolverOptions{Servers: []string{s.Addr}, Timeout: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.LookupNetIP(ctx, "ip4", "four.example.org"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestResolverKeepsAnswers checks that responses are cached as long as their zone allows, and no
// longer.
func TestResolverKeepsAnswers(t *testing.T) {
	s, _ := startDNS(t, hosts, nil)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := resolverOf(t, ResolverOptions{Servers: []string{s.Addr}, Timeout: time.Minute, Now: func() time.Time { return now }})
	asks := func(host string, want int) {
		t.Helper()
		before := len(s.Queries())
		_, _ = r.LookupNetIP(t.Context(), "ip4", host)
		if got := len(s.Queries()) - before; got != want {
			t.Errorf("%s: asked %d times, want %d", host, got, want)
		}
	}
	asks("four.example.org", 1)
	asks("four.example.org", 0)
	asks("none.example.org", 1)
	asks("none.example.org", 0)
	asks("short.example.org", 1)
	asks("short.example.org", 1) // its time to live is 0
	asks("none.example", 1)
	asks("none.example", 1) // no zone says how long the negative response is valid
	now = now.Add(119 * time.Second)
	asks("none.example.org", 0)
	asks("four.example.org", 0)
	now = now.Add(2 * time.Second)
	asks("none.example.org", 1) // the minimum of the zone is 120 s
	now = now.Add(299*time.Second - 121*time.Second)
	asks("four.example.org", 0)
	now = now.Add(2 * time.Second)
	asks("four.example.org", 1)
}

func TestResolverRecords(t *testing.T) {
	_, r := startDNS(t, `
rules.example. 77 IN NAPTR 100 10 "S" "thttp+I2L" "" _thttp._tcp.Example.ORG.
rules.example. 77 IN NAPTR 5 6 "" "" "!^urn:cid:.+@([^\\.]+\\.)(.*)$!\\2 \"x\" \195\169!i" .
_thttp._tcp.example.org. 60 IN SRV 1 2 4500 Names.Example.org.
_none._tcp.example.org. 60 IN SRV 0 0 0 .
`, nil)
	rules, err := r.LookupNAPTR(t.Context(), "Rules.Example.")
	want := []NAPTR{
		{100, 10, "S", "thttp+I2L", "", "_thttp._tcp.example.org", 77 * time.Second},
		{5, 6, "", "", `!^urn:cid:.+@([^\.]+\.)(.*)$!\2 "x" é!i`, "", 77 * time.Second}, // backslashes are single (RFC 3403, 6.1)
	}
	if err != nil || !slices.Equal(rules, want) {
		t.Errorf("rules %+v, %v, want %+v", rules, err, want)
	}
	srv, err := r.LookupSRV(t.Context(), "_thttp._tcp.example.org")
	if want := []SRV{{1, 2, 4500, "names.example.org", time.Minute}}; err != nil || !slices.Equal(srv, want) {
		t.Errorf("SRV %+v, %v, want %+v", srv, err, want)
	}
	srv, err = r.LookupSRV(t.Context(), "_none._tcp.example.org")
	if want := []SRV{{TTL: time.Minute}}; err != nil || !slices.Equal(srv, want) {
		t.Errorf("SRV %+v, %v, want %+v", srv, err, want)
	}
}

// TestResolverLongAnswer checks that a response that does not fit into a packet is read over TCP,
// up to a limit.
func TestResolverLongAnswer(t *testing.T) {
	var zone strings.Builder
	for i := range 400 {
		fmt.Fprintf(&zone, "many.example. IN NAPTR %d 1 \"\" \"\" \"!%s!x!\" .\n", i, strings.Repeat("a", 100))
	}
	s, r := startDNS(t, zone.String(), nil)
	rules, err := r.LookupNAPTR(t.Context(), "many.example")
	if err != nil || len(rules) != maxRecords {
		t.Errorf("%d rules, %v", len(rules), err)
	}
	if asked := s.Queries(); len(asked) != 2 || !asked[1].TCP {
		t.Errorf("asked %+v", asked)
	}
}

// TestResolverConfig checks that the system's file lists the servers, and is read again when it has
// changed.
func TestResolverConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "resolv.conf")
	write := func(text string, modified time.Time) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := resolverOf(t, ResolverOptions{File: file, Now: func() time.Time { return now }})
	check := func(why string, timeout time.Duration, attempts int, servers ...string) {
		t.Helper()
		c := r.config()
		if !slices.Equal(c.servers, servers) || c.timeout != timeout || c.attempts != attempts {
			t.Errorf("%s: %+v, want %v, %v, %d", why, c, servers, timeout, attempts)
		}
	}
	check("no file", 5*time.Second, 2, "127.0.0.1:53", "[::1]:53")
	write("search example.org\nnameserver 192.0.2.1\nnameserver nonsense\nnameserver 2001:db8::1\noptions timeout:3 attempts:99\n", now)
	check("not looked at again so soon", 5*time.Second, 2, "127.0.0.1:53", "[::1]:53")
	now = now.Add(recheck)
	check("a file", 3*time.Second, maxAttempts, "192.0.2.1:53", "[2001:db8::1]:53")
	write("nameserver 192.0.2.2\noptions timeout:99\n", now)
	now = now.Add(recheck)
	check("changed", 30*time.Second, 2, "192.0.2.2:53")
}

// Concurrent lookups of the same question share one query; a caller that gives up
// does not cancel it for the others.
func TestSameQuestionAtOnce(t *testing.T) {
	s, r := startDNS(t, "d.example. 300 IN SRV 0 0 80 h.example.\n", func(dnstest.Query) dnstest.Fault {
		return dnstest.Fault{Delay: 100 * time.Millisecond}
	})
	first, giveUp := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := r.LookupSRV(first, "d.example")
		gone <- err
	}()
	for len(s.Queries()) == 0 {
		time.Sleep(time.Millisecond)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if got, err := r.LookupSRV(t.Context(), "d.example"); err != nil || len(got) != 1 {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	giveUp()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up: %v", err)
	}
	all.Wait()
	if n := len(s.Queries()); n != 2 {
		t.Errorf("%d queries, want that of who gave up and one more", n)
	}
}
