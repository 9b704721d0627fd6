// Package pebblestore stores names in a directory, in a Pebble database, which is a log-structured
// merge tree. It is the default store of nomen.
//
// # Writing
//
// Two goroutines write changes. The goroutine decide plans one batch after another and writes each
// batch to the write-ahead log. The goroutine acknowledge waits until the log is on disk, and then
// returns the results of the batches in the same order. Concurrent writers therefore share one
// fsync, and a caller gets the result of a change only when the change can no longer be lost. A
// reader may see a change shortly before the change is acknowledged.
//
// # Disk failures
//
// An engine is an open Pebble database. After a failed write or sync, the engine may have changes
// in memory that are not on disk, although a later sync succeeds. The store therefore uses this
// engine only for reads from then on, and prevents it from writing to the directory. When the
// directory can be written again, the store opens another engine, which recovers the data on disk.
// The store checks that this data includes every acknowledged change, and replaces the first
// engine. It does the same if the directory was deleted or replaced, or could not be written when
// the store was opened. The method Condition reports the state.
//
// # Reading
//
// A lookup searches the levels of the tree from the top until it finds the name. Bloom filters with
// 10 bits for each key allow the lookup to skip most levels that do not contain the name. When
// nothing is written for a while, names are compacted to the lowest level, where a lookup reads two
// blocks: the index of a table and a data block. Each table contains keys of only one key space,
// and the tables of names use a compression that is fast to read. With Options.Warm, the store
// reads names into the cache after it is opened.
//
// The filters do not contain the keys of the log, the history and the index of locations, which are
// read only by seeking.
//
// A listing, or a read of an earlier state, uses a snapshot of the tree, which concurrent changes
// do not affect. The files of the snapshot stay on disk until the listing or read ends.
//
// # The log of changes
//
// The goroutine decide numbers the changes in the log, and writes each change with its number in
// one batch. A change is sealed when this batch is on disk. The log contains only references to
// changes. The store reads entries by looking up many changes at a time, in the order of their
// keys. The right edge of the Merkle tree is in memory. When the store is opened, the edge is
// computed from at most the last 255 entries and the stored nodes.
//
// A redaction overwrites content at once. Tables on disk that still contain the old content are
// rewritten in the background.
//
// # Format
//
// docs/reference/files.md describes the keys and values. The store records the versions of its
// format and of the rules of names. If the program supports other versions, Open returns a
// [*store.VersionError]. Pebble checksums every block, and the decoder accepts only what the
// encoder writes. A read of damaged data therefore returns an error with the key, and never a wrong
// answer.
//
// # Rules of names
//
// [Rekey] converts a store that was made with earlier rules of names. It writes a new store next to
// the old store.
package pebblestore
