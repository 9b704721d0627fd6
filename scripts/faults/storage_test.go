//go:build faults

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A scene is a server on a small disk, before a fault.
type scene struct {
	*server
	t     *testing.T
	d     *disk
	token string
	n     int // number of names that the test has used so far
	acked []int
}

// newScene makes a store on the disk d, and starts a server of the store.
func newScene(t *testing.T, d *disk) *scene {
	t.Helper()
	data := filepath.Join(d.dir, "data")
	newData(t, data, 500)
	c := &scene{t: t, d: d, server: serve(t, data, "--memory", memory)}
	c.token = c.server.token()
	c.well()
	c.lines()
	return c
}

// well waits until all doors answer as without a fault.
func (c *scene) well() probe {
	c.t.Helper()
	p := c.until(c.token, &c.n, probe.isWell)
	c.acked = append(c.acked, c.n)
	return p
}

// during measures a fault. It waits until changes are rejected, and then tries all doors twice. The
// field for the log has a summary of the lines since the fault.
func (c *scene) during(fault string) Row {
	c.t.Helper()
	c.until(c.token, &c.n, func(p probe) bool { return !p.isWell() && p.writes != "answered" && p.readyz.status != 200 })
	for range 50 { // many rejected changes, which must cause fewer log lines
		c.n++
		c.look(c.token, c.n)
	}
	c.n++
	p := c.look(c.token, c.n)
	log := c.lines()
	c.t.Logf("%s: %s", fault, p)
	for _, line := range log {
		c.t.Log(line)
	}
	if p.answers["PUT"].header.Get("Retry-After") == "" {
		c.t.Error("the refusal of a change has no Retry-After")
	}
	return Row{
		Fault: fault, Reads: p.reads, Writes: p.writes, Healthz: p.healthz.text(), Readyz: p.readyz.text(),
		Metrics: p.metrics, Log: logged(log),
	}
}

var message = regexp.MustCompile(`msg=("[^"]*"|\S+)`)

// logged returns the number of lines of each message.
func logged(lines []string) string {
	count := map[string]int{}
	var order []string
	for _, line := range lines {
		m := message.FindStringSubmatch(line)
		if m == nil {
			m = []string{"", line}
		}
		text, _, _ := strings.Cut(strings.Trim(m[1], `"`), ":")
		if strings.HasPrefix(text, "job") || strings.HasPrefix(text, "Flag ") || text == "nomen" { // lines that are not about the fault: of each import, advice, and the listeners
			continue
		}
		if count[text]++; count[text] == 1 {
			order = append(order, text)
		}
	}
	if len(order) == 0 {
		return "nothing"
	}
	var parts []string
	for _, text := range order {
		parts = append(parts, fmt.Sprintf("%d × %q", count[text], text))
	}
	return strings.Join(parts, ", ")
}

// goesOn measures how the server continues after the fault without a restart, and checks that no
// acknowledged change is missing.
func (c *scene) goesOn() string {
	c.t.Helper()
	begun := time.Now()
	c.well()
	took := time.Since(begun)
	c.t.Logf("everything is answered again after %v: %s", took, logged(c.lines()))
	time.Sleep(1200 * time.Millisecond) // commands find the server by a file, which is tried every second
	c.checkAcked()
	return "by itself"
}

// checkAcked checks that no acknowledged change is missing, now and after the server is killed and
// started again.
func (c *scene) checkAcked() {
	c.t.Helper()
	check := func(s *server) {
		c.t.Helper()
		for _, n := range c.acked {
			for _, kind := range []string{"put", "batch"} {
				if r := ask("GET", fmt.Sprintf("%s/api/v1/names/urn:example:%s-%d", s.admin, kind, n), c.token, "", ""); r.status != 200 {
					c.t.Errorf("%s-%d was acknowledged, and now: %d %s", kind, n, r.status, r.body)
				}
			}
		}
		if r := command(s.data, "verify"); r.status != 0 {
			c.t.Errorf("verify: %d %s", r.status, r.body)
		}
	}
	check(c.server)
	c.kill()
	check(serve(c.t, c.data, "--memory", memory))
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

func (c *scene) stopsSoon() {
	c.t.Helper()
	if took := c.stop(); took > 7*time.Second {
		c.t.Errorf("stopping took %v", took)
	} else {
		c.t.Logf("stopped in %v with status %d", took, c.status)
	}
}

// The disk fills up while the server runs, and then has space again.
func TestFaultFullDiskWhileServing(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 0))
	empty := c.d.fill(0)
	row := c.during("disk full while serving")
	empty()
	row.After = c.goesOn()
	emit(t, row)
}

