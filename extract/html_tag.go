package extract

import (
	"bytes"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

type htmlTag struct {
	name        []byte // in lower case; empty if longer than maxName
	attrs       []htmlAttr
	size        int // total size of the values, in octets
	selfClosing bool
	complete    bool  // the tag has been read up to its ">"
	start, end  int64 // offsets in the file
}

type htmlAttr struct {
	name  []byte
	kind  attrKind
	value source.Mapped
}

func (t *htmlTag) get(name string) (*source.Mapped, bool) {
	for i := range t.attrs {
		if string(t.attrs[i].name) == name {
			return &t.attrs[i].value, true
		}
	}
	return nil, false
}

func (t *htmlTag) reset() {
	t.name, t.attrs, t.size, t.selfClosing, t.complete = t.name[:0], t.attrs[:0], 0, false, false
}

// add adds an attribute. It reuses the memory of an attribute of an earlier tag.
func (t *htmlTag) add() *htmlAttr {
	if n := len(t.attrs); n < cap(t.attrs) {
		t.attrs = t.attrs[:n+1]
	} else {
		t.attrs = append(t.attrs, htmlAttr{})
	}
	a := &t.attrs[len(t.attrs)-1]
	if cap(a.value.Text) > source.BlockSize {
		a.value.Text = nil
	}
	a.value.Reset()
	return a
}

func (l *htmlLexer) readName() {
	n := l.scanName(false)
	l.tag.name = appendName(l.tag.name[:0], l.rest(), n)
	l.i += n
}

// scanName returns the length of the name at l.i. If the name is very long, scanName skips all of
// it but its last part.
func (l *htmlLexer) scanName(attribute bool) int {
	for n := 0; ; n++ {
		c, ok := l.peek(n)
		if !ok || endsName(c) || attribute && c == '=' && n > 0 {
			return n
		}
		if n > 2*source.BlockSize {
			l.i += n - maxName - 1
			n = maxName + 1
		}
	}
}

func appendName(to, b []byte, n int) []byte {
	if n > maxName {
		return to
	}
	for _, c := range b[:n] {
		to = append(to, ascii.Lower(c))
	}
	return to
}

// readAttrs reads attributes up to and including the ">" of the tag. It returns false if the
// document ends before a ">".
func (l *htmlLexer) readAttrs(wanted bool) bool {
	for {
		c, ok := l.peek(0)
		switch {
		case !ok:
			return false
		case c == '>':
			l.i++
			return true
		case isSpace(c) || c == '/':
			l.i++
			next, ok := l.peek(0)
			l.tag.selfClosing = c == '/' && ok && next == '>'
		default:
			if !l.readAttr(wanted) {
				return false
			}
		}
	}
}

func (l *htmlLexer) readAttr(wanted bool) bool {
	n := l.scanName(true)
	var buf [maxName]byte
	name := appendName(buf[:0], l.rest(), n)
	l.i += n
	var kind attrKind
	if wanted && len(name) > 0 && l.inTag {
		kind = l.to.wants(l.tag.name, name)
	}
	if !l.skipSpace() {
		return false
	}
	if l.rest()[0] != '=' {
		l.addAttr(name, kind, 0)
		return true
	}
	l.i++
	if !l.skipSpace() {
		return false
	}
	if kind == attrNone || l.has(name) {
		return l.skipValue()
	}
	return l.readValue(name, kind)
}

// has reports whether the tag already has an attribute with this name. Only the first such
// attribute counts.
func (l *htmlLexer) has(name []byte) bool {
	if len(l.tag.attrs) >= maxAttrs {
		return true
	}
	for i := range l.tag.attrs {
		if bytes.Equal(l.tag.attrs[i].name, name) {
			return true
		}
	}
	return false
}

func (l *htmlLexer) skipSpace() bool {
	for {
		c, ok := l.peek(0)
		if !ok || !isSpace(c) {
			return ok
		}
		l.i++
	}
}

func (l *htmlLexer) skipValue() bool {
	quote := l.rest()[0]
	if quote == '"' || quote == '\'' {
		l.i++
		return l.skipThrough(quote)
	}
	for {
		rest := l.rest()
		if n := bytes.IndexAny(rest, unquotedEnds); n >= 0 {
			l.i += n
			return true
		}
		l.i += len(rest)
		if !l.fill() {
			return false
		}
	}
}

const tooLong = "attributes of a tag too long: this attribute is skipped"

const unquotedEnds = " \t\n\f\r>"

func (l *htmlLexer) readValue(name []byte, kind attrKind) bool {
	quote := l.rest()[0]
	quoted := quote == '"' || quote == '\''
	if quoted {
		l.i++
	}
	from := 0
	for {
		rest := l.rest()
		n := -1
		if quoted {
			n = bytes.IndexByte(rest[from:], quote)
		} else {
			n = bytes.IndexAny(rest[from:], unquotedEnds)
		}
		if n >= 0 {
			n += from
			l.addAttr(name, kind, n)
			l.i += n
			if quoted {
				l.i++
			}
			return true
		}
		from = len(rest)
		if l.tag.size+from > maxValue {
			l.err(l.place(), tooLong)
			if quoted {
				return l.skipThrough(quote)
			}
			return l.skipValue()
		}
		if !l.fill() {
			l.i += from
			return false
		}
	}
}

// addAttr adds an attribute whose value is the next n octets. Attributes without a value are added
// too, so that later attributes with the same name are ignored.
func (l *htmlLexer) addAttr(name []byte, kind attrKind, n int) {
	if kind == attrNone || l.has(name) {
		return
	}
	if l.tag.size+n > maxValue {
		l.err(l.place(), tooLong)
		return
	}
	l.tag.size += n
	a := l.tag.add()
	a.name, a.kind = append(a.name[:0], name...), kind
	l.decode(&a.value, n, true, true)
}
