package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// The attack text tried in every field. It must not begin a header field, a line of a
// list, or an element or attribute of a page.
const injected = "x\r\nX-Evil: 1\r\n\r\n=====\r\nhttps://evil.example/\r\n\"'><script>alert(1)</script><a href=\"javascript:alert(2)\" onclick=alert(3)>--></title></style><!--\x00\x1b[31m\u2028"

// hostileRecords are records that the registrar would reject: another program has stored
// them.
func hostileRecords() []*store.Record {
	evil := func(element, url string) *store.Record {
		return &store.Record{
			Spelling: "urn:dns:names.example:" + element, Status: nomen.Active,
			Locations: []nomen.Location{{URL: url, Note: injected, Type: "text/html" + injected, Lang: "en" + injected, Rel: injected, Charset: injected, Component: injected}},
			Metadata:  nomen.Metadata{"title": {injected}, "creator": {injected}, "rights": {injected}, injected: {injected}},
			SameAs:    []string{injected, "urn:example:a" + injected, "javascript:alert(4)"},
		}
	}
	retired := evil("retired", "https://evil.example/")
	retired.Status, retired.Reason, retired.Successors = nomen.Retired, injected, []string{injected, "urn:example:b"}
	return []*store.Record{
		evil("text", "https://text.example/"),
		evil("location", "https://evil.example/"+injected),
		evil("script", "javascript:alert(5)"),
		evil("data", "data:text/html,<script>alert(6)</script>"),
		evil("quote", "https://evil.example/\"><script>alert(7)</script>"),
		evil("relative", "//evil.example/"),
		evil("a%0D%0AX-Evil:1", "https://name.example/"),
		retired,
	}
}

// TestHostileRecords requests records that are full of attacks with every service in
// every form and type.
func TestHostileRecords(t *testing.T) {
	authorities, _ := worldAuthorities()
	s := storeOf(t, authorities, hostileRecords())
	srv, err := New(Options{Store: s, Resolver: resolve.New(s, resolve.Options{
		Fetch: func(context.Context, string) (*nomen.Resource, error) {
			return &nomen.Resource{Type: injected, Size: -1, Body: io.NopCloser(strings.NewReader(injected))}, nil
		},
	}), Now: func() time.Time { return testNow }})
	if err != nil {
		t.Fatal(err)
	}
	l := listen(t, srv)
	k := &sender{addr: l.Public}
	defer k.close()
	found := faults{all: map[string][]string{}}
	for part := range slices.Chunk(hostileCells(), 256) {
		var requests []outgoing
		for _, c := range part {
			requests = append(requests, c.request("GET"))
		}
		for i, got := range k.ask(t, requests) {
			found.add(part[i], harmful(part[i], got)...)
		}
	}
	found.report(t)
}

