package discover

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
)

// A Kind says what stands at the end of a [Way].
type Kind string

// The kinds of ways. A rule of DNS can lead to other protocols too, if
// [Options.Protocols] has them: their Kind is their name.
const (
	Authority Kind = "authority" // the protocol of 1995 at every address of Host, at Port
	THTTP     Kind = "thttp"     // RFC 2169: URL is "http://HOST[:PORT]/uri-res/"
	Path      Kind = "path"      // URL is an http(s) URL below which names are paths, or a template with {name}
	Location  Kind = "location"  // URL is where a rule says the resource (or result of Services) is
)

// The forms in which a request of 1995 spells a name.
const (
	FormFull    = "full"    // all of it, as resolvers take it that serve several authorities or ask on
	FormElement = "element" // the ElementID alone, as the resolver of the authority takes it (1995, 3.3)
)

// A Way is one way to a resolver of a name, or to what the name names.
type Way struct {
	Kind     Kind
	Host     string   // of Authority and THTTP
	Port     uint16   // of Host
	URL      string   // of THTTP, Path and Location
	Form     string   // of Authority: FormFull or FormElement; "": the ElementID of urn:dns names, else the full name
	Services []string // those of RFC 2483 that are offered there; nil if nobody said
	How      string   // why, in words
}

// String tells where the way leads.
func (w Way) String() string {
	if w.URL != "" {
		return string(w.Kind) + " " + w.URL
	}
	s := string(w.Kind) + " " + hostPort(w.Host, w.Port)
	if w.Form != "" {
		s += "/" + w.Form
	}
	return s
}

// A Step is one step of a search, in words, and what it is about: a domain name,
// a URL.
type Step struct {
	How    string
	Target string
}

// Options say where a [Finder] looks. The zero value looks only where the name
// itself says: at the host of a urn:dns name.
type Options struct {
	// Table is the user's own, which comes first. The longest prefix of a name
	// decides; entries with the same prefix are tried in their order.
	Table []Entry

	// Port is that of the resolvers of urn:dns names, and of hosts in tables
	// without one; 0 for [Port].
	Port uint16

	// Rules is where rules are looked up (RFC 3404), nil for nowhere. A
	// [Resolver] is one.
	Rules Database

	// Protocols are those that the caller speaks besides THTTP, in lower case.
	Protocols []string

	// Public are known resolvers, which come after the rules: [Public], or
	// others.
	Public []Entry

	// Default is the resolver of names for which there is nothing else, in the
	// form of [Entry.Target], without {element}.
	Default string

	// Pick returns a number from 0 to n-1, each as often: by it one of several
	// servers is chosen. Nil for [rand.IntN].
	Pick func(n int) int

	// Now is the clock by which rules expire; nil for [time.Now].
	Now func() time.Time

	// Trace is told of each step, if it is not nil.
	Trace func(Step)
}

// A Finder finds the resolvers of names. It is safe for concurrent use if the
// functions of its options are.
type Finder struct {
	o             Options
	table, public table
	fallback      *target
}

