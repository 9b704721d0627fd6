// Package tlog implements the formats by which third parties can verify a transparency log. The
// specifications of C2SP (https://c2sp.org) define them:
//
//   - [Checkpoint]: the origin, size and root of a log (tlog-checkpoint), signed by the log and
//     cosigned by witnesses (signed-note, tlog-cosignature)
//   - [Tile] and the bundles of entries: the files in which a log is published (tlog-tiles)
//   - [Proof]: the proof that a log has an entry, in a file that can be verified offline
//     (tlog-proof)
//
// The tree is that of RFC 6962, section 2.1, with SHA-256. [CheckInclusion] and [CheckConsistency]
// verify proofs without a network. [Tree] computes proofs from the tiles of a log.
//
// All parsers are safe for hostile input. They accept only the canonical form that the
// specifications define. Their errors are of type [*FormatError].
package tlog
