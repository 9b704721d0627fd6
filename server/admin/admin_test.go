package admin

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// admin returns a client of a new server with an administrator token.
func admin(t testing.TB) (*adminapi.Client, store.Store, *server.Listening) {
	t.Helper()
	srv, s := newTestAPI(t, nil)
	l := listen(t, srv)
	return &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}, s, l
}

func TestAdminNames(t *testing.T) {
	c, _, _ := admin(t)
	ctx := t.Context()
	if v, err := c.Version(ctx); err != nil || v != (adminapi.Version{Version: "1.2.3", Rules: name.RulesVersion}) {
		t.Errorf("version: %v, %v", v, err)
	}
	for _, key := range []string{"urn:dns:example.org:a%2Fb", "ark:12345/x/history", "urn:example:a~b'c", "https://purl.example/net/x?q=1"} {
		n := name.MustParse(key)
		req := registrar.Request{
			Record:   &store.Record{Name: n, Spelling: key, Locations: []nomen.Location{{URL: "https://example.org/new"}}},
			Expected: store.AnyRevision,
		}
		out, err := c.Put(ctx, req, "a test")
		if err != nil || out.Name != n || !out.Result.Changed {
			t.Errorf("put %s: %+v, %v", key, out, err)
			continue
		}
		rec, err := c.Get(ctx, n)
		if err != nil {
			t.Errorf("get %s: %v", key, err)
			continue
		}
		if diff := cmp.Diff(rec, out.Record, cmp.Comparer(func(a, b name.Name) bool { return a == b })); diff != "" {
			t.Errorf("get and put of %s differ:\n%s", key, diff)
		}
		for h, err := range c.Revisions(ctx, n) {
			if err != nil || h.Why != "a test" || h.Who != "administrator" {
				t.Errorf("history of %s: %+v, %v", key, h, err)
			}
			break
		}
	}
}

func TestAdminErrorsAreThoseOfTheStore(t *testing.T) {
	c, _, _ := admin(t)
	ctx := t.Context()
	alb := name.MustParse("urn:dns:example.org:alb002")
	put := func(r *store.Record, expected uint64) error {
		_, err := c.Put(ctx, registrar.Request{Record: r, Expected: expected}, "")
		return err
	}
	record := func(key, url string) *store.Record {
		return &store.Record{Name: name.MustParse(key), Spelling: key, Locations: []nomen.Location{{URL: url}}}
	}
	var refusal *registrar.RefusalError
	if err := put(record(alb.Key(), "javascript:alert(1)"), store.AnyRevision); !errors.As(err, &refusal) || refusal.Field != "locations[0].url" {
		t.Errorf("a script as location: %#v", err)
	}
	var conflict *store.ConflictError
	if err := put(record(alb.Key(), "https://example.org/x"), 7); !errors.As(err, &conflict) || conflict.Expected != 7 || conflict.Current != 1 {
		t.Errorf("a wrong revision: %#v", err)
	}
	if _, err := c.Get(ctx, name.MustParse("urn:dns:example.org:none")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown name: %#v", err)
	}
	var state *store.StateError
	if _, err := c.Delete(ctx, alb, store.AnyRevision, ""); !errors.As(err, &state) { // Y95-22
		t.Errorf("deleting an active name: %#v", err)
	}
	if _, err := c.Delete(ctx, name.MustParse("urn:dns:example.org:secret"), 1, "never mind"); err != nil {
		t.Errorf("deleting a reserved name: %v", err)
	}
	if out, err := c.Retire(ctx, alb, registrar.Retirement{Reason: "withdrawn", Expected: 1}, ""); err != nil || out.Record.Status != nomen.Retired {
		t.Errorf("retiring: %+v, %v", out, err)
	}
	if _, err := c.Retire(ctx, alb, registrar.Retirement{Expected: store.AnyRevision}, ""); !errors.As(err, &refusal) {
		t.Errorf("retiring without a reason: %#v", err)
	}
	bad := &adminapi.Client{URL: c.URL, Token: "unknown.secret"}
	if _, err := bad.Version(ctx); !errors.Is(err, adminapi.ErrUnauthorized) {
		t.Errorf("a wrong token: %#v", err)
	}
}

