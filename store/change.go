package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/nomen-project/nomen/name"
)

// AnyRevision as the expected revision of a change applies it to whatever
// revision is there, or to none.
const AnyRevision = ^uint64(0)

// A Change is the unit of writing, and of history. Exactly one of Record,
// Authority, Token and Delete is set.
//
// A change that a store has kept is in normal form: Expected is the revision
// that it replaced, so that its own is one more, and Time is the time of that
// revision. Applied again in their order, the changes of a history give the same
// history, unless content was redacted.
type Change struct {
	Record    *Record    // the new content of a record, replacing all of it
	Authority *Authority // the new content of an authority
	Token     *Token     // a token to be added, or replaced under its ID
	Delete    name.Name  // a reserved name that is to go; a name that is not there stays so

	// Expected is the revision that the record or authority must have now: 0
	// for "does not exist", or AnyRevision. Tokens have none.
	Expected uint64

	Time time.Time // when; rounded down to milliseconds, UTC, and never before the last change of the same name
	Who  string    // who made it; "" for the operator of the machine
	Why  string    // in the words of who made it

	// AnyTime accepts a Time that is more than [MaxSkew] before the last change of the
	// same subject. A store does not keep it.
	AnyTime bool

	// Batch is the ID that the changes of one import, relocation or undo have in
	// common; "" for a change that was made alone. A token has none.
	Batch string

	// UseOnly makes the change of a token one that notes its day of use: of Token only ID
	// and Used count, all else stays as it is, who made the token included. Nothing is
	// written if there is no such token, or the day is not later than the one noted.
	UseOnly bool

	// Redacts are earlier revisions of the same subject whose content this change
	// removes for ever, ascending. Such a change is always a revision of its own,
	// with content of its own: what is to go from the present must be gone from it.
	// A token has none.
	Redacts []uint64

	// Redacted is set by a store when a later change has removed the content of
	// this one: see Redact.
	Redacted bool
}

// A Result tells what became of a change.
type Result struct {
	Revision uint64 `json:"revision,omitempty"` // after the change; 0 for tokens
	Changed  bool   `json:"changed"`            // false when the content was already so: nothing was written
}

// A Kind says what kind of thing a change is about.
type Kind uint8

// The kinds of subjects.
const (
	KindName Kind = iota + 1
	KindAuthority
	KindToken
)

// A Subject is what a change is about: changes of the same subject follow each
// other. Subjects are comparable.
type Subject struct {
	Kind Kind
	Key  string // of the name, prefix of the authority, or ID of the token
}

// Subject returns what c is about, the zero Subject if nothing.
func (c *Change) Subject() Subject {
	switch {
	case c.Record != nil:
		return Subject{KindName, c.Record.Name.Key()}
	case c.Authority != nil:
		return Subject{KindAuthority, c.Authority.Prefix.String()}
	case c.Token != nil:
		return Subject{KindToken, c.Token.ID}
	case !c.Delete.IsZero():
		return Subject{KindName, c.Delete.Key()}
	}
	return Subject{}
}

// Clone returns a copy in normal form that shares nothing with c.
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
	}
	return &n
}

// Redact returns what is left of c, a change that a store has kept, when a later
// change redacts it: what it is about, the status of a record, revision and time,
// and what it redacted itself. Who, Why and Batch are content too.
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
	}
	return n
}

// A ConflictError is returned for a change that expected another revision.
type ConflictError struct {
	Index    int    // of the change in its batch
	Key      string // of the name, or the authority's prefix
	Expected uint64
	Current  uint64 // 0 if there is none
}

func (e *ConflictError) Error() string {
	switch {
	case e.Expected == 0:
		return fmt.Sprintf("store: %s exists already (revision %d)", e.Key, e.Current)
	case e.Current == 0:
		return fmt.Sprintf("store: %s does not exist, revision %d was expected", e.Key, e.Expected)
	}
	return fmt.Sprintf("store: %s has revision %d, not %d: somebody changed it in between", e.Key, e.Current, e.Expected)
}

// A StateError is returned for a change that would make a name forgotten or
// reassigned.
type StateError struct {
	Index int
	Key   string
	Rule  string // in words
}

func (e *StateError) Error() string { return fmt.Sprintf("store: %s: %s", e.Key, e.Rule) }

// A ChangeError is returned for what is no change, whatever the store holds: a
// mistake of the program that made it.
type ChangeError struct {
	Index  int
	Reason string // in words
}

func (e *ChangeError) Error() string {
	return fmt.Sprintf("store: change %d of the batch: %s", e.Index, e.Reason)
}
