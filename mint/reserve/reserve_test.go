package reserve

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// kept is a backend of a store in memory.
type kept struct {
	*memstore.Store
	registrar *registrar.Registrar
}

func (k kept) Authorities(context.Context) ([]*store.Authority, error) { return nil, nil }

func (k kept) GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	return k.Get(ctx, n, at)
}

func (k kept) Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error) {
	return k.registrar.Put(ctx, registrar.Operator(), req, why)
}

func (k kept) Known(ctx context.Context, n name.Name) (bool, error) { return KnownIn(ctx, k.Store, n) }

func (k kept) Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] {
	return KeysOf(k.List(ctx, store.Scan{Prefix: prefix}))
}

// KeysOf yields the names of records up to an error, which is the last that it yields.
func TestKeysOf(t *testing.T) {
	broken := errors.New("x")
	records := func(yield func(*store.Record, error) bool) {
		for _, key := range []string{"urn:example:a", "urn:example:b"} {
			if !yield(&store.Record{Name: name.FromKey(key)}, nil) {
				return
			}
		}
		if yield(nil, broken) {
			t.Error("asked for more after an error")
		}
	}
	var got []string
	for n, err := range KeysOf(records) {
		if err != nil {
			if err != broken || n != (name.Name{}) {
				t.Errorf("got %v, %v", n, err)
			}
			got = append(got, "error")
			continue
		}
		got = append(got, n.Key())
	}
	if want := []string{"urn:example:a", "urn:example:b", "error"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for n := range KeysOf(records) {
		if n.Key() != "urn:example:a" {
			t.Errorf("got %v after the loop has ended", n)
		}
		break
	}
}

// Names continue after the existing ones, are reserved when they are yielded,
// and come to an end.
func TestNames(t *testing.T) {
	s := memstore.New()
	defer s.Close()
	b := kept{s, registrar.New(s, registrar.Options{})}
	prefix, err := ReadPrefix("x-mint")
	if err != nil || prefix.String() != "urn:x-mint" {
		t.Fatalf("got %s, %v", prefix, err)
	}
	three := Options{Prefix: prefix, Template: "a{seq:1:1-5}", Count: 3, Now: time.Now}
	names := func(o Options) (all []string, err error) {
		for n, err := range Names(t.Context(), b, o) {
			if err != nil {
				return all, err
			}
			all = append(all, n.Key())
			if rec, err := s.Get(t.Context(), n, time.Time{}); !o.DryRun && (err != nil || rec.Status != nomen.Reserved) {
				t.Errorf("%s is not reserved: %+v, %v", n, rec, err)
			}
		}
		return all, nil
	}
	dry := three
	dry.DryRun = true
	for _, o := range []Options{dry, three} {
		if all, err := names(o); err != nil || len(all) != 3 || all[0] != "urn:x-mint:a1" || all[2] != "urn:x-mint:a3" {
			t.Errorf("%+v: got %q, %v", o, all, err)
		}
	}
	all, err := names(three)
	if !errors.As(err, new(*mint.ExhaustedError)) || len(all) != 2 || all[1] != "urn:x-mint:a5" {
		t.Errorf("at the end: got %q, %v", all, err)
	}
	three.Template = "{sqe}"
	if all, err := names(three); len(all) != 0 || err == nil {
		t.Errorf("invalid template: got %q, %v", all, err)
	}
}