// hostileCells returns the questions about the hostile records.
func hostileCells() (all []cell) {
	for _, rec := range hostileRecords() {
		for _, f := range manners {
			for _, service := range services {
				if f.simple || f.n && namesOfTHTTP[service] == "" || f.thttp && service == "" {
					continue
				}
				for i, accept := range accepts {
					if testrun.Reduced() && (i+len(all))%3 != 0 {
						continue // a part of them if everything is slow
					}
					c := cell{form: f, row: row{id: rec.Spelling, name: rec.Spelling}, service: service, accept: accept}
					if service == "I=I" {
						c.other = "urn:example:b"
					}
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// unusable are the names of records that have no usable location. The store should never contain
// such records, so a request for one of these names fails.
var unusable = []string{
	"urn:dns:names.example:location", "urn:dns:names.example:script", "urn:dns:names.example:data",
	"urn:dns:names.example:quote", "urn:dns:names.example:relative",
}

// harmful returns the parts of a response that an attack has put there.
func harmful(c cell, a answer) (wrong []string) {
	if a.status >= http.StatusInternalServerError && !slices.Contains(unusable, c.row.id) {
		wrong = append(wrong, fmt.Sprintf("%s: status %d", c.row.id, a.status))
	}
	for f, values := range a.header {
		if f == "X-Evil" || slices.ContainsFunc(values, func(v string) bool { return strings.ContainsAny(v, "\r\n\x00\x1b") }) {
			wrong = append(wrong, fmt.Sprintf("%s: the field %s: %q", c.row.id, f, values))
		}
	}
	if strings.ContainsAny(a.reason, "\r\n\x1b") {
		wrong = append(wrong, fmt.Sprintf("reason phrase %q", a.reason))
	}
	for _, f := range []string{"Location", "Content-Location"} {
		if v := strings.ToLower(a.header.Get(f)); strings.HasPrefix(v, "javascript:") || strings.HasPrefix(v, "data:") || strings.HasPrefix(v, "//") {
			wrong = append(wrong, fmt.Sprintf("%s: leads to %q", f, v))
		}
	}
	for _, v := range a.header.Values("Link") {
		if _, err := readLinks(v); err != nil {
			wrong = append(wrong, "Link: "+err.Error())
		}
	}
	if a.header.Get("Content-Disposition") != "" || strings.HasPrefix(a.header.Get("Content-Type"), "multipart/") {
		return wrong // the content of a resource is not trusted, and marked as such
	}
	if a.body == "" {
		return wrong
	}
	r, err := readBody(a.header.Get("Content-Type"), a.body)
	if err != nil {
		return append(wrong, fmt.Sprintf("%s: %s: %v", c.row.id, a.header.Get("Content-Type"), err))
	}
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/u") && slices.Contains(r.uris, "https://evil.example/") && !strings.HasSuffix(c.row.id, "retired") {
		wrong = append(wrong, fmt.Sprintf("%s: an injected URI: %q", c.row.id, a.body))
	}
	return wrong
}

// TestHostileRequests sends requests that no client should send: the server responds with
// an error or closes the connection, repeats no attack, and continues.
func TestHostileRequests(t *testing.T) {
	world := newWorld(t)
	k := &sender{addr: world.Public}
	defer k.close()
	get := func(target, fields string) string {
		return "GET " + target + " HTTP/1.1\r\nHost: names.test\r\nConnection: close\r\n" + fields + "\r\n"
	}
	crlf := "%0d%0aX-Evil:%201%0d%0a%0d%0a"
	const known = "/urn:dns:names.example:one"
	for i, request := range []string{
		get("/urn:dns:names.example:a"+crlf, ""),
		get("/urn:dns:names.example:a%0D%0AX-Evil:1", "Accept: text/html\r\n"),
		get(known+"?s=I2L"+crlf, ""), get(known+"?c="+crlf, ""), get(known+"?"+crlf, ""),
		get(known+"?="+crlf, ""), get(known+"?+"+crlf, ""), get(known+"?at=2026-01-01"+crlf, ""),
		get("/urn:dns:names.example:moved?="+crlf, ""), get("/urn:dns:names.example:moved?c="+crlf, ""),
		get("/urn:dns:away.example:x?+"+crlf, ""), get("/urn:dns:away.example:"+crlf, ""),
		get("/uri-res/"+crlf+"?urn:a:b", ""), get("/uri-res/N2L?"+crlf, ""), get("/uri-res/L2Ns?https://x.example/"+crlf, ""),
		get("/urn:dns:names.example:<script>alert(1)</script>", "Accept: text/html\r\n"),
		get("/<script>alert(1)</script>", "Accept: text/html\r\n"),
		get("/%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "Accept: text/html\r\n"),
		get("/urn:dns:rules.example:42/../../x", ""), get("//evil.example/%2f..", ""), get("/https://evil.example/", ""),
		get("/\\evil.example", ""), get("/%2F%2Fevil.example", ""), get("http://evil.example/x", ""),
		get(known, "Accept: "+strings.Repeat("a/b;q=0.1,", 700)+"\r\n"),
		get(known, "Accept: ,;=\"\\\r\nAccept-Language: \xff;q=9\r\nAccept-Datetime: never\r\nIf-None-Match: \"\r\nIf-Modified-Since: \xff\r\nRange: bytes=-\r\n"),
		get(known, "X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\nX-Forwarded-Proto: javascript\r\n"),
		"GET a\x00b HTTP/1.0\r\n\r\n", "GET \xff\xfe HTTP/1.0\r\n\r\n", "GET a\x1b[31m HTTP/1.0\r\nAccept: text/plain\r\n\r\n",
		"GET urn:dns:names.example:<script> HTTP/1.0\r\nAccept: text/html\r\n\r\n",
		"GET " + known + " HTTP/1.1\r\nHost: \"><script>alert(1)</script>\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: names.test\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
	} {
		status, fields, body := cutAnswer(exchange(t, world.Public, request))
		a := answer{header: http.Header{}, body: body}
		fmt.Sscanf(status, "HTTP/1.1 %d", &a.status)
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			a.header.Add(name, value)
		}
		if te := a.header.Get("Transfer-Encoding"); te != "" || a.header.Get("Content-Type") == "" || a.status == http.StatusOK {
			a.body = "" // a page, tested elsewhere
		}
		for _, w := range harmful(cell{row: row{id: "request"}}, a) {
			t.Errorf("%d: %.80q: %s", i, request, w)
		}
		for _, f := range []string{"Location", "Link"} {
			if v := a.header.Get(f); strings.Contains(v, "//evil.example") && !strings.Contains(v, worldURL+"/") {
				t.Errorf("%d: %.80q: %s: %s", i, request, f, v)
			}
		}
	}
	if got := k.ask(t, []outgoing{{"GET", "GET " + known + " HTTP/1.1\r\nHost: names.test\r\n\r\n"}})[0]; got.status != http.StatusSeeOther {
		t.Errorf("afterwards: %d", got.status)
	}
}

// TestHugeRequests sends names, fields and lists of a megabyte and more: the response is
// an error, soon, or the connection is closed.
func TestHugeRequests(t *testing.T) {
	world := newWorld(t)
	huge := strings.Repeat("a", 1<<20)
	for id, request := range map[string]string{
		"path":         "GET /urn:dns:names.example:" + huge + " HTTP/1.1\r\nHost: names.test\r\n\r\n",
		"element":      "GET " + huge + " HTTP/1.0\r\n\r\n",
		"simple":       "GET " + huge + "\r\n",
		"no line end":  "GET " + huge,
		"THTTP":        "GET /uri-res/N2L?urn:x-a:" + huge + " HTTP/1.0\r\n\r\n",
		"I=I":          "GET /uri-res/I=I?urn:x-a:b&urn:x-a:" + huge + " HTTP/1.0\r\n\r\n",
		"escapes":      "GET /urn:dns:names.example:" + strings.Repeat("%41", 1<<18) + " HTTP/1.0\r\n\r\n",
		"field":        "GET /urn:dns:names.example:one HTTP/1.1\r\nHost: names.test\r\nAccept: " + huge + "\r\n\r\n",
		"many fields":  "GET /urn:dns:names.example:one HTTP/1.1\r\nHost: names.test\r\n" + strings.Repeat("A: b\r\n", 1<<18) + "\r\n",
		"name of list": "POST /-/resolve HTTP/1.0\r\nContent-Type: text/uri-list\r\nContent-Length: " + fmt.Sprint(len("urn:x-a:")+len(huge)) + "\r\n\r\nurn:x-a:" + huge,
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			answer := sendHuge(t, world.Public, request)
			status, _, _ := cutAnswer(answer)
			refused := strings.Contains(status, " 414 ") || strings.Contains(status, " 431 ")
			if id == "name of list" { // it is rejected in its line of the response
				refused = strings.Contains(answer, `"code":"malformed"`)
			}
			if !refused || len(answer) > 1<<12 {
				t.Errorf("%d bytes, %.100q", len(answer), status)
			}
		})
	}
}

// sendHuge sends a request that the server may not read to its end.
func sendHuge(t *testing.T, addr net.Addr, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	go func() {
		io.WriteString(c, request) // fails if the server has closed
		c.(*net.TCPConn).CloseWrite()
	}()
	b, err := io.ReadAll(c)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Error("neither an answer nor an end")
	}
	return string(b)
}

// overSocket forwards questions to another server, with a Via entry for each server that
// forwarded them (RFC 9110, 7.6.3).
type overSocket struct {
	addr  func() net.Addr
	asked *atomic.Int64
}

func (o overSocket) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	o.asked.Add(1)
	via := ""
	for range q.Hops {
		via += "Via: 1.1 resolver\r\n"
	}
	k := &sender{addr: o.addr()}
	defer k.close()
	got, err := k.some([]outgoing{{"GET", "GET /" + q.Name.Key() + "?s=I2C HTTP/1.1\r\nHost: names.test\r\n" + via + "\r\n"}})
	switch {
	case err != nil || len(got) == 0:
		return nil, fmt.Errorf("%w: %w", nomen.ErrUpstream, err)
	case got[0].status == http.StatusLoopDetected:
		return nil, nomen.ErrLoop
	}
	return nil, fmt.Errorf("%w: status %d", nomen.ErrUpstream, got[0].status)
}

