//go:build clients

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A machine is a bare Debian 12 that systemd has booted, in name spaces of its own. It reaches
// only the test, at [internetAddr].
type machine struct {
	addr string // of the machine, as the test and its "internet" reach it
	init int    // process ID of its systemd
}

const (
	internetAddr = "192.0.2.1"
	machineAddr  = "192.0.2.10"
	machineHost  = "id.example.edu" // the name of the machine in the guide

	homeOnMachine = "/srv/admin" // of the person who follows the guide

	// insideVar is set in the process that has a network of its own.
	insideVar = "NOMEN_GUIDE_INSIDE"
	// machineVar names a directory in which the bare Debian is kept from one run to the next.
	machineVar = "NOMEN_MACHINE"
)

// enterNetwork runs this test once more as a process with name spaces of its own for the network,
// mounts and processes: nothing that it starts remains. It reports whether this is that process.
func enterNetwork(t *testing.T) (inside bool) {
	t.Helper()
	if os.Getenv(insideVar) != "" {
		return true
	}
	if os.Getuid() != 0 {
		t.Fatal("name spaces and chroot need root")
	}
	baseOfMachines(t) // made here, because the inner process cannot reach the internet
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	args := []string{"--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", `ip link set lo up; ip addr add ` + internetAddr + `/32 dev lo; "$0" "$@"; exit $?`}
	name := "^" + t.Name() + "$"
	if run := flag.Lookup("test.run").Value.String(); strings.Contains(run, "/") {
		name = run // some subtests
	}
	cmd := exec.CommandContext(ctx, "unshare", slices.Concat(args, os.Args, []string{"-test.run", name})...)
	cmd.Env = append(os.Environ(), insideVar+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		t.Fatalf("inside: %v", err)
	}
	return false
}

// baseOfMachines returns the directory of the bare Debian, which the first test makes.
func baseOfMachines(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(machineVar)
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "nomen", "machine-bookworm")
	}
	if out, err := exec.CommandContext(t.Context(), "../../scripts/machine/base.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("a bare Debian in %s: %v\n%s", dir, err, out)
	}
	return dir
}

// bootMachine boots a machine that is switched off when the test ends. The test is inside of
// [enterNetwork].
func bootMachine(t *testing.T, base string, n *internet) *machine {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command("unshare", "--mount", "--pid", "--fork", "--uts", "--ipc", "--cgroup", "--net", "--kill-child",
		"../../scripts/machine/boot.sh", base, t.TempDir(), "id")
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	m := &machine{addr: machineAddr}
	children := fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid)
	for last := time.Now().Add(startTimeout); ; time.Sleep(50 * time.Millisecond) {
		if text, err := os.ReadFile(children); err == nil && m.init == 0 {
			m.init, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		if m.init != 0 {
			if out, _ := m.try("systemctl is-system-running"); strings.HasPrefix(out, "running") {
				break
			} else if time.Now().After(last) {
				t.Fatalf("the machine does not boot: %s\n%s", out, log.String())
			}
		}
	}
	m.connect(t)
	m.write(t, "/usr/local/share/ca-certificates/internet.crt", n.root, 0o644)
	m.write(t, "/usr/local/share/ca-certificates/authority.crt", n.issue, 0o644)
	m.run(t, "update-ca-certificates")
	return m
}

// connect lays a cable between the machine and the test.
func (m *machine) connect(t *testing.T) {
	t.Helper()
	_ = exec.Command("ip", "link", "del", "cable0").Run() // the one to the machine before
	for _, args := range []string{
		fmt.Sprintf("link add cable0 type veth peer name eth0 netns %d", m.init),
		"link set cable0 up", "route add " + machineAddr + " dev cable0 src " + internetAddr,
	} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", args, err, out)
		}
	}
	m.run(t, "ip addr add "+m.addr+"/24 dev eth0 && ip link set eth0 up && ip route add default via "+internetAddr)
	m.run(t, "echo nameserver "+internetAddr+" >/etc/resolv.conf; echo '127.0.0.1 localhost id' >/etc/hosts")
}

// try runs a command of the shell as root on the machine and returns what it printed.
func (m *machine) try(command string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nsenter", "-t", strconv.Itoa(m.init), "-m", "-p", "-n", "-u", "-i", "-C", "-r", "-w",
		"env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME="+homeOnMachine, "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "SYSTEMD_PAGER=",
		"bash", "-c", "mkdir -p ~; cd; "+command)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run is try for a command that must succeed.
func (m *machine) run(t *testing.T, command string) string {
	t.Helper()
	out, err := m.try(command)
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", command, err, out, m.journal())
	}
	return out
}

// journal returns the last lines of the machine's log.
func (m *machine) journal() string {
	out, _ := m.try("journalctl --no-pager -n 40 -o cat")
	return out
}

// write makes a file on the machine, and its directory.
func (m *machine) write(t *testing.T, file string, content []byte, mode fs.FileMode) {
	t.Helper()
	at := fmt.Sprintf("/proc/%d/root%s", m.init, file)
	err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, content, mode), os.Chmod(at, mode))
	if err != nil {
		t.Fatal(err)
	}
}
