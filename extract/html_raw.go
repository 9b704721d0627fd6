package extract

import (
	"bytes"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

func rawElement(name string) bool {
	switch name {
	case "script", "style", "title", "textarea", "xmp", "plaintext":
		return true
	}
	return false
}

// raw reads the content of a raw text element up to its end tag. If passOn is true, it passes on
// the content of a script or style element.
func (l *htmlLexer) raw(name string, passOn bool) {
	switch name {
	case "title", "textarea":
		l.rawText(name, func(n int) { l.chars(n, true) })
	case "xmp":
		l.rawText(name, func(n int) { l.chars(n, false) })
	case "plaintext":
		for l.chars(len(l.rest()), false); !l.stop && l.fill(); {
			l.chars(len(l.rest()), false)
		}
	default:
		var content source.Mapped
		start := l.place()
		if passOn {
			l.hold = start
		}
		l.rawText(name, func(n int) {
			if passOn && n > 0 && len(content.Text)+n > maxValue {
				l.err(l.place(), name+" element too long: the rest of it is skipped")
				l.to.rawText(name, &content)
				content.Reset()
				l.hold, passOn = noHold, false
			}
			if passOn {
				l.Pieces(&content, l.i, l.i+n)
			}
			l.i += n
		})
		if len(content.Text) > 0 {
			l.to.rawText(name, &content)
		}
		l.hold = noHold
	}
}

// rawText calls the function pass for pieces of text up to the end tag of an element. Each call of
// pass must advance l.i. In a script, an end tag after "<!--" and "<script" is part of the script
// (HTML Standard, section 13.2.5.17 ff.).
func (l *htmlLexer) rawText(name string, pass func(n int)) {
	script := scriptState{on: name == "script"}
	for !l.stop {
		rest := l.rest()
		n := script.next(rest)
		if n == len(rest) {
			pass(n - unfinishedRef(rest))
			if !l.fill() {
				pass(len(l.rest()))
				return
			}
			continue
		}
		pass(n)
		l.peek(len("</") + maxName) // the rest of the document may be shorter
		rest = l.rest()
		if l.isEnd(rest, name) && !script.double {
			return
		}
		pass(script.step(rest))
	}
}

func (l *htmlLexer) isEnd(b []byte, name string) bool {
	n := len("</") + len(name)
	return len(b) > n && b[0] == '<' && b[1] == '/' && ascii.EqualFold(b[2:n], name) && endsName(b[n])
}

type scriptState struct {
	on, escaped, double bool
}

// next returns the number of octets at the start of b that do not change the state.
func (s *scriptState) next(b []byte) int {
	n := -1
	if s.escaped {
		n = bytes.IndexAny(b, "<-")
	} else {
		n = bytes.IndexByte(b, '<')
	}
	if n < 0 {
		return len(b)
	}
	return n
}

// step updates the state for the text at the start of b, and returns the number of octets that it
// has read.
func (s *scriptState) step(b []byte) int {
	if !s.on {
		return 1
	}
	switch {
	case bytes.HasPrefix(b, []byte("<!--")) && !s.escaped:
		s.escaped = true
		return len("<!") // the two hyphens may also end the comment, as in "<!-->"
	case s.escaped && bytes.HasPrefix(b, []byte("-->")):
		s.escaped, s.double = false, false
		return len("-->")
	case s.escaped && !s.double && namesElement(b, "<script"):
		s.double = true
	case s.double && namesElement(b, "</script"):
		s.double = false
	}
	return 1
}

func namesElement(b []byte, s string) bool {
	return len(b) > len(s) && ascii.EqualFold(b[:len(s)], s) && endsName(b[len(s)])
}
