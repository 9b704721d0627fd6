package mint

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
)

// Options configure a [Run]. The zero Options are usable.
type Options struct {
	Now        func() time.Time     // returns the current time; nil means time.Now
	Rand       io.Reader            // source of random bytes; nil means crypto/rand
	Namespaces *namespace.Catalogue // rules for names; nil means namespace.Standard()
}

func (o Options) rules() rules {
	if o.Namespaces == nil {
		return rules{namespace.Standard()}
	}
	return rules{*o.Namespaces}
}

const (
	// MaxRun is the maximum number of random names that a run can return. A run remembers these
	// names, so that it does not repeat one. The limit does not apply to sequences, UUIDs of
	// version 7 and {noid} parts.
	MaxRun = 1 << 20

	// maxRefused is the maximum number of consecutive names that are invalid in their namespace.
	maxRefused = 1000
)

// A Run generates the names of a template. Names with a date have the date on which the Run was
// started. A Run is not safe for concurrent use.
type Run struct {
	t      Template
	rules  rules
	day    time.Time
	random source
	uuids  *uuidSource
	shape  shape

	next uint64              // next number of the sequence
	noid *noidMinter         // the {noid} part, or nil
	seen map[string]struct{} // the names so far, if the template could repeat one
}

// Start starts a run. If names of the template would be syntactically invalid after the prefix, the
// error is an [*Error]. If all names of the template are invalid in their namespace, the error is a
// [*RefusedError].
func (t Template) Start(o Options) (*Run, error) {
	if len(t.parts) == 0 {
		return nil, t.fault(0, "template", "is empty")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	r := &Run{
		t: t, rules: o.rules(), day: o.Now().UTC(), uuids: newUUIDs(o.Now, o.Rand),
		random: newSource(o.Rand), seen: map[string]struct{}{},
	}
	if s := t.sequence(); s != nil {
		r.next = s.first
	}
	if p := t.noid(); p != nil {
		r.noid = p.noid.start()
	}
	err := r.survey()
	return r, err
}

// Names returns an iterator over new names without repetition. A second call continues after the
// last name. At the end, the iterator yields a zero name with one of these errors:
//
//   - an [*ExhaustedError] if there are no more names;
//   - a [*RunError] if the run has reached [MaxRun];
//   - a [*RefusedError] if too many consecutive names are invalid in their namespace;
//   - an error of the random source.
func (r *Run) Names() iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		for {
			n, err := r.candidate()
			if !yield(n, err) || err != nil {
				return
			}
		}
	}
}

// candidate returns the next name that is valid in its namespace.
func (r *Run) candidate() (name.Name, error) {
	for refused := 0; ; refused++ {
		element, err := r.draw()
		if err != nil {
			return name.Name{}, err
		}
		n, _, err := r.finish(element)
		if err == nil {
			return n, nil
		}
		if !errors.As(err, new(*RefusedError)) || refused == maxRefused {
			return name.Name{}, err
		}
	}
}

func (r *Run) draw() (string, error) {
	s := r.t.sequence()
	if s != nil && r.next > s.last {
		return "", r.exhausted()
	}
	if s != nil || r.t.has(uuid7, noidOrder) { // such a part makes every name different
		b, err := r.render()
		r.next++
		return string(b), err
	}
	return r.drawNew()
}

func (r *Run) drawNew() (string, error) {
	switch n := uint64(len(r.seen)); {
	case n == r.t.capacity():
		return "", r.exhausted()
	case n == MaxRun:
		return "", &RunError{r.t.text}
	}
	for {
		b, err := r.render()
		if err != nil {
			return "", err
		}
		if _, again := r.seen[string(b)]; !again {
			r.seen[string(b)] = struct{}{}
			return string(b), nil
		}
	}
}

func (r *Run) exhausted() error { return &ExhaustedError{r.t.text, r.t.capacity()} }

func (r *Run) render() ([]byte, error) {
	b := make([]byte, 0, 64)
	var err error
	for _, p := range r.t.parts {
		switch p.kind {
		case literal:
			b = append(b, p.text...)
		case sequence:
			b = p.number(b, r.next)
		case date:
			b = r.day.AppendFormat(b, p.text)
		case random:
			b, err = r.random.append(b, p.text, p.width)
		case uuid4, uuid7:
			b, err = r.uuid(b, p.kind)
		case noidOrder:
			var ok bool
			if b, ok = r.noid.next(b); !ok {
				err = r.exhausted()
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (p part) number(b []byte, n uint64) []byte {
	return fmt.Appendf(b, "%0*d", p.width, n)
}

func (r *Run) uuid(b []byte, k kind) ([]byte, error) {
	make := r.uuids.v7
	if k == uuid4 {
		make = r.uuids.v4
	}
	s, err := make()
	return append(b, s...), err
}

// finish appends the check characters to an element. It returns the name and the number of its
// check characters.
func (r *Run) finish(element string) (name.Name, int, error) {
	c := r.t.check()
	switch {
	case c == nil:
		n, err := r.accept(element)
		return n, 0, err
	case c.computed.of == nil:
		return r.finishByRule(element)
	}
	width := c.computed.width
	dummy, err := r.t.prefix.Join(element + strings.Repeat("0", width))
	if err != nil {
		return name.Name{}, width, err
	}
	right := c.computed.of(dummy.Key()[:len(dummy.Key())-width])
	if right == "" {
		return name.Name{}, width, r.t.fault(c.offset, "check", "no characters before the check to compute it from")
	}
	n, err := r.accept(element + right)
	return n, width, err
}

func (r *Run) finishByRule(element string) (name.Name, int, error) {
	right, err := r.rules.checked(r.t.prefix.Spell(element))
	switch {
	case errors.Is(err, errNoCheck):
		return name.Name{}, 0, r.t.fault(r.t.check().offset, "check", err.Error())
	case err != nil:
		return name.Name{}, 0, &RefusedError{r.t.text, r.t.prefix.Spell(element), err}
	}
	n, err := r.accept(element + right)
	return n, len(right), err
}

func (r *Run) accept(element string) (name.Name, error) {
	spelling := r.t.prefix.Spell(element)
	if f := r.rules.judge(spelling); f != nil {
		return name.Name{}, &RefusedError{r.t.text, spelling, f}
	}
	return name.Parse(r.rules.canonical(spelling))
}
