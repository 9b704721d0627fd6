package extract

import (
	"bytes"
	"strings"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits on inline syntax.
const (
	maxParentheses = 32  // nested parentheses in a destination
	maxLinkLabel   = 999 // octets of the label of a definition
)

// An inlines finds the identifiers in the inline syntax of a paragraph.
type inlines struct {
	text  *source.Mapped
	queue *queue
	scope *scope

	i        int
	opened   []opener      // the unmatched brackets before i
	inactive int           // how many elements of opened cannot begin a link any more, because links cannot be nested
	endless  string        // the kinds of tags that have no end after i; see tagKind
	runs     map[int]bool  // the lengths of runs of backticks that have no closing run after i
	plain    source.Mapped // the text outside code, tags and destinations
	html     source.Mapped // the current tag
	from     int           // text[from:i] is still to be added to plain
}

// An opener is a bracket that may begin a link or an image.
type opener struct{ image bool }

func (p *inlines) read() {
	for p.definition() {
	}
	p.from = p.i
	for b := p.text.Text; p.i < len(b); {
		n := bytes.IndexAny(b[p.i:], "\\`<![]")
		if n < 0 {
			break
		}
		p.i += n
		switch b[p.i] {
		case '\\':
			p.i = min(p.i+2, len(b))
		case '`':
			p.code()
		case '<':
			p.angle()
		case '!':
			if p.i++; p.i < len(b) && b[p.i] == '[' {
				p.opened = append(p.opened, opener{image: true})
				p.i++
			}
		case '[':
			p.opened = append(p.opened, opener{})
			p.i++
		default:
			p.close()
		}
	}
	p.text.Pieces(&p.plain, p.from, len(p.text.Text))
	p.queue.text(&p.plain, p.scope, "")
}

func (p *inlines) leaveOut(start int) {
	p.text.Pieces(&p.plain, p.from, start)
	if start < len(p.text.Text) {
		at, _ := p.text.Span(start, start)
		p.plain.Add(source.Unit([]byte(" "), at, at+1))
	}
	p.from = p.i
}

// code skips a code span, or backticks that do not begin a code span (CommonMark, section 6.1).
func (p *inlines) code() {
	b, start := p.text.Text, p.i
	n := backticks(b[start:])
	p.i += n
	if p.runs[n] {
		return
	}
	for i := p.i; ; {
		k := bytes.IndexByte(b[i:], '`')
		if k < 0 {
			break
		}
		i += k
		size := backticks(b[i:])
		if i += size; size == n {
			p.i = i
			p.leaveOut(start)
			return
		}
	}
	if p.runs == nil {
		p.runs = map[int]bool{}
	}
	p.runs[n] = true
}

func backticks(b []byte) int {
	n := 0
	for n < len(b) && b[n] == '`' {
		n++
	}
	return n
}

// angle reads an autolink or a tag (CommonMark, sections 6.5 and 6.6).
func (p *inlines) angle() {
	b, start := p.text.Text, p.i
	if n := autolink(b[start:]); n > 0 {
		if isEmail := bytes.IndexByte(b[start:start+n], ':') < 0; !isEmail {
			p.reference(start+1, start+n-1, false, "autolink")
			p.i += n
			p.leaveOut(start)
			return
		}
	}
	n := 0
	if kind := tagKind(b[start:]); !strings.Contains(p.endless, kind) || kind == "" {
		if n = tagLength(b[start:]); n == 0 {
			p.endless += kind // remember this, because a second search would take time again
		}
	}
	if n == 0 {
		p.i++
		return
	}
	p.i += n
	p.html.Reset()
	p.text.Pieces(&p.html, start, p.i)
	h := &htmlScan{queue: p.queue, scope: newScope(p.scope.resolved())}
	h.run(nil, &source.MappedFeed{Mapped: p.html})
	p.queue.flush(true)
	p.leaveOut(start)
}

// autolink returns the length of the autolink at the start of b, including its angle brackets, or 0.
// An autolink is a URI without white space, with a scheme of 2 to 32 characters.
func autolink(b []byte) int {
	n := bytes.IndexAny(b[1:], "<> \t\n\r")
	if n < 0 || b[n+1] != '>' || n == 0 {
		return 0
	}
	scheme := ascii.SchemeLength(string(b[1:min(len(b), 1+n)]))
	if scheme < 2 || scheme > 32 {
		return 0
	}
	return n + 2
}

// tagKind returns the characters with which b begins a comment, a declaration or a processing
// instruction, with a space appended. It returns "" for other text.
func tagKind(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("<!--")):
		return "<!-- "
	case bytes.HasPrefix(b, []byte("<!")):
		return "<! "
	case bytes.HasPrefix(b, []byte("<?")):
		return "<? "
	}
	return ""
}

