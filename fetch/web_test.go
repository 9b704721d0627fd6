package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/uri"
)

var longAgo = time.Date(1993, 7, 14, 12, 0, 0, 0, time.UTC)

// site is a web server with a page of each kind.
func site(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; path {
	case "/plain":
		w.Header().Set("Content-Type", "text/plain; charset=ISO-8859-7")
		io.WriteString(w, "plain text")
	case "/file":
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "x.bin", longAgo, strings.NewReader("0123456789"))
	case "/dated":
		http.ServeContent(w, r, "x.bin", longAgo, strings.NewReader("0123456789"))
	case "/unknown":
		io.WriteString(w, "0123456789")
	case "/echo":
		fmt.Fprintf(w, "%s|%s|%v", r.RequestURI, r.Host, r.Header)
	case "/cut":
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "half")
	case "/gzip", "/zlib", "/flate", "/br":
		encoded(w, path[1:])
	case "/bomb":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		zeros := make([]byte, 1<<20)
		for range 200 {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
		z.Close()
	case "/empty":
		w.WriteHeader(http.StatusNoContent)
	case "/wrongpart":
		w.Header().Set("Content-Range", r.URL.RawQuery)
		w.WriteHeader(http.StatusPartialContent)
	default:
		if code, err := strconv.Atoi(path[1:]); err == nil {
			w.WriteHeader(code)
			return
		}
		http.NotFound(w, r)
	}
}

func encoded(w http.ResponseWriter, encoding string) {
	w.Header().Set("Content-Encoding", map[string]string{"gzip": "x-gzip", "zlib": "deflate", "flate": "deflate", "br": "br"}[encoding])
	var z io.WriteCloser
	switch encoding {
	case "gzip":
		z = gzip.NewWriter(w)
	case "zlib":
		z = zlib.NewWriter(w)
	case "flate":
		z, _ = flate.NewWriter(w, 9)
	default:
		return
	}
	io.WriteString(z, "what was encoded")
	z.Close()
}

func TestWeb(t *testing.T) {
	at := "http://" + serve(t, site)
	f := newFetcher(t, Options{})
	o := want(t, f, at+"/plain#part", own, "plain text")
	if o.Type != "text/plain; charset=ISO-8859-7" || o.Size != 10 || o.URL != at+"/plain" || o.Fragment != "part" || o.Retrieved.IsZero() {
		t.Errorf("got %+v", o)
	}
	o = want(t, f, at+"/file", own, "0123456789")
	if o.Validator != `"one"` || !o.Modified.Equal(longAgo) {
		t.Errorf("validator %q, modified %v", o.Validator, o.Modified)
	}
	for _, path := range []string{"/gzip", "/zlib", "/flate"} {
		if o := want(t, f, at+path, own, "what was encoded"); o.Size != -1 {
			t.Errorf("%s: size %d, want -1", path, o.Size)
		}
	}
	want(t, f, at+"/empty", own, "")
}

// U93-40: path and query are sent as spelled, and the fragment is not sent. Nothing is sent
// that was not asked for (Y95-70).
func TestWebSays(t *testing.T) {
	at := "http://" + serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s %v", r.RequestURI, r.Header) })
	f := newFetcher(t, Options{})
	for _, target := range []string{"/a/b?c+d", "/a%2Fb/%7e?", "/x;y=1/(z)", "/"} {
		want(t, f, at+target+"#e", own, target+" map[Accept-Encoding:[identity] Connection:[close]]")
	}
	want(t, f, at, own, "/ map[Accept-Encoding:[identity] Connection:[close]]")
	want(t, f, at+"?x", own, "/?x map[Accept-Encoding:[identity] Connection:[close]]") // U93-41
	want(t, f, at+"//a", own, at+"//a map[Accept-Encoding:[identity] Connection:[close]]")
	_, got, err := read(t, f, at+"/", Request{Trusted: true, Accept: "text/html", Languages: "fi"})
	if want := "/ map[Accept:[text/html] Accept-Encoding:[identity] Accept-Language:[fi] Connection:[close]]"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, _, err := read(t, f, at, Request{Trusted: true, Accept: "a\r\nHost: x"}); err == nil {
		t.Error("a field with a line break: no error")
	}
	if _, err := New(Options{UserAgent: "a\r\nb"}); err == nil {
		t.Error("a User-Agent with a line break: no error")
	}
}

