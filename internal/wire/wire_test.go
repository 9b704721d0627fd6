package wire

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRawBytes says for bytes that a client sends which bytes come back; the body
// tells what the handler saw. Where the client stays silent afterwards and the
// answer still ends, the server has closed the connection.
func TestRawBytes(t *testing.T) {
	const host = "Host: example.org\r\n"
	mended := func(body string) string { return seen("HTTP/1.0", body, "close") }
	good10 := func(body string) string { return seen("HTTP/1.0", body, "") }
	good11 := func(body string) string { return seen("HTTP/1.1", body, "") }
	tests := []struct {
		name string // with the requirement that it shows
		in   string
		want string
		ends bool // the client ends its side, since the server has no reason to
	}{
		// Good lines pass.
		{"a path Y95-28", "GET /a HTTP/1.0\r\n\r\n", good10("GET \"/a\" HTTP/1.0\n"), false},
		{"a path over HTTP/1.1", "GET /alb002 HTTP/1.1\r\n" + host + "\r\n", good11("GET \"/alb002\" HTTP/1.1\n"), true},
		{"URN as target Y95-38", "GET urn:dns:example.org:alb002 HTTP/1.0\r\n\r\n", good10("GET \"urn:dns:example.org:alb002\" HTTP/1.0\n"), false},
		{"absolute form", "GET http://example.org//a%2Fb HTTP/1.0\r\n\r\n", good10("GET \"http://example.org//a%2Fb\" HTTP/1.0\n"), false},
		{"what ServeMux would redirect", "GET //a/../b HTTP/1.0\r\n\r\n", good10("GET \"//a/../b\" HTTP/1.0\n"), false},
		{"raw bytes in a path", "GET /\xe9\"<|^`{} HTTP/1.0\r\n\r\n", good10("GET \"/\\xe9\\\"<|^`{}\" HTTP/1.0\n"), false},
		{"bare LF", "GET /a HTTP/1.0\nX-A: 1\n\n", good10("GET \"/a\" HTTP/1.0 X-A=[\"1\"]\n"), false},
		{"HTTP/1.0 keep-alive", "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", seen("HTTP/1.0", "GET \"/a\" HTTP/1.0\n", "keep-alive"), true},
		{
			"two pipelined requests", "GET /a HTTP/1.1\r\n" + host + "\r\nGET /b HTTP/1.1\r\n" + host + "\r\n",
			good11("GET \"/a\" HTTP/1.1\n") + good11("GET \"/b\" HTTP/1.1\n"), true,
		},
		{
			"HEAD", "HEAD /a HTTP/1.0\r\n\r\n",
			headOf(good10("HEAD \"/a\" HTTP/1.0\n")), false,
		},
		{"forged mark", "GET /mended/ABCDEFGHIJKLMNOPQRSTUVWXYZ HTTP/1.0\r\n\r\n", good10("GET \"/mended/ABCDEFGHIJKLMNOPQRSTUVWXYZ\" HTTP/1.0\n"), false},

		// Empty lines before a request line (RFC 9112, 2.2).
		{"CRLF first", "\r\n\n\r\nGET /a HTTP/1.0\r\n\r\n", good10("GET \"/a\" HTTP/1.0\n"), false},
		{
			"CRLF between requests", "GET /a HTTP/1.1\r\n" + host + "\r\n\r\n\r\nGET /b HTTP/1.1\r\n" + host + "\r\n\r\n",
			good11("GET \"/a\" HTTP/1.1\n") + good11("GET \"/b\" HTTP/1.1\n"), true,
		},
		{"CRLF and a mended line", "\r\nGET a HTTP/1.0\r\n\r\n", mended("GET \"a\" HTTP/1.0 mended\n"), false},
		{"CRLF and a Simple-Request", "\r\nGET a\r\n", "GET \"a\"  mended simple\n", false},
		{"empty lines without end", strings.Repeat("\r\n", maxBlankLines+1) + "GET /a HTTP/1.0\r\n\r\n", badRequest, false},

		// Lines that net/http refuses.
		{"no slash Y95-30", "GET alb002 HTTP/1.0\r\n\r\n", mended("GET \"alb002\" HTTP/1.0 mended\n"), false},
		{"with Accept Y95-33", "GET alb002 HTTP/1.0\r\nAccept: text/urc-0\r\n\r\n", mended("GET \"alb002\" HTTP/1.0 mended Accept=[\"text/urc-0\"]\n"), false},
		{"urn+m", "GET urn+m HTTP/1.0\r\n\r\n", mended("GET \"urn+m\" HTTP/1.0 mended\n"), false},
		{"no slash over HTTP/1.1", "GET alb002 HTTP/1.1\r\n" + host + "\r\n", mended("GET \"alb002\" HTTP/1.1 mended\n"), false},
		{"keep-alive ignored", "GET alb002 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", mended("GET \"alb002\" HTTP/1.0 mended\n"), false},
		{"bare LF, no slash", "GET alb002 HTTP/1.0\nX-A: 1\n\n", mended("GET \"alb002\" HTTP/1.0 mended X-A=[\"1\"]\n"), false},
		{"two spaces", "GET  /a  HTTP/1.0\r\n\r\n", mended("GET \"/a\" HTTP/1.0 mended\n"), false},
		{"tabs", "GET\t/a\t \tHTTP/1.0 \t\r\n\r\n", mended("GET \"/a\" HTTP/1.0 mended\n"), false},
		{"lower case", "GET /a http/1.0\r\n\r\n", mended("GET \"/a\" http/1.0 mended\n"), false},
		{"leading zeros (RFC 1945, 3.1)", "GET /a HTTP/01.00\r\n\r\n", mended("GET \"/a\" HTTP/01.00 mended\n"), false},
		{"lone percent", "GET /a% HTTP/1.0\r\n\r\n", mended("GET \"/a%\" HTTP/1.0 mended\n"), false},
		{"half an escape", "GET a%2 HTTP/1.0\r\n\r\n", mended("GET \"a%2\" HTTP/1.0 mended\n"), false},
		{"escaped line end is data Y95-72", "GET a%0D%0Ab HTTP/1.0\r\n\r\n", mended("GET \"a%0D%0Ab\" HTTP/1.0 mended\n"), false},
		{"odd characters", "GET \xe9\"<|^`{}\\ HTTP/1.0\r\n\r\n", mended("GET \"\\xe9\\\"<|^`{}\\\\\" HTTP/1.0 mended\n"), false},
		{"no scheme", "GET :a HTTP/1.0\r\n\r\n", mended("GET \":a\" HTTP/1.0 mended\n"), false},
		{"query only", "GET ?s=N2L HTTP/1.0\r\n\r\n", mended("GET \"?s=N2L\" HTTP/1.0 mended\n"), false},
		{"broken authority", "GET http://[::1/a HTTP/1.0\r\n\r\n", mended("GET \"http://[::1/a\" HTTP/1.0 mended\n"), false},
		{"mended after good", "GET /a HTTP/1.1\r\n" + host + "\r\nGET b HTTP/1.1\r\n" + host + "\r\n", good11("GET \"/a\" HTTP/1.1\n") + mended("GET \"b\" HTTP/1.1 mended\n"), false},
		{"nothing after mended", "GET a HTTP/1.1\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.1\r\n" + host + "\r\n", mended("GET \"a\" HTTP/1.1 mended\n"), false},
		{"mended HEAD", "HEAD a HTTP/1.0\r\n\r\n", headOf(mended("HEAD \"a\" HTTP/1.0 mended\n")), false},

		// Simple-Requests (RFC 1945, 5).
		{"Simple-Request Y95-32", "GET alb002\r\n", "GET \"alb002\"  mended simple\n", false},
		{"Simple-Request with LF", "GET alb002\n", "GET \"alb002\"  mended simple\n", false},
		{"Simple-Request for a path", "GET /alb002 \r\n", "GET \"/alb002\"  mended simple\n", false},
		{"Simple-Request for a URN", "GET urn:dns:example.org:alb002\r\n", "GET \"urn:dns:example.org:alb002\"  mended simple\n", false},
		{"Simple-Request and more", "GET alb002\r\nX-A: 1\r\n\r\n", "GET \"alb002\"  mended simple\n", false},
		{"Simple-Request with HEAD", "HEAD alb002\r\n", badRequest, false},
		{"Simple-Request with POST", "POST alb002\r\n", badRequest, false},
		{"Simple-Request is not a second request", "GET /a HTTP/1.1\r\n" + host + "\r\nGET b\r\n", good11("GET \"/a\" HTTP/1.1\n") + badRequest, false},
		{"target lost", "GET HTTP/1.0\r\n", badRequest, false},
		{"target lost between two spaces", "GET  HTTP/1.0\r\n", badRequest, false},

		// Other methods.
		{"POST Y95-31", "POST alb002 HTTP/1.0\r\n\r\n", answer("HTTP/1.0 405 Method Not Allowed", "POST \"alb002\" HTTP/1.0 mended\n", "close"), false},
		{"POST with a body", "POST alb002 HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", answer("HTTP/1.0 405 Method Not Allowed", "POST \"alb002\" HTTP/1.0 mended\n", "close"), false},
		{"POST with chunks", "POST alb002 HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", answer("HTTP/1.0 405 Method Not Allowed", "POST \"alb002\" HTTP/1.1 mended\n", "close"), false},
		{"POST and waiting", "POST alb002 HTTP/1.1\r\n" + host + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n", answer("HTTP/1.0 405 Method Not Allowed", "POST \"alb002\" HTTP/1.1 mended\n", "close"), false},
		{"unknown method", "RESOLVE alb002 HTTP/1.0\r\n\r\n", answer("HTTP/1.0 405 Method Not Allowed", "RESOLVE \"alb002\" HTTP/1.0 mended\n", "close"), false},
		{"method in lower case", "get alb002 HTTP/1.0\r\n\r\n", answer("HTTP/1.0 405 Method Not Allowed", "get \"alb002\" HTTP/1.0 mended\n", "close"), false},
		{"invalid method", "G(T alb002 HTTP/1.0\r\n", badRequest, false},
		{"CONNECT to nowhere", "CONNECT a%b HTTP/1.0\r\n", badRequest, false},

		// Lines that stay refused, as soon as they have come.
		{"three words", "GET a b HTTP/1.0\r\n", badRequest, false},
		{"no version", "GET a b\r\n", badRequest, false},
		{"version 2", "GET a HTTP/2.0\r\n", badRequest, false},
		{"version without minor", "GET a HTTP/1\r\n", badRequest, false},
		{"version without end", "GET a HTTP/1.000000000\r\n", badRequest, false},
		{"NUL", "GET a\x00 HTTP/1.0\r\n", badRequest, false},
		{"bare CR", "GET a\rb HTTP/1.0\r\n", badRequest, false},
		{"leading space", " GET a HTTP/1.0\r\n", badRequest, false},
		{"junk", "\x16\x03\x01\n", badRequest, false},

		// Headers.
		{"folded line", "GET a HTTP/1.0\r\nX-A: 1\r\n 2\r\n\r\n", mended("GET \"a\" HTTP/1.0 mended X-A=[\"1 2\"]\n"), false},
		{"folded first line", "GET a HTTP/1.0\r\n X-A: 1\r\nX-B: 2\r\n\r\n", badRequest, false},
		{"no colon", "GET a HTTP/1.0\r\nX-A\r\n\r\n", badRequest, false},
		{"space before colon", "GET a HTTP/1.0\r\nX-A : 1\r\n\r\n", badRequestFor("invalid header name"), false},
		{"NUL in a value", "GET a HTTP/1.0\r\nX-A: \x00\r\n\r\n", badRequest, false},
		{"two Hosts", "GET a HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", badRequest, false},
		{"no Host", "GET /a HTTP/1.1\r\n\r\n", badRequestFor("missing required Host header"), false},
		{"no Host, mended", "GET a HTTP/1.1\r\n\r\n", mended("GET \"a\" HTTP/1.1 mended\n"), false},

		// After the first request that may have a body, nothing is mended.
		{
			"body that looks like a request", "POST /a HTTP/1.1\r\n" + host + "Content-Length: 20\r\n\r\nGET alb002 HTTP/1.0\n",
			answer("HTTP/1.1 405 Method Not Allowed", "POST \"/a\" HTTP/1.1\n", ""), true,
		},
		{"GET with a body", "GET /a HTTP/1.1\r\n" + host + "Content-Length: 1\r\n\r\n\nGET b HTTP/1.0\r\n\r\n", good11("GET \"/a\" HTTP/1.1\n") + badRequest, false},
		{"GET without a body", "GET /a HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\nGET b HTTP/1.0\r\n\r\n", good11("GET \"/a\" HTTP/1.1\n") + mended("GET \"b\" HTTP/1.0 mended\n"), false},
		{"two lengths", "GET /a HTTP/1.1\r\n" + host + "Content-Length: 0\r\nContent-Length: 3\r\n\r\nGET b HTTP/1.0\r\n\r\n", badRequest, false},
		{"the same length twice", "GET /a HTTP/1.1\r\n" + host + "Content-Length: 0\r\nContent-Length: 0\r\n\r\nGET b HTTP/1.0\r\n\r\n", good11("GET \"/a\" HTTP/1.1\n") + badRequest, false},

		// Framing that readers understand in two ways (RFC 9112, 6.1).
		{"length and chunks", "POST /a HTTP/1.1\r\n" + host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\n" + host + "\r\n", misframedAnswer, false},
		{"chunks and length", "GET /a HTTP/1.1\r\n" + host + "transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n0\r\n\r\nGET b HTTP/1.0\r\n\r\n", misframedAnswer, false},
		{"chunks in HTTP/1.0", "GET /a HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", misframedAnswer, false},
		{"chunks in HTTP/1.0, mended", "POST a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", misframedAnswer, false},
		{"chunks in HTTP/1.0, second", "GET /a HTTP/1.1\r\n" + host + "\r\nGET /b HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: x\r\n\r\n", good11("GET \"/a\" HTTP/1.1\n") + misframedAnswer, false},
		{"folded coding", "GET /a HTTP/1.1\r\n" + host + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\nGET b HTTP/1.0\r\n\r\n", good11("GET \"/a\" HTTP/1.1\n") + badRequest, false},
		{"folded line, good", "GET /a HTTP/1.1\r\n" + host + "X-A: 1\r\n\tContent-Length: 9\r\n\r\nGET b HTTP/1.0\r\n\r\n", good11("GET \"/a\" HTTP/1.1 X-A=[\"1 Content-Length: 9\"]\n") + badRequest, false},
		{"unknown coding", "GET /a HTTP/1.1\r\n" + host + "Transfer-Encoding: x\r\n\r\n", "HTTP/1.1 501 Not Implemented\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nUnsupported transfer encoding", false},
		{"Upgrade", "GET /a HTTP/1.1\r\n" + host + "Upgrade: x\r\n\r\nGET b HTTP/1.0\r\n\r\n", good11("GET \"/a\" HTTP/1.1\n") + badRequest, false},
		{"Expect", "GET /a HTTP/1.1\r\n" + host + "Expect: 100-continue\r\n\r\nGET b HTTP/1.0\r\n\r\n", good11("GET \"/a\" HTTP/1.1\n") + badRequest, false},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", answer("HTTP/1.1 405 Method Not Allowed", "PRI \"*\" HTTP/2.0\n", "close"), false},
	}
	address := start(t, Config{}, echo)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, address)
			send(t, c, tt.in)
			if tt.ends {
				c.CloseWrite()
			}
			if diff := cmp.Diff(receive(t, c), tt.want); diff != "" {
				t.Errorf("sent %q (-got +want):\n%s", tt.in, diff)
			}
		})
	}
}

