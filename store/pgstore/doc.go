// Package pgstore stores names in PostgreSQL (13 and later), or in a compatible database such as
// CockroachDB or YugabyteDB. Several nodes can have the same store open.
//
// # Connection strings
//
// A store is identified by a URL as for libpq, with any number of hosts:
//
//	postgres://nomen@db1,db2,db3/names?sslmode=verify-full
//
// The package checks twice a second which host accepts changes and which hosts are replicas, so a
// failover needs no new configuration. The URL may have all parameters of libpq, settings of the
// server such as search_path, and these parameters of the package:
//
//   - pool=16: maximum number of connections to each host for short work (32 more are for listings)
//   - wait=5s: how long a call retries while no server is available
//   - lag=5s: how old the data of a replica may be (see Reading)
//
// A statement times out after 30 seconds, or after statement_timeout (in milliseconds). A
// connection attempt times out after 3 seconds, or after connect_timeout.
//
// # Writing
//
// Changes that wait at the same time are written in one pipelined transaction and share a commit.
// The changes of one name are serialized across all nodes: the package locks existing names and
// authorities before it plans their changes, and the primary keys of the tables protect new names.
// Changes are planned from the data of the primary (see [store.Fresh]).
//
// If a transaction conflicts with another transaction, or if its server is lost, the package
// retries it for the time of the parameter wait. If the connection is lost during the commit, the
// outcome is unknown. The next attempt then looks for the random salt of the changes, so that they
// are never written twice. If the outcome stays unknown because no server can be reached, Apply
// returns a [*store.UnknownError]. PostgreSQL also reports success when it stops waiting for a
// synchronous standby. The package treats this case like a lost connection.
//
// If several primaries have the same data, the package uses the primary with the highest timeline.
// The other servers are former primaries that have not noticed the promotion of another server.
//
// A change is acknowledged when its transaction is committed. The durability of a commit depends on
// the settings of the server: PostgreSQL may lose commits with synchronous_commit=off, or at a
// failover to an asynchronous replica.
//
// # Reading
//
// Reads go to the replicas in turn, or to the primary if there are no replicas. If a server is
// lost, reads go to another server. With a replica, reads therefore continue when the primary
// fails.
//
// A replica can be behind the primary. The parameter lag of the URL limits the effects:
//
//   - After a node has written a name, it accepts no older revision of this name from a replica for
//     the duration lag. If the primary fails meanwhile, the node waits until lag is over, and then
//     accepts the revision of the replica.
//   - After a node has written anything, its listings read from the primary for the duration lag.
//   - While the primary is available, no node reads from a replica that has been behind for longer
//     than lag.
//
// The changes of another node are therefore visible at most two seconds after the duration lag.
//
// A listing reads one snapshot, page by page, in a repeatable-read transaction. Until this
// transaction ends, the server cannot vacuum rows that were changed or deleted after it began.
//
// # The order of changes
//
// A transaction does not assign numbers in the log to its changes. One of the nodes, the sealer,
// numbers changes after they are committed, and appends them to the log. The changes of a long
// transaction therefore come after all changes that readers of the log have already seen.
//
// # Format
//
// docs/reference/files.md describes the tables, columns and encodings. The store records the
// versions of the schema and of the rules of names. An older schema is migrated when the store is
// opened for writing; a newer one is rejected with a [*store.VersionError].
package pgstore
