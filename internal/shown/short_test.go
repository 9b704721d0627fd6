package shown_test

import (
	"testing"

	"github.com/nomen-project/nomen/internal/shown"
)

func TestShort(t *testing.T) {
	for _, tt := range []struct {
		in   string
		most int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöüß", 3, "äö…"},
		{"漢字", 4, "漢字"},
		{"漢字", 3, "漢…"},
		{"a漢字", 3, "a…"},
		{"ｗｉｄｅ", 5, "ｗｉ…"},
		{"a\nb", 3, "a b"},
		{"a\u202eb", 10, "a[U+202E]b"},
		{"a\u202eb", 5, "a[U+…"},
		{"\xff\xff", 2, "\ufffd"},
	} {
		got := shown.Short(tt.in, tt.most)
		if got != tt.want || shown.Columns(got) > tt.most {
			t.Errorf("Short(%q, %d) = %q (%d columns), want %q", tt.in, tt.most, got, shown.Columns(got), tt.want)
		}
	}
	if got, want := shown.Columns("a漢ｗé"), 6; got != want {
		t.Errorf("Columns = %d, want %d", got, want)
	}
}
