// Package handle imports handles: batch files of the tools of Handle.Net servers, dumps of the SQL
// storage of such a server, and responses of its JSON API, one in each line.
//
// Each handle becomes a record with typed values, from which package value derives the locations.
// Values of the type HS_SECKEY are refused, because the history would keep the secret. No message
// repeats a secret.
//
// The operations of a batch file change handles that exist, and the rows of a dump can be in any
// order. The records are therefore collected in a window of limited size. A handle outside of the
// window is read from the store (from.Input.Current) if it is needed.
package handle
