package mint

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
)

const maxCounters = 293

// maxNoid is the maximum number of strings of a mask. NOID computes with floating-point numbers,
// which represent integers exactly up to this number.
const maxNoid = 1 << 53

type noidPart struct {
	mask  string // "e" and "d"; not empty
	kind  byte   // 'r' random order, 's' sequential, 'z' sequential without limit
	add   int    // number of characters to add when all strings of the mask are used; 0 means none
	first uint64 // number of strings of the mask that were made before
}

// A noidMinter returns the strings of a NOID minter in the order of NOID. For each string, NOID
// seeds a random generator with the number of strings made so far. The generator chooses one of up
// to 293 counters, and NOID increments this counter. Therefore, the mask and the number of strings
// made so far determine the state of the minter.
type noidMinter struct {
	noidPart

	count  uint64   // strings made with this mask
	total  uint64   // strings of the mask
	each   uint64   // number of strings of each counter; the last may have fewer
	values []uint64 // of the counters
	active []uint16 // indexes of the counters that are not used up
}

func (p noidPart) start() *noidMinter {
	m := &noidMinter{noidPart: p}
	m.reset(p.mask)
	m.advance(p.first)
	return m
}

func (m *noidMinter) reset(mask string) {
	m.mask, m.count, m.total = mask, 0, noidTotal(mask)
	m.each = m.total/maxCounters + 1
	if m.kind != 'r' {
		return
	}
	n := (m.total + m.each - 1) / m.each
	m.values, m.active = make([]uint64, n), make([]uint16, n)
	for i := range m.active {
		m.active[i] = uint16(i)
	}
}

// noidTotal returns the number of strings of a mask, or 0 if the number is greater than maxNoid.
func noidTotal(mask string) uint64 {
	total := uint64(1)
	for i := range len(mask) {
		if total *= noidBase(mask[i]); total > maxNoid {
			return 0
		}
	}
	return total
}

func noidBase(c byte) uint64 {
	if c == 'd' {
		return 10
	}
	return uint64(len(betanumeric))
}

func (m *noidMinter) copy() *noidMinter {
	c := *m
	c.values, c.active = slices.Clone(m.values), slices.Clone(m.active)
	return &c
}

func (m *noidMinter) advance(n uint64) bool {
	if m.kind != 'r' {
		left := m.left()
		m.count += min(n, left)
		return n <= left
	}
	for range n {
		if _, ok := m.step(); !ok {
			return false
		}
	}
	return true
}

// left returns the number of strings that a sequential minter can still make with this mask.
func (m *noidMinter) left() uint64 {
	if m.kind == 'z' {
		return maxNoid - m.count
	}
	return m.total - m.count
}

func (m *noidMinter) step() (uint64, bool) {
	if m.kind == 'z' && m.count < maxNoid || m.kind == 's' && m.count < m.total {
		m.count++
		return m.count - 1, true
	}
	if m.kind == 'z' || m.count == m.total && !m.grow() {
		return 0, false
	}
	if m.kind == 's' {
		return m.step()
	}
	at := m.pick()
	c := m.active[at]
	m.values[c]++
	m.count++
	if m.values[c] == min(m.each, m.total-uint64(c)*m.each) {
		m.active = slices.Delete(m.active, at, at+1)
	}
	return m.values[c] + uint64(c)*m.each, true
}

func (m *noidMinter) grow() bool {
	longer := m.mask[:min(m.add, len(m.mask))] + m.mask
	if m.add == 0 || noidTotal(longer) == 0 {
		return false
	}
	m.reset(longer)
	return true
}

// pick returns the index of an active counter. It uses the first number that Perl's random
// generator (drand48) returns after it is seeded.
func (m *noidMinter) pick() int {
	const factor, addend, bits, low = 0x5DEECE66D, 0xB, 48, 0x330E
	x := uint64(uint32(m.count))<<16 | low
	x = (x*factor + addend) & (1<<bits - 1)
	return int(x * uint64(len(m.active)) >> bits)
}

func (m *noidMinter) append(b []byte, n uint64) []byte {
	var digits []byte
	base := uint64(0)
	for i := len(m.mask) - 1; i >= 0; i-- {
		base = noidBase(m.mask[i])
		digits = append(digits, betanumeric[n%base])
		n /= base
	}
	for m.kind == 'z' && n != 0 {
		digits = append(digits, betanumeric[n%base])
		n /= base
	}
	slices.Reverse(digits)
	return append(b, digits...)
}

func (m *noidMinter) next(b []byte) ([]byte, bool) {
	n, ok := m.step()
	if !ok {
		return b, false
	}
	return m.append(b, n), true
}

// noidWindow is the number of consecutive names that must not exist at the position where a run
// continues.
const noidWindow = 4