func TestAdminPreview(t *testing.T) {
	c, _, _ := admin(t)
	n := name.MustParse("urn:example:preview")
	req := registrar.Request{Record: &store.Record{Name: n, Spelling: n.Key()}, Expected: store.AnyRevision}
	outs, err := c.Preview(t.Context(), []registrar.Request{req})
	if err != nil || len(outs) != 1 || !outs[0].Created || outs[0].Err != nil {
		t.Errorf("preview: %+v, %v", outs, err)
	}
	if _, err := c.Get(t.Context(), n); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after a preview: %v", err)
	}
}

func TestAdminRights(t *testing.T) {
	c, s, _ := admin(t)
	ctx := t.Context()
	as := func(g adminapi.Grant) *adminapi.Client { return &adminapi.Client{URL: c.URL, Token: grant(t, s, g)} }
	alb := name.MustParse("urn:dns:example.org:alb002")
	req := registrar.Request{Record: &store.Record{Name: alb, Reason: ""}, Fields: registrar.FieldName, Expected: store.AnyRevision}
	var denied *registrar.DeniedError

	reader := as(adminapi.Grant{Who: "reader", Role: "reader"})
	if _, err := reader.Get(ctx, alb); err != nil {
		t.Errorf("a reader reads: %v", err)
	}
	if _, err := reader.Put(ctx, req, ""); !errors.As(err, &denied) || denied.Need != registrar.Editor {
		t.Errorf("a reader writes: %#v", err)
	}
	elsewhere := as(adminapi.Grant{Who: "other", Role: "editor", Prefixes: []string{"urn:dns:other.example"}})
	if _, err := elsewhere.Get(ctx, alb); !errors.As(err, &denied) {
		t.Errorf("an editor reads where it has no rights: %#v", err)
	}
	if _, err := elsewhere.Put(ctx, req, ""); !errors.As(err, &denied) {
		t.Errorf("an editor writes where it has no rights: %#v", err)
	}
	if _, err := elsewhere.Grant(ctx, adminapi.AdministratorGrant()); !errors.As(err, &denied) {
		t.Errorf("an editor makes an administrator: %#v", err)
	}
	var all bytes.Buffer
	if sum, err := elsewhere.Export(ctx, &all, bulk.ExportOptions{}); err != nil || sum.Read != 1 {
		t.Errorf("an export limited by rights: %+v, %v: %s", sum, err, &all)
	}
	granted, err := c.Grant(ctx, adminapi.Grant{Who: "new", Role: "editor"})
	if err != nil {
		t.Fatal(err)
	}
	fresh := &adminapi.Client{URL: c.URL, Token: granted.Token}
	if _, err := fresh.Version(ctx); err != nil {
		t.Errorf("a new token: %v", err)
	}
	if err := c.Revoke(ctx, granted.ID); err != nil {
		t.Errorf("revoking: %v", err)
	}
	if _, err := fresh.Version(ctx); !errors.Is(err, adminapi.ErrUnknownToken) || !errors.Is(err, adminapi.ErrUnauthorized) {
		t.Errorf("a revoked token: %#v", err)
	}
}

