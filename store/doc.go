// Package store defines the contract of stores of names. It says what a record, an authority and a
// change are, how they are read and written, and what every store guarantees. It does not implement
// a store. Package storetest checks that an implementation fulfils the contract. Every store calls
// [Plan] to compute the effect of changes, so that all stores behave alike.
//
// # Guarantees
//
//   - Acknowledged means on disk. When Apply returns without an error, the changes survive a crash
//     of the program and of the machine.
//   - A batch passed to Apply is applied as a whole or not at all.
//   - The changes of one name are serialized by the revision of the name.
//   - Names are ordered by the bytes of their keys.
//   - A name can be deleted only if it was never active or retired. A name that is active or
//     retired can never be set back to reserved (1995, 2.2.1: Y95-22, Y95-25). A retired name
//     may become active again, because it still identifies the same resource.
//   - Every change of a record or authority is kept, so a read as of an earlier time returns
//     the state at that time. Only a redaction removes the content of earlier changes.
//   - Revision numbers are never reused. If a reserved name is deleted and created again, its
//     revisions continue with the number after the deletion.
//   - Values that a store returns belong to the caller. The caller may reuse the arguments of
//     a call after the call.
//
// # Normal form
//
// A store returns every text byte for byte as it was written, valid UTF-8 or not. Equivalent values
// have one form. Empty lists and maps are nil. Metadata elements without values are dropped. The
// default status is active, and the default spelling is the key. Times are UTC in whole
// milliseconds. If a change leaves the content as it is, nothing is written and the history does
// not have the change.
//
// # Limits
//
// The limits of a change are constants of this package and apply to every store. A change that
// exceeds a limit is rejected with a [*LimitError].
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package store