// seekNoid continues after the last existing name in the order of NOID. It uses binary search,
// because all names before the last existing name exist too. It first doubles the distance until it
// reaches names that do not exist. Then it halves the distance.
func (r *Run) seekNoid(list List) error {
	known, err := r.knownAt(r.noid, list)
	if err != nil || !known {
		return err
	}
	distance := uint64(1)
	for known && err == nil {
		known, err = r.leap(distance, list)
		distance *= 2
	}
	for distance /= 2; distance > 1 && err == nil; {
		distance /= 2
		_, err = r.leap(distance, list)
	}
	r.noid.advance(1) // the name here exists
	return err
}

// leap advances the minter by the given distance if names exist at the new position, and reports
// whether they exist.
func (r *Run) leap(distance uint64, list List) (bool, error) {
	next := r.noid.copy()
	if !next.advance(distance) {
		return false, nil
	}
	known, err := r.knownAt(next, list)
	if known && err == nil {
		r.noid = next
	}
	return known, err
}

func (r *Run) knownAt(m *noidMinter, list List) (bool, error) {
	probe := *r
	probe.noid = m.copy()
	for range noidWindow {
		element, err := probe.render()
		if err != nil {
			return false, nil // no names are left
		}
		n, _, err := r.finish(string(element))
		if err != nil {
			continue // the namespace does not allow this name
		}
		if known, err := first(list(n.Key()), n); known || err != nil {
			return known, err
		}
	}
	return false, nil
}

func first(names iter.Seq2[name.Name, error], n name.Name) (bool, error) {
	for there, err := range names {
		return err == nil && there == n, err
	}
	return false, nil
}

// noid parses the arguments of a {noid} part. The mask comes first. It can be followed by addN and
// by the number of strings made before, in any order. The result checked is true if the mask ends
// in "k".
func (a *arguments) noid(p *part) (checked bool, err error) {
	s, at, _ := a.next()
	p.noid.kind = 's'
	if strings.IndexAny(s, "rsz") == 0 {
		p.noid.kind, s, at = s[0], s[1:], at+1
	} else {
		p.noid.kind = 'r' // the first letter is optional
	}
	p.noid.mask, checked = strings.CutSuffix(s, "k")
	if p.noid.mask == "" || strings.Trim(p.noid.mask, "ed") != "" {
		return false, a.t.fault(at, "mask", fmt.Sprintf(`invalid mask %q: want "r", "s" or "z", then "e" and "d", then "k" for a check character`, s))
	}
	if noidTotal(p.noid.mask) == 0 {
		return false, a.t.fault(at, "mask", "has more than 2^53 names")
	}
	for err == nil {
		s, at, more := a.next()
		if !more {
			break
		}
		err = a.noidSetting(&p.noid, s, at)
	}
	if total := noidTotal(p.noid.mask); err == nil && p.noid.kind != 'z' && p.noid.first > total {
		err = a.t.fault(p.offset, "noid", fmt.Sprintf("%d names were minted, but the mask has only %d", p.noid.first, total))
	}
	return checked, err
}

// noidSetting parses an argument after the mask.
func (a *arguments) noidSetting(p *noidPart, s string, at int) error {
	n, err := uint64(0), error(nil)
	if digits, ok := strings.CutPrefix(s, "add"); ok {
		n, err = a.number(digits, at+len("add"), "add", 1, uint64(len(p.mask)))
		p.add = int(n)
		return err
	}
	p.first, err = a.number(s, at, "noid", 0, maxNoid)
	return err
}

func (t Template) noid() *part {
	if i := slices.IndexFunc(t.parts, func(p part) bool { return p.kind == noidOrder }); i >= 0 {
		return &t.parts[i]
	}
	return nil
}

// Ordered reports whether the template has a {noid} part. [Run.Seek] then calls its [List] only
// with the whole keys of names.
func (t Template) Ordered() bool { return t.noid() != nil }

// capacity returns the number of strings that a minter can make.
func (p noidPart) capacity() uint64 {
	if p.kind == 'z' || p.add > 0 {
		return math.MaxUint64
	}
	return noidTotal(p.mask)
}

// A Counters has the state of a NOID minter.
type Counters struct {
	Values []uint64 // of the counters, in their order
	Active []int    // the counters that are not used up, in the order of the minter
}

// Counters returns the state of the {noid} part when a run starts. It returns false if there is no
// {noid} part with random order.
func (t Template) Counters() (Counters, bool) {
	p := t.noid()
	if p == nil || p.noid.kind != 'r' {
		return Counters{}, false
	}
	m := p.noid.start()
	c := Counters{Values: m.values}
	for _, i := range m.active {
		c.Active = append(c.Active, int(i))
	}
	return c, true
}

// Shoulder returns the literal text with which the template begins.
func (t Template) Shoulder() string {
	if len(t.parts) == 0 || t.parts[0].kind != literal {
		return ""
	}
	return t.parts[0].text
}
