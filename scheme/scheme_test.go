package scheme

import (
	"testing"

	"github.com/nomen-project/nomen/uri"
)

func TestRulesMakeOneSpelling(t *testing.T) { // U03-60
	for _, tt := range []struct{ in, want string }{
		{"HTTP://Example.COM:80", "http://example.com/"},
		{"http://example.com:/", "http://example.com/"},
		{"https://example.com:443/a", "https://example.com/a"},
		{"https://example.com:80/a", "https://example.com:80/a"},
		{"ftp://example.com:21", "ftp://example.com/"},
	} {
		if got := uri.MustParse(tt.in).Normalize(uri.LevelScheme, Rules()...).String(); got != tt.want {
			t.Errorf("Normalize(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
