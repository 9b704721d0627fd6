// Package dialect lets a server answer requests in the protocols of other identifier services, so
// that their clients work unchanged. Each protocol is a package below this one.
//
// An operator enables a dialect for a public listener and for certain prefixes of names. A dialect
// reads credentials only from connections that other machines cannot read (see [Call]).
package dialect

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/name"
)

// A Handler answers requests in the protocol of a dialect. It is safe for concurrent use.
type Handler interface {
	// Serve answers a request in the protocol of the dialect. If the request does not belong to
	// this protocol, Serve writes nothing and returns false, so that the server can treat it as any
	// other request.
	Serve(w http.ResponseWriter, r *http.Request, c *Call) bool
}

// A Call has the data about a request that are not in the [http.Request].
type Call struct {
	Target  string     // request target exactly as sent, with the query, but without the path prefix of the server
	Base    string     // URL of the server, without a final slash
	Client  netip.Addr // address of the client; invalid if unknown
	Country string     // country of the client, ISO 3166-1 alpha-2; "" if unknown

	// Private reports whether other machines cannot read the request. This is the case if it was
	// sent over TLS, or from this machine without a proxy. The credentials of other requests must
	// be ignored.
	Private bool

	// Count counts an answer to the client. It is nil if answers are not counted. Handlers must
	// call [Call.Counted] instead.
	Count func(n name.Name, w counts.What)
}

// Counted counts an answer to the client for the name n. The kind of answer is w, such as
// counts.Of(nomen.I2L).
func (c *Call) Counted(n name.Name, w counts.What) {
	if c.Count != nil {
		c.Count(n, w)
	}
}

// A Scope is the set of names for which a dialect is enabled.
type Scope []name.Prefix

// Covers reports whether the name n is in the scope.
func (s Scope) Covers(n name.Name) bool {
	return slices.ContainsFunc(s, func(p name.Prefix) bool { return p.Covers(n) })
}

// OnlyARKs returns an error if the scope contains names that are not ARKs.
func (s Scope) OnlyARKs() error {
	for _, p := range s {
		if text := p.String(); text != "ark" && !strings.HasPrefix(text, "ark:") {
			return fmt.Errorf("prefix %q: want prefixes of ARKs, such as ark:12345", text)
		}
	}
	return nil
}