func tagLength(b []byte) int {
	switch {
	case len(b) < 3:
		return 0
	case bytes.HasPrefix(b, []byte("<!--")):
		return through(b, "-->")
	case b[1] == '?':
		return through(b, "?>")
	case b[1] == '!':
		return through(b, ">")
	}
	i := 1
	if b[1] == '/' {
		i++
	}
	if !ascii.IsLetter(b[i]) {
		return 0
	}
	for i < len(b) && (isAlnum(b[i]) || b[i] == '-') {
		i++
	}
	if i == len(b) || !endsName(b[i]) {
		return 0
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '>':
			return i + 1
		case '<', '`':
			return 0
		case '"', '\'':
			n := bytes.IndexByte(b[i+1:], b[i])
			if n < 0 {
				return 0
			}
			i += n + 1
		}
	}
	return 0
}

func through(b []byte, end string) int {
	if n := bytes.Index(b, []byte(end)); n > 0 {
		return n + len(end)
	}
	return 0
}

// close reads a closing bracket. If a destination in parentheses follows, the text is a link or an
// image.
func (p *inlines) close() {
	p.i++
	if len(p.opened) == 0 {
		return
	}
	o := p.opened[len(p.opened)-1]
	p.opened = p.opened[:len(p.opened)-1]
	active := o.image || len(p.opened) >= p.inactive
	p.inactive = min(p.inactive, len(p.opened))
	b, start := p.text.Text, p.i
	if !active || start >= len(b) || b[start] != '(' {
		return
	}
	i, j, end := linkTail(b, start)
	if end == 0 {
		return
	}
	where := "link"
	if o.image {
		where = "image"
	} else {
		p.inactive = len(p.opened)
	}
	p.reference(i, j, true, where)
	p.i = end
	p.leaveOut(start)
}

// linkTail reads "(destination title)" at an offset (CommonMark, section 6.3). It returns the range
// of the destination, and the offset after the parenthesis or 0 if there is no such text.
func linkTail(b []byte, at int) (i, j, end int) {
	k := pastBlank(b, at+1)
	i, j, k = destination(b, k)
	if k < 0 {
		return 0, 0, 0
	}
	next := pastBlank(b, k)
	if next > k && next < len(b) && b[next] != ')' {
		if next = title(b, next); next == 0 {
			return 0, 0, 0
		}
		next = pastBlank(b, next)
	}
	if next >= len(b) || b[next] != ')' {
		return 0, 0, 0
	}
	return i, j, next + 1
}

// destination returns the range of the link destination at an offset, and the offset after the
// destination, or -1 if the destination is invalid. A destination is either text in angle brackets
// without line breaks, or text with balanced parentheses and without white space and control
// characters.
func destination(b []byte, at int) (i, j, end int) {
	if at < len(b) && b[at] == '<' {
		for k := at + 1; k < len(b); k++ {
			switch b[k] {
			case '>':
				return at + 1, k, k + 1
			case '<', '\n', '\r':
				return 0, 0, -1
			case '\\':
				k++
			}
		}
		return 0, 0, -1
	}
	depth, k := 0, at
	for ; k < len(b) && b[k] > ' ' && b[k] != 0x7F; k++ {
		switch b[k] {
		case '\\':
			if k+1 < len(b) && isPunctuation(b[k+1]) {
				k++
			}
		case '(':
			if depth++; depth > maxParentheses {
				return 0, 0, -1
			}
		case ')':
			if depth--; depth < 0 {
				return at, k, k
			}
		}
	}
	if depth > 0 {
		return 0, 0, -1
	}
	return at, min(k, len(b)), min(k, len(b))
}

