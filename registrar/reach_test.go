package registrar

import (
	"errors"
	"testing"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A prefix of a token must cover what it seems to: see also docs/decisions/0002.
func TestCheckReach(t *testing.T) {
	d := newDesk(t)
	for _, a := range []*store.Authority{
		{Prefix: name.MustParsePrefix("ark:12345")},
		{Prefix: name.MustParsePrefix("urn:nbn:fi")},
		{Prefix: name.MustParsePrefix("urn:nbn:fi:bib:x")},
		{Prefix: name.MustParsePrefix("urn:x-fold"), FoldCase: true},
	} {
		if _, err := d.PutAuthority(d.ctx, Operator(), a, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ prefix, instead string }{
		{"ark:12345", ""},
		{"ark", ""},
		{"ark:99999", ""},
		{"ark:12345/x0/", ""},
		{"ark:12345/x0.", ""},
		{"ark:12345/x0", "ark:12345"},
		{"ark:99999/x0", "ark:99999"},
		{"ark:12345/x0/y", "ark:12345/x0"},
		{"urn:nbn", ""},
		{"urn:nbn:se", ""},
		{"urn:nbn:fi", ""},
		{"urn:nbn:fi:bib:x", ""},
		{"urn:nbn:fi:bib", ""}, // above an authority
		{"urn:nbn:fi:ex", "urn:nbn:fi"},
		{"urn:nbn:fi:bi", "urn:nbn:fi"},
		{"urn:nbn:se:ex", "urn:nbn:se"},
		{"urn:nbn:fi:ex-", ""},
		{"urn:isbn", ""},
		{"urn:dns:other.example", ""},
		{"https://purl.example", ""},
		{"https://purl.example/", ""},
		{"https://purl.example/net", "https://purl.example"},
		{"https://purl.example/net/", ""},
		{"http://purl.example:8080/net", "http://purl.example:8080"},
		{"arxiv:math", ""},
		{"arxiv:math/0", "arxiv:math"},
		{"ftp://files.example", ""},
		{"ftp://files.example/pub", "ftp://files.example"},
		{"https://purl.example/net/a", "https://purl.example/net"},
		{"doi:10.1234", ""},
		{"doi:10.1234/a", "doi:10.1234"},
		{"urn:x-fold", ""},
		{"urn:x-fold:abc:", ""},
		{"urn:x-fold:ABC:", "urn:x-fold:abc:"},
		{"urn:x-fold:abc", "urn:x-fold"},
		{"nonsense", ""},
		{"", ""},
	} {
		token := &store.Token{ID: "T" + tt.prefix, Hash: [32]byte{1}, Role: "editor", Who: "w", Prefixes: []string{tt.prefix}}
		err := d.PutToken(d.ctx, Operator(), token, "")
		var reach *ReachError
		ok := errors.As(err, &reach)
		if ok != (tt.instead != "") || ok && (reach.Instead[0] != tt.instead || !is[*RefusalError](err)) {
			t.Errorf("%s: %v, want %q instead", tt.prefix, err, tt.instead)
		}
	}
	// Existing tokens are not affected.
	token := &store.Token{ID: "old", Hash: [32]byte{1}, Role: "editor", Who: "w", Prefixes: []string{"ark:12345/x0"}}
	if _, err := d.Registrar.store.Apply(d.ctx, []store.Change{{Token: token, Time: noon}}); err != nil {
		t.Fatal(err)
	}
	if err := d.RevokeToken(d.ctx, Operator(), "old", ""); err != nil {
		t.Errorf("revoking a token of before: %v", err)
	}
}
