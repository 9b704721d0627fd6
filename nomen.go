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
// If the error is nil, the answer is not nil and belongs to the caller. [Answer].Service is the
// service of the question or, if that service is not offered, the default service. A strict
// question for a service that is not offered gets an error of the kind NoResult.
//
// If the name has no answer, the error contains an [*Error] (use errors.As) with the kind. Any
// other error is a failure of the resolver and says nothing about the name.
type Resolver interface {
	Resolve(ctx context.Context, q Question) (*Answer, error)
}

// A Service says what is asked about a name: one of the services of RFC 2483, section 4. Letter
// case matters (2012, N12-61).
type Service string

// The services of RFC 2483. "I" stands for an identifier, "L" for a location, "R" for the
// resource, "C" for the description of the resource, "N" for a name. A final "s" asks for all
// locations, resources, descriptions or names.
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

// List reports whether s asks for a list, which can be empty.
func (s Service) List() bool {
	switch s {
	case I2Ls, I2Rs, I2Cs, I2Ns:
		return true
	}
	return false
}

// A Question is a question about one name (1995, 3).
type Question struct {
	Name    name.Name // the name asked about; zero if only Subject is known
	Subject uri.URI   // the identifier as the client wrote it; zero if Name is sufficient
	Other   uri.URI   // the second identifier of I=I
	Service Service   // "" asks for the default service
	Default Service   // used if Service is "" or not offered; "" means the default of the name's authority

	Component string    // which component of a structured resource to return (2012, 2.3.2)
	R, Q      string    // r- and q-component without "?+" and "?="; "" if absent
	Accept    string    // media ranges of RFC 9110, 12.5.1 that rank locations
	Languages string    // language ranges of RFC 9110, 12.5.4 that rank locations
	UserAgent string    // field User-Agent of the request; rules can have conditions on it
	Country   string    // country of the client, ISO 3166-1 alpha-2; "" if unknown
	Query     string    // a plain query, which is neither a component nor directives; "" if absent
	At        time.Time // time for which to answer; zero means now

	Strict  bool // do not use a default service (RFC 2169)
	Succeed bool // if a retired name has only one successor, follow it for every service, not just for I2L and I2R (1995, 4)
	Explain bool // set Why in the answer
	Hops    int  // number of resolvers that passed on the question
}

// A Status is the state of a name.
type Status string

// The states of a name. A name that was ever active is never removed and never reassigned
// (1995, 2.2.1 and 6A).
const (
	Reserved Status = "reserved" // taken, but not public
	Active   Status = "active"
	Retired  Status = "retired" // a tombstone, which is never deleted
)

// A Location is a URL of the resource, or of something related to it.
type Location struct {
	URL        string `json:"url"`
	Type       string `json:"type,omitempty"`                           // media type
	Lang       string `json:"lang,omitempty"`                           // language tag, RFC 5646
	Rel        string `json:"rel,omitempty"`                            // link relation, "item" if empty
	Priority   int    `json:"priority,omitempty"`                       // 1 is tried first; 0 means 1
	Weight     int    `json:"weight,omitempty"`                         // share of the requests among locations of equal priority; 0 means 1
	Country    string `json:"country,omitempty"`                        // ISO 3166-1 alpha-2
	Component  string `json:"component,omitempty"`                      // the component of a structured resource that this location has
	Charset    string `json:"charset,omitempty"`                        // the charset of Note in the format text/urc-0
	Note       string `json:"note,omitempty"`                           // free text (metainformation)
	Down       bool   `json:"down,omitempty"`                           // known to be unavailable: tried last
	ValidFrom  string `json:"valid_from,omitempty" toml:"valid_from"`   // RFC 3339
	ValidUntil string `json:"valid_until,omitempty" toml:"valid_until"` // RFC 3339
	Index      int    `json:"index,omitempty"`                          // index of the typed value that shows this location (package value); 0 if there is none
	Attributes string `json:"attributes,omitempty"`                     // attributes in a value of the type 10320/loc that no other field has, in the form of XML: id="0" http_role="conneg"
}

// Metadata describes a resource: names of Dublin Core elements (RFC 5013) with their values, in
// order.
type Metadata map[string][]string

// A Resource is the identified resource, as a stream that the caller must close.
type Resource struct {
	Type string // media type
	Size int64  // in bytes, -1 if unknown
	URL  string // the URL from which it was fetched
	Body io.ReadCloser
}

// A Raw is a result without a supported structure, as the resolver sent it: text/plain,
// text/html, or an unknown type (1995, 3.1.2, 3.4.3 and 3.4.4). It is untrusted and may contain
// scripts.
type Raw struct {
	Type string // media type with its parameters; "" if the resolver sent none
	Body []byte
}

// String describes r, without its content.
func (r *Raw) String() string {
	if r.Type == "" {
		return fmt.Sprintf("%d bytes without a media type", len(r.Body))
	}
	return fmt.Sprintf("%d bytes of %q", len(r.Body), r.Type)
}

// An Answer is the answer to a question. The description services (I2C, I2Cs) fill in everything
// that is known about the name. For other services, fields that the service does not ask for are
// empty.
type Answer struct {
	Service    Service
	Name       name.Name
	Spelling   string     // the name as it was registered; "" if it equals the key
	Status     Status     // "" if another resolver did not send it
	Locations  []Location // best first; exactly one for I2L
	Metadata   Metadata
	Names      []string      // other names of the same resource
	Same       bool          // result of I=I
	Resource   *Resource     // result of I2R
	Resources  []*Resource   // result of I2Rs
	Raw        *Raw          // replaces the description if the resolver sent no structured data; otherwise nil
	Reason     string        // why the name was retired
	Successors []name.Name   // names to use instead; if the name is active, only a hint
	Redirect   string        // another name to ask about instead
	MaxAge     time.Duration // how long the answer may be cached; 0 if unknown

	// RedirectStatus is the HTTP status for redirects to a location or to the resolver of a
	// delegation. It is 0 if the authority has set none. Formats do not contain RedirectStatus, so
	// only the server that called the resolver uses it.
	RedirectStatus int

	// Direct is set if the locations come from a rule that has a status or conditions. Then even a
	// client that prefers a description to a page gets a redirect. ByAgent is set if the answer
	// depends on Question.UserAgent. Formats contain neither.
	Direct, ByAgent bool

	Private  bool      // the answer depends on the client: not for shared caches
	Modified time.Time // last change of the record; whole milliseconds, UTC
	Changed  time.Time // last change of the answer, if later than Modified because the validity of a location began or ended
	Revision uint64    // the revision of the record, from 1; 0 if unknown

	// StaleSince is zero for a current answer. An answer is stale if the resolver cannot read
	// its store; StaleSince is then the time at which the answer was last known to be current.
	StaleSince time.Time

	Why []string // explanation for people, if Question.Explain was set
}

// Narrow reduces a description to the answer to a service, and reports whether the service has a
// result. An empty list is a result. If the description cannot answer the service, Narrow leaves
// the description unchanged and returns false.
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
