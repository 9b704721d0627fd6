package nomentest

import (
	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// Capabilities says what the way between the suite and the records does not
// carry. The zero Capabilities are those of a resolver that loses nothing.
type Capabilities struct {
	// Under, if not zero, is the only prefix whose names can be asked.
	Under name.Prefix

	// Default is the service that is answered when the question names none, or
	// one that is unknown, because the protocol fixes it; "" when the
	// authority of the name decides, as it should.
	Default nomen.Service

	// Unranked: media types and languages of a question stay behind.
	Unranked bool

	// Uncountried: the country of the asker stays behind.
	Uncountried bool

	// Uncomponented: the component of a question stays behind.
	Uncomponented bool

	// Timed: a question as of a time is answered as of then. Otherwise it is
	// answered as of now.
	Timed bool

	// Follows: an answer is never a redirection to another name, because the
	// resolver asks there by itself.
	Follows bool

	// Unsuccessive: that a name was retired in favour of one other is told as
	// Gone for every service.
	Unsuccessive bool

	// Succeeds: a question about a name that was retired in favour of one other is
	// answered by that one, whatever the service (1995, 4), and not for I2L alone.
	Succeeds bool

	// Ruled: the policies of authorities are followed, and I=I can be asked.
	Ruled bool

	// Undefaulted: that a service is not offered is told in the protocol's own way,
	// and not by the answer to another one.
	Undefaulted bool

	// Undelegated: a client who is sent to another resolver cannot tell that from
	// being led to a location.
	Undelegated bool

	// Fetches: I2R and I2Rs can be asked, and the builder has given [Fetch] to the
	// resolver.
	Fetches bool

	// Services that can be asked; nil for all.
	Services []nomen.Service

	// Lossy removes from an answer what is lost on the way. It is applied to a
	// copy of what was expected and of what came, before they are compared; also
	// to the tombstone of an error, where the answer's status is Retired. nil
	// loses nothing.
	Lossy func(*nomen.Answer)
}
