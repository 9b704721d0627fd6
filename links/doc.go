// Package links checks whether the locations of names can still be reached.
//
// A [Watcher] keeps a [State] for each location with the scheme http or https, in a database in a
// directory of its own, beside a store of any kind. The locations come from the store. So the
// directory can be deleted at any time: the watcher then begins again. It follows the log of changes
// of the store to find new locations.
//
// # Verdicts
//
// [State.Observe] turns the results of checks into a [Verdict]. It has no side effects. A location
// is dead only after failures on several days in two weeks. Status codes that keep programs out, and
// robots.txt, never lead to this verdict.
//
// If many locations of a host fail in the same way, the host is failing. The watcher then does not
// count the failures of its locations, and tries the host four times a day. If many hosts fail at
// once, the network of this machine is probably the cause. The watcher then stops for some time, and
// forgets the latest failures.
//
// # Manners
//
// The watcher obeys robots.txt (RFC 9309). It sends a host one request at a time, with a gap
// between two requests that is longer for slow hosts. It never connects to private addresses. What
// it reads of a response is bounded.
//
// # Copies
//
// An [Archive] finds preserved copies of dead locations in a web archive.
package links