func TestWebParts(t *testing.T) {
	at := "http://" + serve(t, site)
	f := newFetcher(t, Options{})
	part := func(offset, length int64, validator string) Request {
		return Request{Trusted: true, Offset: offset, Length: length, Validator: validator}
	}
	for _, path := range []string{"/file", "/dated", "/unknown"} {
		want(t, f, at+path, part(4, 0, ""), "456789")
		want(t, f, at+path, part(4, 2, ""), "45")
		want(t, f, at+path, part(0, 3, ""), "012")
	}
	for _, tt := range []struct {
		path, validator, text string
		offset                int64
	}{
		{"/file", `"one"`, "789", 7},
		{"/file", `"two"`, "0123456789", 0},
		{"/dated", longAgo.Format(http.TimeFormat), "789", 7},
		{"/unknown", `"one"`, "0123456789", 0},
	} {
		if o := want(t, f, at+tt.path, part(7, 0, tt.validator), tt.text); o.Offset != tt.offset || o.Size != 10 {
			t.Errorf("%s of %s: offset %d, size %d; want %d, 10", tt.path, tt.validator, o.Offset, o.Size, tt.offset)
		}
	}
	if o := want(t, f, at+"/file", part(10, 0, `"one"`), ""); o.Offset != 10 {
		t.Errorf("nothing left: offset %d", o.Offset)
	}
	for _, field := range []string{"", "bytes", "bytes 0-1/2", "bytes 4-3/9", "bytes 4-9/9", "lines 4-5/9", "bytes 4-5/x", "bytes -4-5/9", "bytes 99999999999999999999-5/9"} {
		var bad *FormatError
		if _, _, err := read(t, f, at+"/wrongpart?"+strings.ReplaceAll(field, " ", "%20"), part(4, 0, "")); !errors.As(err, &bad) {
			t.Errorf("part %q: %v", field, err)
		}
	}
	if _, _, err := read(t, f, at+"/wrongpart?bytes%200-1/2", own); err == nil {
		t.Error("a part that was not asked for: no error")
	}
}

func TestContentRange(t *testing.T) {
	for in, want := range map[string][2]int64{"bytes 4-5/9": {4, 9}, "Bytes 0-0/1": {0, 1}, "bytes 7-9/*": {7, -1}} {
		if from, size, err := contentRange(in); err != nil || from != want[0] || size != want[1] {
			t.Errorf("contentRange(%q) = %d, %d, %v; want %v", in, from, size, err, want)
		}
	}
}

func TestWebRefuses(t *testing.T) {
	at := "http://" + serve(t, site)
	f := newFetcher(t, Options{MaxSize: 1000})
	for code, missing := range map[int]bool{404: true, 410: true, 403: false, 500: false, 304: false, 300: false} {
		var status *StatusError
		_, _, err := read(t, f, fmt.Sprintf("%s/%d", at, code), own)
		if !errors.As(err, &status) || status.Code != code || errors.Is(err, plan.ErrNotAvailable) != missing {
			t.Errorf("status %d: %v", code, err)
		}
		if no := code >= 400 && code < 500; status != nil && status.No() != no {
			t.Errorf("status %d: No() = %v", code, !no)
		}
	}
	if _, got, err := read(t, f, at+"/cut", own); !errors.Is(err, io.ErrUnexpectedEOF) || got != "half" {
		t.Errorf("truncated: %q, %v", got, err)
	}
	var bad *FormatError
	if _, _, err := read(t, f, at+"/br", own); !errors.As(err, &bad) {
		t.Errorf("an unknown encoding: %v", err)
	}
}

