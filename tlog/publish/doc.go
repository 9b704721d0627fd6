// Package publish publishes the log of a store as a transparency log: signed checkpoints, tiles and
// bundles of entries (https://c2sp.org/tlog-tiles), and receipts for single changes.
//
// A [Log] signs at most one checkpoint a second. Before it signs, it verifies that the log
// continues the last published checkpoint. If it does not, an older backup was restored or the
// history was rewritten. The Log then stops signing, and reports the problem in its [Status].
//
// The last checkpoint is stored as a secret in the store ([store.Vault]), so all servers that use
// the same database share it. It is also stored in a file outside the store, because a restored
// backup of the store has an older checkpoint.
package publish
