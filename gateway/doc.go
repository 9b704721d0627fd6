// Package gateway opens the world of names to programs that know nothing of them:
// browsers, proxies' users, Gopher clients (1995, 4: Y95-62 to Y95-65).
//
//   - [World] answers for names that are not served here by asking another
//     resolver on somebody's behalf.
//   - [Forward] passes requests of a forward proxy on (RFC 9110, 7).
//   - [PAC] is the file by which browsers find out which requests to send here.
//   - [Explainer] says of anything that was typed in what it is, and leads on.
//   - [Gopher] shows names as menus (RFC 1436).
//
// # Who may ask
//
// A [Door] stands before each of them. It is shut unless somebody opens it: for
// own users, by their addresses, or for everybody, with limits (1995, 4: "own
// users only" or "everybody", Y95-65). The address of who asks comes with the
// context of the request ([WithAsker]); who has none is a stranger.
//
// # On a stranger's behalf
//
// No connection is made to an address that the stranger could not reach himself:
// package guard looks at it after DNS, at the moment of connecting. The resolver
// behind [World] has to be guarded by whoever makes it: see Guard of
// client.Options. No location that a browser would run is passed on, and nothing
// here redirects to another site: a foreign target is shown, as a link.
package gateway
