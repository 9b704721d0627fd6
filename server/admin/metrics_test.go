package admin

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/store"
)

// A recorder keeps what an API reports.
type recorder struct {
	mu   sync.Mutex
	seen []string
}

func (m *recorder) add(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, fmt.Sprintf(format, args...))
}

func (m *recorder) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := m.seen
	m.seen = nil
	return seen
}

func (m *recorder) AdminRequest(role string, status int)    { m.add("%s %d", role, status) }
func (m *recorder) Ran(task string, _ time.Time, err error) { m.add("ran %s: %v", task, err) }

func (m *recorder) Expect(task string, last time.Time)               { m.add("expect %s %v", task, last.IsZero()) }
func (m *recorder) ServeHTTP(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "shown") }

// Clients on this machine see the metrics without a token. Others need one, and so do requests
// that a proxy passes on.
func TestMetricsAccess(t *testing.T) {
	m := &recorder{}
	api, s := newTestAPI(t, func(o *Options) { o.Metrics = m })
	token := grant(t, s, adminapi.Grant{Who: "prometheus", Role: "reader", Prefixes: []string{"urn:dns:example.org"}})
	for _, tt := range []struct {
		what, remote, field, value string
		status                     int
		role                       string
	}{
		{"IPv4", "127.0.0.1:9", "", "", 200, "none"},
		{"IPv6", "[::1]:9", "", "", 200, "none"},
		{"IPv4 in IPv6", "[::ffff:127.0.0.5]:9", "", "", 200, "none"},
		{"Unix socket", "@", "", "", 200, "none"},
		{"elsewhere", "203.0.113.7:9", "", "", 401, "none"},
		{"elsewhere with a wrong token", "203.0.113.7:9", "Authorization", "Bearer a.b", 401, "none"},
		{"elsewhere with a token", "203.0.113.7:9", "Authorization", "Bearer " + token, 200, "reader"},
		{"proxy", "127.0.0.1:9", "X-Forwarded-For", "203.0.113.7", 401, "none"},
		{"proxy of RFC 7239", "127.0.0.1:9", "Forwarded", "for=203.0.113.7", 401, "none"},
		{"nginx", "127.0.0.1:9", "X-Real-IP", "203.0.113.7", 401, "none"},
		{"gateway", "@", "Via", "1.1 gate", 401, "none"},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/-/metrics", nil)
		r.RequestURI, r.RemoteAddr = "/-/metrics", tt.remote
		if tt.field != "" {
			r.Header.Set(tt.field, tt.value)
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if w.Code != tt.status || (w.Body.String() == "shown") != (tt.status == 200) {
			t.Errorf("%s: got %d %s", tt.what, w.Code, w.Body)
		}
		if got, want := m.take(), fmt.Sprintf("%s %d", tt.role, tt.status); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: counted %q, want %q", tt.what, got, want)
		}
	}
	for _, host := range []string{"attacker.example", ""} { // a name that leads to this machine
		r := httptest.NewRequest(http.MethodGet, "http://localhost/-/metrics", nil)
		r.RequestURI, r.RemoteAddr, r.Host = "/-/metrics", "127.0.0.1:9", host
		w := httptest.NewRecorder()
		if api.ServeHTTP(w, r); w.Code != http.StatusMisdirectedRequest {
			t.Errorf("host %q: got %d", host, w.Code)
		}
	}
}

// Without metrics the path does not exist.
func TestWithoutMetrics(t *testing.T) {
	api, _ := newTestAPI(t, nil)
	l := listen(t, api)
	if got := exchange(t, l.Admin, "GET /-/metrics HTTP/1.0\r\nHost: localhost\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.0 404 ") {
		t.Errorf("got %q", got)
	}
}

// Requests are counted by the role of their token, and never by its name.
func TestRequestsAreCounted(t *testing.T) {
	m := &recorder{}
	api, s := newTestAPI(t, func(o *Options) { o.Metrics = m })
	l := listen(t, api)
	for _, tt := range []struct{ token, request, want string }{
		{grant(t, s, adminapi.Grant{Who: "anna", Role: "reader"}), "GET /api/v1/version", "reader 200"},
		{grant(t, s, adminapi.Grant{Who: "bert", Role: "editor"}), "GET /api/v1/tokens", "editor 403"},
		{grant(t, s, adminapi.Grant{Who: "carl", Role: "administrator"}), "GET /api/v1/names/urn:example:none", "administrator 404"},
		{"a.b", "GET /api/v1/version", "none 401"},
		{"", "GET /nothing", "none 404"},
	} {
		exchange(t, l.Admin, tt.request+" HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer "+tt.token+"\r\n\r\n")
		if got := m.take(); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s: counted %q, want %q", tt.request, got, tt.want)
		}
	}
}

// A verification of the whole store is a task: it fails if it finds faults, and its last success
// is known after a restart. A verification that is cancelled, or only of the latest changes, does
// not count.
func TestTasksAreReported(t *testing.T) {
	m, dir := &recorder{}, t.TempDir()
	tasks := func() (all []string) {
		for _, seen := range m.take() {
			if strings.HasPrefix(seen, "ran ") || strings.HasPrefix(seen, "expect ") {
				all = append(all, seen)
			}
		}
		return all
	}
	begin := func(wrap func(store.Reader) store.Reader) (*API, *adminapi.Client) {
		api, s := newTestAPI(t, func(o *Options) {
			o.Metrics, o.Jobs = m, dir
			if wrap != nil {
				o.Store = wrap(o.Store)
			}
		})
		return api, &adminapi.Client{URL: "http://" + listen(t, api).Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}
	}
	api, c := begin(nil)
	counts := map[string]int{}
	verify := func(c *adminapi.Client, since *store.Head) {
		t.Helper()
		var err error
		if since == nil {
			_, err = c.Verify(t.Context(), func(store.Fault) {}, nil)
		} else {
			_, err = c.VerifySince(t.Context(), *since, func(store.Fault) {}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	verify(c, nil)
	if got := tasks(); !slices.Equal(got, []string{"ran verify: <nil>"}) {
		t.Errorf("a verification: %q", got)
	}
	verify(c, &store.Head{})
	if got := tasks(); got != nil {
		t.Errorf("a verification since a head: %q", got)
	}
	api.CountJobs(func(kind, state string, n int) { counts[kind+" "+state] = n })
	if len(counts) != len(adminapi.JobKinds())*len(adminapi.JobStates()) || counts["verify done"] != 2 || counts["backup failed"] != 0 {
		t.Errorf("jobs: %v", counts)
	}
	api.Shutdown(t.Context())
	slow := &slowVerifier{begun: make(chan struct{}, 9), end: make(chan struct{})}
	_, c = begin(func(r store.Reader) store.Reader {
		slow.Store = r.(store.Store)
		return slow
	})
	if got := tasks(); !slices.Equal(got, []string{"expect verify false"}) {
		t.Errorf("after a restart: %q", got)
	}
	close(slow.end)
	verify(c, nil)
	if got := tasks(); !slices.Equal(got, []string{"ran verify: " + errFaults.Error()}) {
		t.Errorf("with faults: %q", got)
	}
}
