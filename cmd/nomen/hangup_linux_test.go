package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
)

// fifo makes a named pipe, and returns a function that waits until a program reads it, calls
// meanwhile, replaces the pipe by a file with the text later, and lets the program read the text now.
func fifo(t *testing.T, path string) (feed func(now, later string, meanwhile func())) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return func(now, later string, meanwhile func()) {
		t.Helper()
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		meanwhile()
		next := path + ".next"
		err = errors.Join(os.WriteFile(next, []byte(later), 0o600), os.Rename(next, path))
		if _, writeErr := io.WriteString(w, now); errors.Join(err, writeErr, w.Close()) != nil {
			t.Fatal(err, writeErr)
		}
	}
}

// waitForLog waits until the log of a server has a text.
func (p *process) waitForLog(t *testing.T, want string) {
	t.Helper()
	for end := time.Now().Add(startTimeout); !strings.Contains(p.output(), want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log does not have %q: %s", want, p.output())
		}
	}
}

// TestHangupBeforeConfiguration: hangups while a server reads its configuration for the first
// time do not end it. They cause one reload when it is ready, because the file may have changed
// since.
func TestHangupBeforeConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "nomen.toml")
	feed := fifo(t, config)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--config", config)
	cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, ended: make(chan error, 1)}
	go p.watch(stderr, make(chan struct{}))
	feed("rate = 5\n", "rate = 6\n", func() {
		for range 50 {
			if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond / 10)
		}
	})
	p.waitForLog(t, `"key":"rate","from":"5","to":"6"`)
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(p.output(), "configuration reloaded"); n != 1 {
		t.Errorf("%d reloads, want 1: %s", n, p.output())
	}
}

// TestHangupsOfService: systemd learns that a server is ready before it learns about a reload,
// and nothing about reloads after it has learned that the server stops, although hangups arrive
// all the time from the first moment to the last.
func TestHangupsOfService(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, restartConfig)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// SIGHUP is ignored until the program catches it, so that the test can begin before that.
	s.cmd = exec.Command("sh", "-c", `trap "" HUP; echo; LISTEN_PID=$$ exec "$0" "$@"`, exe, "serve", "--data", s.data, "--config", s.config)
	s.cmd.ExtraFiles, s.cmd.Stderr = s.sockets, &s.messages
	s.cmd.Env = append(s.env, "LISTEN_FDS=2", "LISTEN_FDNAMES="+strings.Join(s.names, ":"))
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err == nil {
		_, err = out.Read(make([]byte, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var hangups sync.WaitGroup
	hangups.Go(func() {
		for ; ; time.Sleep(time.Millisecond) {
			select {
			case <-ended:
				return
			default:
				_ = s.cmd.Process.Signal(syscall.SIGHUP)
			}
		}
	})
	var reports []string
	for stopping := false; !stopping; {
		report := s.await("")
		kind, _, _ := strings.Cut(report, "\n")
		if !strings.HasPrefix(kind, "STATUS=") {
			reports = append(reports, kind)
		}
		if len(reports) == 7 { // ready, and three reloads
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		}
		stopping = kind == "STOPPING=1"
	}
	err = s.cmd.Wait()
	close(ended)
	hangups.Wait()
	if err != nil {
		t.Fatalf("%v: %s", err, s.messages.String())
	}
	for i, kind := range reports[:len(reports)-1] {
		if want := []string{"READY=1", "RELOADING=1"}[i%2]; kind != want {
			t.Fatalf("report %d is %s, want %s: %q", i, kind, want, reports)
		}
	}
	_ = s.notify.SetReadDeadline(time.Now())
	if n, err := s.notify.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes were reported after STOPPING=1", n)
	}
}

// TestHangupOfCommand: SIGHUP ends a command other than serve, such as that of a terminal that is
// closed.
func TestHangupOfCommand(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "normalize", "-")
	cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = io.WriteString(in, "URN:example:a\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("%q, %v", line, err)
	}
	_ = cmd.Process.Signal(syscall.SIGHUP)
	timer := time.AfterFunc(startTimeout, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGHUP {
		t.Errorf("it ended with %v", err)
	}
}

// TestReloadWhileStopping: while a server shuts down, reloads are rejected at once with a reason:
// one that waits for another one, those of all requests that follow, and those of commands.
func TestReloadWhileStopping(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, config := filepath.Join(dir, "data"), filepath.Join(dir, "nomen.toml")
	if err := os.WriteFile(config, []byte("rate = 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := startServer(data, "--config", config, "--drain", "1h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.kill() })
	api := adminClient(t, data)
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	feed := fifo(t, config)
	rejected := make(chan error)
	reload := func() {
		_, err := api.Reload(t.Context())
		rejected <- err
	}
	want := func(n int, what string) {
		t.Helper()
		for range n {
			select {
			case err := <-rejected:
				if !errors.Is(err, adminapi.ErrUnavailable) || !strings.Contains(err.Error(), "the server is shutting down") {
					t.Errorf("%s: got %v", what, err)
				}
			case <-time.After(startTimeout):
				t.Fatalf("%s: no response: %s", what, p.output())
			}
		}
	}
	go reload() // reads the pipe
	feed("rate = 6\n", "rate = 7\n", func() {
		for range 3 {
			go reload()
		}
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		p.waitForLog(t, "shutting down")
		want(3, "a reload that waits")
		_ = p.cmd.Process.Signal(syscall.SIGHUP)
	})
	want(1, "a reload in progress")
	for range 8 {
		go reload()
	}
	want(8, "a reload that follows")
	var out strings.Builder
	if status := run(t.Context(), []string{"reload", "--data", data}, streams{strings.NewReader(""), &out, &out}); status != exitFailure || !strings.Contains(out.String(), "the server is shutting down") {
		t.Errorf("nomen reload: status %d: %s", status, out.String())
	}
	if got := p.output(); strings.Contains(got, "configuration reloaded") || strings.Contains(got, `"to":"`) {
		t.Errorf("the configuration was reloaded: %s", got)
	}
	settings, err := api.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		if s.Key == "rate" && fmt.Sprint(s.Value) != "5" {
			t.Errorf("rate is %s", s.Value)
		}
	}
}
