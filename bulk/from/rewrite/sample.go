package rewrite

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// Sample returns a text that the expression probably matches. It ignores assertions such as word
// boundaries. The parameter variant selects different alternatives, repetitions and characters. It
// also selects whether there is text before or after the match, unless "^" and "$" exclude this.
func (e *Expression) Sample(variant int) string {
	const longer, before, after = 4, 2, 1
	t := clone(e.tree)
	mode := 0
	begins, ends := cutBegin(t), cutEnd(t)
	if !begins || !ends {
		mode, variant = variant%longer, variant/longer
	}
	var b strings.Builder
	if mode&before != 0 && !begins {
		b.WriteString("p")
	}
	s := sampler{&b, variant}
	s.write(e.tree)
	if mode&after != 0 && !ends {
		b.WriteString("s")
	}
	return b.String()
}

// anyCharacters contains sample characters for "." in an expression. They come from different
// character classes. The dot is not included, because clients and servers remove the path segments
// "." and "..".
const anyCharacters = "xZ7_-/~a"

type sampler struct {
	*strings.Builder
	variant int
}

// next returns a pseudo-random number below n.
func (s *sampler) next(n int) int {
	if n <= 0 {
		return 0
	}
	i := s.variant % n
	s.variant = s.variant/n + i
	return i
}

func (s *sampler) write(t *syntax.Regexp) {
	const most = 1 << 10 // bytes
	if s.Len() > most {
		return
	}
	switch t.Op {
	case syntax.OpLiteral:
		s.WriteString(string(t.Rune))
	case syntax.OpCharClass:
		s.WriteRune(s.one(t.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		s.WriteByte(anyCharacters[s.next(len(anyCharacters))])
	case syntax.OpAlternate:
		s.write(t.Sub[s.next(len(t.Sub))])
	case syntax.OpStar:
		s.repeat(t.Sub[0], s.next(4))
	case syntax.OpPlus:
		s.repeat(t.Sub[0], 1+s.next(3))
	case syntax.OpQuest:
		s.repeat(t.Sub[0], s.next(2))
	case syntax.OpRepeat:
		s.repeat(t.Sub[0], t.Min)
	default:
		for _, sub := range t.Sub {
			s.write(sub)
		}
	}
}

func (s *sampler) repeat(t *syntax.Regexp, n int) {
	for range n {
		s.write(t)
	}
}

// one returns a character in a character class, preferably a letter or a digit. The parameter
// ranges contains the first and last character of each range.
func (s *sampler) one(ranges []rune) rune {
	var good []rune
	for _, r := range "aZ7m0bQ" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				good = append(good, r)
			}
		}
	}
	if len(good) > 0 {
		return good[s.next(len(good))]
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1] && r < ranges[i]+unicode.MaxASCII; r++ {
			if r > ' ' && r < unicode.MaxASCII {
				return r
			}
		}
	}
	return 'x'
}
