// Package replay sends the requests of an access log to a server again, and compares its answers
// with those of the server that wrote the log. It shows what would change for clients before names
// move from one resolver to another.
//
// Only requests with the methods GET and HEAD are sent, because they change nothing. They go only
// to the servers that the caller names: redirects are not followed, and the host in a target of
// absolute form is ignored. The addresses of clients in a log are never kept.
package replay