func TestLimits(t *testing.T) {
	var endless atomic.Int64
	at := "http://" + serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/told":
			w.Header().Set("Content-Length", "1001")
			w.Write(make([]byte, 1001))
		case "/endless":
			for {
				n, err := w.Write(make([]byte, 1000))
				if endless.Add(int64(n)); err != nil {
					return
				}
			}
		default:
			site(w, r)
		}
	})
	small := newFetcher(t, Options{MaxSize: 1000})
	var size *SizeError
	if _, got, err := read(t, small, at+"/told", own); !errors.As(err, &size) || got != "" || size.Limit != 1000 {
		t.Errorf("announced: %d bytes, %v", len(got), err)
	}
	if _, got, err := read(t, small, at+"/endless", own); !errors.As(err, &size) || len(got) != 1000 {
		t.Errorf("endless: %d bytes, %v", len(got), err)
	}
	if _, got, err := read(t, small, at+"/bomb", own); !errors.As(err, &size) || len(got) != 1000 {
		t.Errorf("a bomb, bounded: %d bytes, %v", len(got), err)
	}
	if _, got, err := read(t, newFetcher(t, Options{MaxSize: -1}), at+"/bomb", own); !errors.As(err, &size) || len(got) > freeBytes+1<<20 {
		t.Errorf("a bomb, unbounded: %d bytes, %v", len(got), err)
	}
	want(t, small, at+"/file", own, "0123456789")
	exact := newFetcher(t, Options{MaxSize: 10})
	want(t, exact, at+"/file", own, "0123456789")
	want(t, exact, at+"/unknown", own, "0123456789")
}

