package nomentest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// shelf is a store.Reader over the fixture, the minimum that an engine needs.
type shelf struct {
	records     []*store.Record
	authorities []*store.Authority
}

func (s shelf) Get(ctx context.Context, n name.Name, _ time.Time) (*store.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, r := range s.records {
		if r.Name == n {
			return copied(r), nil
		}
	}
	return nil, store.ErrNotFound
}

// copied returns a copy of a record.
func copied(r *store.Record) *store.Record {
	c := *r
	c.Revision, c.Modified = 1, time.Unix(1, 0)
	c.Locations, c.SameAs, c.Successors = slices.Clone(r.Locations), slices.Clone(r.SameAs), slices.Clone(r.Successors)
	c.Metadata = nomen.Metadata{}
	for element, values := range r.Metadata {
		c.Metadata[element] = slices.Clone(values)
	}
	return &c
}

func (s shelf) List(context.Context, store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {}
}

func (s shelf) Authority(context.Context, name.Prefix, time.Time) (*store.Authority, error) {
	return nil, store.ErrNotFound
}

func (s shelf) Authorities(context.Context, time.Time) iter.Seq2[*store.Authority, error] {
	return func(yield func(*store.Authority, error) bool) {
		for _, a := range s.authorities {
			if !yield(a, nil) {
				return
			}
		}
	}
}

func build(_ *testing.T, records []*store.Record, authorities []*store.Authority) nomen.Resolver {
	return resolve.New(shelf{records, authorities}, resolve.Options{Fetch: Fetch})
}

func TestRun(t *testing.T) {
	Run(t, build, Capabilities{Ruled: true, Fetches: true})
}

// wrong is a resolver that modifies correct answers.
type wrong struct {
	right  nomen.Resolver
	change func(q nomen.Question, a *nomen.Answer, err error) (*nomen.Answer, error)
}

func (w wrong) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	a, err := w.right.Resolve(ctx, q)
	return w.change(q, a, err)
}

// TestFindsFaults checks that the suite detects each violation.
func TestFindsFaults(t *testing.T) {
	right := build(t, Records(), Authorities())
	answered := func(change func(*nomen.Answer)) func(nomen.Question, *nomen.Answer, error) (*nomen.Answer, error) {
		return func(_ nomen.Question, a *nomen.Answer, err error) (*nomen.Answer, error) {
			if a != nil {
				change(a)
			}
			return a, err
		}
	}
	refused := func(change func(*nomen.Error)) func(nomen.Question, *nomen.Answer, error) (*nomen.Answer, error) {
		return func(_ nomen.Question, a *nomen.Answer, err error) (*nomen.Answer, error) {
			if e := (*nomen.Error)(nil); errors.As(err, &e) {
				change(e)
			}
			return a, err
		}
	}
	for fault, change := range map[string]func(nomen.Question, *nomen.Answer, error) (*nomen.Answer, error){
		"no answer":       func(nomen.Question, *nomen.Answer, error) (*nomen.Answer, error) { return nil, nil },
		"plain errors":    func(_ nomen.Question, a *nomen.Answer, err error) (*nomen.Answer, error) { return a, plain(err) },
		"another kind":    refused(func(e *nomen.Error) { e.Kind++ }),
		"no subject":      refused(func(e *nomen.Error) { e.Name = "" }),
		"no service":      refused(func(e *nomen.Error) { e.Service = "" }),
		"no rule":         refused(func(e *nomen.Error) { e.Rule = "" }),
		"wild offset":     refused(func(e *nomen.Error) { e.Offset = len(e.Name) + 1 }),
		"legal reasons":   refused(func(e *nomen.Error) { e.Legal = !e.Legal }),
		"no tombstone":    refused(func(e *nomen.Error) { e.Answer = nil }),
		"both":            refused(func(e *nomen.Error) { e.Answer = &nomen.Answer{Status: nomen.Reserved} }),
		"service":         answered(func(a *nomen.Answer) { a.Service = nomen.IisI }),
		"name":            answered(func(a *nomen.Answer) { a.Name = name.MustParse(missing) }),
		"spelling":        answered(func(a *nomen.Answer) { a.Spelling = "" }),
		"status":          answered(func(a *nomen.Answer) { a.Status = nomen.Reserved }),
		"order":           answered(func(a *nomen.Answer) { slices.Reverse(a.Locations) }),
		"metadata":        answered(func(a *nomen.Answer) { a.Metadata = nil }),
		"names":           answered(func(a *nomen.Answer) { a.Names = nil }),
		"redirect":        answered(func(a *nomen.Answer) { a.Redirect = "" }),
		"other successor": answered(func(a *nomen.Answer) { a.Successors = nil }),
		"revision":        answered(func(a *nomen.Answer) { a.Revision = 0 }),
	} {
		c := Capabilities{}
		if found := faults(t, wrong{right, change}, c); found == 0 {
			t.Errorf("%s: not detected", fault)
		}
	}
}

