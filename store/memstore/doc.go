// Package memstore is a store in memory, for tests and for programs that create their names at
// every start. It gives all guarantees of package store, including the history, except that nothing
// survives the process.
//
// Every change is kept as a version, together with the number of its batch. A listing reads the
// versions that existed when it began, so it holds no lock while the loop body runs. Changes are
// sealed at once. The index of locations is built on first use and updated from then on.
package memstore