func TestRedirects(t *testing.T) {
	at := ""
	at = "http://" + serve(t, func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		switch {
		case path == "/a/relative":
			w.Header().Set("Location", "../file#frag")
			w.WriteHeader(302)
		case strings.HasPrefix(path, "/code/"):
			code, _ := strconv.Atoi(path[len("/code/"):])
			w.Header().Set("Location", "/plain")
			w.WriteHeader(code)
		case strings.HasPrefix(path, "/loop/"):
			n, _ := strconv.Atoi(r.URL.RawQuery)
			length, _ := strconv.Atoi(path[len("/loop/"):])
			w.Header().Set("Location", fmt.Sprintf("%s?%d", path, (n+1)%length))
			w.WriteHeader(301)
		case strings.HasPrefix(path, "/chain/"):
			n, _ := strconv.Atoi(path[len("/chain/"):])
			w.Header().Set("Location", fmt.Sprintf("/chain/%d", n-1))
			if n == 1 {
				w.Header().Set("Location", "/plain")
			}
			w.WriteHeader(307)
		case path == "/unescaped":
			w.Header().Set("Location", "/größe two?ä%20#ü b")
			w.WriteHeader(302)
		case path == "/größe two":
			io.WriteString(w, r.RequestURI)
		case path == "/bad":
			w.Header().Set("Location", "http://[/")
			w.WriteHeader(302)
		case path == "/badhost":
			w.Header().Set("Location", "http://no host/ x")
			w.WriteHeader(302)
		case path == "/none":
			w.WriteHeader(302)
		default:
			site(w, r)
		}
	})
	f := newFetcher(t, Options{})
	for _, code := range []int{301, 302, 303, 307, 308} {
		o := want(t, f, fmt.Sprintf("%s/code/%d", at, code), own, "plain text")
		if want := []string{fmt.Sprintf("%s/code/%d", at, code), at + "/plain"}; !slices.Equal(o.Chain, want) || o.URL != at+"/plain" {
			t.Errorf("chain %q, URL %q; want %q", o.Chain, o.URL, want)
		}
	}
	if o := want(t, f, at+"/a/relative#old", own, "0123456789"); o.Fragment != "frag" {
		t.Errorf("fragment %q, want that of the redirection", o.Fragment)
	}
	if o := want(t, f, at+"/code/301#old", own, "plain text"); o.Fragment != "old" { // RFC 9110, 10.2.2
		t.Errorf("fragment %q, want that of the question", o.Fragment)
	}
	if o := want(t, f, at+"/unescaped", own, "/gr%C3%B6%C3%9Fe%20two?%C3%A4%20"); o.Fragment != "%C3%BC%20b" {
		t.Errorf("fragment %q", o.Fragment)
	}
	for _, length := range []int{1, 2, 11, 12} {
		var loop *RedirectError
		_, _, err := read(t, f, fmt.Sprintf("%s/loop/%d?0", at, length), own)
		if !errors.As(err, &loop) || loop.Loop != (length < 12) {
			t.Errorf("a loop of %d: %v", length, err)
		}
	}
	want(t, f, at+"/chain/10", own, "plain text")
	var many *RedirectError
	if _, _, err := read(t, f, at+"/chain/11", own); !errors.As(err, &many) || many.Loop || len(many.Chain) != 12 {
		t.Errorf("eleven redirections: %v", err)
	}
	if _, _, err := read(t, newFetcher(t, Options{MaxRedirects: -1}), at+"/chain/1", own); !errors.As(err, &many) {
		t.Errorf("redirections are not followed: %v", err)
	}
	var bad *FormatError
	for _, path := range []string{"/bad", "/badhost", "/none"} {
		if _, _, err := read(t, f, at+path, own); !errors.As(err, &bad) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Whatever takes too long ends, in whichever phase.
func TestTime(t *testing.T) {
	t.Parallel() // it waits
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	at := "http://" + serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/late":
			select {
			case <-ended:
			case <-r.Context().Done():
			}
		case "/stops":
			io.WriteString(w, "begin")
			w.(http.Flusher).Flush()
			select {
			case <-ended:
			case <-r.Context().Done():
			}
		case "/drips":
			for {
				if _, err := io.WriteString(w, "x"); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		}
	})
	f := newFetcher(t, Options{Timeout: 100 * time.Millisecond, MaxTime: time.Hour})
	for _, path := range []string{"/late", "/stops"} {
		if _, _, err := read(t, f, at+path, own); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", path, err)
		}
	}
	slow := newFetcher(t, Options{MaxTime: 3 * time.Second})
	if _, got, err := read(t, slow, at+"/drips", own); !errors.Is(err, context.DeadlineExceeded) || got == "" {
		t.Errorf("/drips: %q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o, err := newFetcher(t, Options{}).Open(ctx, uri.MustParse(at+"/stops"), own)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(o.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	o.Body.Close()
}

// No timeout runs while the reader does something else.
func TestSlowReader(t *testing.T) {
	t.Parallel() // it waits
	at := "http://" + serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte("x"), 100)) })
	f := newFetcher(t, Options{Timeout: 3 * time.Second})
	o, err := f.Open(t.Context(), uri.MustParse(at), own)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Body.Close()
	time.Sleep(4 * time.Second)
	if got, err := io.ReadAll(o.Body); err != nil || len(got) != 100 {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestData(t *testing.T) {
	f := newFetcher(t, Options{})
	for _, tt := range []struct{ in, text, mediatype string }{
		{"data:,a%20note", "a note", "text/plain;charset=US-ASCII"},
		{"data:text/plain;charset=iso-8859-7,%be%fg%be", "", ""},
		{"data:text/plain;charset=iso-8859-7,%be%be", "\xbe\xbe", "text/plain;charset=iso-8859-7"},
		{"data:;charset=utf-8,x", "x", "text/plain;charset=utf-8"},
		{"data:image/gif;base64,R0lG", "GIF", "image/gif"},
		{"data:;base64,YQ%3D%3D", "a", "text/plain;charset=US-ASCII"},
		{"data:;base64,YQ", "a", "text/plain;charset=US-ASCII"},
		{"data:,x?y", "x?y", "text/plain;charset=US-ASCII"},
		{"data:,", "", "text/plain;charset=US-ASCII"},
	} {
		if tt.mediatype == "" { // not a valid URI
			continue
		}
		if o := want(t, f, tt.in, Request{}, tt.text); o.Type != tt.mediatype || o.Size != int64(len(tt.text)) {
			t.Errorf("%s: type %q, size %d", tt.in, o.Type, o.Size)
		}
	}
	if _, _, err := read(t, f, "data:;base64,a", Request{}); err == nil {
		t.Error("invalid base64: no error")
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a b.txt")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := newFetcher(t, Options{})
	location := "file://" + strings.ReplaceAll(path, " ", "%20")
	o := want(t, f, location, own, "0123456789")
	if o.Type != "text/plain" || o.Size != 10 || o.Validator == "" {
		t.Errorf("got %+v", o)
	}
	want(t, f, location, Request{Trusted: true, Offset: 7, Validator: o.Validator}, "789")
	want(t, f, location, Request{Trusted: true, Offset: 7, Validator: "file:other"}, "0123456789")
	want(t, f, "file://"+dir, own, "a b.txt\nsub/\n")
	if _, _, err := read(t, f, "file://"+dir+"/none", own); !errors.Is(err, plan.ErrNotAvailable) {
		t.Errorf("no file: %v", err)
	}
	var refused *RefusedError
	for _, at := range []string{"file:///dev/zero", "file://" + dir + "/a%00b"} {
		if _, _, err := read(t, f, at, own); err == nil || !errors.As(err, &refused) && !strings.Contains(err.Error(), "NUL") && !strings.Contains(err.Error(), "control") {
			t.Errorf("%s: %v", at, err)
		}
	}
	if _, _, err := read(t, f, location, Request{}); !errors.As(err, &refused) {
		t.Errorf("untrusted: %v", err)
	}
}

// U93-70: a scheme that is not supported is reached through a gateway.
func TestGateway(t *testing.T) {
	at := "http://" + serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RequestURI) })
	g, err := plan.Gateways{}.With("wais", at+"/?u={uri}")
	if err != nil {
		t.Fatal(err)
	}
	f := newFetcher(t, Options{Gateways: g})
	want(t, f, "wais://h.example/db?x", Request{}, "/?u=wais%3A%2F%2Fh.example%2Fdb%3Fx") // the user has named the gateway
	if _, _, err := read(t, f, "prospero://h.example/o", own); !errors.Is(err, plan.ErrNoAlgorithm) {
		t.Errorf("no gateway: %v", err)
	}
	var refused *RefusedError
	limited := newFetcher(t, Options{Gateways: g, Schemes: []string{"wais"}})
	if _, _, err := read(t, limited, "wais://h.example/db?x", own); !errors.As(err, &refused) {
		t.Errorf("the gateway's scheme is not allowed: %v", err)
	}
}

