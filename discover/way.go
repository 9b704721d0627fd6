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

// A Kind is the kind of destination of a [Way].
type Kind string

// The kinds of ways. If [Options.Protocols] is set, a rule of DNS can lead to
// other protocols; their Kind is the name of the protocol.
const (
	Authority Kind = "authority" // the protocol of 1995 at every address of Host, at Port
	THTTP     Kind = "thttp"     // RFC 2169: URL is "http://HOST[:PORT]/uri-res/"
	Path      Kind = "path"      // URL is an http(s) URL to which the path of names is appended, or a template with {name}
	Location  Kind = "location"  // URL leads to the resource itself, or to the result of Services, as a rule says
)

// The forms of a name in a request of the protocol of 1995.
const (
	FormFull    = "full"    // the full name, as expected by resolvers that serve several authorities or forward requests
	FormElement = "element" // the ElementID only, as expected by the resolver of the authority (1995, 3.3)
)

// A Way is one way to reach a resolver of a name, or the resource itself.
type Way struct {
	Kind     Kind
	Host     string   // of Authority and THTTP
	Port     uint16   // of Host
	URL      string   // of THTTP, Path and Location
	Form     string   // of Authority: FormFull or FormElement; "" means the ElementID for urn:dns names, and the full name for all others
	Services []string // services of RFC 2483 offered there; nil if unknown
	How      string   // why this way was found, in words
}

// String returns the destination of the way.
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

// A Step is one step of a search, described in words. Its subject is a domain name or a URL.
type Step struct {
	How    string
	Target string
}

// Options configure a [Finder]. The zero value uses only the name itself: the
// host of a urn:dns name.
type Options struct {
	// Table is the user's own table, which has priority. The entries with the
	// longest matching prefix apply, in their order.
	Table []Entry

	// Port is the port of resolvers of urn:dns names, and of hosts in tables for which the table
	// has no port; 0 means [Port].
	Port uint16

	// Rules is the database of rules (RFC 3404), such as a [Resolver]; nil
	// disables the search by rules.
	Rules Database

	// Protocols are the protocols that the caller supports in addition to THTTP,
	// in lower case.
	Protocols []string

	// Public are known resolvers, tried after the rules; usually the result of the function
	// [Public].
	Public []Entry

	// Default is the resolver to try last, in the form of [Entry.Target], without
	// {element}.
	Default string

	// Pick returns a uniformly random number from 0 to n-1, to choose one of
	// several servers. Nil means [rand.IntN].
	Pick func(n int) int

	// Now is the clock for the expiry of rules; nil means [time.Now].
	Now func() time.Time

	// Trace, if not nil, is called for each step.
	Trace func(Step)
}

// A Finder finds the resolvers of names. It is safe for concurrent use if the
// functions of its options are.
type Finder struct {
	o             Options
	table, public table
	fallback      *target
}

// New returns a finder. If the options are invalid, the error is an [*Error].
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

// Find yields the ways to a name in the order in which to try them, each once:
//
//  1. those of the user's table, for the longest matching prefix;
//  2. the host of a urn:dns name (1995, 2.2.1);
//  3. those of the rules of DNS (RFC 3404), for all other names;
//  4. known public resolvers;
//  5. the default resolver.
//
// It is lazy: later steps cause DNS queries only if the caller continues. If a step fails,
// Find yields its error and continues with the next step. A [*net.DNSError] means that DNS
// failed, which does not mean that there is no resolver; a [*RuleError] means that the rules
// lead nowhere. After yielding the error of ctx, Find ends.
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

// A walk is one call of Find. Its steps report whether the caller continues.
type walk struct {
	f     *Finder
	n     name.Name
	seen  map[string]bool
	yield func(Way, error) bool
}

// found yields a way unless it was yielded before.
func (w *walk) found(way Way) bool {
	key := way.String()
	if w.seen[key] {
		return true
	}
	w.seen[key] = true
	return w.yield(way, nil)
}

// own yields the ways of the user's table. An entry with the target [None] excludes all
// further ways.
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

// authority yields the authority of a urn:dns name, which is the host in the name. It infers
// nothing from the structure of the host name (Y95-11).
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

// rules yields the ways that the rules of DNS give. It yields nothing for urn:dns names, because
// their authority is known.
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
