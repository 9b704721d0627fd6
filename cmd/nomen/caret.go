package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/uri"
)

// The number of columns of a terminal if it is unknown, and the indentation with which an input is
// shown.
const (
	usualColumns = 80
	caretIndent  = "  "
)

// caretOn shows where an input is invalid. If w is a terminal and err says where, caretOn returns
// two lines: the input, and a caret below the invalid character. There is a line break before each
// line. Otherwise caretOn returns "".
func caretOn(w io.Writer, err error) string {
	var bad uri.InputError
	if !isScreen(w) || !errors.As(err, &bad) {
		return ""
	}
	columns := usualColumns
	if width, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && width > 0 {
		columns = width
	}
	return caret(bad.Violation(), columns)
}

// caret is caretOn for a terminal with a number of columns. It shortens an input that
// is wider than the terminal. A character takes the columns that terminals give it: two
// if it is wide, and none if it combines with the character before.
func caret(v uri.Violation, columns int) string {
	if v.Input == "" || v.Offset < 0 || v.Offset > len(v.Input) {
		return ""
	}
	text, at := oneLine(v.Input), len(oneLine(v.Input[:v.Offset]))
	var widths []int // of the characters
	var chars []string
	place := -1 // the character above the caret
	for rest, n := text, 0; rest != ""; {
		var char string
		var width int
		char, rest, width, _ = uniseg.FirstGraphemeClusterInString(rest, -1)
		if n += len(char); place < 0 && at < n {
			place = len(chars)
		}
		chars, widths = append(chars, char), append(widths, width)
	}
	if place < 0 { // the error is at the end of the input
		place = len(chars)
	}
	from, to := window(widths, place, max(columns-len(caretIndent)-2*len("...")-1, 1))
	column := 0
	for _, width := range widths[from:place] {
		column += width
	}
	line := strings.Join(chars[from:to], "")
	if from > 0 {
		line, column = "..."+line, column+len("...")
	}
	if to < len(chars) {
		line += "..."
	}
	return "\n" + caretIndent + line + "\n" + caretIndent + strings.Repeat(" ", column) + "^"
}

// oneLine returns s without control characters of terminals. Line ends and tabs become
// spaces.
func oneLine(s string) string {
	return shown.Text(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s))
}

// window returns the range of characters to show if the whole input is wider than columns. The
// range contains the character at place. It has about twice as many characters before that
// character as after it.
func window(widths []int, place, columns int) (from, to int) {
	from, to = place, min(place+1, len(widths))
	used := 0
	if place < len(widths) {
		used = widths[place]
	}
	for grew := true; grew; {
		grew = false
		for range 2 {
			if from > 0 && used+widths[from-1] <= columns {
				from--
				used, grew = used+widths[from], true
			}
		}
		if to < len(widths) && used+widths[to] <= columns {
			used, grew = used+widths[to], true
			to++
		}
	}
	return from, to
}
