//go:build clients

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestClients asks a server that serves the RFC names with programs that know
// nothing of nomen. `make test-clients` installs them.
func TestClients(t *testing.T) {
	p := start(t, t.TempDir(), "--demo")
	base := "http://" + p.public
	const text = "https://www.rfc-editor.org/"
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"curl", []string{"curl", "-sS", "-i", base + "/urn:ietf:rfc:2648"}, "\r\nLocation: " + text},
		{"curl, HTTP/1.0", []string{"curl", "-sS", "-i", "-0", base + "/urn:ietf:rfc:2648"}, "302 Found"},
		{"curl as 1995", []string{"curl", "-sS", "--request-target", "2648", "-0", base + "/"}, "=====;language=en\r\n" + text},
		{"curl through a proxy", []string{"curl", "-sS", "-i", "-x", base, base + "/urn:ietf:rfc:2648"}, "\r\nLocation: " + text},
		{"wget", []string{"wget", "-q", "-O", "-", "--header", "Accept: application/json", base + "/urn:ietf:rfc:2648?s=I2C"}, `"status":"active"`},
		{"lynx", []string{"lynx", "-dump", base + "/urn:ietf:rfc:2648?s=I2C"}, "A URN Namespace for IETF Documents"},
		{"python", []string{"python3", "-c", "import urllib.request as u; print(u.urlopen('" + base + "/urn:ietf:rfc:2648?s=I2C').read().decode())"}, "rfc2648"},
		{"chromium", []string{
			"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync",
			"--user-data-dir=" + t.TempDir(), "--dump-dom", base + "/urn:ietf:rfc:2648?s=I2C",
		}, "A URN Namespace for IETF Documents"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), tt.args[0], tt.args[1:]...).Output()
			if err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v: %v\n%s\nwant %q", tt.args, err, out, tt.want)
			}
		})
	}
}
