// Package client resolves names by asking resolvers over the network. Its [Client] is a
// [nomen.Resolver].
//
// # Ways to ask
//
// There are three ways to ask a resolver:
//
//   - Directly, by draft-ietf-uri-yaurn-00: for urn:dns:HOST:ELEMENT the client sends "GET ELEMENT
//     HTTP/1.0" to HOST at port 4500. It tries one address of HOST after another until an address
//     answers (Y95-24 to Y95-30).
//   - Through a resolver or proxy at HOST:PORT, for names of any scheme: the request contains the
//     full name, "GET urn:ietf:rfc:2648 HTTP/1.0" (Y95-38). If the response shows that the resolver
//     does not understand full names, the client sends a second request with the ElementID, "GET
//     2648 HTTP/1.0".
//   - On the web, from a resolver at a URL: the client sends GET /urn:ietf:rfc:2648?s=I2C. It
//     prefers answers in JSON, the only format that represents answers completely.
//
// In the first two cases, the resolver sends a description of the resource, from which the client
// extracts the result of the requested service.
//
// Requests have no credentials. They have a User-Agent field only if the options set it. Requests
// on the web have an Accept field. Other requests have an Accept field only in these cases (Y95-33,
// Y95-70):
//
//   - The options set the field.
//   - The request is for a list of naming authorities: the client prefers a plain list.
//   - The request is for other names (I2N, I2Ns), which text/urc-0 need not contain: the client
//     prefers JSON.
//   - The request goes to HOST:PORT and names a service: the client prefers JSON.
//
// Requests to HOST:PORT and to http URLs are not encrypted. Every machine between the client and
// the resolver can read and log them (Y95-70).
//
// # Redirects
//
// A resolver can redirect the client:
//
//   - To another name, in the reason phrase or in Location (Y95-43, Y95-44): the client finds the
//     resolver of that name and asks it.
//   - To a URL, if the question is for a location: the URL is the answer.
//   - To a URL, with a Link field whose relation is "item": the URL is that of the resource. The
//     resolver does not offer the requested service, and has sent a location instead (2012, 2.3.1).
//   - To any other URL: the client reads the answer from the URL.
//
// A public server cannot redirect the client to an address of a private network.
//
// # Limits
//
// The client limits the time of each exchange, the size of heads and bodies, the number of
// redirects, and the number of addresses that it tries. A response that exceeds a limit is an
// error. The client never truncates a response silently.
//
// Comments cite drafts by their year and section, as in "1995, 3.1"; docs/glossary.md lists the
// drafts.
package client
