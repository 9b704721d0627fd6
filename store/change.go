package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nomen-project/nomen/name"
)

// AnyRevision in the field Expected of a [Change] permits every revision, and also a subject that
// does not exist yet.
const AnyRevision = ^uint64(0)

// A Change is one write to a store, and one entry of its history. Exactly one of the fields Record,
// Authority, Token, User, Rights and Delete is set. That field identifies the subject of the
// change.
//
// Every change makes a new revision of its subject. For a change in the history, Expected is the
// revision that the change replaced, Expected+1 is the revision that it made, and Time is when it
// was made. Applying the changes of a history in order to another store makes the same history,
// except for content that a redaction has removed.
type Change struct {
	Record    *Record      // the new record, which replaces the whole old one
	Authority *Authority   // the new authority, which replaces the whole old one
	Token     *Token       // a token to add, or to replace the token with its ID
	User      *User        // the new user, which replaces the whole old one
	Rights    *TokenRights // the new rights of a token, which replace all the old ones
	Delete    name.Name    // a reserved name to delete; without a record, nothing changes

	// Expected is the revision that the record, authority or user must have before the change: 0 if
	// it must not exist yet, or [AnyRevision]. The store ignores Expected for tokens.
	Expected uint64

	Time time.Time // time of the change, stored in UTC and whole milliseconds; never before the last change of the subject
	Who  string    // who makes the change; "" for the operator of the machine
	Why  string    // the reason given for the change

	// AnyTime permits a Time that is more than [MaxSkew] before the last change of the subject.
	// AnyTime is not stored.
	AnyTime bool

	// Batch is a common ID of all changes that a single import, relocation or undo made. It is ""
	// for a single change, and for a change of a token.
	Batch string

	// UseOnly restricts the change to the day on which a token was last used. The store then reads
	// only the fields ID and Used of Token. If the token does not exist, or if the stored day is
	// not before Used, the store writes nothing.
	UseOnly bool

	// Redacts lists the earlier revisions of the subject whose content is to be removed
	// permanently, in ascending order. Such a change makes a new revision even if the content stays
	// the same. The caller must make sure that the new revision does not contain the removed
	// content. Redacts must be empty for a token.
	Redacts []uint64

	// Split means that the digest of the change is computed from separate hashes of the public and
	// the private content. The public content can then be proved without the private content (see
	// [Change.HasPrivate]). The store sets Split.
	Split bool

	// Redacted means that a later change has removed the content of this change (see
	// [Change.Redact]). The store sets Redacted.
	Redacted bool
}

// A Result says what a change did.
type Result struct {
	Revision uint64 `json:"revision,omitempty"` // revision after the change; 0 for tokens
	Changed  bool   `json:"changed"`            // false if nothing was written because the new content equals the old
}

// A Kind says what a [Subject] is.
type Kind uint8

// The kinds of subjects.
const (
	KindName Kind = iota + 1
	KindAuthority
	KindToken
	KindUser
	KindTokenRights
)

// A Subject identifies what a change is about: a name, an authority, a token, a user, or
// the rights of a token. Subjects are comparable.
type Subject struct {
	Kind Kind
	Key  string // key of the name, prefix of the authority, or ID of the token or user
}

// Subject returns the subject of c, or the zero Subject if c has none.
func (c *Change) Subject() Subject {
	switch {
	case c.Record != nil:
		return Subject{KindName, c.Record.Name.Key()}
	case c.Authority != nil:
		return Subject{KindAuthority, c.Authority.Prefix.String()}
	case c.Token != nil:
		return Subject{KindToken, c.Token.ID}
	case c.User != nil:
		return Subject{KindUser, c.User.ID}
	case c.Rights != nil:
		return Subject{KindTokenRights, c.Rights.ID}
	case !c.Delete.IsZero():
		return Subject{KindName, c.Delete.Key()}
	}
	return Subject{}
}

// Clone returns a deep copy of c in normal form.
func (c *Change) Clone() *Change {
	n := *c
	n.Time = wholeMillis(c.Time)
	n.Redacts = cloneList(c.Redacts)
	slices.Sort(n.Redacts)
	n.Redacts = slices.Compact(n.Redacts)
	switch {
	case c.Record != nil:
		n.Record = c.Record.Clone()
	case c.Authority != nil:
		n.Authority = c.Authority.Clone()
	case c.Token != nil:
		n.Token = c.Token.Clone()
	case c.User != nil:
		n.User = c.User.Clone()
	case c.Rights != nil:
		n.Rights = c.Rights.Clone()
	}
	return &n
}

