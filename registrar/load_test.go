package registrar

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A counted store counts reads.
type counted struct {
	store.Store
	gets, lists, applies int
}

func (c *counted) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	c.gets++
	return c.Store.Get(ctx, n, at)
}

func (c *counted) List(ctx context.Context, s store.Scan) iter.Seq2[*store.Record, error] {
	c.lists++
	return c.Store.List(ctx, s)
}

func (c *counted) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	c.applies++
	return c.Store.Apply(ctx, changes)
}

// drawn draws valid and invalid requests for few names.
func drawn() *rapid.Generator[Request] {
	url := rapid.SampledFrom([]string{"https://a.example/", "https://b.example/", "relative"})
	return rapid.Custom(func(t *rapid.T) Request {
		r := &store.Record{Spelling: fmt.Sprintf("urn:%s:%d", rapid.SampledFrom([]string{"example", "EXAMPLE", "dns:x.example"}).Draw(t, "space"), rapid.IntRange(0, 12).Draw(t, "element"))}
		req := Request{
			Record: r, OrCreate: rapid.Bool().Draw(t, "create"), Add: rapid.Bool().Draw(t, "add"),
			Existing: rapid.SampledFrom([]Existing{Update, Update, Keep, Refuse}).Draw(t, "existing"),
			Expected: rapid.SampledFrom([]uint64{store.AnyRevision, store.AnyRevision, 0, 1, 2}).Draw(t, "expected"),
		}
		if rapid.Bool().Draw(t, "fields") {
			req.Fields = FieldName | Fields(rapid.Byte().Draw(t, "which"))&(FieldStatus|FieldLocations|FieldMetadata|FieldReason)
		}
		r.Status = rapid.SampledFrom([]nomen.Status{"", "", nomen.Active, nomen.Reserved, nomen.Retired, "odd"}).Draw(t, "status")
		for range rapid.IntRange(0, 2).Draw(t, "locations") {
			r.Locations = append(r.Locations, nomen.Location{URL: url.Draw(t, "url"), Country: "de"})
		}
		if rapid.Bool().Draw(t, "title") {
			r.Metadata = nomen.Metadata{"title": rapid.SliceOfN(rapid.SampledFrom([]string{"A", "B"}), 0, 2).Draw(t, "titles")}
		}
		r.Reason = rapid.SampledFrom([]string{"", "", "gone"}).Draw(t, "reason")
		return req
	})
}

// told returns an outcome as text.
func told(out Outcome) string {
	s := fmt.Sprintf("%s %+v created %t %v %v", out.Name, out.Result, out.Created, out.Fields.Names(), out.Err)
	if out.Record != nil {
		b, err := out.Record.MarshalJSON()
		s += fmt.Sprintf(" %s %v", b, err)
	}
	return s
}

