// Package replay sends the requests in an access log to a new server, and compares the answers with
// the answers of the server that wrote the log. The result shows what would change for clients if
// names moved from one resolver to the other.
//
// Only GET and HEAD requests are sent, because they change nothing. They are sent only to the
// servers that the caller names: redirects are not followed, and a host in a request target is
// ignored. The client addresses in a log are discarded.
package replay
