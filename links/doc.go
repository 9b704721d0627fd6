// Package links checks whether the locations of names are available.
//
// A [Watcher] stores a [State] for each location with the scheme http or https. The states are in a
// database in a separate directory, or in a database that several servers share. The locations come
// from the store. To find new locations, the watcher follows the log of changes of the store. The
// directory can be deleted at any time, because the watcher can read all locations from the store
// again.
//
// # Verdicts
//
// [State.Observe] computes the [Verdict] about a location from the results of its checks. It is a
// pure function. A location is dead only after failures on several days within two weeks. A status
// such as 403, with which hosts reject programs, never leads to this verdict, nor does robots.txt.
//
// If many locations of a host fail in the same way, the host itself is considered to fail. While a
// host fails, the watcher does not count the failures of its locations, and tries the host four
// times a day. If many hosts fail at the same time, the cause is probably the network of this
// machine. The watcher then stops for some time, and discards the latest failures.
//
// # Politeness
//
// The watcher obeys robots.txt (RFC 9309). It sends only one request at a time to a host. The
// interval between two requests is longer for slow hosts. The watcher never connects to private
// addresses. It limits the size of the responses that it reads.
//
// # Copies
//
// An [Archive] finds preserved copies of dead locations in a web archive.
package links
