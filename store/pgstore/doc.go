// Package pgstore keeps names in PostgreSQL (13 and later), or in an engine that
// speaks its protocol, such as CockroachDB and YugabyteDB: the store for those
// who have outgrown one machine. Many nodes can have it open at once.
//
// # Connection strings
//
// A store is named by a URL as libpq takes it, with any number of hosts:
//
//	postgres://nomen@db1,db2,db3/names?sslmode=verify-full
//
// Which host takes changes and which are replicas is found out by asking them,
// twice a second, so that a fail-over needs no new configuration. Everything that
// libpq knows may stand there, and settings for the server, such as search_path;
// of this package are
//
//   - pool=16: connections to each host for short work (32 more are for listings)
//   - wait=5s: how long a call goes on trying while no server can do it
//   - lag=5s: see Reading
//
// A statement may take 30 seconds unless statement_timeout says otherwise, in
// milliseconds; an attempt to connect 3 seconds unless connect_timeout does.
//
// # Writing
//
// Changes that wait together are written in one transaction, pipelined: so a
// commit serves many. Subjects that exist are locked before it is planned what
// the changes lead to, new ones are held by their primary keys; hence changes of
// one name follow each other, whatever nodes they come from. Transactions that
// stood in each other's way, or lost their server, are made again for the time of
// wait. When the connection is lost at the commit, the next attempt finds out
// whether that was done, by the random salt of its changes, and never writes
// twice; when no server can be asked any more, Apply returns a
// [*store.UnknownError].
//
// Of several primaries with the same data the one of the highest timeline is used: an
// old one may not have been told that another was promoted in its place. PostgreSQL says
// that a commit was done, too, when its wait for a synchronous standby was cut short;
// such a commit counts as one whose connection was lost. Changes are planned from what
// the primary has (see [store.Fresh]).
//
// Acknowledged means committed. What a server promises of that is its setting:
// with synchronous_commit=off, or a fail-over to a replica that is asynchronous,
// PostgreSQL itself may lose what it has committed.
//
// # Reading
//
// Reads go to replicas in turn, to the primary while there are none, and to
// another server when one is lost: with a replica no read fails because the
// primary is gone. For the time of lag after a node has written a name, it takes
// no older revision of it from a replica; if the primary is gone meanwhile, it
// waits for that time, and then takes what there is. Listings, for that time,
// read the primary. A replica that has been behind the primary for longer than
// lag is not read while the primary is there. So what another node wrote is seen
// after lag and two seconds at the latest.
//
// Listings read one moment, page by page: a repeatable-read transaction is open
// meanwhile, which keeps the server from cleaning up behind it.
//
// # The order of changes
//
// A transaction leaves its changes without a place. One of the nodes, the sealer,
// gives them their numbers when they are committed, and appends them to the log:
// so a transaction that was open for long comes after those that readers have
// seen already, and is not missed. See sealer.
//
// # Format
//
// Tables and their columns are described in docs/reference/files.md, as are the encodings
// in them. The version of the schema and that of the rules of names are recorded;
// an older schema is migrated when the store is opened for writing, a newer one is
// refused with a [*store.VersionError].
package pgstore
