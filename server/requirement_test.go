package server

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// TestOneMessage checks that a result is one message: one status line, one body of the
// declared length, and then the end of the connection, in every format and for every
// service with several results.
func TestOneMessage(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	for _, target := range []string{"2648", "alb002", "urn:ietf:rfc:2648?s=I2Ls", "urn:ietf:rfc:2648?s=I2Ns", "none", "urn+m", "urn+c", "old", "old?s=I2L"} {
		for _, accept := range []string{"text/urc-0", "text/html", "text/plain", "text/uri-list", "application/json", "multipart/alternative"} {
			answer := exchange(t, l.Public, "GET "+target+" HTTP/1.0\r\nHost: example.org\r\nAccept: "+accept+"\r\n\r\n")
			status, fields, body := cutAnswer(answer)
			if !strings.HasPrefix(status, "HTTP/1.0 ") || strings.Count(answer, "HTTP/1.") != 1 {
				t.Errorf("Y95-39: %s as %s: not one message: %.200q", target, accept, answer)
			}
			if length := fieldOf(fields, "Content-Length"); length != "" && length != strconv.Itoa(len(body)) {
				t.Errorf("Y95-39: %s as %s: Content-Length %s, body of %d bytes", target, accept, length, len(body))
			}
			if fieldOf(fields, "Transfer-Encoding") != "" {
				t.Errorf("Y95-39: %s as %s: fields %q", target, accept, fields)
			}
		}
	}
}

// TestReservedElements checks that the four requests of the draft are the only ones that
// begin with "urn+": anything else is rejected, however it is sent.
func TestReservedElements(t *testing.T) {
	s, _ := newTestServer(t, nil)
	elements := []string{"urn+", "urn+mm", "urn+ma", "urn+m+", "urn+%6d", "urn+m%20", "urn+M", "urn+alb002"}
	for c := rune('!'); c <= '~'; c++ {
		if !strings.ContainsRune("macp?#%", c) {
			elements = append(elements, "urn+"+string(c))
		}
	}
	for _, element := range elements {
		for _, target := range []string{element, "urn:dns:example.org:" + element, "/" + element, "/urn:dns:example.org:" + element, "/uri-res/I2C?urn:dns:example.org:" + element} {
			p := ask(s, target)
			if p.status != 404 && p.status != 400 {
				t.Errorf("Y95-61: %s: status %d, body %.200q", target, p.status, p.body)
			}
			if strings.Contains(string(p.body), "more.example.org") || strings.Contains(string(p.body), "names@example.org") {
				t.Errorf("Y95-61: %s gets the answer to another request: %.200q", target, p.body)
			}
		}
	}
	for _, element := range []string{"urn+m", "urn+a", "urn+c", "urn+p"} {
		if p := ask(s, element); p.status != 200 {
			t.Errorf("Y95-61: %s: status %d", element, p.status)
		}
	}
}

// TestReservedRequestsInKnownFormats checks the content of each answer in each format of
// the draft.
func TestReservedRequestsInKnownFormats(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, tt := range []struct {
		host, target string
		words        []string
	}{
		{"example.org", "urn+m", []string{"mailto:names@example.org", "Albums of all kinds", "nomen 1.2.3"}},
		{"example.org", "urn+a", []string{"/-/list/urn:dns:example.org", "about 9"}},
		{"example.org", "urn+c", []string{"urn:dns:labels.example.org", "urn:dns:more.example.org"}},
		{"other.example", "urn+p", []string{"urn:dns:example.org", "urn:dns:example.net"}},
	} {
		for _, mediaType := range []string{"text/plain", "text/html", "text/urc-0"} {
			p := ask(s, tt.target, hosted(tt.host), accepting(mediaType))
			if got := p.get("Content-Type"); p.status != 200 || !strings.HasPrefix(got, mediaType) {
				t.Errorf("Y95-54: %s as %s: status %d, type %q", tt.target, mediaType, p.status, got)
			}
			for _, word := range tt.words {
				if !strings.Contains(string(p.body), word) {
					t.Errorf("Y95-54: %s as %s: no %q in %q", tt.target, mediaType, word, p.body)
				}
			}
		}
	}
}

