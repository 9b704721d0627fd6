package nomentest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Run tests the resolver that the function build returns.
func Run(
	t *testing.T,
	build func(t *testing.T, records []*store.Record, authorities []*store.Authority) nomen.Resolver,
	c Capabilities,
) {
	t.Helper()
	r := build(t, Records(), Authorities())
	for _, tc := range newFixture().cases(c) {
		t.Run(fmt.Sprintf("%s/%s", tc.question.Service, tc.name), func(t *testing.T) {
			report(t, tc.check(t.Context(), r, c))
		})
	}
	if c.Fetches {
		t.Run("resources", func(t *testing.T) { report(t, checkResources(t.Context(), r, c)) })
	}
	t.Run("caller owns the answer", func(t *testing.T) { report(t, checkOwnership(t.Context(), r, c)) })
	t.Run("cancelled", func(t *testing.T) { report(t, checkCancelled(t.Context(), r)) })
	t.Run("concurrent", func(t *testing.T) { report(t, checkConcurrent(t.Context(), r, c)) })
}

func report(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Bench measures concurrent I2L questions about one name of the fixture.
func Bench(b *testing.B, r nomen.Resolver) {
	q := ask(nomen.I2L, ranked)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := r.Resolve(b.Context(), q); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func (tc testCase) check(ctx context.Context, r nomen.Resolver, c Capabilities) error {
	a, err := r.Resolve(ctx, tc.question)
	switch {
	case err == nil && a == nil:
		return errors.New("neither an answer nor an error")
	case err != nil && a != nil:
		return fmt.Errorf("both an answer and an error: %w", err)
	case err == nil && tc.kind != 0:
		return fmt.Errorf("got the answer %s, want an error of kind %v", c.show(a, tc), tc.kind)
	case err == nil:
		return c.compare(a, tc)
	}
	return tc.checkError(err, c)
}

func (tc testCase) checkError(err error, c Capabilities) error {
	var e *nomen.Error
	switch {
	case tc.kind == 0:
		return fmt.Errorf("got the error %w, want an answer", err)
	case !errors.As(err, &e):
		return fmt.Errorf("got the error %q (%T), want one that contains a *nomen.Error of kind %v", err, err, tc.kind)
	case e.Kind != tc.kind:
		return fmt.Errorf("got an error of kind %v, want %v: %w", e.Kind, tc.kind, err)
	case e.Legal != tc.legal:
		return fmt.Errorf("an error for legal reasons: %t, want %t: %w", e.Legal, tc.legal, err)
	case !errors.Is(err, &nomen.Error{Kind: tc.kind}):
		return fmt.Errorf("errors.Is does not know the kind %v of %q", tc.kind, err)
	case e.Service != tc.question.Service && tc.question.Service.Known():
		return fmt.Errorf("the error is about the service %q, want %q", e.Service, tc.question.Service)
	}
	if err := tc.checkSubject(e); err != nil {
		return err
	}
	return tc.checkTombstone(e, c)
}

func (tc testCase) checkSubject(e *nomen.Error) error {
	if tc.kind == nomen.Malformed {
		if e.Offset < 0 || e.Offset > len(e.Name) || e.Rule == "" || e.Name != tc.question.Subject.String() {
			return fmt.Errorf("got an error about %q at offset %d, rule %q; want one about %q with offset and rule",
				e.Name, e.Offset, e.Rule, tc.question.Subject)
		}
		return nil
	}
	if n, err := name.Parse(e.Name); err != nil || n != tc.question.Name {
		return fmt.Errorf("the error is about %q, want %q", e.Name, tc.question.Name)
	}
	return nil
}

func (tc testCase) checkTombstone(e *nomen.Error, c Capabilities) error {
	switch {
	case tc.answer != nil && e.Answer == nil:
		if c.show(tc.answer, tc) == (view{}).String() {
			return nil
		}
		return fmt.Errorf("the error %w has no answer", e)
	case tc.answer != nil:
		return c.compare(e.Answer, tc)
	case e.Answer != nil:
		return fmt.Errorf("the error %w has an answer: %s", e, c.show(e.Answer, tc))
	}
	return nil
}
