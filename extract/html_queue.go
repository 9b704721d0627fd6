package extract

import (
	"bytes"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"

	"github.com/nomen-project/nomen/extract/internal/source"
)

// Limits on the findings that are held back until the base of a document is known.
const (
	maxHeld    = 1 << 14 // findings
	maxHeldLen = 8 << 20 // octets of the findings
)

func outside(o Options) Base { return Establish(RetrievalBase(o.Base), DefaultBase(o.Default)) }

// A scope is a part of a document in which all references have the same base.
type scope struct {
	outer *scope
	ref   uri.URI // the reference that sets the base, relative to the base outside the scope; may be invalid
	rule  string
	known bool // ref is final
	taken bool // a BASE has been read
	base  Base // the resolved base, if done is true
	done  bool
}

func newScope(b Base) *scope {
	return &scope{outer: &scope{known: true, done: true, base: b}, rule: BaseEmbedded}
}

func (s *scope) isKnown() bool {
	for ; s != nil; s = s.outer {
		if !s.known {
			return false
		}
	}
	return true
}

// resolved returns the base, which must be final.
func (s *scope) resolved() Base {
	if !s.done {
		s.base, s.done = s.outer.resolved(), true
		if s.ref.IsValid() {
			s.base = s.base.inside(s.ref, s.rule)
		}
	}
	return s.base
}

func (s *scope) inner(ref uri.URI) *scope {
	return &scope{outer: s, ref: ref, rule: BaseEmbedded, known: true}
}

// A held is an item of a [queue]: a finding whose base may be unknown, or an error.
type held struct {
	finding Finding
	scope   *scope
	err     error
}

// A queue holds findings until their bases are known.
type queue struct {
	tape    *source.Tape
	yield   func(Finding, error) bool
	prefix  string // prefix of Finding.Where
	items   []held
	size    int
	stopped bool
	blank   scanner // a scanner with the options, to which other scanners are reset
	scanner scanner // for complete texts
}

func newQueue(t *source.Tape, o Options, yield func(Finding, error) bool) *queue {
	return &queue{tape: t, yield: yield, blank: newScanner(o, MaxLength)}
}

func (q *queue) add(h held) {
	if q.stopped {
		return
	}
	h.finding.Where = strings.TrimSuffix(q.prefix+h.finding.Where, " ")
	if len(q.items) == 0 && q.ready(h) {
		q.put(h)
		return
	}
	q.items = append(q.items, h)
	q.size += len(h.finding.Text) + len(h.finding.Spelling)
	if len(q.items) >= maxHeld || q.size >= maxHeldLen {
		q.items[0].scope.giveUp()
		q.flush(false)
	}
}

// giveUp makes the bases of s and of all scopes around it final, although no BASE element was
// found.
func (s *scope) giveUp() {
	for ; s != nil; s = s.outer {
		s.known = true
	}
}

func (q *queue) ready(h held) bool { return h.err != nil || h.scope.isKnown() }

// flush yields the items before the first finding whose base is unknown. If end is true, it yields
// all items.
func (q *queue) flush(end bool) {
	n := 0
	for ; n < len(q.items) && !q.stopped; n++ {
		h := q.items[n]
		if end {
			h.scope.giveUp()
		}
		if !q.ready(h) {
			break
		}
		q.size -= len(h.finding.Text) + len(h.finding.Spelling)
		q.put(h)
	}
	q.items = append(q.items[:0], q.items[n:]...)
}

func (q *queue) put(h held) {
	f, err := h.finding, h.err
	if err == nil {
		f, err = resolved(f, h.scope)
	}
	q.stopped = !q.yield(f, err)
}

// resolved resolves a finding against the base of its scope.
func resolved(f Finding, s *scope) (Finding, error) {
	base := s.resolved()
	f.Base, f.BaseRule = base.URI.String(), base.Rule
	if !f.URI.IsReference() {
		if !f.Target.IsValid() {
			f.Target = f.URI
		}
		return f, nil
	}
	target, err := base.resolve(f.URI)
	f.Target = target
	if err != nil && base.Rule != "" {
		return f, &DocumentError{f.Start, "reference cannot be resolved", err}
	}
	return f, nil
}

