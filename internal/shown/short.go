package shown

import (
	"strings"

	"golang.org/x/text/width"
)

// Columns returns the width of a line on a terminal or in a picture: 2 for each wide character of
// East Asian scripts, 1 for each other character.
func Columns(line string) (n int) {
	for _, r := range line {
		n += columns(r)
	}
	return n
}

func columns(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Short returns a text as [Inline] does, but at most the given number of columns of it. If the text
// is wider, Short returns its beginning and an ellipsis.
func Short(s string, most int) string {
	s = Inline(s)
	if Columns(s) <= most {
		return s
	}
	var b strings.Builder
	left := most - 1
	for _, r := range s {
		if left -= columns(r); left < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}