// While the server runs, the disk has space but no inodes.
func TestFaultNoInodesWhileServing(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 600))
	empty := c.d.fillInodes()
	row := c.during("no inodes while serving")
	empty()
	row.After = c.goesOn()
	emit(t, row)
}

// The file system detects an internal error and becomes read-only.
func TestFaultErrorState(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 0))
	c.d.remount("abort")
	row := c.during("file system in error state")
	c.stopsSoon()
	if err := c.d.unmount(); err != nil {
		t.Fatal(err)
	}
	c.d.check()
	c.d.mount()
	c.server = serve(t, c.data, "--memory", memory)
	c.goesOn()
	row.After = "repair the file system and restart"
	emit(t, row)
}

// The file system is on a thin volume that is full for a while. Writes are lost, and syncs fail.
func TestFaultThinVolume(t *testing.T) {
	pool := newTmpfs(t, 40, 0)
	d := newDiskIn(t, pool, 96, 0, "-O", "^has_journal")
	c := newScene(t, d)
	pool.fill(0)
	stop := make(chan struct{})
	go func() { // until the volume has to grow
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				ask("POST", c.admin+"/api/v1/import", c.token, "application/jsonl", someNames(fmt.Sprintf("load-%d", n), 2000))
			}
		}
	}()
	row := c.during("writes fail (thin volume full)")
	close(stop)
	if err := os.Remove(filepath.Join(pool.dir, "filler")); err != nil {
		t.Fatal(err)
	}
	row.After = c.goesOn()
	emit(t, row)
}

// Writes and syncs neither fail nor return, as on NFS without its server, or with a disk controller
// that does not respond.
func TestFaultHangingDisk(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 0))
	do(t, "fsfreeze", "--freeze", c.d.dir)
	t.Cleanup(func() { _ = exec.Command("fsfreeze", "--unfreeze", c.d.dir).Run() }) // needed only if the test fails
	begun := time.Now()
	row := c.during("disk hangs while serving (writes do not return)")
	t.Logf("noticed and measured after %v", time.Since(begun))
	do(t, "fsfreeze", "--unfreeze", c.d.dir)
	row.After = c.goesOn()
	emit(t, row)
}

// The directory of the store is deleted while the server runs.
func TestFaultDeletedDirectory(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 0))
	if err := os.RemoveAll(filepath.Join(c.data, "store")); err != nil {
		t.Fatal(err)
	}
	c.n++
	if p := c.look(c.token, c.n); strings.Contains(p.writes, "answered") {
		t.Errorf("the first writes after the directory is gone: %s", p)
	}
	row := c.during("directory deleted while serving")
	for _, args := range [][]string{{"put", "urn:example:x", location}, {"verify"}} {
		if r := command(c.data, args...); args[0] == "put" && r.status == 0 || strings.Contains(r.body, "another store") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	c.stopsSoon()
	if _, err := os.Stat(filepath.Join(c.data, "store")); err == nil {
		t.Error("the server has made the directory anew")
	}
	row.After = "restore a backup and restart"
	emit(t, row)
}

// The directory is moved away, and back.
func TestFaultMovedDirectory(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 0))
	store, aside := filepath.Join(c.data, "store"), filepath.Join(c.data, "aside")
	if err := os.Rename(store, aside); err != nil {
		t.Fatal(err)
	}
	c.n++
	if p := c.look(c.token, c.n); strings.Contains(p.writes, "answered") {
		t.Errorf("the first writes after the directory is gone: %s", p)
	}
	row := c.during("directory moved away while serving")
	if err := os.Rename(aside, store); err != nil {
		t.Fatal(err)
	}
	row.After = c.goesOn()
	emit(t, row)
}