func headOf(answer string) string {
	head, _, _ := strings.Cut(answer, "\r\n\r\n")
	return head + "\r\n\r\n"
}

// badRequestFor is how net/http refuses a request of which it says more.
func badRequestFor(why string) string {
	return strings.ReplaceAll(badRequest, "400 Bad Request", "400 Bad Request: "+why)
}

// TestUnchanged checks that net/http reads the very bytes that ordinary clients
// send, however they arrive.
func TestUnchanged(t *testing.T) {
	for name, in := range map[string]string{
		"browser": browser,
		"curl":    "GET /alb002 HTTP/1.1\r\nHost: localhost:4500\r\nUser-Agent: curl/8.14.1\r\nAccept: */*\r\n\r\n",
		"Go":      "GET /alb002 HTTP/1.1\r\nHost: localhost:4500\r\nUser-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n\r\n",
		"upload":  "PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n\r\n\r\nGET b\r\n",
	} {
		for _, size := range []uint8{0, 1, 100} {
			if got := readAll(t, Config{}, cut([]byte(in+in), size), 4096); got != in+in {
				t.Errorf("%s in pieces of %d bytes: got %q, want %q", name, size, got, in+in)
			}
		}
	}
}

// TestLimits checks the bounds to the byte (Y95-72). Whatever is too much is
// answered before it has all come.
func TestLimits(t *testing.T) {
	line := func(n int) string { return "GET /" + strings.Repeat("a", n-len("GET / HTTP/1.0")) + " HTTP/1.0" }
	odd := func(n int) string { return "GET " + strings.Repeat("a", n-len("GET  HTTP/1.0")) + " HTTP/1.0" }
	block := func(n int) string {
		const name = "X-Y: "
		one := name + strings.Repeat("b", 1022-len(name)) + "\r\n"
		return strings.Repeat(one, n/1024-1) + name + strings.Repeat("c", 1024+n%1024-len(name)-2) + "\r\n"
	}
	get := "GET /a HTTP/1.0\r\n"
	tests := []struct{ name, in, want string }{
		{"line that just fits", line(DefaultMaxLine) + "\r\n\r\n", "200 OK"},
		{"line that just fits, LF", line(DefaultMaxLine) + "\n\n", "200 OK"},
		{"line one too long", line(DefaultMaxLine+1) + "\r\n", "414 Request URI Too Long"},
		{"line one too long, LF", line(DefaultMaxLine+1) + "\n", "414 Request URI Too Long"},
		{"line without end", line(DefaultMaxLine + 1), "414 Request URI Too Long"},
		{"odd line that just fits", odd(DefaultMaxLine) + "\r\n\r\n", "200 OK"},
		{"odd line one too long", odd(DefaultMaxLine+1) + "\r\n", "414 Request URI Too Long"},
		{"line of another method", "POST" + line(DefaultMaxLine - 1)[3:] + "a\r\n", "414 Request URI Too Long"},
		{"block that just fits", get + block(DefaultMaxHeader) + "\r\n", "200 OK"},
		{"block that just fits, LF", get + block(DefaultMaxHeader) + "\n", "200 OK"},
		{"block one too long", get + block(DefaultMaxHeader+1), "431 Request Header Fields Too Large"},
		{"block of one line without end", get + strings.Repeat("a", DefaultMaxHeader+1), "431 Request Header Fields Too Large"},
		{"block of an odd line", odd(100) + "\r\n" + block(DefaultMaxHeader+1), "431 Request Header Fields Too Large"},
		{"block of another method", "POST /a HTTP/1.0\r\n" + block(DefaultMaxHeader+1), "431 Request Header Fields Too Large"},
		{"folds", get + "X-A: 1\r\n" + strings.Repeat(" 2\r\n", DefaultMaxHeader/4), "431 Request Header Fields Too Large"},
		{"much too long", strings.Repeat("a", maxLinger-1), "414 Request URI Too Long"},
	}
	address := start(t, Config{}, echo)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, address)
			send(t, c, tt.in)
			got := receive(t, c)
			if status, _, _ := strings.Cut(got[len("HTTP/1.x "):], "\r\n"); status != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRefusal checks an answer of the wire's own byte by byte.
