package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A testStore reports a condition and a usage, and counts how often it is asked for its size.
type testStore struct {
	*memstore.Store
	condition store.Condition
	usage     store.Usage
	counted   int
	err       error
}

func (s *testStore) Condition() store.Condition { return s.condition }
func (s *testStore) Usage() store.Usage         { return s.usage }

func (s *testStore) Count(ctx context.Context) (int64, bool, error) {
	s.counted++
	if _, ok := ctx.Deadline(); !ok {
		return 0, false, errors.New("no deadline")
	}
	return 42, true, s.err
}

func newTestStore() *testStore {
	return &testStore{
		Store:     memstore.New(),
		condition: store.Condition{NoWrites: true, Full: true, Cause: "the disk is full", Since: time.Now()},
		usage: store.Usage{
			Caches: []store.CacheUsage{
				{Name: "blocks", Hits: 3, Misses: 1, Bytes: 1 << 20, Capacity: 2 << 20},
				{Name: "records", Hits: 5, Misses: 2, Evictions: 4, CountsEvictions: true, Bytes: 10, Capacity: 20},
			},
			Disk: &store.DiskUsage{Free: 100, Size: 1000, Required: 50}, Failures: 7,
			Servers: map[string]int{"primary": 1, "replica": 2}, Unsealed: 1500 * time.Millisecond,
		},
	}
}

// full returns metrics with every source.
func full(s store.Reader) *Metrics {
	tasks := &Tasks{}
	tasks.Expect(TaskBackup, time.Unix(1000, 0))
	tasks.Ran(TaskReload, time.Unix(2000, 0), nil)
	tasks.Ran(TaskReload, time.Unix(3000, 0), errors.New("line 3"))
	m := New(Options{
		Forms: []string{"web"}, Refusals: []string{"busy"}, Store: s,
		Clock: func() bool { return true }, Ready: func() bool { return false },
		Scrub: func() (Scrub, bool) { return Scrub{Changes: 5}, true },
		Search: func() (store.IndexStatus, bool) {
			return store.IndexStatus{Built: true, Names: 11, Position: 12, Head: 25, Err: errors.New("away")}, true
		},
		Published: func() (Published, bool) { return Published{Size: 7, Waiting: 1, Cosigned: 1, Need: 2}, true },
		Links: func() (Links, bool) {
			return Links{Counts: map[string]int64{"dead": 8}, Checks: 13, FailingHosts: 2, Paused: true}, true
		},
		Jobs:        func() []Jobs { return []Jobs{{"verify", "running", 2}} },
		Connections: func() map[string]int { return map[string]int{"public": 3} },
		Answers:     func() (store.CacheUsage, bool) { return store.CacheUsage{Name: "answers", Hits: 9}, true },
		Upstream:    func() (running, waiting int) { return 4, 1 },
		Misses:      func() uint64 { return 6 },
		Counted:     func() (Counted, bool) { return Counted{Unchecked: 8, Saved: time.Unix(3000, 0)}, true },
		Certificate: func() time.Time { return time.Unix(5000, 0) },
		Dropped:     func() uint64 { return 8 },
		Rested:      func() time.Duration { return 1500 * time.Millisecond },
		Tasks:       tasks,
		Build:       Build{"1.2.3", "abc", "go1"},
	})
	m.Observe("web", http.StatusFound, time.Millisecond)
	m.Observe("unknown", http.StatusFound, time.Millisecond)
	m.Refused("busy")
	m.Stale()
	m.AdminRequest("editor", http.StatusForbidden)
	m.SignIn("link", "success")
	return m
}