// A token can be revoked even if its ID was lost: tokens are listed, without their
// secrets.
func TestAdminTokens(t *testing.T) {
	c, s, _ := admin(t)
	ctx := t.Context()
	lost, err := c.Grant(ctx, adminapi.Grant{Who: "kb", Role: "owner", Prefixes: []string{"urn:nbn:se"}})
	if err != nil {
		t.Fatal(err)
	}
	of := func() adminapi.Token {
		t.Helper()
		all, err := c.Tokens(ctx)
		if err != nil || len(all) != 2 {
			t.Fatalf("got %+v, %v", all, err)
		}
		return all[slices.IndexFunc(all, func(k adminapi.Token) bool { return k.Who == "kb" })]
	}
	if got := of(); got.ID != lost.ID || got.Role != "owner" || !slices.Equal(got.Prefixes, []string{"urn:nbn:se"}) || !got.Since.Equal(testNow) || got.Revoked {
		t.Errorf("got %+v", got)
	}
	if err := c.Revoke(ctx, of().ID); err != nil || !of().Revoked {
		t.Errorf("revoked: %+v, %v", of(), err)
	}
	status, _, body := do(t, c, "GET", "/api/v1/tokens", "")
	_, secret, _ := adminapi.SplitToken(lost.Token)
	if status != 200 || strings.Contains(body, "hash") || strings.Contains(body, secret) {
		t.Errorf("%d %s", status, body)
	}
	var denied *registrar.DeniedError
	for _, g := range []adminapi.Grant{{Who: "o", Role: "owner"}, {Who: "a", Role: "administrator", Prefixes: []string{"urn:nbn:se"}}} {
		if all, err := (&adminapi.Client{URL: c.URL, Token: grant(t, s, g)}).Tokens(ctx); !errors.As(err, &denied) {
			t.Errorf("%+v sees %+v, %v", g, all, err)
		}
	}
}

