package ezid

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// start is the time of the first change in tests.
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
	store    *memstore.Store
	accounts accounts
	url      string
	client   *http.Client
	public   atomic.Bool // other machines can read requests
	clock    atomic.Int64
}

func (f *fixture) now() time.Time { return start.Add(time.Duration(f.clock.Load()) * time.Second) }

// open starts a server with two authorities in the scope and one that is not.
func open(t *testing.T) *fixture {
	t.Helper()
	scope := dialect.Scope{name.MustParsePrefix("ark:99999"), name.MustParsePrefix("doi:10.9999")}
	grant := func(role registrar.Role) registrar.Actor {
		return registrar.Actor{Who: "apitest", Grants: []registrar.Grant{{Role: role, Prefixes: scope}}}
	}
	f := &fixture{store: memstore.New(), accounts: accounts{
		"T.editor": grant(registrar.Editor), "T.owner": grant(registrar.Owner), "T.reader": grant(registrar.Reader),
		"T.other": {Who: "other", Grants: []registrar.Grant{{Role: registrar.Owner, Prefixes: []name.Prefix{name.MustParsePrefix("ark:12345")}}}},
	}}
	for _, p := range []string{"ark:99999", "doi:10.9999", "ark:12345"} {
		a := &store.Authority{Prefix: name.MustParsePrefix(p), Owners: []string{"Example Library"}, Description: "Test names"}
		if _, err := f.store.Apply(t.Context(), []store.Change{{Authority: a, Time: start}}); err != nil {
			t.Fatal(err)
		}
	}
	table := store.NewTable(f.store, f.now, time.Second)
	f.Handler = New(Options{
		Scope: scope, Identities: dialect.NewIdentities(f.accounts, nil, f.now), Store: f.store, Authorities: table,
		Registrar: registrar.New(f.store, registrar.Options{Now: f.now, Authorities: table}),
		Resolver:  resolve.New(f.store, resolve.Options{Now: f.now, Authorities: table}),
		Version:   "1.2.3", Now: f.now, Downloads: filepath.Join(t.TempDir(), "downloads"),
	})
	t.Cleanup(f.building.running.Wait)
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	f.url, f.client = server.URL, server.Client()
	f.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return f
}

func (f *fixture) serve(w http.ResponseWriter, r *http.Request) {
	f.clock.Add(1)
	c := &dialect.Call{Target: r.RequestURI, Base: "https://id.example.org", Client: netip.MustParseAddr("127.0.0.1"), Private: !f.public.Load()}
	if !f.Serve(w, r, c) {
		http.Error(w, "answered by the server", http.StatusTeapot)
	}
}

func basic(token string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("apitest:"+token))
}

// variables are those of the traces.
func variables() map[string]string {
	return map[string]string{"EDITOR": basic("T.editor"), "OWNER": basic("T.owner"), "READER": basic("T.reader"), "OTHER": basic("T.other"), "WRONG": basic("T.wrong")}
}

func TestTraces(t *testing.T) {
	files, err := filepath.Glob("testdata/*.trace")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".trace"), func(t *testing.T) {
			f := open(t)
			f.RedirectUnavailable = strings.HasPrefix(filepath.Base(file), "tombstone")
			f.public.Store(strings.HasPrefix(filepath.Base(file), "public"))
			(&dialecttest.Runner{Client: f.client, Bases: []string{f.url}, Variables: variables()}).Run(t, file)
		})
	}
}

// Making an unavailable identifier public again is a revision of its own, with its author.
func TestReviveInHistory(t *testing.T) {
	f := open(t)
	n := name.MustParse("ark:99999/fk4x")
	for _, status := range []string{"", "_status: unavailable | withdrawn", "_status: public"} {
		method := http.MethodPost
		if status == "" {
			method = http.MethodPut
		}
		req, _ := http.NewRequest(method, f.url+"/id/ark:/99999/fk4x", strings.NewReader(status))
		req.Header.Set("Authorization", basic("T.owner"))
		res, err := f.client.Do(req)
		if err != nil || res.StatusCode >= 300 {
			t.Fatal(res, err)
		}
		res.Body.Close()
	}
	var got []nomen.Status
	for c, err := range store.History(t.Context(), f.store, n) {
		if err != nil || c.Who != "apitest" {
			t.Fatal(c, err)
		}
		got = append(got, c.Record.Status)
	}
	if len(got) != 3 || got[0] != nomen.Active || got[1] != nomen.Retired || got[2] != nomen.Active {
		t.Errorf("the history has the states %v, want active, retired, active", got)
	}
}

