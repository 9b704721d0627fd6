// Package pebblestore stores names in a directory, in Pebble's log-structured
// merge tree. It is the default store of nomen.
//
// # Writing
//
// One goroutine plans batches, one after another, and passes each to the
// write-ahead log; a second one answers the callers, in the same order, when the
// log is on disk. Concurrent writers thus share one fsync, and no result is
// returned that could still be lost. A reader may see a change shortly before it
// is acknowledged.
//
// # Disk failures
//
// After a failed write or sync, the engine's memory may be ahead of the disk, and another sync
// proves nothing. The engine is therefore cut off from the directory, as if the process had
// died, and only answers reads. When the directory can be written again, another engine
// recovers the data on disk, checks that every acknowledged change is there, and replaces the
// first engine. The same procedure applies if the directory cannot be written when the store
// is opened, or if it was deleted or replaced. Condition reports the state.
//
// # Reading
//
// A lookup searches the levels of the tree in order until one has the name. The lowest level
// holds nearly all names. There a lookup reads two blocks: the index of a table and a data
// block. Indexes have a single level. Tables of names hold only names, and use a compression
// that is fast to read. When nothing is written, names are compacted to the lowest level. With
// Options.Warm they are read into the cache after the store is opened.
//
// Bloom filters of 10 bits a key exclude the levels that do not have a name. The keys of the
// log, the history and the index of locations are not in the filters, because these keys are
// found only by seeking.
//
// Listings and reads as of a time use one snapshot of the tree, which concurrent
// changes do not affect; its files stay on disk until the loop ends.
//
// # The log of changes
//
// The planning goroutine assigns each change its number in the log, in the batch
// that writes the change. A change is sealed when the batch is on disk. The log holds
// only references to changes. To read entries, the store looks up many changes at a
// time, in the order of their keys. The right edge of the Merkle tree is kept in
// memory; opening rebuilds it from at most the last 255 entries.
//
// A redaction overwrites content at once. Tables on disk that still contain the old content
// are rewritten in the background.
//
// # Format
//
// Keys and values are described in docs/reference/files.md. The store records the
// versions of its format and of the rules of names; with another version, opening
// fails with a [*store.VersionError]. Pebble checksums every block, and the decoder
// accepts only what the encoder writes: damage causes an error that names the key,
// never a wrong answer.
//
// # Rules of names
//
// [Rekey] converts a store that was made with earlier rules of names. It writes a
// new store beside the old one.
package pebblestore
