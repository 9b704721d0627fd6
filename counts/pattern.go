package counts

import (
	"errors"
	"slices"
	"strings"
)

// A variant is one of the alternatives of a pattern.
type variant struct {
	sets       []byteSet
	begin, end bool
}

// A patternReader reads a pattern: a regular expression without unlimited repetition. A pattern may
// have characters, ".", escapes, sets in brackets, groups with alternatives, "?" and repetitions
// such as {1,2}.
type patternReader struct {
	text string
	i    int
}

var (
	errPattern  = errors.New("not supported in a pattern")
	errVariants = errors.New("too many alternatives")
)

func readPattern(text string) ([]variant, error) {
	p := &patternReader{text: text}
	begin := p.accept('^')
	all, err := p.concatenation(false)
	if err != nil {
		return nil, err
	}
	end := p.accept('$')
	if p.i < len(p.text) {
		return nil, errPattern
	}
	out := make([]variant, len(all))
	for i, sets := range all {
		out[i] = variant{sets, begin, end}
	}
	return out, nil
}

func (p *patternReader) accept(c byte) bool {
	if p.i < len(p.text) && p.text[p.i] == c {
		p.i++
		return true
	}
	return false
}

// concatenation reads up to "$" or the end of the pattern. In a group, it reads up to ")" or "|".
func (p *patternReader) concatenation(inGroup bool) ([][]byteSet, error) {
	all := [][]byteSet{nil}
	for p.i < len(p.text) && p.text[p.i] != '$' && !(inGroup && (p.text[p.i] == ')' || p.text[p.i] == '|')) {
		atom, err := p.atom(inGroup)
		if err != nil {
			return nil, err
		}
		if atom, err = p.repeated(atom); err != nil {
			return nil, err
		}
		var longer [][]byteSet
		for _, first := range all {
			for _, then := range atom {
				longer = append(longer, slices.Concat(first, then))
			}
		}
		if all = longer; len(all) > maxVariants {
			return nil, errVariants
		}
	}
	return all, nil
}

func (p *patternReader) repeated(atom [][]byteSet) ([][]byteSet, error) {
	least, most := 1, 1
	switch {
	case p.accept('?'):
		least = 0
	case strings.HasPrefix(p.text[p.i:], "{1,2}"):
		p.i += len("{1,2}")
		most = 2
	default:
		return atom, nil
	}
	var all [][]byteSet
	if least == 0 {
		all = append(all, nil)
	}
	all = append(all, atom...)
	if most == 2 {
		for _, first := range atom {
			for _, then := range atom {
				all = append(all, slices.Concat(first, then))
			}
		}
	}
	if len(all) > maxVariants {
		return nil, errVariants
	}
	return all, nil
}

func (p *patternReader) atom(inGroup bool) ([][]byteSet, error) {
	c := p.text[p.i]
	p.i++
	var set byteSet
	switch c {
	case '*', '+', '?', '{', '^', ')', '|':
		return nil, errPattern
	case '(':
		if inGroup {
			return nil, errPattern
		}
		return p.group()
	case '.':
		for i := range 256 {
			if i != '\n' {
				set.add(byte(i))
			}
		}
	case '[':
		if err := p.brackets(&set); err != nil {
			return nil, err
		}
	case '\\':
		if err := p.escape(&set); err != nil {
			return nil, err
		}
	default:
		set.addFolded(c)
	}
	return [][]byteSet{{set}}, nil
}

// group reads a group after its "(". If each alternative is a single character, the result is a
// set.
func (p *patternReader) group() ([][]byteSet, error) {
	var all [][]byteSet
	for {
		some, err := p.concatenation(true)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if p.accept('|') {
			continue
		}
		if !p.accept(')') {
			return nil, errPattern
		}
		break
	}
	var union byteSet
	for _, one := range all {
		if len(one) != 1 {
			return all, nil
		}
		for i := range union {
			union[i] |= one[0][i]
		}
	}
	return [][]byteSet{{union}}, nil
}

// brackets reads a set after its "[".
func (p *patternReader) brackets(set *byteSet) error {
	not := p.accept('^')
	for begin := p.i; ; {
		if p.i >= len(p.text) {
			return errPattern
		}
		c := p.text[p.i]
		p.i++
		switch {
		case c == ']' && p.i > begin+1:
			if not {
				for i := range set {
					set[i] = ^set[i]
				}
			}
			return nil
		case c == '\\':
			if err := p.escape(set); err != nil {
				return err
			}
		case p.i+1 < len(p.text) && p.text[p.i] == '-' && p.text[p.i+1] != ']':
			for i := int(c); i <= int(p.text[p.i+1]); i++ {
				set.addFolded(byte(i))
			}
			p.i += 2
		default:
			set.addFolded(c)
		}
	}
}

func (p *patternReader) escape(set *byteSet) error {
	if p.i >= len(p.text) {
		return errPattern
	}
	c := p.text[p.i]
	p.i++
	switch {
	case c == 'd':
		for i := byte('0'); i <= '9'; i++ {
			set.add(i)
		}
	case c == 's':
		for _, i := range []byte("\t\n\f\r ") {
			set.add(i)
		}
	case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9':
		return errPattern
	default:
		set.addFolded(c)
	}
	return nil
}
