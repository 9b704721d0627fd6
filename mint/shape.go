package mint

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
)

// A shape describes what the keys of a template's names on one day have in common. It is found by
// comparing the keys of sample names, because a namespace can have other spellings in keys than in
// the template.
type shape struct {
	base  string // the key of a sample
	role  []byte // for each byte of base: '=' if all names have this byte, '#' for a digit of the sequence, '?' for any byte
	grows bool   // the sequence has no fixed width
}

// survey determines the shape. It returns an error if the template has no valid names.
func (r *Run) survey() error {
	const digits = "0123456789"
	base, check, at, err := r.sample(func(d byte) (byte, byte) { return d, d }, digits)
	if err != nil {
		return err
	}
	r.shape.base, r.shape.role = base, bytes.Repeat([]byte{'='}, len(base))
	d, others := digits[at], digits[:at]+digits[at+1:]
	if r.t.varies() {
		err = r.mark(func(c byte) (byte, byte) { return d, c }, others, '?')
	}
	if s := r.t.sequence(); s != nil && err == nil {
		err = r.mark(func(c byte) (byte, byte) { return c, d }, others, '#')
		r.shape.grows = s.width == 0
	}
	copy(r.shape.role[len(base)-check:], "????")
	return err
}

// mark makes another sample, and sets the role of the bytes in which its key differs from base.
func (r *Run) mark(vary func(byte) (byte, byte), digits string, role byte) error {
	other, _, _, err := r.sample(vary, digits)
	if err == nil && len(other) != len(r.shape.base) {
		err = &RefusedError{r.t.text, other, errors.New("the length varies between names")}
	}
	if err != nil {
		return err
	}
	for i := range len(other) {
		if r.shape.base[i] != other[i] {
			r.shape.role[i] = role
		}
	}
	return nil
}

// varies reports whether names differ in more than the sequence.
func (t Template) varies() bool { return t.has(random, uuid4, uuid7, noidOrder) }

func (t Template) has(kinds ...kind) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return slices.Contains(kinds, p.kind) })
}

// sample makes a valid name from one of the digits, which it tries in order. The function vary
// returns the digits to use in the sequence and in the random parts. The results are the key, the
// length of its check, and the index of the digit. If no name is valid, sample returns the error
// for the first digit.
func (r *Run) sample(vary func(byte) (byte, byte), digits string) (key string, check, at int, err error) {
	for i := range len(digits) {
		sequence, other := vary(digits[i])
		element, ends := r.spell(sequence, other)
		n, width, failed := r.finish(element)
		if failed == nil {
			return n.Key(), width, i, nil
		}
		if err == nil {
			err = r.locate(failed, element, ends)
		}
	}
	return "", 0, 0, err
}

func (r *Run) spell(sequenceDigit, randomDigit byte) (string, []int) {
	var b []byte
	ends := make([]int, len(r.t.parts))
	for i, p := range r.t.parts {
		switch p.kind {
		case literal:
			b = append(b, p.text...)
		case sequence:
			b = append(b, bytes.Repeat([]byte{sequenceDigit}, max(p.width, 1))...)
		case random:
			b = append(b, bytes.Repeat([]byte{randomDigit}, p.width)...)
		case noidOrder:
			b = append(b, bytes.Repeat([]byte{randomDigit}, len(p.noid.mask))...)
		case date:
			b = r.day.AppendFormat(b, p.text)
		case uuid4, uuid7:
			for _, n := range [...]int{8, 4, 4, 4, 12} {
				b = append(append(b, bytes.Repeat([]byte{randomDigit}, n)...), '-')
			}
			b = b[:len(b)-1]
		}
		ends[i] = len(b)
	}
	return string(b), ends
}

func (r *Run) locate(err error, element string, ends []int) error {
	var bad *name.Error
	if !errors.As(err, &bad) {
		return err
	}
	at := bad.Offset - strings.LastIndex(r.t.prefix.Spell(element), element)
	start := 0
	for i, end := range ends {
		p := r.t.parts[i]
		if at < end || i == len(ends)-1 {
			offset := p.offset
			if p.kind == literal {
				offset += min(max(at-start, 0), len(p.text))
			}
			return &Error{Input: r.t.text, Offset: offset, Rule: bad.Rule, Message: bad.Message, Err: err}
		}
		start = end
	}
	return err
}

// under returns the fixed start of the keys of all names, for use with a [List]. It returns "" if
// the template has no sequence.
func (r *Run) under() string {
	if r.t.sequence() == nil {
		return ""
	}
	return r.shape.base[:bytes.IndexAny(r.shape.role, "#?")]
}

// after reports whether the existing name n belongs to the template. If it does, the sequence
// continues after the number in n.
func (r *Run) after(n name.Name) bool {
	number, ok := r.shape.number(n.Key())
	if ok && r.t.sequence() != nil {
		r.next = max(r.next, number+1)
	}
	return ok
}

// Next returns the next number of the sequence, and the number of names that are left.
func (r *Run) Next() (next, left uint64) {
	s := r.t.sequence()
	if s == nil || r.next > s.last {
		return r.next, 0
	}
	return r.next, s.last - r.next + 1
}

// number returns the number of the sequence in key. It returns false if key does not have the
// shape.
func (s shape) number(key string) (n uint64, ok bool) {
	more := len(key) - len(s.base)
	if more != 0 && (!s.grows || more < 0 || more >= maxWidth) {
		return 0, false
	}
	at := 0
	for i, role := range s.role {
		span := 1
		if role == '#' && s.grows {
			span += more
		}
		for range span {
			switch c := key[at]; {
			case role == '=' && c != s.base[i], role == '#' && !ascii.IsDigit(c):
				return 0, false
			case role == '#' && s.grows && c == '0' && n == 0 && span > 1:
				return 0, false // the number has a leading zero
			case role == '#':
				n = n*10 + uint64(c-'0')
			}
			at++
		}
	}
	return n, true
}
