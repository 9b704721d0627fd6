package arklet

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/dialect/dialecttest"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// start is the time of all changes in tests.
var start = time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)

// accounts are the tokens of the tests.
type accounts map[string]registrar.Actor

func (a accounts) Bearer(_ context.Context, token string) (registrar.Actor, error) {
	if actor, ok := a[token]; ok {
		return actor, nil
	}
	return registrar.Actor{}, adminapi.ErrUnknownToken
}

func (a accounts) Account(ctx context.Context, token, _ string) (registrar.Actor, error) {
	return a.Bearer(ctx, token)
}

// A fixture is a server of the dialect.
type fixture struct {
	*Handler
	store  *memstore.Store
	url    string
	client *http.Client
	public bool // other machines can read requests
}

// open starts a server with an authority in the scope and one that is not.
func open(t *testing.T) *fixture {
	t.Helper()
	scope := dialect.Scope{name.MustParsePrefix("ark:12345")}
	grant := func(role registrar.Role, prefixes ...name.Prefix) registrar.Actor {
		return registrar.Actor{Who: "library", Grants: []registrar.Grant{{Role: role, Prefixes: prefixes}}}
	}
	tokens := accounts{
		"T.editor": grant(registrar.Editor, scope...), "T.reader": grant(registrar.Reader, scope...),
		"T.other": grant(registrar.Owner, name.MustParsePrefix("ark:54321")),
	}
	f := &fixture{store: memstore.New()}
	for prefix, policy := range map[string]store.Policy{"ark:12345": {Mint: []string{"n{noid:sd}"}}, "ark:54321": {}} {
		a := &store.Authority{Prefix: name.MustParsePrefix(prefix), Owners: []string{"Example Library"}, Policy: policy}
		if _, err := f.store.Apply(t.Context(), []store.Change{{Authority: a, Time: start}}); err != nil {
			t.Fatal(err)
		}
	}
	x := &store.Record{Name: name.MustParse("ark:54321/x"), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/x"}}}
	if _, err := f.store.Apply(t.Context(), []store.Change{{Record: x, Time: start}}); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return start }
	table := store.NewTable(f.store, now, time.Second)
	identities := []dialect.Identity{{ID: "a", Token: "T.editor", Secret: []byte("former key")}, {ID: "b", Token: "T.other", Secret: []byte("another key")}}
	var err error
	f.Handler, err = New(Options{
		Scope: scope, Identities: dialect.NewIdentities(tokens, identities, now), Store: f.store, Authorities: table,
		Registrar: registrar.New(f.store, registrar.Options{Now: now, Authorities: table}),
		Resolver:  resolve.New(f.store, resolve.Options{Now: now, Authorities: table}), Now: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	f.url, f.client = server.URL, server.Client()
	f.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return f
}

func (f *fixture) serve(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<20)
	c := &dialect.Call{Target: r.RequestURI, Base: "https://id.example.org", Client: netip.MustParseAddr("127.0.0.1"), Private: !f.public}
	if !f.Serve(w, r, c) {
		http.Error(w, "answered by the server", http.StatusTeapot)
	}
}

// send sends a request with a key, and returns the status and the body.
func (f *fixture) send(t *testing.T, method, path, key, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := f.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(fmt.Sprint(res.StatusCode, " ", string(text)))
}

func TestTrace(t *testing.T) {
	f := open(t)
	(&dialecttest.Runner{Client: f.client, Bases: []string{f.url}, Variables: map[string]string{}}).Run(t, "testdata/client.trace")
}

// A record has what the import of arklet's table would give it. Values of other interfaces stay.
func TestRecord(t *testing.T) {
	f := open(t)
	n := name.MustParse("ark:12345/n0")
	if got := f.send(t, "POST", "/mint", "T.editor", `{"naan": 12345, "shoulder": "/n", "url": "https://example.org/1", "metadata": "M", "commitment": "C"}`); got != `200 {"ark": "ark:/12345/n0"}` {
		t.Fatal(got)
	}
	get := func() *store.Record {
		t.Helper()
		rec, err := f.store.Get(t.Context(), n, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	rec := get()
	values := []nomen.Value{{Index: 10001, Type: "arklet:metadata", Data: "M"}, {Index: 10002, Type: "arklet:commitment", Data: "C"}}
	if diff := cmp.Diff(rec.Values, values); diff != "" || rec.Status != nomen.Active || rec.Metadata["description"][0] != "M" || rec.Locations[0].URL != "https://example.org/1" {
		t.Errorf("got %+v, %s", rec, diff)
	}
	next := rec.Clone()
	next.Values = append([]nomen.Value{{Index: 7, Type: "DESC", Data: "other"}}, next.Values...)
	next.Metadata["title"] = []string{"T"}
	if _, err := f.store.Apply(t.Context(), []store.Change{{Record: next, Expected: rec.Revision, Time: start}}); err != nil {
		t.Fatal(err)
	}
	if got := f.send(t, "PUT", "/update", "T.editor", `{"ark": "ark:12345/n-0"}`); got != "200" {
		t.Fatal(got)
	}
	rec = get()
	if diff := cmp.Diff(rec.Values, []nomen.Value{{Index: 7, Type: "DESC", Data: "other"}}); diff != "" || len(rec.Locations) != 0 || rec.Metadata["description"] != nil || rec.Metadata["title"][0] != "T" {
		t.Errorf("got %+v, %s", rec, diff)
	}
}

// A former key is the secret of an identity. Wrong keys are limited; a key is not read where other
// machines can read it.
func TestKeys(t *testing.T) {
	f := open(t)
	const mint = `{"naan": 12345, "shoulder": "/n", "url": "https://example.org/1"}`
	for _, tt := range []struct{ key, want string }{
		{"former key", "403"}, // only its last word counts
		{"", "403"},
		{"another", "403"},
	} {
		if got := f.send(t, "POST", "/mint", tt.key, mint); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.key, got, tt.want)
		}
	}
	f.Identities = dialect.NewIdentities(accounts{"T.editor": {Who: "library", Grants: []registrar.Grant{{Role: registrar.Editor}}}}, []dialect.Identity{
		{ID: "a", Token: "T.editor", Secret: []byte("key-1")}, {ID: "b", Token: "T.gone", Secret: []byte("key-2")}, {ID: "c", Token: "T.editor"},
	}, func() time.Time { return start })
	for _, tt := range []struct{ key, want string }{
		{"key-1", `200 {"ark": "ark:/12345/n0"}`}, {"key-2", "403"}, {"T.editor", `200 {"ark": "ark:/12345/n1"}`}, {"key-", "403"},
	} {
		if got := f.send(t, "POST", "/mint", tt.key, mint); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.key, got, tt.want)
		}
	}
	for range 10 {
		f.send(t, "POST", "/mint", "wrong", mint)
	}
	if got := f.send(t, "PUT", "/update", "key-1", "{}"); got != "503" {
		t.Errorf("after many wrong keys: got %s, want 503", got)
	}
	f.public = true
	if got := f.send(t, "POST", "/mint", "key-1", mint); got != "403" {
		t.Errorf("where others can read the key: got %s, want 403", got)
	}
}

