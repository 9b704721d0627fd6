package mint

import (
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
)

// Options of a run. The zero Options are good.
type Options struct {
	Now        func() time.Time     // the clock; time.Now if nil
	Rand       io.Reader            // of randomness; that of crypto/rand if nil
	UUIDs      *UUIDs               // to be shared by all runs of a process; made of Now and Rand if nil
	Namespaces *namespace.Catalogue // whose rules names keep; namespace.Standard() if nil
}

func (o Options) rules() rules {
	if o.Namespaces == nil {
		return rules{namespace.Standard()}
	}
	return rules{*o.Namespaces}
}

const (
	// MaxRun is how many random names one run gives at most: it remembers them,
	// not to repeat itself. Sequences and UUIDs of version 7 have no such limit.
	MaxRun = 1 << 20

	// maxRefused is how many candidates in a row the namespace may refuse.
	maxRefused = 1000
)

// A Run yields the names of a template as of the day it started. It is not safe
// for concurrent use.
type Run struct {
	t      Template
	rules  rules
	day    time.Time
	random source
	uuids  *UUIDs
	shape  shape

	next uint64              // number of the sequence
	seen map[string]struct{} // what a template that could repeat itself has given
}

// Start begins a run. The error is an [*Error] if the template makes no names,
// and a [*RefusedError] if it makes none that its namespace takes.
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
	if o.UUIDs == nil {
		o.UUIDs = NewUUIDs(o.Now, o.Rand)
	}
	r := &Run{
		t: t, rules: o.rules(), day: o.Now().UTC(), uuids: o.UUIDs,
		random: newSource(o.Rand), seen: map[string]struct{}{},
	}
	if s := t.sequence(); s != nil {
		r.next = s.first
	}
	err := r.survey()
	return r, err
}

// Names yields candidates, never one twice. An error comes with a zero name and
// is the last: an [*ExhaustedError] when there are no more, a [*RunError], a
// [*RefusedError] when the namespace takes none of very many in a row, or a
// failure of the randomness. A second call goes on where the first was left.
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

// candidate returns the next name.
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
		if _, no := errors.AsType[*RefusedError](err); !no || refused == maxRefused {
			return name.Name{}, err
		}
	}
}

// draw returns the next element without its check.
func (r *Run) draw() (string, error) {
	s := r.t.sequence()
	if s != nil && r.next > s.last {
		return "", r.exhausted()
	}
	if s != nil || r.t.rises() {
		b, err := r.render()
		r.next++
		return string(b), err
	}
	return r.drawNew()
}

// drawNew returns an element that was not drawn before.
func (r *Run) drawNew() (string, error) {
	switch n := uint64(len(r.seen)); {
	case n == r.t.Capacity():
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

func (r *Run) exhausted() error { return &ExhaustedError{r.t.text, r.t.Capacity()} }

// rises reports whether UUIDs of version 7 make every name another one.
func (t Template) rises() bool {
	for _, p := range t.parts {
		if p.kind == uuid7 {
			return true
		}
	}
	return false
}

// render writes the parts, all but the check.
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
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// number appends n in as many digits as the sequence has.
func (p part) number(b []byte, n uint64) []byte {
	s := strconv.FormatUint(n, 10)
	for range p.width - len(s) {
		b = append(b, '0')
	}
	return append(b, s...)
}

func (r *Run) uuid(b []byte, k kind) ([]byte, error) {
	make := r.uuids.V7
	if k == uuid4 {
		make = r.uuids.V4
	}
	s, err := make()
	return append(b, s...), err
}

// finish completes an element by its check and returns the name, and how many
// characters the check has.
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
		return name.Name{}, width, r.t.fault(c.offset, "check", "nothing before it that it could be computed over")
	}
	n, err := r.accept(element + right)
	return n, width, err
}

// finishByRule completes an element as its namespace wants it.
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

// accept makes the name of an element, unless its namespace refuses it.
func (r *Run) accept(element string) (name.Name, error) {
	spelling := r.t.prefix.Spell(element)
	if f := r.rules.judge(spelling); f != nil {
		return name.Name{}, &RefusedError{r.t.text, spelling, f}
	}
	return name.Parse(r.rules.canonical(spelling))
}
