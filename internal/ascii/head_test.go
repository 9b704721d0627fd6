package ascii

import (
	"strings"
	"testing"
)

func TestHead(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc..."},
		{"a", 0, "..."},
		{"größe", 3, "gr..."}, // ö has two bytes
		{"größe", 4, "grö..."},
		{"größe", 7, "größe"},
		{"道道", 3, "道..."},
		{"道道", 4, "道..."},
		{"道道", 5, "道..."},
		{"𝄞𝄞", 7, "𝄞..."},
		{"𝄞𝄞", 3, "..."},
		{strings.Repeat("\x80", 9), 8, strings.Repeat("\x80", 5) + "..."}, // not UTF-8: at most a few bytes less than the limit
	} {
		if got := Head(tt.in, tt.n); got != tt.want {
			t.Errorf("Head(%q, %d): got %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}
