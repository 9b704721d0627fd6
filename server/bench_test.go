package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
)

// wide answers every question with this many locations.
func wide(n int) nomen.Resolver {
	locations := make([]nomen.Location, n)
	for i := range locations {
		locations[i] = nomen.Location{URL: "https://www.rfc-editor.org/rfc/rfc2648.txt", Type: "text/plain"}
	}
	return resolverFunc(func(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
		a := &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active, Locations: locations, Modified: modified}
		return a, nil
	})
}

// plainGet is a typical request of a program.
func plainGet() *request {
	return &request{
		method: "GET", target: "/urn:ietf:rfc:2648", version: version{1, 1}, host: "localhost:4500", accept: "*/*",
		local: netip.MustParseAddrPort("127.0.0.1:4500"),
	}
}

// The cost of a redirect does not depend on the size of the record.
func TestRedirectAllocations(t *testing.T) {
	measure := func(n int) float64 {
		s, _ := newTestServer(t, func(o *Options) { o.Resolver = wide(n) })
		r := plainGet()
		return testing.AllocsPerRun(100, func() {
			r.parsed = nil
			s.decide(t.Context(), r)
		})
	}
	const most = 12
	one := measure(1)
	if one > most {
		t.Errorf("a redirection takes %v allocations, want at most %d", one, most)
	}
	// The Link field has only the first locations, so further locations cost nothing. A few more
	// allocations come from sync.Pool, which drops items at random under the race detector.
	if ten, many := measure(maxItems), measure(10_000); many > ten+4 {
		t.Errorf("with %d locations %v allocations, with 10,000 %v", maxItems, ten, many)
	}
}

// A target is parsed once, however often it is needed.
func TestTargetIsParsedOnce(t *testing.T) {
	s, _ := newTestServer(t, nil)
	r := plainGet()
	r.target = "http://localhost:4500/urn:ietf:rfc:2648"
	if s.isForOthers(t.Context(), r) {
		t.Fatal("for others")
	}
	r.parsedOnce.target.name = name.MustParse("urn:dns:example.org:alb002") // another parse would overwrite it
	if p := s.decide(t.Context(), r); p.get("Location") != "https://example.org/albums/2" {
		t.Errorf("got %d %q", p.status, p.get("Location"))
	}
}

func BenchmarkDecideI2L(b *testing.B) {
	for _, bench := range []struct {
		name   string
		change func(*Options)
	}{
		{"answer at hand", func(o *Options) { o.Resolver = wide(1) }},
		{"engine", nil},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s, _ := newTestServer(b, bench.change)
			r := plainGet()
			b.ReportAllocs()
			for b.Loop() {
				r.parsed = nil
				if p := s.decide(b.Context(), r); p.status != 303 {
					b.Fatal(p.status)
				}
			}
		})
	}
}

// BenchmarkDecideAbsolute measures a request as sent to a proxy, whose target is needed
// several times.
func BenchmarkDecideAbsolute(b *testing.B) {
	s, _ := newTestServer(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		r := plainGet()
		r.target = "http://localhost:4500/urn:ietf:rfc:2648"
		if s.isForOthers(b.Context(), r) {
			b.Fatal("for others")
		}
		if p := s.decide(b.Context(), r); p.status != 303 {
			b.Fatal(p.status)
		}
	}
}

// BenchmarkGet measures requests through net/http over one connection, compared with a
// handler that only redirects.
func BenchmarkGet(b *testing.B) {
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://www.rfc-editor.org/rfc/rfc2648.txt")
		w.WriteHeader(http.StatusSeeOther)
	})
	b.Run("net-http alone", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		srv := &http.Server{Handler: bare}
		go srv.Serve(l)
		b.Cleanup(func() { srv.Close() })
		benchGet(b, l.Addr())
	})
	b.Run("redirect", func(b *testing.B) {
		s, st := newTestServer(b, nil)
		s.now = time.Now
		s.resolver = resolve.New(st, resolve.Options{})
		benchGet(b, listen(b, s).Public)
	})
}

func benchGet(b *testing.B, addr net.Addr) {
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(c, "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"); err != nil {
			b.Fatal(err)
		}
		length := 0
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				b.Fatal(err)
			}
			if len(line) == 2 {
				break
			}
			const field = "Content-Length: "
			if len(line) > len(field) && string(line[:len(field)]) == field {
				length, _ = smallNumber(string(line[len(field) : len(line)-2]))
			}
		}
		if _, err := in.Discard(length); err != nil {
			b.Fatal(err)
		}
	}
}
