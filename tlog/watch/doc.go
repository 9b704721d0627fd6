// Package watch verifies the published log of a server independently of the server. A [Watcher]
// follows a log and stores the heads that it has seen, or checks a whole log once (an audit). It
// trusts only the given public keys. It reports every contradiction as an [Alert].
package watch
