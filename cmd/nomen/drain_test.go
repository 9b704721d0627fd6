package main

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDrain checks that after SIGTERM the server says that it is closing, and keeps answering on
// both listeners for the time of --drain, so that a load balancer can use other servers before
// requests fail. A second signal ends the server at once.
func TestDrain(t *testing.T) {
	t.Parallel()                   // it waits for the time of --drain
	const drain = 10 * time.Second // in which the requests of the test are answered
	data := filepath.Join(t.TempDir(), "data")
	p, err := startServer(data, "--drain", drain.String())
	if err != nil {
		t.Fatal(err)
	}
	api := adminClient(t, data)
	if err := write(api, 0, 1); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path string) (status int, body string, closes bool) {
		t.Helper()
		resp, err := client.Get("http://" + p.public + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b), resp.Close
	}
	const name = "/urn:example:writer-0:1"
	if status, _, closes := get(name); status != http.StatusSeeOther || closes {
		t.Fatalf("before: status %d, closes %v", status, closes)
	}
	if status, _, _ := get("/-/readyz"); status != http.StatusOK {
		t.Fatalf("before: /-/readyz is %d", status)
	}
	asked := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for status := http.StatusOK; status == http.StatusOK && time.Since(asked) < drain/2; status, _, _ = get("/-/readyz") {
		time.Sleep(5 * time.Millisecond)
	}
	if status, body, _ := get("/-/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "closing") {
		t.Errorf("/-/readyz is %d %q, want 503 closing", status, body)
	}
	if status, _, _ := get("/-/healthz"); status != http.StatusOK {
		t.Errorf("/-/healthz is %d", status)
	}
	for range 2 { // on connections from before and new ones
		if status, _, closes := get(name); status != http.StatusSeeOther || !closes {
			t.Errorf("a name: status %d, closes %v; want 303 on a connection that ends", status, closes)
		}
	}
	if err := write(api, 0, 2); err != nil {
		t.Errorf("a change: %v", err)
	}
	if err := p.wait(); err != nil {
		t.Errorf("%v: %s", err, p.output())
	}
	if took := time.Since(asked); took < drain {
		t.Errorf("it ended after %v, want %v", took, drain)
	}
	if c, err := net.Dial("tcp", p.public); err == nil {
		c.Close()
		t.Error("the listener is still there")
	}

	if p, err = startServer(data, "--drain", "1h"); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if status, _, _ := get("/-/readyz"); status == http.StatusServiceUnavailable {
			break
		}
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.ended:
		if err == nil {
			t.Error("it ended as if it had drained")
		}
	case <-time.After(startTimeout):
		_ = p.cmd.Process.Kill()
		t.Error("it did not end at a second signal")
	}
}
