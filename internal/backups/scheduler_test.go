package backups

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// A scheduled is a Scheduler with a store, whose clock the test sets.
type scheduled struct {
	*Scheduler
	t    *testing.T
	now  time.Time
	data string
	to   string
	log  bytes.Buffer
	live *pebblestore.Store
	ran  []string // the tasks that ran; "!" stands for a failure
}

func (k *scheduled) Expect(string, time.Time) {}

func (k *scheduled) Ran(task string, _ time.Time, err error) {
	if err != nil {
		task += "!"
	}
	k.ran = append(k.ran, task)
}

func newScheduled(t *testing.T) *scheduled {
	t.Helper()
	dir := t.TempDir()
	k := &scheduled{t: t, now: at("2026-11-23T03:00:00Z"), data: dir, to: filepath.Join(dir, "backups")}
	live, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(dir, "store"), CacheSize: 1 << 20, Now: func() time.Time { return k.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = live.Close() })
	k.live = live
	k.put("urn:example:a")
	k.Scheduler = k.restarted(live)
	return k
}

// restarted returns a new Scheduler of the same data directory, as after a restart.
func (k *scheduled) restarted(s Source) *Scheduler {
	return New(Options{Source: s, Tasks: k, Data: k.data, Now: func() time.Time { return k.now }, Log: slog.New(slog.NewTextHandler(&k.log, nil))})
}

func (k *scheduled) put(names ...string) {
	k.t.Helper()
	for _, text := range names {
		n := name.MustParse(text)
		_, err := k.live.Apply(k.t.Context(), []store.Change{{
			Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/" + text}}}, Time: k.now, Who: "anna",
		}})
		if err != nil {
			k.t.Fatal(err)
		}
	}
}

// set sets a plan.
func (k *scheduled) set(p Plan) {
	k.t.Helper()
	p.To = k.to
	if err := p.Complete(); err != nil {
		k.t.Fatal(err)
	}
	k.Set(&p)
}

