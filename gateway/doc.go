// Package gateway resolves names for programs that do not understand names: browsers,
// clients of a proxy, Gopher clients (1995, 4: Y95-62 to Y95-65).
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
// An [AccessControl] decides for which clients this server asks other servers. By default no
// client is permitted. An AccessControl can permit own users, recognised by their addresses,
// or all clients, with limits (1995, 4: "own users only" or "everybody", Y95-65). The address
// of the client is in the context of the request ([WithClient]); without an address, the
// client is not an own user.
//
// # Requests on behalf of clients
//
// No connection is made to an address that is not public, unless the caller allows it: package
// guard checks each address after DNS, when connecting. The caller must guard the resolver
// that [ForeignResolver] uses: see Guard of client.Options. Locations that a browser would
// execute are not passed on. The page of an [Explanation] shows a foreign target as a link and
// does not redirect to it.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package gateway
