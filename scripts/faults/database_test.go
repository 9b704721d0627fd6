//go:build faults

package faults

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// A database is a PostgreSQL server of a test, with a proxy in front of it.
type database struct {
	*pgtest.Server
	net *pgtest.Proxy
}

// newDatabase starts a database that ends with the test.
func newDatabase(t *testing.T) *database {
	t.Helper()
	s, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	net, err := pgtest.NewProxy(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = net.Close() })
	return &database{s, net}
}

// serveDatabase starts a server on a database, and adds the names of these tests. The names that
// the tests expect in the cache are then in the cache.
func serveDatabase(t *testing.T, store string) *server {
	t.Helper()
	data := t.TempDir()
	s := serve(t, data, "--store", store)
	token := s.token()
	put := func(path, body string) {
		t.Helper()
		if r := ask("PUT", s.admin+"/api/v1/"+path, token, "application/json", body); r.status != 201 {
			t.Fatalf("PUT %s: %+v", path, r)
		}
	}
	put("authorities/urn:example", `{"prefix":"urn:example","owners":["a","b"],"list":true}`)
	for _, name := range []string{known, cold(0), cold(1), cold(2)} {
		put("names/"+name, `{"name":"`+name+`","locations":[{"url":"`+location+`"}]}`)
	}
	time.Sleep(8 * time.Second) // longer than the maximum lag of a replica
	s.warmUp()
	return s
}

// cold returns a name that is in no cache until the test requests it.
func cold(n int) string { return fmt.Sprint("urn:example:cold-", n) }

// warmUp puts into the cache what the requests of the method cached read.
func (s *server) warmUp() {
	for _, d := range s.cached() {
		d.try()
	}
	time.Sleep(time.Second) // until the feed was read
}

// cached returns the requests that can be answered from the cache.
func (s *server) cached() []door {
	get := func(target string) func() reply {
		return func() reply { return ask("GET", s.public+"/"+target, "", "", "") }
	}
	return []door{
		{"GET", 303, get(known)},
		{"HEAD", 303, func() reply { return ask("HEAD", s.public+"/"+known, "", "", "") }},
		{"I2C", 200, get(known + "?s=I2C")},
		{"batch", 200, func() reply { return ask("POST", s.public+"/-/resolve", "", "text/uri-list", known+"\r\n") }},
		{"unknown name", 404, get("urn:example:none")},
	}
}

// uncached returns the other requests that only read.
func (s *server) uncached(token string, n int) []door {
	get := func(url string) func() reply {
		return func() reply { return ask("GET", url, token, "", "") }
	}
	return []door{
		{"GET", 303, get(s.public + "/" + cold(n))},
		{"past", 404, get(s.public + "/" + known + "?at=2020-01-01")},
		{"list", 200, get(s.public + "/-/list/urn:example")},
		{"admin API", 200, get(s.admin + "/api/v1/names/" + known)},
		{"export", 200, get(s.admin + "/api/v1/export")},
	}
}

// stale returns the doors with a negative expected status. An answer that is marked as stale gets
// this negative status. So it counts as answered, and an answer without the mark does not.
func stale(doors []door) (marked []door) {
	for _, d := range doors {
		marked = append(marked, door{d.name, -d.want, func() reply {
			r := d.try()
			old := r.header.Get("Age") != "" && strings.HasPrefix(r.header.Get("Cache-Status"), "nomen; hit; ttl=-") ||
				strings.Contains(r.body, `"stale_since":`)
			if r.status == d.want && old {
				r.status = -d.want
			}
			return r
		}})
	}
	return marked
}

// lookAtDatabase makes all requests while the database is unavailable.
func (s *server) lookAtDatabase(token string, n int) (p probe) {
	p = s.look(token, n)
	s.t.Logf("healthz took %v, readyz %v", p.healthz.took, p.readyz.took)
	warm, _ := summary(stale(s.cached()))
	if warm == "answered" {
		warm = "answered, marked stale"
	} else if all, _ := summary(s.cached()); all == "answered" {
		warm = "answered"
	}
	others, _ := summary(s.uncached(token, n))
	p.reads = "cached names: " + warm + "; others: " + others
	if others == "answered" {
		p.reads = warm
	}
	var gauges []string
	for line := range strings.Lines(ask("GET", s.admin+"/-/metrics", "", "", "").body) {
		if strings.HasPrefix(line, "nomen_storage_readable ") || strings.HasPrefix(line, "nomen_storage_writable ") {
			gauges = append(gauges, "`"+strings.TrimSpace(line)+"`")
		}
	}
	p.metrics = strings.Join(gauges, ", ")
	return p
}

// reading requests a cached name every 20 ms until stop is called. The function stop returns how
// many requests failed, and the longest time until a response.
func (s *server) reading() (stop func() (failed int, longest time.Duration)) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	failed, longest := 0, time.Duration(0)
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			r := ask("GET", s.public+"/"+known, "", "", "")
			if r.status != 303 {
				failed++
			}
			longest = max(longest, r.took)
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return func() (int, time.Duration) {
		cancel()
		<-ended
		return failed, longest
	}
}

// recovery returns how long it takes until the server accepts changes again.
func (s *server) recovery(token string) string {
	begun := time.Now()
	for n := 1000; time.Since(begun) < patience; n++ {
		if writes, _ := summary(s.writers(token, n)); writes == "answered" {
			took := time.Since(begun)
			s.t.Logf("writing again after %v", took)
			if took < 2*time.Second {
				return "by itself, at once"
			}
			return "by itself, after seconds"
		}
	}
	return "none"
}

