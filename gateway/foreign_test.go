package gateway

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/uri"
)

var (
	ownUser  = netip.MustParseAddr("192.0.2.7")
	stranger = netip.MustParseAddr("203.0.113.7")
)

// A resolverFunc is a resolver.
type resolverFunc func(ctx context.Context, q nomen.Question) (*nomen.Answer, error)

func (f resolverFunc) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	return f(ctx, q)
}

// newStore returns a store with the records, one authority that lists its names, and the given
// authorities.
func newStore(t testing.TB, records []*store.Record, authorities ...*store.Authority) *memstore.Store {
	t.Helper()
	s := memstore.New()
	t.Cleanup(func() { s.Close() })
	at := time.Unix(1e9, 0)
	changes := []store.Change{{Time: at, Authority: &store.Authority{
		Prefix: name.MustParsePrefix("urn:dns:here.example"), Owners: []string{"archive", "library"}, Hosts: []string{"here.example"}, List: true,
	}}}
	for _, a := range authorities {
		changes = append(changes, store.Change{Time: at, Authority: a})
	}
	for _, r := range records {
		r.Name = name.MustParse(r.Spelling)
		changes = append(changes, store.Change{Time: at, Record: r})
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	return s
}

func here(element string, locations ...nomen.Location) *store.Record {
	return &store.Record{Spelling: "urn:dns:here.example:" + element, Status: nomen.Active, Locations: locations}
}

// newWorld returns a ForeignResolver with a store that has a few names, and another resolver.
func newWorld(t testing.TB, a Access, other resolverFunc) *ForeignResolver {
	t.Helper()
	alone := &store.Record{Spelling: "urn:dns:alone.example:one", Status: nomen.Active, Locations: []nomen.Location{{URL: "https://alone.example/1"}}}
	s := newStore(t, []*store.Record{here("one", nomen.Location{URL: "https://here.example/1"}), alone})
	w, err := NewForeignResolver(ForeignOptions{
		Inner: resolve.New(s, resolve.Options{}), Authorities: store.NewTable(s, time.Now, time.Hour),
		Other: other, Access: mustDoor(t, a),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func ask(s nomen.Service, spelling string) nomen.Question {
	return nomen.Question{Name: name.MustParse(spelling), Service: s}
}

// before returns the question as of a time before the store had anything.
func before(q nomen.Question) nomen.Question {
	q.At = time.Unix(1e8, 0)
	return q
}

// abroad returns a resolver that answers every question with one location, and counts the questions
// in n.
func abroad(n *int) resolverFunc {
	return func(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
		*n++
		return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://there.example/x"}}}, nil
	}
}

func TestWorld(t *testing.T) {
	own := prefixes("192.0.2.0/24")
	for _, tt := range []struct {
		name   string
		policy Policy
		from   netip.Addr
		q      nomen.Question
		kind   nomen.Kind // 0 for an answer
		abroad int        // number of questions to the other resolver
	}{
		{"served here", All, stranger, ask(nomen.I2L, "urn:dns:here.example:one"), 0, 0},
		{"not known here, but of an authority of ours", All, stranger, ask(nomen.I2L, "urn:dns:here.example:two"), nomen.Unknown, 0},
		{"of an authority of ours that was not there yet", All, stranger, before(ask(nomen.I2L, "urn:dns:here.example:one")), nomen.Unknown, 0},
		{"of others, as of then", All, stranger, before(ask(nomen.I2L, "urn:dns:there.example:x")), 0, 1},
		{"known here without an authority", All, stranger, ask(nomen.I2L, "urn:dns:alone.example:one"), 0, 0},
		{"the same, and this service has no result", Own, stranger, ask(nomen.I2N, "urn:dns:alone.example:one"), nomen.NoResult, 0},
		{"off", Off, ownUser, ask(nomen.I2L, "urn:dns:there.example:x"), nomen.Unknown, 0},
		{"own user", Own, ownUser, ask(nomen.I2L, "urn:dns:there.example:x"), 0, 1},
		{"stranger", Own, stranger, ask(nomen.I2L, "urn:dns:there.example:x"), nomen.Denied, 0},
		{"unknown client", Own, netip.Addr{}, ask(nomen.I2L, "urn:dns:there.example:x"), nomen.Denied, 0},
		{"everybody", All, stranger, ask(nomen.I2C, "urn:isbn:0451450523"), 0, 1},
		{"another scheme", All, stranger, ask(nomen.I2L, "ark:12345/x"), 0, 1},
		{"a subject alone", All, stranger, nomen.Question{Subject: uri.MustParse("urn:dns:there.example:x"), Service: nomen.I2L}, 0, 1},
		{"a URL is not resolved", All, stranger, ask(nomen.I2L, "https://there.example/x"), nomen.Unknown, 0},
		{"nor is a mailbox", All, stranger, ask(nomen.I2L, "mailto:x@there.example"), nomen.Unknown, 0},
		{"a resource of others", All, stranger, ask(nomen.I2R, "urn:dns:there.example:x"), nomen.NoResult, 0},
		{"resources of others", All, stranger, ask(nomen.I2Rs, "urn:dns:there.example:x"), nomen.NoResult, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			w := newWorld(t, Access{Policy: tt.policy, Own: own}, abroad(&asked))
			a, err := w.Resolve(WithClient(t.Context(), &Client{Addr: tt.from}), tt.q)
			var e *nomen.Error
			switch {
			case tt.kind == 0 && (err != nil || len(a.Locations) != 1):
				t.Errorf("Y95-63: got %+v, %v", a, err)
			case tt.kind != 0 && (!errors.As(err, &e) || e.Kind != tt.kind):
				t.Errorf("Y95-65: got %+v, %v, want %s", a, err, tt.kind)
			case asked != tt.abroad:
				t.Errorf("%d questions to others, want %d", asked, tt.abroad)
			case err == nil && tt.abroad > 0 && (a.Private != (tt.policy == Own) || !slices.ContainsFunc(a.Why, func(s string) bool { return strings.Contains(s, "not from this server") })):
				t.Errorf("got %+v", a)
			}
		})
	}
}

// A resolver that passes a question on adds one to its hops. If there are too many hops, it returns
// an error.
func TestWorldHops(t *testing.T) {
	hops := -1
	w := newWorld(t, Access{Policy: All}, func(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
		hops = q.Hops
		return &nomen.Answer{Service: q.Service}, nil
	})
	q := ask(nomen.I2C, "urn:dns:there.example:x")
	q.Hops = nomen.MaxHops - 1
	if _, err := w.Resolve(t.Context(), q); err != nil || hops != nomen.MaxHops {
		t.Errorf("got %d hops, %v", hops, err)
	}
	hops, q.Hops = -1, nomen.MaxHops
	if _, err := w.Resolve(t.Context(), q); !errors.Is(err, nomen.ErrLoop) || hops != -1 {
		t.Errorf("got %d hops, %v", hops, err)
	}
	// A ForeignResolver that asks itself.
	var circle *ForeignResolver
	circle = newWorld(t, Access{Policy: All, Burst: 100}, func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
		return circle.Resolve(ctx, q)
	})
	if _, err := circle.Resolve(t.Context(), ask(nomen.I2C, "urn:dns:there.example:x")); !errors.Is(err, nomen.ErrLoop) {
		t.Errorf("got %v", err)
	}
}

func TestWorldLimits(t *testing.T) {
	asked := 0
	w := newWorld(t, Access{Policy: All, Rate: 0.001, Burst: 2}, abroad(&asked))
	ctx := WithClient(t.Context(), &Client{Addr: stranger})
	for range 2 {
		if _, err := w.Resolve(ctx, ask(nomen.I2L, "urn:dns:there.example:x")); err != nil {
			t.Fatal(err)
		}
	}
	var e *LimitError
	if _, err := w.Resolve(ctx, ask(nomen.I2L, "urn:dns:there.example:x")); !errors.As(err, &e) || asked != 2 {
		t.Errorf("got %v after %d", err, asked)
	}
	if _, err := w.Resolve(ctx, ask(nomen.I2L, "urn:dns:here.example:one")); err != nil {
		t.Errorf("a name that is served here: %v", err)
	}
}

// The answer of another server is passed on without the locations that a browser would execute.
func TestWorldCleans(t *testing.T) {
	bad := []nomen.Location{{URL: "javascript:alert(1)"}, {URL: "https://there.example/x"}, {URL: "data:text/html,x"}, {URL: "not a URI"}}
	w := newWorld(t, Access{Policy: All}, func(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
		if strings.HasSuffix(q.Name.Key(), "gone") {
			return nil, &nomen.Error{Kind: nomen.Gone, Name: "something else", Answer: &nomen.Answer{Status: nomen.Retired, Locations: bad, Redirect: "vbscript:x"}}
		}
		locations := bad
		if q.Service == nomen.I2L {
			locations = bad[:1]
		}
		return &nomen.Answer{Service: q.Service, Status: nomen.Active, Locations: locations, Names: []string{"JavaScript:x", "urn:a23:b"}}, nil
	})
	a, err := w.Resolve(t.Context(), ask(nomen.I2C, "urn:dns:there.example:x"))
	if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != "https://there.example/x" || !slices.Equal(a.Names, []string{"urn:a23:b"}) ||
		a.Name.Key() != "urn:dns:there.example:x" || !strings.Contains(a.Why[0], "there.example") {
		t.Errorf("got %+v, %v", a, err)
	}
	var e *nomen.Error
	if _, err = w.Resolve(t.Context(), ask(nomen.I2L, "urn:dns:there.example:x")); !errors.As(err, &e) || e.Kind != nomen.NoResult {
		t.Errorf("got %v", err)
	}
	_, err = w.Resolve(t.Context(), ask(nomen.I2L, "urn:dns:there.example:gone"))
	if !errors.As(err, &e) || e.Kind != nomen.Gone || e.Name != "urn:dns:there.example:gone" || len(e.Answer.Locations) != 1 || e.Answer.Redirect != "" || len(e.Answer.Why) != 1 {
		t.Errorf("got %+v, %v", e, err)
	}
	if len(bad) != 4 || bad[0].URL != "javascript:alert(1)" {
		t.Error("the stranger's answer was changed")
	}
}

func TestWorldFailures(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want func(error) bool
	}{
		{&client.RouteError{Name: "urn:x", Reason: "no way"}, func(err error) bool { return errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) }},
		{&nomen.Error{Kind: nomen.Unknown, Message: "no such thing"}, func(err error) bool {
			return errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) && strings.Contains(err.Error(), "no such thing; this answer comes from there.example")
		}},
		{&client.StatusError{Code: 500}, func(err error) bool { return errors.Is(err, nomen.ErrUpstream) }},
		{&client.StatusError{Code: 508}, func(err error) bool { return errors.Is(err, nomen.ErrLoop) && !errors.Is(err, nomen.ErrUpstream) }},
		{context.DeadlineExceeded, func(err error) bool {
			return errors.Is(err, nomen.ErrUpstream) && errors.Is(err, context.DeadlineExceeded)
		}},
		{nomen.ErrLoop, func(err error) bool { return errors.Is(err, nomen.ErrLoop) && !errors.Is(err, nomen.ErrUpstream) }},
	} {
		w := newWorld(t, Access{Policy: All}, func(context.Context, nomen.Question) (*nomen.Answer, error) { return nil, tt.err })
		if _, err := w.Resolve(t.Context(), ask(nomen.I2L, "urn:dns:there.example:x")); !tt.want(err) {
			t.Errorf("%v: got %v", tt.err, err)
		}
	}
	// If the client has disconnected, the error is not about the other server.
	w := newWorld(t, Access{Policy: All}, func(ctx context.Context, _ nomen.Question) (*nomen.Answer, error) { return nil, ctx.Err() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.ask(ctx, ask(nomen.I2L, "urn:dns:there.example:x"), name.MustParse("urn:dns:there.example:x")); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if _, err := NewForeignResolver(ForeignOptions{}); err == nil {
		t.Error("a world of nothing")
	}
}

func TestAuthorityID(t *testing.T) {
	for in, want := range map[string]string{
		"urn:dns:there.example:one": "there.example", "urn:dns:there.example:x:y": "there.example", "urn:isbn:9789510184356": "", "ark:12345/x": "",
	} {
		if got, ok := authorityID(name.MustParse(in)); got != want || ok != (want != "") {
			t.Errorf("authorityID(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
}