// atStart measures a server, and commands, that start while their directory cannot be written.
func (c *scene) atStart(fault string) Row {
	c.t.Helper()
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"get", known}, location}, {[]string{"export"}, location}, {[]string{"verify"}, ""}, {[]string{"find", "--location", location}, known},
	} {
		r := command(c.data, tt.args...)
		c.t.Logf("%v: %d after %v: %s", tt.args, r.status, r.took, last(r.body))
		if r.status != 0 || r.took > 5*time.Second || !strings.Contains(r.body, tt.says) {
			c.t.Errorf("%v: %d after %v: %s", tt.args, r.status, r.took, r.body)
		}
		if got := strings.Count(r.body, "opened read-only"); got != 1 {
			c.t.Errorf("%v says %d times that the store is opened read-only: %s", tt.args, got, r.body)
		}
	}
	if r := command(c.data, "put", "urn:example:new", location); r.status != 3 || r.took > 5*time.Second {
		c.t.Errorf("put: %+v", r)
	}
	c.server = serve(c.t, c.data, "--memory", memory)
	return c.during(fault)
}

func last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// The server is killed while some changes are only in its write-ahead log. Then the disk fills up,
// and the store is opened.
func TestFaultFullDiskAtStart(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 0))
	if r := ask("POST", c.admin+"/api/v1/import", c.token, "application/jsonl", someNames("log", 5000)); r.status != 200 {
		t.Fatalf("import: %+v", r)
	}
	c.kill()
	empty := c.d.fill(0)
	row := c.atStart("disk full at start")
	if r := ask("GET", c.admin+"/api/v1/names/urn:example:log-4999", c.token, "", ""); r.status != 200 {
		t.Errorf("what only the write-ahead log has: %+v", r)
	}
	empty()
	row.After = c.goesOn()
	emit(t, row)
}

// The same without inodes.
func TestFaultNoInodesAtStart(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 600))
	c.kill()
	empty := c.d.fillInodes()
	row := c.atStart("no inodes at start")
	empty()
	row.After = c.goesOn()
	emit(t, row)
}

// The file system is read-only when the server starts, and becomes writable later.
func TestFaultReadOnlyAtStart(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 0))
	c.stop()
	c.d.remount("ro")
	row := c.atStart("file system read-only at start")
	c.d.remount("rw")
	row.After = c.goesOn()
	emit(t, row)
}

// A server with serve --read-only has no fault.
func TestFaultServeReadOnly(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 0))
	c.stop()
	c.d.remount("ro")
	c.server = serve(t, c.data, "--memory", memory, "--read-only")
	c.n++
	p := c.look(c.token, c.n)
	emit(t, Row{
		Fault: "`serve --read-only` on a read-only file system", Reads: p.reads, Writes: p.writes,
		Healthz: p.healthz.text(), Readyz: p.readyz.text(), Metrics: p.metrics, Log: logged(c.lines()), After: "not needed",
	})
	c.stopsSoon()
	if r := command(filepath.Join(c.d.dir, "other"), "serve", "--read-only", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"); r.status != 3 || !strings.Contains(r.body, "no store") {
		t.Errorf("serve --read-only without a store: %+v", r)
	}
}

// A second server on the same directory ends at once, and says why.
func TestFaultSecondServer(t *testing.T) {
	c := newScene(t, newDisk(t, 96, 0))
	second := func() (string, time.Duration) {
		begun := time.Now()
		s, err := tryServe(t, c.data)
		if err == nil {
			t.Error("two servers run on one directory")
		}
		return s.out.String(), time.Since(begun)
	}
	out, took := second()
	if took > soon || !strings.Contains(out, "already running") {
		t.Errorf("after %v: %s", took, out)
	}
	// The address of the first server is not known, as while it starts or ends.
	if err := os.Remove(filepath.Join(c.data, "admin.url")); err != nil {
		t.Fatal(err)
	}
	s := start(t, c.data)
	for last := time.Now().Add(soon); !strings.Contains(s.out.String(), "waiting"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(last) {
			t.Fatalf("a second server waits in silence: %s", s.out.String())
		}
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	<-s.ended
	if took := time.Since(begun); took > soon {
		t.Errorf("a server that waits ended %v after SIGTERM", took)
	}
	c.n++
	p := c.look(c.token, c.n)
	emit(t, Row{
		Fault: "second server of the directory", Reads: p.reads, Writes: p.writes, Healthz: p.healthz.text(), Readyz: p.readyz.text(),
		Metrics: p.metrics, Log: logged(c.lines()), After: "the second one ends with status 3, and says why at once",
	})
}
