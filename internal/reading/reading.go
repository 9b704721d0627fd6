// Package reading implements the methods by which stores are read. A store needs to provide only
// functions that find changes.
package reading

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Reader implements [store.Reader], [store.Historian], [store.AuthorityHistorian],
// [store.Tokens], [store.TokenLister], [store.TokenHistorian] and [store.Users]. Stores embed it.
type Reader struct{ changes Changes }

// Changes contains the functions of a store that find changes. The caller may modify the changes
// that they return.
type Changes struct {
	// Find returns the change of a subject that was current at a time. If the subject did not exist, or
	// the change is a deletion, the error is [store.ErrNotFound].
	Find func(ctx context.Context, subject store.Subject, at time.Time) (*store.Change, error)

	// Scan calls yield for the changes that were current at the time of the scan, in the order of
	// their keys, until yield returns false.
	Scan func(ctx context.Context, k store.Kind, scan store.Scan, yield func(*store.Change) bool) error

	// History calls yield for the changes of a subject, newest first, until yield returns false.
	History func(ctx context.Context, subject store.Subject, yield func(*store.Change, error) bool) error

	// Owner returns the ID of the user who signs in with a subject, or "".
	Owner func(ctx context.Context, subject string) (string, error)
}

// Of returns a Reader that uses the functions of a store.
func Of(c Changes) Reader { return Reader{c} }

// Get implements [store.Reader].
func (r *Reader) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	depend(ctx, n.Key(), at)
	c, err := r.changes.Find(ctx, store.Subject{Kind: store.KindName, Key: n.Key()}, at)
	if err != nil {
		return nil, err
	}
	return c.Record, nil
}

// Authority implements [store.Reader].
func (r *Reader) Authority(ctx context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	depend(ctx, p.String(), at)
	c, err := r.changes.Find(ctx, store.Subject{Kind: store.KindAuthority, Key: p.String()}, at)
	if err != nil {
		return nil, err
	}
	return c.Authority, nil
}

// depend records that an answer depends on a key. Answers about the past are not cached, because
// they are rare and a redaction can change them.
func depend(ctx context.Context, key string, at time.Time) {
	if d := store.DependenciesOf(ctx); at.IsZero() {
		d.On(key)
	} else {
		d.Unknown()
	}
}

// Token implements [store.Tokens].
func (r *Reader) Token(ctx context.Context, id string) (*store.Token, error) {
	c, err := r.changes.Find(ctx, store.Subject{Kind: store.KindToken, Key: id}, time.Time{})
	if err != nil {
		return nil, err
	}
	return c.Token, nil
}

// List implements [store.Reader].
func (r *Reader) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	store.DependenciesOf(ctx).Unknown()
	return Seq(func(yield func(*store.Record, error) bool) error {
		return r.changes.Scan(ctx, store.KindName, scan, func(c *store.Change) bool {
			return c.Record == nil || yield(c.Record, nil)
		})
	})
}

// Authorities implements [store.Reader].
func (r *Reader) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	store.DependenciesOf(ctx).Unknown()
	return Seq(func(yield func(*store.Authority, error) bool) error {
		return r.changes.Scan(ctx, store.KindAuthority, store.Scan{At: at}, func(c *store.Change) bool {
			return c.Authority == nil || yield(c.Authority, nil)
		})
	})
}

// AllTokens implements [store.TokenLister].
func (r *Reader) AllTokens(ctx context.Context) iter.Seq2[*store.Token, error] {
	return store.TokensOf(r.TokenChanges(ctx))
}

// TokenChanges implements [store.TokenHistorian].
func (r *Reader) TokenChanges(ctx context.Context) iter.Seq2[*store.Change, error] {
	return Seq(func(yield func(*store.Change, error) bool) error {
		return r.changes.Scan(ctx, store.KindToken, store.Scan{}, func(c *store.Change) bool { return yield(c, nil) })
	})
}

// History implements [store.Historian].
func (r *Reader) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return r.history(ctx, store.Subject{Kind: store.KindName, Key: n.Key()})
}

// AuthorityHistory implements [store.AuthorityHistorian].
func (r *Reader) AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	return r.history(ctx, store.Subject{Kind: store.KindAuthority, Key: p.String()})
}

// User implements [store.Users].
func (r *Reader) User(ctx context.Context, id string, at time.Time) (*store.User, error) {
	c, err := r.changes.Find(ctx, store.Subject{Kind: store.KindUser, Key: id}, at)
	if err != nil {
		return nil, err
	}
	return c.User, nil
}

// AllUsers implements [store.Users].
func (r *Reader) AllUsers(ctx context.Context, at time.Time) iter.Seq2[*store.User, error] {
	return Seq(func(yield func(*store.User, error) bool) error {
		return r.changes.Scan(ctx, store.KindUser, store.Scan{At: at}, func(c *store.Change) bool { return yield(c.User, nil) })
	})
}

// UserOf implements [store.Users].
func (r *Reader) UserOf(ctx context.Context, subject string) (*store.User, error) {
	id, err := r.changes.Owner(ctx, subject)
	if err != nil {
		return nil, err
	}
	u, err := r.User(ctx, id, time.Time{})
	if err == nil && !slices.Contains(u.Subjects, subject) { // the user has changed between the two reads
		return nil, store.ErrNotFound
	}
	return u, err
}

// UserHistory implements [store.Users].
func (r *Reader) UserHistory(ctx context.Context, id string) iter.Seq2[*store.Change, error] {
	return r.history(ctx, store.Subject{Kind: store.KindUser, Key: id})
}

// TokenRights implements [store.RightsHistorian].
func (r *Reader) TokenRights(ctx context.Context, id string, at time.Time) (*store.TokenRights, error) {
	c, err := r.changes.Find(ctx, store.Subject{Kind: store.KindTokenRights, Key: id}, at)
	if err != nil {
		return nil, err
	}
	return c.Rights, nil
}

// AllTokenRights implements [store.RightsHistorian].
func (r *Reader) AllTokenRights(ctx context.Context, at time.Time) iter.Seq2[*store.TokenRights, error] {
	return Seq(func(yield func(*store.TokenRights, error) bool) error {
		return r.changes.Scan(ctx, store.KindTokenRights, store.Scan{At: at}, func(c *store.Change) bool { return yield(c.Rights, nil) })
	})
}

// TokenRightsHistory implements [store.RightsHistorian].
func (r *Reader) TokenRightsHistory(ctx context.Context, id string) iter.Seq2[*store.Change, error] {
	return r.history(ctx, store.Subject{Kind: store.KindTokenRights, Key: id})
}

func (r *Reader) history(ctx context.Context, subject store.Subject) iter.Seq2[*store.Change, error] {
	store.DependenciesOf(ctx).On(subject.Key)
	return Seq(func(yield func(*store.Change, error) bool) error { return r.changes.History(ctx, subject, yield) })
}

// Seq returns an iterator over the values that the function read passes to its argument yield. If
// read returns an error, the error is the last element of the iterator. After yield has returned
// false, read must return nil.
func Seq[T any](read func(yield func(T, error) bool) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := read(yield); err != nil {
			var none T
			yield(none, err)
		}
	}
}
