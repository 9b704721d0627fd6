package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Same checks that random operations have the same results for all stores and for a simple model.
// It opens new stores for every run, and skips operations that a store does not support.
func Same(t *testing.T, open ...Open) {
	rapid.Check(t, func(r *rapid.T) {
		p := peers{T: t, ctx: t.Context(), model: &model{}}
		for _, o := range open {
			s := o(t)
			defer s.Close()
			p.stores = append(p.stores, s)
		}
		if rapid.Bool().Draw(r, "split") {
			p.split(r)
		}
		r.Repeat(map[string]func(*rapid.T){
			"apply":       p.apply,
			"apply more":  p.apply,
			"get":         p.get,
			"list":        p.list,
			"history":     p.history,
			"authorities": p.authorities,
			"tokens":      p.tokens,
			"users":       p.users,
			"rights":      p.rights,
			"count":       p.count,
			"find":        p.find,
			"changes":     p.changes,
		})
		p.sound(r)
		if rapid.IntRange(0, 4).Draw(r, "load") == 0 {
			p.load(r, open)
		}
	})
}

// A peers contains a model and the stores that get the same operations.
type peers struct {
	*testing.T
	ctx    context.Context
	model  *model
	stores []store.Store
}

// split enables split digests in the stores.
func (p *peers) split(r *rapid.T) {
	for _, s := range p.stores {
		if splitter, ok := s.(store.Splitter); ok {
			if err := splitter.SplitDigests(p.ctx); err != nil {
				r.Fatal(err)
			}
		}
	}
}

