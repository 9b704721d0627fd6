package wire

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// browser is a head as a browser sends it.
const browser = "GET /urn:ietf:rfc:2648 HTTP/1.1\r\n" +
	"Host: localhost:4500\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" +
	"Accept-Language: en-US,en;q=0.5\r\n" +
	"Accept-Encoding: gzip, deflate, br, zstd\r\n" +
	"Connection: keep-alive\r\n" +
	"Sec-Fetch-Dest: document\r\n" +
	"Sec-Fetch-Mode: navigate\r\n" +
	"Sec-Fetch-Site: none\r\n" +
	"Sec-Fetch-User: ?1\r\n" +
	"Priority: u=0, i\r\n\r\n"

func sayOK(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") }

// BenchmarkKeepAlive measures good requests over one connection, without the wire
// and with it.
func BenchmarkKeepAlive(b *testing.B) {
	for _, head := range []struct{ name, in string }{
		{"short", "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"},
		{"browser", browser},
	} {
		for _, wired := range []bool{false, true} {
			b.Run(head.name+map[bool]string{false: "/plain", true: "/wire"}[wired], func(b *testing.B) {
				c := dial(b, benchServer(b, wired))
				r := bufio.NewReader(c)
				length := 0
				b.ReportAllocs()
				for b.Loop() {
					send(b, c, head.in)
					length = discardResponse(b, r, length)
				}
			})
		}
	}
}

// BenchmarkConnection measures a connection for each request: a path without the
// wire, and with it a path, an element and an element in a Simple-Request.
func BenchmarkConnection(b *testing.B) {
	for _, bench := range []struct {
		name, in string
		wired    bool
	}{
		{"plain", "GET /a HTTP/1.0\r\n\r\n", false},
		{"good", "GET /a HTTP/1.0\r\n\r\n", true},
		{"mended", "GET a HTTP/1.0\r\n\r\n", true},
		{"simple", "GET a\r\n", true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			address := benchServer(b, bench.wired)
			b.ReportAllocs()
			for b.Loop() {
				c, err := net.Dial("tcp", address)
				if err != nil {
					b.Fatal(err)
				}
				send(b, c, bench.in)
				receive(b, c)
				c.Close()
			}
		})
	}
}

// BenchmarkScan measures what looking at a good head costs.
func BenchmarkScan(b *testing.B) {
	limits := Config{}.withDefaults()
	in := []byte(browser)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		var h head
		if h.scan(in, &limits) != good {
			b.Fatal("not good")
		}
	}
}

// BenchmarkPlain measures reading a plain head, with equal header blocks and with different ones.
func BenchmarkPlain(b *testing.B) {
	limits := Config{}.withDefaults()
	for name, in := range map[string][]string{"equal": {browser}, "different": {browser, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"}} {
		b.Run(name, func(b *testing.B) {
			var last lastPlain
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, _, ok := last.read([]byte(in[i%len(in)]), &limits); !ok {
					b.Fatal("not plain")
				}
			}
		})
	}
}

func benchServer(b *testing.B, wired bool) (address string) {
	if wired {
		return start(b, Config{}, sayOK)
	}
	l := listen(b)
	serve(b, l, http.HandlerFunc(sayOK))
	return l.Addr().String()
}

// discardResponse reads a response that is as long as the one before.
func discardResponse(b *testing.B, r *bufio.Reader, length int) int {
	if length == 0 {
		if _, err := r.Peek(1); err != nil {
			b.Fatal(err)
		}
		length = r.Buffered()
	}
	if _, err := r.Discard(length); err != nil {
		b.Fatal(err)
	}
	return length
}

// TestNoAllocs checks that looking at good requests costs no memory, nor does the
// waiting for the client's going away.
func TestNoAllocs(t *testing.T) {
	in := []byte(browser)
	script := newScriptedConn()
	l := NewListener(newChanListener(), Config{}).(*listener)
	c := l.wrap(script)
	p := make([]byte, 4096)
	pieces := make([][]byte, 1)
	got := testing.AllocsPerRun(100, func() {
		pieces[0] = in
		script.pieces = pieces
		if n, err := c.Read(p); n != len(in) || err != nil {
			t.Fatalf("read %d, %v", n, err)
		}
		if n, err := c.Read(p[:1]); n != 0 || err != io.EOF {
			t.Fatalf("read ahead %d, %v", n, err)
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}
