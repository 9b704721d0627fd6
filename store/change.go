package store

import (
	"fmt"
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
// history.
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
}

// A Result tells what became of a change.
type Result struct {
	Revision uint64 // after the change; 0 for tokens
	Changed  bool   // false when the content was already so: nothing was written
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
