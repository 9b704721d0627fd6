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

// An Entry is a change in the log of changes of a store, with its position. The log contains the
// changes of records, authorities, users and the rights of tokens. It does not contain changes of
// tokens, which are secrets.
type Entry struct {
	Seq    uint64         // position in the log, from 1, without gaps
	Change *Change        // the change in its stored form
	Salt   [SaltSize]byte // random bytes, so that Digest does not reveal the content; zero if redacted
	Digest [32]byte       // digest of salt and content; a redaction does not change it
}

// A Head identifies a state of a log of changes. Stores with equal heads have the same changes in
// the same order. The zero Head is the head of an empty log.
type Head struct {
	Size uint64   // number of sealed changes
	Hash [32]byte // root of the Merkle tree over these changes (RFC 6962, section 2.1)
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
	// Changes yields the sealed entries whose Seq is greater than the parameter after, in the order
	// of Seq. A sealed entry has its final position in the log. A change is sealed at most a second
	// after Apply has returned. Entries are sealed in the order of Seq. A caller that passes the
	// last Seq it has read therefore misses no entry.
	Changes(ctx context.Context, after uint64) iter.Seq2[*Entry, error]

	// Head returns the head of the log, which covers all sealed entries.
	Head(ctx context.Context) (Head, error)
}

// A Prover is a Feed that can prove the content of its log. A client verifies the Merkle proofs
// with the head of the log (RFC 6962, sections 2.1.1 and 2.1.2). A proof is a list of hashes in the
// order of the RFC. docs/reference/files.md describes the leaves of the tree.
type Prover interface {
	// ProveEntry returns the proof that the log at the given size contains the entry number seq.
	ProveEntry(ctx context.Context, size, seq uint64) ([][32]byte, error)

	// ProveHead returns the proof that a state of the log continues an earlier state. The
	// parameters are the sizes of the log in the two states.
	ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error)
}

// A Loader is a Store that can load the log of another store.
type Loader interface {
	// Load fills an empty store with all entries of another store. The entries must be in the order
	// in which Changes yields them. Afterwards both stores have the same history, times, revisions,
	// salts and head. Tokens are not loaded. Load returns an [*EntryError] if the store contains
	// other data, or if an entry cannot follow the previous entry.
	//
	// If Load fails, the store keeps the entries that were loaded before the error. Another call
	// with the same entries continues the load. It fails if the store contains other entries.
	Load(ctx context.Context, entries iter.Seq2[*Entry, error]) error
}

// A Place is a URL together with a name that has this URL as a location.
type Place struct {
	URL  string
	Name name.Name
}

// A Finder is a Reader with an index of locations.
type Finder interface {
	// Find yields the current locations whose URLs begin with prefix, each with its name. The
	// places are sorted by URL and then by the key of the name, without duplicates. Find starts
	// after the place given by the parameter after; the zero Place means the beginning. Find
	// includes the locations of reserved and retired names. It does not include the locations of
	// earlier revisions.
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
	// Verify checks the state of the store at one moment:
	//
	//   - every record, authority and revision against the entries of the log;
	//   - the entries against the Merkle tree;
	//   - every index against the records.
	//
	// These checks find every change that was altered, removed, added or moved. Verify calls fault
	// for each problem, and stops early only if reading fails. If progress is not nil, Verify calls
	// it regularly with the number of changes that were verified and the number of changes in the
	// log. Verify returns the head that it has computed.
	Verify(ctx context.Context, fault func(Fault), progress func(done, total uint64)) (Head, error)
}

// A HeadError reports that a log does not continue an earlier state with a known head.
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
	// Backup copies the state of the store at one moment to the directory dir. If dir contains an
	// earlier backup of the same store, Backup replaces it and copies only files that have changed.
	// Otherwise dir must not exist. If progress is not nil, Backup calls it regularly with the
	// number of bytes copied so far and the total.
	Backup(ctx context.Context, dir string, progress func(done, total uint64)) error
}

// An EntryError reports an entry that cannot follow the previous entries.
type EntryError struct {
	Seq    uint64
	Key    string // key of the name, prefix of the authority, or ID of the user; "" if the entry has none
	Reason string // what is wrong, for people to read
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("store: change %d of the log (%s): %s", e.Seq, shorten(e.Key), e.Reason)
}

// Follow returns the step that a store must write to load the entry e. It is the counterpart of
// [Plan] for loading. The function last must return the last stored change of a subject, or nil. If
// last fails, Follow returns its error. If no store could have written e after the last change of
// its subject, Follow returns an [*EntryError].
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

// CheckEntry returns an [*EntryError] if the entry e cannot be in any log. It checks neither the
// previous entries nor the digest.
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

// place returns the subject of e, and the reason why no log can contain e. The reason is "" if a log
// can contain e.
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

// strange returns the reason why no store could have stored the change c after the change previous,
// or "". The parameter normal is c in normal form.
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

// equal reports whether two changes of a subject are equal, without the fields that are not stored.
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
