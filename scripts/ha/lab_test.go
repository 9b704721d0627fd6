//go:build ha

package ha

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	servant  = "postgres" // the user as which all programs run
	network  = "10.77.0."
	patience = 2 * time.Minute // maximum time until a program is ready
)

// addresses has the addresses in etc/hosts.
var addresses = map[string]string{
	"db1": network + "11", "db2": network + "12", "witness": network + "13",
	"node1": network + "21", "node2": network + "22", "front": network + "31",
}

// etcdMachines are the machines that run etcd.
var etcdMachines = []string{"db1", "db2", "witness"}

// A lab is the cluster.
type lab struct {
	dir       string
	databases []string             // the machines that run PostgreSQL
	resume    time.Duration        // writes succeed again within this time after there is a new primary
	vars      map[string]string    // variables for the files in etc
	edits     map[string][2]string // for a file in etc: a text in it, and its replacement
	procs     map[string]*proc
	bound     context.Context
	lost      bool // something has timed out, so further tests would only wait
}

// others returns all database machines except one.
func (l *lab) others(but string) (others []string) {
	for _, machine := range l.databases {
		if machine != but {
			others = append(others, machine)
		}
	}
	return others
}

// A proc is a program that runs on a machine.
type proc struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // result of the program; set when ended is closed
	told  bool  // the test has told the program to end
}

// newLab makes the machines and their network.
func newLab(t *testing.T, dir string) *lab {
	t.Helper()
	l := &lab{dir: dir, databases: []string{"db1", "db2"}, resume: resumeWithin, edits: map[string][2]string{}, procs: map[string]*proc{}, bound: t.Context()}
	l.vars = map[string]string{
		"BOOTSTRAP": filepath.Join(dir, "bootstrap.sh"), "WATCHDOG": "off", "NOMEN_PASSWORD": "nomen-secret",
		"SUPERUSER_PASSWORD": "superuser-secret", "REPLICATION_PASSWORD": "replication-secret", "REWIND_PASSWORD": "rewind-secret",
	}
	var commands strings.Builder
	fmt.Fprintf(&commands, "set -e\nmount -t tmpfs tmpfs /run\nmkdir -p /run/netns /run/lock\n")
	fmt.Fprintf(&commands, "mount --bind %s /etc/hosts\n", filepath.Join(dir, "hosts"))
	fmt.Fprintf(&commands, "ip link set lo up\nip link add br0 type bridge\nip addr add %s1/24 dev br0\nip link set br0 up\n", network)
	for name, ip := range addresses {
		fmt.Fprintf(&commands, "ip netns add %[1]s\nip link add v-%[1]s type veth peer name eth0 netns %[1]s\nip link set v-%[1]s master br0 up\n", name)
		fmt.Fprintf(&commands, "ip -n %[1]s addr add %[2]s/24 dev eth0\nip -n %[1]s link set eth0 up\nip -n %[1]s link set lo up\n", name, ip)
	}
	l.install(t, "hosts", "", 0o644)
	l.install(t, "bootstrap.sh", "", 0o755)
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", commands.String()).CombinedOutput(); err != nil {
		t.Fatalf("the network: %v\n%s", err, out)
	}
	for name := range addresses {
		l.own(t, l.data(name))
	}
	return l
}

// data returns the directory of a machine.
func (l *lab) data(machine string) string { return filepath.Join(l.dir, machine) }

// own creates a directory that belongs to the user as which all programs run.
func (l *lab) own(t *testing.T, dir string) {
	t.Helper()
	u, err := user.Lookup(servant)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid) // numbers on every system that has network namespaces
	gid, _ := strconv.Atoi(u.Gid)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chown(dir, uid, gid)); err != nil {
		t.Fatal(err)
	}
}

