//go:build clients

package bulk

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// TestClientCaddy checks that Caddy redirects requests for names to their locations by an exported
// map, whatever characters these have.
func TestClientCaddy(t *testing.T) {
	urls := map[string]string{
		"urn:example:plain":      "https://h.example/plain",
		"urn:example:query":      "https://h.example/?a=1&b=$2;c#d",
		"urn:example:~star*":     "https://h.example/~star*",
		"urn:example:it's":       "https://h.example/it's%20%22",
		"ark:12345/x/y.z":        "https://h.example/" + strings.Repeat("long", 500),
		"urn:example:re(a)+b$":   "https://h.example/(a)+$",
		"urn:example:default":    "https://h.example/default",
		"urn:example:A":          "https://h.example/A",
		"urn:example:a":          "https://h.example/a",
		"urn:example:not-there":  "",
		"urn:example:plain/more": "",
	}
	var records []*store.Record
	for key, url := range urls {
		if url != "" {
			records = append(records, &store.Record{Name: name.FromKey(key), Status: nomen.Active, Locations: []nomen.Location{{URL: url}}})
		}
	}
	records = append(records, &store.Record{Name: name.FromKey("urn:example:x"), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://h.example/{$HOME}"}}})
	text, sum, refused := exported(t, put(t, records), ExportOptions{Format: CaddyMap})
	if sum.Refused != 1 || len(refused) != 1 || refused[0].Name != "urn:example:x" {
		t.Errorf("%+v, refused %v", sum, refused)
	}
	address := startCaddy(t, text)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for key, want := range urls {
		resp, err := client.Get("http://" + address + "/" + key)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("Location"); got != want || (resp.StatusCode == http.StatusSeeOther) != (want != "") {
			t.Errorf("%s: %d %s, want %s", key, resp.StatusCode, got, want)
		}
	}
}

// startCaddy starts Caddy with a map, and returns its address.
func startCaddy(t *testing.T, text string) string {
	t.Helper()
	program, err := exec.LookPath("caddy")
	if err != nil {
		testrun.Missing(t, "Caddy")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	config := filepath.Join(dir, "Caddyfile")
	site := fmt.Sprintf("{\n\tadmin off\n\tauto_https off\n}\nhttp://%s {\n\timport names.caddy\n}\n", address)
	for file, content := range map[string]string{config: site, filepath.Join(dir, "names.caddy"): text} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "run", "--config", config, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 200 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	t.Fatalf("Caddy does not listen: %s", log.String())
	return ""
}
