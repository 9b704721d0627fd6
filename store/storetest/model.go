package storetest

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A model is a store that is simple enough to be obviously correct. It is a list of all changes,
// which every call reads from beginning to end. A model must not be used concurrently.
type model struct {
	kept []*store.Change // all changes in order, including changes of tokens
}

func (m *model) Apply(_ context.Context, changes []store.Change) ([]store.Result, error) {
	if err := store.CheckBatch(changes); err != nil {
		return nil, err
	}
	steps, results, err := store.Plan(changes, func(s store.Subject) (*store.Change, error) {
		return m.at(s, time.Time{}), nil
	})
	if err != nil {
		return nil, err
	}
	if err := store.CheckSubjects(changes, steps, func(subject string) (string, error) {
		u, _ := m.UserOf(context.Background(), subject)
		if u == nil {
			return "", nil
		}
		return u.ID, nil
	}); err != nil {
		return nil, err
	}
	for _, step := range steps {
		m.kept = append(m.kept, step.Next)
		for i, c := range m.kept {
			if c.Subject() == step.Subject && slices.Contains(step.Next.Redacts, c.Revision()) {
				m.kept[i] = c.Redact()
			}
		}
	}
	return results, nil
}

func (m *model) Close() error { return nil }

func (m *model) of(s store.Subject) (all []*store.Change) {
	for _, c := range m.kept {
		if c.Subject() == s {
			all = append(all, c)
		}
	}
	return all
}

func (m *model) at(s store.Subject, at time.Time) (last *store.Change) {
	for _, c := range m.of(s) {
		if c.KnownAt(at) {
			last = c
		}
	}
	return last
}

func (m *model) subjects(k store.Kind, scan store.Scan) (all []store.Subject) {
	for _, c := range m.kept {
		s := c.Subject()
		if s.Kind == k && strings.HasPrefix(s.Key, scan.Prefix) && (scan.After == "" || s.Key > scan.After) && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b store.Subject) int { return strings.Compare(a.Key, b.Key) })
	return all
}

func (m *model) Get(_ context.Context, n name.Name, at time.Time) (*store.Record, error) {
	c := m.at(store.Subject{Kind: store.KindName, Key: n.Key()}, at)
	if c == nil || c.Record == nil {
		return nil, store.ErrNotFound
	}
	return c.Record, nil
}

func (m *model) List(_ context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for _, s := range m.subjects(store.KindName, scan) {
			c := m.at(s, scan.At)
			if c != nil && c.Record != nil && !yield(c.Record, nil) {
				return
			}
		}
	}
}

func (m *model) Authority(_ context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	c := m.at(store.Subject{Kind: store.KindAuthority, Key: p.String()}, at)
	if c == nil {
		return nil, store.ErrNotFound
	}
	return c.Authority, nil
}

func (m *model) Authorities(_ context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	return func(yield func(*store.Authority, error) bool) {
		for _, s := range m.subjects(store.KindAuthority, store.Scan{}) {
			if c := m.at(s, at); c != nil && !yield(c.Authority, nil) {
				return
			}
		}
	}
}

func (m *model) Token(_ context.Context, id string) (*store.Token, error) {
	c := m.at(store.Subject{Kind: store.KindToken, Key: id}, time.Time{})
	if c == nil {
		return nil, store.ErrNotFound
	}
	return c.Token, nil
}

func (m *model) AllTokens(context.Context) iter.Seq2[*store.Token, error] {
	return func(yield func(*store.Token, error) bool) {
		for _, s := range m.subjects(store.KindToken, store.Scan{}) {
			if !yield(m.at(s, time.Time{}).Token, nil) {
				return
			}
		}
	}
}

func (m *model) History(_ context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return newestFirst(m.of(store.Subject{Kind: store.KindName, Key: n.Key()}))
}

func (m *model) AuthorityHistory(_ context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	return newestFirst(m.of(store.Subject{Kind: store.KindAuthority, Key: p.String()}))
}

func (m *model) User(_ context.Context, id string, at time.Time) (*store.User, error) {
	c := m.at(store.Subject{Kind: store.KindUser, Key: id}, at)
	if c == nil {
		return nil, store.ErrNotFound
	}
	return c.User, nil
}

func (m *model) AllUsers(_ context.Context, at time.Time) iter.Seq2[*store.User, error] {
	return func(yield func(*store.User, error) bool) {
		for _, s := range m.subjects(store.KindUser, store.Scan{}) {
			if c := m.at(s, at); c != nil && !yield(c.User, nil) {
				return
			}
		}
	}
}

func (m *model) UserOf(ctx context.Context, subject string) (*store.User, error) {
	for u := range m.AllUsers(ctx, time.Time{}) {
		if slices.Contains(u.Subjects, subject) {
			return u, nil
		}
	}
	return nil, store.ErrNotFound
}

func (m *model) UserHistory(_ context.Context, id string) iter.Seq2[*store.Change, error] {
	return newestFirst(m.of(store.Subject{Kind: store.KindUser, Key: id}))
}

func (m *model) TokenRights(_ context.Context, id string, at time.Time) (*store.TokenRights, error) {
	c := m.at(store.Subject{Kind: store.KindTokenRights, Key: id}, at)
	if c == nil {
		return nil, store.ErrNotFound
	}
	return c.Rights, nil
}

func (m *model) AllTokenRights(_ context.Context, at time.Time) iter.Seq2[*store.TokenRights, error] {
	return func(yield func(*store.TokenRights, error) bool) {
		for _, s := range m.subjects(store.KindTokenRights, store.Scan{}) {
			if c := m.at(s, at); c != nil && !yield(c.Rights, nil) {
				return
			}
		}
	}
}

func (m *model) TokenRightsHistory(_ context.Context, id string) iter.Seq2[*store.Change, error] {
	return newestFirst(m.of(store.Subject{Kind: store.KindTokenRights, Key: id}))
}

func newestFirst(changes []*store.Change) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		for _, c := range slices.Backward(changes) {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// Changes implements [store.Feed], without salts and digests.
func (m *model) Changes(_ context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for i, c := range m.log() {
			if uint64(i) >= after && !yield(&store.Entry{Seq: uint64(i) + 1, Change: c}, nil) {
				return
			}
		}
	}
}

// Head implements [store.Feed], without the hash.
func (m *model) Head(context.Context) (store.Head, error) {
	return store.Head{Size: uint64(len(m.log()))}, nil
}

func (m *model) log() []*store.Change {
	return slices.DeleteFunc(slices.Clone(m.kept), func(c *store.Change) bool { return c.Token != nil })
}
