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

// An Entry is a change with its position in the store's log of changes. The change is of a record,
// an authority, a user, or the rights of a token. Tokens are secrets, so their changes are not in
// the log.
type Entry struct {
	Seq    uint64         // position in the log, from 1, without gaps
	Change *Change        // the change as it is stored
	Salt   [SaltSize]byte // random bytes, so that Digest does not reveal the content; zero if redacted
	Digest [32]byte       // digest of salt and content; a redaction does not change it
}

// A Head identifies the state of a log of changes. Two stores with equal heads have had the same
// changes in the same order. The zero Head is that of an empty log.
type Head struct {
	Size uint64   // number of sealed changes
	Hash [32]byte // root of the Merkle tree over these changes (RFC 6962, 2.1)
}

// String returns the head in the form SIZE:HASH.
func (h Head) String() string { return fmt.Sprintf("%d:%x", h.Size, h.Hash) }

// ParseHead parses a head in the form SIZE:HASH.
func ParseHead(s string) (Head, error) {
	var h Head
	size, hash, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(size, 10, 64)
	b, hexErr := hex.DecodeString(hash)
	if !ok || err != nil || hexErr != nil || len(b) != len(h.Hash) {
		return h, fmt.Errorf("store: invalid head %.80q: expected SIZE:HASH, a number and 64 hexadecimal digits", s)
	}
	return Head{n, [32]byte(b)}, nil
}

// A Feed is a Reader with a log of changes.
type Feed interface {
	// Changes yields the sealed entries whose Seq is greater than the parameter after, in the order
	// of Seq. A sealed entry has its final Seq. The entries are those that are sealed at the time
	// of the call. A change is sealed at most a second after its Apply returned. Entries are sealed
	// in the order of Seq. So a caller that always passes the last Seq that it has read misses no
	// entry.
	Changes(ctx context.Context, after uint64) iter.Seq2[*Entry, error]

	// Head returns the head of the log of sealed entries.
	Head(ctx context.Context) (Head, error)
}

// A Prover is a Feed that returns Merkle proofs about its log. Clients check a proof against a head
// (RFC 6962, 2.1.1 and 2.1.2). A proof is a list of hashes in the order of the RFC.
// docs/reference/files.md describes the leaves.
type Prover interface {
	// ProveEntry returns the proof that the log at the given size contains the entry with the
	// number seq.
	ProveEntry(ctx context.Context, size, seq uint64) ([][32]byte, error)

	// ProveHead returns the proof that the log at the size later begins with the log at the size
	// earlier.
	ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error)
}

// A Loader is a Store that can load the entries of another store.
type Loader interface {
	// Load fills an empty store with all entries of another store. The entries must come in the
	// order in which Changes yields them, beginning with the first. Afterwards both stores have the
	// same history, times, revisions, salts and head. Tokens are not loaded. The error is an
	// [*EntryError] if the store has other data. It is also an [*EntryError] if an entry cannot
	// follow the entry before it.
	//
	// If Load fails, the entries loaded so far stay in the store. Another call with the same
	// entries continues after them. That call fails if the store has an entry that is not among
	// those passed to it.
	Load(ctx context.Context, entries iter.Seq2[*Entry, error]) error
}

// A Place is a location and the name that has it.
type Place struct {
	URL  string
	Name name.Name
}

// A Finder is a Reader with an index of locations.
type Finder interface {
	// Find yields the current locations whose URLs begin with the bytes of prefix. It yields each
	// pair of URL and name once, in the byte order of the URLs, then of the keys. It begins with
	// the first pair that is greater than the parameter after. If this parameter is zero, it begins
	// with the first pair of all. Find includes the locations of reserved and retired names, but
	// not the locations of earlier revisions.
	Find(ctx context.Context, prefix string, after Place) iter.Seq2[Place, error]
}

// A Fault is a problem found by a [Verifier].
type Fault struct {
	Subject Subject // what the problem is about; zero for the store itself
	Seq     uint64  // number of the log entry; 0 if there is none
	Problem string  // what is wrong, and what was expected, for people to read
}

// A Verifier is a Store that can verify its own integrity.
type Verifier interface {
	// Verify checks the state that the store has at one moment:
	//
	//   - every record, authority and revision against the entries of the log;
	//   - the entries against the Merkle tree;
	//   - every index against the records.
	//
	// So Verify finds every change that was altered, removed, added or moved. It calls fault for
	// each problem and continues; it stops early only if reading fails. If progress is not nil,
	// Verify calls it regularly. The arguments are the number of changes verified so far, and the
	// number of changes in the log. It returns the head that it has computed.
	Verify(ctx context.Context, fault func(Fault), progress func(done, total uint64)) (Head, error)
}

// A HeadError is returned if a log does not continue an earlier log that is known by its head.
type HeadError struct {
	Since  Head   // head of the earlier log
	Size   uint64 // size of the log
	Reason string
}

func (e *HeadError) Error() string {
	return fmt.Sprintf("store: head %s: %s", e.Since, e.Reason)
}

// A Backuper is a Store that can be backed up while it is in use.
type Backuper interface {
	// Backup copies the state that the store has at one moment to the directory dir. The directory
	// must not exist, or it must have an earlier backup of the same store. Over an earlier backup,
	// only files that have changed are copied. If progress is not nil, Backup calls it regularly
	// with the number of bytes copied so far and the total.
	Backup(ctx context.Context, dir string, progress func(done, total uint64)) error
}

// An EntryError is returned by Load for an entry that cannot follow the entries before it.
type EntryError struct {
	Seq    uint64
	Key    string // key of the name, prefix of the authority, or ID of the user; "" if the entry has none
	Reason string // what is wrong, for people to read
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("store: change %d of the log (%s): %s", e.Seq, shorten(e.Key), e.Reason)
}

// Follow returns the step that a store must write to load the entry e, as [Plan] does for a change.
// The function last must return the last stored change of a subject, or nil if the subject has
// none. The step shares no memory with e. If last returns an error, Follow returns it. If no store
// could have written e after the last change of its subject, Follow returns an [*EntryError].
// Follow does not check the digest of e.
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

// place returns the subject of the entry e. If no log can contain e, it also returns the reason,
// otherwise "".
func place(e *Entry) (Subject, string) {
	if e.Change == nil {
		return Subject{}, "it has no change"
	}
	if flaw := misshapen(e.Change); flaw != "" {
		return Subject{}, flaw
	}
	if e.Change.Token != nil {
		return Subject{}, "a token cannot be in the log"
	}
	return e.Change.Subject(), ""
}

// strange checks whether a store could have stored the change c after the previous change. If so, it
// returns "", otherwise the reason why not. The parameter normal is c in normal form.
func strange(previous, c, normal *Change) string {
	if c.Expected != normal.Expected {
		return fmt.Sprintf("revision %d after revision %d", c.Revision(), previous.Revision())
	}
	if !normal.equal(c) {
		return "not in the normal form of a stored change"
	}
	if _, err := measure(0, normal); err != nil {
		return err.Error()
	}
	if rule := brokenRule(previous, normal); rule != "" {
		return rule
	}
	return overreach(normal)
}

// equal reports whether the changes c and o are equal in all that a store keeps. Both must have the
// same subject.
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
	case c.User != nil:
		return c.User.SameContent(o.User) && c.User.Modified.Equal(o.User.Modified) && c.User.Revision == o.User.Revision
	case c.Rights != nil:
		return c.Rights.SameContent(o.Rights) && c.Rights.Modified.Equal(o.Rights.Modified) && c.Rights.Revision == o.Rights.Revision
	}
	return true
}