func TestAdminImportExport(t *testing.T) {
	c, _, _ := admin(t)
	ctx := t.Context()
	lines := `{"name":"urn:example:one","locations":[{"url":"https://example.org/1"}]}
{"name":"urn:example:two","locations":[{"url":"relative"}]}
{"name":"urn:example:three","colour":"red"}
{"name":"urn:dns:example.org:alb002","metadata":{"title":["Two"]}}
`
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, lines)
	z.Close()
	for _, tt := range []struct {
		title string
		in    io.Reader
		o     bulk.ImportOptions
		want  bulk.Summary
	}{
		{"dry run", strings.NewReader(lines), bulk.ImportOptions{DryRun: true}, bulk.Summary{Read: 4, Created: 1, Changed: 1, Refused: 2}},
		{"first", strings.NewReader(lines), bulk.ImportOptions{Why: "spring"}, bulk.Summary{Read: 4, Created: 1, Changed: 1, Refused: 2}},
		{"again, packed", &packed, bulk.ImportOptions{}, bulk.Summary{Read: 4, Unchanged: 2, Refused: 2}},
	} {
		var refused []int
		progress := 0
		tt.o.Refused = func(r bulk.Refusal) { refused = append(refused, r.Line) }
		tt.o.Progress = func(bulk.Summary) { progress++ }
		got, err := c.Import(ctx, tt.in, tt.o)
		got.Seconds, tt.want.Import = 0, got.Import
		if err != nil || got != tt.want || !cmp.Equal(refused, []int{2, 3}) || progress == 0 {
			t.Errorf("%s: %+v, refused lines %v, progress %d, %v; want %+v", tt.title, got, refused, progress, err, tt.want)
		}
	}
	cut := io.MultiReader(strings.NewReader(lines[:80]), &failing{errors.New("disk on fire")})
	if _, err := c.Import(ctx, cut, bulk.ImportOptions{}); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("a file that cannot be read: %v", err)
	}
	var broken *bulk.BrokenError
	half := bytes.NewReader([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"))
	if _, err := c.Import(ctx, half, bulk.ImportOptions{}); !errors.As(err, &broken) {
		t.Errorf("a gzip file cut short: %#v", err)
	}
	var out bytes.Buffer
	sum, err := c.Export(ctx, &out, bulk.ExportOptions{Prefix: "urn:example:", Statuses: []nomen.Status{nomen.Active}, Compression: bulk.Gzip})
	if err != nil || sum.Read != 2 {
		t.Fatalf("export: %+v, %v", sum, err)
	}
	r, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || bytes.Count(text, []byte("\n")) != 2 || !bytes.Contains(text, []byte("urn:example:one")) {
		t.Errorf("export: %s, %v", text, err)
	}
}

// If an upload is aborted, the records received so far are imported, and the response
// says that it was truncated.
func TestAdminImportBrokenOff(t *testing.T) {
	c, s, l := admin(t)
	for key, body := range map[string]string{
		"urn:example:length":  "Content-Length: 1000\r\n\r\n%s",
		"urn:example:chunked": "Transfer-Encoding: chunked\r\n\r\n400\r\n%s",
	} {
		record := `{"name":"` + key + `","locations":[{"url":"https://example.org/"}]}` + "\n" + `{"name":"urn:example:cut`
		conn, err := net.Dial("tcp", l.Admin.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /api/v1/import HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n"+body, c.Token, record)
		conn.(*net.TCPConn).CloseWrite()
		answer, err := io.ReadAll(conn)
		if err != nil || !bytes.Contains(answer, []byte(`"created":1`)) || !bytes.Contains(answer, []byte("broken-off")) {
			t.Errorf("%s: %s, %v", key, answer, err)
		}
		if _, err := s.Get(t.Context(), name.MustParse(key), time.Time{}); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// A body of null must not clear the record.
func TestAdminNull(t *testing.T) {
	c, s, l := admin(t)
	for _, request := range []string{
		"PUT /api/v1/names/urn:ietf:rfc:2648 HTTP/1.1\r\nContent-Length: 4\r\n%s\r\nnull",
		"POST /api/v1/names/urn:ietf:rfc:2648/retire HTTP/1.1\r\nContent-Length: 5\r\n%s\r\nnull\n",
		"POST /api/v1/names HTTP/1.1\r\nContent-Length: 19\r\n%s\r\n{\"requests\":[null]}",
		"POST /api/v1/names HTTP/1.1\r\nContent-Length: 30\r\n%s\r\n{\"requests\":[{\"record\":null}]}",
		"PUT /api/v1/authorities/urn:ietf:rfc HTTP/1.1\r\nContent-Length: 4\r\n%s\r\nnull",
		"POST /api/v1/tokens HTTP/1.1\r\nContent-Length: 4\r\n%s\r\nnull",
	} {
		got := exchange(t, l.Admin, fmt.Sprintf(request, "Host: localhost\r\nConnection: close\r\nAuthorization: Bearer "+c.Token+"\r\n"))
		if !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.Contains(got, `"problem"`) {
			t.Errorf("%q: %s", request, got)
		}
	}
	if rec, err := s.Get(t.Context(), name.MustParse("urn:ietf:rfc:2648"), time.Time{}); err != nil || rec.Revision != 1 {
		t.Errorf("the record has changed: %+v, %v", rec, err)
	}
}

// Without a token, a client cannot keep a connection busy with a body that does not
// arrive.
func TestAdminBodiesAreNotAwaited(t *testing.T) {
	srv, _ := newTestAPI(t, func(o *Options) { o.Timeout = 300 * time.Millisecond })
	l := listen(t, srv)
	for _, host := range []string{"localhost", "stranger.example"} {
		exchange(t, l.Admin, "PUT /api/v1/names/urn:x:y HTTP/1.1\r\nHost: "+host+"\r\nContent-Length: 100\r\n\r\n{") // ends
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestAdminAuthorities(t *testing.T) {
	c, _, l := admin(t)
	ctx := t.Context()
	p := name.MustParsePrefix("urn:nbn:fi")
	if _, err := c.Authority(ctx, p); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an authority that is not there: %v", err)
	}
	out, err := c.PutAuthority(ctx, &store.Authority{Prefix: p, Owners: []string{"a"}, Hosts: []string{"urn.example"}}, 0, "new")
	if err != nil || !out.Created || len(out.Warnings) != 1 {
		t.Fatalf("put: %+v, %v", out, err)
	}
	a, err := c.Authority(ctx, p)
	if err != nil || a.Revision != 1 || !cmp.Equal(a.Hosts, []string{"urn.example"}) {
		t.Errorf("get: %+v, %v", a, err)
	}
	var conflict *store.ConflictError
	if _, err := c.PutAuthority(ctx, a, 0, ""); !errors.As(err, &conflict) {
		t.Errorf("put as new again: %v", err)
	}
	all, err := c.Authorities(ctx)
	if err != nil || len(all) != len(servertest.Authorities())+1 {
		t.Errorf("list: %d, %v", len(all), err)
	}
	// The public listener uses it immediately.
	if got := exchange(t, l.Public, "GET urn+m HTTP/1.0\r\nHost: urn.example\r\n\r\n"); !strings.Contains(got, "urn:nbn:fi") {
		t.Errorf("urn+m of the new authority: %s", got)
	}
}

// do sends a raw request to the admin listener.
func do(t *testing.T, c *adminapi.Client, method, path, body string, fields ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	for i := 0; i < len(fields); i += 2 {
		if fields[i] == "Host" {
			req.Host = fields[i+1]
		}
		req.Header.Set(fields[i], fields[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b)
}

func TestAdminOverHTTP(t *testing.T) {
	c, _, _ := admin(t)
	const one = "/api/v1/names/urn:example:one"
	const record = `{"name":"urn:example:one","locations":[{"url":"https://example.org/1"}]}`
	const policed = "/api/v1/authorities/urn:x-p"
	const oneRule = `{"match":"{n:d}","locations":[{"url":"https://h.example/{n}"}],"tests":[{"from":"urn:x-p:7","to":["https://h.example/7"]}]}`
	for _, tt := range []struct {
		title, method, path, body string
		fields                    []string
		status                    int
		want                      string // in the body
	}{
		{"create", "PUT", one, record, []string{"If-None-Match", "*"}, 201, `"revision":1`},
		{"create twice", "PUT", one, record + " ", []string{"If-None-Match", "*"}, 412, `"current":1`},
		{"put again", "PUT", one, record + " ", nil, 200, `"changed":false`},
		{"create over another", "PUT", one, `{"name":"urn:example:one"}`, []string{"If-None-Match", "*"}, 412, `"current":1`},
		{"get", "GET", one, "", nil, 200, `"url":"https://example.org/1"`},
		{"get by a name escaped as a whole", "GET", "/api/v1/names/URN%3Aexample%3Aone", "", nil, 200, `"urn:example:one"`},
		{"not modified", "GET", one, "", []string{"If-None-Match", `"1"`}, 304, ""},
		{"replace", "PUT", one, `{"name":"urn:example:one","locations":[]}`, []string{"If-Match", `"1"`}, 200, `"revision":2`},
		{"lost update", "PUT", one, record, []string{"If-Match", `"1"`}, 412, `"expected":1`},
		{"no revision", "PUT", one, record, []string{"If-Match", `"x"`}, 400, `If-Match`},
		{"conflict by query", "PUT", one + "?expected=1", record, nil, 409, `"current":2`},
		{"another name in the body", "PUT", one, `{"name":"urn:example:two"}`, nil, 400, "must be the name in the path"},
		{"unknown field", "PUT", one, "{\n  \"nam\": 1}", nil, 400, `"line":2`},
		{"bad JSON", "PUT", one, "{\n  \"name\": oops}", nil, 400, `"line":2,"column":11`},
		{"wrong type", "PUT", one, `{"name":"urn:example:one","locations":7}`, nil, 400, `"field":"locations"`},
		{"wrong type in words", "PUT", one, `{"name":"urn:example:one","locations":7}`, nil, 400, `must be an array, not number`},
		{"negative priority", "PUT", one, `{"name":"urn:example:one","locations":[{"url":"https://e.example","priority":"x"}]}`, nil, 400, `must be a whole number`},
		{"authority with a bad prefix", "PUT", "/api/v1/authorities/urn:ietf:std", `{"prefix":"-"}`, nil, 400, `malformed-name`},
		{"policy", "PUT", policed, `{"prefix":"urn:x-p","max_age":60,"suffix":"append","delegation":{"mode":"ask"},"keywords":{"c":["toc"]},"rules":[` + oneRule + `]}`, nil, 201, `"max_age":60`},
		{"policy there", "GET", policed, "", nil, 200, `"locations":[{"url":"https://h.example/{n}"}]`},
		{
			"rule whose test fails", "PUT", policed, `{"prefix":"urn:x-p","rules":[` + strings.Replace(oneRule, "/7", "/8", 1) + `]}`, nil, 422,
			`"detail":"test 1 of rule 1, urn:x-p:7: rule 1 gives https://h.example/7; the test expects rule 1 to give https://h.example/8","name":"urn:x-p","field":"rules[0].tests[0]"`,
		},
		{"rule without a test", "PUT", policed, `{"prefix":"urn:x-p","rules":[{"match":"{n:d}","locations":[{"url":"https://h.example/{n}"}]}]}`, nil, 422, `"field":"rules[0].tests"`},
		{"a rejected change has no effect", "GET", policed, "", nil, 200, `"revision":1`},
		{"unknown policy", "PUT", policed, `{"prefix":"urn:x-p","suffix":"prepend"}`, nil, 422, `"field":"suffix"`},
		{"unknown field of a policy", "PUT", policed, `{"prefix":"urn:x-p","rule":[]}`, nil, 400, `unknown field`},
		{"wrong type in a policy", "PUT", policed, `{"prefix":"urn:x-p","rules":7}`, nil, 400, `"field":"rules"`},
		{"policy that goes", "PUT", policed, `{"prefix":"urn:x-p"}`, nil, 200, `"revision":2`},
		{"cut short", "PUT", one, `{"name":`, nil, 400, "truncated"},
		{"two objects", "PUT", one, record + record, nil, 400, "unexpected data"},
		{"bad location", "PUT", one, `{"name":"urn:example:one","locations":[{"url":"https://example.org/\r\n"}]}`, nil, 422, `"field":"locations[0].url"`},
		{"bad name", "GET", "/api/v1/names/urn:x", "", nil, 400, `malformed-name`},
		{"retire", "POST", one + "/retire", `{"reason":"done","successors":["urn:example:two"]}`, nil, 200, `"retired"`},
		{"retire with unknown field", "POST", one + "/retire", `{"raeson":"done"}`, nil, 400, "raeson"},
		{"history", "GET", one + "/history", "", nil, 200, `"revision":3`},
		{"history of nothing", "GET", "/api/v1/names/urn:example:none/history", "", nil, 404, "not-found"},
		{"list", "GET", "/api/v1/names?prefix=urn:example:&limit=1", "", nil, 200, `"next":"urn:example:one"`},
		{"next", "GET", "/api/v1/names?prefix=urn:example:&after=urn:example:one", "", nil, 200, `pipe%7Ced`},
		{"list by status", "GET", "/api/v1/names?status=reserved", "", nil, 200, `:secret`},
		{"list by bad status", "GET", "/api/v1/names?status=dead", "", nil, 400, `"field":"status"`},
		{"unknown parameter", "GET", "/api/v1/names?prefx=urn", "", nil, 400, `prefx`},
		{"bad limit", "GET", "/api/v1/names?limit=0", "", nil, 400, `limit`},
		{"batch", "POST", "/api/v1/names", `{"requests":[{"record":{"name":"urn:example:b"}},{"record":{"name":"nothing"}}]}`, nil, 200, `"problem":{`},
		{"batch without a record", "POST", "/api/v1/names", `{"requests":[{}]}`, nil, 400, `record`},
		{"authority", "GET", "/api/v1/authorities/urn:ietf:rfc", "", nil, 200, `"default":true`},
		{"authority of another prefix", "PUT", "/api/v1/authorities/urn:ietf:std", `{"prefix":"urn:ietf:rfc"}`, nil, 400, `prefix`},
		{"bad prefix", "GET", "/api/v1/authorities/nothing", "", nil, 400, ``},
		{"bad export time", "GET", "/api/v1/export?at=yesterday", "", nil, 400, `"field":"at"`},
		{"bad encoding", "POST", "/api/v1/import", "", []string{"Content-Encoding", "br"}, 415, ``},
		{"bad flag", "POST", "/api/v1/import?dry_run=perhaps", "", nil, 400, `dry_run`},
		{"bad role", "POST", "/api/v1/tokens", `{"who":"x","role":"king"}`, nil, 422, `"field":"role"`},
		{"no user", "POST", "/api/v1/tokens", `{"who":"","role":"editor"}`, nil, 422, `"field":"who"`},
		{"a prefix that ends at no delimiter", "POST", "/api/v1/tokens", `{"who":"x","role":"editor","prefixes":["https://example.org/a"]}`, nil, 422, `"field":"prefixes[0]"`},
		{"no such token", "DELETE", "/api/v1/tokens/none", "", nil, 404, ``},
		{"wrong method", "PATCH", one, "", nil, 405, ``},
		{"no such resource", "GET", "/api/v1/nothing", "", nil, 404, `not-found`},
		{"health without a token", "GET", "/-/healthz", "", []string{"Authorization", ""}, 200, `ok`},
		{"description without a token", "GET", "/-/openapi.json", "", []string{"Authorization", ""}, 200, `openapi`},
		{"no token", "GET", one, "", []string{"Authorization", ""}, 401, `unauthorized`},
		{"wrong token", "GET", one, "", []string{"Authorization", "Bearer unknown.secret"}, 401, `invalid token: unknown or revoked`},
		{"no token at all", "GET", one, "", []string{"Authorization", "Bearer nonsense"}, 401, `invalid token: unknown or revoked`},
		{"token of another kind", "GET", one, "", []string{"Authorization", "Basic eDp5"}, 401, `unauthorized`},
		{"DNS rebinding", "GET", one, "", []string{"Host", "evil.example:4501"}, 421, ``},
		{"localhost", "GET", one, "", []string{"Host", "localhost:4501"}, 200, ``},
		{"another site", "POST", "/api/v1/names", `{}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, ``},
	} {
		t.Run(tt.title, func(t *testing.T) {
			status, h, body := do(t, c, tt.method, tt.path, tt.body, tt.fields...)
			if status != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("%s %s: %d %s, want %d with %s", tt.method, tt.path, status, body, tt.status, tt.want)
			}
			if status >= 400 && h.Get("Content-Type") != "application/problem+json" || status >= 400 && !json.Valid([]byte(body)) {
				t.Errorf("the error is not a problem document: %s: %s", h.Get("Content-Type"), body)
			}
			if h.Get("Access-Control-Allow-Origin") != "" {
				t.Error("the admin API is open to other sites")
			}
			if status == 405 && !strings.Contains(h.Get("Allow"), "PUT") {
				t.Errorf("Allow: %q", h.Get("Allow"))
			}
		})
	}
}

// TestAdminBodyLimit sends a body above the limit.
func TestAdminBodyLimit(t *testing.T) {
	c, _, _ := admin(t)
	huge := `{"name":"` + strings.Repeat("a", adminapi.MaxBody) + `"}`
	if status, _, body := do(t, c, "PUT", "/api/v1/names/urn:example:one", huge); status != 413 {
		t.Errorf("got %d %.200s", status, body)
	}
}
