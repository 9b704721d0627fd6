//go:build attack || soak

package attacks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds how long a server may take to start or to stop.
const patience = 30 * time.Second

// program is the path of the binary under test.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nomen-attacks")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "nomen")
	build := exec.Command("go", "build", "-o", program, "../../cmd/nomen")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.RemoveAll(dir)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// A server is a running `nomen serve`.
type server struct {
	public, admin string // host:port
	gopher        string // host:port; empty if the server has no Gopher listener
	data          string // data directory
	cmd           *exec.Cmd
	ended         chan error

	mu  sync.Mutex
	log strings.Builder
}

// options say how a server is started. The zero value is a server with a data
// directory of its own on free ports of loopback.
type options struct {
	data   string   // data directory; a new one if empty
	files  int      // how many files it may have open (ulimit -n); 0 leaves the limit as it is
	listen string   // address of the public listener; 127.0.0.1:0 if empty
	site   string   // configuration file with the public listeners, instead of listen
	args   []string // further flags of serve
	env    []string // further environment
}

// start starts a server with flags, waits until it listens, and stops it when the
// test ends.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	return startWith(t, options{args: args})
}

// startWith is like start, with more options.
func startWith(t *testing.T, o options) *server {
	t.Helper()
	if o.data == "" {
		o.data = filepath.Join(t.TempDir(), "data")
	}
	if o.listen == "" {
		o.listen = "127.0.0.1:0"
	}
	listeners := []string{"--listen", o.listen}
	if o.site != "" {
		listeners = []string{"--config", o.site}
	}
	args := slices.Concat([]string{"serve", "--data", o.data, "--admin", "127.0.0.1:0", "--no-access-log"}, listeners, o.args)
	cmd := exec.Command(program, args...)
	if o.files > 0 {
		cmd = exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, o.files), program}, args...)...)
	}
	cmd.Env = append(environment(), o.env...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{data: o.data, cmd: cmd, ended: make(chan error, 1)}
	ready := make(chan struct{})
	go s.watch(stderr, ready)
	t.Cleanup(func() {
		if err := s.stop(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	select {
	case <-ready:
		return s
	case err := <-s.ended:
		s.ended <- err
	case <-time.After(patience):
	}
	t.Fatalf("the server did not start: %s", s.output())
	return nil
}

// environment returns the environment of the tests without the settings of nomen.
func environment() []string {
	var all []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "NOMEN_") {
			all = append(all, e)
		}
	}
	return all
}

var listening = regexp.MustCompile(`(public|admin|gopher) listener at ([^\s"]+)`)

// watch records the log, and closes the channel ready when both listeners are open.
func (s *server) watch(stderr io.Reader, ready chan<- struct{}) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		s.mu.Lock()
		s.log.WriteString(lines.Text() + "\n")
		was := s.public != "" && s.admin != ""
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			*map[string]*string{"public": &s.public, "admin": &s.admin, "gopher": &s.gopher}[m[1]] = m[2]
		}
		if !was && s.public != "" && s.admin != "" {
			close(ready)
		}
		s.mu.Unlock()
	}
	s.ended <- s.cmd.Wait()
}

// output returns the log so far.
func (s *server) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// stop ends the server as an operator does. It returns an error if the server does not end
// successfully.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.ended:
		s.ended <- err
		if err != nil {
			return fmt.Errorf("%w: %s", err, s.output())
		}
		return nil
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		return errors.New("the server did not stop")
	}
}

// descriptors returns how many files and sockets the server has open.
func (s *server) descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// nomen runs a command on the data directory of the server, which must succeed, and
// returns its standard output.
func (s *server) nomen(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(append(args, "--data", s.data)...)
	if err != nil {
		t.Fatalf("nomen %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// run runs a command. An error includes the standard error of the command.
func run(args ...string) (stdout string, err error) {
	cmd := exec.Command(program, args...)
	cmd.Env = environment()
	var out, told strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %s", err, told.String())
	}
	return out.String(), nil
}

// get sends a request to the public listener from a local address ("" for any). It returns the
// status and the time until the response, and does not follow redirects.
func (s *server) get(from, target string) (status int, took time.Duration, err error) {
	began := time.Now()
	c := clientFrom(from)
	defer c.CloseIdleConnections()
	resp, err := c.Get("http://" + s.public + target)
	if err != nil {
		return 0, time.Since(began), err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, time.Since(began), err
}

// clientFrom returns a client whose connections come from a local address, such as
// 127.0.0.2; "" for any.
func clientFrom(from string) *http.Client {
	return &http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{DialContext: dialerFrom(from).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func dialerFrom(from string) *net.Dialer {
	d := &net.Dialer{Timeout: patience}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	return d
}

// dial opens a connection from a local address ("" for any). It is closed when the
// test ends.
func dial(t *testing.T, from, address string) net.Conn {
	t.Helper()
	c, err := dialerFrom(from).Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// waits returns how long each thread of the server has waited for a processor so far, by its ID.
func (s *server) waits() map[string]time.Duration {
	all := map[string]time.Duration{}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.cmd.Process.Pid))
	for _, file := range files {
		b, _ := os.ReadFile(file) // the thread may have ended
		var ran, waited int64
		if n, _ := fmt.Sscan(string(b), &ran, &waited); n == 2 {
			all[file] = time.Duration(waited)
		}
	}
	return all
}

// timed performs a request and returns how long it took, without the time for which the server had
// to wait for a processor because other processes used it. That time is the longest wait of any
// thread of the server.
func (s *server) timed(request func() error) (took, waited time.Duration, err error) {
	before, began := s.waits(), time.Now()
	err = request()
	took = time.Since(began)
	for thread, total := range s.waits() {
		waited = max(waited, total-before[thread])
	}
	waited = min(waited, took)
	return took - waited, waited, err
}

// answers sends a request from a local address every tenth of a second, until stop is called. It
// reports the first request that does not get the wanted status within the given time.
func (s *server) answers(t *testing.T, from, target string, want int, within time.Duration) (stop func()) {
	t.Helper()
	done, ended := make(chan struct{}), make(chan struct{})
	count, slowest := 0, time.Duration(0)
	go func() {
		defer close(ended)
		for {
			var status int
			took, waited, err := s.timed(func() (err error) {
				status, _, err = s.get(from, target)
				return err
			})
			count++
			slowest = max(slowest, took)
			if err != nil || status != want || took > within {
				t.Errorf("another client: status %d after %v, and %v for which the server waited for a processor, %v; want %d within %v", status, took, waited, err, want, within)
				return
			}
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() {
		t.Helper()
		close(done)
		<-ended
		t.Logf("another client asked %d times; the slowest answer took %v", count, slowest.Round(time.Millisecond))
	}
}
