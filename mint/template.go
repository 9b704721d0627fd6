package mint

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/name"
)

// Limits on templates.
const (
	maxTemplate = 1024 // bytes
	maxParts    = 32
	maxRandom   = 64                      // characters in a random part
	maxSequence = 999_999_999_999_999_999 // the highest number of a sequence
	maxWidth    = 18                      // digits of maxSequence
)

type kind uint8

const (
	literal kind = iota
	sequence
	random
	date
	uuid4
	uuid7
	noidOrder
	check
)

// A part is a part of a template in braces, or literal text.
type part struct {
	kind     kind
	offset   int    // offset in the template
	text     string // literal text, layout of a date, or alphabet of random characters
	width    int    // number of characters; 0 for a sequence without a fixed width
	first    uint64 // first number of a sequence
	last     uint64
	computed checker
	noid     noidPart
}

// A Template describes names under a prefix. The zero Template is not valid.
type Template struct {
	prefix name.Prefix
	text   string
	parts  []part
}

// Parse parses a template for names under the prefix p. If the template is invalid, the error is an
// [*Error]. Parse does not check whether the names of the template are valid; see [Template.Start].
func Parse(p name.Prefix, text string) (Template, error) {
	t := Template{prefix: p, text: text}
	switch {
	case text == "":
		return t, t.fault(0, "template", "is empty")
	case len(text) > maxTemplate:
		return t, t.fault(maxTemplate, "template", fmt.Sprintf("must not exceed %d bytes", maxTemplate))
	}
	for at := 0; at < len(text); {
		next, err := t.read(at)
		if err != nil {
			return t, err
		}
		if len(t.parts) > maxParts {
			return t, t.fault(at, "template", fmt.Sprintf("must not exceed %d parts", maxParts))
		}
		at = next
	}
	return t, t.judge()
}

// String returns the text from which the template was parsed.
func (t Template) String() string { return t.text }

// capacity returns the number of names that the template has on one day, including invalid names.
// If the number does not fit into 64 bits, it returns [math.MaxUint64].
func (t Template) capacity() uint64 {
	if s := t.sequence(); s != nil {
		return s.last - s.first + 1
	}
	if p := t.noid(); p != nil {
		return p.noid.capacity()
	}
	total := uint64(1)
	for _, p := range t.parts {
		total = times(total, p.choices())
	}
	return total
}

func (p part) choices() uint64 {
	switch p.kind {
	case uuid4, uuid7:
		return math.MaxUint64
	case random:
		n := uint64(1)
		for range p.width {
			n = times(n, uint64(len(p.text)))
		}
		return n
	}
	return 1
}

func times(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}

func (t Template) sequence() *part {
	if i := slices.IndexFunc(t.parts, func(p part) bool { return p.kind == sequence }); i >= 0 {
		return &t.parts[i]
	}
	return nil
}

func (t Template) check() *part {
	if n := len(t.parts); n > 0 && t.parts[n-1].kind == check {
		return &t.parts[n-1]
	}
	return nil
}

func (t Template) judge() error {
	counted, ordered := false, t.noid()
	for i, p := range t.parts {
		switch {
		case ordered != nil && p.offset != ordered.offset && p.kind != literal && p.kind != date:
			return t.fault(p.offset, "noid", "only text and dates can be beside {noid}; its mask ends in k for a check character")
		case p.kind == check && i < len(t.parts)-1:
			return t.fault(p.offset, "check", "a check must be the last part")
		case p.kind == sequence && counted:
			return t.fault(p.offset, "seq", "only one sequence is allowed")
		}
		counted = counted || p.kind == sequence
	}
	return nil
}

func (t Template) fault(at int, rule, message string) error {
	return &Error{Input: t.text, Offset: at, Rule: rule, Message: message}
}

// read appends the literal or the part that begins at offset, and returns its end.
func (t *Template) read(offset int) (int, error) {
	rest := t.text[offset:]
	switch end := strings.IndexAny(rest, "{}"); {
	case end < 0:
		t.parts = append(t.parts, part{offset: offset, text: rest})
		return len(t.text), nil
	case end > 0:
		t.parts = append(t.parts, part{offset: offset, text: rest[:end]})
		return offset + end, nil
	case rest[0] == '}':
		return 0, t.fault(offset, "literal", `unexpected "}" without "{"`)
	}
	size := strings.IndexAny(rest[1:], "{}")
	switch {
	case size < 0:
		return 0, t.fault(len(t.text), "part", `missing "}"`)
	case rest[1+size] == '{':
		return 0, t.fault(offset+1+size, "part", `unexpected "{" inside a part`)
	}
	end := offset + 1 + size
	p, checked, err := t.part(offset, end)
	t.parts = append(t.parts, p)
	if checked {
		t.parts = append(t.parts, part{kind: check, offset: offset, computed: checker{noid, 1}})
	}
	return end + 1, err
}

