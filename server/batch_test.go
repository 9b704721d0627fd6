package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/store"
)

// post sends a list of names and returns the responses, or the body of an error.
func post(t *testing.T, l *Listening, query, contentType, body string, fields ...string) (*http.Response, []batchResult, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Public.String()+"/-/resolve"+query, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.Header.Get("Content-Encoding") == "zstd" {
		d, e := zstd.NewReader(nil)
		if e != nil {
			t.Fatal(e)
		}
		defer d.Close()
		b, err = d.DecodeAll(b, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []batchResult
	if resp.StatusCode == 200 {
		for line := range strings.Lines(string(b)) {
			var g batchResult
			if err := json.Unmarshal([]byte(line), &g); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			all = append(all, g)
		}
	}
	return resp, all, string(b)
}

// A list is answered in order, line by line, even if some lines have errors.
func TestBatch(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	const uris = "# a comment\r\nurn:ietf:rfc:2648\r\n\r\nurn:x\r\nurn:ietf:rfc:9999999\nurn:dns:example.org:split\nurn:dns:example.org:old\nurn:dns:example.org:alb002?s=I2C\nurn:ietf:rfc:2648?s=I2R"
	resp, got, _ := post(t, l, "", "text/uri-list; charset=us-ascii", uris)
	if resp.Header.Get("Content-Type") != typeJSONLines || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", resp.Header)
	}
	want := []struct {
		line           int
		input, in, err string
	}{
		{2, "urn:ietf:rfc:2648", `"https://www.rfc-editor.org/rfc/rfc2648.txt"`, ""},
		{4, "urn:x", "", "malformed"},
		{5, "urn:ietf:rfc:9999999", "", "unknown-name"},
		{6, "urn:dns:example.org:split", "", "retired"},
		{7, "urn:dns:example.org:old", `"redirect":"urn:dns:example.org:alb002"`, ""},
		{8, "urn:dns:example.org:alb002?s=I2C", `"The second album"`, ""},
	}
	if len(got) != len(want)+1 {
		t.Fatalf("got %d answers: %+v", len(got), got)
	}
	for i, w := range want {
		g := got[i]
		code := ""
		if g.Error != nil {
			code = g.Error.Code
		}
		if g.Line != w.line || g.Input != w.input || code != w.err || !strings.Contains(string(g.Answer), w.in) || (g.Answer == nil) != (w.err != "") {
			t.Errorf("got %+v (%s) %s, want %+v", g, code, g.Answer, w)
		}
	}
	if e := got[1].Error; e == nil || e.Offset == nil || e.Rule != "assigned-name" {
		t.Errorf("a malformed name: %+v", e)
	}
	if e := got[3].Error; e == nil || !strings.Contains(string(e.Answer), "a new edition") {
		t.Errorf("a tombstone: %+v", e)
	}
}

// A reserved request in a list is answered like outside of lists.
func TestBatchReserved(t *testing.T) {
	var inner texts
	s, _ := newTestServer(t, func(o *Options) {
		inner = texts{o.Resolver, map[string]*nomen.Raw{"urn+m": {Type: "text/plain", Body: []byte("old\r\n")}}}
		o.Resolver = inner
	})
	const uris = "urn:dns:example.org:urn+m\nurn:dns:example.org:urn+c\nurn:dns:example.org:urn+c?s=I2L\nurn:dns:example.org:urn+x\nurn:dns:example.org:%75rn+m\nurn:dns:far.example:urn+m\nurn:dns:unknown.example:urn+m\n"
	_, got, _ := post(t, listen(t, s), "", typeURIList, uris)
	for i, want := range []struct{ id, in, err string }{
		{"Y95-55", `"mailto:names@example.org"`, ""},
		{"Y95-58 children are not other names", `"rel":"item","note":"urn:dns:labels.example.org"`, ""},
		{"Y95-58 whatever service is named", `"urn:dns:labels.example.org"`, ""},
		{"Y95-61", "", "unknown-name"},
		{"Y95-61 escaped", "", "unknown-name"},
		{"Y95-63 of another authority", `"body":"old\r\n"`, ""},
		{"Y95-63 of an authority that has no resolver", "", "unknown-name"},
	} {
		if len(got) <= i {
			t.Fatalf("%d answers", len(got))
		}
		code := ""
		if got[i].Error != nil {
			code = got[i].Error.Code
		}
		if code != want.err || !strings.Contains(string(got[i].Answer), want.in) {
			t.Errorf("%s: got %q %s, want %+v", want.id, code, got[i].Answer, want)
		}
	}
}

// JSON Lines can have more parameters; the query of the list provides the defaults.
func TestBatchRows(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	rows := `"urn:ietf:rfc:2648"` + "\n" + `{"name":"urn:ietf:rfc:2648","service":"I2L","accept":"text/html"}` + "\n" +
		`{"name":"urn:ietf:rfc:2648","service":"I2X"}` + "\n" + `{"nam":"x"}` + "\n" + `{"name":"urn:ietf:rfc:2648"} x` + "\n" +
		`{"name":"urn:ietf:rfc:2648","at":"yesterday"}` + "\n" + `{"name":"urn:ietf:rfc:2648","q":"a\r\nb"}` + "\n" + `{"name":"urn:ietf:rfc:2648","at":"1970-01-01"}` + "\n" +
		`{"name":"urn:ietf:rfc:2648","service":"I=I","other":"2648"}` + "\n" + `{"name":"urn:dns:example.org:secret"}` + "\n" + "{"
	_, got, plain := post(t, l, "?s=I2Ns", "application/x-ndjson", rows)
	if _, coded, again := post(t, l, "?s=I2Ns", "application/x-ndjson", rows, "Accept-Encoding: zstd"); len(coded) != len(got) || again != plain {
		t.Errorf("coded: %s", again)
	}
	var said []string
	for _, g := range got {
		if g.Error != nil {
			said = append(said, g.Error.Code)
			continue
		}
		said = append(said, string(g.Answer))
	}
	want := []string{"urn:doi:10.17487/rfc2648", "rfc2648.html", "no-result", "malformed", "malformed", "malformed", "malformed", "unknown-name", "malformed", "unknown-name", "malformed"}
	if len(said) != len(want) {
		t.Fatalf("got %q", said)
	}
	for i := range want {
		if !strings.Contains(said[i], want[i]) {
			t.Errorf("line %d: got %s, want %s", i+1, said[i], want[i])
		}
	}
	if e := got[7].Error; e == nil || e.Message != "as of 1970-01-01T23:59:59Z: not found, and no authority of this service covers it" {
		t.Errorf("of a time before there was anything: %+v", e)
	}
	// Offsets in an invalid row refer to the row as shown.
	if got[3].Input != `{"nam":"x"}` || got[10].Input != "{" || got[4].Input != `{"name":"urn:ietf:rfc:2648"} x` {
		t.Errorf("rows that cannot be read: %q, %q, %q", got[3].Input, got[10].Input, got[4].Input)
	}
}

// A web name in a list may include a query.
func TestBatchOfWebNames(t *testing.T) {
	s, _ := newTestServer(t, nil)
	_, got, _ := post(t, listen(t, s), "?s=I2Ls", "text/uri-list", "https://purl.example/cgi?id=7&s=I2C\nhttps://purl.example/net/x?s=I2C\nhttps://purl.example/cgi?id=8\n")
	if len(got) != 3 || !strings.Contains(string(got[0].Answer), `"url":"https://example.org/by-id"`) || !strings.Contains(string(got[0].Answer), `"service":"I2Ls"`) {
		t.Errorf("with a query of its own: %+v", got)
	} else if !strings.Contains(string(got[1].Answer), `"service":"I2C"`) || got[2].Error == nil || got[2].Error.Code != "unknown-name" {
		t.Errorf("with directives, and unknown: %s, %+v", got[1].Answer, got[2].Error)
	}
}

// Y95-63: a list of names is resolved on behalf of its sender, like a single name.
func TestBatchAsker(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) {
		o.Resolver = resolverFunc(func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
			switch {
			case gateway.ClientOf(ctx).Addr.String() != "127.0.0.1":
				return nil, &nomen.Error{Kind: nomen.Denied, Name: q.Name.Key()}
			case q.Name.Key() == "urn:example:many":
				return nil, &gateway.LimitError{After: 3 * time.Second}
			}
			return &nomen.Answer{Service: nomen.I2L, Name: q.Name, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/"}}}, nil
		})
	})
	_, got, all := post(t, listen(t, s), "", "text/uri-list", "urn:example:one\nurn:example:many\n")
	if len(got) != 2 || got[0].Error != nil {
		t.Fatalf("got %s", all)
	}
	if e := got[1].Error; e == nil || e.Code != "limit" || !strings.Contains(e.Message, "in 3 s") {
		t.Errorf("too many questions: %+v", e)
	}
}

