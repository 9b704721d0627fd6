package shown

import (
	"strings"

	"golang.org/x/text/width"
)

// Columns returns the width of a line in columns. Wide characters of East Asian scripts take 2
// columns, and all other characters take 1 column.
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

// Short converts a text as [Inline] does. If the result has too many columns, Short shortens it and
// adds an ellipsis.
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
