//go:build ha

package ha

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func (l *lab) startPatroni(t *testing.T, machine string) {
	t.Helper()
	l.stopPostgres(t, machine)
	config := l.install(t, "patroni.yml", machine, 0o644)
	l.start(t, machine, "patroni", []string{"NOMEN_PASSWORD=" + l.vars["NOMEN_PASSWORD"]}, "/usr/bin/patroni", config)
}

// stopPostgres does what systemd does before it starts Patroni.
func (l *lab) stopPostgres(t *testing.T, machine string) {
	t.Helper()
	unit, err := os.ReadFile(l.install(t, "patroni.service.conf", machine, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	_, command, found := strings.Cut(string(unit), "\nExecStartPre=-")
	if !found {
		t.Fatal("patroni.service.conf has no ExecStartPre")
	}
	p := l.start(t, machine, "pg_ctl", nil, strings.Fields(command)...)
	p.told = true
	_ = p.wait(t) // the command fails if PostgreSQL is not running
}

// A member is a database server in the response of Patroni to /cluster.
type member struct {
	Name, Role, State string
	Timeline          int
}

// members returns the members of the cluster, as Patroni on a machine knows them.
func members(machine string) map[string]member {
	_, b := probe("http://" + addresses[machine] + ":8008/cluster")
	var cluster struct{ Members []member }
	if json.Unmarshal(b, &cluster) != nil {
		return nil
	}
	all := map[string]member{}
	for _, m := range cluster.Members {
		all[m.Name] = m
	}
	return all
}

// whole returns the database server that accepts changes. The result ok says whether all other
// servers are its standbys on the same timeline, and one of them is synchronous.
func (l *lab) whole() (leader member, ok bool) {
	for _, machine := range l.databases {
		timelines := map[int]int{} // number of servers on each timeline
		synchronous := 0
		for _, m := range members(machine) {
			if m.State != "running" && m.State != "streaming" {
				continue
			}
			timelines[m.Timeline]++
			switch m.Role {
			case "leader", "master", "primary":
				leader = m
			case "sync_standby":
				synchronous++
			}
		}
		if leader.Name != "" && synchronous == 1 && timelines[leader.Timeline] == len(l.databases) {
			return leader, true
		}
	}
	return leader, false
}

func (l *lab) awaitWhole(t *testing.T) member {
	t.Helper()
	var leader member
	l.eventually(t, "a leader and its synchronous standby", func() (ok bool) {
		leader, ok = l.whole()
		return ok
	})
	return leader
}

// synchronous returns the machine of the synchronous standby.
func (l *lab) synchronous(t *testing.T) (name string) {
	t.Helper()
	l.eventually(t, "a synchronous standby", func() bool {
		for _, m := range members(l.databases[0]) {
			if m.Role == "sync_standby" {
				name = m.Name
			}
		}
		return name != ""
	})
	return name
}

// promoted waits until a server other than the parameter was is the primary. It returns this server
// and the time.
func (l *lab) promoted(ctx context.Context, was string) (name string, at time.Time) {
	for ctx.Err() == nil {
		for _, machine := range l.databases {
			if machine == was {
				continue
			}
			if status, _ := probe("http://" + addresses[machine] + ":8008/primary"); status == http.StatusOK {
				return machine, time.Now()
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "", time.Time{}
}

// killPostgres ends all processes of a database server at once.
func (l *lab) killPostgres(t *testing.T, machine string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(l.data(machine), "postgres", "postmaster.pid"))
	if err != nil {
		t.Errorf("%s: %v", machine, err)
		return
	}
	first, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Errorf("%s: %v", machine, err)
		return
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // if this fails, there are no children
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("%s: %v", machine, err)
	}
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL) // fails if the process has already ended
		}
	}
}

// checkSynchronous checks that Patroni has not reset synchronous_standby_names of a running primary
// when it started again. If it did, commits that wait for the standby would be acknowledged, and
// could be lost.
func (l *lab) checkSynchronous(t *testing.T, machine string) {
	t.Helper()
	log, err := os.ReadFile(l.logFile(machine, "patroni"))
	if err != nil {
		t.Error(err)
	}
	if bytes.Contains(log, []byte(`parameter "synchronous_standby_names" removed from configuration file`)) {
		t.Errorf("%s: Patroni has reset synchronous_standby_names of a running primary", machine)
	}
}

// checkLogins checks that PostgreSQL has rejected no login of a program of the cluster. Patroni
// continues without some of its connections, but then cannot repair every fault.
func (l *lab) checkLogins(t *testing.T) {
	t.Helper()
	for _, machine := range l.databases {
		log, err := os.ReadFile(l.logFile(machine, "patroni"))
		if err != nil {
			t.Error(err)
		}
		for line := range bytes.Lines(log) {
			if bytes.Contains(line, []byte("FATAL:  no pg_hba.conf entry")) || bytes.Contains(line, []byte("FATAL:  password authentication failed")) {
				t.Errorf("%s: %s", machine, line)
				break
			}
		}
	}
}

// switchover asks Patroni to change the roles of primary and standby.
func switchover(t *testing.T, primary, standby string) {
	t.Helper()
	body := fmt.Sprintf(`{"leader": %q, "candidate": %q}`, primary, standby)
	client := http.Client{Timeout: patience}
	resp, err := client.Post("http://"+addresses[primary]+":8008/switchover", "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	if said, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Errorf("switchover: %s: %s", resp.Status, said)
	}
}
