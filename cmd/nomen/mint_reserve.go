package main

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

// maxTaken is how many candidates in a row may be taken by others before it is
// said that there is hardly anything left.
const maxTaken = 1000

var (
	errTaken   = errors.New("taken")
	errCrowded = fmt.Errorf("%d candidates in a row were taken: the template is nearly used up, or others take names faster; a longer one has more", maxTaken)
)

// A minting is one run of names against what is there.
type minting struct {
	backend
	flags  mintFlags
	prefix name.Prefix
	warn   func([]registrar.Warning)

	authority *store.Authority // that decides about the names; nil if there is none
	taken     int              // candidates in a row that others have
	warned    bool             // what is to be said about one name is said of all
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
	run, err := t.Start(mint.Options{Now: clock})
	if err != nil {
		return nil, err
	}
	return run, run.Seek(func(prefix string) iter.Seq2[name.Name, error] { return m.names(ctx, prefix) })
}

// findAuthority finds the authority, and writes prefix and template as it keeps
// names if it folds case.
func (m *minting) findAuthority(ctx context.Context) error {
	all, err := m.Authorities(ctx)
	if err != nil {
		return err
	}
	sample, err := m.prefix.Join("0")
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
	m.flags.template = strings.ToLower(m.flags.template)
	folded := m.authority.Fold(sample).Key()
	m.prefix, err = name.ParsePrefix(strings.TrimSuffix(folded, "0"))
	return err
}

// maxModels is how many names are read to see how they go on.
const maxModels = 20_000

// pattern returns the template that was given, or the one by which the names that
// are there go on.
func (m *minting) pattern(ctx context.Context) (mint.Template, error) {
	if m.flags.template != "" {
		return mint.Parse(m.prefix, m.flags.template)
	}
	t, err := mint.Suggest(m.prefix, name.Name{}, mint.Options{})
	if err != nil || t.String() != mintNext {
		return t, err
	}
	last, read := name.Name{}, 0
	for n, err := range m.names(ctx, m.prefix.String()) {
		if err != nil {
			return t, err
		}
		if m.prefix.Covers(n) {
			last = n
		}
		if read++; read == maxModels {
			break
		}
	}
	return mint.Suggest(m.prefix, last, mint.Options{})
}

// mintNext is the template that is suggested where nothing is known.
const mintNext = "{seq}"

// reserve makes n a reserved name, or returns errTaken.
func (m *minting) reserve(ctx context.Context, n name.Name) (name.Name, error) {
	n, free, err := m.take(ctx, n)
	switch {
	case err != nil:
		return n, err
	case free:
		m.taken = 0
		return n, nil
	}
	if m.taken++; m.taken == maxTaken {
		return n, errCrowded
	}
	return n, errTaken
}

// take creates the record of n, and reports whether it was not there before. In
// a dry run it only looks.
func (m *minting) take(ctx context.Context, n name.Name) (name.Name, bool, error) {
	if m.flags.dry {
		n = m.authority.Fold(n)
		_, err := m.GetAt(ctx, n, time.Time{})
		if errors.Is(err, store.ErrNotFound) {
			return n, true, nil
		}
		return n, false, err
	}
	req := registrar.Request{Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Reserved}, Expected: 0}
	out, err := m.Put(ctx, req, m.flags.why)
	if _, conflict := errors.AsType[*store.ConflictError](err); conflict {
		return n, false, nil
	}
	if err == nil && !m.warned {
		m.warn(out.Warnings)
		m.warned = true
	}
	return out.Name, out.Created, err
}