// TestFindsFaultyResources does the same for I2R and I2Rs.
func TestFindsFaultyResources(t *testing.T) {
	right := build(t, Records(), Authorities())
	for fault, change := range map[string]func(*nomen.Answer){
		"nothing":     func(*nomen.Answer) {},
		"no resource": func(a *nomen.Answer) { a.Resource = nil },
		"too few":     func(a *nomen.Answer) { a.Resources = a.Resources[:min(len(a.Resources), 1)] },
		"order":       func(a *nomen.Answer) { slices.Reverse(a.Resources) },
		"type": func(a *nomen.Answer) {
			if a.Resource != nil {
				a.Resource.Type = "image/gif"
			}
		},
		"another service": func(a *nomen.Answer) { a.Service = nomen.I2R },
	} {
		r := wrong{right, func(_ nomen.Question, a *nomen.Answer, err error) (*nomen.Answer, error) {
			if a != nil {
				change(a)
			}
			return a, err
		}}
		if err := checkResources(t.Context(), r, Capabilities{}); (err == nil) != (fault == "nothing") {
			t.Errorf("%s: %v", fault, err)
		}
	}
}

func plain(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(err.Error())
}

func faults(t *testing.T, r nomen.Resolver, c Capabilities) (n int) {
	t.Helper()
	for _, tc := range newFixture().cases(c) {
		if tc.check(t.Context(), r, c) != nil {
			n++
		}
	}
	return n
}

// sharing returns the same answer to every caller.
type sharing struct{ right nomen.Resolver }

func (s sharing) Resolve(context.Context, nomen.Question) (*nomen.Answer, error) {
	return s.right.Resolve(context.Background(), ask(nomen.I2L, single))
}

func TestFindsDisregard(t *testing.T) {
	right := build(t, Records(), Authorities())
	if err := checkCancelled(t.Context(), sharing{right}); err == nil {
		t.Error("a resolver that ignores its context is not detected")
	}
	answers := map[string]*nomen.Answer{}
	shared := wrong{right, func(q nomen.Question, a *nomen.Answer, err error) (*nomen.Answer, error) {
		key := q.Name.Key() + " " + string(q.Service) + " " + q.Accept + q.Languages + q.Component + q.Country
		if a == nil || q.Name.IsZero() {
			return a, err
		}
		if answers[key] == nil {
			answers[key] = a
		}
		return answers[key], err
	}}
	if err := checkOwnership(t.Context(), shared, Capabilities{}); err == nil {
		t.Error("a resolver that gives one answer to all is not detected")
	}
	always := wrong{right, func(nomen.Question, *nomen.Answer, error) (*nomen.Answer, error) {
		return right.Resolve(t.Context(), ask(nomen.I2L, single))
	}}
	if err := checkConcurrent(t.Context(), always, Capabilities{}); err == nil {
		t.Error("a resolver that always says the same is not detected")
	}
}

// TestCapabilities checks that the suite does not test what is not supported.
func TestCapabilities(t *testing.T) {
	under := name.MustParsePrefix("urn:dns:" + Host)
	c := Capabilities{
		Under: under, Services: []nomen.Service{nomen.I2C}, Default: nomen.I2C, Unsuccessive: true,
		Unranked: true, Uncountried: true, Uncomponented: true,
	}
	for _, tc := range newFixture().cases(c) {
		q := tc.question
		switch {
		case q.Service.Known() && q.Service != nomen.I2C, q.Accept+q.Languages+q.Country+q.Component != "":
			t.Errorf("%s is asked for %+v", tc.name, q)
		case !q.Name.IsZero() && !under.Covers(q.Name):
			t.Errorf("%s is asked for", q.Name)
		}
	}
	lossy := Capabilities{Lossy: func(a *nomen.Answer) { *a = nomen.Answer{} }}
	nothing := wrong{build(t, Records(), Authorities()), func(_ nomen.Question, a *nomen.Answer, err error) (*nomen.Answer, error) {
		if a != nil && a.Redirect == "" {
			a = &nomen.Answer{}
		}
		return a, err
	}}
	if n := faults(t, nothing, lossy); n != 0 {
		t.Errorf("%d faults of a transport that carries nothing and says so", n)
	}
}

func TestFollows(t *testing.T) {
	right := build(t, Records(), Authorities())
	following := wrong{right, func(q nomen.Question, a *nomen.Answer, err error) (*nomen.Answer, error) {
		if a != nil && a.Redirect != "" {
			q.Name = name.MustParse(a.Redirect)
			return right.Resolve(t.Context(), q)
		}
		return a, err
	}}
	if n := faults(t, following, Capabilities{Follows: true}); n != 0 {
		t.Errorf("%d faults of a resolver that follows and says so", n)
	}
	if n := faults(t, following, Capabilities{}); n == 0 {
		t.Error("a resolver that follows without saying so is not detected")
	}
}

func BenchmarkEngine(b *testing.B) {
	Bench(b, resolve.New(shelf{Records(), Authorities()}, resolve.Options{}))
}