func title(b []byte, at int) int {
	closing := b[at]
	switch closing {
	case '"', '\'':
	case '(':
		closing = ')'
	default:
		return 0
	}
	for k := at + 1; k < len(b); k++ {
		switch c := b[k]; {
		case c == closing:
			return k + 1
		case c == '\\':
			k++
		case c == '(' && closing == ')':
			return 0
		}
	}
	return 0
}

func pastBlank(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// definition reads the link reference definition at p.i (CommonMark, section 4.7). It treats a
// footnote, whose label begins with "^", as text.
func (p *inlines) definition() bool {
	b := p.text.Text[p.i:]
	n := labelLength(b)
	if n == 0 || n >= len(b) || b[n] != ':' || b[1] == '^' {
		return false
	}
	at := pastBlank(b, n+1)
	i, j, end := destination(b, at)
	if end < 0 || at == len(b) || i == j && b[at] != '<' {
		return false
	}
	eol := lineEndAt(b, end)
	if next := pastBlank(b, end); next > end && next < len(b) {
		if t := title(b, next); t > 0 && lineEndAt(b, t) > 0 {
			eol = lineEndAt(b, t)
		}
	}
	if eol == 0 {
		return false
	}
	p.reference(p.i+i, p.i+j, true, "definition")
	p.i += eol
	return true
}

func labelLength(b []byte) int {
	if len(b) == 0 || b[0] != '[' {
		return 0
	}
	blank := true
	for k := 1; k < len(b) && k <= maxLinkLabel+1; k++ {
		switch c := b[k]; {
		case c == '[':
			return 0
		case c == ']' && blank:
			return 0
		case c == ']':
			return k + 1
		case c == '\\':
			k++
			blank = false
		case !isSpace(c):
			blank = false
		}
	}
	return 0
}

// lineEndAt skips white space and a line break at i, and returns the offset after them. It returns
// 0 if there is other text.
func lineEndAt(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	switch {
	case i >= len(b):
		return len(b)
	case b[i] == '\n':
		return i + 1
	}
	return 0
}

// reference adds the destination text[i:j]. If escaped is true, it decodes backslash escapes and
// character references.
func (p *inlines) reference(i, j int, escaped bool, where string) {
	var v source.Mapped
	b := p.text.Text
	for i < j {
		n := bytes.IndexAny(b[i:j], "\\&")
		if n < 0 {
			n = j - i
		}
		p.text.Pieces(&v, i, i+n)
		if i += n; i == j {
			break
		}
		if b[i] == '\\' {
			if escaped && i+1 < j && isPunctuation(b[i+1]) {
				i++
			}
			if b[i] == '\\' {
				start, end := p.text.Span(i, i+1)
				v.Add(source.Unit([]byte("%5C"), start, end))
			} else {
				p.text.Pieces(&v, i, i+1)
			}
			i++
			continue
		}
		size, text := characterReference(b[i:j], true)
		if !escaped || text == "" || b[i+size-1] != ';' {
			p.text.Pieces(&v, i, i+1)
			i++
			continue
		}
		start, end := p.text.Span(i, i+size)
		v.Add(source.Unit([]byte(text), start, end))
		i += size
	}
	p.queue.reference(&v, 0, len(v.Text), p.scope, where)
}

func isPunctuation(c byte) bool { return c > ' ' && c < 0x7F && !isAlnum(c) }
