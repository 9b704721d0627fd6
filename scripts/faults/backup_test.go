//go:build faults

package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A table of a backup is damaged. This does not affect the server, restore names the file, and the
// next backup is good again.
func TestFaultDamagedBackup(t *testing.T) {
	base := t.TempDir()
	data, backup := filepath.Join(base, "data"), filepath.Join(base, "backup")
	newData(t, data, 5000)
	s := serve(t, data, "--memory", memory)
	token := s.token()
	if r := command(data, "backup", backup); r.status != 0 {
		t.Fatalf("backup: %+v", r)
	}
	tables, err := filepath.Glob(filepath.Join(backup, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, table := range tables {
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(table, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.lines()
	for _, args := range [][]string{{"restore", backup}, {"restore", "--rehearse", backup}} {
		r := command(filepath.Join(base, "restored"), args...)
		if r.status != 1 || strings.Count(r.body, "\nfault: ")+strings.Count(r.body, "fault: ") < len(tables) || strings.Count(strings.TrimSpace(r.body), "\n") != len(tables) {
			t.Errorf("%v: status %d, want 1, a line for each of %d tables and one more:\n%s", args, r.status, len(tables), r.body)
		}
	}
	if _, err := os.Stat(filepath.Join(base, "restored", "store")); err == nil {
		t.Error("a damaged backup was restored")
	}
	p := s.look(token, 1)
	after := "nothing was restored: restore another backup, or make a new one"
	if r := command(data, "backup", "--rehearse", backup); r.status != 0 {
		t.Errorf("the next backup: %+v", r)
	}
	if r := command(filepath.Join(base, "restored"), "restore", backup); r.status != 0 {
		t.Errorf("restore of the next backup: %+v", r)
	}
	emit(t, Row{
		Fault: "tables of a backup damaged", Reads: p.reads, Writes: p.writes,
		Healthz: p.healthz.text(), Readyz: p.readyz.text(), Metrics: p.metrics,
		Log: "`restore`: 1 line a file, exit status 1", After: after,
	})
	s.stop()
}

// The disk of the backup is full. The server continues, and the earlier backup stays good.
func TestFaultBackupDiskFull(t *testing.T) {
	d := newDisk(t, 32, 0)
	base := t.TempDir()
	data, backup := filepath.Join(base, "data"), filepath.Join(d.dir, "backup")
	newData(t, data, 2000)
	s := serve(t, data, "--memory", memory)
	token := s.token()
	if r := command(data, "backup", backup); r.status != 0 {
		t.Fatalf("backup: %+v", r)
	}
	empty := d.fill(0)
	s.lines()
	file := filepath.Join(base, "more.jsonl")
	if err := os.WriteFile(file, []byte(someNames("more", 20_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := command(data, "import", file); r.status != 0 {
		t.Fatalf("import: %+v", r)
	}
	r := command(data, "backup", backup)
	if r.status != 3 || !strings.Contains(r.body, "no space left") || !strings.Contains(r.body, "free some space") {
		t.Errorf("backup to a full disk: %+v", r)
	}
	p := s.look(token, 1)
	if r := command(filepath.Join(base, "rehearsed"), "restore", "--rehearse", backup); r.status != 0 || !strings.Contains(r.body, "2001 records restored") {
		t.Errorf("the earlier backup: %+v", r)
	}
	empty()
	if r := command(data, "backup", "--rehearse", backup); r.status != 0 || !strings.Contains(r.body, "22004 records restored") {
		t.Errorf("the next backup: %+v", r)
	}
	if !s.running() {
		t.Errorf("the server has ended:\n%s", s.out.String())
	}
	emit(t, Row{
		Fault: "disk of the backup full", Reads: p.reads, Writes: p.writes,
		Healthz: p.healthz.text(), Readyz: p.readyz.text(), Metrics: p.metrics,
		Log: "`backup`: exit status 3", After: "the earlier backup stays: make the next backup when there is space",
	})
	s.stop()
}
