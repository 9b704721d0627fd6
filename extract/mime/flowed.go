package mime

import (
	"bytes"

	"github.com/nomen-project/nomen/extract/internal/source"
)

// A joined is a feed that joins lines of its source.
type joined struct {
	src source.Window
	out source.MappedFeed
}

// Next returns the next piece. It calls line to append a line of src to out. The function line
// returns false if no line is left.
func (f *joined) Next(line func() bool) (source.Piece, bool) {
	for {
		if p, ok := f.out.Next(); ok {
			return p, true
		}
		f.out.Reset()
		if !line() {
			return source.Piece{}, false
		}
	}
}

// A flowedFeed joins the lines of flowed text (RFC 3676). A line that ends in a space continues on
// the next line, if the next line has the same quote depth.
type flowedFeed struct {
	joined
	deleteEnd bool // remove the space at the end of a line that continues (DelSp)
	soft      bool // the previous line continues
	depth     int  // quote depth of the previous line
}

func (f *flowedFeed) Next() (source.Piece, bool) { return f.joined.Next(f.line) }

const maxFlowed = 64 << 10 // octets that are joined to one line

func (f *flowedFeed) line() bool {
	n := f.src.Line(maxFlowed)
	if n == 0 {
		return false
	}
	f.flow(f.src.Text[:n])
	f.src.Drop(n)
	return true
}

// A foldedFeed unfolds the lines of calendars and address cards. A line that begins with white
// space continues the previous line, even in the middle of a word (RFC 5545, section 3.1; RFC 6350,
// section 3.2).
type foldedFeed struct {
	joined
	skip int // octets of white space to skip at the start of the line
}

// Unfold returns a feed of the text with its folded lines joined.
func Unfold(f source.Feed) source.Feed {
	return &foldedFeed{joined: joined{src: source.Window{Feed: f}}}
}

func (f *foldedFeed) Next() (source.Piece, bool) { return f.joined.Next(f.line) }

func (f *foldedFeed) line() bool {
	n := f.src.Line(maxFlowed)
	if n == 0 {
		return false
	}
	end, skip := n, 0
	if f.src.Text[n-1] == '\n' && (len(f.src.Text) > n || f.src.Fill()) && (f.src.Text[n] == ' ' || f.src.Text[n] == '\t') {
		end, skip = len(bytes.TrimRight(f.src.Text[:n], "\r\n")), 1
	}
	f.src.Pieces(&f.out.Mapped, min(f.skip, end), end)
	f.src.Drop(n)
	f.skip = skip
	return true
}

func (f *flowedFeed) flow(line []byte) {
	depth := 0
	for depth < len(line) && line[depth] == '>' {
		depth++
	}
	i := depth
	if i < len(line) && line[i] == ' ' {
		i++ // space-stuffing
	}
	content := len(bytes.TrimRight(line, "\r\n"))
	if !f.soft || depth != f.depth {
		if f.soft {
			at, _ := f.src.First()
			f.out.Add(source.Unit([]byte{'\n'}, at, at))
		}
		f.src.Pieces(&f.out.Mapped, 0, i)
	}
	signature := string(line[min(i, content):content]) == "-- "
	f.depth, f.soft = depth, content > i && line[content-1] == ' ' && !signature && content < len(line)
	switch {
	case f.soft && f.deleteEnd:
		f.src.Pieces(&f.out.Mapped, i, content-1)
	case f.soft:
		f.src.Pieces(&f.out.Mapped, i, content)
	default:
		f.src.Pieces(&f.out.Mapped, i, len(line))
	}
}