// there returns the names of the backups on disk.
func (k *scheduled) there() (names []string) {
	k.t.Helper()
	entries, err := os.ReadDir(k.to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (k *scheduled) check(want ...string) {
	k.t.Helper()
	if got := k.there(); !slices.Equal(got, want) {
		k.t.Errorf("backups %q, want %q; log:\n%s", got, want, k.log.String())
	}
}

func (k *scheduled) problem() string {
	s, _ := k.State()
	return s.Problem
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	if wait := k.step(t.Context()); wait >= 0 {
		t.Errorf("without a plan: waits %v", wait)
	}
	k.set(Plan{Every: time.Hour, Keep: 2, Rehearse: 1})
	for i := range 4 {
		if wait := k.step(t.Context()); wait != time.Hour {
			t.Fatalf("backup %d: waits %v: %s", i, wait, k.problem())
		}
		k.put("urn:example:b" + string(rune('0'+i)))
		k.now = k.now.Add(time.Hour)
	}
	k.check("nomen-20261123T050000Z", "nomen-20261123T060000Z")
	s, scheduled := k.State()
	last := s.LastRehearsed()
	if !scheduled || len(s.Backups) != 2 || last != s.Backups[1] || last.Bytes == 0 || !strings.HasPrefix(last.Head, "4:") {
		t.Errorf("state %+v", s)
	}
	if !strings.Contains(k.log.String(), "resolved=8") { // four names, each as one of the first names and as one of the last changes
		t.Errorf("log:\n%s", k.log.String())
	}
	again, err := Read(filepath.Dir(k.to))
	if err != nil || again.Last().Dir != last.Dir {
		t.Errorf("on disk: %+v, %v", again, err)
	}
	next := k.restarted(k.live)
	next.Set(k.plan)
	k.now = k.now.Add(-30 * time.Minute)
	if wait := next.step(t.Context()); wait != 30*time.Minute {
		t.Errorf("after a restart: waits %v", wait)
	}
}

// After a crash, only what the crash has left is removed or completed.
func TestCrash(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	k.set(Plan{Every: time.Hour, Rehearse: 1})
	k.step(t.Context())
	good := k.there()[0]
	// The program ends in the middle of a backup.
	unfinished := filepath.Join(k.to, "nomen-20261123T040000Z")
	if err := os.CopyFS(unfinished+".new", os.DirFS(filepath.Join(k.to, good))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(unfinished+".new", "backup.jsonl")); err != nil {
		t.Fatal(err)
	}
	k.update(func(s *State) { s.Running = unfinished })
	k.Scheduler = k.restarted(k.live)
	k.set(Plan{Every: time.Hour, Rehearse: 1})
	k.now = k.now.Add(time.Hour)
	k.step(t.Context())
	k.check(good, "nomen-20261123T040000Z")

	// The program ends when a backup is complete, but not yet in the state and not rehearsed.
	k.update(func(s *State) { s.Running, s.Backups = s.Backups[1].Dir, s.Backups[:1] })
	k.Scheduler = k.restarted(k.live)
	k.set(Plan{Every: time.Hour, Rehearse: 1})
	k.step(t.Context())
	s, _ := k.State()
	if len(s.Backups) != 2 || s.Backups[1].Rehearsed.IsZero() || !s.Backups[1].Finished {
		t.Errorf("state %+v; log:\n%s", s, k.log.String())
	}
	k.check(good, "nomen-20261123T040000Z")
}

// Retry repeats a failed backup at once, and does nothing otherwise. Without a plan, the state has
// no failure any more.
func TestRetry(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	if got := k.Retry(); got != "" {
		t.Errorf("without a plan: %q", got)
	}
	above := k.to
	k.to = filepath.Join(above, "backups")
	k.set(Plan{Every: time.Hour, Rehearse: 1})
	if wait := k.step(t.Context()); wait != firstRetry || !strings.Contains(k.problem(), above+", does not exist; make both with 'mkdir -p "+k.to) {
		t.Errorf("waits %v: %s", wait, k.problem())
	}
	<-k.changed   // the method set has sent this signal
	for range 3 { // a failed retry waits again
		if got := k.Retry(); got == "" || len(k.changed) != 1 {
			t.Errorf("retry: %q", got)
		}
		<-k.changed
		if wait := k.step(t.Context()); wait < firstRetry {
			t.Errorf("waits %v", wait)
		}
	}
	if err := os.Mkdir(above, 0o700); err != nil {
		t.Fatal(err)
	}
	k.Retry()
	if wait := k.step(t.Context()); wait != time.Hour || k.problem() != "" {
		t.Errorf("waits %v: %s", wait, k.problem())
	}
	if got := k.Retry(); got != "" {
		t.Errorf("after a success: %q", got)
	}
	k.update(func(s *State) { s.Problem, s.Failures = "disk full", 3 })
	k.Set(nil)
	k.step(t.Context())
	if s, _ := k.State(); k.Retry() != "" || s.Problem != "" || s.Failures != 0 {
		t.Errorf("without a plan: %+v", s)
	}
}

// After a failed rehearsal all earlier backups are kept, until a rehearsal succeeds.
func TestFailedRehearsal(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	k.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
	k.step(t.Context())
	bad := &damaging{Store: k.live}
	k.Source = bad
	k.now = k.now.Add(time.Hour)
	if wait := k.step(t.Context()); wait != firstRetry || !strings.Contains(k.problem(), "the rehearsal failed; earlier backups are kept") || !strings.Contains(k.problem(), "HEAD: damaged") {
		t.Errorf("waits %v: %s", wait, k.problem())
	}
	for range 3 {
		k.now = k.now.Add(lastRetry)
		k.step(t.Context())
	}
	if want := []string{"backup", "rehearsal", "backup", "rehearsal!"}; !slices.Equal(k.ran[:4], want) {
		t.Errorf("tasks %q, want %q", k.ran, want)
	}
	s, _ := k.State()
	if got := k.there(); got[0] != "nomen-20261123T030000Z" || s.Last().Dir != filepath.Join(k.to, got[0]) || s.Failures != 4 {
		t.Errorf("backups %q, %+v", got, s)
	}
	k.Source = k.live
	k.now = k.now.Add(lastRetry)
	k.step(t.Context())
	k.check("nomen-20261123T080000Z")
}

// A damaging store makes damaged backups.
type damaging struct{ *pebblestore.Store }

func (d *damaging) BackupLinked(ctx context.Context, dir, _ string, progress func(done, total uint64)) error {
	if err := d.Store.BackupLinked(ctx, dir, "", progress); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "HEAD"), []byte("x"), 0o600)
}

