// Package codec encodes stored data: changes as values, their places in the log, and the
// leaves of the log's Merkle tree. All stores hash these bytes, so the same changes have the
// same head in every store. Stores that keep changes as bytes also store these encodings
// unchanged.
//
// Equal changes have one encoding, for ever, because a decoded change must have the same digest
// when it is encoded again. docs/reference/files.md describes the encoding and the history of
// its versions.
package codec
