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

// An Entry is a change of a record or an authority, with its position in the log of
// changes of a store. Tokens are secrets and are not in the log.
type Entry struct {
	Seq    uint64         // from 1, without gaps
	Change *Change        // in the form in which a store keeps it
	Salt   [SaltSize]byte // random, so that Digest does not reveal the content; zero if redacted
	Digest [32]byte       // of salt and content; unchanged by a redaction
}

// A Head identifies the state of a log of changes: two stores whose heads are equal
// have had the same changes in the same order. The zero Head is that of an empty log.
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
	// Changes yields the sealed entries with a Seq greater than after, in order, up to the last
	// one at the time of the call. A change is sealed at most a second after its Apply
	// returned. Entries are sealed in the order of Seq, so a caller that passes the last Seq
	// that it has seen misses no entry.
	Changes(ctx context.Context, after uint64) iter.Seq2[*Entry, error]

	// Head returns the head of the sealed entries.
	Head(ctx context.Context) (Head, error)
}

// A Prover is a Feed that returns Merkle proofs about its log, to be checked against a
// head (RFC 6962, 2.1.1 and 2.1.2). docs/reference/files.md describes the leaves; the
// proofs are hashes in the order of the RFC.
type Prover interface {
	// ProveEntry proves that the log of the first size entries contains entry seq.
	ProveEntry(ctx context.Context, size, seq uint64) ([][32]byte, error)

	// ProveHead proves that the log of the first later entries begins with the log of the
	// first earlier ones.
	ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error)
}

// A Loader is a Store that can load the entries of another.
type Loader interface {
	// Load fills an empty store with entries as Changes yields them, beginning with the first.
	// Afterwards s has the same history, times, revisions, salts and head as the other store.
	// Tokens are not loaded. If the store is not empty, or an entry does not follow the one
	// before it, the error is an [*EntryError]. Entries loaded before an error stay. Another
	// Load continues after them; it fails if the loaded entries differ from the entries given,
	// or if there are more loaded entries than given ones.
	Load(ctx context.Context, entries iter.Seq2[*Entry, error]) error
}

// A Place is a location and the name that has it.
type Place struct {
	URL  string
	Name name.Name
}

// A Finder is a Reader with an index of locations.
type Finder interface {
	// Find yields the current locations whose URLs begin with the bytes of prefix, in the byte
	// order of their URLs and then of the names' keys, each pair once. It begins after the pair
	// after, or at the first pair if after is zero. It includes the locations of reserved and
	// retired names, but not those of earlier revisions.
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
	// Verify checks, as of one moment, every record, authority and revision against the
	// entries, the entries against the Merkle tree, and every index against the records. It
	// calls fault for each problem and continues; it returns early only if reading fails. It
	// finds and names every change that was altered, removed, added or moved. It regularly
	// calls progress, if not nil, with the number of changes verified and the number of changes
	// in the log. It returns the head that it computed.
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
	// Backup copies the store, as of one moment, to dir. The directory must not exist, or
	// must hold an earlier backup of the same store; files that have not changed since are
	// not copied again. It regularly calls progress, if not nil, with the number of bytes
	// done and the total.
	Backup(ctx context.Context, dir string, progress func(done, total uint64)) error
}

// An EntryError is returned by Load for an entry that cannot follow those before it.
type EntryError struct {
	Seq    uint64
	Key    string // of the name or the authority, "" if it has none
	Reason string // for people
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("store: change %d of the log (%s): %s", e.Seq, shorten(e.Key), e.Reason)
}

// Follow returns the step that a store must write to load e, as [Plan] does for changes. The
// function last returns the last stored change of a subject, or nil if there is none. The step
// shares no memory with e. The error is the one that last returned, or an [*EntryError] if no
// store could have recorded the change of e in this form. The caller must check the digest.
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

// place returns the subject of e, and the reason why no log can contain e; "" if a log can.
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

// strange returns the reason why no store could have stored c after last; "" if a store could.
// next is the normal form of c.
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
	}
	return true
}
