package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/bulk/bulktest"
)

// TestMemory imports names, exports and verifies them with commands, and then exports and verifies
// them through a server. No process may need more memory than --memory allows or, without this
// option, than its cache and 512 MiB. With NOMEN_NAMES=10000000, as `make memory` sets it, the
// processes need the most memory.
func TestMemory(t *testing.T) {
	names, limits := uint64(100_000), []int{minMemory}
	if testing.Short() {
		names = 10_000
	}
	if s := os.Getenv("NOMEN_NAMES"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		names, limits = n, []int{0, minMemory, 1024}
	}
	exe := filepath.Join(t.TempDir(), "nomen") // build the program, because the race detector of the test binary needs memory too
	build := exec.CommandContext(t.Context(), "go", "build", "-o", exe, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	data := filepath.Join(t.TempDir(), "data")
	program := func(memory int, args ...string) *exec.Cmd {
		if memory > 0 {
			args = append(args, "--memory", strconv.Itoa(memory))
		}
		return exec.CommandContext(t.Context(), exe, append(args, "--data", data)...)
	}
	run := func(what string, memory, usual int, cmd *exec.Cmd) {
		t.Helper()
		var log strings.Builder
		cmd.Stderr = &log
		peak, err := peakOf(t, cmd)
		if err != nil {
			t.Fatalf("%s: %v: %s", what, err, log.String())
		}
		checkPeak(t, what, memory, usual, peak)
	}
	load := program(minMemory, "import", "-")
	load.Stdin = bulktest.NewReader(names, bulktest.Options{Rich: names < 1_000_000, Shuffled: names < 1_000_000})
	run("import", minMemory, 0, load)
	for _, memory := range limits {
		run("export", memory, 16, program(memory, "export", "--output", filepath.Join(t.TempDir(), "x.csv")))
		run("verify", memory, 512, program(memory, "verify"))
		var args []string
		if memory > 0 {
			args = []string{"--memory", strconv.Itoa(memory)}
		}
		server, err := startProgram(exe, data, args...)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"export", "--output", os.DevNull}, {"verify"}, {"export", "--format", "csv", "--output", os.DevNull}} {
			if out, err := program(0, args...).CombinedOutput(); err != nil {
				t.Errorf("%q through the server: %v: %s", args, err, out)
			}
			checkPeak(t, fmt.Sprintf("serve, after %s", args[0]), memory, 2048, statusOf(t, server.cmd.Process.Pid))
		}
		if err := server.stop(); err != nil {
			t.Error(err)
		}
	}
}

// checkPeak checks that a process needed no more memory than --memory says or, without this option,
// than its usual cache and 512 MiB.
func checkPeak(t *testing.T, what string, memory, usual int, peak int64) {
	t.Helper()
	most := memory
	if memory == 0 {
		most = usual + 512
	}
	t.Logf("%s, --memory %d: %d MiB at most, allowed %d", what, memory, peak>>10, most)
	if peak == 0 || peak>>10 > int64(most) {
		t.Errorf("%s, --memory %d: the process took %d MiB, more than %d", what, memory, peak>>10, most)
	}
}

// peakOf runs a program and returns the maximum memory that it used, in KiB. It asks while the
// program runs, because the numbers that the system gives after its end include this process.
func peakOf(t *testing.T, cmd *exec.Cmd) (int64, error) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for peak := int64(0); ; {
		select {
		case err := <-ended:
			return peak, err
		case <-time.After(10 * time.Millisecond):
			peak = max(peak, statusOf(t, cmd.Process.Pid))
		}
	}
}

// statusOf returns the maximum memory that a process has used so far, in KiB. If the process has
// ended, it returns 0.
func statusOf(t *testing.T, pid int) int64 {
	t.Helper()
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // gone if it was waited for
	_, rest, ok := strings.Cut(string(text), "VmHWM:")
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
