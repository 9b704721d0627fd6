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

// usualColumns is the assumed width of a terminal whose width is unknown. caretIndent precedes both
// lines of the output.
const (
	usualColumns = 80
	caretIndent  = "  "
)

// caretOn returns two lines that show where an input is invalid. The first line is the input, and
// the second line has a caret below the invalid character. Each line is preceded by a line break.
// The result is "" if err has no position, or if w is not a terminal.
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

// caret returns the lines of caretOn for a terminal with the given number of columns. It shortens
// the input if necessary. A wide character takes two columns, and a combining character takes none.
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

func oneLine(s string) string {
	return shown.Text(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s))
}

// window selects the characters that fit into the given number of columns. The result is a range of
// indexes, which includes the index place. About two thirds of the other columns are before this
// character.
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
