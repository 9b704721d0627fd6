package server

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/answercache"
	"github.com/nomen-project/nomen/internal/wire"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// A twin world has two servers of one store: one caches answers, and the other does not. The two
// must give the same answers, byte for byte.
type twinWorld struct {
	draw    func(below int) int // draws a number from 0 to below-1
	fail    func(format string, args ...any)
	store   store.Store // through which changes are made
	read    store.Store // of the servers
	now     time.Time
	turn    int // number for the choice by weight, the same for both servers
	cached  *Server
	plain   *Server
	tables  []*store.Table
	country string
	settle  func() // waits until a change is visible; may be nil
	dead    deadLocations
	asked   int
	recent  []wire.Plain
}

// The names, and what follows them in requests.
var (
	twinNames   = []string{"urn:x-t:a", "urn:x-t:a:b", "urn:x-t:a:b:c", "urn:x-t:B", "urn:x-u:a", "urn:x-u:b", "urn:x-v:1", "https://purl.example/a"}
	twinQueries = []string{"", "", "", "", "?s=I2L", "?s=I2C", "?s=I2Ls", "?s=I2Ns", "?s=I=I&with=urn:x-t:a", "?at=2026-11-20T12:00:30Z", "?q=1", "?=q", "?c=toc"}
	twinAccepts = []string{"", "*/*", "text/html", "application/json", "text/plain;q=0.5, text/html;q=0.1", "application/x-bibtex"}
	twinTongues = []string{"", "de", "fi, en;q=0.5"}
)

// one draws an element.
func one[T any](w *twinWorld, of []T) T { return of[w.draw(len(of))] }

func (w *twinWorld) maybe() bool { return w.draw(2) == 0 }

// options returns the options of one of the servers.
func (w *twinWorld) options(table *store.Table) Options {
	now := func() time.Time { return w.now }
	return Options{
		Resolver: resolve.New(w.read, resolve.Options{Now: now, Authorities: table, NoSuggestions: true, Dead: &w.dead, Pick: func(n int) int { return w.turn % n }}),
		Store:    w.read, Authorities: table, Version: "1.2.3", Now: now,
		Country: func(netip.Addr) string { return w.country },
	}
}

// start starts both servers, with options that both have.
func (w *twinWorld) start(t testing.TB) {
	t.Helper()
	publicURL, sameOrigin := one(w, []string{"", "https://names.example/below"}), w.maybe()
	if w.tables == nil {
		now := func() time.Time { return w.now }
		w.tables = []*store.Table{store.NewTable(w.read, now, authorityLife), store.NewTable(w.read, now, authorityLife)}
	}
	for i, size := range []int64{0, 256 << 10} {
		o := w.options(w.tables[i])
		o.PublicURL, o.SameOrigin, o.AnswerCache = publicURL, sameOrigin, size
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if size == 0 {
			w.plain = s
		} else {
			s.answers.Continue(answersOf(w.cached))
			w.cached = s
		}
	}
}

// apply makes changes. It ignores the changes that the store rejects.
func (w *twinWorld) apply(changes ...store.Change) {
	for i := range changes {
		changes[i].Time, changes[i].Expected = w.now, store.AnyRevision
	}
	_, _ = w.store.Apply(context.Background(), changes)
	if w.settle != nil {
		w.settle()
	}
	for _, table := range w.tables {
		table.Forget()
	}
}

// location draws a location.
func (w *twinWorld) location() nomen.Location {
	l := nomen.Location{URL: "https://example.org/" + strconv.Itoa(w.draw(5)), Priority: w.draw(2)}
	switch w.draw(14) {
	case 12, 13:
		l.Rel = "archive"
	case 0:
		l.Weight = 1 + w.draw(3)
	case 1:
		l.Country = one(w, []string{"DE", "FI"})
	case 2:
		l.ValidFrom = w.now.Add(time.Duration(w.draw(20)) * time.Second).Format(time.RFC3339)
	case 3:
		l.ValidUntil = w.now.Add(time.Duration(w.draw(20)) * time.Second).Format(time.RFC3339)
	case 4:
		l.Type, l.Lang = one(w, []string{"text/html", "application/json"}), one(w, []string{"de", "en"})
	case 5:
		l.Component = "toc"
	case 6:
		l.Down = true
	}
	return l
}

