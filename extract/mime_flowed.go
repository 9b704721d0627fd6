package extract

import "bytes"

// A joined returns joined lines, one at a time.
type joined struct {
	src window
	out mappedFeed
}

// next returns the next piece. line reads a line of src into out, if there is
// one.
func (f *joined) next(line func() bool) (piece, bool) {
	for {
		if p, ok := f.out.next(); ok {
			return p, true
		}
		f.out.reset()
		if !line() {
			return piece{}, false
		}
	}
}

// A flowedFeed joins the lines of flowed text (RFC 3676): a line that ends in a
// space continues on the next line with the same quote depth.
type flowedFeed struct {
	joined
	deleteEnd bool // whether the trailing space of such a line is removed (DelSp)
	soft      bool // whether the last line continues
	depth     int  // quote depth of the last line
}

func (f *flowedFeed) next() (piece, bool) { return f.joined.next(f.line) }

// line reads a line.
func (f *flowedFeed) line() bool {
	n := f.src.line()
	if n == 0 {
		return false
	}
	f.flow(f.src.text[:n])
	f.src.drop(n)
	return true
}

const maxFlowed = 64 << 10

// line returns the length of the first line including its line break, maxFlowed
// octets or more if it is too long to be flowed, 0 at the end.
func (w *window) line() int {
	for from := 0; from < maxFlowed; {
		if i := bytes.IndexByte(w.text[from:], '\n'); i >= 0 {
			return from + i + 1
		}
		if from = len(w.text); !w.fill() {
			break
		}
	}
	return len(w.text)
}

// A foldedFeed unfolds the lines of calendars and address cards: a line that
// begins with white space continues the previous one, even within a word (RFC
// 5545, 3.1; RFC 6350, 3.2).
type foldedFeed struct {
	joined
	skip int // octets of white space at the beginning of the line
}

// unfold returns a feed without the folds of a text.
func unfold(f feed) feed { return &foldedFeed{joined: joined{src: window{feed: f}}} }

func (f *foldedFeed) next() (piece, bool) { return f.joined.next(f.line) }

func (f *foldedFeed) line() bool {
	n := f.src.line()
	if n == 0 {
		return false
	}
	end, skip := n, 0
	if f.src.text[n-1] == '\n' && (len(f.src.text) > n || f.src.fill()) && (f.src.text[n] == ' ' || f.src.text[n] == '\t') {
		end, skip = len(bytes.TrimRight(f.src.text[:n], "\r\n")), 1
	}
	f.src.pieces(&f.out.mapped, min(f.skip, end), end)
	f.src.drop(n)
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
			at, _ := f.src.first()
			f.out.add(unit([]byte{'\n'}, at, at))
		}
		f.src.pieces(&f.out.mapped, 0, i)
	}
	signature := string(line[min(i, content):content]) == "-- "
	f.depth, f.soft = depth, content > i && line[content-1] == ' ' && !signature && content < len(line)
	switch {
	case f.soft && f.deleteEnd:
		f.src.pieces(&f.out.mapped, i, content-1)
	case f.soft:
		f.src.pieces(&f.out.mapped, i, content)
	default:
		f.src.pieces(&f.out.mapped, i, len(line))
	}
}