// TestDelegationLoop lets two servers delegate one name to each other: the client gets a
// clear error (508, S), after few requests.
func TestDelegationLoop(t *testing.T) {
	var addrs [2]net.Addr
	var asked atomic.Int64
	for i := range addrs {
		s := storeOf(t, []*store.Authority{{
			Prefix: name.MustParsePrefix("urn:dns:loop.example"), Owners: []string{"a", "b"},
			Policy: store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "other.example"}},
		}}, nil)
		srv, err := New(Options{Store: s, Resolver: resolve.New(s, resolve.Options{
			Ask: func(string) (nomen.Resolver, error) {
				return overSocket{func() net.Addr { return addrs[1-i] }, &asked}, nil
			},
		})})
		if err != nil {
			t.Fatal(err)
		}
		addrs[i] = listen(t, srv).Public
	}
	answer := exchange(t, addrs[0], "GET /urn:dns:loop.example:x?s=I2C HTTP/1.1\r\nHost: names.test\r\nAccept: text/plain\r\nConnection: close\r\n\r\n")
	status, _, body := cutAnswer(answer)
	if !strings.HasPrefix(status, "HTTP/1.1 508 ") || !strings.Contains(body, "Delegation loop") || !strings.Contains(body, "urn:dns:loop.example:x") {
		t.Errorf("%s\n%s", status, body)
	}
	if n := asked.Load(); n == 0 || n > 32 {
		t.Errorf("%d questions were passed on", n)
	}
}