// record draws a change of a record.
func (w *twinWorld) record() store.Change {
	n := name.MustParse(one(w, twinNames))
	if w.draw(12) == 0 {
		return store.Change{Delete: n}
	}
	r := &store.Record{Name: n, Spelling: n.Key(), Status: one(w, []nomen.Status{nomen.Active, nomen.Active, nomen.Active, nomen.Active, nomen.Retired, nomen.Reserved})}
	for range w.draw(4) {
		r.Locations = append(r.Locations, w.location())
	}
	if w.draw(4) == 0 {
		r.SameAs = []string{one(w, twinNames)}
	}
	if r.Status == nomen.Retired {
		r.Reason = "moved"
		for range w.draw(3) {
			r.Successors = append(r.Successors, one(w, twinNames))
		}
	}
	if w.draw(3) == 0 {
		r.Metadata = nomen.Metadata{"title": {strconv.Itoa(w.draw(3))}}
	}
	c := store.Change{Record: r, Why: "test"}
	if w.draw(8) == 0 {
		c.Redacts = []uint64{1}
	}
	return c
}

// authority draws a change of an authority.
func (w *twinWorld) authority() store.Change {
	a := &store.Authority{Prefix: name.MustParsePrefix(one(w, []string{"urn:x-t:", "urn:x-t:a:", "urn:x-u:", "urn:x-v:", "https://purl.example/"})), Owners: []string{"o"}}
	switch w.draw(10) {
	case 0:
		a.Suffix = store.SuffixAppend
	case 1, 9:
		a.Rules = rule.Set{{Match: "{id}", Locations: []nomen.Location{{URL: "https://rule.example/0/{id}"}}, Tests: []rule.Test{{From: a.Prefix.String() + "z", To: []string{"https://rule.example/0/z"}}}}}
		if w.draw(3) > 0 {
			special := a.Rules[0]
			special.Locations, special.Status = []nomen.Location{{URL: "https://rule.example/1/{id}"}}, one(w, []int{0, 302, 307})
			special.When = []rule.Condition{{On: one(w, []string{"user_agent", "accept", "languages", "query"}), Regexp: "o|e", Not: w.draw(4) == 0}}
			special.Tests = []rule.Test{{From: a.Prefix.String() + "z", To: []string{"https://rule.example/1/z"}}}
			if !special.When[0].Not {
				special.Tests[0].Request = rule.Request{Accept: "o", Languages: "e", UserAgent: "o", Query: "e"}
			}
			a.Rules = rule.Set{special, a.Rules[0]}
			a.Rules[1].Tests[0].Request = rule.Request{}
			if special.When[0].Not {
				a.Rules[1].Tests[0].Request = rule.Request{Accept: "o", Languages: "e", UserAgent: "o", Query: "e"}
			}
		}
	case 2:
		a.Delegation = &store.Delegation{Mode: store.ModeRedirect, To: "https://other.example/{name}"}
	case 3:
		a.Redirect = one(w, []int{301, 302, 307})
	case 4:
		a.MaxAge = 60 * w.draw(3)
	case 5:
		a.Access = store.AccessDenied
	case 6:
		a.Service = nomen.I2C
	case 7:
		a.Query = store.PassAppend
	case 8:
		a.Choice = store.ChoiceFixed
	}
	if w.maybe() {
		a.Failover = store.FailoverArchive
	}
	return store.Change{Authority: a, Why: "test"}
}

// The actions of the state machine.
func (w *twinWorld) change() { w.apply(w.record()) }

func (w *twinWorld) changeMany() {
	var all []store.Change
	for range 1 + w.draw(4) {
		all = append(all, w.record())
	}
	w.apply(all...)
}

func (w *twinWorld) changeAuthority() { w.apply(w.authority()) }

func (w *twinWorld) wait() { w.now = w.now.Add(time.Duration(1+w.draw(5000)) * time.Millisecond) }

func (w *twinWorld) move() { w.country = one(w, []string{"", "DE", "FI"}) }

