package nomen_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// Every parser returns an error that says in the same way where and why its input is
// invalid.
func TestInputErrors(t *testing.T) {
	second := func(_ any, err error) error { return err }
	parse := func(d uri.Dialect, s string) error { _, err := d.Parse(s); return err }
	for _, tt := range []struct {
		name   string
		err    error
		input  string // "" if the error does not have it
		offset int
		rule   string
	}{
		{"uri", parse(uri.RFC3986, "http://a/b c"), "http://a/b c", 10, "pchar"},
		{"uri, 1993", parse(uri.Draft1993, "http://a/b c"), "http://a/b c", 10, "path"},
		{"iri", second(iri.Parse("http://a/é b")), "http://a/é b", 11, "ipchar"},
		{"urn", second(urn.Parse("urn:f:x")), "urn:f:x", 4, "NID"},
		{"name", second(name.Parse("urn:f:x")), "urn:f:x", 4, "NID"},
		{"name of a URI", second(name.Parse("http://a/b c")), "http://a/b c", 10, "pchar"},
		{"name in brackets", second(name.Parse("<URL:http://a/b%zz>")), "<URL:http://a/b%zz>", 15, "pct-encoded"},
		{"prefix", second(name.ParsePrefix("urn:f:")), "urn:f:", 4, "NID"},
		{"namespace", &namespace.Check(urn.MustParse("urn:issn:1234-5678"))[0], "", 17, "ISSN check digit (modulo 11)"},
		{"scheme", scheme.FirstError(extra.Catalogue().Check(uri.MustParse("magnet:x?xt=urn:sha1:x"))), "", 7, "magnet"},
		{"rule", second(rule.ParseLink("https://a/{x")), "https://a/{x", 10, "expression"},
		{"mint", second(mint.Parse(name.MustParsePrefix("ark:12345/"), "{x")), "{x", 2, "part"},
		{"discover", second(discover.ParseSubstitution("!a!b")), "!a!b", 4, "subst-expr"},
		{"nomen", &nomen.Error{Kind: nomen.Malformed, Name: "urn:f:x", Offset: 4, Rule: "NID"}, "urn:f:x", 4, "NID"},
		{"nomen, not about the text", &nomen.Error{Kind: nomen.Unknown, Name: "urn:example:x"}, "", 0, ""},
	} {
		var bad uri.InputError
		if !errors.As(tt.err, &bad) {
			t.Errorf("%s: got %T (%v), want a uri.InputError", tt.name, tt.err, tt.err)
			continue
		}
		v := bad.Violation()
		if v.Input != tt.input || v.Offset != tt.offset || !strings.Contains(v.Rule, tt.rule) {
			t.Errorf("%s: got %+v, want %q, offset %d, %s", tt.name, v, tt.input, tt.offset, tt.rule)
		}
		if !strings.Contains(tt.err.Error(), v.Message) {
			t.Errorf("%s: %v does not contain %q", tt.name, tt.err, v.Message)
		}
	}
}