// Only directories that this server has made are deleted, whatever they are called.
func TestOthersStay(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	for _, other := range []string{"nomen-20200101T000000Z", "manual"} { // backups of another server and of nomen backup
		if err := os.MkdirAll(k.to, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := k.live.Backup(t.Context(), filepath.Join(k.to, other), nil); err != nil {
			t.Fatal(err)
		}
	}
	second := k.restarted(k.live) // a server with a copy of the store
	second.Data = t.TempDir()
	second.state = State{}
	k.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
	second.Set(k.plan)
	for range 3 {
		k.step(t.Context())
		second.step(t.Context())
		k.now = k.now.Add(time.Hour)
	}
	k.check("manual", "nomen-20200101T000000Z", "nomen-20261123T050000Z", "nomen-20261123T050000Z-2")

	// Something else took the place of a backup.
	if err := os.Rename(filepath.Join(k.to, "nomen-20261123T050000Z"), filepath.Join(k.to, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	k.put("urn:example:other")
	if err := k.live.Backup(t.Context(), filepath.Join(k.to, "nomen-20261123T050000Z"), nil); err != nil {
		t.Fatal(err)
	}
	k.step(t.Context())
	k.check("elsewhere", "manual", "nomen-20200101T000000Z", "nomen-20261123T050000Z", "nomen-20261123T050000Z-2", "nomen-20261123T060000Z")
}

// If the disk for backups is not mounted, no backup is written to the disk that has the mount
// point.
func TestMissingDisk(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	k.set(Plan{Every: time.Hour, Rehearse: 1})
	k.step(t.Context())
	if err := os.Rename(k.to, k.to+".away"); err != nil {
		t.Fatal(err)
	}
	k.now = k.now.Add(time.Hour)
	if wait := k.step(t.Context()); wait != firstRetry || !strings.Contains(k.problem(), "is its disk mounted?") {
		t.Errorf("waits %v: %s", wait, k.problem())
	}
	if err := os.Rename(k.to+".away", k.to); err != nil {
		t.Fatal(err)
	}
	k.update(func(s *State) { s.Mount = true })
	k.now = k.now.Add(firstRetry)
	if wait := k.step(t.Context()); wait != 2*firstRetry || !strings.Contains(k.problem(), "nothing is mounted at") {
		t.Errorf("waits %v: %s", wait, k.problem())
	}
	k.update(func(s *State) { s.Mount = false })
	k.now = k.now.Add(2 * firstRetry)
	k.step(t.Context())
	if k.problem() != "" || len(k.there()) != 2 {
		t.Errorf("%q, %s", k.there(), k.problem())
	}
}

// Two servers do not make backups in one directory at the same time.
func TestLock(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	k.set(Plan{Every: time.Hour, Rehearse: 1})
	k.step(t.Context())
	other, err := lockDir(k.to)
	if err != nil {
		t.Fatal(err)
	}
	k.now = k.now.Add(time.Hour)
	if wait := k.step(t.Context()); wait != firstRetry || !strings.Contains(k.problem(), "another server is making a backup there") {
		t.Errorf("waits %v: %s", wait, k.problem())
	}
	// Even if the file system has no locks, the unfinished backup of another server stays.
	unfinished := filepath.Join(k.to, "nomen-20261123T050000Z.new")
	if err := errors.Join(other.Close(), os.Mkdir(unfinished, 0o700)); err != nil {
		t.Fatal(err)
	}
	k.now = k.now.Add(time.Hour)
	k.step(t.Context())
	k.check("nomen-20261123T030000Z", "nomen-20261123T050000Z-2", "nomen-20261123T050000Z.new")
}

func TestClockSetBack(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	k.set(Plan{Every: time.Hour, Keep: 2, Rehearse: 1})
	for range 2 {
		k.step(t.Context())
		k.now = k.now.Add(time.Hour)
	}
	k.now = k.now.AddDate(-1, 0, 0)
	if wait := k.step(t.Context()); wait != time.Hour {
		t.Errorf("waits %v", wait)
	}
	k.check("nomen-20261123T030000Z", "nomen-20261123T040000Z")
}

func TestUnreadableState(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	k.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
	k.step(t.Context())
	file := filepath.Join(filepath.Dir(k.to), File)
	if err := os.WriteFile(file, []byte(`{"version":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	k.Scheduler = k.restarted(k.live)
	k.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
	k.now = k.now.Add(time.Hour)
	k.step(t.Context())
	k.check("nomen-20261123T030000Z", "nomen-20261123T040000Z")
	if _, err := os.Stat(file + ".unread1"); err != nil {
		t.Error(err)
	}
}

func TestHook(t *testing.T) {
	k := newScheduled(t)
	t.Setenv("NOMEN_STORE", "postgres://secret@host/db")
	out := filepath.Join(t.TempDir(), "out")
	k.set(Plan{Every: time.Hour, Rehearse: 1, Hook: []string{"sh", "-c", `env | grep NOMEN; echo "$0"; echo "$1" > ` + out, "{backup}/backup.jsonl", "two words"}})
	k.step(t.Context())
	dir := filepath.Join(k.to, k.there()[0])
	log := k.log.String()
	if text, err := os.ReadFile(out); err != nil || string(text) != "two words\n" {
		t.Errorf("%q, %v", text, err)
	}
	if !strings.Contains(log, `line="NOMEN_BACKUP=`+dir+`"`) || !strings.Contains(log, "line="+dir+"/backup.jsonl") || strings.Contains(log, "secret") {
		t.Errorf("log:\n%s", log)
	}
	if s, _ := k.State(); s.Last().Sent.IsZero() {
		t.Errorf("state %+v", s)
	}

	// A hook that fails or does not end is a failure of the hook, not of the backup.
	open := filepath.Join(t.TempDir(), "open")
	if out, err := exec.Command("mkfifo", open).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	running, err := os.OpenFile(open, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	for _, tt := range []struct {
		hook, want string
		timeout    time.Duration
	}{
		{"echo no space >&2; exit 3", "exit status 3: no space", 0},
		{"exec 3>" + open + "; sleep 600 & sleep 600", "killed after 100ms", 100 * time.Millisecond},
	} {
		k.now = k.now.Add(time.Hour)
		k.set(Plan{Every: time.Hour, Rehearse: 1, Hook: []string{"sh", "-c", tt.hook}, HookTimeout: tt.timeout})
		k.step(t.Context())
		s, _ := k.State()
		if last := s.Last(); s.Problem != "" || !last.Finished || !last.Sent.IsZero() || !strings.Contains(last.HookError, tt.want) {
			t.Errorf("%s: %+v, %s", tt.hook, last, s.Problem)
		}
	}
	// The pipe ends when the hook and its child have ended.
	if err := running.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := running.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the hook still runs: %d, %v", n, err)
	}
	if n := strings.Count(strings.Join(k.ran, " "), "hook!"); n != 2 {
		t.Errorf("%d failures of hooks: %q", n, k.ran)
	}
	if got := hookArguments([]string{"copy"}, "/b"); !slices.Equal(got, []string{"copy", "/b"}) {
		t.Errorf("arguments %q", got)
	}
}

// Every N-th backup is rehearsed, and after a failure each one until one succeeds.
func TestRehearsalDue(t *testing.T) {
	t.Parallel()
	good, none, bad := &Backup{Dir: "/b/g", Rehearsed: at("2026-11-23T03:00:00Z")}, &Backup{Dir: "/b/n"}, &Backup{Dir: "/b/b", Problem: "damaged"}
	for _, c := range []struct {
		every  int
		before []*Backup
		want   bool
	}{
		{0, nil, false},
		{1, nil, true},
		{1, []*Backup{good}, true},
		{3, nil, true},
		{3, []*Backup{good}, false},
		{3, []*Backup{good, none}, false},
		{3, []*Backup{good, none, none}, true},
		{3, []*Backup{good, bad}, true},
	} {
		b := &Backup{Dir: "/b/new"}
		k := &Scheduler{state: State{Backups: append(slices.Clone(c.before), b)}}
		if got := k.rehearsalDue(&Plan{Rehearse: c.every}, b); got != c.want {
			t.Errorf("every %d after %d: %t", c.every, len(c.before), got)
		}
	}
}

// Run follows a plan that is set while it waits, and ends with its context.
func TestRun(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { k.Run(ctx); close(ended) }()
	k.set(Plan{Every: time.Hour, Rehearse: 1})
	for {
		if s, _ := k.State(); s.LastRehearsed() != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	<-ended
}
