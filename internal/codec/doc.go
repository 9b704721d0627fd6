// Package codec is the encoding of what stores keep: of changes as values, of
// the place of a change in the log, and of the leaves over which the Merkle tree
// of the log is built. Every store hashes these bytes, so that the same changes
// lead to the same head wherever they are kept, and a store of bytes keeps them
// as they are.
//
// Equal changes have one encoding, for ever: what has a digest must come to the
// same digest when it is read and encoded again. docs/reference/files.md describes the
// bytes and the history of their versions.
package codec
