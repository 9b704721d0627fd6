// Package ledger is the Merkle tree over a store's log of changes: that of RFC
// 6962, section 2.1, of which this package keeps as little as proofs allow.
//
// A store keeps the roots of complete subtrees of 256 leaves and more, which
// [Log.Append] hands out: a quarter byte for each leaf. Everything below is
// computed from the leaves when it is wanted, at most 256 of them for each place
// in a proof, and the right edge of the tree is in memory. So a leaf costs its
// own hash and, on average, one more.
//
// Whoever has a head ([store.Head]) can be shown that an entry is in the log
// ([ProveInclusion], [CheckInclusion]) and that a later head is of the same log
// ([ProveConsistency], [CheckConsistency]). Proofs are those of RFC 6962,
// sections 2.1.1 and 2.1.2.
package ledger
