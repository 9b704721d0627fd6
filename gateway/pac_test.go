package gateway

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

func TestPACText(t *testing.T) {
	got := string(PAC("names.example:4500", false, []string{"Music.example.", "names.example", "", "b\"ad</script>", "\u00fc.example"}))
	for _, want := range []string{
		`var names = "PROXY names.example:4500", hosts = "PROXY names.example:4500; DIRECT", served = {"music.example":1};`,
		"function FindProxyForURL(url, host) {",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
	for _, c := range got {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			t.Errorf("a character %U", c)
		}
	}
	if got := string(PAC("[2001:db8::1]:443", true, nil)); !strings.Contains(got, `names = "HTTPS [2001:db8::1]:443"`) || !strings.Contains(got, "served = {};") {
		t.Errorf("got\n%s", got)
	}
}

// The file is run, as clients do.
func TestPACRuns(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		testrun.Missing(t, "node, for JavaScript,")
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