func TestRefusal(t *testing.T) {
	const body = "414 Request URI Too Long\r\nThe request line is too long.\r\n"
	head := fmt.Sprintf("HTTP/1.1 414 Request URI Too Long\r\nDate: %s\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n", date, len(body))
	const first = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
	answered := seen("HTTP/1.1", "GET \"/a\" HTTP/1.1\n", "")
	tests := []struct{ name, in, want string }{
		{"GET", "GET /aaaaaaaaaaaaaaaaaaaaaaaa", head + body},
		{"HEAD", "HEAD /aaaaaaaaaaaaaaaaaaaaaaaa", head},
		{"after a good request", first + "GET /aaaaaaaaaaaaaaaaaaaaaaaa", answered + head + body},
	}
	address := start(t, Config{MaxLine: 24}, echo)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, address)
			send(t, c, tt.in)
			if diff := cmp.Diff(receive(t, c), tt.want); diff != "" {
				t.Errorf("sent %q (-got +want):\n%s", tt.in, diff)
			}
		})
	}
}

// TestLog checks that a request which no handler sees leaves a line.
func TestLog(t *testing.T) {
	var log strings.Builder
	l := newChanListener()
	server := &http.Server{Handler: http.HandlerFunc(echo), ConnContext: ConnContext}
	go server.Serve(NewListener(l, Config{MaxLine: 9, Log: slog.New(slog.NewTextHandler(&log, nil))}))
	defer server.Close()
	runScript(l, []byte("GET /a HTTP/1.0\r\n\r\n"))
	if got, want := log.String(), " level=INFO msg=\"request rejected\" status=414\n"; !strings.HasSuffix(got, want) {
		t.Errorf("Y95-71: got %q, want %q at its end", got, want)
	}
}

// TestUnknownConnection checks that nothing is mended for a handler that could
// not learn of it.
func TestUnknownConnection(t *testing.T) {
	l := newChanListener()
	server := &http.Server{Handler: http.HandlerFunc(echo), ErrorLog: nil}
	go server.Serve(NewListener(l, Config{}))
	defer server.Close()
	if got := runScript(l, []byte("GET a HTTP/1.0\r\n\r\n")); got != badRequest {
		t.Errorf("got %q, want %q", got, badRequest)
	}
}

// TestOtherContext checks that the questions can be asked of any request.
func TestOtherContext(t *testing.T) {
	r, err := http.NewRequest("GET", "/a", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.RequestURI = "/a"
	if got, want := view(r), "GET \"/a\" HTTP/1.1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
