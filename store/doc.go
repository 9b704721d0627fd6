// Package store defines the interface of stores for names. It declares records, authorities and
// changes, the interfaces to read and write them, and the guarantees that every store gives.
// Packages memstore, pebblestore and pgstore implement stores, and package storetest tests them.
// Every store calls [Plan] to compute the effect of a change, so all stores behave alike.
//
// # Guarantees
//
//   - When Apply returns without an error, the changes are on disk, and survive a crash of the
//     program or the machine.
//   - A batch passed to Apply is applied as a whole or not at all.
//   - Changes of one name are serialized. Each change makes the next revision of the name.
//   - Names are ordered by the bytes of their keys.
//   - A name can be deleted only if it was never active or retired. An active or retired name can
//     never become reserved again (Y95-22, Y95-25). A retired name may become active again, because
//     it still identifies the same resource.
//   - The store keeps every change of a record or authority, and can return the state at any
//     earlier time. Only a redaction removes the content of earlier changes.
//   - Revision numbers are never reused. If a reserved name is deleted and created again, its
//     revisions continue with the number after the deletion.
//   - The caller may modify values that a store has returned, and arguments after the call.
//
// # Normal form
//
// A store returns every text byte for byte as it was written, whether or not the text is valid
// UTF-8. Equivalent values are stored in one normal form: empty lists and maps are nil, metadata
// elements without values are dropped, the default status is active, the default spelling is the
// key, and times are in UTC and whole milliseconds. A change that does not alter the content in
// normal form writes nothing, and does not appear in the history.
//
// # Limits
//
// The limits of a change are constants of this package, and are the same for every store. A change
// that exceeds a limit is rejected with a [*LimitError].
//
// Comments cite Internet-Drafts by year and section, as in "draft of 1995, 3.1", and their
// requirements by IDs such as Y95-22. docs/glossary.md lists the drafts.
package store