// TestStandardRequestHeaders checks the effect of each request header field of HTTP/1.0,
// or that it has none.
func TestStandardRequestHeaders(t *testing.T) {
	access, log := logged()
	s, _ := newTestServer(t, func(o *Options) { o.AccessLog = access })
	l := listen(t, s)
	plain := exchangeFields(t, l, "alb002")
	_, plainFields, plainBody := cutAnswer(plain)
	if plainBody != urcAlb002 {
		t.Fatalf("got %q", plain)
	}
	for _, tt := range []struct {
		field, status string
		fields        map[string]string
		body          string
	}{
		{"Accept: text/html", "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/html; charset=utf-8"}, "<!DOCTYPE html>"},
		{"Accept-Encoding: gzip", "HTTP/1.0 200 OK", map[string]string{"Content-Type": "text/urc-0"}, ""},
		{"If-Modified-Since: " + modifiedText, "HTTP/1.0 304 Not Modified", nil, ""},
		{"If-Modified-Since: Thu, 19 Nov 2026 08:29:59 GMT", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Pragma: no-cache", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"From: a@example.org", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Referer: http://example.org/", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"User-Agent: CERN-LineMode/2.15 libwww/2.17b3", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Authorization: Basic eDp5", "HTTP/1.0 200 OK", nil, urcAlb002}, // only for the admin API
		{"MIME-Version: 1.0", "HTTP/1.0 200 OK", nil, urcAlb002},
		{"Date: Tue, 21 Mar 1995 15:32:49 GMT", "HTTP/1.0 200 OK", nil, urcAlb002},
	} {
		status, fields, body := cutAnswer(exchangeFields(t, l, "alb002", tt.field))
		if status != tt.status || !strings.HasPrefix(strings.ToLower(body), strings.ToLower(tt.body)) {
			t.Errorf("Y95-36: with %s: %s, body %.100q", tt.field, status, body)
		}
		for name, want := range tt.fields {
			if got := fieldOf(fields, name); got != want {
				t.Errorf("Y95-36: with %s: %s %q, want %q", tt.field, name, got, want)
			}
		}
		if tt.body == urcAlb002 && !slices.Equal(fields, plainFields) {
			t.Errorf("Y95-36: with %s: fields %q, want %q", tt.field, fields, plainFields)
		}
	}
	stop(t, l)
	if !strings.Contains(log.String(), `agent="CERN-LineMode/2.15 libwww/2.17b3"`) {
		t.Errorf("Y95-36: the user agent is not in the log: %s", log)
	}
}

// exchangeFields sends a Full-Request of HTTP/1.0 with fields in addition to Host.
func exchangeFields(t *testing.T, l *Listening, target string, fields ...string) string {
	t.Helper()
	head := append([]string{fmt.Sprintf("GET %s HTTP/1.0", target), "Host: example.org"}, fields...)
	return exchange(t, l.Public, strings.Join(head, "\r\n")+"\r\n\r\n")
}