// all calls f with the model and with each store that supports the operation, and compares the
// results.
func (p *peers) all(r *rapid.T, what string, f func(s store.Store) (any, error)) {
	want, wantErr := f(p.model)
	for _, s := range p.stores {
		got, err := f(s)
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if describe(err) != describe(wantErr) {
			r.Fatalf("%s of %T: error\n%s, want\n%s", what, s, describe(err), describe(wantErr))
		}
		if diff := cmp.Diff(got, want, comparers(), cmpopts.IgnoreFields(store.Change{}, "Split")); diff != "" {
			r.Fatalf("%s of %T: (-got +want)\n%s", what, s, diff)
		}
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

func (p *peers) apply(r *rapid.T) {
	changes := rapid.SliceOfN(rapid.Custom(p.anyChange), 1, 6).Draw(r, "changes")
	for _, c := range changes {
		if c.Token != nil {
			changes = append(changes, store.Change{Rights: c.Token.Rights(), Expected: store.AnyRevision, Time: c.Time, AnyTime: true})
		}
	}
	p.all(r, "Apply", func(s store.Store) (any, error) { return s.Apply(p.ctx, changes) })
}

func (p *peers) get(r *rapid.T) {
	n, at := anyName(r), anyMoment(r)
	p.all(r, "Get", func(s store.Store) (any, error) { return s.Get(p.ctx, n, at) })
}

func (p *peers) list(r *rapid.T) {
	scan := store.Scan{At: anyMoment(r)}
	if rapid.Bool().Draw(r, "has prefix") {
		scan.Prefix = rapid.SampledFrom(trickyKeys()).Draw(r, "prefix")
	}
	if rapid.Bool().Draw(r, "has after") {
		scan.After = rapid.SampledFrom(trickyKeys()).Draw(r, "after")
	}
	p.all(r, "List", func(s store.Store) (any, error) { return collect(s.List(p.ctx, scan)) })
}

func (p *peers) history(r *rapid.T) {
	n := anyName(r)
	p.all(r, "History", func(s store.Store) (any, error) {
		return collect(store.History(p.ctx, s, n))
	})
	p.all(r, "AuthorityHistory", func(s store.Store) (any, error) {
		return collect(store.AuthorityHistory(p.ctx, s, name.PrefixFromKey(n.Key())))
	})
}

func (p *peers) authorities(r *rapid.T) {
	prefix, at := name.PrefixFromKey(anyName(r).Key()), anyMoment(r)
	p.all(r, "Authority", func(s store.Store) (any, error) { return s.Authority(p.ctx, prefix, at) })
	p.all(r, "Authorities", func(s store.Store) (any, error) { return collect(s.Authorities(p.ctx, at)) })
}

func (p *peers) tokens(r *rapid.T) {
	id := anyName(r).Key()
	p.all(r, "Token", func(s store.Store) (any, error) {
		keeper, ok := s.(store.Tokens)
		if !ok {
			return nil, errors.ErrUnsupported
		}
		return keeper.Token(p.ctx, id)
	})
	p.all(r, "AllTokens", func(s store.Store) (any, error) { return collect(store.AllTokens(p.ctx, s)) })
}

func (p *peers) users(r *rapid.T) {
	id, at, subject := anyName(r).Key(), anyMoment(r), anyText(r)
	for what, f := range map[string]func(u store.Users) (any, error){
		"User":        func(u store.Users) (any, error) { return u.User(p.ctx, id, at) },
		"UserOf":      func(u store.Users) (any, error) { return u.UserOf(p.ctx, subject) },
		"AllUsers":    func(u store.Users) (any, error) { return collect(u.AllUsers(p.ctx, at)) },
		"UserHistory": func(u store.Users) (any, error) { return collect(u.UserHistory(p.ctx, id)) },
	} {
		p.all(r, what, func(s store.Store) (any, error) {
			u, err := store.UsersOf(s)
			if err != nil {
				return nil, err
			}
			return f(u)
		})
	}
}

func (p *peers) rights(r *rapid.T) {
	id, at := anyName(r).Key(), anyMoment(r)
	for what, f := range map[string]func(h store.RightsHistorian) (any, error){
		"TokenRights":        func(h store.RightsHistorian) (any, error) { return h.TokenRights(p.ctx, id, at) },
		"AllTokenRights":     func(h store.RightsHistorian) (any, error) { return collect(h.AllTokenRights(p.ctx, at)) },
		"TokenRightsHistory": func(h store.RightsHistorian) (any, error) { return collect(h.TokenRightsHistory(p.ctx, id)) },
	} {
		p.all(r, what, func(s store.Store) (any, error) {
			h, err := store.RightsOf(s)
			if err != nil {
				return nil, err
			}
			return f(h)
		})
	}
}

func (p *peers) count(r *rapid.T) {
	p.all(r, "Count", func(s store.Store) (any, error) {
		n, _, err := store.Count(p.ctx, s)
		return n, err
	})
}

func (p *peers) find(r *rapid.T) {
	prefix, after := anyText(r), store.Place{}
	if rapid.Bool().Draw(r, "goes on") {
		after = store.Place{URL: anyText(r), Name: anyName(r)}
	}
	p.all(r, "Find", func(s store.Store) (any, error) { return collect(store.Find(p.ctx, s, prefix, after)) })
}

// changes compares the logs. It ignores salts and digests, which differ in every store.
func (p *peers) changes(r *rapid.T) {
	size := uint64(len(p.model.log()))
	after := rapid.Uint64Range(0, size+1).Draw(r, "after")
	p.all(r, "Changes", func(s store.Store) (any, error) {
		if _, err := settled(p.ctx, s); err != nil {
			return nil, err
		}
		entries, err := collect(store.Changes(p.ctx, s, after))
		for i, e := range entries {
			entries[i] = &store.Entry{Seq: e.Seq, Change: e.Change}
		}
		return entries, err
	})
}

// sound checks that the heads match the changes, and that Verify finds no fault.
func (p *peers) sound(r *rapid.T) {
	for _, s := range p.stores {
		head, err := settled(p.ctx, s)
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		entries, err2 := collect(store.Changes(p.ctx, s, 0))
		if err := errors.Join(err, err2); err != nil {
			r.Fatal(err)
		}
		for _, e := range entries {
			if problem := flawed(e); problem != "" {
				r.Fatalf("%T, entry %d: %s", s, e.Seq, problem)
			}
		}
		if want := headOf(entries); head != want || len(entries) != len(p.model.log()) {
			r.Fatalf("%T: head %v of %d changes, want %v of %d", s, head, len(entries), want, len(p.model.log()))
		}
		if all := faults(p.T, s); len(all) > 0 {
			r.Fatalf("%T: Verify of a sound store: %+v", s, all)
		}
	}
}

// load loads the changes of each store into a new store of each kind.
func (p *peers) load(r *rapid.T, open []Open) {
	for _, from := range p.stores {
		head, err := store.HeadOf(p.ctx, from)
		if err != nil {
			continue
		}
		for _, o := range open {
			p.loadOne(r, from, o(p.T), head)
		}
	}
}

func (p *peers) loadOne(r *rapid.T, from, to store.Store, head store.Head) {
	defer to.Close()
	switch err := store.Load(p.ctx, to, store.Changes(p.ctx, from, 0)); {
	case errors.Is(err, errors.ErrUnsupported):
		return
	case err != nil:
		r.Fatalf("Load of %T from %T: %v", to, from, err)
	}
	if got, err := settled(p.ctx, to); err != nil || got != head {
		r.Fatalf("Load of %T from %T: head %v, %v, want %v", to, from, got, err, head)
	}
	loaded := &peers{T: p.T, ctx: p.ctx, model: p.model, stores: []store.Store{to}}
	for _, k := range trickyKeys()[:12] {
		for n := range 12 {
			loaded.all(r, "Get", func(s store.Store) (any, error) { return s.Get(p.ctx, name.FromKey(k), minute(n)) })
		}
		loaded.all(r, "History", func(s store.Store) (any, error) { return collect(store.History(p.ctx, s, name.FromKey(k))) })
	}
	loaded.all(r, "List", func(s store.Store) (any, error) { return collect(s.List(p.ctx, store.Scan{})) })
	loaded.all(r, "Find", func(s store.Store) (any, error) { return collect(store.Find(p.ctx, s, "", store.Place{})) })
	loaded.all(r, "Authorities", func(s store.Store) (any, error) { return collect(s.Authorities(p.ctx, time.Time{})) })
	loaded.count(r)
	loaded.sound(r)
}

// anyName draws one of a few names, so that some names get several changes.
func anyName(r *rapid.T) name.Name {
	return name.FromKey(rapid.SampledFrom(trickyKeys()[:12]).Draw(r, "key"))
}

func anyMoment(r *rapid.T) time.Time {
	if rapid.Bool().Draw(r, "now") {
		return time.Time{}
	}
	return minute(rapid.IntRange(-1, 12).Draw(r, "minute"))
}

func (p *peers) anyChange(r *rapid.T) store.Change {
	c := store.Change{
		Expected: store.AnyRevision,
		Time:     minute(rapid.IntRange(0, 10).Draw(r, "minute")),
		Who:      rapid.SampledFrom([]string{"", "archive"}).Draw(r, "who"),
		Why:      rapid.SampledFrom([]string{"", "moved"}).Draw(r, "why"),
	}
	if rapid.IntRange(0, 3).Draw(r, "expects") == 0 {
		c.Expected = rapid.Uint64Range(0, 3).Draw(r, "expected")
	}
	switch n := anyName(r); rapid.IntRange(0, 10).Draw(r, "kind") {
	case 0:
		c.Authority = anyAuthority(r, n)
	case 1:
		c.Token = &store.Token{ID: n.Key(), Role: anyText(r), Revoked: rapid.Bool().Draw(r, "revoked")}
	case 2, 3:
		c.Delete = n
	case 10:
		c.User = anyUser(r, n)
	default:
		c.Record = anyRecord(r, n)
	}
	if rapid.IntRange(0, 4).Draw(r, "redacting") == 0 {
		c.Redacts = rapid.SliceOfN(rapid.Uint64Range(1, 4), 1, 3).Draw(r, "redacts")
	}
	if c.Token == nil {
		c.Batch = rapid.SampledFrom([]string{"", "3-k3m9qx7a"}).Draw(r, "batch")
	}
	return c
}

// anyUser draws a user with few subjects, so that different users get the same subject.
func anyUser(r *rapid.T, n name.Name) *store.User {
	return &store.User{
		ID: n.Key(), Name: anyText(r), Disabled: rapid.Bool().Draw(r, "disabled"),
		Subjects: rapid.SliceOfN(rapid.Custom(anyText), 0, 2).Draw(r, "subjects"),
		Grants: rapid.SliceOfN(rapid.Custom(func(r *rapid.T) store.UserGrant {
			return store.UserGrant{Role: anyText(r), Prefixes: rapid.SliceOfN(rapid.Custom(anyText), 0, 2).Draw(r, "prefixes")}
		}), 0, 2).Draw(r, "grants"),
	}
}

func anyRecord(r *rapid.T, n name.Name) *store.Record {
	record := &store.Record{
		Name: n,
		Status: rapid.SampledFrom([]nomen.Status{
			"", nomen.Reserved, nomen.Reserved, nomen.Reserved, nomen.Active, nomen.Retired, "unheard",
		}).Draw(r, "status"),
		Reason:        anyText(r),
		ShowLocations: rapid.Bool().Draw(r, "show"),
		SameAs:        rapid.SliceOfN(rapid.Custom(anyText), 0, 2).Draw(r, "same_as"),
		Successors:    rapid.SliceOfN(rapid.Custom(anyText), 0, 2).Draw(r, "successors"),
		Metadata: rapid.MapOfN(rapid.Custom(anyText),
			rapid.SliceOfN(rapid.Custom(anyText), 0, 2), 0, 2).Draw(r, "metadata"),
	}
	for i := range rapid.IntRange(0, 2).Draw(r, "values") {
		record.Values = append(record.Values, nomen.Value{Index: 2*i + rapid.IntRange(1, 2).Draw(r, "index"), Data: anyText(r)})
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
		Policy:   anyPolicy(r),
	}
}

// anyPolicy returns a policy, usually not the zero policy. Stores do not check the content of
// policies.
func anyPolicy(r *rapid.T) store.Policy {
	p := store.Policy{
		Suffix:     rapid.SampledFrom([]store.Suffix{"", store.SuffixAppend}).Draw(r, "suffix"),
		Access:     rapid.SampledFrom([]store.Access{"", store.AccessDenied, store.AccessLegal}).Draw(r, "access"),
		AccessNote: anyWord(r),
		Services:   rapid.SliceOfN(rapid.SampledFrom([]nomen.Service{nomen.I2L, nomen.I2C}), 0, 2).Draw(r, "services"),
		Fragment:   rapid.Bool().Draw(r, "fragment"),
		MaxAge:     rapid.SampledFrom([]int{0, 60}).Draw(r, "max_age"),
		Commitment: anyWord(r),
		CheckDigit: anyWord(r),
		Mint:       rapid.SampledFrom([][]string{nil, {"{uuid}"}, {"x{seq}", "y{seq}"}}).Draw(r, "mint"),
	}
	if rapid.Bool().Draw(r, "delegated") {
		p.Delegation = &store.Delegation{Mode: store.ModeAsk, To: anyWord(r)}
	}
	if rapid.Bool().Draw(r, "keywords") {
		p.Keywords = map[string][]string{"c": {anyWord(r)}, anyWord(r): {}}
		p.RComponent = map[string]string{"toc": anyWord(r)}
	}
	return p
}

// anyWord returns a text that JSON can represent.
func anyWord(r *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "ä", "<&\u2028"}).Draw(r, "word")
}

func anyText(r *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "b", "ä\x00"}).Draw(r, "text")
}