// The metrics follow the conventions of Prometheus.
func TestLint(t *testing.T) {
	m := full(newTestStore())
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func shownBy(m *Metrics) string {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/-/metrics", nil))
	return w.Body.String()
}

func TestValues(t *testing.T) {
	got := shownBy(full(newTestStore()))
	for _, want := range []string{
		`nomen_build_info{goversion="go1",revision="abc",version="1.2.3"} 1`,
		`nomen_requests_total{form="web",status="302"} 1`, `nomen_admin_requests_total{role="editor",status="403"} 1`,
		`nomen_names 42`, `nomen_log_size 0`, `nomen_connections{listener="public"} 3`, `nomen_ready 0`,
		`nomen_cache_hits_total{cache="blocks"} 3`, `nomen_cache_hits_total{cache="answers"} 9`, `nomen_cache_evictions_total{cache="records"} 4`, `nomen_cache_capacity_bytes{cache="records"} 20`,
		`nomen_storage_full 1`, `nomen_storage_writable 0`, `nomen_storage_readable 1`, `nomen_storage_free_bytes 100`, `nomen_storage_required_bytes 50`, `nomen_storage_failures_total 7`,
		`nomen_log_unsealed_seconds 1.5`, `nomen_database_servers{role="replica"} 2`, `nomen_upstream_requests{state="waiting"} 1`,
		`nomen_jobs{kind="verify",state="running"} 2`, `nomen_misses_total 6`, `nomen_counts_unchecked_total 8`, `nomen_counts_saved_timestamp_seconds 3000`, `nomen_certificate_expiry_timestamp_seconds 5000`, `nomen_log_lines_dropped_total 8`, `nomen_background_rest_seconds_total 1.5`,
		`nomen_task_last_success_timestamp_seconds{task="backup"} 1000`, `nomen_task_last_success_timestamp_seconds{task="reload"} 2000`,
		`nomen_task_failing{task="reload"} 1`, `nomen_task_runs_total{result="failure",task="reload"} 1`,
	} {
		if !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	for _, no := range []string{`cache_evictions_total{cache="blocks"}`, `form="unknown"`} {
		if strings.Contains(got, no) {
			t.Errorf("found %s", no)
		}
	}
}

// The size of the store is asked for rarely, and not at all while the store cannot be read. A
// size that is not known is not shown.
func TestSizeIsCached(t *testing.T) {
	s := newTestStore()
	m := full(s)
	for range 3 {
		shownBy(m)
	}
	if s.counted != 1 {
		t.Errorf("asked %d times", s.counted)
	}
	s = newTestStore()
	s.err = errors.New("down")
	if got := shownBy(full(s)); strings.Contains(got, "\nnomen_names ") {
		t.Error("an unknown size is shown")
	}
	s = newTestStore()
	s.condition.NoReads = true
	if got := shownBy(full(s)); s.counted != 0 || strings.Contains(got, "\nnomen_names ") {
		t.Errorf("a store that cannot be read was asked %d times", s.counted)
	}
}

// Tasks that are not in the list are ignored, so that no label can have an unexpected value.
func TestUnknownTask(t *testing.T) {
	tasks := &Tasks{}
	tasks.Ran("urn:example:1", time.Unix(1, 0), nil)
	if len(tasks.all) != 0 {
		t.Errorf("kept %v", tasks.all)
	}
	(*Tasks)(nil).Ran(TaskBackup, time.Unix(1, 0), nil)
}

func TestLastSuccess(t *testing.T) {
	tasks := &Tasks{}
	for _, step := range []struct {
		do   func()
		want int64
	}{
		{func() { tasks.Expect(TaskBackup, time.Unix(7, 0)) }, 7},
		{func() { tasks.Ran(TaskBackup, time.Unix(8, 0), errors.New("disk full")) }, 7},
		{func() { tasks.Ran(TaskVerify, time.Unix(9, 0), nil) }, 7},
		{func() { tasks.Ran(TaskBackup, time.Unix(10, 0), nil) }, 10},
	} {
		if step.do(); tasks.LastSuccess(TaskBackup).Unix() != step.want {
			t.Errorf("got %v, want %d", tasks.LastSuccess(TaskBackup), step.want)
		}
	}
	if !tasks.LastSuccess(TaskReload).IsZero() || !(*Tasks)(nil).LastSuccess(TaskBackup).IsZero() {
		t.Error("a task that never ran has succeeded")
	}
}

// described returns the names of all metrics of nomen, with their types and labels as in the
// table of the documentation.
func described(t *testing.T) map[string]string {
	t.Helper()
	families, err := full(newTestStore()).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "nomen_") {
			continue
		}
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		slices.Sort(labels)
		all[f.GetName()] = strings.ToLower(f.GetType().String()) + " " + strings.Join(labels, ", ")
	}
	return all
}

