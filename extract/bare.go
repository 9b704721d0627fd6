package extract

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Kinds is a set of [Kind] values.
type Kinds uint32

// KindsOf returns the set that contains the given kinds.
func KindsOf(kinds ...Kind) (set Kinds) {
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Has reports whether the set contains a kind.
func (set Kinds) Has(k Kind) bool { return set>>k&1 != 0 }

// BareKinds are the kinds of identifiers that text usually contains without a scheme, such as "ISBN
// 978-0-306-40615-7". They are the permitted elements of [Options].Bare.
const BareKinds Kinds = 1<<DOI | 1<<ISBN | 1<<ISSN | 1<<ORCID | 1<<ArXiv | 1<<PMID | 1<<PMCID

// ParseBareKinds parses a comma-separated list of names of [BareKinds], such as "doi,isbn". The
// name "all" stands for all BareKinds.
func ParseBareKinds(list string) (set Kinds, err error) {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		k := Kind(0)
		for k < kinds && (!BareKinds.Has(k) || k.String() != name) {
			k++
		}
		switch {
		case name == "all":
			set |= BareKinds
		case k == kinds:
			return 0, fmt.Errorf("invalid kind %q: must be all or some of doi, isbn, issn, orcid, arxiv, pmid, pmcid", name)
		default:
			set |= KindsOf(k)
		}
	}
	return set, nil
}

// seekBare returns the offset of the next character that can begin an identifier without a scheme,
// or a label such as "PMID". It returns -1 if no such character follows.
func (s *scanner) seekBare() int {
	if s.start == -1 || s.start > 0 && s.start >= s.pos {
		return s.start
	}
	for i := s.pos; i < len(s.b); i++ {
		if is(s.b[i], classBegins) && s.beginsWord(i) {
			s.start = i
			return i
		}
	}
	s.start = -1
	return -1
}

// beginsWord reports whether a word begins at i. An "e" or "p" may precede the letter I, as in
// eISSN and pISSN.
func (s *scanner) beginsWord(i int) bool {
	c := s.before(i)
	return !isAlnum(c) || s.b[i]|0x20 == 'i' && (c|0x20 == 'e' || c|0x20 == 'p') && (i < 2 || !isAlnum(s.b[i-2]))
}

func (s *scanner) decideBare(i int) bool {
	switch c := s.b[i]; {
	case ascii.IsDigit(c):
		return s.isBareStart(i) && (s.decideDOI(i) || s.decideORCID(i) || s.decideHyphens(i))
	case c|0x20 == 'i':
		return s.decideISBN(i) || s.decideISSN(i)
	case c|0x20 == 'a':
		return s.decideArXiv(i)
	default:
		return s.decidePMID(i) || s.decidePMC(i)
	}
}

// isBareStart reports whether an identifier may begin at i. An identifier cannot begin inside a
// number, a path or a name.
func (s *scanner) isBareStart(i int) bool {
	switch c := s.before(i); {
	case c >= utf8.RuneSelf:
		r, _ := utf8.DecodeLastRune(s.b[max(s.minStart, i-utf8.UTFMax):i])
		return !isJoint(r) && !s.isWordBefore(i)
	case c == '/':
		return s.precedes(i, "doi.org/") || s.precedes(i, "orcid.org/")
	default:
		return is(c, classSpace) || bytes.IndexByte([]byte("([{<>\"'`,;:=|*_~"), c) >= 0
	}
}

// precedes reports whether text is directly before i, ignoring case. The parameter text must be in
// lower case.
func (s *scanner) precedes(i int, text string) bool {
	low := i - len(text)
	return low >= s.minStart && low >= 0 && ascii.EqualFold(s.b[low:i], text)
}

func (s *scanner) bareFound(kind Kind, target string, pieces ...segment) bool {
	if s.short {
		return false
	}
	s.segs = append(s.segs[:0], pieces...)
	s.hit = hit{kind: kind, start: pieces[0].start, end: pieces[len(pieces)-1].end, target: target}
	return true
}

func (s *scanner) wordAt(i int, word string) int {
	for k := range len(word) {
		if ascii.Lower(s.peek(i+k)) != word[k] {
			return -1
		}
	}
	return i + len(word)
}

// pastSpace returns the offset after the white space at i. It returns i if there is too much white
// space.
func (s *scanner) pastSpace(i int) int {
	for k := i; k < i+maxLabel; k++ {
		if !is(s.peek(k), classSpace) {
			return k
		}
	}
	return i
}

// pastNote skips a short note in parentheses, such as "(online)", and the white space after it.
func (s *scanner) pastNote(i int) int {
	const maxNote = 24
	if s.peek(i) != '(' {
		return i
	}
	for k := i + 1; k < i+maxNote; k++ {
		switch c := s.peek(k); {
		case c == ')':
			return s.pastSpace(k + 1)
		case ascii.IsDigit(c) && k == i+1, c == 0:
			return i
		}
	}
	return i
}

func (s *scanner) endsNumber(i int) bool {
	switch c := s.peek(i); c {
	case '-', '/', '.', '_':
		return !isAlnum(s.peek(i + 1))
	default:
		return !isAlnum(c)
	}
}
