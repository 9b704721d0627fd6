package format

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

func TestNamePath(t *testing.T) {
	for _, tt := range []struct{ key, want string }{
		{"urn:ietf:rfc:2648", "/urn:ietf:rfc:2648"},
		{"urn:dns:example.org:a%2Fb//c", "/urn:dns:example.org:a%2Fb//c"},
		{"urn:dns:example.org:..", "/urn:dns:example.org:.."},
		{"urn:dns:example.org:a/.b/c..", "/urn:dns:example.org:a/.b/c.."},
		{"urn:dns:example.org:a/../b", "/urn%3Adns%3Aexample.org%3Aa%2F..%2Fb"},
		{"urn:dns:example.org:a/.", "/urn%3Adns%3Aexample.org%3Aa%2F."},
		{"urn:example:a/%2E./b", "/urn%3Aexample%3Aa%2F%252E.%2Fb"},
		{"../a", "/..%2Fa"},
		{"%2e/a", "/%252e%2Fa"},
		{"urn:example:a#b/c", "/urn%3Aexample%3Aa%23b%2Fc"},
		{"urn:example:a/%2E%2e", "/urn%3Aexample%3Aa%2F%252E%252e"},
		{"urn:example:a/..b/%2Ea/...", "/urn:example:a/..b/%2Ea/..."},
		{"urn:example:a/%2E%2E%2E", "/urn:example:a/%2E%2E%2E"},
		{"https://purl.example/net/x?q=1", "/https%3A%2F%2Fpurl.example%2Fnet%2Fx%3Fq=1"},
	} {
		if got := NamePath(tt.key); got != tt.want {
			t.Errorf("NamePath(%q) = %q, want %q", tt.key, got, tt.want)
		}
	}
}

func BenchmarkNamePath(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		NamePath("urn:dns:amd64.example.org:usr/share/doc/abc/examples/kernel/39438.html")
	}
}

// A browser would resolve "/urn:dns:example.org:a/../b" to "/b".
func TestPageLeadsToNamesWithDotSegments(t *testing.T) {
	var b strings.Builder
	n := name.MustParse("urn:dns:example.org:a/../b")
	if err := writeHTML(&b, &nomen.Answer{Service: nomen.I2C, Name: n, Status: nomen.Active}, Page{}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, `<link rel="cite-as" href="/urn%3Adns%3Aexample.org%3Aa%2F..%2Fb">`) {
		t.Errorf("got %s", got)
	}
}

func TestInert(t *testing.T) {
	for _, rel := range []string{"item", "describedby", "archive", "license"} {
		if !Inert(rel) {
			t.Errorf("Inert(%q) = false", rel)
		}
	}
	for _, rel := range []string{"", "stylesheet", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "icon", "manifest", "next", "item stylesheet", "preload https://example.org/rel"} {
		if Inert(rel) {
			t.Errorf("Inert(%q) = true", rel)
		}
	}
}
