package extract

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"slices"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits on the memory of [Markdown].
const (
	maxContainers = 100     // nested block quotes and list items
	maxBlock      = 1 << 20 // octets of a paragraph or HTML block that are in memory together
	maxMarkLine   = 1 << 16 // octets of a line
)

// Markdown returns an iterator over the identifiers in a Markdown document, in document order. It
// finds autolinks, and the destinations of inline links, images and link reference definitions. In
// HTML blocks and tags it finds what [HTML] finds, and in other text what [Text] finds. It skips
// code spans and code blocks. The syntax is that of CommonMark 0.31.
//
// Finding.Where is "link", "image", "definition" or "autolink". It is empty for text. For tags, it
// is as in [HTML]. Start and End are the range of the destination, without its angle brackets and
// title. Spelling is the destination without backslash escapes and with decoded character
// references. A reference link such as [text][label] contains no destination, so Markdown finds
// only the definition of the label.
//
// Relative references are resolved against o.Base or o.Default. Markdown takes linear time. Its
// memory has a fixed limit, because it splits paragraphs longer than 1 MiB and lines longer than 64
// KiB.
func Markdown(r io.Reader, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		t := source.NewTape(r)
		m := &markdown{tape: t, window: source.Window{Feed: t.Feed()}, scope: knownScope(outside(o)), yield: yield}
		m.queue = newQueue(t, o, func(f Finding, err error) bool {
			m.items = append(m.items, item{f, err})
			return true
		})
		m.run()
		if !m.stopped && t.Cause() != nil {
			yield(Finding{}, t.Cause())
		}
	}
}

type markdown struct {
	tape    *source.Tape
	window  source.Window
	scope   *scope
	queue   *queue
	items   []item // of the current block
	yield   func(Finding, error) bool
	stopped bool

	containers []container
	fence      fence
	html       htmlBlock
	paragraph  source.Mapped
}

// An item is a finding, or an error.
type item struct {
	finding Finding
	err     error
}

// A container is a block quote or a list item. A list item has the column at which its content
// begins.
type container struct {
	quote  bool
	indent int
}

// A fence is the line that opens a fenced code block. The zero fence means that no such block is
// open.
type fence struct {
	mark byte
	size int
}

// An htmlBlock is the state of an HTML block. It is open if end is not "".
type htmlBlock struct {
	end  string // the text that marks its last line; "\n" for an empty line
	text source.Mapped
}

func (m *markdown) run() {
	for !m.stopped {
		n := m.window.Line(maxMarkLine)
		if n == 0 {
			break
		}
		n = min(n, maxMarkLine)
		m.line(n)
		m.window.Drop(n)
		if len(m.paragraph.Text) == 0 && len(m.html.text.Text) == 0 {
			m.tape.Release(m.window.End)
		} else if len(m.paragraph.Text)+len(m.html.text.Text) > maxBlock {
			m.endBlocks()
		}
	}
	m.endBlocks()
}

// line reads a line, which is the first n octets of the window.
func (m *markdown) line(n int) {
	line := m.window.Text[:n]
	at, matched := m.enter(line)
	blank := len(bytes.TrimSpace(line[at:])) == 0
	open := len(m.paragraph.Text) > 0
	if matched < len(m.containers) {
		if open && !blank && !m.beginsBlock(line[at:]) { // a lazy continuation line
			m.add(at, n)
			return
		}
		m.leave(matched)
	}
	switch {
	case m.fence.size > 0:
		m.inFence(line[at:])
		return
	case m.html.end != "":
		m.inHTML(at, n, blank)
		return
	case blank:
		m.endParagraph()
		return
	}
	at = m.openContainers(line, at)
	m.leaf(line, at, n)
}

// leave closes the containers beyond a depth, and the blocks in them.
func (m *markdown) leave(depth int) {
	m.endBlocks()
	m.fence = fence{}
	m.containers = m.containers[:depth]
}

// enter skips the marks of the open containers at the start of a line. It returns the offset after
// the marks, and how many containers the line continues.
func (m *markdown) enter(line []byte) (at, matched int) {
	for _, c := range m.containers {
		width, n := indentOf(line[at:])
		switch {
		case c.quote && width < 4 && at+n < len(line) && line[at+n] == '>':
			at += n + 1
			if at < len(line) && line[at] == ' ' {
				at++
			}
		case !c.quote && len(bytes.TrimSpace(line[at:])) == 0:
		case !c.quote && width >= c.indent:
			at += skipColumns(line[at:], c.indent)
		default:
			return at, matched
		}
		matched++
	}
	return at, matched
}