// RFC 2169, appendix A: lines may end in CR or LF only.
func TestBatchLineEnds(t *testing.T) {
	s, _ := newTestServer(t, nil)
	_, got, _ := post(t, listen(t, s), "", "text/uri-list", "\ufeff# a\rurn:ietf:rfc:1\r\rurn:ietf:rfc:2\r\nurn:ietf:rfc:3\nurn:ietf:rfc:4\r")
	var said []string
	for _, g := range got {
		said = append(said, fmt.Sprint(g.Line, " ", g.Input))
	}
	if want := []string{"2 urn:ietf:rfc:1", "4 urn:ietf:rfc:2", "5 urn:ietf:rfc:3", "6 urn:ietf:rfc:4"}; !slices.Equal(said, want) {
		t.Errorf("got %q, want %q", said, want)
	}
}

// A list that is too long or invalid is rejected as a whole.
func TestBatchRefused(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.Limits.BatchNames, o.Limits.BatchBytes = 3, 100 })
	l := listen(t, s)
	for _, tt := range []struct {
		query, contentType, body string
		status                   int
	}{
		{"", "text/uri-list", "urn:x:1\nurn:x:2\nurn:x:3", 200},
		{"", "text/uri-list", "urn:x:1\nurn:x:2\nurn:x:3\nurn:x:4", 413},
		{"", "text/uri-list", strings.Repeat("# a comment\n", 10), 413},
		{"", "text/html", "urn:x:1", 415},
		{"", "", "urn:x:1", 415},
		{"", "text/uri-list", "", 200},
		{"?at=2026-13-45", "text/uri-list", "urn:x:1", 400},
		{"?at=nonsense", "text/uri-list", "urn:x:1", 400},
		{"?at=", "text/uri-list", "urn:x:1", 400},
	} {
		resp, _, body := post(t, l, tt.query, tt.contentType, tt.body)
		if resp.StatusCode != tt.status {
			t.Errorf("%+v: got %d %s", tt, resp.StatusCode, body)
		}
	}
	for coding, status := range map[string]string{"gzip": "415", "Identity": "200"} {
		in := "POST /-/resolve HTTP/1.0\r\nContent-Type: text/uri-list\r\nContent-Encoding: " + coding + "\r\nContent-Length: 7\r\n\r\nurn:x:1"
		if got := exchange(t, l.Public, in); !strings.HasPrefix(got, "HTTP/1.0 "+status) {
			t.Errorf("%s: %q", coding, got)
		}
	}
	for line, want := range map[string]string{
		`[1]`: "must be a string or an object, not array", `7`: "not number", `{"name":7}`: "name: must be a string, not number",
		`{"at":[]}`: "at: must be a string", `{"nope":1}`: `unknown field \"nope\"`,
	} {
		if _, _, body := post(t, l, "", typeJSONLines, line); !strings.Contains(body, want) || strings.Contains(body, "Go ") {
			t.Errorf("%s: %s, want %s", line, body, want)
		}
	}
	for host, status := range map[string]string{"example.org": "200", "elsewhere.example": "421"} { // RFC 9112, 3.2.2
		in := "POST http://" + host + "/-/resolve?s=I2Ls HTTP/1.0\r\nContent-Type: text/uri-list\r\nContent-Length: 18\r\n\r\nurn:ietf:rfc:2648\n"
		if got := exchange(t, l.Public, in); !strings.HasPrefix(got, "HTTP/1.0 "+status) || status == "200" && !strings.Contains(got, `"service":"I2Ls"`) {
			t.Errorf("%s: %q", in, got)
		}
	}
	for _, in := range []string{"OPTIONS /-/resolve HTTP/1.0\r\n\r\n", "DELETE /-/resolve HTTP/1.0\r\n\r\n"} {
		if _, fields, _ := cutAnswer(exchange(t, l.Public, in)); fieldOf(fields, "Allow") != "GET, HEAD, POST, OPTIONS" {
			t.Errorf("%s: %q", in, fields)
		}
	}
}

