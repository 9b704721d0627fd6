// Package client asks resolvers over the network. Its [Client] is a [nomen.Resolver].
//
// # Ways to ask
//
//   - Directly, by draft-ietf-uri-yaurn-00: for urn:dns:HOST:ELEMENT the client sends "GET
//     ELEMENT HTTP/1.0" to HOST at port 4500. It tries the addresses of HOST in turn until one
//     answers (Y95-24 to Y95-30).
//   - Through a resolver or proxy at HOST:PORT, for names of any scheme: the request has the
//     full name, "GET urn:ietf:rfc:2648 HTTP/1.0" (Y95-38). If the resolver does not understand
//     full names, the request has the ElementID, "GET 2648 HTTP/1.0".
//   - On the web, from a resolver at a URL: GET /urn:ietf:rfc:2648?s=I2C, answered in JSON, the
//     only format without loss.
//
// In the first two ways the resolver sends a description, from which the client takes the
// result of the service. Requests have no User-Agent and no credentials. They have an Accept
// field only if the user has a preference (Y95-33, Y95-70), with three exceptions. The client
// prefers JSON for services that text/urc-0 need not support, and in requests to a proxy that
// ask for a service. It prefers a plain list for lists of naming authorities.
//
// Requests to HOST:PORT and to http URLs are not encrypted. Every site on the way can read and
// log them (Y95-70).
//
// # Redirections
//
// The client follows a redirection to another name, given in the reason phrase or in Location
// (Y95-43, Y95-44), and finds the resolver of that name anew. A redirection to a URL is the
// answer if a location was asked for. Otherwise the client reads the answer from the URL.
// There is one exception. A Link field with the relation "item" says that the URL is the
// resource itself. The resolver then does not offer the service and has sent a location
// instead (2012, 2.3.1). A public server cannot send the client to an address of a private
// network.
//
// # Limits
//
// All input from servers is bounded: in time, in the size of head and body, and in the number of
// redirections and addresses tried. Input above a limit is an error; it is never truncated
// silently.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package client
