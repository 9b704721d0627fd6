// Package memstore implements a store in memory, for tests and for programs that create their names
// when they start. It gives all guarantees of package store except durability: nothing survives the
// process.
//
// Every change is kept as a version with the number of its batch. A listing reads the versions that
// existed when it began, and holds no lock while the loop body runs. Changes are sealed at once.
// The index of locations is built on first use, and updated by later changes.
package memstore
