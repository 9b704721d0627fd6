package registrar

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Options configure a Registrar. The zero Options are good.
type Options struct {
	Now     func() time.Time // the clock; time.Now if nil
	Log     *slog.Logger     // discards if nil
	Schemes []string         // of locations, in lower case; DefaultSchemes if nil
}

// A Registrar changes a store. It is safe for concurrent use.
type Registrar struct {
	store   store.Store
	now     func() time.Time
	log     *slog.Logger
	schemes map[string]bool
}

// New returns a Registrar for s.
func New(s store.Store, o Options) *Registrar {
	r := &Registrar{store: s, now: o.Now, log: o.Log}
	if r.now == nil {
		r.now = time.Now
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

var errSoon = errors.New("registrar: not yet")

// Put makes a record as req says. The error is a [*RefusalError], a
// [*DeniedError], one of those of [store.Store], or a failure of the store; the
// Outcome has it too.
func (r *Registrar) Put(ctx context.Context, a Actor, req Request, why string) (Outcome, error) {
	return Outcome{}, errSoon
}

// Apply does what Put does for many requests in their order. Those that are
// refused are left out, and the others go in as one batch; the outcomes are in
// the order of the requests. Requests of one name build on each other. The
// error is a failure of the store: then nothing went in.
func (r *Registrar) Apply(ctx context.Context, a Actor, reqs []Request, why string) ([]Outcome, error) {
	return nil, errSoon
}

// Preview returns what Apply would, and changes nothing.
func (r *Registrar) Preview(ctx context.Context, a Actor, reqs []Request) ([]Outcome, error) {
	return nil, errSoon
}

// Retire makes n a tombstone. It returns [store.ErrNotFound] when there is no
// such name, else errors as Put does.
func (r *Registrar) Retire(ctx context.Context, a Actor, n name.Name, t Retirement, why string) (Outcome, error) {
	return Outcome{}, errSoon
}

// Delete removes a name that is reserved. Any other gives a
// [*store.StateError], a name that does not exist [store.ErrNotFound].
func (r *Registrar) Delete(ctx context.Context, a Actor, n name.Name, expected uint64, why string) (Outcome, error) {
	return Outcome{}, errSoon
}

// PutAuthority makes an authority as given, replacing all of it. Where it is
// asked (Hosts, Addresses, Default) only an administrator may change. The
// errors are those of Put.
func (r *Registrar) PutAuthority(ctx context.Context, a Actor, auth *store.Authority, expected uint64, why string) (Outcome, error) {
	return Outcome{}, errSoon
}

// Get returns the record of n as it is now, or [store.ErrNotFound].
func (r *Registrar) Get(ctx context.Context, n name.Name) (*store.Record, error) {
	return r.store.Get(ctx, n, time.Time{})
}

// AuthorityOf returns the authority that decides about n, the one with the
// longest prefix, or [store.ErrNotFound].
func (r *Registrar) AuthorityOf(ctx context.Context, n name.Name) (*store.Authority, error) {
	return nil, errSoon
}
