package nomentest

import (
	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// Capabilities describe what a resolver supports, or the protocol between it and its clients. With
// the zero value, everything is supported except for what the fields Timed, Ruled and Fetches
// describe.
type Capabilities struct {
	// Under is the prefix of the names that the resolver resolves. The zero Prefix means all names.
	Under name.Prefix

	// Default is the service that the protocol prescribes for a question without a service or with
	// an unknown service. If Default is "", the authority of the name determines the service.
	Default nomen.Service

	// Unranked means that the protocol does not send preferences for media types and languages.
	Unranked bool

	// Uncountried means that the protocol does not send the client's country.
	Uncountried bool

	// Uncomponented means that the protocol does not send the component of a question.
	Uncomponented bool

	// Timed means that the resolver supports questions about the state at another time.
	Timed bool

	// Follows means that the resolver follows redirects to other names and returns the final
	// answer.
	Follows bool

	// Unsuccessive means that every question about a name that was retired with one successor gets
	// the error Gone. Otherwise the service I2L redirects to the successor.
	Unsuccessive bool

	// Succeeds means that all services answer from the record of the successor if a name was
	// retired with one successor. Otherwise only I2L does.
	Succeeds bool

	// Ruled means that the policies of authorities apply, and that I=I is supported.
	Ruled bool

	// Undefaulted means that the protocol has its own answer for a service that the authority does
	// not offer. Otherwise another service is used.
	Undefaulted bool

	// Undelegated means that a redirect to another resolver looks like a redirect to a location.
	Undelegated bool

	// Fetches means that I2R and I2Rs are supported, and that the resolver uses [Fetch].
	Fetches bool

	// Services are the supported services. If Services is nil, all services are supported.
	Services []nomen.Service

	// Lossy removes the parts of an answer that the protocol does not send. The suite calls Lossy
	// for copies of the expected answer and the actual answer before it compares them. The answer
	// can be a tombstone, whose Status is Retired. If Lossy is nil, the protocol sends everything.
	Lossy func(*nomen.Answer)
}
