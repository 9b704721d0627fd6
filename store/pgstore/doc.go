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
// The package checks twice a second which host accepts changes and which are replicas. So a
// failover needs no new configuration. The URL may have all parameters of libpq, settings of the
// server such as search_path, and these:
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
// share a commit. Existing names and authorities are locked before their changes are planned;
// new ones are protected by their primary keys. So changes of one name are serialised across
// all nodes. Changes are planned from the data of the primary (see [store.Fresh]).
//
// If a transaction conflicts with another transaction or loses its server, it is retried until the
// time of the parameter wait is over. If the connection is lost during the commit, the outcome is
// unknown. The next attempt looks for the random salt of the changes, so that they are never
// written twice. If no server can be reached, Apply returns a [*store.UnknownError]. PostgreSQL
// also reports success if it stops waiting for a synchronous standby. The package treats this like
// a lost connection.
//
// If several primaries have the same data, the primary with the highest timeline is used. An old
// primary may not know that another server was promoted in its place.
//
// Acknowledged means committed. How durable that is depends on the server's settings. PostgreSQL
// itself may lose commits with synchronous_commit=off, or at a failover to an asynchronous replica.
//
// # Reading
//
// Reads go to the replicas in turn, or to the primary if there are no replicas. If a server is
// lost, another server is read. So with a replica, reads continue when the primary fails.
//
// A replica can be behind the primary. The parameter lag is a duration that limits the effects:
//
//   - After a node has written a name, it accepts no older revision of this name from a replica for
//     the duration lag. If the primary fails meanwhile, the node waits until lag is over. Then it
//     accepts the revision of the replica.
//   - After a node has written anything, its listings read from the primary for the duration
//     lag.
//   - A replica that has been behind the primary for longer than lag is not read while the
//     primary is available.
//
// So the changes of another node are visible after at most lag plus two seconds.
//
// A listing reads one snapshot, page by page, in a repeatable-read transaction. Until the
// transaction ends, the server cannot vacuum rows that were changed or deleted after it began.
//
// # The order of changes
//
// A transaction leaves its changes unnumbered. One of the nodes, the sealer, numbers them after
// they are committed and appends them to the log. So the changes of a long transaction come after
// all changes that readers of the log have already seen. No reader misses them. See sealer.
//
// # Format
//
// Tables, columns and encodings are described in docs/reference/files.md. The store
// records the versions of the schema and of the rules of names. If the store is
// opened for writing, an older schema is migrated. A newer schema is rejected with
// a [*store.VersionError].
package pgstore
