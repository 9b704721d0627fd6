// Package tlog checks the published log of nomen with programs of others: fsck and the client of
// Tessera, sumdb/note, and the formats of transparency-dev. It is a separate module, so that the
// main module does not depend on them.
package tlog
