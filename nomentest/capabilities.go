package nomentest

import (
	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// Capabilities say what a resolver, or the protocol to it, supports. The zero value means that
// everything is supported except for Timed, Ruled and Fetches.
type Capabilities struct {
	// Under is the prefix that all names must have, or zero.
	Under name.Prefix

	// Default is the service that the protocol prescribes for a question without a service, or with
	// an unknown one. It is "" if the authority of the name decides, which is better.
	Default nomen.Service

	// Unranked means that the protocol does not send preferences for media types and languages.
	Unranked bool

	// Uncountried means that the protocol does not send the client's country.
	Uncountried bool

	// Uncomponented means that the protocol does not send the component of a question.
	Uncomponented bool

	// Timed means that a question about an earlier time gets the answer of that time, instead of
	// the present one.
	Timed bool

	// Follows means that the resolver follows redirects to other names itself.
	Follows bool

	// Unsuccessive means that a name that was retired with one successor is Gone for every service.
	Unsuccessive bool

	// Succeeds means that the successor answers every service for a name that was retired with one
	// successor (1995, 4), and not only I2L.
	Succeeds bool

	// Ruled means that the policies of authorities apply, and that I=I is supported.
	Ruled bool

	// Undefaulted means that the protocol reports a service that is not offered in its own way,
	// instead of using another service.
	Undefaulted bool

	// Undelegated means that the client cannot tell a redirect to another resolver from one to a
	// location.
	Undelegated bool

	// Fetches means that I2R and I2Rs are supported, and that the resolver uses [Fetch].
	Fetches bool

	// Services are the supported services. nil means all.
	Services []nomen.Service

	// Lossy removes from an answer what the protocol does not send. Before comparing answers, the
	// suite applies it to copies of both, and also to the tombstone of an error, whose Status is
	// Retired. nil means that nothing is removed.
	Lossy func(*nomen.Answer)
}