// Each result is sent as soon as it is known. The server looks up several names of a list at once,
// but not all, and it limits the number of concurrent lists.
func TestBatchStreams(t *testing.T) {
	const maxBatches = 8
	var under, most atomic.Int32
	goOn := make(chan struct{})
	door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := newTestServer(t, func(o *Options) {
		o.Explainer = &gateway.Explainer{Authorities: store.NewTable(o.Store, o.Now, time.Second), Store: o.Store, Access: door} // other servers may be asked
		o.Limits.Costly = maxBatches + maxBatches/2 - 1                                                                          // of which the local host may use three quarters
		o.Resolver = resolverFunc(func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
			n := under.Add(1)
			defer under.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if q.Name.Key() != "urn:x-y:1" {
				select {
				case <-goOn:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active}, nil
		})
	})
	l := listen(t, s)
	var list strings.Builder
	for i := range 100 {
		fmt.Fprintf(&list, "urn:x-y:%d\n", i+1)
	}
	ask := func() *http.Response {
		resp, err := http.Post("http://"+l.Public.String()+"/-/resolve", "text/uri-list", strings.NewReader(list.String()))
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	var open []*http.Response
	for range maxBatches {
		open = append(open, ask())
	}
	for _, resp := range open {
		line, err := bufio.NewReader(resp.Body).ReadString('\n')
		if err != nil || !strings.Contains(line, `"urn:x-y:1"`) {
			t.Errorf("got %q, %v", line, err)
		}
	}
	resp := ask()
	resp.Body.Close()
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("one list more: %d", resp.StatusCode)
	}
	if n := most.Load(); n < maxBatches*batchAhead/2 || n > maxBatches*(batchAhead+2) {
		t.Errorf("%d names were looked up at once", n)
	}
	for _, resp := range open {
		resp.Body.Close() // the client has gone
	}
	close(goOn)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if back, err := s.turns.TakeFor(nil, maxBatches+maxBatches/2-1); err == nil {
			back()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("lists are still being answered")
		}
	}
	if _, got, _ := post(t, l, "", "text/uri-list", list.String()); len(got) != 100 || got[99].Input != "urn:x-y:100" {
		t.Errorf("got %d answers", len(got))
	}
}
