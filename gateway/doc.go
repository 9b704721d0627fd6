// Package gateway resolves names for programs that do not understand names: browsers, clients that
// use a proxy, and Gopher clients (draft of 1995, 4: Y95-62 to Y95-65).
//
//   - [ForeignResolver] resolves names that are not served here by asking another resolver on
//     behalf of a client.
//   - [Forward] is a forward proxy (RFC 9110, 7).
//   - [PAC] writes the file that tells browsers which requests to send to this server.
//   - [Explainer] explains any text that a user entered, and where it leads.
//   - [Gopher] shows names as menus (RFC 1436).
//
// # Access
//
// An [AccessControl] decides for which clients this server asks other servers (draft of 1995, 4:
// Y95-65). Its policy is one of these:
//
//   - [Off], the default: no client.
//   - [Own]: own users, which are clients at configured addresses.
//   - [All]: all clients, with limits.
//
// The address of the client is in the context of the request ([WithClient]). A client without an
// address is not an own user.
//
// # Requests on behalf of clients
//
// The server connects only to public addresses, unless the caller allows other addresses. Otherwise
// a client could use the server to connect to machines in the network of the server. Package guard
// checks each address after DNS, when connecting. The client with which a [ForeignResolver] asks
// must have the same guard (see Guard in client.Options). Locations that a browser would execute
// are not passed on. If an [Explanation] leads to another server, its page shows a link instead of
// redirecting.
//
// Comments cite drafts by their year and section, as in "draft of 1995, 3.1"; docs/glossary.md
// lists the drafts.
package gateway
