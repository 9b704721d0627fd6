// Package pgstore stores names in PostgreSQL (13 and later), or in a compatible
// database such as CockroachDB or YugabyteDB. Several nodes can have the same
// store open.
//
// # Connection strings
//
// A store is identified by a URL as for libpq, with any number of hosts:
//
//	postgres://nomen@db1,db2,db3/names?sslmode=verify-full
//
// The package checks twice a second which host accepts changes and which are
// replicas, so that a failover needs no new configuration. The URL may have all
// parameters of libpq, settings of the server such as search_path, and these:
//
//   - pool=16: maximum number of connections to each host for short work (32 more are for listings)
//   - wait=5s: how long a call retries while no server is available
//   - lag=5s: see Reading
//
// The timeout of a statement is 30 seconds unless statement_timeout (in milliseconds) is
// given. The timeout of a connection attempt is 3 seconds unless connect_timeout is given.
//
// # Writing
//
// Changes that wait at the same time are written in one transaction, pipelined, so that they
// share a commit. Existing subjects are locked before changes are planned; new ones are
// protected by their primary keys. Changes of one name are therefore serialised across all
// nodes. Transactions that conflicted, or lost their server, are retried for the time of wait.
// If the connection is lost during the commit, the next attempt looks for the random salt of
// the changes to find out whether the commit succeeded, and never writes twice. If no server
// can be asked, Apply returns a [*store.UnknownError].
//
// If several primaries have the same data, the one with the highest timeline is used, because
// an old primary may not know that another server was promoted in its place. PostgreSQL also
// reports success of a commit whose wait for a synchronous standby was cut short; such a
// commit is treated like a lost connection. Changes are planned from the primary's data (see
// [store.Fresh]).
//
// Acknowledged means committed. How durable that is depends on the server's settings:
// with synchronous_commit=off, or a failover to an asynchronous replica, PostgreSQL
// itself may lose commits.
//
// # Reading
//
// Reads go to replicas in turn, or to the primary if there are no replicas, and to another
// server if a server is lost. So with a replica, reads continue when the primary fails. For
// the time of lag after a node has written a name, it accepts no older revision of it from a
// replica; if the primary fails meanwhile, the node waits until that time is over and then
// accepts the replica's revision. For the time of lag after any write of the node, its
// listings read from the primary. A replica that has been behind the primary for longer than
// lag is not read while the primary is available. The changes of another node are thus visible
// after at most lag and two seconds.
//
// Listings read one snapshot, page by page, in a repeatable-read transaction, which
// prevents the server from vacuuming newer garbage until it ends.
//
// # The order of changes
//
// A transaction leaves its changes unnumbered. One of the nodes, the sealer, numbers them
// after they are committed and appends them to the log. So the changes of a long transaction
// come after all changes that readers of the log have already seen, and no reader misses them.
// See sealer.
//
// # Format
//
// Tables, columns and encodings are described in docs/reference/files.md. The store
// records the versions of the schema and of the rules of names. An older schema is
// migrated when the store is opened for writing; a newer one is rejected with a
// [*store.VersionError].
package pgstore
