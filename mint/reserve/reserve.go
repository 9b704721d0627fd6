// Package reserve generates new names from a template of package mint, and reserves each of them in
// a store, so that no name is assigned twice.
//
// The package does not lock the store. A record is written only if the name does not exist yet. If
// another client has created the name first, the store returns a conflict, and [Names] tries the
// next name.
package reserve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Backend stores names. The implementations are [Minter], which uses a store, and clients of a
// server.
type Backend interface {
	Authorities(ctx context.Context) ([]*store.Authority, error)
	GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error)
	Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error)

	// Keys returns an iterator over the names whose keys begin with prefix, in the order of keys.
	// It may omit names whose stored keys do not follow the current rules of their namespaces.
	Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error]

	// Known reports whether n has a record, or had a record that was deleted.
	Known(ctx context.Context, n name.Name) (bool, error)
}

// KnownIn implements the method Known of a [Backend] with the store r.
func KnownIn(ctx context.Context, r store.Reader, n name.Name) (bool, error) {
	for _, err := range store.History(ctx, r, n) {
		return err == nil, err
	}
	return false, nil
}

// KeysOf returns an iterator over the names of records. It ends after an error.
func KeysOf(records iter.Seq2[*store.Record, error]) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		for r, err := range records {
			if err != nil {
				yield(name.Name{}, err)
				return
			}
			if !yield(r.Name, nil) {
				return
			}
		}
	}
}

// Options configure [Names].
type Options struct {
	Prefix   name.Prefix // of the names
	Template string      // template; "" means the template of the authority, or a template that fits the existing names
	Shoulder string      // if not "", use the template of the authority that begins with this literal text
	Count    int         // how many names
	DryRun   bool        // reserve nothing
	Why      string      // reason for the history

	// Record returns the record with which to create a name. If Record returns an error, Names ends
	// with this error. If Record is nil, the new record has the status Reserved.
	Record func(name.Name) (*store.Record, error)

	Now  func() time.Time          // returns the current time
	Warn func([]registrar.Warning) // called with the warnings about the first name; may be nil
}

// ReadPrefix parses a prefix, or the identifier of a URN namespace.
func ReadPrefix(s string) (name.Prefix, error) {
	if !strings.Contains(s, ":") {
		s = "urn:" + s
	}
	return name.ParsePrefix(s)
}

// maxTaken is the number of consecutive taken names after which Names ends with an error.
const maxTaken = 1000

// ErrCrowded means that nearly all names of a template are taken.
var ErrCrowded = fmt.Errorf("%d candidates in a row were taken: the template is nearly used up, or other clients take names faster; use a template with more characters", maxTaken)

// Names returns an iterator over new names. It creates the record of each name before yielding the
// name. The iterator ends after an error. The error is [ErrCrowded], or comes from package mint or
// from the backend.
func Names(ctx context.Context, b Backend, o Options) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		m := &minting{Backend: b, Options: o}
		run, err := m.start(ctx)
		if err != nil {
			yield(name.Name{}, err)
			return
		}
		taken := 0
		for n, err := range run.Names() {
			free := false
			if err == nil {
				n, free, err = m.take(ctx, n)
			}
			if err == nil && !free {
				if taken++; taken < maxTaken {
					continue
				}
				err = ErrCrowded
			}
			if err != nil {
				yield(name.Name{}, err)
				return
			}
			taken = 0
			if o.Count--; !yield(n, nil) || o.Count <= 0 {
				return
			}
		}
	}
}

// A minting has the state of a call of [Names].
type minting struct {
	Backend
	Options

	authority *store.Authority // the authority of the names, or nil
	ordered   bool             // the names are in the order of NOID
}

// keys yields the existing names in the spelling that the authority prescribes.
func (m *minting) keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		for n, err := range m.Keys(ctx, prefix) {
			if !yield(m.authority.Fold(n), err) || err != nil {
				return
			}
		}
	}
}

func (m *minting) start(ctx context.Context) (*mint.Run, error) {
	if err := m.findAuthority(ctx); err != nil {
		return nil, err
	}
	t, err := m.pattern(ctx)
	if err != nil {
		return nil, err
	}
	run, err := t.Start(mint.Options{Now: m.Now})
	if err != nil {
		return nil, err
	}
	if m.ordered = t.Ordered(); m.ordered {
		return run, run.Seek(func(key string) iter.Seq2[name.Name, error] { return m.knownKey(ctx, key) })
	}
	return run, run.Seek(func(prefix string) iter.Seq2[name.Name, error] { return m.keys(ctx, prefix) })
}

