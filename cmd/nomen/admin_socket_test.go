package main

import (
	"context"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// withData runs a command with a data directory.
func withData(t *testing.T, data string, args ...string) (out string, err error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"--data", data}, args...)...)
	cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// The admin API listens on a Unix socket that only its owner can use, and that other commands
// find. It still needs the token.
func TestAdminSocket(t *testing.T) {
	data := filepath.Join(t.TempDir(), "d")
	p, err := startServer(data, "--admin", "unix:admin.sock")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(data, adminSocket)
	info, err := os.Lstat(socket)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Fatalf("the socket has mode %v, want 0600: %v", info.Mode(), err)
	}
	if url, err := os.ReadFile(filepath.Join(data, urlFile)); string(url) != "unix:"+socket+"\n" || err != nil {
		t.Errorf("admin.url has %q, %v", url, err)
	}
	if out, err := withData(t, data, "put", "urn:x-test:a", "https://example.org/a"); err != nil {
		t.Errorf("put: %v: %s", err, out)
	}
	if out, err := withData(t, data, "resolve", "--explain", "urn:x-test:a"); err != nil || !strings.Contains(out, "https://example.org/a") {
		t.Errorf("resolve: %v: %s", err, out)
	}
	if out, err := withData(t, data, "health"); err != nil || !strings.Contains(out, "ready") {
		t.Errorf("health: %v: %s", err, out)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}}
	resp, err := client.Get("http://localhost/api/v1/version")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", resp.Status)
	}
	client.CloseIdleConnections()

	// The socket of a running server is not replaced.
	other, err := startServer(filepath.Join(t.TempDir(), "other"), "--admin", "unix:"+socket)
	if err == nil {
		_ = other.kill()
	}
	if err == nil || !strings.Contains(err.Error(), socket+": another server listens on this socket") {
		t.Errorf("a second server at the socket: %v", err)
	}
	// The socket of a killed server is replaced.
	_ = p.kill()
	if _, err := os.Lstat(socket); err != nil {
		t.Error(err)
	}
	p = start(t, data, "--admin", "unix:admin.sock")
	if out, err := withData(t, data, "put", "urn:x-test:c", "https://example.org/c"); err != nil {
		t.Errorf("after a restart: %v: %s", err, out)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	for _, file := range []string{adminSocket, urlFile} {
		if _, err := os.Lstat(filepath.Join(data, file)); !os.IsNotExist(err) {
			t.Errorf("a server that has stopped leaves %s: %v", file, err)
		}
	}
}

// openSocket replaces no other file, and says when a path is too long.
func TestOpenSocketRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(dir, strings.Repeat("a", maxSocketPath))
	for path, want := range map[string]string{
		file:                          file + ": the file exists and is not a socket",
		long:                          "the path of a Unix socket can have at most 107 bytes",
		filepath.Join(dir, "no", "s"): "no such file or directory",
	} {
		l, err := openSocket(path)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		var sockets []*adminSocketFile
		for optional, fails := range map[bool]bool{true: false, false: true} {
			s := &listenSpec{title: "--admin", address: socketScheme + path, admin: true, optional: optional}
			if all, err := s.open(nil, &sockets, slog.New(slog.DiscardHandler)); (err != nil) != fails || len(all) > 0 {
				t.Errorf("%s, optional %v: %v, %v", path, optional, all, err)
			}
		}
	}
	if text, err := os.ReadFile(file); string(text) != "text" || err != nil {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// Another server's socket at the same path stays.
func TestAdminSocketRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := openSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	second, err := openSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	first.remove()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the first server removed the socket of the second: %v", err)
	}
	second.remove()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestExposedListener(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:1": false, "[::1]:1": false, "0.0.0.0:1": true, "[::]:1": true, "192.0.2.1:1": true} {
		at, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&listenSpec{admin: true, tls: tlsOff}).isExposed(at); got != want {
			t.Errorf("%s: exposed %v, want %v", address, got, want)
		}
		if (&listenSpec{admin: true, tls: tlsFiles}).isExposed(at) || (&listenSpec{tls: tlsOff}).isExposed(at) {
			t.Errorf("%s: exposed with TLS, or although it is public", address)
		}
	}
}
