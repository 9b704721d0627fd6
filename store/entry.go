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

// An Entry is a change to a record, an authority, a user or the rights of a token, together with
// its position in the store's log of changes. Tokens are secrets, so their changes are not in the log.
type Entry struct {
	Seq    uint64         // position in the log, from 1, without gaps
	Change *Change        // the change in its stored form
	Salt   [SaltSize]byte // random bytes, so that Digest does not reveal the content; zero if redacted
	Digest [32]byte       // digest of salt and content; a redaction does not change it
}

// A Head identifies a state of a log of changes. Two stores with equal heads have had the same
// changes in the same order. The zero Head is the head of an empty log.
type Head struct {
	Size uint64   // number of sealed changes
	Hash [32]byte // root of the Merkle tree over these changes (RFC 6962, 2.1)
}

// String returns h in the form SIZE:HASH, with the hash in hexadecimal.
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

// A Feed is a Reader that can return its log of changes.
type Feed interface {
	// Changes yields the entries whose Seq is greater than the parameter after, in the order of
	// Seq. It yields the entries that are sealed at the time of the call. A sealed entry has its
	// final Seq. A change is sealed at most a second after its Apply returned. Because entries are
	// sealed in the order of Seq, a caller that always passes the last Seq that it has read misses
	// no entry.
	Changes(ctx context.Context, after uint64) iter.Seq2[*Entry, error]

	// Head returns the head of the log, which covers all sealed entries.
	Head(ctx context.Context) (Head, error)
}

// A Prover is a Feed that can prove what its log contains, by Merkle proofs that a client checks
// against a head (RFC 6962, 2.1.1 and 2.1.2). A proof is a list of hashes in the order of the RFC.
// docs/reference/files.md describes the leaves of the tree.
type Prover interface {
	// ProveEntry returns the proof that the log contains the entry seq when it has the given size.
	ProveEntry(ctx context.Context, size, seq uint64) ([][32]byte, error)

	// ProveHead returns the proof that the log with later entries continues the log with earlier
	// entries.
	ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error)
}

// A Loader is a Store that can load the log of another store.
type Loader interface {
	// Load fills an empty store with all entries of another store, in the order in which Changes
	// yields them. Afterwards both stores have the same history, times, revisions, salts and head.
	// Tokens are not loaded. Load returns an [*EntryError] if the store already contains other
	// data, or if an entry cannot follow the entry before it.
	//
	// If Load fails, the store keeps the entries loaded so far. Another call with the same entries
	// continues after them; it fails if the store contains an entry that is not among these
	// entries.
	Load(ctx context.Context, entries iter.Seq2[*Entry, error]) error
}

// A Place is a location together with a name that has this location.
type Place struct {
	URL  string
	Name name.Name
}

// A Finder is a Reader with an index of locations.
type Finder interface {
	// Find yields the current locations whose URLs begin with prefix, each with its name. It yields
	// each pair of URL and name once, sorted by URL and then by key, and only pairs greater than
	// the parameter after; a zero after excludes no pair. Find includes the locations of reserved
	// and retired names, but not locations of earlier revisions.
	Find(ctx context.Context, prefix string, after Place) iter.Seq2[Place, error]
}

// A Fault is a problem that a [Verifier] found.
type Fault struct {
	Subject Subject // what the problem is about; zero for the store itself
	Seq     uint64  // number of the log entry, or 0
	Problem string  // what is wrong and what was expected, for people to read
}

// A Verifier is a Store that can check its own integrity.
type Verifier interface {
	// Verify checks the state that the store has at one moment:
	//
	//   - every record, authority and revision against the entries of the log;
	//   - the entries against the Merkle tree;
	//   - every index against the records.
	//
	// Therefore Verify finds every change that was altered, removed, added or moved. It calls fault
	// for each problem and continues; it stops early only if reading fails. If progress is not nil,
	// Verify calls it regularly with the number of changes verified so far and the number of
	// changes in the log. Verify returns the head that it has computed.
	Verify(ctx context.Context, fault func(Fault), progress func(done, total uint64)) (Head, error)
}

// A HeadError reports that a log does not continue an earlier state of it, which is known by its
// head.
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
	// Backup copies the state that the store has at one moment to the directory dir, which must not
	// exist or must contain an earlier backup of the same store. In the latter case, Backup copies
	// only files that have changed. If progress is not nil, Backup calls it regularly with the
	// number of bytes copied so far and the total.
	Backup(ctx context.Context, dir string, progress func(done, total uint64)) error
}

// An EntryError reports an entry that Load cannot put after the entries before it.
type EntryError struct {
	Seq    uint64
	Key    string // key of the name, prefix of the authority, or ID of the user; "" if the entry has none
	Reason string // what is wrong, for people to read
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("store: change %d of the log (%s): %s", e.Seq, shorten(e.Key), e.Reason)
}

// Follow returns the step that a store must write to load the entry e, as [Plan] does for a change.
// The function last must return the last stored change of a subject, or nil; if it fails, Follow
// returns its error. If no store could have written e after that change, Follow returns an
// [*EntryError].
//
// The step shares no memory with e. Follow does not check the digest of e.
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

// CheckEntry returns an [*EntryError] if no store could have the entry e, whatever the entries before
// it. It does not check the digest.
func CheckEntry(e *Entry) error {
	subject, reason := place(e)
	if reason == "" {
		_, err := measure(0, e.Change)
		if err == nil {
			return nil
		}
		reason = err.Error()
	}
	return &EntryError{e.Seq, subject.Key, reason}
}

// place returns the subject of e, and the reason why no log can contain e, or "".
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

// strange returns why no store could have stored the change c after previous, or "". The parameter
// normal is c in normal form.
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
	if c.Split && !c.HasPrivate() {
		return "its digest is split, but it has no private content"
	}
	if rule := brokenRule(previous, normal); rule != "" {
		return rule
	}
	return overreach(normal)
}

// equal reports whether two changes of a subject are equal in everything that a store keeps.
func (c *Change) equal(o *Change) bool {
	if !c.Time.Equal(o.Time) || c.Who != o.Who || c.Why != o.Why || c.Batch != o.Batch ||
		c.Split != o.Split || c.Redacted != o.Redacted || !slices.Equal(c.Redacts, o.Redacts) {
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
