package memstore

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/nomen-project/nomen/internal/check"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// Verify implements [store.Verifier]. Changes wait while it runs.
func (s *Store) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return store.Head{}, err
	}
	head := s.log.tree.Head()
	return check.Run(ctx, &check.Source{
		Size: head.Size, Head: &head, Count: s.count, Now: time.Now(),
		Log: s.log.rows, Node: s.log.Node, Changes: s.changes, Tokens: s.tokens,
	}, fault, progress)
}

func (l *sealedLog) rows(bool) iter.Seq2[check.Row, error] {
	return func(yield func(check.Row, error) bool) {
		var buf []byte
		for _, e := range l.entries {
			r := check.Row{Seq: e.Seq, Subject: e.Change.Subject(), Revision: e.Change.Revision(), Time: e.Change.Time}
			buf = codec.Append(buf[:0], e.Change)
			if !e.Change.Redacted && codec.Digest(e.Salt, buf) != e.Digest {
				r.Err = check.Problem("the content was altered: its digest differs")
			}
			buf = codec.AppendLeaf(buf[:0], e)
			r.Leaf = ledger.LeafHash(buf)
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s *Store) tokens() iter.Seq2[check.Token, error] {
	return func(yield func(check.Token, error) bool) {
		for id, versions := range s.tables[store.KindToken].versions {
			if !yield(check.Token{ID: id, Token: versions[len(versions)-1].change.Token}, nil) {
				return
			}
		}
	}
}

func (s *Store) changes() iter.Seq2[check.Change, error] {
	return func(yield func(check.Change, error) bool) {
		for _, kind := range []store.Kind{store.KindName, store.KindAuthority, store.KindUser, store.KindTokenRights} {
			t := s.tables[kind]
			for _, key := range slices.Sorted(maps.Keys(t.versions)) {
				versions := t.versions[key]
				for i, v := range versions {
					c := check.Change{
						Subject: store.Subject{Kind: kind, Key: key}, Revision: uint64(i) + 1, Time: v.change.Time,
						Last: i == len(versions)-1, Entry: &store.Entry{Seq: v.seq, Change: v.change},
					}
					if entries := s.log.entries; v.seq > 0 && v.seq <= uint64(len(entries)) && entries[v.seq-1].Change != v.change {
						c.Err = check.Problem(fmt.Sprintf("revision %d does not match change %d of the log", i+1, v.seq))
					}
					if !yield(c, nil) {
						return
					}
				}
			}
		}
	}
}