// reference adds the reference in v.Text[i:j] without the white space around it. It ignores an
// empty reference.
func (q *queue) reference(v *source.Mapped, i, j int, s *scope, where string) {
	from, to := trimmed(v.Text[i:j])
	if from == to {
		return
	}
	i, j = i+from, i+to
	start, end := v.Span(i, j)
	f := Finding{Kind: Reference, Start: start, End: end, Text: q.tape.Cut(start, end), Spelling: spelled(v.Text[i:j]), Where: where}
	u, err := readReference(f.Spelling)
	if err != nil {
		q.add(held{finding: f, scope: s, err: &DocumentError{start, "invalid reference", err}})
		return
	}
	f.URI = u
	if scheme, ok := u.Scheme(); ok {
		switch f.Kind = URI; {
		case strings.EqualFold(scheme, "urn"):
			f.Kind = URN
		case !ascii.IsASCII(f.Spelling):
			f.Kind = IRI
		}
	}
	q.add(held{finding: f, scope: s})
}

// A stretch is continuous text, which is searched in parts while it is read.
type stretch struct {
	source.Mapped
	scanner scanner
	oneLine bool // line breaks count as spaces
	begun   bool
}

func (s *stretch) isFull() bool { return len(s.Text) >= 2*MaxLength }

// flush searches the stretch and adds its identifiers to the queue. If end is false, it keeps text
// at the end that may belong to an incomplete identifier.
func (s *stretch) flush(q *queue, sc *scope, end bool, where string) {
	if !s.begun {
		if end && !q.hasCandidates(s.Text) {
			s.Reset()
			return
		}
		q.restart(&s.scanner, s.oneLine)
		s.begun = true
	}
	s.scanner.b, s.scanner.final = s.Text, end
	for !q.stopped && s.scanner.next() {
		if f, ok := s.scanner.finding(); ok {
			q.found(&s.Mapped, f, s.scanner.off, sc, where)
		}
	}
	if end || q.stopped {
		s.Reset()
		s.begun = false
	} else if n := s.scanner.pos - maxBehind; n > 0 {
		s.Drop(n)
		s.scanner.slide(n)
	}
}

func (q *queue) hasCandidates(text []byte) bool {
	return q.blank.o.Abbreviated || q.blank.o.Mail || q.blank.o.Bare != 0 || bytes.IndexByte(text, ':') >= 0
}

// restart resets a scanner for a new text. The scanner keeps its buffers.
func (q *queue) restart(s *scanner, oneLine bool) {
	texts, segs := s.texts, s.segs
	*s = q.blank
	s.texts, s.segs = texts, segs[:0]
	s.o.OneLine = s.o.OneLine || oneLine
}

// text adds the identifiers in a complete text, in which line breaks count as spaces.
func (q *queue) text(v *source.Mapped, s *scope, where string) {
	if !q.hasCandidates(v.Text) {
		return
	}
	q.restart(&q.scanner, true)
	q.scanner.b, q.scanner.final = v.Text, true
	for !q.stopped && q.scanner.next() {
		if f, ok := q.scanner.finding(); ok {
			q.found(v, f, 0, s, where)
		}
	}
}

// stream searches a text while reading it. If wholeLines is true, identifiers do not continue on
// the next line.
func (q *queue) stream(f source.Feed, sc *scope, wholeLines bool) {
	s := stretch{oneLine: wholeLines}
	for !q.stopped {
		p, ok := f.Next()
		if !ok {
			break
		}
		s.Add(p)
		if s.isFull() {
			s.flush(q, sc, false, "")
		}
		if at, ok := s.First(); ok {
			q.tape.Release(at)
		}
	}
	s.flush(q, sc, true, "")
}

// found adds an identifier that a scanner has found in v. The parameter dropped is the number of
// octets of the text that have been removed from v.
func (q *queue) found(v *source.Mapped, f Finding, dropped int64, s *scope, where string) {
	f.Start, f.End = v.Span(int(f.Start-dropped), int(f.End-dropped))
	if !q.tape.Has(f.Start, f.End, f.Text) {
		f.Text = q.tape.Cut(f.Start, f.End)
	}
	f.Where = where
	q.add(held{finding: f, scope: s})
}
