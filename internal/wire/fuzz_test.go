package wire

import (
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var heads = []string{
	"GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n",
	"GET alb002 HTTP/1.0\r\nAccept: text/urc-0\r\n\r\n",
	"GET alb002\r\n",
	"\r\n\nGET  /a\thttp/1.0 \n\n",
	"HEAD /a%2Fb?c HTTP/1.0\nX-A: 1\n 2\n\n",
	"GET urn:dns:example.org:a HTTP/1.0\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET a HTTP/1.0\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nGET /b HTTP/1.0\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nGET b%\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding : chunked\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nb",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n\r\nCONNECT a:1 HTTP/1.0\r\n\r\n",
	"GET /\x00 HTTP/1.0\r\n\r\n",
	"GET /" + strings.Repeat("a", 9000),
}

// ambiguousHeads are heads whose framing or meaning parsers could interpret differently.
var ambiguousHeads = []string{
	"GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
	"GET /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nAccept: a/b\r\n folded\r\n\r\n",
	"GET /a HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n",
	"GET /a HTTP/1.1\nHost: a\n\n",
	"GET /a HTTP/1.1\r\nHost: a\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\n\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nAccept: a\x00b\r\n\r\n",
	"GET /a\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nAccept: a\rb\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost : a\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\n",
	"GET  /a HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a\tHTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a HTTP/1.1 \r\nHost: a\r\n\r\n",
	"GET /a HTTP/01.1\r\nHost: a\r\n\r\n",
	"GET /a HTTP/2.0\r\nHost: a\r\n\r\n",
	"GET http://a/a HTTP/1.1\r\nHost: b\r\n\r\n",
	"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a#b c HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nSec-Fetch-Mode : a\r\n\r\n",
	"GET /a HTTP/1.1\r\nHost: a\r\nNo colon\r\n\r\n",
}

// cut cuts s into pieces, as a network would.
func cut(s []byte, size uint8) [][]byte {
	if size == 0 {
		return [][]byte{s}
	}
	return slices.Collect(slices.Chunk(s, int(size)))
}

// tell tells everything that a handler can see of a request, in a way that no
// request can imitate an answer of net/http's.
func tell(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", date)
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	fmt.Fprintf(w, "%x %x %x %x %x %x %v %v\n", r.Method, Target(r), r.RequestURI, r.URL.String(), r.Host, body, err, r.Proto)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(w, "%s %x\n", hex.EncodeToString([]byte(name)), r.Header[name])
	}
}

// FuzzNetHTTP gives the same bytes to net/http alone and to net/http behind the
// wire. What net/http alone does not refuse must be seen and answered alike.
func FuzzNetHTTP(f *testing.F) {
	for _, s := range heads {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(7))
	}
	errorLog := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	plain, wired := newChanListener(), newChanListener()
	go (&http.Server{Handler: http.HandlerFunc(tell), ErrorLog: errorLog}).Serve(plain)
	go (&http.Server{Handler: http.HandlerFunc(tell), ErrorLog: errorLog, ConnContext: ConnContext}).Serve(NewListener(wired, Config{}))
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		if len(in) > DefaultMaxLine {
			return
		}
		want, got := undated(runScript(plain, cut(in, size)...)), undated(runScript(wired, cut(in, size)...))
		if i := strings.Index(got, badFraming.advice); i >= 0 { // which net/http takes
			got = got[:strings.LastIndex(got[:i], "HTTP/1.1 400 Bad Request")]
			want = want[:min(len(got), len(want))]
		}
		if i := strings.LastIndex(want, "HTTP/1.1 400 Bad Request"); i >= 0 {
			want = want[:i]
			got = got[:min(i, len(got))]
		}
		if got != want {
			t.Errorf("sent %q\ngot  %q\nwant %q", in, got, want)
		}
	})
}

// undated returns responses without their times, which may differ by a second.
func undated(responses string) string {
	return dateField.ReplaceAllString(responses, "Date: \r\n")
}

var dateField = regexp.MustCompile(`Date: [^\r]*\r\n`)

// FuzzRead checks that reading never panics and never goes back, and that the
// size of the pieces makes no difference to what net/http gets.
func FuzzRead(f *testing.F) {
	for _, s := range heads {
		f.Add([]byte(s), uint8(1), uint8(1))
		f.Add([]byte(s), uint8(0), uint8(200))
	}
	limits := Config{MaxLine: 100, MaxHeader: 200, Now: clock}
	f.Fuzz(func(t *testing.T, in []byte, sent, read uint8) {
		whole := readAll(t, limits, [][]byte{in}, 4096)
		parts := readAll(t, limits, cut(in, sent), int(read)+2)
		if parts != whole {
			t.Errorf("sent %q\nin parts  %q\nas a whole %q", in, parts, whole)
		}
	})
}

// readAll returns what net/http would read of what a client sends, with the
// unguessable path replaced, and then what the wire itself answers.
func readAll(t *testing.T, limits Config, pieces [][]byte, size int) string {
	script := newScriptedConn(pieces...)
	l := NewListener(newChanListener(), limits).(*listener)
	c := l.wrap(script)
	c.known = true
	var got []byte
	p := make([]byte, size)
	for {
		n, err := c.Read(p)
		got = append(got, p[:n]...)
		if cap(c.in) > 4*(limits.MaxLine+limits.MaxHeader)+4*minRead {
			t.Fatalf("%d bytes are held", cap(c.in))
		}
		if err != nil {
			break
		}
	}
	s := string(got)
	if m := c.request.Load(); m != nil {
		s = strings.Replace(s, m.path, "/mended", 1)
	}
	return s + script.out.String()
}
