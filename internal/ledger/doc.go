// Package ledger is the Merkle tree over a store's log of changes, as in RFC 6962, section 2.1.
// It stores only what proofs need.
//
// A store keeps the roots of complete subtrees of 256 or more leaves, which [Log.Append]
// returns: a quarter of a byte per leaf. Everything below is computed from the leaves when
// needed, at most 256 for each place in a proof. The right edge of the tree is in memory. So
// appending a leaf computes its own hash and, on average, one more.
//
// The owner of a head ([store.Head]) can verify that an entry is in the log ([ProveInclusion],
// [CheckInclusion]) and that a later head is of the same log ([ProveConsistency],
// [CheckConsistency]). The proofs are those of RFC 6962, sections 2.1.1 and 2.1.2.
package ledger