// install copies a file of etc to a machine, or to a directory for all machines, and replaces the
// variables in it. It returns the path of the copy.
func (l *lab) install(t *testing.T, file, machine string, mode os.FileMode) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("etc", file))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if edit, ok := l.edits[file]; ok {
		if strings.Count(text, edit[0]) != 1 {
			t.Fatalf("etc/%s: want one %q", file, edit[0])
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	if machine != "" {
		text = os.Expand(text, func(v string) string {
			switch v {
			case "HOST":
				return machine
			case "DATA":
				return l.data(machine)
			case "ADDRESS":
				return addresses[machine]
			}
			value, ok := l.vars[v]
			if !ok {
				t.Fatalf("etc/%s: unknown variable %q", file, v)
			}
			return value
		})
	}
	path := filepath.Join(l.dir, machine+"."+file)
	if machine == "" {
		path = filepath.Join(l.dir, file)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// environment reads a file of VARIABLE=value lines.
func (l *lab) environment(t *testing.T, file, machine string) []string {
	t.Helper()
	b, err := os.ReadFile(l.install(t, file, machine, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			env = append(env, line)
		}
	}
	return env
}

// start runs a program on a machine, with its output in a file.
func (l *lab) start(t *testing.T, machine, name string, env []string, args ...string) *proc {
	t.Helper()
	log, err := os.OpenFile(l.logFile(machine, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the program has its own descriptor
	as := []string{"netns", "exec", machine, "setpriv", "--reuid=" + servant, "--regid=" + servant, "--init-groups", "--"}
	p := &proc{name: name, cmd: exec.CommandContext(l.bound, "ip", append(as, args...)...), ended: make(chan struct{})}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "LC_ALL=C.UTF-8", "HOME=" + l.data(machine)}, env...)
	p.cmd.Dir = l.data(machine)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
	}()
	l.procs[machine+" "+name] = p
	return p
}

func (l *lab) logFile(machine, name string) string {
	return filepath.Join(l.dir, machine+"-"+name+".log")
}

// signal sends a program a signal.
func (p *proc) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	p.told = true
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Errorf("%s: %v", p.name, err)
	}
}

// wait waits for the end of a program.
func (p *proc) wait(t *testing.T) error {
	t.Helper()
	select {
	case <-p.ended:
		return p.err
	case <-time.After(patience):
		t.Fatalf("%s does not end", p.name)
		return nil
	}
}

// tails shows the ends of all logs.
func (l *lab) tails(t *testing.T) {
	t.Helper()
	logs, _ := filepath.Glob(filepath.Join(l.dir, "*.log")) // the pattern is valid
	for _, file := range logs {
		b, _ := os.ReadFile(file)
		t.Logf("%s:\n%s", filepath.Base(file), b[max(0, len(b)-6000):])
	}
}

func (l *lab) startEtcd(t *testing.T, machine string) {
	t.Helper()
	l.start(t, machine, "etcd", l.environment(t, "etcd.env", machine), "etcd")
}

// startNode starts a version of nomen, without waiting for it.
func (l *lab) startNode(t *testing.T, machine, version string) *proc {
	t.Helper()
	return l.start(t, machine, "nomen", l.environment(t, "nomen.env", machine), filepath.Join(l.dir, "nomen-"+version), "serve", "--no-access-log")
}

// probe requests a URL. The status is 0 if there is no response.
func probe(url string) (status int, body []byte) {
	client := http.Client{
		Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Get(url)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, b
}

// eventually waits until f is true.
func (l *lab) eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			l.lost = true
			t.Fatalf("not in %v: %s", patience, what)
		}
		for at, p := range l.procs {
			select {
			case <-p.ended:
				if !p.told {
					t.Fatalf("%s has ended: %v", at, p.err)
				}
			default:
			}
		}
	}
}

// kill ends a program at once, but not the processes that it has started.
func (l *lab) kill(t *testing.T, program string) {
	t.Helper()
	p := l.procs[program]
	p.signal(t, syscall.SIGKILL)
	_ = p.wait(t) // it was killed
}

// cut silently drops all packets from some machines to another one, until join is called.
func (l *lab) cut(t *testing.T, to string, from ...string) { l.route(t, "add", to, from) }

func (l *lab) join(t *testing.T, to string, from ...string) { l.route(t, "del", to, from) }

func (l *lab) route(t *testing.T, verb, to string, from []string) {
	t.Helper()
	for _, machine := range from {
		out, err := exec.CommandContext(t.Context(), "ip", "-n", machine, "route", verb, "blackhole", addresses[to]).CombinedOutput()
		if err != nil {
			t.Errorf("ip route %s: %v: %s", verb, err, out)
		}
	}
}
