//go:build ha

package ha

import (
	"testing"
	"time"
)

// TestStrict adds a third PostgreSQL to the cluster, on the machine that otherwise has only etcd,
// and sets synchronous_mode_strict. So no acknowledged change is ever on only one disk. If one
// standby is lost, everything continues. If both are lost, writes wait and reads continue.
func TestStrict(t *testing.T) {
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
	l.databases = etcdMachines
	l.resume += 2 * loopWait // time until Patroni has told the other standby which server to follow
	l.edits["patroni.yml"] = [2]string{"synchronous_mode_strict: false", "synchronous_mode_strict: true"}
	l.edits["nomen.env"] = [2]string{"@db1,db2/", "@db1,db2,witness/"}
	ld := l.startAll(t)
	ld.begin(t.Context())
	defer ld.end()
	time.Sleep(10 * time.Second)
	r := &report{}
	r.row("quiet", "10 s", ld.take())

	l.testKills(t, ld, r, len(waysToKill))
	leader := l.awaitWhole(t)
	time.Sleep(3 * time.Second)
	ld.take()
	first := l.synchronous(t)
	second := l.others(first)[0]
	if second == leader.Name {
		second = l.others(first)[1]
	}
	t.Logf("primary %s, synchronous standby %s, other standby %s", leader.Name, first, second)

	begun := time.Now()
	l.killDatabase(t, first)
	time.Sleep(40 * time.Second)
	c, gap := ld.take(), ld.longestGap(begun)
	t.Logf("without the synchronous standby: longest gap %.1f s; %v", gap.Seconds(), &c)
	if d := time.Since(ld.lastAck()); d > resumeWithin {
		t.Errorf("without one standby the last write was acknowledged %v ago", d)
	}
	noneFailed(t, "without one standby", c)
	r.row("kill -9 of the synchronous standby", seconds("no writes for at most %.1f s", gap), c)

	l.killDatabase(t, second)
	killed := time.Now()
	time.Sleep(5 * time.Second) // writes that were sent before may still be acknowledged
	before := ld.take()
	noneFailed(t, "when the second standby was killed", before)
	time.Sleep(30 * time.Second)
	c = ld.take()
	t.Logf("without both standbys: %v", &c)
	if c.writes > 0 || c.refused == 0 {
		t.Errorf("without both standbys: %d writes were acknowledged and %d refused, want none acknowledged", c.writes, c.refused)
	}
	noneFailed(t, "without both standbys", c)
	if c.stale > 0 {
		t.Errorf("without both standbys: %d of %d reads are stale, want none: the primary is there", c.stale, c.reads)
	}
	r.row("without both standbys", "no writes, as configured", c)

	back := time.Now()
	l.startPatroni(t, second)
	l.eventually(t, "writes when a standby is back", func() bool { return !ld.firstAck(back).IsZero() })
	resumed := ld.firstAck(back).Sub(back)
	time.Sleep(5 * time.Second)
	c = ld.take()
	t.Logf("%s was started again %.0f s after it was killed; writes %.1f s later; %v", second, back.Sub(killed).Seconds(), resumed.Seconds(), &c)
	noneFailed(t, "when a standby is back", c)
	r.row("a standby is back", seconds("writes after %.1f s", resumed), c)

	l.startPatroni(t, first)
	l.awaitWhole(t)
	time.Sleep(2 * time.Second)
	ld.end()
	l.testWhole(t, ld)
	for _, f := range ld.failures {
		t.Log(f)
	}
	t.Logf("\n%s", r)
}

// noneFailed checks that no read has failed.
func noneFailed(t *testing.T, what string, c counts) {
	t.Helper()
	if c.reads == 0 || c.failed > 0 {
		t.Errorf("%s: %d of %d reads failed", what, c.failed, c.reads)
	}
}

// killDatabase kills Patroni and PostgreSQL of a machine.
func (l *lab) killDatabase(t *testing.T, machine string) {
	t.Helper()
	l.kill(t, machine+" patroni")
	l.killPostgres(t, machine)
}