// What the registrar rejects is a fault of a member of the request.
func TestFaults(t *testing.T) {
	f := open(t)
	retired := &store.Record{Name: name.MustParse("ark:12345/gone"), Status: nomen.Retired, Reason: "withdrawn"}
	if _, err := f.store.Apply(t.Context(), []store.Change{{Record: retired, Time: start}}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ method, path, body, want string }{
		{"PUT", "/update", `{"ark": "ark:12345/gone", "url": "https://example.org/"}`, `400 {"ark": ["The ARK was retired."]}`},
		{"PUT", "/update", `{"ark": 5}`, `400 {"ark": ["Invalid ARK: Not a valid ARK"]}`},
		{"PUT", "/update", `{"ark": ["x"]}`, `400 {"ark": ["Enter a text."]}`},
		{"PUT", "/update", `{"ark": "ark:/x"}`, `400 {"ark": ["Invalid ARK: Not a valid ARK"]}`},
		{"PUT", "/update", `{"ark": "ark:/ark:12345/x"}`, `400 {"ark": ["Invalid ARK: Not a valid ARK"]}`},
		{"PUT", "/update", `{"ark": "x"} {}`, "400"},
		{"POST", "/mint", `{"naan": 12345, "shoulder": "/"}`, `400 {"shoulder": ["Shoulders must start with a forward slash"]}`},
		{"POST", "/mint", `{"naan": 1e9, "shoulder": "/x"}`, "403"},
		{"POST", "/mint", `{"naan": -1, "shoulder": "/x"}`, `400 {"naan": ["Enter a whole number."]}`},
		{"POST", "/mint", `{"naan": 12345, "shoulder": "/x%41"}`, `400 {"shoulder": ["Enter a valid shoulder."]}`},
		{"POST", "/mint", `{"naan": 12345, "shoulder": "/x/"}`, "200 "},
	} {
		if got := f.send(t, tt.method, tt.path, "T.editor", tt.body); got != tt.want && !(tt.want == "200 " && strings.HasPrefix(got, `200 {"ark": "ark:/12345/x/`)) {
			t.Errorf("%s %s: got %s, want %s", tt.path, tt.body, got, tt.want)
		}
	}
	long := f.send(t, "POST", "/mint", "T.editor", `{"naan": 12345, "shoulder": "/x", "metadata": "`+strings.Repeat("x", 5<<20)+`"}`)
	if !strings.HasPrefix(long, "400 ") {
		t.Errorf("a long request: got %.80s, want 400", long)
	}
}

func TestNewNeedsARKs(t *testing.T) {
	if _, err := New(Options{Scope: dialect.Scope{name.MustParsePrefix("hdl:20.500.9999")}}); err == nil {
		t.Error("a scope with handles is accepted")
	}
}

// readForm returns no text that is not in the body, and no error other than one for the client.
func FuzzReadForm(f *testing.F) {
	for _, body := range []string{`{"naan": 12345, "shoulder": "/x5"}`, `{"ark": null}`, `[]`, `{"a": 1e999}`, "{\"a\": \"\xff\"}"} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		req := httptest.NewRequest("POST", "/mint", strings.NewReader(body))
		form, err := readForm(req)
		if err != nil {
			_ = err.(*invalidError).form.text()
			return
		}
		parseARK(form[memberARK])
		naanPrefix(form[memberNAAN])
	})
}
