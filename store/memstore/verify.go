package memstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

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
	c := &checker{s: s, fault: fault, progress: store.NewPasses(uint64(len(s.log.entries)), 2, progress), found: map[uint64]bool{}, future: store.FutureCheck{Now: time.Now()}}
	if err := c.entries(ctx); err != nil {
		return store.Head{}, err
	}
	if err := c.subjects(ctx); err != nil {
		return store.Head{}, err
	}
	c.counts()
	c.progress.End()
	c.future.Report(fault)
	return c.tree.Head(), nil
}

// A checker is one call of Verify. It reads the log, then the subjects.
type checker struct {
	s        *Store
	fault    func(store.Fault)
	progress *store.Passes
	tree     ledger.Log      // computed anew
	found    map[uint64]bool // numbers in the log that a version has
	records  int64
	future   store.FutureCheck
}

func (c *checker) step(ctx context.Context) error {
	c.progress.Add(1)
	return ctx.Err()
}

// entries computes the tree over all entries.
func (c *checker) entries(ctx context.Context) error {
	l := &c.s.log
	c.progress.Begin(uint64(len(l.entries)))
	var value, leaf []byte
	var nodes []ledger.Node
	for i, e := range l.entries {
		subject := e.Change.Subject()
		c.future.Add(subject, e.Seq, e.Change.Time)
		if e.Seq != uint64(i)+1 {
			c.fault(store.Fault{Subject: subject, Seq: e.Seq, Problem: fmt.Sprintf("is stored as number %d of the log", i+1)})
		}
		value = codec.Append(value[:0], e.Change)
		if !e.Change.Redacted && codec.Digest(e.Salt, value) != e.Digest {
			c.fault(store.Fault{Subject: subject, Seq: e.Seq, Problem: "the content was altered: its digest differs"})
		}
		leaf = codec.AppendLeaf(leaf[:0], e)
		nodes = c.tree.Append(nodes[:0], leaf)
		for _, n := range nodes {
			if l.nodes[place{n.Level, n.Index}] != n.Hash {
				c.fault(store.Fault{Seq: e.Seq, Problem: fmt.Sprintf("the tree does not match up to here: node %d of level %d differs", n.Index, n.Level)})
			}
		}
		if err := c.step(ctx); err != nil {
			return err
		}
	}
	if got, want := c.tree.Head(), l.tree.Head(); got != want {
		c.fault(store.Fault{Problem: fmt.Sprintf("the head of the log is %v, but recomputed it is %v", want, got)})
	}
	return nil
}

// subjects verifies every version, subject by subject.
func (c *checker) subjects(ctx context.Context) error {
	c.progress.Begin(uint64(len(c.s.log.entries)))
	for _, kind := range []store.Kind{store.KindName, store.KindAuthority} {
		t := c.s.tables[kind]
		for _, key := range slices.Sorted(maps.Keys(t.versions)) {
			versions := t.versions[key]
			for i := range versions {
				c.version(versions, i)
				if err := c.step(ctx); err != nil {
					return err
				}
			}
			c.redactions(versions)
			c.records += records(versions[len(versions)-1].change)
		}
	}
	return nil
}

// version verifies version i of a subject.
func (c *checker) version(versions []version, i int) {
	v := versions[i]
	report := func(problem string) {
		c.fault(store.Fault{Subject: v.change.Subject(), Seq: v.seq, Problem: problem})
	}
	c.found[v.seq] = true
	if got := v.change.Revision(); got != uint64(i)+1 {
		report(fmt.Sprintf("revision %d is stored as revision %d", got, i+1))
	}
	if i > 0 && v.change.Time.Before(versions[i-1].change.Time) {
		report("earlier than the revision before it")
	}
	entries := c.s.log.entries
	if v.seq == 0 || v.seq > uint64(len(entries)) || entries[v.seq-1].Change != v.change {
		report("does not match the change in the log")
	}
}

// redactions checks that the revisions named by redactions, and no others, are redacted.
func (c *checker) redactions(versions []version) {
	named := map[uint64]bool{}
	for _, v := range versions {
		for _, r := range v.change.Redacts {
			named[r] = true
		}
	}
	for _, v := range versions {
		problem := ""
		switch r := v.change.Revision(); {
		case named[r] && !v.change.Redacted:
			problem = fmt.Sprintf("the content of revision %d exists although it was redacted", r)
		case !named[r] && v.change.Redacted:
			problem = fmt.Sprintf("the content of revision %d is missing although no change redacted it", r)
		default:
			continue
		}
		c.fault(store.Fault{Subject: v.change.Subject(), Seq: v.seq, Problem: problem})
	}
}

// counts checks the totals.
func (c *checker) counts() {
	for _, e := range c.s.log.entries {
		if !c.found[e.Seq] {
			c.fault(store.Fault{Subject: e.Change.Subject(), Seq: e.Seq, Problem: "in the log but not in the history of its subject"})
		}
	}
	if c.records != c.s.count {
		c.fault(store.Fault{Problem: fmt.Sprintf("%d records, but the stored count is %d", c.records, c.s.count)})
	}
}
