//go:build ha

package ha

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
)

const (
	defaultKills = 20
	resumeWithin = 2 * time.Second // maximum time until writes succeed after Patroni has a new primary
	loopWait     = 2 * time.Second // loop_wait of Patroni, as in patroni.yml
	drainWithin  = 30 * time.Second
)

func kills() int {
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		return n
	}
	return defaultKills
}

// TestHA starts the cluster and puts load on it, while its parts fail one after the other. At the
// end no acknowledged change may be missing.
func TestHA(t *testing.T) {
	dir, inside := enter(t)
	if !inside {
		return
	}
	l := newLab(t, dir)
	defer func() {
		if t.Failed() {
			l.tails(t)
		}
	}()
	ld := l.startAll(t)
	for _, request := range []string{"GET " + loadedKey(1) + "\r\n", "GET " + loadedKey(1) + " HTTP/1.0\r\n\r\n"} {
		if got := exchange(t, addresses["front"]+":4500", request); !strings.Contains(got, target(loadedKey(1), 1)) {
			t.Errorf("the 1995 protocol through HAProxy: %q: %q", request, got)
		}
	}
	ld.begin(t.Context())
	defer ld.end()
	time.Sleep(15 * time.Second)
	r := &report{}
	r.row("quiet", "15 s", ld.take())

	for _, part := range []struct {
		name string
		test func(*testing.T, *load, *report)
	}{{"kill", func(t *testing.T, ld *load, r *report) { l.testKills(t, ld, r, kills()) }}, {"lesser", l.testLesser}, {"partition", l.testPartition}, {"upgrade", l.testUpgrade}} {
		t.Run(part.name, func(t *testing.T) { part.test(t, ld, r) })
		if l.lost {
			t.FailNow()
		}
	}

	time.Sleep(2 * time.Second)
	ld.end()
	l.testWhole(t, ld)
	for _, f := range ld.failures {
		t.Log(f)
	}
	t.Logf("\n%s", r)
}

var nodes = []string{"node1", "node2"}

// startAll starts the cluster and fills it, and returns its clients.
func (l *lab) startAll(t *testing.T) *load {
	t.Helper()
	for _, machine := range etcdMachines {
		l.startEtcd(t, machine)
	}
	for _, machine := range l.databases {
		l.startPatroni(t, machine)
	}
	leader := l.awaitWhole(t)
	t.Logf("leader %s", leader.Name)
	for _, machine := range nodes {
		l.startNode(t, machine, "before")
		l.awaitReady(t, machine)
	}
	l.start(t, "front", "haproxy", nil, "haproxy", "-db", "-f", l.install(t, "haproxy.cfg", "front", 0o644))
	ld := newLoad("http://"+addresses["front"]+":8080", "http://"+addresses["front"]+":4501", l.token(t))
	l.eventually(t, "names through HAProxy", func() bool { _, err := ld.api.Version(t.Context()); return err == nil })
	if err := ld.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(settled) // after this time, every node knows the names
	return ld
}

