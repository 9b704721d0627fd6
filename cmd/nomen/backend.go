package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/mint/reserve"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/search"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// A backend provides access to a store for commands. If this process has the store open, the
// backend uses the store directly. If a server has the store open, the backend uses the admin API
// of the server.
type backend interface {
	GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error)
	Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error)
	Retire(ctx context.Context, n name.Name, r registrar.Retirement, why string) (registrar.Outcome, error)
	Delete(ctx context.Context, n name.Name, expected uint64, why string) (registrar.Outcome, error)
	Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] // sorted
	Known(ctx context.Context, n name.Name) (bool, error)                // n has or had a record

	Authority(ctx context.Context, p name.Prefix) (*store.Authority, error)
	Authorities(ctx context.Context) ([]*store.Authority, error)
	PutAuthority(ctx context.Context, a *store.Authority, expected uint64, why string) (registrar.Outcome, error)

	CheckAuthority(ctx context.Context, a *store.Authority) (adminapi.AuthorityCheck, error)

	Statistics(ctx context.Context, fresh bool) (adminapi.Statistics, error)
	Activity(ctx context.Context, month string) (adminapi.Activity, error)
	Resolutions(ctx context.Context, q adminapi.ResolutionQuery) (adminapi.Resolutions, error)
	MonthReport(ctx context.Context, prefix, month string) (adminapi.MonthReport, error)

	Grant(ctx context.Context, g adminapi.Grant) (adminapi.Granted, error)
	Tokens(ctx context.Context) ([]adminapi.Token, error)
	Revoke(ctx context.Context, id string) error
	RedactToken(ctx context.Context, id string, r registrar.Redaction) (registrar.Outcome, error)

	Users(ctx context.Context) ([]*store.User, error)
	User(ctx context.Context, id string) (*store.User, error)
	PutUser(ctx context.Context, u *store.User, expected uint64, why string) (registrar.Outcome, error)
	GrantUser(ctx context.Context, id string, g registrar.Granting, why string) (registrar.Outcome, error)
	RedactUser(ctx context.Context, id string, r registrar.Redaction) (registrar.Outcome, error)
	UserHistory(ctx context.Context, id string) iter.Seq2[*store.Change, error] // newest first; empty for an unknown ID

	Import(ctx context.Context, r io.Reader, o bulk.ImportOptions) (bulk.Summary, error)
	Export(ctx context.Context, w io.Writer, o bulk.ExportOptions) (bulk.Summary, error)
	Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error]
	SearchNames(ctx context.Context, s adminapi.Search) (adminapi.Found, error)
	Relocate(ctx context.Context, r registrar.Relocation) (registrar.Relocated, error)

	Revisions(ctx context.Context, n name.Name) iter.Seq2[adminapi.Revision, error]
	AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] // newest first; empty for an unknown prefix
	Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error]
	Head(ctx context.Context) (store.Head, error)
	Undo(ctx context.Context, u registrar.Undoing) (registrar.Undone, error)
	Redact(ctx context.Context, n name.Name, r registrar.Redaction) (registrar.Outcome, error)
	RedactAuthority(ctx context.Context, p name.Prefix, r registrar.Redaction) (registrar.Outcome, error)

	ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error)
	Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error)
	VerifySince(ctx context.Context, since store.Head, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error)
	Backup(ctx context.Context, dir string, progress func(done, total uint64)) error
}

var (
	_ backend = (*local)(nil)
	_ backend = (*adminapi.Client)(nil)
)

// local is the backend for a store that is open in this process.
type local struct {
	store     store.Store
	registrar *registrar.Registrar
	search    func(store.Store) (*search.Index, error) // opens the search index, or nil
	missed    func() (*misses.Counter, error)          // the failed lookups that the last server counted, or nil

	counted func(store.Store) (*counts.Counter, func() error, error) // see [cli.leftCounts]
}

func (l *local) GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	return l.registrar.GetAt(ctx, n, at)
}

func (l *local) Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error) {
	return l.registrar.Put(ctx, registrar.Operator(), req, why)
}

func (l *local) Retire(ctx context.Context, n name.Name, r registrar.Retirement, why string) (registrar.Outcome, error) {
	return l.registrar.Retire(ctx, registrar.Operator(), n, r, why)
}

func (l *local) Delete(ctx context.Context, n name.Name, expected uint64, why string) (registrar.Outcome, error) {
	return l.registrar.Delete(ctx, registrar.Operator(), n, expected, why)
}

func (l *local) Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] {
	return reserve.KeysOf(l.store.List(ctx, store.Scan{Prefix: prefix}))
}

func (l *local) Known(ctx context.Context, n name.Name) (bool, error) {
	return reserve.KnownIn(ctx, l.store, n)
}