// Redact returns what remains of the stored change c after its redaction: the subject, the
// revision, the time, the status of a record, and Redacts. Everything else is removed, including
// Who, Why and Batch.
func (c *Change) Redact() *Change {
	n := &Change{
		Delete:   c.Delete,
		Expected: c.Expected,
		Time:     c.Time,
		Redacts:  cloneList(c.Redacts),
		Redacted: true,
	}
	switch {
	case c.Record != nil:
		r := c.Record
		n.Record = &Record{
			Name: r.Name, Spelling: r.Name.Key(), Status: r.Status,
			Modified: r.Modified, Revision: r.Revision, Redacted: true,
		}
	case c.Authority != nil:
		a := c.Authority
		n.Authority = &Authority{Prefix: a.Prefix, Modified: a.Modified, Revision: a.Revision, Redacted: true}
	case c.User != nil:
		u := c.User
		n.User = &User{ID: u.ID, Modified: u.Modified, Revision: u.Revision, Redacted: true}
	case c.Rights != nil:
		r := c.Rights
		n.Rights = &TokenRights{ID: r.ID, Modified: r.Modified, Revision: r.Revision, Redacted: true}
	}
	return n
}

// Records returns 1 if c is a change to a record, and otherwise 0. A store adds these numbers for
// the last changes of all subjects to count its records.
func (c *Change) Records() int64 {
	if c == nil || c.Record == nil {
		return 0
	}
	return 1
}

// HasValues reports whether c is a change to a record that has typed values, or locations that are
// views of typed values.
func (c *Change) HasValues() bool {
	if c.Record == nil {
		return false
	}
	return len(c.Record.Values) > 0 || slices.ContainsFunc(c.Record.Locations, isView)
}

// HasPrivate reports whether c is a change of a record with content that is not public. The author,
// the batch and private values are not public. The reason is not public unless the change redacts
// other revisions. Locations can be hidden (see [Record.HidesLocations]).
func (c *Change) HasPrivate() bool {
	return c.Record != nil && !c.Redacted &&
		(c.Who != "" || c.Batch != "" || c.Why != "" && len(c.Redacts) == 0 || c.Record.hasPrivateValues() || c.Record.HidesLocations())
}

// SplitDigests sets Split in those changes of the steps that have private content. A store calls it
// for each batch after [Splitter] has enabled split digests.
func SplitDigests(steps []Step) {
	for _, s := range steps {
		s.Next.Split = s.Next.HasPrivate()
	}
}

// A Splitter is a store that can compute split digests of changes (see [Change]).
type Splitter interface {
	// SplitDigests enables split digests for all later changes with private content. The setting is
	// stored and cannot be reversed. Programs of earlier versions cannot open the store afterwards.
	SplitDigests(ctx context.Context) error
}

// A ConflictError reports that the current revision of a subject is not the revision that a change
// expected.
type ConflictError struct {
	Index    int    // position of the change in its batch, from 0
	Key      string // key of the name, prefix of the authority, or ID of the user
	Expected uint64
	Current  uint64 // current revision, or 0
}

func (e *ConflictError) Error() string {
	switch {
	case e.Expected == 0:
		return fmt.Sprintf("store: %s exists already (revision %d)", e.Key, e.Current)
	case e.Current == 0:
		return fmt.Sprintf("store: %s does not exist, revision %d was expected", e.Key, e.Expected)
	}
	return fmt.Sprintf("store: %s was modified concurrently (revision %d, expected %d)", e.Key, e.Current, e.Expected)
}

// A StateError reports that the state of the subject does not allow a change, for example the
// deletion of an active name.
type StateError struct {
	Index int
	Key   string
	Rule  string // the rule that the change violates, for people to read
	Clock bool   // the change is rejected because it is too much earlier than the last change; AnyTime would allow it
}

func (e *StateError) Error() string { return fmt.Sprintf("store: %s: %s", e.Key, e.Rule) }

// A ChangeError reports a malformed change, which every store rejects. It indicates a bug in the
// caller.
type ChangeError struct {
	Index  int
	Reason string // what is wrong, for people to read
}

func (e *ChangeError) Error() string {
	return fmt.Sprintf("store: change %d of the batch: %s", e.Index, e.Reason)
}