// New returns a finder. The error says what is wrong with the options: it is an
// [*Error].
func New(o Options) (*Finder, error) {
	if o.Port == 0 {
		o.Port = Port
	}
	if o.Pick == nil {
		o.Pick = rand.IntN
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	f := &Finder{o: o}
	var err error
	if f.table, err = compileTable(o.Table, o.Port); err != nil {
		return nil, err
	}
	if f.public, err = compileTable(o.Public, o.Port); err != nil {
		return nil, err
	}
	if o.Default == "" {
		return f, nil
	}
	t, err := parseTarget(o.Default, o.Port)
	if err != nil {
		return nil, err
	}
	if t.expand || t.none {
		return nil, refuse(o.Default, 0, "target", "the default resolver is one for all names")
	}
	f.fallback = &t
	return f, nil
}

func (f *Finder) trace(how, target string) {
	if f.o.Trace != nil {
		f.o.Trace(Step{how, target})
	}
}

// Find yields the ways to a name in the order in which they should be tried,
// each once:
//
//  1. those of the user's table, where the longest prefix decides;
//  2. the host of a urn:dns name (1995, 2.2.1);
//  3. those of the rules of DNS (RFC 3404), for all other names;
//  4. known public resolvers;
//  5. the default resolver.
//
// It is lazy: a later step costs DNS queries only if the caller goes on. When a
// step fails the error comes in its place, and later steps follow: a
// [*net.DNSError] says that DNS could not be asked, which is not to say that
// there is no resolver; a [*RuleError], that the rules lead nowhere. The error of
// ctx is the last that comes.
func (f *Finder) Find(ctx context.Context, n name.Name) iter.Seq2[Way, error] {
	return func(yield func(Way, error) bool) {
		if n.IsZero() {
			return
		}
		w := walk{f: f, n: n, yield: yield, seen: map[string]bool{}}
		for _, step := range []func(context.Context) bool{w.own, w.authority, w.rules, w.known, w.rest} {
			if err := context.Cause(ctx); err != nil {
				yield(Way{}, err)
				return
			}
			if !step(ctx) {
				return
			}
		}
	}
}

// A walk is one call of Find. Its steps report whether the caller wants more.
type walk struct {
	f     *Finder
	n     name.Name
	seen  map[string]bool
	yield func(Way, error) bool
}

// found yields a way that has not been yielded.
func (w *walk) found(way Way) bool {
	key := way.String()
	if w.seen[key] {
		return true
	}
	w.seen[key] = true
	return w.yield(way, nil)
}

// own yields the ways of the user's table. An entry can say that there are no
// others.
func (w *walk) own(context.Context) bool {
	for _, t := range w.f.table.find(w.n) {
		if t.none {
			w.f.trace("the table of the user says that nobody is to be asked", t.prefix.String())
			return false
		}
		if !w.found(t.to(w.n, "the table of the user has "+t.prefix.String())) {
			return false
		}
	}
	return true
}

// authority yields the authority of a urn:dns name: the host itself, and nothing
// that its name might suggest (Y95-11).
func (w *walk) authority(context.Context) bool {
	host, ok := hostOf(w.n)
	return !ok || w.found(Way{Kind: Authority, Host: host, Port: w.f.o.Port, How: "the authority of a urn:dns name is the host of its resolver"})
}

// hostOf returns the AuthorityID of a urn:dns name (1995, 2.2.1).
func hostOf(n name.Name) (string, bool) {
	rest, ok := strings.CutPrefix(n.Key(), "urn:dns:")
	if !ok {
		return "", false
	}
	host, _, ok := strings.Cut(rest, ":")
	return host, ok && host != ""
}

// rules yields the ways of the rules of DNS. Those for urn:dns are not asked:
// their authority has been found.
func (w *walk) rules(ctx context.Context) bool {
	if _, ok := hostOf(w.n); ok || w.f.o.Rules == nil {
		return true
	}
	key, why, ok := firstKey(w.n)
	if !ok {
		w.f.trace(why+" is no label of a domain name: there can be no rules", w.n.Scheme())
		return true
	}
	s := search{f: w.f, aus: w.n.Key(), yield: w.found}
	err := s.run(ctx, key, why)
	switch {
	case errors.Is(err, errEnough):
		return false
	case err == nil:
		return true
	case ctx.Err() != nil:
		return true // Find says it
	}
	w.f.trace("the search by rules ends: "+err.Error(), key)
	return w.yield(Way{}, fmt.Errorf("discover: rules for %s: %w", why, err))
}

func (w *walk) known(context.Context) bool {
	for _, t := range w.f.public.find(w.n) {
		if t.none {
			return true
		}
		if !w.found(t.to(w.n, "a known resolver of "+t.prefix.String())) {
			return false
		}
	}
	return true
}

func (w *walk) rest(context.Context) bool {
	return w.f.fallback == nil || w.found(w.f.fallback.to(w.n, "the default resolver"))
}
