// Package audit verifies the changes that a store has after a given head. The package supports
// every kind of store. A [store.Verifier] can check the whole store.
package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const (
	stepSize = 1024 // number of changes read before the log is compared with the log of the store
	maxLost  = 1000 // number of unreadable changes after which verification stops

	// retries is the total number of pauses that let a replica catch up with its primary.
	retries = 15
	pause   = time.Second
)

// A Source is a store that can be verified.
type Source interface {
	store.Reader
	store.Feed
	store.Prover
}

// SourceOf returns the reader r as a Source. If r does not have the methods of a Source, the error
// is an [errors.ErrUnsupported].
func SourceOf(r store.Reader) (Source, error) {
	if s, ok := r.(Source); ok {
		return s, nil
	}
	return nil, fmt.Errorf("%T cannot prove its log: %w", r, errors.ErrUnsupported)
}

// Since verifies at most limit changes after the head start. A limit of 0 means all changes. Since
// verifies that the log of the store begins with the log that has the head start, and that each
// later change matches the log. It also verifies that the store returns the newest revision of each
// changed name and authority, and that the index has the locations of this revision. Since calls
// fault for each fault. If progress is not nil, Since calls it from time to time. Since returns the
// head up to which the log was verified, with which a later call can continue.
//
// If the log of the store does not begin with the log of start, the error is a [*store.HeadError].
// Any other error is a failure to read the store.
func Since(ctx context.Context, s Source, start store.Head, limit uint64, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	if err := store.Settle(ctx, s); err != nil {
		return store.Head{}, err
	}
	end, err := s.Head(ctx)
	if damage(err) {
		return end, &store.HeadError{Since: start, Reason: fmt.Sprintf("cannot read the log: %v; verify the whole store to find all faults", err)}
	}
	if err != nil {
		return end, err
	}
	a := &auditor{Source: s, end: end, fault: fault}
	if a.log, err = a.begin(ctx, start); err != nil {
		return store.Head{}, err
	}
	to := end.Size
	if limit > 0 {
		to = min(to, start.Size+limit)
	}
	for a.log.Size() < to {
		if err := a.step(ctx, min(to, (a.log.Size()/stepSize+1)*stepSize)); err != nil {
			return store.Head{}, err
		}
		if a.gaveUp {
			return a.end, nil
		}
		if progress != nil {
			progress(a.log.Size()-start.Size, to-start.Size)
		}
	}
	return a.log.Head(), nil
}

// An auditor is the state of one call of Since.
type auditor struct {
	Source
	end   store.Head
	fault func(store.Fault)
	log   ledger.Log // log computed from the changes read
	lost  int        // number of changes that could not be read

	gaveUp bool // verification has stopped early
	waited int  // number of pauses so far that let a replica catch up
}

func (a *auditor) report(s store.Subject, seq uint64, format string, args ...any) {
	a.fault(store.Fault{Subject: s, Seq: seq, Problem: fmt.Sprintf(format, args...)})
}

