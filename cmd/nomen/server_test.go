package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A process is a running `nomen serve`.
type process struct {
	public, admin string // host:port
	cmd           *exec.Cmd
	ended         chan error

	mu  sync.Mutex
	log strings.Builder
}

// startTimeout bounds how long a server may take to listen.
const startTimeout = 30 * time.Second

var listening = regexp.MustCompile(`(public|admin) listener at ([^\s"]+)`)

// startServer starts the program of this test binary as a server on free ports
// of loopback and returns when it listens.
func startServer(data string, args ...string) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return startProgram(exe, data, args...)
}

// startProgram does what startServer does with another program.
func startProgram(exe, data string, args ...string) (*process, error) {
	return startCommand(exe, append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
}

// startCommand starts a program as a server, and returns when it has a public and an admin listener.
func startCommand(exe string, args ...string) (*process, error) {
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan error, 1)}
	ready := make(chan struct{})
	go p.watch(stderr, ready)
	select {
	case <-ready:
		return p, nil
	case <-time.After(startTimeout):
		_ = p.kill()
	case err := <-p.ended:
		p.ended <- err
	}
	return nil, fmt.Errorf("the server did not start: %s", p.output())
}

// watch keeps the output of the server, and closes ready when both listeners are open.
func (p *process) watch(stderr io.Reader, ready chan<- struct{}) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		was := p.public != "" && p.admin != ""
		if m := listening.FindStringSubmatch(lines.Text()); m != nil && m[1] == "public" {
			p.public = m[2]
		} else if m != nil {
			p.admin = m[2]
		}
		if !was && p.public != "" && p.admin != "" {
			close(ready)
		}
		p.mu.Unlock()
	}
	p.ended <- p.cmd.Wait()
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// kill ends the server without warning.
func (p *process) kill() error {
	_ = p.cmd.Process.Kill()
	return p.wait()
}

// stop ends the server as an operator does, and returns an error if the server ends with a failure.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.wait(); err != nil {
		return fmt.Errorf("%w: %s", err, p.output())
	}
	return nil
}

func (p *process) wait() error {
	select {
	case err := <-p.ended:
		p.ended <- err
		return err
	case <-time.After(startTimeout):
		_ = p.cmd.Process.Kill()
		return errors.New("the server did not end")
	}
}

// start starts a server that ends with the test.
func start(t *testing.T, data string, args ...string) *process {
	t.Helper()
	p, err := startServer(data, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return p
}
