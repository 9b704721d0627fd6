package gateway

import (
	"strings"
	"testing"
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
