package extract

import (
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/namespace"
)

const (
	isbnDigits  = 13
	tenDigits   = 10
	issnDigits  = 8
	orcidDigits = 16
	maxPMID     = 8 // maximum number of digits
)

// A number is a sequence of digits, which may be separated by hyphens or spaces. The last digit may
// be X.
type number struct {
	digits [isbnDigits]byte
	n      int
	pieces []segment // the number without its spaces
	end    int
}

// number reads a number with at most max digits at i. If spaced is false, the number ends before a
// space.
func (s *scanner) number(i, max int, spaced bool) (num number) {
	from := i
	for num.n < max {
		c := s.peek(i)
		if !ascii.IsDigit(c) && (c|0x20 != 'x' || num.n != max-1 && num.n != tenDigits-1) {
			break
		}
		if c|0x20 == 'x' {
			c = 'X'
		}
		num.digits[num.n] = c
		num.n++
		i++
		num.end = i
		if c == 'X' {
			break
		}
		switch c := s.peek(i); {
		case c == '-':
			i++
		case c == ' ' && spaced && num.n < max:
			num.pieces = append(num.pieces, segment{start: from, end: i})
			i++
			from = i
		}
	}
	if from < num.end {
		num.pieces = append(num.pieces, segment{start: from, end: num.end})
	}
	return num
}

// decideISBN looks for the word ISBN at i, followed by a number with a correct check digit.
func (s *scanner) decideISBN(i int) bool {
	k := s.wordAt(i, "isbn")
	if !s.o.Bare.Has(ISBN) || k < 0 || !s.isLabelStart(i) {
		return false
	}
	if c := s.peek(k); c|0x20 == 's' {
		k++
	}
	k = s.pastLength(k)
	k = s.pastLabel(k)
	for _, length := range []int{isbnDigits, tenDigits} {
		num := s.number(k, length, true)
		if num.n != length || !s.endsNumber(num.end) {
			continue
		}
		if target := urnOf("isbn", string(num.digits[:length])); target != "" {
			return s.bareFound(ISBN, target, num.pieces...)
		}
	}
	return false
}

func (s *scanner) isLabelStart(i int) bool {
	switch s.before(i) {
	case '/', '.', '_', '@', '#', '&', '%', '$', '\\', '?':
		return false
	}
	return true
}

func (s *scanner) pastLength(k int) int {
	i := k
	if c := s.peek(i); c == '-' || c == ' ' {
		i++
	}
	if s.peek(i) == '1' && (s.peek(i+1) == '0' || s.peek(i+1) == '3') && (s.peek(i+2) == ':' || s.peek(i+2) == ' ') {
		return i + 2
	}
	return k
}

// pastLabel skips the colon, the white space and the note that can follow a label such as ISBN.
func (s *scanner) pastLabel(k int) int {
	k = s.pastNote(s.pastSpace(k))
	if c := s.peek(k); c == ':' || c == '=' || c == '#' {
		k = s.pastNote(s.pastSpace(k + 1))
	}
	return k
}

func urnOf(nid, nss string) string {
	n, _ := namespace.Lookup(nid)
	if n.Check(nss) != nil {
		return ""
	}
	return "urn:" + nid + ":" + n.Canonical(nss)
}

// decideHyphens looks for an ISBN at i that the word ISBN does not precede. Such an ISBN needs a
// correct check digit, and hyphens at the positions that the ISBN agencies define.
func (s *scanner) decideHyphens(i int) bool {
	if !s.o.Bare.Has(ISBN) {
		return false
	}
	for _, length := range []int{isbnDigits, tenDigits} {
		num := s.number(i, length, false)
		if num.n != length || !s.endsNumber(num.end) {
			continue
		}
		nss := string(s.b[i:num.end])
		n, _ := namespace.Lookup("isbn")
		if n.Check(nss) == nil && ascii.EqualFold(n.Display(nss), nss) && len(nss) == length+3+(length-tenDigits)/3 {
			return s.bareFound(ISBN, urnOf("isbn", nss), num.pieces...)
		}
	}
	return false
}

