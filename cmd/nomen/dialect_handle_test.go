package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The steps of docs/howto/from-handle.md, on loopback instead of TLS.
func TestHandleGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/howto/from-handle.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	run := func(command string) string {
		t.Helper()
		if !strings.Contains(string(guide), command+"\n") {
			t.Errorf("the guide does not have %q", command)
		}
		cmd := exec.Command(os.Args[0], strings.Fields(command)[1:]...)
		cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1", "NOMEN_DATA="+data)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		return string(out)
	}
	run("nomen authority put hdl:20.500.9999 --owner archive --owner library --fold-case")
	id, _, _ := strings.Cut(run("nomen token make --who scripts --role editor --prefix hdl:20.500.9999"), ".")
	run("nomen put hdl:20.500.9999/ADMIN https://example.org/")
	_, config, _ := strings.Cut(string(guide), "```toml\n")
	config, _, _ = strings.Cut(config, "```")
	config = strings.NewReplacer("7QK2M5VX3ZJ4T6WB", strings.TrimSpace(id), "/etc/nomen/handle.secret", filepath.Join(dir, "secret"),
		"address = 443\ntls = \"files\"\ncert = \"/etc/ssl/names.pem\"\nkey = \"/etc/ssl/private/names.key\"", `address = "127.0.0.1:0"`).Replace(config)
	for file, text := range map[string]string{"secret": "correct horse\n", "nomen.toml": config} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := startCommand(os.Args[0], "serve", "--data", data, "--admin", "127.0.0.1:0", "--config", filepath.Join(dir, "nomen.toml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.kill() })
	get := func(method, path, body, want string, status int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.public+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body != "" {
			r.SetBasicAuth("300%3A20.500.9999%2FADMIN", "correct horse")
			r.Header.Set("Content-Type", "application/json")
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status || !strings.Contains(string(text), want) {
			t.Errorf("%s %s: got %d %s (%v), want %d with %q", method, path, resp.StatusCode, text, err, status, want)
		}
	}
	const first = "/api/handles/20.500.9999/first"
	get("GET", "/api/handles/20.500.9999/ADMIN", "", `"responseCode":1`, 200)
	get("PUT", first+"?overwrite=false", `[{"index":1,"type":"URL","data":"https://example.org/1"}]`, `{"responseCode":1,"handle":"20.500.9999/first"}`, 201)
	get("GET", "/api/handles/20.500.9999/FIRST", "", "https://example.org/1", 200)
	get("GET", "/20.500.9999/first", "", `<a href="https://example.org/1">`, 302)
	if err := p.kill(); err != nil {
		t.Logf("stopped: %v", err)
	}
}
