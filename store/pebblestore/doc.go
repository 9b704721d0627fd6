// Package pebblestore stores names in a directory, in Pebble's log-structured
// merge tree. It is the default store of nomen.
//
// # Writing
//
// One goroutine, decide, plans batches one after another and passes each batch to the write-ahead
// log. A second goroutine, acknowledge, waits until the log is on disk. Then it returns the results
// of the batches in the same order. So concurrent writers share one fsync, and no result is
// returned for a change that could still be lost. A reader may see a change shortly before it is
// acknowledged.
//
// # Disk failures
//
// After a failed write or sync, the memory of Pebble (the engine) may have changes that are not on
// disk. A later sync can succeed nevertheless. So the store then uses this engine only for reads,
// and lets it write nothing to the directory. When the directory can be written again, the store
// opens another engine, which recovers the data on disk. The store checks that every acknowledged
// change is there, and replaces the first engine. It does the same if the directory was deleted or
// replaced, or could not be written when the store was opened. Condition reports the state.
//
// # Reading
//
// A lookup searches the levels of the tree in order until it finds the name. Bloom filters of 10
// bits a key let it skip levels that do not have the name. The lowest level has nearly all
// names: when nothing is written, names are compacted to this level. There a lookup reads two
// blocks: the index of a table and a data block. Each table has keys of only one key space, and
// the tables of names use a compression that is fast to read. With Options.Warm, names are read
// into the cache after the store is opened.
//
// The filters do not have the keys of the log, the history and the index of locations. These keys
// are found only by seeking.
//
// Listings and reads as of a time use one snapshot of the tree, which concurrent
// changes do not affect. The files of the snapshot stay on disk until the listing
// or read ends.
//
// # The log of changes
//
// The goroutine decide gives each change its number in the log. The number and the change are
// written in one batch. The change is sealed when the batch is on disk. The log has only references
// to changes. To read entries, the store looks up many changes at a time, in the order of their
// keys. The right edge of the Merkle tree is in memory. Opening the store rebuilds this edge from
// at most the last 255 entries.
//
// A redaction overwrites content at once. Tables on disk that still contain the old content
// are rewritten in the background.
//
// # Format
//
// Keys and values are described in docs/reference/files.md. The store records the versions of
// its format and of the rules of names. If the program has another version of either, Open
// returns a [*store.VersionError]. Pebble checksums every block, and the decoder accepts only
// what the encoder writes. So damage causes an error that names the key, never a wrong answer.
//
// # Rules of names
//
// [Rekey] converts a store that was made with earlier rules of names. It writes a
// new store beside the old one.
package pebblestore
