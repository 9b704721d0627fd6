package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

func TestCaret(t *testing.T) {
	for _, tt := range []struct {
		input   string
		offset  int
		columns int
		want    string // the lines without indentation
	}{
		{"http://a/b c", 10, 80, "http://a/b c\n          ^"},
		{"a", 0, 80, "a\n^"},
		{"urn:", 4, 80, "urn:\n    ^"},                          // the end
		{"日本 x", 6, 80, "日本 x\n    ^"},                          // wide characters have two columns
		{"e\u0301 x", 3, 80, "e\u0301 x\n ^"},                   // a combining character has none
		{"ae\u0301x", 2, 80, "ae\u0301x\n ^"},                   // the invalid one combines: the caret is below the whole
		{"👩‍👩‍👧 x", 18, 80, "👩‍👩‍👧 x\n  ^"},                     // a family is one character
		{"é x", 2, 80, "é x\n ^"},                               // two bytes, one column
		{"a\nb c", 3, 80, "a b c\n   ^"},                        // one line
		{"a\x1b[2Jb c", 6, 80, shownEscape + "\n" + shownCaret}, // control characters are escaped
		{"\xff x", 1, 80, "\ufffd x\n ^"},                       // not UTF-8
		{strings.Repeat("a", 30) + " " + strings.Repeat("b", 30), 30, 29, "..." + strings.Repeat("a", 13) + " " + strings.Repeat("b", 6) + "...\n" + strings.Repeat(" ", 16) + "^"},
		{strings.Repeat("日", 30) + " x", 90, 19, "..." + strings.Repeat("日", 4) + " x\n" + strings.Repeat(" ", 11) + "^"},
		{"abc", 1, 1, "...b...\n   ^"},
		{"", 0, 80, ""},
		{"a", 2, 80, ""},
		{"a", -1, 80, ""},
	} {
		got := strings.ReplaceAll(caret(uri.Violation{Input: tt.input, Offset: tt.offset}, tt.columns), "\n"+caretIndent, "\n")
		if got = strings.TrimPrefix(got, "\n"); got != tt.want {
			t.Errorf("caret(%q, %d), %d columns:\n%s\nwant\n%s", tt.input, tt.offset, tt.columns, got, tt.want)
		}
	}
}

const (
	shownEscape = "a[U+001B][2Jb c"
	shownCaret  = "             ^"
)

// Files, pipes and buffers get the offset alone.
func TestCaretOnlyOnTerminals(t *testing.T) {
	_, bad := uri.Parse("http://a/b c")
	file, err := os.Create(t.TempDir() + "/stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, got := range []string{caretOn(file, bad), caretOn(new(bytes.Buffer), bad), caretOn(file, errors.New("x"))} {
		if got != "" {
			t.Errorf("got %q, want nothing", got)
		}
	}
}
