package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/internal/wire"
)

const urc2648 = "=====\r\nhttps://www.rfc-editor.org/rfc/rfc2648.txt\r\n" +
	"name: urn:ietf:rfc:2648\r\nstatus: active\r\ntitle: A URN Namespace for IETF Documents\r\ncreator: R. Moats\r\n" +
	"same-as: urn:doi:10.17487/rfc2648\r\nmodified: 2026-11-19T08:30:00Z\r\nrevision: 1\r\n" +
	"=====\r\nhttps://www.rfc-editor.org/rfc/rfc2648.html\r\n"

const urcAlb002 = "=====\r\nhttps://example.org/albums/2\r\nThe second album\r\n\r\n" +
	"name: urn:dns:example.org:alb002\r\nstatus: active\r\nmodified: 2026-11-19T08:30:00Z\r\nrevision: 1\r\n"

// TestRawBytes sends bytes and checks the bytes received: the status line, some fields,
// and the whole body or, with "~", a part of it.
func TestRawBytes(t *testing.T) {
	const host = "\r\nHost: example.org"
	get := func(target string, fields ...string) string {
		return "GET " + target + " HTTP/1.0\r\n" + strings.Join(append(fields, "", ""), "\r\n")
	}
	at := func(target string, fields ...string) string {
		return get(target, append(fields, "Host: example.org")...)
	}
	web := func(method, target string, fields ...string) string {
		return method + " " + target + " HTTP/1.1\r\n" + strings.Join(append(fields, "Host: example.org", "Connection: close", "", ""), "\r\n")
	}
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	listURL := "http://example.org:" + fmt.Sprint(l.Public.(*net.TCPAddr).Port) + "/-/list/urn:dns:example.org"
	for _, tt := range []struct {
		title, in, status string
		fields            map[string]string // "" for an absent field
		body              string
	}{
		// The protocol of 1995.
		{"Y95-30 element of the default authority", get("2648"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/urc-0", "Connection": "close"}, urc2648},
		{"Y95-37 authority by Host", at("alb002", "Accept: text/urc-0"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/urc-0", "Content-Length": fmt.Sprint(len(urcAlb002))}, urcAlb002},
		{"Y95-37 Host in capitals, with port and dot", get("alb002", "Host: EXAMPLE.org.:4500"), "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-32 simple request", "GET 2648\r\n", "", nil, urc2648},
		{"Y95-32 simple request of a full name", "GET urn:dns:example.org:alb002\r\n", "", nil, urcAlb002},
		{"Y95-32 simple request for what is not there", "GET none\r\n", "", nil, "~urn:ietf:rfc:none"},
		{"Y95-28 bare line feeds", "GET alb002 HTTP/1.0\nHost: example.org\n\n", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-28 two spaces", "GET  alb002  HTTP/1.0" + host + "\r\n\r\n", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-28 version in lower case", "GET alb002 http/1.0" + host + "\r\n\r\n", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-28 empty line before", "\r\nGET alb002 HTTP/1.0" + host + "\r\n\r\n", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-07 lone percent sign", at("a%"), "HTTP/1.0 400 Malformed name", nil, "~Error at offset 1, rule pct-encoded."},
		{"Y95-07 half an escape", at("abc%2"), "HTTP/1.0 400 Malformed name", nil, "~Error at offset 3, rule pct-encoded."},
		{"Y95-07 in problem details", at("abc%2", "Accept: application/problem+json"), "HTTP/1.0 400 Malformed name", map[string]string{"Content-Type": "application/problem+json"}, `~"offset":3`},
		{"Y95-08 question mark", at("a?b"), "HTTP/1.0 400 Malformed name", nil, "~Error at offset 1, rule ElementID."},
		{"Y95-08 number sign", at("a#b"), "HTTP/1.0 400 Malformed name", nil, "~Error at offset 1"},
		{"Y95-08 question mark in a full name", get("urn:dns:example.org:a?b"), "HTTP/1.0 400 Malformed name", nil, "~Error at offset 21"},
		{"Y95-08 escaped ones are data", at("a%3Fb%23c"), "HTTP/1.0 404 Unknown name", nil, "~urn:dns:example.org:a%3Fb%23c"},
		{"Y95-12 escapes are sent on as they are", at("a%2Fb"), "HTTP/1.0 200 OK", nil, "~https://example.org/escaped\r\n"},
		{"Y95-12 slash is not its escape", at("deep%2Fer"), "HTTP/1.0 404 Unknown name", nil, "~deep%2Fer"},
		{"Y95-30 slash in an element", at("deep/er"), "HTTP/1.0 200 OK", nil, "~https://example.org/deeper\r\n"},
		{"Y95-72 escaped line end is data", at("a%0d%0aB"), "HTTP/1.0 404 Unknown name", nil, "~a%0D%0AB"},
		{"Y95-72 escaped line end of a name", at("a%0d%0ab"), "HTTP/1.0 200 OK", nil, "~https://example.org/crlf\r\n"},
		{"Y95-38 full name to a proxy", get("urn:dns:example.org:alb002"), "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-38 full name in capitals", get("URN:DNS:Example.ORG:alb002"), "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-38 full name of another scheme", get("ark:/12345/x"), "HTTP/1.0 200 OK", nil, "~https://example.org/ark\r\n"},
		{"Y95-63 absolute form", get("http://example.org/alb002"), "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-63 absolute form goes before Host", "GET http://example.org/alb002 HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK", nil, urcAlb002},
		{"Y95-63 absolute form of a name", get("http://example.org/urn:ietf:rfc:2648"), "HTTP/1.0 302 Found at https://www.rfc-editor.org/rfc/rfc2648.txt", map[string]string{"Location": "https://www.rfc-editor.org/rfc/rfc2648.txt"}, "~"},
		{"Y95-63 absolute form of a name that is a URL", get("https://purl.example/net/x"), "HTTP/1.0 302 Found at https://example.org/purl", map[string]string{"Location": "https://example.org/purl"}, "~"},
		{"Y95-21 no proxy for others", get("http://www.example.com/alb002"), "HTTP/1.0 421 Misdirected Request", nil, "~not a proxy"},
		{"OPTIONS for others", "OPTIONS http://www.example.com/ HTTP/1.0\r\n\r\n", "HTTP/1.0 421 Misdirected Request", nil, "~not a proxy"},
		{"Y95-21 no authority of ours", get("urn:dns:example.com:alb002"), "HTTP/1.0 404 Unknown name", nil, "~no authority"},
		{"Y95-41 not known", at("none"), "HTTP/1.0 404 Unknown name", map[string]string{"Content-Type": "text/urc-0"}, "~urn:dns:example.org:none"},
		{"Y95-41 reserved", at("secret"), "HTTP/1.0 404 Unknown name", nil, "~not found"},
		{"Y95-41 retired", at("split"), "HTTP/1.0 410 Retired name", nil, "~reason: a new edition\r\nsuccessor: urn:dns:example.org:alb002\r\nsuccessor: urn:dns:example.org:queried\r\n"},
		{"Y95-42 Y95-43 moved to another name", at("old?s=I2L"), "HTTP/1.0 301 urn:dns:example.org:alb002", map[string]string{"Location": "urn:dns:example.org:alb002", "Cache-Control": "max-age=86400"}, "~reason: a new edition\r\nsuccessor: urn:dns:example.org:alb002\r\n"},
		{"Y95-42 Y95-43 by a full name", get("urn:dns:example.org:old?s=I2L"), "HTTP/1.0 301 urn:dns:example.org:alb002", map[string]string{"Location": "urn:dns:example.org:alb002"}, "~"},
		{"Y95-41 Y95-42 moved temporarily", at("alb002?s=I2L"), "HTTP/1.0 302 Found at https://example.org/albums/2", map[string]string{"Location": "https://example.org/albums/2"}, "https://example.org/albums/2\r\n"},
		{"Y95-31 POST", "POST alb002 HTTP/1.0" + host + "\r\n\r\n", "HTTP/1.0 405 Method Not Allowed", map[string]string{"Allow": "GET, HEAD, OPTIONS"}, "~GET or HEAD"},
		{"Y95-31 POST on the web", web("POST", "/alb002", "Content-Length: 0"), "HTTP/1.1 405 Method Not Allowed", map[string]string{"Allow": "GET, HEAD, OPTIONS"}, "~"},
		{"Y95-31 an unknown method", web("PROPFIND", "/alb002"), "HTTP/1.1 405 Method Not Allowed", nil, "~"},
		{"Y95-36 pragma, from and the like", at("alb002", "Pragma: no-cache", "From: a@example.org", "Referer: http://example.org/", "User-Agent: x", "Authorization: Basic eDp5"), "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-27 cookies change nothing", at("alb002", "Cookie: authority=other"), "HTTP/1.0 200 OK", map[string]string{"Set-Cookie": ""}, urcAlb002},
		{"Y95-69 URLs even in plain text", at("alb002", "Accept: text/plain"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/plain; charset=utf-8"}, "~https://example.org/albums/2\n"},

		// Methods and conditions.
		{"HEAD", "HEAD alb002 HTTP/1.0" + host + "\r\n\r\n", "HTTP/1.0 200 OK", map[string]string{"Content-Length": fmt.Sprint(len(urcAlb002)), "Content-Type": "text/urc-0"}, ""},
		{"Y95-68 dates", at("alb002"), "HTTP/1.0 200 OK", map[string]string{"Last-Modified": modifiedText, "Date": "Fri, 20 Nov 2026 12:00:00 GMT"}, urcAlb002},
		{"Y95-68 modified since", at("alb002", "If-Modified-Since: Thu, 19 Nov 2026 08:29:59 GMT"), "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Y95-68 not modified since", at("alb002", "If-Modified-Since: "+modifiedText), "HTTP/1.0 304 Not Modified", map[string]string{"Last-Modified": modifiedText, "Content-Type": "", "Content-Length": ""}, ""},
		{"Y95-68 not modified since later", at("alb002", "If-Modified-Since: Thu, 19 Nov 2026 09:30:00 GMT"), "HTTP/1.0 304 Not Modified", nil, ""},
		{"Y95-68 date of RFC 850", at("alb002", "If-Modified-Since: Thursday, 19-Nov-26 08:30:00 GMT"), "HTTP/1.0 304 Not Modified", nil, ""},
		{"Y95-68 an invalid date", at("alb002", "If-Modified-Since: yesterday"), "HTTP/1.0 200 OK", nil, urcAlb002},
		{"If-None-Match any", at("alb002", "If-None-Match: *"), "HTTP/1.0 304 Not Modified", nil, ""},
		{"If-None-Match goes before If-Modified-Since", at("alb002", `If-None-Match: "other"`, "If-Modified-Since: "+modifiedText), "HTTP/1.0 200 OK", nil, urcAlb002},
		{"conditions on a redirection", web("GET", "/urn:ietf:rfc:2648", "If-None-Match: *", "If-Modified-Since: "+modifiedText), "HTTP/1.1 303 See Other", nil, "~"},
		{"conditions on an error", at("none", "If-None-Match: *"), "HTTP/1.0 404 Unknown name", nil, "~"},

		// Negotiation.
		{"Y95-34 Y95-40 asked format", at("alb002", "Accept: text/html"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/html; charset=utf-8"}, `~<A HREF="https://example.org/albums/2">`},
		{"Y95-45 any format", at("alb002", "Accept: */*"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/urc-0"}, urcAlb002},
		{"Y95-34 unknown format", at("alb002", "Accept: application/x-unknown"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/urc-0"}, urcAlb002},
		{"Y95-34 q=0", at("alb002", "Accept: text/urc-0;q=0, text/plain;q=0.1"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/plain; charset=utf-8"}, "~"},
		{"Y95-34 nothing at all", at("alb002", "Accept: */*;q=0"), "HTTP/1.0 406 Not Acceptable", nil, "~text/uri-list"},
		{"Y95-34 errors are never 406", at("none", "Accept: */*;q=0"), "HTTP/1.0 404 Unknown name", nil, "~"},
		{"Y95-34 redirections are never 406", web("GET", "/urn:ietf:rfc:2648", "Accept: */*;q=0"), "HTTP/1.1 303 See Other", nil, "~"},

		{"N12-71 another name of the same resource", get("urn:ietf:rfc:2648?s=I2Ns"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/uri-list"}, "~urn:doi:10.17487/rfc2648\r\n"},
		{"N12-66 a query is not part of the name", get("urn:ietf:rfc:2648?s=I2C"), "HTTP/1.0 200 OK", nil, "~name: urn:ietf:rfc:2648\r\n"},

		// Reserved requests.
		{"Y95-55 urn+m", at("urn+m"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/urc-0"}, "=====\r\nmailto:names@example.org\r\nAlbums of all kinds\r\nThis is the resolver of the naming authority urn:dns:example.org.\r\nIts owners are archive, library.\r\nSoftware: nomen 1.2.3.\r\n"},
		{"Y95-55 urn+m without an authority", get("urn+m"), "HTTP/1.0 200 OK", nil, "~Software: nomen 1.2.3."},
		{"Y95-54 urn+m as a page", at("urn+m", "Accept: text/html"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/html; charset=utf-8"}, "~mailto:names@example.org"},
		{"Y95-56 urn+a", at("urn+a"), "HTTP/1.0 200 OK", nil, "=====\r\n" + listURL + "\r\nAll ElementIDs: about 9, about 1K, sorted by spelling.\r\n"},
		{"Y95-56 urn+a where nothing is listed", get("urn+a"), "HTTP/1.0 404 No result for this service", nil, "~does not list"},
		{"Y95-57 the list", web("GET", "/-/list/urn:dns:example.org"), "HTTP/1.1 200 OK", map[string]string{"Content-Type": "text/plain; charset=utf-8"}, "a%0D%0Ab\r\na%2Fb\r\nalb002\r\nbare\r\ndata\r\ndeep/er\r\nold\r\nqueried\r\nsplit\r\n"},
		{"Y95-57 the list by another spelling of the authority", web("HEAD", "/-/list/URN:DNS:Example.ORG:"), "HTTP/1.1 200 OK", nil, ""},
		{"Y95-57 no list", web("GET", "/-/list/urn:ietf:rfc"), "HTTP/1.1 404 Unknown name", nil, "~list not found"},
		{"Y95-58 urn+c", at("urn+c"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/plain; charset=utf-8"}, "urn:dns:labels.example.org\r\nurn:dns:more.example.org\r\n"},
		{"Y95-58 urn+c in JSON-LD: no files of a work", at("urn+c", "Accept: application/ld+json"), "HTTP/1.0 200 OK", nil, `~"@type":"CreativeWork","dcterms:relation":[{"@id":"http`},
		{"Y95-58 urn+c in Turtle: no files of a work", at("urn+c", "Accept: text/turtle"), "HTTP/1.0 200 OK", nil, "~dcterms:relation <http"},
		{"Y95-58 urn+c without children", get("urn+c"), "HTTP/1.0 200 OK", map[string]string{"Content-Length": "0"}, ""},
		{"Y95-59 urn+p, several parents", get("urn+p", "Host: other.example"), "HTTP/1.0 200 OK", nil, "urn:dns:example.org\r\nurn:dns:example.net\r\n"},
		{"Y95-59 urn+p without a parent", at("urn+p"), "HTTP/1.0 200 OK", map[string]string{"Content-Length": "0"}, ""},
		{"Y95-54 urn+p in JSON", get("urn+p", "Host: other.example", "Accept: application/json"), "HTTP/1.0 200 OK", map[string]string{"Content-Type": "application/json"}, `~"urn:dns:example.org"`},
		{"Y95-55 by full name", get("urn:dns:example.org:urn+m"), "HTTP/1.0 200 OK", nil, "~mailto:names@example.org"},
		{"Y95-58 with a slash", web("GET", "/urn+c"), "HTTP/1.1 200 OK", nil, "urn:dns:labels.example.org\r\nurn:dns:more.example.org\r\n"},
		{"Y95-58 full name with a slash", web("GET", "/urn:dns:example.org:urn+c"), "HTTP/1.1 200 OK", nil, "~urn:dns:labels.example.org\r\n"},
		{"Y95-61 urn+x", at("urn+x"), "HTTP/1.0 404 Unknown name", nil, "~unknown request"},
		{"Y95-61 urn+M", at("urn+M"), "HTTP/1.0 404 Unknown name", nil, "~unknown request"},
		{"Y95-61 urn+mm by full name", get("urn:dns:example.org:urn+mm"), "HTTP/1.0 404 Unknown name", nil, "~unknown request"},
		{"Y95-61 escaped", get("urn:dns:example.org:%75rn+m"), "HTTP/1.0 404 Unknown name", nil, "~"},
		{"Y95-61 URN+m is an element", at("URN+m"), "HTTP/1.0 404 Unknown name", nil, "~urn:dns:example.org:URN+m"},

		// The web.
		{"to the location", web("GET", "/urn:ietf:rfc:2648"), "HTTP/1.1 303 See Other", map[string]string{"Location": "https://www.rfc-editor.org/rfc/rfc2648.txt", "Access-Control-Allow-Origin": "*"}, "https://www.rfc-editor.org/rfc/rfc2648.txt\r\n"},
		{"Y95-42 to the location in HTTP/1.0", get("/urn:ietf:rfc:2648"), "HTTP/1.0 302 Found at https://www.rfc-editor.org/rfc/rfc2648.txt", nil, "~"},
		{"the status set by an authority", web("GET", "/urn:dns:other.example:alb002"), "HTTP/1.1 307 Temporary Redirect", nil, "~"},
		{"the default service of an authority", web("GET", "/ark:12345/x"), "HTTP/1.1 200 OK", nil, "~https://example.org/ark\r\n"},
		{"element by Host", web("GET", "/alb002"), "HTTP/1.1 200 OK", map[string]string{"Content-Type": "text/urc-0"}, urcAlb002},
		{"successor on the web", web("GET", "/urn:dns:example.org:old"), "HTTP/1.1 301 Moved Permanently", map[string]string{"Location": "/urn:dns:example.org:alb002", "Cache-Control": "max-age=86400"}, "~"},
		{"ETag matches", web("HEAD", "/alb002", `If-None-Match: W/"x", `+validator.TagOf("text/urc-0", string(identity), []byte(urcAlb002))), "HTTP/1.1 304 Not Modified", nil, ""},
		{"RFC 9110, 9.3.7 OPTIONS of the whole server", web("OPTIONS", "*"), "HTTP/1.1 204 No Content", map[string]string{"Allow": "GET, HEAD, OPTIONS"}, ""},
		{"preflight", web("OPTIONS", "/urn:ietf:rfc:2648", "Origin: https://example.com", "Access-Control-Request-Method: GET"), "HTTP/1.1 204 No Content", map[string]string{"Access-Control-Allow-Origin": "*", "Allow": "GET, HEAD, OPTIONS"}, ""},
		{"as Go asks", "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: example.org\r\nUser-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n", "HTTP/1.1 303 See Other", map[string]string{"Location": "https://www.rfc-editor.org/rfc/rfc2648.txt", "Content-Encoding": ""}, "~"},
		{"as curl asks", "GET /alb002 HTTP/1.1\r\nHost: example.org\r\nUser-Agent: curl/8.14.1\r\nAccept: */*\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK", nil, urcAlb002},
		{
			"as a browser asks", web("GET", "/alb002", "User-Agent: Mozilla/5.0", "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Accept-Language: de,en-US;q=0.7,en;q=0.3", "Accept-Encoding: gzip, deflate, br, zstd", "Upgrade-Insecure-Requests: 1", "Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none", "Priority: u=0, i"),
			"HTTP/1.1 200 OK",
			map[string]string{"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Content-Encoding": "zstd"},
			"~\x28\xb5\x2f\xfd", // RFC 8878, 3.1.1
		},
		{"any query", web("GET", "/urn:ietf:rfc:2648?fbclid=x"), "HTTP/1.1 303 See Other", map[string]string{"Location": "https://www.rfc-editor.org/rfc/rfc2648.txt"}, "~"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			answer := exchange(t, l.Public, tt.in)
			status, fields, body := cutAnswer(answer)
			if tt.status == "" { // HTTP/0.9: only the body
				status, fields, body = "", nil, answer
			}
			if status != tt.status {
				t.Errorf("%q: got %q, want %q", tt.in, status, tt.status)
			}
			for name, want := range tt.fields {
				if got := fieldOf(fields, name); got != want {
					t.Errorf("%q: %s: got %q, want %q", tt.in, name, got, want)
				}
			}
			if part, ok := strings.CutPrefix(tt.body, "~"); ok && !strings.Contains(body, part) {
				t.Errorf("%q: got the body\n%s\nwant one with %q", tt.in, body, part)
			} else if !ok && body != tt.body {
				t.Errorf("%q: body: %s", tt.in, cmp.Diff(body, tt.body))
			}
		})
	}
}

// Y95-72: limits of requests.
func TestRawLimits(t *testing.T) {
	patient, _ := newTestServer(t, nil)
	hasty, _ := newTestServer(t, func(o *Options) { o.Limits.HeadTimeout = time.Second / 2 })
	public := map[bool]net.Addr{false: listen(t, patient).Public, true: listen(t, hasty).Public}
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, tt := range []struct {
		title, in, want string
		ends            bool // ended by the timeout for a header
	}{
		{"Y95-72 longest line", "GET " + long(wire.DefaultMaxLine-len("GET  HTTP/1.0")) + " HTTP/1.0\r\n\r\n", "HTTP/1.0 400 Malformed name", false},
		{"Y95-72 line too long", "GET " + long(wire.DefaultMaxLine+1-len("GET  HTTP/1.0")) + " HTTP/1.0\r\n\r\n", "HTTP/1.1 414 ", false},
		{"Y95-72 header too long", "GET 2648 HTTP/1.0\r\nX: " + long(wire.DefaultMaxHeader+1-len("X: \r\n")) + "\r\n\r\n", "HTTP/1.1 431 ", false},
		{"Y95-72 head that never ends", "GET 2648 HTTP/1.0\r\nX:", "HTTP/1.1 408 ", true},
	} {
		t.Run(tt.title, func(t *testing.T) {
			if got := exchange(t, public[tt.ends], tt.in); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %.60q, want %q", got, tt.want)
			}
		})
	}
}

// Y95-27: valid requests on one connection are answered one after the other, each by itself. A
// request that the server accepts although it is malformed is the last one on its connection.
func TestRawPipeline(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	c, err := net.Dial("tcp", l.Public.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, "GET /alb002 HTTP/1.1\r\nHost: example.org\r\n\r\nGET /alb002 HTTP/1.1\r\nHost: other.example\r\n\r\n"+
		"GET alb002 HTTP/1.1\r\nHost: example.org\r\nConnection: keep-alive\r\n\r\nGET /alb002 HTTP/1.1\r\nHost: example.org\r\n\r\n")
	in := bufio.NewReader(c)
	for _, want := range []string{"https://example.org/albums/2", "https://other.example/2", "https://example.org/albums/2"} {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), want) {
			t.Errorf("got %s: %s, %v; want %s", resp.Status, body, err, want)
		}
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the mended request: %q, %v", rest, err)
	}
}

// Y95-30 to Y95-37: the local address determines the authority, if the Host field does
// not.
func TestAuthorityByAddress(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l, err := s.Listen(Listener{Address: "127.0.0.9:0"})
	if err != nil {
		t.Fatalf("a second loopback address is needed: %v", err)
	}
	defer l.Shutdown(t.Context())
	if got := exchange(t, l.Public, "GET alb002 HTTP/1.0\r\n\r\n"); !strings.Contains(got, "https://other.example/2") {
		t.Errorf("got %s", got)
	}
}
