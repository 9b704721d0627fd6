package replay

import (
	"errors"
	"strings"
	"testing"
)

func TestParseLine(t *testing.T) {
	get := func(target string, status int) Entry {
		return Entry{Request: Request{Method: "GET", Target: target}, Status: status}
	}
	const before, after = `192.0.2.7 - - [20/Nov/2026:12:00:00 +0000] "`, ` 312 "-" "curl/8"`
	for _, tt := range []struct {
		line string
		want Entry
		err  error
	}{
		// Apache httpd 2.4, mod_log_config: common, combined, vhost_combined.
		{before + `GET /a?b=c HTTP/1.1" 302 312`, get("/a?b=c", 302), nil},
		{before + `HEAD /a HTTP/1.1" 200` + after, Entry{Request: Request{"HEAD", "/a", ""}, Status: 200}, nil},
		{`old.example:80 ` + before + `GET /a HTTP/1.1" 404` + after, get("/a", 404), nil},
		{`2001:db8::1 - jim [x] y [20/Nov/2026:12:00:00 +0000] "GET /a HTTP/1.1" 404 -`, get("/a", 404), nil},
		{before + `GET /a" 200 1`, get("/a", 200), nil}, // HTTP/0.9
		{before + `GET /a HTTP/1.1" - -`, get("/a", 0), nil},
		// Escapes of both servers.
		{before + `GET /\"q\\ HTTP/1.1" 200` + after, get(`/"q\`, 200), nil},
		{before + `GET /\x22\xc3\xbc HTTP/1.1" 200` + after, get(`/"%C3%BC`, 200), nil},
		{before + `GET /%C3%bc HTTP/1.1" 200` + after, get(`/%C3%bc`, 200), nil},
		{before + `GET /` + "\xff" + ` HTTP/1.1" 200` + after, get(`/%FF`, 200), nil},
		// The absolute form: only the path counts.
		{before + `GET http://jim:secret@10.0.0.1:8080/a//b?c HTTP/1.1" 200` + after, get("/a//b?c", 200), nil},
		{before + `GET HTTPS://h HTTP/1.1" 200` + after, get("/", 200), nil},
		{before + `GET http://h?q HTTP/1.1" 200` + after, get("/?q", 200), nil},
		{before + `GET //h/x HTTP/1.1" 200` + after, get("//h/x", 200), nil},
		// Requests that are not sent.
		{before + `POST /a HTTP/1.1" 200` + after, Entry{}, ErrMethod},
		{before + `get /a HTTP/1.1" 200` + after, Entry{}, ErrMethod},
		{before + `OPTIONS * HTTP/1.1" 200` + after, Entry{}, ErrMethod},
		{before + `GET a HTTP/1.1" 400` + after, Entry{}, ErrLine},
		{before + `GET /a b HTTP/1.1" 400` + after, Entry{}, ErrLine},
		{before + `GET /a\r\nHost:x HTTP/1.1" 400` + after, Entry{}, ErrLine},
		{before + `GET /a\x00 HTTP/1.1" 400` + after, Entry{}, ErrLine},
		{before + `\x16\x03\x01" 400` + after, Entry{}, ErrLine},
		{before + `-" 408 -`, Entry{}, ErrLine},
		{before + `GET /a HTTP/1.1`, Entry{}, ErrLine},
		{before + `GET /a HTTP/1.1\`, Entry{}, ErrLine},
		{before + `GET /a HTTP/1.1" 20`, Entry{}, ErrLine},
		{before + `GET /a HTTP/1.1" 99 1`, Entry{}, ErrLine},
		{`no log`, Entry{}, ErrLine},
		// As nginx 1.22 wrote them: combined, escape=json, and JSON with the default escapes, which is malformed.
		{`127.0.0.1 - - [23/Nov/2026:23:50:43 +0000] "GET /\x22q\x5Cx\xC3\xBC HTTP/1.0" 302 145 "-" "-"`, get(`/"q\x%C3%BC`, 302), nil},
		{`127.0.0.1 - - [23/Nov/2026:23:50:43 +0000] "\x16\x03\x01\x00" 400 157 "-" "-"`, Entry{}, ErrLine},
		{`{"remote_addr":"127.0.0.1","request":"GET /\"q\\x` + "\xc3\xbc" + ` HTTP/1.0","status":302,"http_accept":"","location":""}`, get(`/"q\x%C3%BC`, 302), nil},
		{`{"remote_addr":"127.0.0.1","request":"GET /old","status":302}`, get("/old", 302), nil},
		{`{"request_method":"GET","uri":"/\x22q","status":"302","location":"-"}`, Entry{}, ErrLine},
		{`{"request_method":"-","uri":"-","status":"400","location":"-"}`, Entry{}, ErrLine},
		// nomen, Caddy, Traefik, nginx.
		{`{"time":"2026-11-20T12:00:00Z","msg":"request","remote":"192.0.2.7","method":"GET","target":"/a?b","status":303}`, get("/a?b", 303), nil},
		{
			`{"request":{"remote_ip":"192.0.2.7","method":"GET","host":"old.example","uri":"/a?b","headers":{"Accept":["text/html","*/*"]}},"status":302,"resp_headers":{"Location":["https://example.org/b"]}}`,
			Entry{Request{"GET", "/a?b", "text/html"}, 302, "https://example.org/b"},
			nil,
		},
		{`{"ClientHost":"192.0.2.7","RequestMethod":"GET","RequestPath":"/a","DownstreamStatus":404,"request_Accept":"text/html"}`, Entry{Request: Request{"GET", "/a", "text/html"}, Status: 404}, nil},
		{`{"remote_addr":"192.0.2.7","request":"GET /a HTTP/2.0","status":"301","http_accept":"-","sent_http_location":"/b"}`, Entry{Request{"GET", "/a", ""}, 301, "/b"}, nil},
		{`{"request_method":"GET","path":"/a","query":"?b=c","status":200}`, get("/a?b=c", 200), nil},
		{`{"method":"PUT","uri":"/a","status":200}`, Entry{}, ErrMethod},
		{`{"method":"GET","uri":"/a"}`, Entry{}, ErrLine},
		{`{"method":"GET","uri":"/a","status":{}}`, Entry{}, ErrLine},
		{`{"method":"GET","uri":"/a","status":200,"accept":"a\r\nHost: b"}`, Entry{}, ErrLine},
		{`{"method":"GET","uri":"/a","status":200`, Entry{}, ErrLine},
		{`{}`, Entry{}, ErrLine},
	} {
		got, err := ParseLine(tt.line)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("ParseLine(%q)\n= %+v, %v\nwant %+v, %v", tt.line, got, err, tt.want, tt.err)
		}
	}
}

// FuzzParseLine checks that no line can lead to a request that is not a GET or HEAD request of one
// line for a path, and that no error quotes a line.
func FuzzParseLine(f *testing.F) {
	for _, line := range []string{
		`192.0.2.7 - - [20/Nov/2026:12:00:00 +0000] "GET /\x22\"a?b HTTP/1.1" 302 312 "-" "curl/8"`,
		`{"request":{"method":"GET","uri":"/a?b","headers":{"Accept":["text/html"]}},"status":302}`,
		`{"request":"HEAD http://h/a HTTP/1.1","status":"301","args":"c"}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e, err := ParseLine(line)
		if err != nil {
			if e != (Entry{}) || !errors.Is(err, ErrLine) && !errors.Is(err, ErrMethod) {
				t.Errorf("got %+v, %v", e, err)
			}
			return
		}
		if e.Method != "GET" && e.Method != "HEAD" || !strings.HasPrefix(e.Target, "/") || strings.ContainsAny(e.Target+e.Accept, "\r\n\x00") ||
			strings.Contains(e.Target, " ") || !isPrintable(e.Target+e.Accept) {
			t.Errorf("got %+v", e)
		}
		again, err := newEntry(e.Request, e.Status, e.Location)
		if again != e || err != nil {
			t.Errorf("%+v becomes %+v, %v", e, again, err)
		}
	})
}
