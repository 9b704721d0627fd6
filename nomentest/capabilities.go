package nomentest

import (
	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// Capabilities say what the path between the suite and the records cannot carry. The zero value
// is for a resolver that loses nothing.
type Capabilities struct {
	// Under, if not zero, is the only prefix of names that can be resolved.
	Under name.Prefix

	// Default is the service that the protocol itself prescribes for a question without a service,
	// or with an unknown service. It is "" if the authority of the name decides, which is
	// preferred.
	Default nomen.Service

	// Unranked: media types and languages of a question are not carried.
	Unranked bool

	// Uncountried: the client's country is not carried.
	Uncountried bool

	// Uncomponented: the component of a question is not carried.
	Uncomponented bool

	// Timed: a question as of a time is answered for that time. Otherwise it is answered for
	// the present.
	Timed bool

	// Follows: the resolver follows redirections to other names, so no answer is a redirection.
	Follows bool

	// Unsuccessive: a name retired with one successor is Gone for every service.
	Unsuccessive bool

	// Succeeds: a name retired with one successor is answered by the successor for every
	// service (1995, 4), not only for I2L.
	Succeeds bool

	// Ruled: the policies of authorities apply, and I=I is supported.
	Ruled bool

	// Undefaulted: a service that is not offered is reported in the protocol's own way, not
	// answered by another service.
	Undefaulted bool

	// Undelegated: the client cannot tell a redirection to another resolver from a redirection to
	// a location.
	Undelegated bool

	// Fetches: I2R and I2Rs are supported, and the builder has given [Fetch] to the resolver.
	Fetches bool

	// Services that are supported; nil for all.
	Services []nomen.Service

	// Lossy removes from an answer the data that is lost on the path. The suite applies it to
	// copies of the expected and the actual answer before it compares them. It also applies it to
	// the tombstone of an error, whose Status is Retired. If Lossy is nil, nothing is lost.
	Lossy func(*nomen.Answer)
}
