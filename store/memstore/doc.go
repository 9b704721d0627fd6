// Package memstore is a store in memory, for tests and for programs that create
// their names at every start. It fulfils the contract of package store, history
// included, except that nothing survives the process.
//
// Every change is kept as a version, together with the number of its batch. A
// listing reads the versions that existed when it began, so it holds no lock
// during the loop body. Changes are sealed at once. The index of locations is
// built on first use and maintained from then on.
package memstore
