package discover

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
)

// A Kind is the kind of a [Way], which determines how to use it.
type Kind string

// The kinds of ways. The names in [Options.Protocols] are additional kinds.
const (
	Authority Kind = "authority" // a resolver with the protocol of draft-ietf-uri-yaurn-00, at any address of Host, on Port
	THTTP     Kind = "thttp"     // a resolver with the protocol of RFC 2169; URL is "http://HOST[:PORT]/uri-res/"
	Path      Kind = "path"      // a resolver to whose URL the name is appended as a path, or replaces {name}
	Location  Kind = "location"  // URL leads to the resource, or to the result of Services
)

// The forms of a name in a request of the protocol of draft-ietf-uri-yaurn-00.
const (
	FormFull    = "full"    // the full name, for resolvers that serve several authorities or forward requests
	FormElement = "element" // the ElementID, for the authority's own resolver (draft of 1995, section 3.3)
)

// A Way describes how to reach a resolver for a name, or the resource itself.
type Way struct {
	Kind     Kind
	Host     string   // for Authority and THTTP
	Port     uint16   // for Authority and THTTP
	URL      string   // for THTTP, Path and Location
	Form     string   // for Authority: FormFull or FormElement; "" means the ElementID for urn:dns names and the full name for others
	Services []string // the services of RFC 2483 that are offered; nil if unknown
	How      string   // how this way was found, for people
}

// String returns the kind of the way, and its URL or its host and port.
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

// A Step is a description of a step of a search, for people. The Target is a domain name or a URL.
type Step struct {
	How    string
	Target string
}

// Options configure a [Finder]. With the zero Options, a Finder only finds the resolvers of urn:dns
// names.
type Options struct {
	// Table is the user's own table, which is tried first. If several entries have the longest
	// matching prefix, they are tried in order.
	Table []Entry

	// Port is the port of resolvers for urn:dns names. It is also the default port of hosts in
	// tables. 0 means the constant [Port].
	Port uint16

	// Rules looks up rules in DNS (RFC 3404), and is usually a [Resolver]. nil means that rules are
	// not used.
	Rules Database

	// Protocols lists the protocols that the caller supports in addition to THTTP, in lower case.
	Protocols []string

	// Public is a table of known resolvers, which are tried after the rules. It is usually the
	// result of the function [Public].
	Public []Entry

	// Default is the resolver that is tried last, in the form of [Entry.Target] without {element}.
	Default string

	// Pick returns a random number from 0 to n-1, by which one of several servers is chosen. nil
	// means [rand.IntN].
	Pick func(n int) int

	// Now returns the current time. The Finder uses it to determine which rules have expired. nil
	// means [time.Now].
	Now func() time.Time

	// Trace is called for each step of a search. It may be nil.
	Trace func(Step)
}

// A Finder finds the resolvers of names. It is safe for concurrent use if the functions in its
// Options are safe for concurrent use.
type Finder struct {
	o             Options
	table, public table
	fallback      *target
}

// New returns a Finder. If the options are invalid, the error is an [*Error].
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
		return nil, refuse(o.Default, 0, "target", "the default resolver cannot depend on {element}")
	}
	f.fallback = &t
	return f, nil
}

func (f *Finder) trace(how, target string) {
	if f.o.Trace != nil {
		f.o.Trace(Step{how, target})
	}
}

// Find returns an iterator over the ways to resolve a name, in the order in which to try them and
// without duplicates:
//
//  1. the ways in the user's table, for the longest matching prefix;
//  2. the host of a urn:dns name (draft of 1995, section 2.2.1);
//  3. the ways to which rules in DNS lead (RFC 3404), for all other names;
//  4. known public resolvers;
//  5. the default resolver.
//
// DNS is queried only when the caller reaches the third source. If a source fails, the iterator
// yields the error and continues with the next source. A [*net.DNSError] means that the DNS lookup
// failed, so the name may have a resolver. A [*RuleError] means that the rules do not lead to a
// resolver. If ctx ends, the iterator yields the error of ctx and ends.
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

type walk struct {
	f     *Finder
	n     name.Name
	seen  map[string]bool
	yield func(Way, error) bool
}

func (w *walk) found(way Way) bool {
	key := way.String()
	if w.seen[key] {
		return true
	}
	w.seen[key] = true
	return w.yield(way, nil)
}

// own yields the ways in the user's table. It returns false to end the iteration, for example if
// the entry has the target [None].
func (w *walk) own(context.Context) bool {
	for _, t := range w.f.table.find(w.n) {
		if t.none {
			w.f.trace("the user's table excludes these names from resolution", t.prefix.String())
			return false
		}
		if !w.found(t.to(w.n, "the user's table has "+t.prefix.String())) {
			return false
		}
	}
	return true
}

// authority yields the host of a urn:dns name. It does not interpret the structure of the host name
// (Y95-11).
func (w *walk) authority(context.Context) bool {
	host, ok := hostOf(w.n)
	return !ok || w.found(Way{Kind: Authority, Host: host, Port: w.f.o.Port, How: "the authority of a urn:dns name is the host of its resolver"})
}

// hostOf returns the AuthorityID of a urn:dns name (draft of 1995, section 2.2.1).
func hostOf(n name.Name) (string, bool) {
	rest, ok := strings.CutPrefix(n.Key(), "urn:dns:")
	if !ok {
		return "", false
	}
	host, _, ok := strings.Cut(rest, ":")
	return host, ok && host != ""
}

// rules yields the ways to which rules in DNS lead. It yields nothing for urn:dns names, whose
// resolver is at the host in the name.
func (w *walk) rules(ctx context.Context) bool {
	if _, ok := hostOf(w.n); ok || w.f.o.Rules == nil {
		return true
	}
	key, why, ok := firstKey(w.n)
	if !ok {
		w.f.trace(why+" is not a valid domain label, so it cannot have rules", w.n.Scheme())
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
		return true // Find yields the error of ctx
	}
	w.f.trace("the search by rules failed: "+shown.Error(err), key)
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
