package handle

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// testAccounts has tokens with the roles and prefixes of actors.
type testAccounts map[string]registrar.Actor

func (a testAccounts) Bearer(ctx context.Context, token string) (registrar.Actor, error) {
	id, secret, _ := strings.Cut(token, ".")
	if secret != "secret" {
		return registrar.Actor{}, adminapi.ErrUnknownToken
	}
	return a.Account(ctx, id, "")
}

func (a testAccounts) Account(_ context.Context, token, _ string) (registrar.Actor, error) {
	actor, ok := a[token]
	if !ok {
		return actor, adminapi.ErrUnknownToken
	}
	return actor, nil
}

const testPrefix = "20.500.9999"

var testNow = time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)

// actors returns the actors of the tokens.
func actors() testAccounts {
	grant := func(who string, role registrar.Role, prefix string) registrar.Actor {
		return registrar.Actor{Who: who, Grants: []registrar.Grant{{Role: role, Prefixes: []name.Prefix{name.MustParsePrefix("hdl:" + prefix)}}}}
	}
	return testAccounts{
		"editor": grant("editor", registrar.Editor, testPrefix), "owner": grant("owner", registrar.Owner, testPrefix),
		"reader": grant("reader", registrar.Reader, testPrefix), "other": grant("other", registrar.Editor, "20.500.8888"),
		"closed": grant("closed", registrar.Editor, "20.500.7777"),
	}
}

// actor returns the actor of a token.
func (h *harness) actor(token string) registrar.Actor { return actors()[token] }

// A harness is a server with an editor of the prefix, an owner of it, and an editor of another one.
type harness struct {
	*testing.T
	server  *Server
	store   *memstore.Store
	private bool
	client  netip.Addr // address of the client
	clock   time.Time
	dead    deadLocations
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	s := memstore.New()
	t.Cleanup(func() { s.Close() })
	h := &harness{T: t, store: s, private: true, clock: testNow, dead: deadLocations{}}
	now := func() time.Time { return h.clock }
	for _, a := range []*store.Authority{
		{Prefix: name.MustParsePrefix("hdl:" + testPrefix), Owners: []string{"archive", "library"}},
		{Prefix: name.MustParsePrefix("hdl:20.500.7777"), Owners: []string{"archive", "library"}, Policy: store.Policy{Access: store.AccessDenied, AccessNote: "Ask the archive."}},
	} {
		if _, err := s.Apply(t.Context(), []store.Change{{Authority: a, Time: testNow}}); err != nil {
			t.Fatal(err)
		}
	}
	accounts := actors()
	var err error
	h.server, err = New(Options{
		Store: s, Registrar: registrar.New(s, registrar.Options{Now: now}), Resolver: resolve.New(s, resolve.Options{Now: now, Dead: h.dead}),
		Identities: dialect.NewIdentities(accounts, []dialect.Identity{
			{ID: "300:20.500.9999/ADMIN", Token: "editor", Secret: []byte("correct horse")},
			{ID: "301:20.500.9999/ADMIN", Token: "gone", Secret: []byte("correct horse")},
		}, now),
		Scope: dialect.Scope{name.MustParsePrefix("hdl:" + testPrefix), name.MustParsePrefix("hdl:20.500.7777")},
		Now:   now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// basic returns an Authorization field. The user name is percent-encoded as by clients.
func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(user, ":", "%3A")+":"+password))
}

// asEditor is the field of a client who may change all handles of the prefix.
var asEditor = basic("300:20.500.9999/ADMIN", "correct horse")

// do sends a request with an Authorization field, which may be "".
func (h *harness) do(method, target, authorization, body string) *http.Response {
	h.Helper()
	r := httptest.NewRequestWithContext(h.Context(), method, "/", strings.NewReader(body))
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return h.send(r, target)
}

// send sends a request for a target.
func (h *harness) send(r *http.Request, target string) *http.Response {
	h.Helper()
	if h.private {
		r.TLS = &tls.ConnectionState{}
	}
	w := httptest.NewRecorder()
	if !h.server.Serve(w, r, &dialect.Call{Target: target, Base: "https://hdl.example.org", Client: h.client, Private: h.private}) {
		w.WriteHeader(http.StatusTeapot) // not a request of the dialect
	}
	return w.Result()
}

// want checks the status and the body of a response.
func (h *harness) want(method, target, authorization, body string, status int, text string) {
	h.Helper()
	resp := h.do(method, target, authorization, body)
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	if resp.StatusCode != status || string(got) != text {
		h.Errorf("%s %s %s:\n got %d %s\nwant %d %s", method, target, body, resp.StatusCode, got, status, text)
	}
}

// put writes a record without the dialect.
func (h *harness) put(rec *store.Record) {
	h.Helper()
	rec.Name = name.MustParse(rec.Spelling)
	if _, err := h.store.Apply(h.Context(), []store.Change{{Record: rec, Time: testNow}}); err != nil {
		h.Fatal(err)
	}
}

// record returns the record of a handle.
func (h *harness) record(handle string) *store.Record {
	h.Helper()
	rec, err := h.store.Get(h.Context(), name.MustParse("hdl:"+handle), time.Time{})
	if err != nil {
		h.Fatal(err)
	}
	return rec
}