// part parses the part whose braces are at the offsets start and end. The result checked is true if
// the part is a {noid} part with a check character.
func (t *Template) part(start, end int) (p part, checked bool, err error) {
	word, rest, given := strings.Cut(t.text[start+1:end], ":")
	a := arguments{t: t, at: start + 1 + len(word), end: end, rest: rest, given: given}
	p = part{offset: start}
	switch word {
	case "seq":
		p.kind = sequence
		err = a.sequence(&p)
	case "random":
		p.kind, p.text = random, betanumeric
		err = a.length(&p)
	case "digit":
		p.kind, p.text = random, betanumeric[:10]
		err = a.length(&p)
	case "hex":
		p.kind, p.text = random, "0123456789abcdef"
		err = a.length(&p)
	case "date":
		p.kind, p.text = date, "20060102"
	case "year":
		p.kind, p.text = date, "2006"
	case "month":
		p.kind, p.text = date, "01"
	case "day":
		p.kind, p.text = date, "02"
	case "uuid":
		p.kind, err = a.version()
	case "noid":
		p.kind = noidOrder
		checked, err = a.noid(&p)
	case "check":
		p.kind = check
		p.computed, err = a.checker()
	default:
		return p, false, t.fault(start+1, "kind", fmt.Sprintf("unknown part %q: want seq, random, digit, hex, date, year, month, day, uuid, noid or check", word))
	}
	if err == nil {
		err = a.done(word)
	}
	return p, checked, err
}

type arguments struct {
	t       *Template
	at, end int    // offsets of the colon before rest and of the closing brace
	rest    string // text after the colon
	given   bool   // there is a colon
}

func (a *arguments) next() (string, int, bool) {
	if !a.given {
		return "", a.end, false
	}
	arg, rest, given := strings.Cut(a.rest, ":")
	at := a.at + 1
	a.at, a.rest, a.given = at+len(arg), rest, given
	return arg, at, true
}

func (a *arguments) done(word string) error {
	if !a.given {
		return nil
	}
	return a.t.fault(a.at, word, "too many arguments")
}

// number parses a number without a sign, from least to limit.
func (a *arguments) number(s string, at int, rule string, least, limit uint64) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n < least || n > limit {
		return 0, a.t.fault(at, rule, fmt.Sprintf("invalid number %q: want %d to %d", s, least, limit))
	}
	return n, nil
}

// length parses the number of characters of a random part.
func (a *arguments) length(p *part) error {
	s, at, _ := a.next()
	n, err := a.number(s, at, "length", 1, maxRandom)
	p.width = int(n)
	return err
}

// sequence parses the width and the range.
func (a *arguments) sequence(p *part) error {
	p.first, p.last = 1, maxSequence
	s, at, ok := a.next()
	if !ok {
		return nil
	}
	n, err := a.number(s, at, "width", 0, maxWidth)
	if err != nil {
		return err
	}
	p.width = int(n)
	if n > 0 {
		p.last = uint64(math.Pow10(p.width)) - 1
	}
	s, at, ok = a.next()
	if !ok {
		return nil
	}
	return a.limits(p, s, at)
}

// limits parses the range of a sequence, which is FIRST-LAST, FIRST- or FIRST.
func (a *arguments) limits(p *part, s string, at int) error {
	low, high, _ := strings.Cut(s, "-")
	var err error
	if p.first, err = a.number(low, at, "range", 0, p.last); err == nil && high != "" {
		p.last, err = a.number(high, at+len(low)+1, "range", p.first, p.last)
	}
	return err
}

func (a *arguments) version() (kind, error) {
	switch s, at, ok := a.next(); {
	case !ok || s == "7":
		return uuid7, nil
	case s == "4":
		return uuid4, nil
	default:
		return 0, a.t.fault(at, "uuid", fmt.Sprintf("unsupported UUID version %q: want 4 or 7", s))
	}
}

func (a *arguments) checker() (checker, error) {
	switch s, at, ok := a.next(); {
	case !ok:
		return checker{}, nil
	case s == "noid":
		return checker{noid, 1}, nil
	case s == "luhn":
		return checker{luhn, 1}, nil
	case s == "mod97":
		return checker{mod97, 2}, nil
	default:
		return checker{}, a.t.fault(at, "check", fmt.Sprintf("unknown check %q: want noid, luhn or mod97", s))
	}
}