// token creates a token that all nodes accept.
func (l *lab) token(t *testing.T) string {
	t.Helper()
	own, err := os.ReadFile(filepath.Join(l.data("node1"), "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	api := &adminapi.Client{URL: "http://" + addresses["node1"] + ":4501", Token: strings.TrimSpace(string(own))}
	granted, err := api.Grant(t.Context(), adminapi.Grant{Who: "load", Role: "administrator"})
	if err != nil {
		t.Fatal(err)
	}
	return granted.Token
}

// awaitReady waits until a node says that it is ready.
func (l *lab) awaitReady(t *testing.T, machine string) {
	t.Helper()
	l.eventually(t, machine+" is ready", func() bool {
		status, _ := probe("http://" + addresses[machine] + ":4500/-/readyz")
		return status == http.StatusOK
	})
}

// A report is the table of what was measured.
type report struct{ strings.Builder }

func (r *report) row(what, took string, c counts) {
	if r.Len() == 0 {
		r.WriteString("| what | took | reads | failed | stale | p50, p99, longest | writes | refused | p50, p99, longest |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	}
	fmt.Fprintf(r, "| %s | %s | %d | %d | %d | %v, %v, %v | %d | %d | %v, %v, %v |\n", what, took,
		c.reads, c.failed, c.stale, quantile(c.latencies, .5), quantile(c.latencies, .99), quantile(c.latencies, 1),
		c.writes, c.refused, quantile(c.writeLatencies, .5), quantile(c.writeLatencies, .99), quantile(c.writeLatencies, 1))
}

func seconds(format string, d time.Duration) string { return fmt.Sprintf(format, d.Seconds()) }

// A kill is a way to lose the primary.
type kill struct {
	what              string
	postgres, patroni bool
}

var waysToKill = []kill{
	{"PostgreSQL", true, false},
	{"Patroni", false, true},
	{"both", true, true},
}

// testKills kills the primary repeatedly.
func (l *lab) testKills(t *testing.T, ld *load, r *report, times int) {
	sums := map[string]*counts{}
	worst := map[string][2]time.Duration{}
	for i := range times {
		way := waysToKill[i%len(waysToKill)]
		leader := l.awaitWhole(t)
		time.Sleep(3 * time.Second)
		ld.take()
		killed := time.Now()
		if way.patroni {
			l.kill(t, leader.Name+" patroni")
		}
		if way.postgres {
			l.killPostgres(t, leader.Name)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		now, at := l.promoted(ctx, leader.Name)
		cancel()
		if now == "" {
			t.Fatalf("kill %d: no new primary", i)
		}
		var resumed time.Time
		l.eventually(t, "writes after a kill", func() bool {
			resumed = ld.firstAck(at)
			return !resumed.IsZero()
		})
		if way.patroni {
			l.startPatroni(t, leader.Name)
		}
		l.awaitWhole(t)
		l.checkSynchronous(t, leader.Name)
		rejoined := time.Now()
		c := ld.take()
		gap := ld.longestGap(killed)
		t.Logf("kill %d of %s on %s: new primary %s after %.1fs, writes %.1fs later, longest gap %.1fs, standby after %.1fs; %v",
			i+1, way.what, leader.Name, now, at.Sub(killed).Seconds(), resumed.Sub(at).Seconds(), gap.Seconds(), rejoined.Sub(killed).Seconds(), &c)
		if d := resumed.Sub(at); d > l.resume {
			t.Errorf("kill %d: writes resumed %v after there was a new primary, want at most %v", i+1, d, l.resume)
		}
		if c.failed > 0 {
			t.Errorf("kill %d: %d of %d reads failed", i+1, c.failed, c.reads)
		}
		if sums[way.what] == nil {
			sums[way.what] = &counts{}
		}
		sums[way.what].add(c)
		w := worst[way.what]
		worst[way.what] = [2]time.Duration{max(w[0], gap), max(w[1], resumed.Sub(at))}
	}
	for _, way := range waysToKill {
		if c := sums[way.what]; c != nil {
			w := worst[way.what]
			r.row("kill -9 of "+way.what+" on the primary", fmt.Sprintf("no writes for at most %.1f s, %.1f s after a new primary", w[0].Seconds(), w[1].Seconds()), *c)
		}
	}
}

// testLesser kills all other parts of the cluster, one at a time, and makes a planned switchover.
func (l *lab) testLesser(t *testing.T, ld *load, r *report) {
	const outage = 25 * time.Second // longer than the lease of the primary
	for _, c := range []struct {
		what string
		do   func(primary, standby string)
	}{
		{"kill -9 of PostgreSQL on the standby", func(_, standby string) { l.killPostgres(t, standby) }},
		{"planned switchover", func(primary, standby string) { switchover(t, primary, standby) }},
		{"kill -9 of etcd beside the primary", func(primary, _ string) {
			l.kill(t, primary+" etcd")
			time.Sleep(outage)
			l.startEtcd(t, primary)
		}},
		{"kill -9 of etcd on all machines", func(string, string) {
			for _, machine := range etcdMachines {
				l.kill(t, machine+" etcd")
			}
			time.Sleep(outage)
			for _, machine := range etcdMachines {
				l.startEtcd(t, machine)
			}
		}},
		{"kill -9 of nomen on one node", func(string, string) {
			l.kill(t, "node1 nomen")
			time.Sleep(5 * time.Second)
			l.startNode(t, "node1", "before")
			l.awaitReady(t, "node1")
		}},
	} {
		primary := l.awaitWhole(t).Name
		standby := l.others(primary)[0]
		time.Sleep(3 * time.Second)
		ld.take()
		begun := time.Now()
		c.do(primary, standby)
		time.Sleep(5 * time.Second)
		l.awaitWhole(t)
		counts, gap := ld.take(), ld.longestGap(begun)
		t.Logf("%s (primary %s): whole after %.0f s, longest gap %.1f s; %v", c.what, primary, time.Since(begun).Seconds(), gap.Seconds(), &counts)
		if counts.failed > 0 {
			t.Errorf("%s: %d of %d reads failed", c.what, counts.failed, counts.reads)
		}
		r.row(c.what, seconds("no writes for at most %.1f s", gap), counts)
	}
}

// testPartition cuts a node off from the databases.
func (l *lab) testPartition(t *testing.T, ld *load, r *report) {
	l.awaitWhole(t)
	cached, absent := loadedKey(1), "urn:example:not-asked"
	direct := newLoad("http://"+addresses["node1"]+":4500", "http://"+addresses["node1"]+":4501", ld.api.Token)
	direct.bound = t.Context()
	if _, stale, err := direct.ask(cached); err != nil || stale {
		t.Fatalf("before: stale %v, %v", stale, err)
	}
	ld.take()
	begun := time.Now()
	l.cut(t, "node1", l.databases...)
	time.Sleep(10 * time.Second)
	for range 3 {
		for _, c := range []struct {
			what string
			f    func() (string, bool)
		}{
			{"a cached name is served, marked as stale", func() (string, bool) {
				_, stale, err := direct.ask(cached)
				return fmt.Sprint(stale, err), err == nil && stale
			}},
			{"a name that is not cached is 503", func() (string, bool) {
				_, _, err := direct.ask(absent)
				return fmt.Sprint(err), err != nil && strings.Contains(err.Error(), "503")
			}},
			{"a write is refused", func() (string, bool) {
				ctx, cancel := context.WithTimeout(t.Context(), writeTimeout)
				defer cancel()
				_, err := direct.api.Put(ctx, request("urn:example:partition", 1), "load")
				return fmt.Sprint(err), err != nil && ctx.Err() == nil
			}},
			{"/-/healthz is 200", func() (string, bool) {
				status, body := probe(direct.front + "/-/healthz")
				return fmt.Sprintf("%d %s", status, body), status == http.StatusOK
			}},
			{"/-/readyz is 503", func() (string, bool) {
				status, body := probe(direct.front + "/-/readyz")
				return fmt.Sprintf("%d %s", status, body), status == http.StatusServiceUnavailable
			}},
		} {
			asked := time.Now()
			got, ok := c.f()
			took := time.Since(asked)
			t.Logf("%s: %v in %v: %s", c.what, ok, took, got)
			if !ok || took > time.Second {
				t.Errorf("%s: got %s in %v", c.what, got, took)
			}
		}
	}
	l.join(t, "node1", l.databases...)
	healed := time.Now()
	l.awaitReady(t, "node1")
	ready := time.Since(healed)
	for {
		_, err := direct.api.Put(t.Context(), request("urn:example:partition", 1), "load")
		if err == nil {
			break
		}
		if time.Since(healed) > patience {
			t.Fatalf("no writes after the partition: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	writes := time.Since(healed)
	c := ld.take()
	t.Logf("partition of %v; ready %v and writing %v after its end; through HAProxy: %v", healed.Sub(begun), ready, writes, &c)
	if c.failed > 0 {
		t.Errorf("%d of %d reads failed", c.failed, c.reads)
	}
	r.row("a node cut off from the databases", seconds("ready %.1f s after the end", ready), c)
}

// testUpgrade replaces the program on both nodes, one after the other.
func (l *lab) testUpgrade(t *testing.T, ld *load, r *report) {
	l.awaitWhole(t)
	ld.take()
	begun := time.Now()
	for _, machine := range nodes {
		p := l.procs[machine+" nomen"]
		asked := time.Now()
		p.signal(t, syscall.SIGTERM)
		if err := p.wait(t); err != nil {
			t.Errorf("%s: %v", machine, err)
		}
		drained := time.Since(asked)
		if drained > drainWithin {
			t.Errorf("%s took %v to end", machine, drained)
		}
		l.startNode(t, machine, "after")
		l.awaitReady(t, machine)
		t.Logf("%s ended after %v, ready again after %v", machine, drained, time.Since(asked))
		time.Sleep(3 * time.Second) // until HAProxy sends requests to the node again
	}
	took := time.Since(begun)
	c := ld.take()
	t.Logf("upgrade of %d nodes in %v: %v", len(nodes), took, &c)
	if c.failed > 0 || c.refused > 0 {
		t.Errorf("%d of %d reads and %d of %d writes failed", c.failed, c.reads, c.refused, c.writes+c.refused)
	}
	r.row("rolling upgrade of both nodes", fmt.Sprintf("%.0f s", took.Seconds()), c)
}

// testWhole checks that no acknowledged change is missing, and that all changes are in one order.
func (l *lab) testWhole(t *testing.T, ld *load) {
	l.awaitWhole(t)
	l.checkLogins(t)
	env := append(os.Environ(), l.environment(t, "nomen.env", "node1")...)
	verify := exec.CommandContext(t.Context(), "ip", "netns", "exec", "node1", filepath.Join(l.dir, "nomen-after"), "verify")
	verify.Env = env
	out, err := verify.CombinedOutput()
	t.Logf("nomen verify: %v\n%s", err, out)
	if err != nil {
		t.Error("verify failed")
	}
	var entries []string
	var digests [][32]byte
	for e, err := range ld.api.Changes(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != uint64(len(entries))+1 {
			t.Errorf("the feed has change %d after %d", e.Seq, len(entries))
		}
		entries, digests = append(entries, entryText(e)), append(digests, e.Digest)
	}
	acked, wrong := ld.check(entries, digests)
	t.Logf("%d acknowledged writes, %d changes followed of %d, %d wrong", acked, len(ld.entries), len(entries), len(wrong))
	for i, w := range wrong {
		if i < 20 {
			t.Error(w)
		}
	}
	if acked == 0 || len(ld.entries) == 0 {
		t.Error("nothing was written, or nothing was followed")
	}
}

// exchange sends bytes, and returns the complete response.
func exchange(t *testing.T, address, request string) string {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, readTimeout)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(readTimeout))
	if _, err := io.WriteString(c, request); err != nil {
		t.Error(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}
