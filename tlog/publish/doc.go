// Package publish publishes the log of a store as a transparency log: signed checkpoints, tiles and
// bundles of entries (https://c2sp.org/tlog-tiles), and receipts for single changes.
//
// A [Log] signs at most one checkpoint a second. Before it signs, it verifies that the log continues
// the last published checkpoint. If the log does not, because an older backup was restored or the
// history was rewritten, the Log signs nothing more and says so: [Status].
//
// The last checkpoint is a secret of the store ([store.Vault]), so all servers of a database share
// it. It is also in a file outside the store, which remains when the store is replaced by a backup.
package publish