// openContainers opens the block quotes and list items that begin at an offset of the line, and
// returns the offset after their marks.
func (m *markdown) openContainers(line []byte, at int) int {
	for len(m.containers) < maxContainers {
		width, n := indentOf(line[at:])
		rest := line[at+n:]
		if width >= 4 || len(rest) == 0 || isRule(rest) {
			return at
		}
		if rest[0] == '>' {
			m.endParagraph()
			m.containers = append(m.containers, container{quote: true})
			at += n + 1
			if at < len(line) && line[at] == ' ' {
				at++
			}
			continue
		}
		size := listMark(rest)
		if size == 0 || len(m.paragraph.Text) > 0 && len(bytes.TrimSpace(rest[size:])) == 0 {
			return at
		}
		m.endParagraph()
		space, _ := indentOf(rest[size:])
		if space > 4 || len(bytes.TrimSpace(rest[size:])) == 0 {
			space = 1
		}
		m.containers = append(m.containers, container{indent: width + size + space})
		at += n + size
		at += skipColumns(line[at:], space)
	}
	return at
}

func (m *markdown) leaf(line []byte, start, n int) {
	width, space := indentOf(line[start:])
	rest := line[start+space:]
	open := len(m.paragraph.Text) > 0
	switch {
	case len(bytes.TrimSpace(rest)) == 0:
		m.endParagraph()
	case width >= 4:
		if open {
			m.add(start+space, n)
		}
	case fenceOf(rest).size > 0:
		m.endParagraph()
		m.fence = fenceOf(rest)
	case m.html.begin(rest, open):
		m.endParagraph()
		m.inHTML(start+space, n, false)
	case isHeading(rest):
		m.endParagraph()
		m.add(start+space, n)
		m.endParagraph()
	case isRule(rest), open && isUnderline(rest):
		m.endParagraph()
	default:
		m.add(start+space, n)
	}
}

func (m *markdown) beginsBlock(line []byte) bool {
	width, n := indentOf(line)
	rest := line[n:]
	if width >= 4 || len(rest) == 0 {
		return false
	}
	return rest[0] == '>' || isRule(rest) || isHeading(rest) || fenceOf(rest).size > 0 || listMark(rest) > 0 || (&htmlBlock{}).begin(rest, true)
}

func (m *markdown) add(i, j int) { m.window.Pieces(&m.paragraph, i, j) }

func (m *markdown) inFence(line []byte) {
	width, n := indentOf(line)
	f := fenceOf(line[n:])
	if width < 4 && f.mark == m.fence.mark && f.size >= m.fence.size && len(bytes.Trim(line[n:], string(rune(f.mark))+" \t\r\n")) == 0 {
		m.fence = fence{}
	}
}

// inHTML adds a line to the HTML block, and closes the block after its last line.
func (m *markdown) inHTML(at, n int, blank bool) {
	m.window.Pieces(&m.html.text, at, n)
	line := bytes.ToLower(m.window.Text[at:n])
	if end := m.html.end; end == "\n" && blank || end != "\n" && bytes.Contains(line, []byte(end)) {
		m.html.end = ""
		m.endHTML()
	}
}

func (m *markdown) endHTML() {
	if len(m.html.text.Text) > 0 {
		h := &htmlScan{queue: m.queue, scope: newScope(m.scope.resolved())}
		h.run(nil, &source.MappedFeed{Mapped: m.html.text})
		m.queue.flush(true)
		m.html.text.Reset()
	}
	m.flush()
}

func (m *markdown) endParagraph() {
	if len(m.paragraph.Text) > 0 {
		p := inlines{text: &m.paragraph, queue: m.queue, scope: m.scope}
		p.read()
		m.paragraph.Reset()
	}
	m.flush()
}

func (m *markdown) endBlocks() {
	m.endParagraph()
	m.html.end = ""
	m.endHTML()
}