// begin returns the log that has the head oldHead. It returns an error if the store's log does not
// begin with this log.
func (a *auditor) begin(ctx context.Context, oldHead store.Head) (ledger.Log, error) {
	wrong := func(format string, args ...any) (ledger.Log, error) {
		return ledger.Log{}, &store.HeadError{Since: oldHead, Size: a.end.Size, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case oldHead.Size > a.end.Size:
		return wrong("the log has only %d changes: changes are missing, or this is the head of another store", a.end.Size)
	case oldHead.Size == 0 && oldHead != (store.Head{}):
		return wrong("the head of no changes has the hash 0")
	case oldHead.Size == 0:
		return ledger.Log{}, nil
	}
	log, err := a.logOf(ctx, oldHead.Size)
	switch {
	case damage(err):
		return wrong("cannot read the log up to there: %v; verify the whole store to find all faults", err)
	case err != nil:
		return log, err
	case log.Head() != oldHead:
		return wrong("its hash differs from that of the first %d changes: they were altered, or this is the head of another store; verify the whole store to find altered changes", oldHead.Size)
	}
	return log, nil
}

// logOf returns the store's log of the given size, which must be positive. The store's proof for
// the next entry covers all earlier entries, so logOf can compute the log from this proof.
func (a *auditor) logOf(ctx context.Context, size uint64) (ledger.Log, error) {
	known := min(size, a.end.Size-1)
	left, err := a.ProveEntry(ctx, known+1, known+1)
	if err != nil {
		return ledger.Log{}, err
	}
	log, err := ledger.Resume(known, left)
	if err != nil || known == size {
		return log, err
	}
	for e, err := range a.Changes(ctx, size-1) {
		if err != nil {
			return log, err
		}
		log.Append(nil, codec.AppendLeaf(nil, e))
		return log, nil
	}
	return log, &codec.CorruptError{Key: "log", Reason: fmt.Sprintf("change %d is missing", size)}
}

// step verifies the changes up to the log number end.
func (a *auditor) step(ctx context.Context, end uint64) error {
	from := a.log.Size()
	newest := make(map[store.Subject]*store.Entry, end-from)
	whole, err := a.readAll(ctx, end, newest)
	if err == nil && whole {
		if whole, err = a.consistent(ctx); err == nil && !whole {
			a.report(store.Subject{}, end, "changes %d to %d do not match the hash of the log", from+1, end)
		}
	}
	if err != nil {
		return err
	}
	turn := pacer.Begin(ctx)
	for s, e := range newest {
		turn.Rest(ctx.Done())
		if err := a.present(ctx, s, e); err != nil {
			return err
		}
	}
	if whole {
		return ctx.Err()
	}
	log, err := a.logOf(ctx, end)
	if damage(err) {
		a.report(store.Subject{}, end, "the rest of the log was not verified, because earlier parts cannot be read: %v", err)
		a.gaveUp = true
		return nil
	}
	a.log = log
	return err
}

// readAll reads the changes up to the log number end and appends them to the computed log. It
// reports the changes that cannot be read. The result complete is true if all changes could be
// read.
func (a *auditor) readAll(ctx context.Context, end uint64, newest map[store.Subject]*store.Entry) (complete bool, err error) {
	complete = true
	for after := a.log.Size(); after < end; {
		after, err = a.read(ctx, after, end, newest)
		switch {
		case err == nil:
		case !damage(err) || a.lost == maxLost:
			return false, err
		default:
			after++
			a.lost++
			complete = false
			a.report(store.Subject{}, after, "change %d cannot be read: %v", after, err)
		}
	}
	return complete, nil
}

// consistent reports whether the store's log begins with the computed log.
func (a *auditor) consistent(ctx context.Context) (bool, error) {
	proof, err := a.ProveHead(ctx, a.end.Size, a.log.Size())
	switch {
	case damage(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return ledger.CheckConsistency(proof, a.end, a.log.Head()) == nil, nil
}

// read reads the changes in an interval of log numbers, without the first number, and appends them
// to the computed log. It returns the number of the last change that it has read.
func (a *auditor) read(ctx context.Context, after, to uint64, newest map[store.Subject]*store.Entry) (uint64, error) {
	var leaf []byte
	for e, err := range a.Changes(ctx, after) {
		if err != nil {
			return after, err
		}
		if e.Seq != after+1 {
			return after, &codec.CorruptError{Key: e.Change.Subject().Key, Reason: fmt.Sprintf("change %d is missing", after+1)}
		}
		after = e.Seq
		leaf = codec.AppendLeaf(leaf[:0], e)
		a.log.Append(nil, leaf)
		newest[e.Change.Subject()] = e
		if after == to {
			return after, nil
		}
	}
	return after, &codec.CorruptError{Key: "log", Reason: fmt.Sprintf("change %d is missing", after+1)}
}

// present verifies the current state of the subject s. It does nothing if the subject was changed
// again after the entry e.
func (a *auditor) present(ctx context.Context, s store.Subject, e *store.Entry) error {
	for ; ; a.waited++ {
		c, err := a.newest(ctx, s)
		switch {
		case damage(err):
			a.report(s, e.Seq, "cannot be read: %v", err)
			return nil
		case err != nil:
			return err
		case c != nil && c.Revision() > e.Change.Revision():
			return nil
		}
		problem := ""
		if c == nil || c.Revision() < e.Change.Revision() {
			problem = fmt.Sprintf("revision %d is logged, but revision %d is served", e.Change.Revision(), c.Revision())
		} else if problem, err = a.indexed(ctx, c); err != nil {
			return err
		}
		switch {
		case problem == "":
			return nil
		case a.waited >= retries:
			a.report(s, e.Seq, "%s", problem)
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *auditor) newest(ctx context.Context, s store.Subject) (*store.Change, error) {
	changes := store.History(ctx, a.Source, name.FromKey(s.Key))
	switch s.Kind {
	case store.KindAuthority:
		p, err := name.ParsePrefix(s.Key)
		if err != nil {
			return nil, &codec.CorruptError{Key: s.Key, Reason: err.Error()}
		}
		changes = store.AuthorityHistory(ctx, a.Source, p)
	case store.KindUser:
		users, err := store.UsersOf(a.Source)
		if err != nil {
			return nil, err
		}
		changes = users.UserHistory(ctx, s.Key)
	case store.KindTokenRights:
		rights, err := store.RightsOf(a.Source)
		if err != nil {
			return nil, err
		}
		changes = rights.TokenRightsHistory(ctx, s.Key)
	}
	for c, err := range changes {
		return c, err
	}
	return nil, nil
}

// indexed returns a problem with the first location of a record that is missing in the index. It
// returns "" if the index has all locations.
func (a *auditor) indexed(ctx context.Context, c *store.Change) (problem string, err error) {
	finder, ok := a.Source.(store.Finder)
	if !ok || c.Record == nil {
		return "", nil
	}
	for i := range c.Record.Locations {
		want := store.Place{URL: c.Record.Locations[i].URL, Name: c.Record.Name}
		found := false
		for p, err := range finder.Find(ctx, want.URL, before(want)) {
			if err != nil {
				return "", err
			}
			found = p == want
			break
		}
		if !found {
			return fmt.Sprintf("the location %q is not in the index", want.URL), nil
		}
	}
	return "", nil
}

// before returns a place that sorts immediately before the place p. It assumes that no byte of a
// key is above "~".
func before(p store.Place) store.Place {
	key := p.Name.Key()
	end := len(key) - 1
	return store.Place{URL: p.URL, Name: name.FromKey(key[:end] + string(key[end]-1) + "\x7F")}
}

// damage reports whether err means that stored data are damaged, in contrast to a temporary failure
// to read.
func damage(err error) bool {
	return errors.As(err, new(*codec.CorruptError))
}