// decideISSN looks for the word ISSN, eISSN or ISSN-L at i, followed by a number with a correct
// check digit. The word is required because a range of years, such as 1990-1999, looks like an
// ISSN.
func (s *scanner) decideISSN(i int) bool {
	k := s.wordAt(i, "issn")
	if !s.o.Bare.Has(ISSN) || k < 0 || !s.isLabelStart(i) {
		return false
	}
	if s.peek(k) == '-' && s.peek(k+1)|0x20 == 'l' {
		k += 2
	}
	num := s.number(s.pastLabel(k), issnDigits, false)
	if num.n != issnDigits || !s.endsNumber(num.end) {
		return false
	}
	target := urnOf("issn", string(num.digits[:issnDigits]))
	return target != "" && s.bareFound(ISSN, target, num.pieces...)
}

// decideORCID looks for an ORCID iD at i. An ORCID iD has 16 digits with hyphens, a correct check
// character, and a value in a range that ORCID assigns.
func (s *scanner) decideORCID(i int) bool {
	const length = orcidDigits + 3
	if !s.o.Bare.Has(ORCID) || s.peek(i+4) != '-' || s.peek(i+9) != '-' || s.peek(i+14) != '-' || !s.endsNumber(i+length) || len(s.b) < i+length {
		return false
	}
	id := string(s.b[i : i+length])
	return pid.CheckORCID(id) == nil && s.bareFound(ORCID, "https://orcid.org/"+pid.FoldORCID(id), segment{start: i, end: i + length})
}

func (s *scanner) decideArXiv(i int) bool {
	k := s.wordAt(i, "arxiv")
	if !s.o.Bare.Has(ArXiv) || k < 0 || !s.isLabelStart(i) {
		return false
	}
	start := i
	switch c := s.peek(k); c {
	case ':':
		k++
		if n := s.pastSpace(k); n > k {
			k, start = n, n
		}
	case ' ':
		k++
		start = k
	case '.':
		n := s.wordAt(k, ".org/abs/")
		if n < 0 {
			n = s.wordAt(k, ".org/pdf/")
		}
		if n < 0 {
			return false
		}
		k, start = n, n
	default:
		return false
	}
	low := k
	for k < low+maxLabel && (isAlnum(s.peek(k)) || s.peek(k) == '.' && isAlnum(s.peek(k+1)) || s.peek(k) == '/' || s.peek(k) == '-') {
		k++
	}
	id := string(s.b[low:k])
	n := pid.LenArXiv(id)
	if n == 0 || n < len(id) && isAlnum(id[n]) || n < len(id) && id[n] == '-' {
		return false
	}
	return s.bareFound(ArXiv, "https://arxiv.org/abs/"+id[:n], segment{start: start, end: low + n})
}

func (s *scanner) decidePMID(i int) bool {
	k := s.wordAt(i, "pmid")
	if !s.o.Bare.Has(PMID) || k < 0 || !s.isLabelStart(i) {
		return false
	}
	k = s.pastLabel(k)
	end := s.shortNumber(k)
	if end < 0 {
		return false
	}
	return s.bareFound(PMID, "https://pubmed.ncbi.nlm.nih.gov/"+string(s.b[k:end])+"/", segment{start: k, end: end})
}

func (s *scanner) shortNumber(i int) int {
	end := i
	for end <= i+maxPMID && ascii.IsDigit(s.peek(end)) {
		end++
	}
	if end == i || end > i+maxPMID || s.b[i] == '0' || !s.endsNumber(end) && s.peek(end) != '.' {
		return -1
	}
	return end
}

// decidePMC looks for PMC and a number at i. The number must have at least six digits, unless the
// word PMCID precedes PMC.
func (s *scanner) decidePMC(i int) bool {
	if !s.o.Bare.Has(PMCID) || !s.follows(i, "PMC") || !s.isLabelStart(i) {
		return false
	}
	end := s.shortNumber(i + len("PMC"))
	if end < 0 || end < i+len("PMC123456") && !s.precedes(i, "pmcid:") && !s.precedes(i, "pmcid: ") && !s.precedes(i, "pmcid ") {
		return false
	}
	return s.bareFound(PMCID, "https://pmc.ncbi.nlm.nih.gov/articles/"+string(s.b[i:end])+"/", segment{start: i, end: end})
}
