package bulk

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func TestCanonicalPrefix(t *testing.T) {
	for _, tt := range [][2]string{
		{"", ""},
		{"URN", "urn"},
		{"URN:", "urn:"},
		{"URN:ISBN", "urn:isbn"},
		{"URN:ISBN:978316", "urn:isbn:978316"},
		{"urn:NBN:FI", "urn:nbn:fi"},
		{"urn:NBN:FI:", "urn:nbn:fi:"},
		{"URN:IETF:RFC:26", "urn:ietf:rfc:26"},
		{"URN:DNS:Example.ORG:Alb", "urn:dns:example.org:Alb"},
		{"URN:Example:a/B", "urn:example:a/B"},
		{"DOI:10.1000/AB", "doi:10.1000/ab"},
		{"doi:", "doi:"},
		{"HTTPS://Example.ORG/A", "https://example.org/A"},
		{"urn:isbn:978-3-16-148410-0", "urn:isbn:9783161484100"},
		{"\x00", "\x00"},
	} {
		if got := canonicalPrefix(tt[0]); got != tt[1] {
			t.Errorf("%q: got %q, want %q", tt[0], got, tt[1])
		}
	}
}

// The prefix of an export can have any spelling, as a name can.
func TestExportPrefix(t *testing.T) {
	b := newBench(t)
	for prefix, fold := range map[string]bool{"urn:dns:example.org": true, "urn:dns:example.org:kept": false} {
		a := &store.Authority{Prefix: name.MustParsePrefix(prefix), Owners: []string{"a", "b"}, FoldCase: fold}
		if _, err := b.reg.PutAuthority(context.Background(), registrar.Operator(), a, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	b.good(`{"name":"urn:dns:example.org:Album"}
{"name":"urn:dns:example.org:kept:Album"}
{"name":"urn:dns:example.net:Album"}
{"name":"urn:isbn:978-3-16-148410-0"}
`, ImportOptions{})
	for prefix, want := range map[string]string{
		"URN:DNS:EXAMPLE.ORG:ALB":      "urn:dns:example.org:Album",
		"urn:dns:example.org:kept:Alb": "urn:dns:example.org:kept:Album",
		"urn:dns:example.org:kept:alb": "",
		"urn:dns:Example.net:Alb":      "urn:dns:example.net:Album",
		"urn:dns:example.net:alb":      "",
		"URN:ISBN:":                    "urn:isbn:978-3-16-148410-0",
		"urn:isbn:97831":               "urn:isbn:978-3-16-148410-0",
	} {
		var out bytes.Buffer
		if _, err := Export(context.Background(), b.store, &out, ExportOptions{Prefix: prefix}); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(out.String(), `{"name":"`)
		got, _, _ := strings.Cut(rest, `"`)
		if got != want || strings.Count(out.String(), "\n") > 1 {
			t.Errorf("%s: got %q, want %q alone", prefix, out.String(), want)
		}
	}
}