// TestUnicodeForClientsThatTakeIt checks which clients get text/urc-0 in UTF-8, and which
// get only the charsets of the draft.
func TestUnicodeForClientsThatTakeIt(t *testing.T) {
	const title, references = "中文", "&#x4E2D;&#x6587;"
	s, st := newTestServer(t, nil)
	for _, r := range []*store.Record{
		{Spelling: "urn:dns:example.org:zh", Status: nomen.Active, Metadata: nomen.Metadata{"title": {title}}},
		{Spelling: "urn:dns:example.org:zh-gone", Status: nomen.Retired, Reason: title},
	} {
		r.Name = name.MustParse(r.Spelling)
		if _, err := st.Apply(t.Context(), []store.Change{{Time: modified, Record: r}}); err != nil {
			t.Fatal(err)
		}
	}
	l := listen(t, s)
	for _, element := range []string{"zh", "zh-gone"} {
		for _, tt := range []struct {
			in      string
			unicode bool
		}{
			{"GET " + element + " HTTP/1.0\r\nHost: example.org\r\nAccept: text/urc-0\r\n", false},
			{"GET " + element + " HTTP/1.0\r\nHost: example.org\r\n", false},
			{"GET urn:dns:example.org:" + element + " HTTP/1.0\r\nAccept: text/urc-0\r\n", false},
			{"GET " + element + " HTTP/1.0\r\nHost: example.org\r\nAccept: text/urc-0\r\nAccept-Charset: iso-8859-1, UTF-8;q=0.5\r\n", true},
			{"GET " + element + " HTTP/1.0\r\nHost: example.org\r\nAccept: text/urc-0\r\nAccept-Charset: *\r\n", true},
			{"GET /" + element + " HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\nAccept: text/urc-0\r\n", true},
			{"GET /" + element + " HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\nAccept: text/urc-0\r\nAccept-Charset: us-ascii\r\n", false},
			{"GET /" + element + " HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\nAccept: text/urc-0\r\nAccept-Charset: *, utf-8;q=0\r\n", false},
		} {
			_, fields, body := cutAnswer(exchange(t, l.Public, tt.in+"\r\n"))
			want, not, id := references, title, "Y95-46"
			if tt.unicode {
				want, not, id = title, references, "Y95-78"
			}
			if !strings.Contains(body, want) || strings.Contains(body, not) || tt.unicode != strings.Contains(body, ";charset=UTF-8\r\n") {
				t.Errorf("%s: %q: got %q, want %s", id, tt.in, body, want)
			}
			if got := fieldOf(fields, "Vary"); !strings.Contains(got, "Accept-Charset") {
				t.Errorf("%s: %q: Vary %q", id, tt.in, got)
			}
		}
		if body := exchange(t, l.Public, "GET urn:dns:example.org:"+element+"\r\n"); !strings.Contains(body, references) {
			t.Errorf("Y95-46: Simple-Request: got %q", body)
		}
	}
}

// TestSeveralLocations checks that one result has every location with the data needed to
// choose among them, the best one first.
func TestSeveralLocations(t *testing.T) {
	s, st := newTestServer(t, nil)
	n := name.MustParse("urn:dns:example.org:many")
	if _, err := st.Apply(t.Context(), []store.Change{{Time: modified, Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active, Locations: []nomen.Location{
		{URL: "https://slow.example/", Priority: 2, Lang: "de", Note: "slow and free"},
		{URL: "https://fast.example/", Priority: 1, Lang: "en", Note: "fast, for a fee"},
	}}}}); err != nil {
		t.Fatal(err)
	}
	const want = "=====;language=en\r\nhttps://fast.example/\r\nfast, for a fee\r\n"
	const more = "=====;language=de\r\nhttps://slow.example/\r\nslow and free\r\n"
	body := string(ask(s, "many").body)
	if i, j := strings.Index(body, want[:strings.LastIndex(want, "\r\n")]), strings.Index(body, more); i != 0 || j <= i {
		t.Errorf("Y95-79: got %q, want %q and then %q", body, want, more)
	}
	if body := string(ask(s, "many", speaking("de")).body); !strings.HasPrefix(body, "=====;language=de\r\n") {
		t.Errorf("Y95-79: for a reader of German got %q", body)
	}
}

// A cut passes on the same part whatever the sizes of the writes.
func TestCut(t *testing.T) {
	const whole = "0123456789"
	for size := 1; size <= len(whole); size++ {
		var b strings.Builder
		c := &cut{w: &b, skip: 3, left: 4}
		var err error
		for i := 0; i < len(whole) && err == nil; i += size {
			_, err = c.Write([]byte(whole[i:min(i+size, len(whole))]))
		}
		if b.String() != "3456" || err != io.EOF {
			t.Errorf("by %d: %q, %v, want 3456 and the end", size, b.String(), err)
		}
	}
}

// The short form of THTTP takes a URN with its first colon escaped or not.
func TestRootTHTTP(t *testing.T) {
	for q, want := range map[string]bool{
		"urn:x": true, "URN:x": true, "urn%3Ax": true, "urn%3ax": true, "urn%3A": true, "urn:": true,
		"urn": false, "urn%3": false, "urm:x": false, "urn%3Bx": false, "urn%20x": false, "": false,
	} {
		if got := isRootTHTTP("N2L", q); got != want {
			t.Errorf("isRootTHTTP(%q) = %v, want %v", q, got, want)
		}
	}
}
