package store

import (
	"context"
	"iter"

	"github.com/nomen-project/nomen/name"
)

// SaltSize is the length of a salt in bytes.
const SaltSize = 16

// An Entry is a change of a record or an authority with its place in the one
// order of all such changes of a store. Tokens, which are secrets, have no place
// there.
type Entry struct {
	Seq    uint64         // from 1, without gaps
	Change *Change        // as a store keeps it
	Salt   [SaltSize]byte // random; hides the content behind Digest. Zero when it was redacted
	Digest [32]byte       // of salt and content, and what a redaction leaves of both
}

// A Head is what a log of changes comes to: two stores whose heads are equal
// have had the same changes in the same order. The zero Head is that of a store
// without changes.
type Head struct {
	Size uint64   // how many changes are sealed
	Hash [32]byte // of the Merkle tree over them (RFC 6962, 2.1)
}

// A Feed is a Reader that hands out its changes in their one order.
type Feed interface {
	// Changes yields the sealed entries with a Seq greater than after, in order,
	// to the one that was the last when it was called. A change is sealed a second
	// after its Apply has returned at the latest, and no change is sealed before
	// one that is handed out later: who goes on after the last Seq that it saw
	// misses nothing.
	Changes(ctx context.Context, after uint64) iter.Seq2[*Entry, error]

	// Head returns the head of what is sealed.
	Head(ctx context.Context) (Head, error)
}

// A Loader is a Store that takes over the entries of another.
type Loader interface {
	// Load fills an empty store with entries as Changes gives them, from the first
	// on: history, times, revisions, salts and head are the same afterwards. A
	// store that is not empty, and entries that do not follow each other, are
	// refused. What was loaded before an error stays; Load again goes on after it
	// when the entries before are the same.
	Load(ctx context.Context, entries iter.Seq2[*Entry, error]) error
}

// A Place is a location and the name that has it.
type Place struct {
	URL  string
	Name name.Name
}

// A Finder is a Reader with an index of its locations.
type Finder interface {
	// Find yields the present locations whose URLs begin with prefix, in bytes,
	// in the byte order of their URLs and then of the names' keys, each pair once.
	// It begins after the pair given, unless that is zero.
	Find(ctx context.Context, prefix string, after Place) iter.Seq2[Place, error]
}

// A Fault is something that [Verifier] has found wrong.
type Fault struct {
	Subject Subject // what it is about, zero for the store itself
	Seq     uint64  // the entry, 0 if none
	Problem string  // in words: what is wrong, and what was expected
}

// A Verifier is a Store that can check itself.
type Verifier interface {
	// Verify checks every record, authority and revision against the entries, the
	// entries against the Merkle tree, and every index against the records, as of
	// one moment, and calls fault for whatever is wrong; it ends early only for an
	// error of reading. A change that was altered, removed, added or moved is
	// found and named. It calls progress, if not nil, now and then with how much
	// is done and how much there is. It returns the head that it has computed.
	Verify(ctx context.Context, fault func(Fault), progress func(done, total uint64)) (Head, error)
}

// A Backuper is a Store that makes a copy of itself while it is used.
type Backuper interface {
	// Backup makes a copy as of one moment in dir, which must not exist or must
	// hold an earlier backup of the same store: what has not changed since is not
	// copied again.
	Backup(ctx context.Context, dir string) error
}