func (l *local) Authority(ctx context.Context, p name.Prefix) (*store.Authority, error) {
	return l.store.Authority(ctx, p, time.Time{})
}

func (l *local) Authorities(ctx context.Context) ([]*store.Authority, error) {
	var all []*store.Authority
	for a, err := range l.store.Authorities(ctx, time.Time{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func (l *local) PutAuthority(ctx context.Context, a *store.Authority, expected uint64, why string) (registrar.Outcome, error) {
	return l.registrar.PutAuthority(ctx, registrar.Operator(), a, expected, why)
}

func (l *local) Import(ctx context.Context, r io.Reader, o bulk.ImportOptions) (bulk.Summary, error) {
	o.Scratch = newScratch
	return bulk.Import(ctx, l.registrar, registrar.Operator(), r, o)
}

// newScratch returns temporary storage for the records that a dry run would have written.
func newScratch() (bulk.Scratch, error) {
	s, err := pebblestore.NewScratch("")
	if err != nil {
		return nil, fmt.Errorf("temporary directory for the dry run: %w", err)
	}
	return s, nil
}

func (l *local) Export(ctx context.Context, w io.Writer, o bulk.ExportOptions) (bulk.Summary, error) {
	return bulk.Export(ctx, l.store, w, o)
}

func (l *local) Revisions(ctx context.Context, n name.Name) iter.Seq2[adminapi.Revision, error] {
	n, err := l.registrar.Kept(ctx, n, time.Time{})
	if err != nil {
		return func(yield func(adminapi.Revision, error) bool) { yield(adminapi.Revision{}, err) }
	}
	return revisionsOf(store.History(ctx, l.store, n))
}

// revisionsOf converts the changes in a history to revisions. If the history is empty, it yields
// [store.ErrNotFound].
func revisionsOf(changes iter.Seq2[*store.Change, error]) iter.Seq2[adminapi.Revision, error] {
	return func(yield func(adminapi.Revision, error) bool) {
		found := false
		for c, err := range changes {
			if err != nil {
				yield(adminapi.Revision{}, err)
				return
			}
			if found = true; !yield(adminapi.NewRevision(c), nil) {
				return
			}
		}
		if !found {
			yield(adminapi.Revision{}, store.ErrNotFound)
		}
	}
}

func (l *local) AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	return store.AuthorityHistory(ctx, l.store, p)
}

func (l *local) Redact(ctx context.Context, n name.Name, r registrar.Redaction) (registrar.Outcome, error) {
	return l.registrar.Redact(ctx, registrar.Operator(), n, r)
}

func (l *local) RedactAuthority(ctx context.Context, p name.Prefix, r registrar.Redaction) (registrar.Outcome, error) {
	return l.registrar.RedactAuthority(ctx, registrar.Operator(), p, r)
}

func (l *local) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	return store.Find(ctx, l.store, prefix, after)
}

func (l *local) Relocate(ctx context.Context, r registrar.Relocation) (registrar.Relocated, error) {
	return l.registrar.Relocate(ctx, registrar.Operator(), r)
}

func (l *local) Head(ctx context.Context) (store.Head, error) { return store.HeadOf(ctx, l.store) }

func (l *local) ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error) {
	if p, ok := l.store.(store.Prover); ok {
		return p.ProveHead(ctx, later, earlier)
	}
	return nil, fmt.Errorf("%T cannot prove heads: %w", l.store, errors.ErrUnsupported)
}

// Verify first waits until pending changes are in the log, so that the head includes them. If
// waiting fails, Verify still verifies the changes that are in the log.
func (l *local) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	_ = store.Settle(ctx, l.store) // verify even if this fails
	return store.Verify(ctx, l.store, fault, progress)
}

func (l *local) VerifySince(ctx context.Context, since store.Head, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	source, err := audit.SourceOf(l.store)
	if err != nil {
		return store.Head{}, err
	}
	return audit.Since(ctx, source, since, 0, fault, progress)
}

func (l *local) Backup(ctx context.Context, dir string, progress func(done, total uint64)) error {
	if err := store.Backup(ctx, l.store, dir, progress); err != nil {
		return durable.Unwritable(dir, err)
	}
	return durable.KeepOwner(dir, filepath.Dir(dir))
}

// current returns the authority with a prefix and its revision. If there is no such authority, it
// returns an empty authority with the prefix and revision 0.
func current(ctx context.Context, b backend, p name.Prefix) (*store.Authority, uint64, error) {
	a, err := b.Authority(ctx, p)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &store.Authority{Prefix: p}, 0, nil
	case err != nil:
		return nil, 0, err
	}
	return a, a.Revision, nil
}