// knownKey yields the name with the given key if the name has or had a record. Deleted names are
// included, because a NOID minter does not make them again.
func (m *minting) knownKey(ctx context.Context, key string) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		n := name.FromKey(key)
		if known, err := m.Known(ctx, m.authority.Fold(n)); known || err != nil {
			yield(n, err)
		}
	}
}

// findAuthority finds the authority of the names. If the authority ignores case, findAuthority
// converts the prefix and the template to lower case.
func (m *minting) findAuthority(ctx context.Context) error {
	all, err := m.Authorities(ctx)
	if err != nil {
		return err
	}
	sample, err := m.Prefix.Join("0")
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Prefix.Covers(sample) && (m.authority == nil || len(a.Prefix.String()) > len(m.authority.Prefix.String())) {
			m.authority = a
		}
	}
	if m.authority == nil || !m.authority.FoldCase {
		return nil
	}
	m.Template, m.Shoulder = strings.ToLower(m.Template), strings.ToLower(m.Shoulder)
	folded := m.authority.Fold(sample).Key()
	m.Prefix, err = name.ParsePrefix(strings.TrimSuffix(folded, "0"))
	return err
}

// maxModels is the maximum number of existing names that are read to find a suitable template.
const maxModels = 20_000

// A ShoulderError means that an authority has no template that begins with the requested text.
type ShoulderError struct {
	Prefix   string
	Shoulder string
}

func (e *ShoulderError) Error() string {
	return fmt.Sprintf("shoulder %q: %s has no template that begins with it; the field \"mint\" of the authority lists its templates", e.Shoulder, e.Prefix)
}

func (m *minting) kept() (string, error) {
	if m.authority != nil && m.authority.Prefix.String() == m.Prefix.String() {
		for _, text := range m.authority.Mint {
			t, err := mint.Parse(m.Prefix, text)
			if err == nil && (m.Shoulder == "" || t.Shoulder() == m.Shoulder) {
				return text, nil
			}
		}
	}
	if m.Shoulder != "" {
		return "", &ShoulderError{m.Prefix.String(), m.Shoulder}
	}
	return "", nil
}

// pattern returns the template in Options, the template of the authority, or a template that fits
// the existing names.
func (m *minting) pattern(ctx context.Context) (t mint.Template, err error) {
	text := m.Template
	if text == "" {
		if text, err = m.kept(); err != nil {
			return t, err
		}
	}
	if text != "" {
		return mint.Parse(m.Prefix, text)
	}
	t, err = mint.Suggest(m.Prefix, name.Name{}, mint.Options{})
	if err != nil || t.String() != mintNext {
		return t, err
	}
	last, read := name.Name{}, 0
	for n, err := range m.keys(ctx, m.Prefix.String()) {
		if err != nil {
			return t, err
		}
		if m.Prefix.Covers(n) {
			last = n
		}
		if read++; read == maxModels {
			break
		}
	}
	return mint.Suggest(m.Prefix, last, mint.Options{})
}

const mintNext = "{seq}"

// take creates the record of n. It returns false if the name is taken. In a dry run, it only checks
// whether the name is taken.
func (m *minting) take(ctx context.Context, n name.Name) (name.Name, bool, error) {
	if m.ordered {
		if known, err := m.Known(ctx, m.authority.Fold(n)); known || err != nil {
			return n, false, err
		}
	}
	if m.DryRun {
		n = m.authority.Fold(n)
		_, err := m.GetAt(ctx, n, time.Time{})
		if errors.Is(err, store.ErrNotFound) {
			return n, true, nil
		}
		return n, false, err
	}
	rec, err := m.record(n)
	if err != nil {
		return n, false, err
	}
	out, err := m.Put(ctx, registrar.Request{Record: rec, Expected: 0}, m.Why)
	if errors.As(err, new(*store.ConflictError)) {
		return n, false, nil
	}
	if err == nil && m.Warn != nil { // the warnings about the first name apply to all names
		m.Warn(out.Warnings)
		m.Warn = nil
	}
	return out.Name, out.Created, err
}

func (m *minting) record(n name.Name) (*store.Record, error) {
	if m.Record != nil {
		return m.Record(n)
	}
	return &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Reserved}, nil
}