var row = regexp.MustCompile("(?m)^\\| `(nomen_\\w+)` \\| (\\w+) \\| ([^|]*?) ?\\| ")

// The documentation lists exactly the metrics that exist.
func TestMetricsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		labels := strings.Split(m[3], ", ")
		slices.Sort(labels)
		rows[m[1]] = m[2] + " " + strings.Join(labels, ", ")
	}
	want := described(t)
	for name, is := range want {
		if got := rows[name]; got != is {
			t.Errorf("docs/reference/metrics.md: %s is %q, want %q", name, got, is)
		}
	}
	for name := range rows {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/reference/metrics.md: %s does not exist", name)
		}
	}
}

// Every metric exists that the alerts, the dashboard and the pages of the documentation use.
func TestMetricsInUseExist(t *testing.T) {
	known := described(t)
	names := regexp.MustCompile(`\bnomen_[a-z_]+\b`)
	for _, file := range []string{
		"../../contrib/prometheus/alerts.yml", "../../contrib/grafana/nomen.json",
		"../../docs/howto/watch-the-service.md", "../../docs/reference/failures.md", "../../docs/reference/limits.md",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range names.FindAllString(string(text), -1) {
			base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
			_, whole := known[name]
			if is, ok := known[base]; !whole && (!ok || !strings.HasPrefix(is, "histogram")) {
				t.Errorf("%s: %s does not exist", file, name)
			}
		}
	}
}

// The label of a cause comes from the store, but cannot break the format.
func TestCauseIsPrintable(t *testing.T) {
	s := newTestStore()
	s.condition.Cause = "a\nb\x1b"
	if got := shownBy(full(s)); !strings.Contains(got, `{cause="a\\x0ab\\x1b"}`) {
		t.Error("the cause is not escaped")
	}
}

// Each alert has a section in the documentation about what to do, and the reverse.
func TestAlertsHaveRunbooks(t *testing.T) {
	const page = "docs/howto/watch-the-service.md"
	rules, err := os.ReadFile("../../contrib/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	all := func(pattern string, in []byte) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(in, -1) {
			found = append(found, string(m[1]))
		}
		return found
	}
	alerts := all(`(?m)^ +- alert: (\w+)$`, rules)
	if len(alerts) == 0 {
		t.Fatal("no alerts")
	}
	if got := all(`(?m)^### (Nomen\w+)$`, text); !slices.Equal(got, alerts) {
		t.Errorf("%s has sections for %q, want %q", page, got, alerts)
	}
	var links []string
	for _, alert := range alerts {
		links = append(links, page+"#"+strings.ToLower(alert))
	}
	if got := all(`(?m)^ +runbook_url: (\S+)$`, rules); !slices.Equal(got, links) {
		t.Errorf("runbooks: got %q, want %q", got, links)
	}
}

// The dashboard is a JSON object whose panels have expressions.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../contrib/grafana/nomen.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Title, UID string
		Panels     []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Title != "nomen" || d.UID != "nomen" || len(d.Panels) == 0 {
		t.Errorf("title %q, UID %q, %d panels", d.Title, d.UID, len(d.Panels))
	}
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if p.Title == "" || ids[p.ID] || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			if !strings.Contains(target.Expr, "nomen_") && !strings.Contains(target.Expr, "process_") || strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") {
				t.Errorf("panel %s: %q", p.Title, target.Expr)
			}
		}
	}
}