// U93-59: interactive sessions are not fetched.
func TestSessions(t *testing.T) {
	f := newFetcher(t, Options{})
	for _, location := range []string{"telnet://joe@h.example:2323/", "rlogin://h.example", "tn3270://h.example/"} {
		var session *SessionError
		_, _, err := read(t, f, location, own)
		if !errors.As(err, &session) || !errors.Is(err, plan.ErrInteractive) || session.Session.Host != "h.example" || !session.Trusted {
			t.Errorf("%s: %v", location, err)
		}
	}
}

// oneName is a resolver that knows one name.
type oneName struct{ answer *nomen.Answer }

func (o oneName) Resolve(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
	if q.Name.Key() != "urn:example:a" || q.Service != nomen.I2Ls {
		return nil, &nomen.Error{Kind: nomen.Unknown, Name: q.Subject.String()}
	}
	return o.answer, nil
}

func TestNames(t *testing.T) {
	port := serve(t, site)
	_, port, _ = strings.Cut(port, ":")
	w := newWorld()
	w.host("www.example", publicOne)
	w.routes[publicOne] = "127.0.0.1"
	at := "http://www.example:" + port
	locate := func(ls ...nomen.Location) oneName { return oneName{&nomen.Answer{Locations: ls}} }
	for _, tt := range []struct {
		what  string
		names oneName
		text  string
	}{
		{"one", locate(nomen.Location{URL: at + "/plain"}), "plain text"},
		{"the first available", locate(nomen.Location{URL: at + "/404"}, nomen.Location{URL: "http://127.0.0.1/"}, nomen.Location{URL: at + "/file"}), "0123456789"},
		{"the thing itself", locate(nomen.Location{URL: at + "/plain", Rel: "describedby"}, nomen.Location{URL: at + "/file", Rel: "item"}), "0123456789"},
		{"a copy last", locate(nomen.Location{URL: at + "/plain", Rel: "archive"}, nomen.Location{URL: at + "/file"}), "0123456789"},
		{"the one that is up", locate(nomen.Location{URL: at + "/plain", Down: true}, nomen.Location{URL: at + "/file"}), "0123456789"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := w.fetcher(t, Options{Resolver: tt.names})
			o := want(t, f, "URN:example:a?+r?=q#frag", own, tt.text)
			if o.Fragment != "frag" || o.Chain[0] != "URN:example:a?+r?=q#frag" {
				t.Errorf("fragment %q, chain %q", o.Fragment, o.Chain)
			}
		})
	}
	var no *nomen.Error
	f := w.fetcher(t, Options{Resolver: locate()})
	if _, _, err := read(t, f, "urn:example:a", own); !errors.As(err, &no) || no.Kind != nomen.NoResult {
		t.Errorf("no location: %v", err)
	}
	if _, _, err := read(t, f, "urn:example:b", own); !errors.As(err, &no) || no.Kind != nomen.Unknown {
		t.Errorf("unknown: %v", err)
	}
	if _, _, err := read(t, w.fetcher(t, Options{}), "urn:example:a", own); !errors.Is(err, plan.ErrNotLocator) && !errors.Is(err, plan.ErrNoAlgorithm) {
		t.Errorf("no resolver: %v", err)
	}
	self := w.fetcher(t, Options{Resolver: locate(nomen.Location{URL: "urn:example:a"})})
	var loop *RedirectError
	if _, _, err := read(t, self, "urn:example:a", own); !errors.As(err, &loop) || !loop.Loop {
		t.Errorf("a name that leads to itself: %v", err)
	}
	moved := w.fetcher(t, Options{Resolver: oneName{&nomen.Answer{Redirect: at + "/plain"}}})
	want(t, moved, "urn:example:a", own, "plain text")
}