// A client that has sent too many wrong passwords must wait, at all doors.
func TestTooManyPasswords(t *testing.T) {
	f := open(t)
	f.Identities = dialect.NewIdentities(f.accounts, nil, func() time.Time { return start })
	do := func(method, path, token string) string {
		t.Helper()
		req, _ := http.NewRequest(method, f.url+path, http.NoBody)
		req.Header.Set("Authorization", basic(token))
		res, err := f.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(res.StatusCode, " ", string(body), " ", res.Header.Get("Retry-After"))
	}
	for range 10 {
		if got, want := do("GET", "/login", "T.wrong"), "401 error: unauthorized "; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	for _, path := range []string{"GET /login", "GET /id/ark:/99999/fk4x", "PUT /id/ark:/99999/fk4x", "POST /id/ark:/99999/fk4x", "DELETE /id/ark:/99999/fk4x", "POST /shoulder/ark:/99999/fk4"} {
		method, path, _ := strings.Cut(path, " ")
		for _, token := range []string{"T.wrong", "T.owner"} {
			if got, want := do(method, path, token), "503 error: concurrency limit exceeded 10"; got != want {
				t.Errorf("%s %s with %s: got %q, want %q", method, path, token, got, want)
			}
		}
	}
	if _, err := f.store.Get(t.Context(), name.MustParse("ark:99999/fk4x"), time.Time{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the record exists: %v", err)
	}
}

// A token that sends too many requests gets the time to wait.
func TestRateOfToken(t *testing.T) {
	f := open(t)
	f.Identities = dialect.NewIdentities(limitedAccounts{}, nil, f.now)
	req, _ := http.NewRequest("GET", f.url+"/login", http.NoBody)
	req.Header.Set("Authorization", basic("T.owner"))
	res, err := f.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 503 || res.Header.Get("Retry-After") != "3" {
		t.Errorf("got %d with Retry-After %q, want 503 with 3", res.StatusCode, res.Header.Get("Retry-After"))
	}
}

// limitedAccounts are accounts that have reached their rate limit.
type limitedAccounts struct{ accounts }

func (limitedAccounts) Bearer(context.Context, string) (registrar.Actor, error) {
	return registrar.Actor{}, &adminapi.RateError{After: 3 * time.Second}
}

// A shoulder with a template of the authority has the names of this template. Those of a minter are in its
// order until none is left, and identifiers that were deleted are not made again.
func TestMintByTemplate(t *testing.T) {
	f := open(t)
	a, err := f.store.Authority(t.Context(), name.MustParsePrefix("ark:99999"), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	a.Mint = []string{"x5{noid:sd}", "Cap{seq}", "fk4{noid:zdk}"}
	if _, err := f.store.Apply(t.Context(), []store.Change{{Authority: a, Expected: a.Revision, Time: start}}); err != nil {
		t.Fatal(err)
	}
	f.clock.Add(10)
	do := func(method, path string) string {
		t.Helper()
		req, _ := http.NewRequest(method, f.url+path, strings.NewReader("_status: reserved"))
		req.Header.Set("Authorization", basic("T.editor"))
		res, err := f.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(res.StatusCode, " ", string(body))
	}
	for i := range 10 {
		if i == 5 {
			do("DELETE", "/id/ark:/99999/x54")
		}
		if got, want := do("POST", "/shoulder/ark:/99999/x5"), fmt.Sprintf("201 success: ark:/99999/x5%d", i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, tt := range []struct{ shoulder, want string }{
		{"x5", "400 error: bad request - shoulder does not support minting"},
		{"Cap", "201 success: ark:/99999/Cap1"},
		{"Cap", "201 success: ark:/99999/Cap2"},
		{"fk4", "201 success: ark:/99999/fk40" + noidCheck("99999/fk40")},
		{"fk4", "201 success: ark:/99999/fk41" + noidCheck("99999/fk41")},
	} {
		if got := do("POST", "/shoulder/ark:/99999/"+tt.shoulder); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.shoulder, got, tt.want)
		}
	}
	for _, shoulder := range []string{"cap", "x", "x55", "fk"} { // without a template
		if got, begin := do("POST", "/shoulder/ark:/99999/"+shoulder), "201 success: ark:/99999/"+shoulder; !strings.HasPrefix(got, begin) || len(got) != len(begin)+9 {
			t.Errorf("%s: got %q, want %q with nine more characters", shoulder, got, begin)
		}
	}
}

// noidCheck returns the check character of NOID.
func noidCheck(s string) string {
	const alphabet = "0123456789bcdfghjkmnpqrstvwxz"
	sum := 0
	for i := range len(s) {
		sum += (i + 1) * max(strings.IndexByte(alphabet, s[i]), 0)
	}
	return alphabet[sum%len(alphabet):][:1]
}