// question draws a request, mostly one that was drawn before.
func (w *twinWorld) question() wire.Plain {
	if len(w.recent) > 5 && w.draw(8) > 0 {
		return one(w, w.recent)
	}
	q := wire.Plain{
		Method: one(w, []string{"GET", "GET", "GET", "HEAD"}), Target: "/" + one(w, twinNames) + one(w, twinQueries),
		Host:  one(w, []string{"localhost:4500", "localhost:4500", "names.example", "purl.example"}),
		Final: w.draw(4) == 0, Accept: one(w, twinAccepts), Languages: one(w, twinTongues), Coding: one(w, []string{"", "", "gzip"}),
		Agent: one(w, []string{"", "Mozilla/5.0", "x"}),
	}
	if len(w.recent) > 5 {
		w.recent = w.recent[1:]
	}
	w.recent = append(w.recent, q)
	return q
}

// ask sends the same request to both servers, with or without net/http.
func (w *twinWorld) ask() {
	q := w.question()
	if w.draw(3) == 0 {
		w.now = w.now.Add(2 * time.Second) // after a second, answers may be cached
	}
	w.turn++
	w.asked++
	byNetHTTP := w.maybe()
	got, want := w.answer(w.cached, q, byNetHTTP), w.answer(w.plain, q, w.maybe())
	if !bytes.Equal(got, want) {
		w.fail("%+v, by net/http %v:\ngot  %q\nwant %q", q, byNetHTTP, got, want)
	}
}

// answer returns the answer of a server.
func (w *twinWorld) answer(s *Server, q wire.Plain, byNetHTTP bool) []byte {
	from := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711}
	to := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4500}
	if !byNetHTTP {
		if out, ok := s.short(allProtocols, to, from)(nil, q); ok {
			return out
		}
	}
	target, mount := s.belowPublic(q.Target)
	r := &request{
		method: q.Method, target: target, mount: mount, version: version{1, 1}, host: q.Host, local: addrOf(to), from: addrOf(from).Addr(),
		accept: q.Accept, languages: q.Languages, encodings: q.Coding, agent: q.Agent, country: s.countryOf(addrOf(from).Addr(), ""),
	}
	p := s.decide(context.Background(), r)
	if out, _, ok := p.appendTo(nil, q); ok {
		return out
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, p.status, p.fields)
	if p.stream != nil {
		_ = p.stream(context.Background(), &b)
	}
	p.drop()
	return b.Bytes()
}

func answersOf(s *Server) *answercache.Cache {
	if s == nil {
		return nil
	}
	return s.answers
}

// run makes one of the actions.
func (w *twinWorld) run(t testing.TB) {
	switch n := 39 - w.draw(40); {
	case n < 4:
		w.change()
	case n == 4:
		w.changeMany()
	case n == 5:
		w.changeAuthority()
	case n == 6:
		w.wait()
	case n == 7:
		w.move()
	case n == 9:
		w.dead.toggle(w.read, "https://example.org/"+strconv.Itoa(w.draw(5)), w.now)
	case n == 8 && w.draw(4) == 0:
		w.start(t)
	default:
		w.ask()
	}
}

// twinStores are the stores with which the servers are compared.
var twinStores = []struct {
	name string
	open func(t testing.TB) store.Store
}{
	{"memory", func(testing.TB) store.Store { return memstore.New() }},
	{"disk", func(t testing.TB) store.Store {
		s, err := pebblestore.Open(pebblestore.Options{Dir: "store", FS: vfs.NewMem(), CacheSize: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}},
	{"cache", func(t testing.TB) store.Store {
		s, err := cachestore.New(context.Background(), memstore.New(), cachestore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}},
}

// TestAnswersLikeUncached compares a server that caches answers with one that does not, for random
// requests and changes. With -rapid.checks=10000 it makes a million steps with each store.
func TestAnswersLikeUncached(t *testing.T) {
	for _, tt := range twinStores {
		t.Run(tt.name, func(t *testing.T) {
			var asked int
			var hits uint64
			rapid.Check(t, func(rt *rapid.T) {
				s := tt.open(t)
				defer s.Close()
				w := &twinWorld{
					draw: func(below int) int { return rapid.IntRange(0, below-1).Draw(rt, "n") },
					fail: rt.Fatalf, store: s, read: s, now: testNow,
				}
				w.start(t)
				for range 100 {
					w.run(t)
				}
				used, _ := w.cached.AnswerCache()
				asked, hits = asked+w.asked, hits+used.Hits
			})
			if hits < uint64(asked)/40 {
				t.Errorf("%d of %d answers came from the cache, too few for a test of it", hits, asked)
			}
			t.Logf("%d of %d answers came from the cache", hits, asked)
		})
	}
}
