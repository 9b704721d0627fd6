// Package codec encodes stored data: changes, the positions of changes in the log, and the leaves
// of the Merkle tree of the log. All stores hash these encodings, so the same changes have the same
// head in every store.
//
// The encoding of a change must never be altered, because a decoded change must have the same
// digest when it is encoded again. docs/reference/files.md describes the encoding and the history
// of its versions.
package codec
