//go:build clients

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestClientSquid asks a Squid for names. It asks their resolver by RFC 2169, for
// N2L as plain text, and sends the client where that leads.
func TestClientSquid(t *testing.T) {
	p := start(t, t.TempDir(), "--demo")
	host, port, err := net.SplitHostPort(p.public)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := free.Addr().String()
	free.Close()
	dir := t.TempDir()
	for d := dir; d != filepath.Dir(d) && d != os.TempDir(); d = filepath.Dir(d) {
		_ = os.Chmod(d, 0o755) // Squid gives up root
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "squid.conf")
	text := fmt.Sprintf(`http_port %s
http_access allow all
icp_port 0
cache deny all
cache_mem 8 MB
pid_filename none
pinger_enable off
access_log none
cache_log %s
coredump_dir %s
cache_peer %s parent %s 0 no-query no-digest originserver default
never_direct allow all
shutdown_lifetime 0 seconds
`, at, filepath.Join(dir, "log"), dir, host, port)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	squid := exec.CommandContext(t.Context(), "squid", "-N", "-f", config)
	if err := squid.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = squid.Process.Kill(); _ = squid.Wait() })
	for i := 0; ; i++ {
		c, err := net.Dial("tcp", at)
		if err == nil {
			c.Close()
			break
		}
		if i == 300 {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("Squid does not listen: %v\n%s", err, log)
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, tt := range []struct{ name, want string }{
		{"urn:ietf:rfc:2648", "\r\nLocation: https://www.rfc-editor.org/rfc/rfc2648.txt\r\n"},
		{"urn:ietf:rfc:99999", " 404 "},
	} {
		out, err := raw(at, "GET "+tt.name+" HTTP/1.0\r\n\r\n")
		if err != nil || !strings.Contains(out, tt.want) {
			t.Errorf("%s: %v\n%s\nwant %q", tt.name, err, out, tt.want)
		}
	}
}

// raw sends a request and returns all that comes back.
func raw(address, request string) (string, error) {
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Write([]byte(request)); err != nil {
		return "", err
	}
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String(), nil
		}
	}
}
