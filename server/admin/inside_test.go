package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// person returns an actor with a role for some prefixes.
func person(who string, role registrar.Role, prefixes ...string) registrar.Actor {
	g := registrar.Grant{Role: role}
	for _, p := range prefixes {
		g.Prefixes = append(g.Prefixes, name.MustParsePrefix(p))
	}
	return registrar.Actor{Who: who, Grants: []registrar.Grant{g}}
}

func location(spelling, url string) registrar.Request {
	return registrar.Request{Expected: store.AnyRevision, Record: &store.Record{
		Name: name.MustParse(spelling), Spelling: spelling, Locations: []nomen.Location{{URL: url}},
	}}
}

func TestInsideClientHasTheRightsOfItsActor(t *testing.T) {
	api, _ := newTestAPI(t, nil)
	ctx := t.Context()
	c := api.Client(person("u-anna", registrar.Editor, "urn:dns:example.org"))
	if _, err := c.Put(ctx, location("urn:dns:example.org:alb002", "https://example.org/new"), "moved"); err != nil {
		t.Fatal(err)
	}
	for r, err := range c.Revisions(ctx, name.MustParse("urn:dns:example.org:alb002")) {
		if err != nil || r.Who != "u-anna" || r.Why != "moved" {
			t.Errorf("history: %+v, %v", r, err)
		}
		break
	}
	var denied *registrar.DeniedError
	if _, err := c.Put(ctx, location("urn:ietf:rfc:2648", "https://example.org/x"), ""); !errors.As(err, &denied) {
		t.Errorf("change of a name of others: %v", err)
	}
	if _, err := c.Get(ctx, name.MustParse("urn:ietf:rfc:2648")); !errors.As(err, &denied) {
		t.Errorf("name of others: %v", err)
	}
	if _, err := c.Tokens(ctx); !errors.As(err, &denied) || denied.Role != registrar.Editor {
		t.Errorf("tokens: %v", err)
	}
	if _, err := api.Client(registrar.Actor{Who: "u-none"}).Version(ctx); !errors.As(err, &denied) {
		t.Errorf("actor without grants: %v", err)
	}
}

// A request from outside is not taken for one of an inside client, whatever it says.
func TestInsideClientCannotBeForged(t *testing.T) {
	api, _ := newTestAPI(t, nil)
	l := listen(t, api)
	for _, fields := range []string{"", "Cookie: __Host-nomen=u-anna.secret\r\n", "Authorization: Bearer user u-anna\r\n", "Authorization: Bearer \r\n"} {
		got := exchange(t, l.Admin, "GET /api/v1/version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+fields+"\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 401 ") {
			t.Errorf("with %q: got %q", fields, got)
		}
	}
}

