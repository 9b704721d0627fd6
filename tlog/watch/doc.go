// Package watch verifies the published log of a server from outside. A [Watcher] follows a log and
// keeps its own heads, or checks a whole log once (an audit). It trusts only the public keys that it is
// given, and reports everything that contradicts the log as an [Alert].
package watch
