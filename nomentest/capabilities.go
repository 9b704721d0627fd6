package nomentest

import (
	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// Capabilities say what a resolver under test, or the protocol to it, does not support. In the
// zero value, Timed, Ruled and Fetches are not supported, and everything else is.
type Capabilities struct {
	// Under is the prefix that all names must have to be resolved; zero if there is no such limit.
	Under name.Prefix

	// Default is the service that the protocol prescribes for a question without a service, or with
	// an unknown service. It is "" if the authority of the name decides, which is preferred.
	Default nomen.Service

	// Unranked means that the protocol does not send the media types and languages of a question.
	Unranked bool

	// Uncountried means that the protocol does not send the client's country.
	Uncountried bool

	// Uncomponented means that the protocol does not send the component of a question.
	Uncomponented bool

	// Timed means that a question as of a time is answered for that time. Otherwise it is answered
	// for the present.
	Timed bool

	// Follows means that the resolver follows redirects to other names, so an answer is never a
	// redirect.
	Follows bool

	// Unsuccessive means that a name retired with one successor is Gone for every service.
	Unsuccessive bool

	// Succeeds means that, for a name retired with one successor, the successor answers every
	// service (1995, 4), and not only I2L.
	Succeeds bool

	// Ruled means that the policies of authorities apply, and that I=I is supported.
	Ruled bool

	// Undefaulted means that the protocol has its own way to report a service that is not offered;
	// another service does not replace it.
	Undefaulted bool

	// Undelegated means that the client cannot distinguish a redirect to another resolver from a
	// redirect to a location.
	Undelegated bool

	// Fetches means that I2R and I2Rs are supported, and that the function build has given [Fetch]
	// to the resolver.
	Fetches bool

	// Services has the services that are supported; nil means all.
	Services []nomen.Service

	// Lossy removes from an answer the data that the protocol does not send. Before the suite
	// compares answers, it applies Lossy to copies of the expected and the actual answer. It also
	// applies Lossy to the tombstone of an error; the Status of a tombstone is Retired. If Lossy is
	// nil, nothing is removed.
	Lossy func(*nomen.Answer)
}
