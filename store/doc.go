// Package store defines what a store of names is. It declares records, authorities and changes, the
// interfaces to read and write them, and the guarantees that every store gives. The package
// contains no store: packages memstore, pebblestore and pgstore do, and package storetest tests
// them all. Every store calls [Plan] to compute the effect of a change, so all stores behave alike.
//
// # Guarantees
//
//   - Acknowledged means on disk. When Apply returns without an error, the changes survive a crash
//     of the program and of the machine.
//   - A batch passed to Apply is applied as a whole or not at all.
//   - Changes of one name are serialized: each makes the next revision of the name.
//   - Names are ordered by the bytes of their keys.
//   - A name can be deleted only if it was never active or retired. A name that is active or
//     retired can never be set back to reserved (1995, 2.2.1: Y95-22, Y95-25). A retired name may
//     become active again, because it still identifies the same resource.
//   - The store keeps every change of a record or authority, so it can return the state at any
//     earlier time. Only a redaction removes the content of earlier changes.
//   - Revision numbers are never reused. If a reserved name is deleted and created again, its
//     revisions continue with the number after the deletion.
//   - Values that a store returns belong to the caller. The caller may reuse the arguments of a
//     call after the call.
//
// # Normal form
//
// A store returns every text byte for byte as it was written, whether or not it is valid UTF-8.
// Values that mean the same have one form: empty lists and maps are nil, metadata elements without
// values are dropped, the default status is active, the default spelling is the key, and times are
// in UTC and whole milliseconds. A change that leaves the content as it is writes nothing, and does
// not appear in the history.
//
// # Limits
//
// The limits of a change are constants of this package and apply to every store. A change that
// exceeds a limit is rejected with a [*LimitError].
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package store
