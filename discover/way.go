package discover

import (
	"context"
	"iter"
	"strings"

	"github.com/nomen-project/nomen/name"
)

// A Kind says what stands at the end of a [Way].
type Kind string

// The kinds of ways.
const (
	Authority Kind = "authority" // the protocol of 1995 at every address of Host, at Port
	THTTP     Kind = "thttp"     // RFC 2169: URL is "http://HOST[:PORT]/uri-res/"
	Path      Kind = "path"      // URL is an http(s) URL below which names are paths, or a template with {name}
	Location  Kind = "location"  // URL is where a rule of DNS says the resource (or result of Services) is
)

// A Way is one way to a resolver of a name, or to what the name names.
type Way struct {
	Kind     Kind
	Host     string   // of Authority and THTTP
	Port     uint16   // of Host
	URL      string   // of THTTP, Path and Location
	Services []string // those of RFC 2483 that are offered there; nil if nobody said
	How      string   // why, in words
}

// Options say where a [Finder] looks. The zero value looks only where the name
// itself says: the host of a urn:dns name.
type Options struct {
	// Port is that of the resolvers of urn:dns names; 0 for [Port].
	Port uint16
}

// A Finder finds the resolvers of names. It is safe for concurrent use.
type Finder struct {
	o Options
}

// New returns a finder. The error says what is wrong with the options.
func New(o Options) (*Finder, error) {
	if o.Port == 0 {
		o.Port = Port
	}
	return &Finder{o}, nil
}

// Find yields the ways to a name in the order in which they should be tried,
// lazily: a later step costs DNS queries only if the caller goes on. An error
// comes in the place of the step that failed, and later steps follow it.
func (f *Finder) Find(ctx context.Context, n name.Name) iter.Seq2[Way, error] {
	return func(yield func(Way, error) bool) {
		host, ok := hostOf(n)
		if ok && ctx.Err() == nil {
			yield(Way{Kind: Authority, Host: host, Port: f.o.Port, How: "the authority of a urn:dns name is the host of its resolver"}, nil)
		}
	}
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
