// Package pebblestore keeps names in one directory, in the log-structured tree of
// Pebble: the default store of nomen.
//
// # Writing
//
// One goroutine decides about batches one after the other and hands each to the
// write-ahead log; a second one answers the callers, in the same order, when the
// log is on disk. So many writers share one fsync, and no answer speaks of what could
// still be lost. A reader may see a change a moment before it is acknowledged.
//
// # Failures of the disk
//
// After a write or a sync has failed, what an engine has in memory may be ahead of what
// is on disk, and to sync again proves nothing. So its disk is cut off from the
// directory, as if the process had died, and it only answers reads. When the directory
// takes writes again another engine recovers what is on disk, which must have all that
// was acknowledged, and takes its place. The same happens when the directory takes no
// writes at the start, or was deleted or replaced. Condition tells the state.
//
// # Reading
//
// A question asks one level of the tree after the other until one has the name: in
// the lowest, where nearly all names are, for two blocks, the index of a table and
// data. Indexes are in one piece, tables hold names alone, and these are compressed
// by what is quick to read. In quiet times names above the lowest level are brought
// there. Who wants to can have them read into the cache when the store is opened.
//
// Bloom filters of 10 bits a key tell that a level above the lowest does not have a
// name, and whoever writes that it is nowhere. Keys that are only met by seeking, of
// the log, the history and the index of locations, are in none.
//
// Listings and questions as of a time read one view of the tree, which changes made
// meanwhile do not touch; the files of a view stay on disk until it is left.
//
// # The log of changes
//
// The deciding goroutine gives every change its place in the log in the batch that
// writes it; it is sealed when the batch is on disk. The log itself has only which
// change stands where: an entry is read where its content is, windows of them in
// the order of their keys. The right edge of the Merkle tree is in memory, and is
// made anew at opening from the last 255 entries at most.
//
// What is redacted is overwritten at once, and the tables that had it are written
// anew in the background.
//
// # Format
//
// Keys and values are described in docs/reference/files.md. The version of the format and
// that of the rules of names are recorded in the store; one made by others is
// refused with a [*store.VersionError]. Pebble keeps a checksum of every block,
// and the decoder takes nothing but what the encoder writes: damage gives an error
// that names the key, never a wrong answer.
//
// # Rules of names
//
// A store made by earlier rules of names is converted by [Rekey], which writes a
// new one beside it.
package pebblestore
