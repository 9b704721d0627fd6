package storetest

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Same checks that two stores, opened anew for every run, give the same answers
// to the same random operations. Run on a store that is right by inspection, the
// other is right too.
func Same(t *testing.T, a, b Open) {
	rapid.Check(t, func(r *rapid.T) {
		p := pair{T: r, ctx: t.Context(), a: a(t), b: b(t)}
		defer p.a.Close()
		defer p.b.Close()
		r.Repeat(map[string]func(*rapid.T){
			"apply":       p.apply,
			"apply more":  p.apply,
			"get":         p.get,
			"list":        p.list,
			"history":     p.history,
			"authorities": p.authorities,
			"tokens":      p.tokens,
			"count":       p.count,
		})
	})
}

// A pair is two stores to which the same is done.
type pair struct {
	*rapid.T
	ctx  context.Context
	a, b store.Store
}

// both calls f with each store and compares what it returns.
func (p *pair) both(r *rapid.T, what string, f func(s store.Store) (any, error)) {
	a, aErr := f(p.a)
	b, bErr := f(p.b)
	if describe(aErr) != describe(bErr) {
		r.Fatalf("%s: errors differ:\n%s\n%s", what, describe(aErr), describe(bErr))
	}
	if diff := cmp.Diff(a, b, comparers()); diff != "" {
		r.Fatalf("%s: (-first +second)\n%s", what, diff)
	}
}

func describe(err error) string { return fmt.Sprintf("%T %+v", err, err) }

func collect[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (p *pair) apply(r *rapid.T) {
	changes := rapid.SliceOfN(rapid.Custom(anyChange), 1, 6).Draw(r, "changes")
	p.both(r, "Apply", func(s store.Store) (any, error) { return s.Apply(p.ctx, changes) })
}

func (p *pair) get(r *rapid.T) {
	n, at := anyName(r), anyMoment(r)
	p.both(r, "Get", func(s store.Store) (any, error) { return s.Get(p.ctx, n, at) })
}

func (p *pair) list(r *rapid.T) {
	scan := store.Scan{At: anyMoment(r)}
	if rapid.Bool().Draw(r, "has prefix") {
		scan.Prefix = rapid.SampledFrom(trickyKeys()).Draw(r, "prefix")
	}
	if rapid.Bool().Draw(r, "has after") {
		scan.After = rapid.SampledFrom(trickyKeys()).Draw(r, "after")
	}
	p.both(r, "List", func(s store.Store) (any, error) { return collect(s.List(p.ctx, scan)) })
}

func (p *pair) history(r *rapid.T) {
	n := anyName(r)
	p.both(r, "History", func(s store.Store) (any, error) {
		return collect(s.(store.Historian).History(p.ctx, n))
	})
}

func (p *pair) authorities(r *rapid.T) {
	prefix, at := name.PrefixFromKey(anyName(r).Key()), anyMoment(r)
	p.both(r, "Authority", func(s store.Store) (any, error) { return s.Authority(p.ctx, prefix, at) })
	p.both(r, "Authorities", func(s store.Store) (any, error) { return collect(s.Authorities(p.ctx, at)) })
}

func (p *pair) tokens(r *rapid.T) {
	id := anyName(r).Key()
	p.both(r, "Token", func(s store.Store) (any, error) { return s.(store.Tokens).Token(p.ctx, id) })
}

func (p *pair) count(r *rapid.T) {
	p.both(r, "Count", func(s store.Store) (any, error) {
		n, _, err := store.Count(p.ctx, s)
		return n, err
	})
}

// anyName draws one of a few names, so that changes meet.
func anyName(r *rapid.T) name.Name {
	return name.FromKey(rapid.SampledFrom(trickyKeys()[:12]).Draw(r, "key"))
}

// anyMoment draws the present or a time among those of the changes.
func anyMoment(r *rapid.T) time.Time {
	if rapid.Bool().Draw(r, "now") {
		return time.Time{}
	}
	return minute(rapid.IntRange(-1, 12).Draw(r, "minute"))
}

func anyChange(r *rapid.T) store.Change {
	c := store.Change{
		Expected: store.AnyRevision,
		Time:     minute(rapid.IntRange(0, 10).Draw(r, "minute")),
		Who:      rapid.SampledFrom([]string{"", "archive"}).Draw(r, "who"),
		Why:      rapid.SampledFrom([]string{"", "moved"}).Draw(r, "why"),
	}
	if rapid.IntRange(0, 3).Draw(r, "expects") == 0 {
		c.Expected = rapid.Uint64Range(0, 3).Draw(r, "expected")
	}
	switch n := anyName(r); rapid.IntRange(0, 9).Draw(r, "kind") {
	case 0:
		c.Authority = anyAuthority(r, n)
	case 1:
		c.Token = &store.Token{ID: n.Key(), Role: anyText(r), Revoked: rapid.Bool().Draw(r, "revoked")}
	case 2, 3:
		c.Delete = n
	default:
		c.Record = anyRecord(r, n)
	}
	return c
}

func anyRecord(r *rapid.T, n name.Name) *store.Record {
	record := &store.Record{
		Name: n,
		Status: rapid.SampledFrom([]nomen.Status{
			"", nomen.Reserved, nomen.Reserved, nomen.Reserved, nomen.Active, nomen.Retired, "unheard",
		}).Draw(r, "status"),
		Reason:     anyText(r),
		SameAs:     rapid.SliceOfN(rapid.Custom(anyText), 0, 2).Draw(r, "same_as"),
		Successors: rapid.SliceOfN(rapid.Custom(anyText), 0, 2).Draw(r, "successors"),
		Metadata: rapid.MapOfN(rapid.Custom(anyText),
			rapid.SliceOfN(rapid.Custom(anyText), 0, 2), 0, 2).Draw(r, "metadata"),
	}
	for range rapid.IntRange(0, 2).Draw(r, "locations") {
		record.Locations = append(record.Locations, nomen.Location{
			URL: anyText(r), Note: anyText(r), Priority: rapid.IntRange(-1, 2).Draw(r, "priority"),
		})
	}
	return record
}

func anyAuthority(r *rapid.T, n name.Name) *store.Authority {
	return &store.Authority{
		Prefix:   name.PrefixFromKey(n.Key()),
		Owners:   rapid.SliceOfN(rapid.Custom(anyText), 0, 2).Draw(r, "owners"),
		Default:  rapid.Bool().Draw(r, "default"),
		Contact:  anyText(r),
		Redirect: rapid.SampledFrom([]int{0, 302}).Draw(r, "redirect"),
	}
}

func anyText(r *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "b", "ä\x00"}).Draw(r, "text")
}