// TestLoadIsPut checks that requests in batches have the same results as one by one.
func TestLoadIsPut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frozen := func() time.Time { return time.Unix(1e9, 5e6) }
		one, many := memstore.New(), memstore.New()
		reqs := rapid.SliceOfN(drawn(), 1, 40).Draw(t, "requests")
		if rapid.Bool().Draw(t, "sorted") {
			slices.SortStableFunc(reqs, func(a, b Request) int {
				return strings.Compare(strings.ToLower(a.Record.Spelling), strings.ToLower(b.Record.Spelling))
			})
		}
		putter := New(one, Options{Now: frozen})
		load, err := New(many, Options{Now: frozen}).NewLoad(Operator(), "why")
		if err != nil {
			t.Fatal(err)
		}
		for len(reqs) > 0 {
			n := rapid.IntRange(1, len(reqs)).Draw(t, "batch")
			// In one batch, all requests for a name can expect the revision that the name had
			// before the batch.
			if i := slices.IndexFunc(reqs[:n], func(r Request) bool { return r.Expected != store.AnyRevision && r.Expected != 0 }); i >= 0 {
				n = max(i, 1)
			}
			b, err := load.Check(t.Context(), reqs[:n])
			if err != nil {
				t.Fatal(err)
			}
			previewed, err := load.Preview(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			var promised []string
			for _, out := range previewed {
				promised = append(promised, told(out))
			}
			outs, err := load.Write(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			for i, out := range outs {
				want, _ := putter.Put(t.Context(), Operator(), reqs[i], "why")
				want.Warnings = nil
				if got, want := told(out), told(want); got != want {
					t.Fatalf("request %d of %d:\n  load %s\n  put  %s", i, n, got, want)
				}
				if got := told(out); got != promised[i] {
					t.Fatalf("request %d of %d:\n  applied   %s\n  previewed %s", i, n, got, promised[i])
				}
			}
			reqs = reqs[n:]
		}
		if got, want := contents(t, many), contents(t, one); !cmp.Equal(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

func contents(t *rapid.T, s store.Store) (all []string) {
	for r, err := range s.List(t.Context(), store.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Name.Key()+" "+string(b))
	}
	return all
}

// batchOf returns requests for names urn:example:N, with a title.
func batchOf(title string, numbers ...int) []Request {
	var reqs []Request
	for _, n := range numbers {
		reqs = append(reqs, Request{
			Record: &store.Record{Spelling: fmt.Sprintf("urn:example:%05d", n), Metadata: nomen.Metadata{"title": {title}}},
			Fields: FieldName | FieldMetadata, Add: true, Expected: store.AnyRevision,
		})
	}
	return reqs
}

func numbers(from, to, step int) (all []int) {
	for i := from; i < to; i += step {
		all = append(all, i)
	}
	return all
}

// A brokenList makes each listing fail after some records.
type brokenList struct {
	store.Store
	after int
}

func (s *brokenList) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		n := 0
		for r, err := range s.Store.List(ctx, scan) {
			if n++; n > s.after {
				yield(nil, errors.New("the connection was lost"))
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// TestLoadListingBreaksOff checks that a failed listing does not make a batch fail.
func TestLoadListingBreaksOff(t *testing.T) {
	for _, after := range []int{0, 1, 7, 19} {
		s := &brokenList{memstore.New(), after}
		for _, c := range []struct{ title, want string }{{"A", "created"}, {"B", "changed"}, {"B", "same"}} {
			load, err := New(s, Options{}).NewLoad(Operator(), "")
			if err != nil {
				t.Fatal(err)
			}
			load.new = false // so that the listing is tried
			b, err := load.Check(t.Context(), batchOf(c.title, numbers(0, 20, 1)...))
			if err != nil {
				t.Fatal(err)
			}
			outs, err := load.Write(t.Context(), b)
			if err != nil {
				t.Fatalf("broken off after %d: %v", after, err)
			}
			for i, out := range outs {
				got := map[bool]string{true: "changed", false: "same"}[out.Result.Changed]
				if out.Created {
					got = "created"
				}
				if out.Err != nil || got != c.want {
					t.Errorf("broken off after %d, request %d: %s, %v, want %s", after, i, got, out.Err, c.want)
				}
			}
		}
	}
}

// TestLoadReadsLittle checks that new names are not read, that adjacent names are read by one
// listing, and that a listing that would read too much is stopped.
func TestLoadReadsLittle(t *testing.T) {
	s := &counted{Store: memstore.New()}
	load, err := New(s, Options{}).NewLoad(Operator(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what                            string
		reqs                            []Request
		gets, lists, applies            int
		created, changed, refused, same int
	}{
		{"new names", batchOf("A", numbers(0, 1000, 1)...), 0, 0, 1, 1000, 0, 0, 0},
		{"more of them", batchOf("A", numbers(2000, 3000, 1)...), 0, 0, 1, 1000, 0, 0, 0},
		{"the same again, taken for new", batchOf("A", numbers(2000, 3000, 1)...), 0, 1, 1, 0, 0, 0, 1000},
		{"the same again, known not to be new", batchOf("A", numbers(2000, 3000, 1)...), 0, 1, 0, 0, 0, 0, 1000},
		{"half of them changed", append(batchOf("B", numbers(0, 500, 1)...), batchOf("A", numbers(500, 1000, 1)...)...), 0, 1, 1, 0, 500, 0, 500},
		{"in no order", batchOf("B", 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 10, 0, 0, 0, 0, 0, 10},
		{"few", batchOf("B", 1, 2, 3), 3, 0, 0, 0, 0, 0, 3},
		{"in no order and new", batchOf("B", 1009, 1008, 1009, 1007), 3, 0, 1, 3, 0, 0, 1},
		{"far from each other", batchOf("A", numbers(500, 3000, 250)...), 9, 1, 1, 4, 0, 0, 6},
		{"far from each other again", batchOf("A", numbers(500, 3000, 250)...), 10, 0, 0, 0, 0, 0, 10},
	} {
		s.gets, s.lists, s.applies = 0, 0, 0
		b, err := load.Check(t.Context(), c.reqs)
		if err != nil {
			t.Fatal(err)
		}
		outs, err := load.Write(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		var created, changed, refused, same int
		for _, out := range outs {
			switch {
			case out.Err != nil:
				refused++
			case out.Created:
				created++
			case out.Result.Changed:
				changed++
			default:
				same++
			}
		}
		if got, want := [...]int{created, changed, refused, same}, [...]int{c.created, c.changed, c.refused, c.same}; got != want {
			t.Errorf("%s: created, changed, refused, same are %v, want %v", c.what, got, want)
		}
		if got, want := [...]int{s.gets, s.lists, s.applies}, [...]int{c.gets, c.lists, c.applies}; got != want {
			t.Errorf("%s: gets, lists, applies are %v, want %v", c.what, got, want)
		}
	}
}

// TestLoadChecksAnewWhenAuthoritiesChange checks that requests checked ahead of time are
// checked again if authorities have changed.
func TestLoadChecksAnewWhenAuthoritiesChange(t *testing.T) {
	reg := New(memstore.New(), Options{})
	load, err := reg.NewLoad(Operator(), "")
	if err != nil {
		t.Fatal(err)
	}
	req := []Request{{Record: &store.Record{Spelling: "urn:example:ABC"}, OrCreate: true}}
	b, err := load.Check(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reg.PutAuthority(t.Context(), Operator(), &store.Authority{Prefix: name.MustParsePrefix("urn:example"), FoldCase: true}, 0, ""); err != nil {
		t.Fatal(err)
	}
	outs, err := load.Write(t.Context(), b)
	if err != nil || outs[0].Name.Key() != "urn:example:abc" {
		t.Errorf("got %+v, %v; want the name in lower case", outs, err)
	}
}

func TestLoadRefusesWhoAndWhy(t *testing.T) {
	reg := New(memstore.New(), Options{})
	for _, c := range []struct{ who, why, field string }{{"a\x01", "", "who"}, {"a\nb", "", "who"}, {"", "a\x01", "why"}} {
		_, err := reg.NewLoad(Actor{Who: c.who, Grants: Operator().Grants}, c.why)
		var e *RefusalError
		if !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("%q, %q: %v, want a refusal of %s", c.who, c.why, err, c.field)
		}
	}
}

// TestBefore checks that no key sorts between before(key) and key.
func TestBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[!-~]{1,4}`).Draw(t, "key")
		other := rapid.OneOf(rapid.StringMatching(`[!-~]{1,5}`), rapid.Just(key), rapid.StringMatching(`[!-~]{0,2}`).Filter(func(s string) bool { return s != "" })).Draw(t, "other")
		if b := before(key); b >= key || b < other && other < key {
			t.Fatalf("before(%q) is %q, and there is %q", key, b, other)
		}
	})
}
