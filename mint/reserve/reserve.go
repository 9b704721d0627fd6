// Package reserve makes new names by a template of package mint, each of which it
// reserves before it gives it out: a name that was given out is nobody else's.
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

// A Backend keeps names: a store behind its registrar, or a server.
type Backend interface {
	Authorities(ctx context.Context) ([]*store.Authority, error)
	GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error)
	Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error)

	// Keys yields the names whose keys begin with a prefix, in the order of their
	// keys. Those by older rules may be left out: no new name is spelled so.
	Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error]
}

// Options say which names are wanted.
type Options struct {
	Prefix   name.Prefix // under which they lie
	Template string      // what follows it; "" to go on as those that are there
	Count    int         // how many
	DryRun   bool        // nothing is reserved
	Why      string      // for the history

	Now  func() time.Time          // the clock
	Warn func([]registrar.Warning) // is told what is to be said about the first name; nil for nobody
}

// ReadPrefix reads a prefix, or the identifier of a URN namespace.
func ReadPrefix(s string) (name.Prefix, error) {
	if !strings.Contains(s, ":") {
		s = "urn:" + s
	}
	return name.ParsePrefix(s)
}

// maxTaken is how many candidates in a row may be taken by others before it is
// said that there is hardly anything left.
const maxTaken = 1000

// ErrCrowded is returned when nearly all names of a template are taken.
var ErrCrowded = fmt.Errorf("%d candidates in a row were taken: the template is nearly used up, or others take names faster; a longer one has more", maxTaken)

// Names yields new names as soon as they are reserved. After an error, which is one of
// package mint, of the backend, or [ErrCrowded], it ends.
func Names(ctx context.Context, b Backend, o Options) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		m := &minting{Backend: b, Options: o}
		run, err := m.start(ctx)
		if err != nil {
			yield(name.Name{}, err)
			return
		}
		taken := 0 // in a row
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

// A minting is one run of names against what is there.
type minting struct {
	Backend
	Options

	authority *store.Authority // that decides about the names; nil if there is none
}

// keys yields the names that are there, as the authority keeps them.
func (m *minting) keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		for n, err := range m.Keys(ctx, prefix) {
			if !yield(m.authority.Fold(n), err) || err != nil {
				return
			}
		}
	}
}

// start returns the run of the template, which goes on after what is there.
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
	return run, run.Seek(func(prefix string) iter.Seq2[name.Name, error] { return m.keys(ctx, prefix) })
}

// findAuthority finds the authority, and writes prefix and template as it keeps
// names if it folds case.
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
	m.Template = strings.ToLower(m.Template)
	folded := m.authority.Fold(sample).Key()
	m.Prefix, err = name.ParsePrefix(strings.TrimSuffix(folded, "0"))
	return err
}

// maxModels is how many names are read to see how they go on.
const maxModels = 20_000

// pattern returns the template that was given, or the one by which the names that
// are there go on.
func (m *minting) pattern(ctx context.Context) (mint.Template, error) {
	if m.Template != "" {
		return mint.Parse(m.Prefix, m.Template)
	}
	t, err := mint.Suggest(m.Prefix, name.Name{}, mint.Options{})
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

// mintNext is the template that is suggested where nothing is known.
const mintNext = "{seq}"

// take creates the record of n, and reports whether it was not there before. In
// a dry run it only looks.
func (m *minting) take(ctx context.Context, n name.Name) (name.Name, bool, error) {
	if m.DryRun {
		n = m.authority.Fold(n)
		_, err := m.GetAt(ctx, n, time.Time{})
		if errors.Is(err, store.ErrNotFound) {
			return n, true, nil
		}
		return n, false, err
	}
	req := registrar.Request{Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Reserved}, Expected: 0}
	out, err := m.Put(ctx, req, m.Why)
	if _, conflict := errors.AsType[*store.ConflictError](err); conflict {
		return n, false, nil
	}
	if err == nil && m.Warn != nil { // what is to be said about one name is said of all
		m.Warn(out.Warnings)
		m.Warn = nil
	}
	return out.Name, out.Created, err
}