// TestHalfClosed closes its side after the request, as netcat does: the response arrives
// all the same (Y95-27).
func TestHalfClosed(t *testing.T) {
	world := newWorld(t)
	list := "urn:dns:names.example:one\nurn:dns:names.example:several\n"
	for request, want := range map[string]string{
		"GET one\r\n":              oneURL,
		"GET one HTTP/1.0\r\n\r\n": oneURL,
		"GET /uri-res/N2Rs?urn:dns:names.example:several HTTP/1.0\r\n\r\n":                                                        "what is at " + severalPlaces[2].URL,
		"GET /uri-res/L2Ns?" + oneURL + " HTTP/1.0\r\n\r\n":                                                                       "urn:dns:names.example:one",
		"POST /-/resolve HTTP/1.0\r\nContent-Type: text/uri-list\r\nContent-Length: " + fmt.Sprint(len(list)) + "\r\n\r\n" + list: `"line":2,"answer"`,
	} {
		for range 20 { // it is a race
			c, err := net.Dial("tcp", world.Public.String())
			if err != nil {
				t.Fatal(err)
			}
			c.SetDeadline(time.Now().Add(time.Minute))
			io.WriteString(c, request)
			c.(*net.TCPConn).CloseWrite()
			if b, err := io.ReadAll(c); err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%.60q: %.200q, %v", request, b, err)
			}
			c.Close()
		}
	}
}
