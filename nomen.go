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
// service in the question, or the default service if the requested service is not offered. If the
// question is strict, the resolver returns an error of the kind NoResult instead of using the
// default service.
//
// If the error is or wraps an [*Error], the question has no answer, for example because the name is
// unknown. Any other error means that the resolver failed.
type Resolver interface {
	Resolve(ctx context.Context, q Question) (*Answer, error)
}

// A Service is the name of a service of RFC 2483, section 4. It determines what a question asks
// for, such as the location of a resource. It is case-sensitive (draft of 2012, N12-61).
type Service string

// The services of RFC 2483. "I" means an identifier, "L" a location, "R" the resource, "C" a
// description of the resource, and "N" a name. The letter "s" at the end means a list.
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

// List reports whether the result of s is a list, which may be empty.
func (s Service) List() bool {
	switch s {
	case I2Ls, I2Rs, I2Cs, I2Ns:
		return true
	}
	return false
}

// A Question is a question about a name (draft of 1995, section 3).
type Question struct {
	Name    name.Name // the name; zero if only Subject is known
	Subject uri.URI   // the identifier in the client's spelling; zero if Name is enough
	Other   uri.URI   // for I=I: the second identifier
	Service Service   // "" means the default service
	Default Service   // the default service; "" means the default of the name's authority

	Component string    // the requested component of a structured resource (draft of 2012, section 2.3.2)
	R, Q      string    // r-component and q-component without "?+" and "?="; "" if absent
	Accept    string    // media ranges for ranking locations (RFC 9110, section 12.5.1)
	Languages string    // language ranges for ranking locations (RFC 9110, section 12.5.4)
	UserAgent string    // User-Agent field of the request, which rules can test
	Country   string    // the client's country, ISO 3166-1 alpha-2; "" if unknown
	Query     string    // a query that is neither a component nor directives; "" if absent
	At        time.Time // the time that the question is about; zero means now

	Strict  bool // return an error instead of using the default service (RFC 2169)
	Succeed bool // redirect from a retired name to its only successor for every service, not only for I2L and I2R (draft of 1995, section 4)
	Explain bool // set Why in the answer
	Hops    int  // number of resolvers that have passed the question on
}

// A Status is the state of a name.
type Status string

// The states of a name. A name that has been active is never removed or reassigned (draft of 1995,
// sections 2.2.1 and 6A).
const (
	Reserved Status = "reserved" // taken, but not public
	Active   Status = "active"
	Retired  Status = "retired" // a tombstone
)

// A Location is a URL of the resource, or of something related to it.
type Location struct {
	URL        string `json:"url"`
	Type       string `json:"type,omitempty"`                           // media type
	Lang       string `json:"lang,omitempty"`                           // language tag, RFC 5646
	Rel        string `json:"rel,omitempty"`                            // link relation; "" means "item"
	Priority   int    `json:"priority,omitempty"`                       // 1 is tried first; 0 means 1
	Weight     int    `json:"weight,omitempty"`                         // share of the requests among locations with the same priority; 0 means 1
	Country    string `json:"country,omitempty"`                        // ISO 3166-1 alpha-2
	Component  string `json:"component,omitempty"`                      // the component of a structured resource that is at this location
	Charset    string `json:"charset,omitempty"`                        // charset of Note in the format text/urc-0
	Note       string `json:"note,omitempty"`                           // free text (metainformation)
	Down       bool   `json:"down,omitempty"`                           // the location does not answer, so it is tried last
	ValidFrom  string `json:"valid_from,omitempty" toml:"valid_from"`   // RFC 3339
	ValidUntil string `json:"valid_until,omitempty" toml:"valid_until"` // RFC 3339
	Index      int    `json:"index,omitempty"`                          // index of the typed value that shows this location (package value), or 0
	Attributes string `json:"attributes,omitempty"`                     // other attributes of a value of the type 10320/loc, as in XML: id="0" http_role="conneg"
}

// Metadata describes a resource. It maps the names of Dublin Core elements (RFC 5013) to lists of
// values.
type Metadata map[string][]string

// A Resource is the content of the resource that a name identifies. The caller must close Body.
type Resource struct {
	Type string // media type
	Size int64  // in bytes; -1 if unknown
	URL  string // the URL from which it was fetched
	Body io.ReadCloser
}

// A Raw is a response that the client could not parse, as the resolver sent it. The media type is
// text/plain, text/html or an unknown type (draft of 1995, sections 3.1.2, 3.4.3 and 3.4.4). The
// content is untrusted, and can contain scripts.
type Raw struct {
	Type string // media type with parameters; "" if unknown
	Body []byte
}

// String returns the size and the media type.
func (r *Raw) String() string {
	if r.Type == "" {
		return fmt.Sprintf("%d bytes without a media type", len(r.Body))
	}
	return fmt.Sprintf("%d bytes of %q", len(r.Body), r.Type)
}

// An Answer is the answer to a question. For the services I2C and I2Cs, it has all information
// about the name. For other services, it has only the result of the service.
type Answer struct {
	Service    Service
	Name       name.Name
	Spelling   string     // the name as it was registered; "" if it is equal to the key
	Status     Status     // "" if another resolver did not send it
	Locations  []Location // best first; a single location for I2L
	Metadata   Metadata
	Names      []string      // other names of the same resource
	Same       bool          // for I=I: the result
	Resource   *Resource     // for I2R: the resource
	Resources  []*Resource   // for I2Rs: the resources
	Raw        *Raw          // replaces the description if a resolver sent no structured data; otherwise nil
	Reason     string        // why the name was retired
	Successors []name.Name   // names that replace a retired name; a hint if the name is active
	Redirect   string        // a name or URL to use instead: the successor, or the resolver of a delegation
	MaxAge     time.Duration // how long the answer may be cached; 0 if unknown

	// RedirectStatus is the HTTP status of redirects to a location or to the resolver of a
	// delegation, or 0 if the authority has set none. Formats do not contain it. Therefore, only a
	// server in the same process can use it.
	RedirectStatus int

	// Direct is true if the locations come from a rule with a status or conditions. A server then
	// redirects even clients that prefer descriptions. ByAgent is true if the answer depends on
	// Question.UserAgent. Formats contain neither Direct nor ByAgent.
	Direct, ByAgent bool

	Private  bool      // the answer depends on the client, so shared caches must not keep it
	Modified time.Time // last change of the record, in whole milliseconds, UTC
	Changed  time.Time // last change of the answer, if it is later than Modified because a location has become valid or invalid
	Revision uint64    // revision of the record, from 1; 0 if unknown

	// StaleSince is zero if the answer is current. If the resolver cannot read its store,
	// StaleSince is the last time at which the answer was known to be current.
	StaleSince time.Time

	// Dead lists the dead locations that other locations replace. If it is not empty, MaxAge is 0.
	// Formats do not contain Dead, but mark these locations as unavailable ([Location.Down]).
	Dead []string

	Why []string // an explanation for people, if requested
}

// Narrow reduces a description to the answer for the service s, and reports whether the service has
// a result. An empty list is a result.
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
