package extract

import "bytes"

// The functions in this file find the continuation of an identifier on the next line or page.

// gap returns the offset at which the identifier continues after the white space at i, and the
// number of line breaks in the white space. It returns -1 at an empty line, which ends the
// paragraph, unless the line is part of a page break.
func (s *scanner) gap(i int) (next, lines int) {
	from := i
	for {
		switch c := s.peek(i); {
		case c == '\n':
			if lines > 0 {
				return s.page(from), 1
			}
			lines++
			i = s.continuation(from, i+1)
			if i < 0 {
				return -1, 1
			}
		case c == '\f':
			return s.page(from), 1
		case is(c, classSpace):
			i++
		default:
			s.work += i - from
			if lines > 0 && s.isFoot(i) {
				return s.page(from), 1
			}
			return i, lines
		}
		if i-from > maxBreak {
			return -1, lines
		}
	}
}

// isFoot reports whether the line at i is a page footer, which ends in "[Page 12]".
func (s *scanner) isFoot(i int) bool {
	line := bytes.TrimRight(s.line(i), " \t\r")
	return bytes.HasSuffix(line, []byte("]")) && bytes.Contains(line, []byte("[Page "))
}

// line returns the text from i to the end of the line, but at most maxColumn octets.
func (s *scanner) line(i int) []byte {
	b := s.b[i:min(i+maxColumn, len(s.b))]
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		s.short = s.short || !s.final && len(b) < maxColumn
		return b
	}
	return b[:n]
}

// page returns the offset at which the text continues on the next page. It returns -1 if no page
// break follows the line break at i. A page break is
//
//	blank lines, foot, form feed, head, blank lines
func (s *scanner) page(i int) int {
	foot, head, fed := false, false, false
	for low := i; i < low+maxBreak; {
		eol := i
		for eol < low+maxBreak && s.peek(eol) != '\n' && s.peek(eol) != 0 {
			eol++
		}
		s.work += eol - i
		if s.peek(eol) != '\n' {
			return -1
		}
		line := bytes.TrimRight(s.b[i:eol], " \t\r")
		if bytes.IndexByte(line, '\f') >= 0 {
			if fed {
				return -1
			}
			fed = true
			line = bytes.Trim(line, "\f")
		}
		text := bytes.TrimLeft(line, " \t")
		switch {
		case len(text) == 0 && head: // the blank line after the header
			return s.text(eol + 1)
		case len(text) == 0:
		case fed:
			if head {
				return -1
			}
			head = true
		case foot || !s.isFoot(i):
			return -1
		default:
			foot = true
		}
		i = eol + 1
	}
	return -1
}

func (s *scanner) text(i int) int {
	for low := i; i < low+maxColumn; i++ {
		if !is(s.peek(i), classSpace) {
			return i
		}
	}
	return -1
}

// continuation returns the offset at which the text of the line at i begins, or -1 if this line
// does not continue the preceding line. The parameter from is an offset in the preceding line.
//
// If the preceding line begins with quotation or comment marks ("> ", "# ", "// "), the line at i
// must begin with the same marks, and its text begins after the marks. If the preceding line begins
// with a list bullet, the line at i must not begin with one, because each bullet begins a new item.
func (s *scanner) continuation(from, i int) int {
	line := s.lineStart(from)
	mark := bytes.TrimRight(markOf(s.b[line:from]), " \t")
	if len(mark) == 0 {
		return i
	}
	j := i
	for k := 0; k < len(mark); k++ {
		if mark[k] == ' ' || mark[k] == '\t' {
			continue
		}
		for s.peek(j) == ' ' || s.peek(j) == '\t' {
			j++
		}
		if s.peek(j) != mark[k] {
			if isBullet(mark) {
				return i
			}
			return -1
		}
		j++
	}
	if isBullet(mark) && mark[len(mark)-1] == '-' {
		return -1 // the next item
	}
	return j
}

func markOf(line []byte) []byte {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || bytes.IndexByte([]byte(">#/;%|*-"), line[i]) >= 0) {
		i++
	}
	mark := line[:i]
	if i == len(line) || i == 0 || line[i-1] == ' ' || line[i-1] == '\t' || line[i-1] == '>' || line[i-1] == '#' || bytes.HasSuffix(mark, []byte("//")) {
		return mark
	}
	return nil
}

// isBullet reports whether a mark may be a list bullet.
func isBullet(mark []byte) bool {
	mark = bytes.TrimLeft(mark, " \t")
	return len(mark) == 1 && (mark[0] == '*' || mark[0] == '-')
}

func (s *scanner) lineStart(i int) int {
	low := max(0, i-2*maxColumn)
	n := bytes.LastIndexByte(s.b[low:i], '\n')
	s.work += 2 * maxColumn / 16
	return low + n + 1
}