func (m *markdown) flush() {
	slices.SortStableFunc(m.items, func(a, b item) int { return cmp.Compare(a.finding.Start, b.finding.Start) })
	for _, i := range m.items {
		if m.stopped = m.stopped || !m.yield(i.finding, i.err); m.stopped {
			break
		}
	}
	m.items = m.items[:0]
}

// indentOf returns the width in columns of the white space at the start of a line, and its length
// in octets. A tab extends to the next multiple of four columns.
func indentOf(line []byte) (width, n int) {
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		width++
		if line[n] == '\t' {
			width = (width + 3) / 4 * 4
		}
		n++
	}
	return width, n
}

func skipColumns(line []byte, columns int) int {
	n := 0
	for width := 0; n < len(line) && width < columns && (line[n] == ' ' || line[n] == '\t'); n++ {
		width++
		if line[n] == '\t' {
			width = (width + 3) / 4 * 4
		}
	}
	return n
}

func listMark(b []byte) int {
	n := digits(b)
	switch {
	case n > 9 || n >= len(b):
		return 0
	case n > 0 && (b[n] == '.' || b[n] == ')'), n == 0 && (b[0] == '-' || b[0] == '+' || b[0] == '*'):
		n++
	default:
		return 0
	}
	if n < len(b) && !isSpace(b[n]) {
		return 0
	}
	return n
}

func isRule(b []byte) bool {
	b = bytes.TrimSpace(b)
	if len(b) < 3 || b[0] != '-' && b[0] != '_' && b[0] != '*' {
		return false
	}
	n := 0
	for _, c := range b {
		if c == b[0] {
			n++
		} else if c != ' ' && c != '\t' {
			return false
		}
	}
	return n >= 3
}

func isUnderline(b []byte) bool {
	b = bytes.TrimRight(b, " \t\r\n")
	return len(b) > 0 && (b[0] == '=' || b[0] == '-') && len(bytes.Trim(b, string(rune(b[0])))) == 0
}

func isHeading(b []byte) bool {
	n := 0
	for n < len(b) && b[n] == '#' {
		n++
	}
	return n >= 1 && n <= 6 && (n == len(b) || isSpace(b[n]))
}

func fenceOf(b []byte) fence {
	n := 0
	for n < len(b) && b[n] == b[0] {
		n++
	}
	if n < 3 || b[0] != '~' && (b[0] != '`' || bytes.IndexByte(b[n:], '`') >= 0) {
		return fence{}
	}
	return fence{b[0], n}
}

// begin reports whether a line begins an HTML block, and records how this block ends (CommonMark,
// section 4.6).
func (h *htmlBlock) begin(line []byte, inParagraph bool) bool {
	if line[0] != '<' || len(line) < 3 {
		return false
	}
	for _, kind := range []struct{ begin, end string }{
		{"<script", "</script>"},
		{"<pre", "</pre>"},
		{"<style", "</style>"},
		{"<textarea", "</textarea>"},
		{"<!--", "-->"},
		{"<?", "?>"},
		{"<![CDATA[", "]]>"},
		{"<!", ">"},
	} {
		n := len(kind.begin)
		if len(line) >= n && ascii.EqualFold(line[:n], kind.begin) && (!ascii.IsLetter(kind.begin[1]) || n == len(line) || endsName(line[n])) {
			h.end = kind.end
			return true
		}
	}
	name := bytes.TrimPrefix(line[1:], []byte("/"))
	n := span(name, classAlnum)
	if n == 0 || !ascii.IsLetter(name[0]) {
		return false
	}
	if isBlockTag(string(bytes.ToLower(name[:n]))) && (n == len(name) || endsName(name[n])) {
		h.end = "\n"
		return true
	}
	size := tagLength(line)
	if inParagraph || size == 0 || len(bytes.TrimSpace(line[size:])) > 0 {
		return false
	}
	h.end = "\n"
	return true
}

// isBlockTag reports whether a tag with this name begins an HTML block (CommonMark, section 4.6,
// condition 6).
func isBlockTag(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col", "colgroup", "dd",
		"details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset",
		"h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "legend", "li", "link", "main", "menu",
		"menuitem", "nav", "noframes", "ol", "optgroup", "option", "p", "param", "search", "section", "summary", "table", "tbody",
		"td", "tfoot", "th", "thead", "title", "tr", "track", "ul":
		return true
	}
	return false
}
