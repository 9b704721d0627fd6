package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

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

// String returns SIZE:HASH, as people write a head down.
func (h Head) String() string { return fmt.Sprintf("%d:%x", h.Size, h.Hash) }

// ParseHead reads SIZE:HASH.
func ParseHead(s string) (Head, error) {
	var h Head
	size, hash, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(size, 10, 64)
	b, hexErr := hex.DecodeString(hash)
	if !ok || err != nil || hexErr != nil || len(b) != len(h.Hash) {
		return h, fmt.Errorf("store: invalid head %.80q: want SIZE:HASH, as 'nomen verify' prints it", s)
	}
	return Head{n, [32]byte(b)}, nil
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

// A Prover is a Feed that can prove what it says of its log to who has a head
// (RFC 6962, 2.1.1 and 2.1.2). docs/reference/files.md describes the leaves; the proofs
// are hashes, in the order of that document.
type Prover interface {
	// ProveEntry proves that the log of the first size entries has this one.
	ProveEntry(ctx context.Context, size, seq uint64) ([][32]byte, error)

	// ProveHead proves that the log of the first later entries begins with all of
	// the log of the first earlier ones.
	ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error)
}

// A Loader is a Store that takes over the entries of another.
type Loader interface {
	// Load fills an empty store with entries as Changes gives them, from the first
	// on: history, times, revisions, salts and head are the same afterwards. A
	// store that is not empty, and entries that do not follow each other, are
	// refused with an [*EntryError]. What was loaded before an error stays; Load
	// again goes on after it when the entries before are the same, and refuses to
	// when it has more of them than it is given. Tokens have no part in this.
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
	// It begins after the pair given, unless that is zero. The locations of
	// reserved and retired names are among them; those of earlier revisions are not.
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

// A HeadError is returned when a log does not begin with that of a head that was
// written down.
type HeadError struct {
	Since  Head
	Size   uint64 // of the log
	Reason string
}

func (e *HeadError) Error() string {
	return fmt.Sprintf("store: head %s: %s", e.Since, e.Reason)
}

// A Backuper is a Store that makes a copy of itself while it is used.
type Backuper interface {
	// Backup makes a copy as of one moment in dir, which must not exist or must
	// hold an earlier backup of the same store: what has not changed since is not
	// copied again. It calls progress, if not nil, now and then with how many bytes
	// are done and how many there are.
	Backup(ctx context.Context, dir string, progress func(done, total uint64)) error
}

// An EntryError is returned by Load for an entry that does not follow those
// before it.
type EntryError struct {
	Seq    uint64
	Key    string // of the name or the authority, "" if it has none
	Reason string // in words
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("store: change %d of the log (%s): %s", e.Seq, shorten(e.Key), e.Reason)
}

// Follow works out what a store that takes over e has to write, as [Plan] does for
// changes: it asks last for the last change of the subject that the store has
// kept, nil if there is none. The step shares nothing with e. The error is that
// of last, or an [*EntryError] if no store would have kept the change so; the
// digest is left for the store to check.
func Follow(e *Entry, last func(Subject) (*Change, error)) (Step, error) {
	subject, reason := place(e)
	if reason != "" {
		return Step{}, &EntryError{e.Seq, subject.Key, reason}
	}
	before, err := last(subject)
	if err != nil {
		return Step{}, err
	}
	next := e.Change.Clone()
	if e.Change.Redacted {
		next = e.Change.Redact()
	}
	next.follow(before)
	if reason := strange(before, e.Change, next); reason != "" {
		return Step{}, &EntryError{e.Seq, subject.Key, reason}
	}
	return Step{Subject: subject, Last: before, Next: next}, nil
}

// place returns the subject of e, and why it has no place in any log, "" if it
// has.
func place(e *Entry) (Subject, string) {
	if e.Change == nil {
		return Subject{}, "no change"
	}
	if flaw := misshapen(e.Change); flaw != "" {
		return Subject{}, flaw
	}
	if e.Change.Token != nil {
		return Subject{}, "a token has no place in the log"
	}
	return e.Change.Subject(), ""
}

// strange says why no store could have kept c as next, its normal form, after
// last; "" if one could.
func strange(last, c, next *Change) string {
	if c.Expected != next.Expected {
		return fmt.Sprintf("revision %d after revision %d", c.Revision(), last.Revision())
	}
	if !next.equal(c) {
		return "not in the form in which a store keeps changes"
	}
	if _, err := measure(0, next); err != nil {
		return err.Error()
	}
	if rule := brokenRule(last, next); rule != "" {
		return rule
	}
	return overreach(next)
}

// equal reports whether c and o, of the same subject, are alike in all that a
// store keeps.
func (c *Change) equal(o *Change) bool {
	if !c.Time.Equal(o.Time) || c.Who != o.Who || c.Why != o.Why || c.Batch != o.Batch ||
		c.Redacted != o.Redacted || !slices.Equal(c.Redacts, o.Redacts) {
		return false
	}
	switch {
	case c.Record != nil:
		return c.Record.SameContent(o.Record) && c.Record.Modified.Equal(o.Record.Modified) && c.Record.Revision == o.Record.Revision
	case c.Authority != nil:
		return c.Authority.SameContent(o.Authority) && c.Authority.Modified.Equal(o.Authority.Modified) && c.Authority.Revision == o.Authority.Revision
	}
	return true
}
