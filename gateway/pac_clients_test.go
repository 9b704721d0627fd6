//go:build clients

package gateway

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestClientPAC runs the file, as clients do.
func TestClientPAC(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	const names, hosts = "PROXY names.example:4500", "PROXY names.example:4500; DIRECT"
	asked := [][3]string{
		{"urn:dns:music.example:alb002", "", names},
		{"URN:ISBN:0451450523", "", names},
		{"web+urn:ietf:rfc:2648", "", names},
		{"http://music.example/alb002", "music.example", hosts},
		{"http://Music.Example./alb002", "Music.Example.", hosts},
		{"https://music.example/alb002", "music.example", "DIRECT"},
		{"http://sub.music.example/", "sub.music.example", "DIRECT"},
		{"http://names.example:4500/urn:ietf:rfc:1", "names.example", "DIRECT"},
		{"http://example.org/?q=urn:x", "example.org", "DIRECT"},
		{"http://constructor/", "constructor", "DIRECT"},
		{"ftp://music.example/x", "music.example", "DIRECT"},
	}
	b, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	program := string(PAC("names.example:4500", false, []string{"music.example", "names.example"})) +
		"\nconsole.log(JSON.stringify(" + string(b) + ".map(a => FindProxyForURL(a[0], a[1]))));\n"
	cmd := exec.CommandContext(t.Context(), node, "-")
	cmd.Stdin = strings.NewReader(program)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(asked) {
		t.Fatalf("got %q, %v", out, err)
	}
	for i, a := range asked {
		if got[i] != a[2] {
			t.Errorf("%s: got %q, want %q", a[0], got[i], a[2])
		}
	}
}