// logged describes the new lines in the log. If there are more than most lines, it returns their
// number.
func (s *server) logged(most int) string {
	lines := s.lines()
	s.t.Logf("log: %q", lines)
	if len(lines) == 0 {
		return "nothing"
	}
	if len(lines) > most {
		return fmt.Sprintf("%d lines", len(lines))
	}
	return "a line for each change of state"
}

// databaseFault measures one fault that begins and ends.
func databaseFault(t *testing.T, s *server, what string, begin, end func() error) {
	t.Helper()
	token := s.token()
	if p := s.lookAtDatabase(token, 0); p.reads != "answered" || p.writes != "answered" {
		t.Fatalf("without a fault: %+v", p)
	}
	s.lines()
	stop := s.reading()
	if err := begin(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(6 * time.Second)
	failed, longest := stop()
	t.Logf("cached names: %d reads failed, the longest took %v", failed, longest)
	if failed > 0 || longest > 2*time.Second {
		t.Errorf("%s: of a cached name %d reads failed, and the longest took %v", what, failed, longest)
	}
	p := s.lookAtDatabase(token, 1)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	after := s.recovery(token)
	time.Sleep(time.Second)
	if again := s.lookAtDatabase(token, 2); again.reads != "answered" || again.readyz.status != 200 {
		t.Errorf("%s: after the recovery: %+v", what, again)
	}
	emit(t, Row{
		Fault: what, Reads: p.reads, Writes: p.writes,
		Healthz: p.healthz.text(), Readyz: p.readyz.text(), Metrics: p.metrics,
		Log: s.logged(8), After: after,
	})
	if took := s.stop(); took > 3*time.Second {
		t.Errorf("%s: stopping took %v", what, took)
	}
}

func TestFaultDatabaseStopped(t *testing.T) {
	db := newDatabase(t)
	databaseFault(t, serveDatabase(t, db.URL()), "database stopped", db.Kill, db.Restart)
}

func TestFaultDatabaseHangs(t *testing.T) {
	db := newDatabase(t)
	databaseFault(t, serveDatabase(t, db.URL()), "database hangs (SIGSTOP)", db.Pause, db.Resume)
}

func TestFaultDatabaseCutOff(t *testing.T) {
	db := newDatabase(t)
	cut := func() error { db.net.Cut(); return nil }
	mend := func() error { db.net.Mend(); return nil }
	databaseFault(t, serveDatabase(t, db.net.URL(db.Server)), "network to the database cut (nothing comes through)", cut, mend)
}

func TestFaultDatabaseSlow(t *testing.T) {
	db := newDatabase(t)
	slow := func() error { db.net.Delay(25 * time.Millisecond); return nil }
	fast := func() error { db.net.Delay(0); return nil }
	databaseFault(t, serveDatabase(t, db.net.URL(db.Server)), "database slow (50 ms a round trip)", slow, fast)
}

func TestFaultDatabaseTooSlow(t *testing.T) {
	db := newDatabase(t)
	slow := func() error { db.net.Delay(4 * time.Second); return nil }
	fast := func() error { db.net.Delay(0); return nil }
	databaseFault(t, serveDatabase(t, db.net.URL(db.Server)), "database too slow (8 s a round trip)", slow, fast)
}

// A restart is too short to try every interface while it lasts.
func TestFaultDatabaseRestarted(t *testing.T) {
	db := newDatabase(t)
	s := serveDatabase(t, db.URL())
	token := s.token()
	s.lines()
	stop := s.reading()
	for range 3 {
		if err := db.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := db.Restart(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
	}
	failed, longest := stop()
	after := s.recovery(token)
	p := s.lookAtDatabase(token, 1)
	t.Logf("%d reads failed, the longest took %v", failed, longest)
	reads := "answered throughout"
	if failed > 0 || longest > 2*time.Second {
		reads = fmt.Sprintf("%d failed", failed)
	}
	log := s.logged(20)
	if log == "nothing" { // a server need not notice that the database was unavailable for milliseconds
		log = "a line for each change of state"
	}
	emit(t, Row{
		Fault: "database killed and restarted 3 times", Reads: "cached names: " + reads, Writes: p.writes + " when it is back",
		Healthz: p.healthz.text(), Readyz: p.readyz.text(), Metrics: p.metrics, Log: log, After: after,
	})
}

// The connection string has two hosts. The primary is lost, and its replica is promoted.
func TestFaultDatabaseFailover(t *testing.T) {
	db := newDatabase(t)
	replica, err := db.Replica()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := replica.Stop(); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	s := serveDatabase(t, strings.Replace(db.URL(), u.Host, db.Addr()+","+replica.Addr(), 1))
	promote := func() error {
		out, err := exec.Command("psql", "--no-psqlrc", "--dbname="+replica.URL(), "--command=select pg_promote()").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	databaseFault(t, s, "primary of two databases gone, until its replica is promoted", db.Kill, promote)
}

// A server starts while its database is unavailable.
func TestFaultDatabaseAwayAtStart(t *testing.T) {
	db := newDatabase(t)
	first := serveDatabase(t, db.URL())
	first.stop()
	if err := db.Kill(); err != nil {
		t.Fatal(err)
	}
	s := serve(t, t.TempDir(), "--store", db.URL())
	token := s.token()
	time.Sleep(3 * time.Second)
	p := s.lookAtDatabase(token, 1)
	log := s.logged(8)
	if err := db.Restart(); err != nil {
		t.Fatal(err)
	}
	after := s.recovery(token)
	if again := s.lookAtDatabase(token, 2); again.reads != "answered" || again.readyz.status != 200 {
		t.Errorf("after the recovery: %+v", again)
	}
	emit(t, Row{
		Fault: "database unavailable when the server starts", Reads: p.reads, Writes: p.writes,
		Healthz: p.healthz.text(), Readyz: p.readyz.text(), Metrics: p.metrics, Log: log, After: after,
	})
}
