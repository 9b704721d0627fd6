// Package store is the contract of everything that keeps names: what a record,
// an authority and a change are, how they are read and written, and what every
// store promises. It holds no store; package storetest checks that one keeps
// the contract. A store is told by [Plan] what changes lead to, so that all
// decide alike.
//
// # Promises
//
//   - Acknowledged means on disk: when Apply returns without an error the
//     changes survive a crash of the program and of the machine.
//   - A batch given to Apply goes in as a whole or not at all.
//   - Changes of one name are serialised by its revision.
//   - The order of names is the byte order of their keys.
//   - A name that was ever active or retired is never deleted, and never set
//     back to reserved; only a reserved name can be deleted (1995, 2.2.1: Y95-22,
//     Y95-25). A retired name may become active again: it is the same name of
//     the same resource.
//   - Every change of a record or authority is kept: a question as of an earlier
//     time is answered as it was answered then. Revisions are never used twice,
//     not even when a reserved name was deleted and comes again.
//   - What a store returns belongs to the caller; what a caller passed in can be
//     used again after the call.
//
// # Normal form
//
// A store gives back the bytes of every text as they came, valid UTF-8 or not.
// What means the same is the same: an empty list or map is nil, an element of
// metadata without values is none, a record without a status is active, one
// without a spelling is spelled as its key, and times are in whole milliseconds,
// UTC. A change that leads to the content that is there already changes nothing
// and is not part of the history.
//
// # Sizes
//
// The limits of a change are constants of this package, the same for every
// store; a change that exceeds one is refused with a [*LimitError].
package store