// Requests are limited per user, not per API.
func TestInsideClientsHaveRates(t *testing.T) {
	m := &recorder{}
	access, lines := logged()
	api, _ := newTestAPI(t, func(o *Options) {
		o.Limits, o.Metrics, o.AccessLog = Limits{Rate: 0.001, Burst: 2}, m, access
	})
	ask := func(a registrar.Actor) int {
		req, err := api.Client(a).NewRequest(t.Context(), http.MethodGet, "version", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := api.Client(a).HTTP.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := io.ReadAll(res.Body); err != nil { // the request is counted before the end
			t.Fatal(err)
		}
		return res.StatusCode
	}
	anna, bert := person("u-anna", registrar.Editor), person("u-bert", registrar.Reader)
	var got []int
	for _, a := range []registrar.Actor{anna, anna, anna, bert} {
		got = append(got, ask(a))
	}
	if want := []int{200, 200, 429, 200}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
	if got, want := m.take(), []string{"editor 200", "editor 200", "editor 429", "reader 200"}; !slices.Equal(got, want) {
		t.Errorf("counted %q, want %q", got, want)
	}
	if lines.String() != "" {
		t.Errorf("the access log has requests that did not come from outside: %s", lines)
	}
}

// Lists, imports and trailers work as over a connection.
func TestInsideClientStreams(t *testing.T) {
	api, _ := newTestAPI(t, nil)
	ctx := t.Context()
	c := api.Client(person("u-anna", registrar.Administrator))
	sum, err := c.Import(ctx, strings.NewReader("name,url\nurn:dns:example.org:new,https://example.org/new\n"), bulk.ImportOptions{Format: bulk.CSV})
	if err != nil || sum.Created != 1 {
		t.Fatalf("import: %+v, %v", sum, err)
	}
	seen := 0
	for _, err := range c.Changes(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
	}
	if head, err := c.Head(ctx); err != nil || head.Size != uint64(seen) || seen == 0 {
		t.Errorf("got %d changes of %d, %v", seen, head.Size, err)
	}
	var out bytes.Buffer
	exported, err := c.Export(ctx, &out, bulk.ExportOptions{Prefix: "urn:dns:example.org:new", Format: bulk.JSONLines})
	if err != nil || exported.Read != 1 || !strings.Contains(out.String(), "https://example.org/new") {
		t.Errorf("export: %+v, %v, %s", exported, err, out.String())
	}
	jobs, err := c.Jobs(ctx)
	if err != nil || len(jobs) != 1 || jobs[0].Who != "u-anna" {
		t.Errorf("jobs: %+v, %v", jobs, err)
	}
	if jobs, err = api.Client(person("u-bert", registrar.Editor)).Jobs(ctx); err != nil || len(jobs) != 0 {
		t.Errorf("jobs of another user: %+v, %v", jobs, err)
	}
	if err := api.tokenInvalid(ctx, insidePrefix+"u-anna"); err != nil {
		t.Errorf("the job of a user ends: %v", err)
	}
}

func TestInsideClientEnds(t *testing.T) {
	api, _ := newTestAPI(t, nil)
	c := api.Client(person("u-anna", registrar.Administrator))
	ctx, cancel := context.WithCancel(t.Context())
	req, err := c.NewRequest(ctx, http.MethodGet, "changes", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: got %v", err)
	}
	res.Body.Close()
	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Import(ctx, iotest.ErrReader(errors.New("disk on fire")), bulk.ImportOptions{}); err == nil {
		t.Error("an import of a broken file succeeded")
	}
}

// A panic ends the response as an error.
func TestInsideClientSurvivesPanics(t *testing.T) {
	api, _ := newTestAPI(t, func(o *Options) { o.Config = panicking{} })
	c := api.Client(person("u-anna", registrar.Administrator))
	var status *adminapi.StatusError
	if _, err := c.Settings(t.Context()); !errors.As(err, &status) || status.Status != http.StatusInternalServerError {
		t.Errorf("got %v", err)
	}
}

type panicking struct{ Configuration }

func (panicking) Settings() []adminapi.Setting { panic("settings on fire") }

// Pages are served below their path, to accepted hosts only. They judge requests of other sites
// themselves, and the API still rejects those.
func TestPagesAreMounted(t *testing.T) {
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "page "+r.URL.Path) })
	m := &recorder{}
	api, _ := newTestAPI(t, func(o *Options) { o.Pages, o.Metrics = pages, m })
	without, _ := newTestAPI(t, nil)
	for _, tt := range []struct {
		api                *API
		host, target, from string
		status             int
		body               string
	}{
		{api, "localhost", "/-/ui/", "", 200, "page /-/ui/"},
		{api, "localhost", "/-/ui/names?q=1", "cross-site", 200, "page /-/ui/names"},
		{api, "attacker.example", "/-/ui/", "", 421, ""},
		{api, "localhost", "/-/uix", "", 404, ""},
		{api, "localhost", "/api/v1/names", "cross-site", 403, ""},
		{without, "localhost", "/-/ui/", "", 404, ""},
		{without, "localhost", "/-/ui/", "cross-site", 403, ""},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+tt.target, nil)
		r.RequestURI, r.Host = tt.target, tt.host
		if tt.from != "" {
			r.Header.Set("Sec-Fetch-Site", tt.from)
		}
		w := httptest.NewRecorder()
		if tt.api.ServeHTTP(w, r); w.Code != tt.status || tt.body != "" && w.Body.String() != tt.body {
			t.Errorf("%s%s: got %d %s", tt.host, tt.target, w.Code, w.Body)
		}
	}
	for target, want := range map[string]int{"/": 303, "/-/ui": 303, "/-/u": 404} {
		got := exchange(t, listen(t, api).Admin, "GET "+target+" HTTP/1.0\r\nHost: localhost\r\n\r\n")
		if !strings.HasPrefix(got, fmt.Sprintf("HTTP/1.0 %d ", want)) || want == 303 && !strings.Contains(got, "\r\nLocation: /-/ui/\r\n") {
			t.Errorf("%s: got %q", target, got)
		}
	}
	if got := exchange(t, listen(t, without).Admin, "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.0 404 ") {
		t.Errorf("without pages: got %q", got)
	}
	if got, want := m.take()[0], "none 200"; got != want {
		t.Errorf("counted %q, want %q", got, want)
	}
}
