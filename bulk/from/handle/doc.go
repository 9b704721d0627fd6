// Package handle imports handles from a Handle.Net server. It reads batch files for the tools of
// the server, dumps of its SQL storage, and files with one response of its JSON API per line.
//
// Each handle becomes a record with typed values. Package value derives the locations from these
// values. Values of the type HS_SECKEY are refused, because the history of the record would keep
// the secret. Messages never contain a secret.
//
// A batch file can contain several operations on one handle, and the rows of a dump can be in any
// order. The importer therefore collects the state of handles in a window of limited size. If it
// needs a handle that is not in the window, it reads the handle from the store with
// from.Input.Current.
package handle
