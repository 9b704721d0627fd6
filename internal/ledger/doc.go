// Package ledger computes the Merkle tree over a store's log of changes (RFC 6962, section 2.1). It
// stores only the hashes that proofs need.
//
// A store saves the roots of complete subtrees of 256 or more leaves, which [Log.Append] returns.
// They take a quarter of a byte per leaf. The roots of smaller subtrees are computed from the
// leaves when they are needed, which takes at most 256 leaves for each hash in a proof. The right
// edge of the tree is in memory. Appending a leaf therefore computes the hash of the leaf and, on
// average, one more hash.
//
// A client that has a head ([store.Head]) can verify that an entry is in the log ([ProveInclusion],
// [CheckInclusion]), and that a later head belongs to the same log ([ProveConsistency],
// [CheckConsistency]). The proofs are those of RFC 6962, sections 2.1.1 and 2.1.2.
package ledger
