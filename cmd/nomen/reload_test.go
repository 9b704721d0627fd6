package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"weak"

	"github.com/nomen-project/nomen/adminapi"
)

// TestReloadUnderLoad: while requests arrive, on open and on new connections, the server reloads
// good and bad configurations. No request fails, and bad configurations are rejected with line
// and column.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	reloadUnderLoad(t, 12, 200)
}

// reloadUnderLoad reloads a configuration n times, every third time one with an error, under a
// load of about so many requests per second.
func reloadUnderLoad(t *testing.T, n, perSecond int) {
	dir := t.TempDir()
	data, config := filepath.Join(dir, "data"), filepath.Join(dir, "nomen.toml")
	set := func(text string) {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := func(i int) string {
		return fmt.Sprintf("rate = %d\npublic-url = \"http://h%d.example\"\nconnections = %d\n[[authority]]\nprefix = \"urn:x-site\"\nowners = [\"a\", \"b\"]\nmax_age = %d\n", 10+i, i, 500+i%3, i)
	}
	set(good(0))
	p := start(t, data, "--config", config, "--no-access-log")
	api := adminClient(t, data)
	if err := write(api, 0, 1); err != nil {
		t.Fatal(err)
	}
	l := newLoad(p.public, perSecond)
	for i := range n {
		if i%3 == 2 {
			set("rate = -1\n  hots = []\n")
			var rejected *adminapi.ReloadError
			_, err := api.Reload(t.Context())
			if !errors.As(err, &rejected) || len(rejected.Errors) != 2 ||
				rejected.Errors[0] != config+":1:8: rate -1: must be positive" && rejected.Errors[1] != config+":1:8: rate -1: must be positive" {
				t.Errorf("reload %d: got %v", i, err)
			}
		} else {
			set(good(i + 1))
			if out, err := api.Reload(t.Context()); err != nil || len(out.Changes) < 3 {
				t.Errorf("reload %d: got %+v, %v", i, out, err)
			}
		}
		time.Sleep(max(time.Second/100, 10*time.Second/time.Duration(max(perSecond, 100))))
	}
	sent, failed := l.end()
	t.Logf("%d reloads, %d requests, %d failed", n, sent, len(failed))
	if sent < int64(n) {
		t.Errorf("only %d requests", sent)
	}
	for _, err := range failed[:min(len(failed), 5)] {
		t.Error(err)
	}
}

// A load sends requests to a server.
type load struct {
	ended  atomic.Bool
	all    sync.WaitGroup
	sent   atomic.Int64
	mu     sync.Mutex
	failed []error
}

// newLoad sends about so many requests per second: three quarters on open connections of
// HTTP/1.1, the others on new connections in the protocol of 1995 and over HTTP.
func newLoad(public string, perSecond int) *load {
	const workers = 8
	l := &load{}
	for i := range workers {
		ask := l.kept(public)
		switch i {
		case 0:
			ask = func() error { return once(public, "GET urn:example:writer-0:1 HTTP/1.0\r\n\r\n") }
		case 1:
			ask = func() error {
				return once(public, "GET /urn:example:writer-0:1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
			}
		}
		l.all.Go(func() {
			for next := time.Now(); !l.ended.Load(); next = next.Add(time.Second * workers / time.Duration(perSecond)) {
				time.Sleep(time.Until(next))
				l.sent.Add(1)
				if err := ask(); err != nil {
					l.mu.Lock()
					l.failed = append(l.failed, err)
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

func (l *load) end() (sent int64, failed []error) {
	l.ended.Store(true)
	l.all.Wait()
	return l.sent.Load(), l.failed
}

// kept returns a function that asks on a connection that stays open.
func (l *load) kept(public string) func() error {
	var in *bufio.Reader
	var c net.Conn
	return func() error {
		if c == nil {
			var err error
			if c, err = net.Dial("tcp", public); err != nil {
				return err
			}
			in = bufio.NewReader(c)
		}
		c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(c, "GET /urn:example:writer-0:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if resp.StatusCode != http.StatusSeeOther {
			return fmt.Errorf("status %s", resp.Status)
		}
		return err
	}
}

// once sends a request on a new connection, and returns an error unless the answer is complete.
func once(public, request string) error {
	c, err := net.Dial("tcp", public)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		return err
	}
	if !strings.Contains(string(answer), "https://h.example/1") {
		return fmt.Errorf("incomplete answer %q", answer)
	}
	return nil
}

// TestHangup: SIGHUP reloads, and never ends a server: neither one with an invalid file, nor one
// that has just started.
func TestHangup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, config := filepath.Join(dir, "data"), filepath.Join(dir, "nomen.toml")
	if err := os.WriteFile(config, []byte("rate = 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, data, "--config", config)
	hangUp := func(text, want string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(15 * time.Second); !strings.Contains(p.output(), want); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the log does not have %q: %s", want, p.output())
			}
		}
	}
	hangUp("rate = 6\n", `"key":"rate","from":"5","to":"6"`)
	hangUp("rate = 0\n", config+":1:8: rate 0: must be positive")
	hangUp("rate = 7\n", `"key":"rate","from":"6","to":"7"`)
}

// TestCommandsAreCollected: the commands that a reload makes to read the configuration do not
// stay in memory.
func TestCommandsAreCollected(t *testing.T) {
	c := &cli{}
	c.root()
	kept := weak.Make(c)
	c = nil
	for range 5 {
		runtime.GC()
	}
	if kept.Value() != nil {
		t.Error("the commands are still in memory")
	}
}
