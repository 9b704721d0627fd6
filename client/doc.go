// Package client asks resolvers over the network: its [Client] is a
// [nomen.Resolver].
//
// # Ways to ask
//
//   - Directly, by draft-ietf-uri-yaurn-00: urn:dns:HOST:ELEMENT is asked of HOST
//     at port 4500, each address in turn, with "GET ELEMENT HTTP/1.0" (Y95-24 to
//     Y95-30).
//   - Through a resolver or proxy at HOST:PORT, for names of any scheme: the
//     request is for the name as it is, "GET urn:ietf:rfc:2648 HTTP/1.0" (Y95-38), and
//     where that is not understood for the ElementID, "GET 2648 HTTP/1.0".
//   - On the web, from a resolver at a URL: GET /urn:ietf:rfc:2648?s=I2C, answered
//     in JSON, which loses nothing.
//
// The first two ways carry descriptions; from one the client takes what the
// service asks for. A request says nothing that the user did not ask for: no
// User-Agent, no credentials, and no Accept without a preference (Y95-33, Y95-70),
// except that a service which text/urc-0 need not carry, and one that is named to
// a proxy, prefer JSON.
//
// Requests of the first two ways, and of the third to an http URL, travel
// unencrypted, and every site on the way can read and log them (Y95-70).
//
// # Redirections
//
// A redirection to another name is followed, in whatever way leads there: from
// the reason phrase, else from Location (Y95-43, Y95-44). A redirection to a URL
// is the answer when a location was asked for; otherwise the URL is read in place
// of the resolver, unless that says with a Link of the relation "item" that the
// resource is there: then it offers no such service (2012, 2.3.1). A public server
// cannot lead a client to an address of a private network.
//
// # Limits
//
// Whatever a server sends is bounded: in time, in the bytes of head and body, in
// the number of redirections and addresses tried. What is larger than allowed
// is refused, never cut off in silence.
package client
