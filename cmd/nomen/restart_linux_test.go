package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A service runs servers as systemd does: it holds the sockets, and passes them to each server.
type service struct {
	t        *testing.T
	data     string
	config   string
	sockets  []*os.File // passed on, in this order
	names    []string
	notify   *net.UnixConn // receives the reports of the servers
	env      []string
	cmd      *exec.Cmd
	messages strings.Builder
}

// newService returns a service with sockets for the web and for the protocol of 1995.
func newService(t *testing.T, config string) (s *service, addresses []string) {
	t.Helper()
	s = &service{t: t, data: filepath.Join(t.TempDir(), "data"), config: filepath.Join(t.TempDir(), "nomen.toml")}
	for _, name := range []string{"web", "old"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		s.sockets, s.names = append(s.sockets, f), append(s.names, name)
		addresses = append(addresses, l.Addr().String())
	}
	if err := os.WriteFile(s.config, []byte(strings.NewReplacer("WEB", addresses[0], "OLD", addresses[1]).Replace(config)), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "notify")
	var err error
	if s.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.notify.Close() })
	s.env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1", "NOTIFY_SOCKET="+socket)
	return s, addresses
}

// start starts a server, and returns when it has reported that it is ready.
func (s *service) start(args ...string) {
	s.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	line := append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`, exe, "serve", "--data", s.data, "--config", s.config}, args...)
	s.cmd = exec.Command("sh", line...)
	s.cmd.ExtraFiles = s.sockets
	s.cmd.Env = append(s.env, fmt.Sprintf("LISTEN_FDS=%d", len(s.sockets)), "LISTEN_FDNAMES="+strings.Join(s.names, ":"))
	s.cmd.Stderr = &s.messages
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.await("READY=1")
}

// await waits for a report that begins with a line, and returns it.
func (s *service) await(line string) string {
	s.t.Helper()
	_ = s.notify.SetReadDeadline(time.Now().Add(startTimeout))
	for buf := make([]byte, 4096); ; {
		n, err := s.notify.Read(buf)
		if err != nil {
			s.t.Fatalf("no report %s: %v; %s", line, err, s.messages.String())
		}
		if text := string(buf[:n]); strings.HasPrefix(text, line) {
			return text
		}
	}
}

// stop stops the server and returns how long it took.
func (s *service) stop() time.Duration {
	s.t.Helper()
	begin := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatalf("%v: %s", err, s.messages.String())
	}
	return time.Since(begin)
}

const restartConfig = `
admin = "off"

[[listen]]
address = "fd:web"
protocols = ["web"]

[[listen]]
address = "OLD"
protocols = ["1995"]
`

// exchange sends a request on a new connection, and returns all that comes back.
func exchange(address, request string) (string, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, request); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

// Restarts drop no request: while the server is restarted again and again, every request on a
// new connection gets its answer, at the web and in the protocol of 1995. The parent holds the
// sockets, as systemd does.
func testRestarts(t *testing.T, restarts, requests int) {
	s, addresses := newService(t, restartConfig)
	s.start("--demo", "--no-access-log")
	var restarted atomic.Bool // all restarts are done
	var answered atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			request, want := "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 303 See Other\r\n"
			if i%2 == 1 {
				request, want = "GET urn:ietf:rfc:2648 HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK\r\n"
			}
			for !restarted.Load() || answered.Load() < int64(requests) {
				got, err := exchange(addresses[i%2], request)
				if err != nil || !strings.HasPrefix(got, want) || !strings.Contains(got, "2648") {
					t.Errorf("%q: got %.100q, %v", request, got, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	slowest := time.Duration(0)
	for i := range restarts {
		for answered.Load() < int64(i*requests/restarts) && !t.Failed() { // spreads the requests
			time.Sleep(time.Millisecond)
		}
		slowest = max(slowest, s.stop())
		s.start("--no-access-log")
	}
	restarted.Store(true)
	wg.Wait()
	s.stop()
	t.Logf("%d requests were answered during %d restarts; the slowest stop took %v", answered.Load(), restarts, slowest)
}

func TestRestartUnderLoad(t *testing.T) { testRestarts(t, 3, 200) }

// A server reports its state to systemd, with signs of life, and says which of its sockets it
// does not use.
func TestService(t *testing.T) {
	s, addresses := newService(t, `
admin = "off"

[[listen]]
address = "fd:web"
`)
	s.env = append(s.env, "WATCHDOG_USEC=100000")
	s.start()
	for range 3 {
		s.await("WATCHDOG=1")
	}
	for _, request := range []string{"GET /-/readyz HTTP/1.0\r\n\r\n", "GET /-/readyz\r\n"} {
		if got, err := exchange(addresses[0], request); err != nil || !strings.HasSuffix(got, "ready\r\n") {
			t.Errorf("%q: got %q, %v", request, got, err)
		}
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if got := s.await("STOPPING=1"); !strings.Contains(got, "\nSTATUS=shutting down") {
		t.Errorf("reported %q", got)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if said := s.messages.String(); !strings.Contains(said, "an inherited socket is not used") || !strings.Contains(said, addresses[1]) {
		t.Errorf("no warning about %s: %s", addresses[1], said)
	}
}
