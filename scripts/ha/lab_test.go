//go:build ha

package ha

import (
	"context"
	"encoding/json"
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

	"github.com/nomen-project/nomen/internal/flock"
)

const (
	// insideVar is set in the process that has the name spaces; it is the directory
	// for all files.
	insideVar = "NOMEN_HA_DIR"

	servant  = "postgres" // whom everything runs as
	network  = "10.77.0."
	patience = 2 * time.Minute // for a program to be ready
	longest  = 40 * time.Minute
)

// addresses are those in etc/hosts.
var addresses = map[string]string{
	"db1": network + "11", "db2": network + "12", "witness": network + "13",
	"node1": network + "21", "node2": network + "22", "front": network + "31",
}

// enter runs this test once more as a process with name spaces of its own: for
// processes, whose end is the end of all that were started in it; for the network;
// and for mounts. It reports whether this is that process, and its directory.
func enter(t *testing.T) (at string, inside bool) {
	t.Helper()
	if at := os.Getenv(insideVar); at != "" {
		return at, true
	}
	if os.Getuid() != 0 {
		t.Fatal("network namespaces need root")
	}
	for _, program := range []string{"unshare", "ip", "setpriv", "patroni", "etcd", "haproxy"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: run scripts/prepare.sh ha", err)
		}
	}
	sweep()
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 100 { // what was killed may write for a moment yet
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("%s cannot be removed", dir)
	})
	held, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := flock.Try(held); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"before", "after"} {
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-X main.version="+version, "-o", filepath.Join(dir, "nomen-"+version), "../../cmd/nomen")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	// The shell is the first process of its name space and reaps orphans.
	args := []string{"--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", `"$0" "$@"; exit $?`}
	cmd := exec.CommandContext(ctx, "unshare", append(append(args, os.Args[0]), os.Args[1:]...)...)
	cmd.Env = append(os.Environ(), insideVar+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		t.Fatalf("inside: %v", err)
	}
	return "", false
}

// tempPrefix begins the names of directories for the files of a run.
const tempPrefix = "nomen-ha-"

// sweep removes the files of runs that were killed: nobody holds their directories.
func sweep() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*")) // the pattern is sound
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			continue // somebody else sweeps
		}
		if flock.Try(f) == nil {
			_ = os.RemoveAll(dir) // or the next run does it
		}
		f.Close()
	}
}

// A lab is the cluster.
type lab struct {
	dir   string
	vars  map[string]string // of the files in etc
	procs map[string]*proc
	bound context.Context
}

// A proc is a program that runs on a machine.
type proc struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // after ended
	told  bool  // to end
}

// newLab makes the machines and their network.
func newLab(t *testing.T, dir string) *lab {
	t.Helper()
	l := &lab{dir: dir, procs: map[string]*proc{}, bound: t.Context()}
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

// own makes a directory that belongs to whom everything runs as.
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

// install copies a file of etc to a machine, or to where all find it, with the
// variables replaced, and returns its path.
func (l *lab) install(t *testing.T, file, machine string, mode os.FileMode) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("etc", file))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
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

// start runs a program on a machine; what it says goes to a file.
func (l *lab) start(t *testing.T, machine, name string, env []string, args ...string) *proc {
	t.Helper()
	log, err := os.OpenFile(l.logFile(machine, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the program has its own
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
	logs, _ := filepath.Glob(filepath.Join(l.dir, "*.log")) // the pattern is sound
	for _, file := range logs {
		b, _ := os.ReadFile(file)
		t.Logf("%s:\n%s", filepath.Base(file), b[max(0, len(b)-6000):])
	}
}

func (l *lab) startEtcd(t *testing.T, machine string) {
	t.Helper()
	l.start(t, machine, "etcd", l.environment(t, "etcd.env", machine), "etcd")
}

func (l *lab) startPatroni(t *testing.T, machine string) {
	t.Helper()
	config := l.install(t, "patroni.yml", machine, 0o644)
	l.start(t, machine, "patroni", []string{"NOMEN_PASSWORD=" + l.vars["NOMEN_PASSWORD"]}, "/usr/bin/patroni", config)
}

// startNode starts a version of nomen, without waiting for it.
func (l *lab) startNode(t *testing.T, machine, version string) *proc {
	t.Helper()
	return l.start(t, machine, "nomen", l.environment(t, "nomen.env", machine), filepath.Join(l.dir, "nomen-"+version), "serve", "--no-access-log")
}

// probe asks an address of a machine and returns the status, 0 for no answer.
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

// A member is one of the answer of Patroni's /cluster.
type member struct {
	Name, Role, State string
	Timeline          int
}

// members asks Patroni on a machine about all.
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

var databases = []string{"db1", "db2"}

// whole reports which database server takes changes, with its timeline, if the other
// one is its synchronous standby.
func whole() (leader member, ok bool) {
	for _, machine := range databases {
		var standby bool
		all := members(machine)
		for _, m := range all {
			switch m.Role {
			case "leader", "master", "primary":
				leader = m
			case "sync_standby":
				standby = m.State == "running" || m.State == "streaming"
			}
		}
		if leader.Name != "" && leader.State == "running" && standby {
			return leader, true
		}
	}
	return leader, false
}

func (l *lab) awaitWhole(t *testing.T) member {
	t.Helper()
	var leader member
	l.eventually(t, "a leader and its synchronous standby", func() (ok bool) {
		leader, ok = whole()
		return ok
	})
	return leader
}

// promoted returns when a server other than was is the primary.
func promoted(ctx context.Context, was string) (name string, at time.Time) {
	for ctx.Err() == nil {
		for _, machine := range databases {
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
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // none, then
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("%s: %v", machine, err)
	}
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL) // or it has ended by itself
		}
	}
}

// kill ends a program at once; what it has started goes on.
func (l *lab) kill(t *testing.T, program string) {
	t.Helper()
	p := l.procs[program]
	p.signal(t, syscall.SIGKILL)
	_ = p.wait(t) // it was killed
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

// cut drops, in silence, what machines send to another one; join ends that.
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
