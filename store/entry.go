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

// An Entry is a change of a record, an authority or a user, with its position in the log of
// changes of a store. Tokens are secrets and are not in the log.
type Entry struct {
	Seq    uint64         // from 1, without gaps
	Change *Change        // in the form in which a store keeps it
	Salt   [SaltSize]byte // random, so that Digest does not reveal the content; zero if redacted
	Digest [32]byte       // of salt and content; unchanged by a redaction
}

// A Head identifies the state of a log of changes: two stores with equal heads have had the same
// changes in the same order. The zero Head is the head of an empty log.
type Head struct {
	Size uint64   // number of sealed changes
	Hash [32]byte // root of the Merkle tree over them (RFC 6962, 2.1)
}

// String returns the head as SIZE:HASH.
func (h Head) String() string { return fmt.Sprintf("%d:%x", h.Size, h.Hash) }

// ParseHead parses SIZE:HASH.
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
	// Changes yields, in order, the entries with a Seq greater than after that are sealed at the
	// time of the call. A sealed entry has its final Seq. A change is sealed at most a second
	// after its Apply returned. Entries are sealed in the order of Seq: a caller that always
	// passes the last Seq that it has seen misses no entry.
	Changes(ctx context.Context, after uint64) iter.Seq2[*Entry, error]

	// Head returns the head of the sealed entries.
	Head(ctx context.Context) (Head, error)
}

// A Prover is a Feed that returns Merkle proofs about its log, to be checked against a
// head (RFC 6962, 2.1.1 and 2.1.2). docs/reference/files.md describes the leaves; the
// proofs are hashes in the order of the RFC.
type Prover interface {
	// ProveEntry proves that the log at the given size contains entry seq.
	ProveEntry(ctx context.Context, size, seq uint64) ([][32]byte, error)

	// ProveHead proves that the log at size later begins with the log at size earlier.
	ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error)
}

// A Loader is a Store that can load the entries of another.
type Loader interface {
	// Load fills an empty store with all entries of another store, as Changes yields them from
	// the first on. Afterwards both stores have the same history, times, revisions, salts and
	// head. Tokens are not loaded. The error is an [*EntryError] if the store has other data,
	// or if an entry does not follow the entry before it.
	//
	// If Load fails, the entries loaded so far stay in the store. Another Load with the same
	// entries continues after them. It fails if the store has other entries than these, or more of
	// them.
	Load(ctx context.Context, entries iter.Seq2[*Entry, error]) error
}

// A Place is a location and the name that has it.
type Place struct {
	URL  string
	Name name.Name
}

// A Finder is a Reader with an index of locations.
type Finder interface {
	// Find yields the current locations whose URLs begin with the bytes of prefix, each pair of
	// URL and name once. The order is the byte order of the URLs, and for equal URLs that of the
	// keys of the names. Find begins with the first pair greater than after; a zero after means
	// the very first pair. It includes the locations of reserved and retired names, but not
	// those of earlier revisions.
	Find(ctx context.Context, prefix string, after Place) iter.Seq2[Place, error]
}

// A Fault is a problem found by a [Verifier].
type Fault struct {
	Subject Subject // zero for the store itself
	Seq     uint64  // number of the entry, 0 if none
	Problem string  // what is wrong, and what was expected, for people
}

// A Verifier is a Store that can verify its own integrity.
type Verifier interface {
	// Verify checks the state of the store at one moment:
	//
	//   - every record, authority and revision against the entries of the log;
	//   - the entries against the Merkle tree;
	//   - every index against the records.
	//
	// So it finds every change that was altered, removed, added or moved. It calls fault for each
	// problem and continues; it returns early only if reading fails. It regularly calls progress,
	// if not nil, with the number of changes verified and the number of changes in the log. It
	// returns the head that it computed.
	Verify(ctx context.Context, fault func(Fault), progress func(done, total uint64)) (Head, error)
}

// A HeadError is returned when a log does not continue the log of an earlier head.
type HeadError struct {
	Since  Head   // the earlier head
	Size   uint64 // of the log
	Reason string
}

func (e *HeadError) Error() string {
	return fmt.Sprintf("store: head %s: %s", e.Since, e.Reason)
}

// A Backuper is a Store that can be backed up while it is in use.
type Backuper interface {
	// Backup copies the state of the store at one moment to the directory dir. Either dir does
	// not exist, or it has an earlier backup of the same store: then only files that have changed
	// are copied. Backup regularly calls progress, if not nil, with the number of bytes done and
	// the total.
	Backup(ctx context.Context, dir string, progress func(done, total uint64)) error
}

// An EntryError is returned by Load for an entry that cannot follow those before it.
type EntryError struct {
	Seq    uint64
	Key    string // of the name, authority or user, "" if it has none
	Reason string // for people
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("store: change %d of the log (%s): %s", e.Seq, shorten(e.Key), e.Reason)
}

// Follow returns the step that a store must write to load e, as [Plan] does for changes. The
// function last returns the last stored change of a subject, or nil if it has none. The step
// shares no memory with e. If last fails, Follow returns the error of last. If no store could have
// recorded e after the last change, Follow returns an [*EntryError]. Follow does not check the
// digest of e.
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

// place returns the subject of e, and the reason why no log can contain e. The reason is "" if a
// log can contain e.
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

// strange returns the reason why no store could have stored c after last. It returns "" if a store
// could have done so. next is the normal form of c.
func strange(last, c, next *Change) string {
	if c.Expected != next.Expected {
		return fmt.Sprintf("revision %d after revision %d", c.Revision(), last.Revision())
	}
	if !next.equal(c) {
		return "not in the normal form of a stored change"
	}
	if _, err := measure(0, next); err != nil {
		return err.Error()
	}
	if rule := brokenRule(last, next); rule != "" {
		return rule
	}
	return overreach(next)
}

// equal reports whether c and o, of the same subject, are equal in everything that a
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
	case c.User != nil:
		return c.User.SameContent(o.User) && c.User.Modified.Equal(o.User.Modified) && c.User.Revision == o.User.Revision
	}
	return true
}