// Over TLS, only the host named in the locator is trusted.
func TestHTTPS(t *testing.T) {
	var seen []string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, "other "+r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, "elsewhere")
	})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Proto+" "+r.Host+" "+r.Header.Get("Authorization"))
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://"+other+"/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "secret")
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // about clients that reject the certificate
	s.StartTLS()
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	known := x509.NewCertPool()
	known.AddCert(s.Certificate())
	w := newWorld()
	w.host("example.com", "127.0.0.1") // the host of the certificate
	w.host("example.net", "127.0.0.1")
	f := newFetcher(t, Options{DNS: w, TLS: &tls.Config{RootCAs: known}, AllowPrivate: true})
	get := func(f *Fetcher, url string) (string, error) {
		t.Helper()
		r, err := f.Fetch(t.Context(), uri.MustParse(url), own)
		if err != nil {
			return "", err
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		return string(text), err
	}
	if got, err := get(f, "https://u:p@example.com:"+port+"/"); err != nil || got != "secret" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := get(f, "https://u:p@example.com:"+port+"/away"); err != nil || got != "elsewhere" {
		t.Errorf("redirected: got %q, %v", got, err)
	}
	want := []string{"HTTP/2.0 example.com:" + port + " Basic dTpw", "HTTP/2.0 example.com:" + port + " Basic dTpw", "other "}
	if !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
	for url, f := range map[string]*Fetcher{
		"https://example.net:" + port + "/": f,                                                  // a certificate for another host
		"https://example.com:" + port + "/": newFetcher(t, Options{DNS: w, AllowPrivate: true}), // an untrusted certificate
	} {
		if got, err := get(f, url); err == nil || !strings.Contains(err.Error(), "certificate") || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: got %q, %v", url, got, err)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("seen %q", seen)
	}
}

// Untrusted names are asked of the guarded resolver.
func TestNamesOfStrangers(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/name" {
			w.Header().Set("Location", "urn:example:a")
			w.WriteHeader(http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, r.URL.Path)
	})
	_, port, _ := net.SplitHostPort(at)
	w := newWorld()
	w.host("www.example", publicOne)
	w.routes[publicOne] = "127.0.0.1"
	at = "www.example:" + port
	leads := func(path string) oneName { return oneName{&nomen.Answer{Redirect: "http://" + at + path}} }
	o := Options{Resolver: leads("/open"), Guarded: leads("/guarded")}
	want(t, w.fetcher(t, o), "urn:example:a", own, "/open")
	want(t, w.fetcher(t, o), "http://"+at+"/name", own, "/guarded")
	want(t, w.fetcher(t, Options{Guarded: o.Guarded}), "http://"+at+"/name", own, "/guarded")
	want(t, w.fetcher(t, Options{Resolver: o.Resolver, AllowPrivate: true}), "http://"+at+"/name", own, "/open")
	var refused *RefusedError
	if _, _, err := read(t, w.fetcher(t, Options{Resolver: o.Resolver}), "http://"+at+"/name", own); !errors.As(err, &refused) {
		t.Errorf("no guarded resolver: %v", err)
	}
	if _, _, err := read(t, w.fetcher(t, Options{Guarded: o.Guarded}), "urn:example:a", own); !errors.Is(err, plan.ErrNoAlgorithm) {
		t.Errorf("no resolver: %v", err)
	}
}
