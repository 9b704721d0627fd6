package nomen

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// A Resolver answers questions about names. It is safe for concurrent use.
//
// The answer is never nil when the error is nil, belongs to the caller, and
// answers the service of the question, or the default where that is not offered.
// A strict question has no default: then the error is of the kind NoResult. When there is no answer the error
// contains an [*Error] (use errors.As) of one of the kinds; any other error is a
// failure of the resolver itself and says nothing about the name.
type Resolver interface {
	Resolve(ctx context.Context, q Question) (*Answer, error)
}

// A Service is what is wanted of a name: one of those of RFC 2483, section 4,
// compared with case (2012, N12-61).
type Service string

// The services of RFC 2483. "I" is an identifier, "L" a location, "R" the
// resource, "C" its description, "N" a name; a final "s" asks for all.
const (
	I2L  Service = "I2L"
	I2Ls Service = "I2Ls"
	I2R  Service = "I2R"
	I2Rs Service = "I2Rs"
	I2C  Service = "I2C"
	I2Cs Service = "I2Cs"
	I2N  Service = "I2N"
	I2Ns Service = "I2Ns"
	IisI Service = "I=I"
)

// Known reports whether s is a service of RFC 2483.
func (s Service) Known() bool {
	switch s {
	case I2L, I2Ls, I2R, I2Rs, I2C, I2Cs, I2N, I2Ns, IisI:
		return true
	}
	return false
}

// List reports whether s asks for a list, which may be empty.
func (s Service) List() bool {
	switch s {
	case I2Ls, I2Rs, I2Cs, I2Ns:
		return true
	}
	return false
}

// A Question is asked about one name in one step (1995, 3).
type Question struct {
	Name    name.Name // the name asked about; zero when only Subject is known
	Subject uri.URI   // the identifier as asked; zero when Name says it all
	Other   uri.URI   // the second identifier of I=I
	Service Service   // "" for the default
	Default Service   // answered if Service is "" or not offered; "" for the default of the name's authority

	Component string    // component of a structured resource (2012, 2.3.2)
	R, Q      string    // r- and q-component without "?+" and "?="; "" for none
	Accept    string    // media ranges of RFC 9110, 12.5.1 that rank locations
	Languages string    // language ranges of RFC 9110, 12.5.4 that rank locations
	Country   string    // of the asker, ISO 3166-1 alpha-2, if known
	Query     string    // a plain query, which is neither component nor directives; "" for none
	At        time.Time // as of then; zero for now

	Strict  bool // only Service will do: no default takes its place (RFC 2169)
	Succeed bool // a retired name leads to its one successor whatever the service (1995, 4), not for I2L and I2R alone
	Explain bool // Why of the answer is wanted
	Hops    int  // how many resolvers passed the question on
}

// A Status is the state of a name.
type Status string

// The states. A name once active is never forgotten and never given to
// something else (1995, 2.2.1 and 6A).
const (
	Reserved Status = "reserved" // known, not yet public
	Active   Status = "active"
	Retired  Status = "retired" // a tombstone: kept for ever
)

// A Location is one place where the resource, or something about it, is found.
type Location struct {
	URL        string `json:"url"`
	Type       string `json:"type,omitempty"`        // media type
	Lang       string `json:"lang,omitempty"`        // language tag, RFC 5646
	Rel        string `json:"rel,omitempty"`         // link relation, "item" if empty
	Priority   int    `json:"priority,omitempty"`    // 1 is tried first; 0 counts as 1
	Weight     int    `json:"weight,omitempty"`      // share among equal priorities; 0 counts as 1
	Country    string `json:"country,omitempty"`     // ISO 3166-1 alpha-2
	Component  string `json:"component,omitempty"`   // of a structured resource
	Charset    string `json:"charset,omitempty"`     // of Note in text/urc-0
	Note       string `json:"note,omitempty"`        // metainformation, free text
	Down       bool   `json:"down,omitempty"`        // known not to answer at present: tried last
	ValidFrom  string `json:"valid_from,omitempty"`  // RFC 3339
	ValidUntil string `json:"valid_until,omitempty"` // RFC 3339
}

// Metadata describes a resource: element names of Dublin Core (RFC 5013) with
// their values in order.
type Metadata map[string][]string

// A Resource is the thing itself, as a stream that the receiver closes.
type Resource struct {
	Type string // media type
	Size int64  // in bytes, -1 if unknown
	URL  string // where it came from
	Body io.ReadCloser
}

// A Raw is a result without a structure that could be read, as the resolver sent it:
// text/plain, text/html, or a type that the client does not know (1995, 3.1.2, 3.4.3
// and 3.4.4). It is text of unknown origin, and may hold scripts.
type Raw struct {
	Type string // media type with its parameters; "" if the resolver named none
	Body []byte
}

// String returns what r is, without its content.
func (r *Raw) String() string {
	if r.Type == "" {
		return fmt.Sprintf("%d bytes without a media type", len(r.Body))
	}
	return fmt.Sprintf("%d bytes of %q", len(r.Body), r.Type)
}

// An Answer says about a name what the service asked for. Parts that the
// service does not ask for are empty, except that the description services
// (I2C, I2Cs) fill all that is known.
type Answer struct {
	Service    Service
	Name       name.Name
	Spelling   string     // as registered; "" if the same as the key
	Status     Status     // "" if another resolver did not say
	Locations  []Location // the best first; for I2L exactly one
	Metadata   Metadata
	Names      []string      // other names of the same resource
	Same       bool          // of I=I
	Resource   *Resource     // of I2R
	Resources  []*Resource   // of I2Rs
	Raw        *Raw          // in place of the description, where the resolver sent no structure; else nil
	Reason     string        // why it was retired
	Successors []name.Name   // names to use instead; of an active name a hint only
	Redirect   string        // another identifier to ask in place of this one
	MaxAge     time.Duration // how long it may be kept without asking again; 0 if nobody has said

	// RedirectStatus is the HTTP status with which the authority wants clients to be
	// sent to a location, or to the resolver of a delegation; 0 for the usual one. It
	// is for the server that is asked, and not part of any format.
	RedirectStatus int

	Private  bool      // it depends on who asks: not for shared caches
	Modified time.Time // of the record; whole milliseconds, UTC
	Changed  time.Time // of what is answered, where that is later: a location has begun or ceased to be valid
	Revision uint64    // of the record, from 1; 0 if unknown

	// StaleSince is when the answer was last known to be current, where the resolver
	// could not ask its store since; zero for a current answer.
	StaleSince time.Time

	Why []string // how the answer came about, for people; if it was asked for
}

// Narrow leaves of a description what the service s asks for, and makes it the
// answer to s. It reports whether there is anything: a service for one thing may
// find none, while a list may be empty. Services that no description answers
// leave a as it is.
func (a *Answer) Narrow(s Service) bool {
	switch s {
	case I2C, I2Cs:
	case I2L, I2Ls:
		a.Metadata, a.Names = nil, nil
		if s == I2L {
			a.Locations = a.Locations[:min(len(a.Locations), 1)]
		}
	case I2N, I2Ns:
		a.Metadata, a.Locations = nil, nil
		if s == I2N {
			a.Names = a.Names[:min(len(a.Names), 1)]
		}
	default:
		return false
	}
	a.Service = s
	return s != I2L && s != I2N || len(a.Locations)+len(a.Names) > 0
}
