package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/nomen-project/nomen/name"
)

// AnyRevision is a value of [Change].Expected. It accepts any current revision, and also a subject
// that does not exist.
const AnyRevision = ^uint64(0)

// A Change is the unit of writing and of history. Exactly one of the fields Record, Authority,
// Token, User, Rights and Delete is
// set.
//
// A change makes a new revision of its subject. In a stored change, Expected is the number of the
// previous revision. So the new revision has the number Expected plus one. Time is the time of the
// new revision. Applying the changes of a history again, in order, gives the same history, unless
// content was redacted.
type Change struct {
	Record    *Record      // the new record, which replaces the old one entirely
	Authority *Authority   // the new authority, which replaces the old one entirely
	Token     *Token       // a token to add, or to put in place of the token with the same ID
	User      *User        // the new user, which replaces the old one entirely
	Rights    *TokenRights // the new rights of a token, which replace the old ones entirely
	Delete    name.Name    // a reserved name to delete; deleting a name without a record changes nothing

	// Expected is the revision that the record, authority or user must have before the change. It
	// is 0 if the subject must not exist, or [AnyRevision]. Tokens ignore it.
	Expected uint64

	Time time.Time // when the change is made; stored in UTC and whole milliseconds, and not before the last change of the subject
	Who  string    // who makes the change; "" for the operator of the machine
	Why  string    // the reason given for the change

	// AnyTime allows a Time that is more than [MaxSkew] earlier than the last change of the same
	// subject. It is not stored.
	AnyTime bool

	// Batch is an ID that all changes of one import, relocation or undo have. It is "" for a single
	// change, and for a change of a token.
	Batch string

	// With UseOnly, the change sets only the day on which a token was last used. Of the field Token,
	// only ID and Used are read. If the token does not exist, or if the stored day is Used or
	// later, nothing is written.
	UseOnly bool

	// Redacts lists earlier revisions of the same subject, in ascending order. The change
	// permanently removes their content. A change with Redacts always makes a new revision, even if
	// the content stays the same. The caller must make sure that the new revision does not have the
	// content that is to be removed. For a token, Redacts must be empty.
	Redacts []uint64

	// Redacted is set by the store if a later change has removed the content of this change: see
	// [Change.Redact].
	Redacted bool
}

// A Result is what a change has done.
type Result struct {
	Revision uint64 `json:"revision,omitempty"` // revision after the change; 0 for tokens
	Changed  bool   `json:"changed"`            // false if the new content is the same as the old, so nothing was written
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

// A Subject identifies what a change is about: a name, an authority, a token, a user, or the rights
// of a token. Subjects can be compared with ==.
type Subject struct {
	Kind Kind
	Key  string // key of the name, prefix of the authority, or ID of the token or user
}

// Subject returns the subject of c. If c has none, it returns the zero Subject.
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

// Redact returns what remains of the stored change c after a later change has redacted it. This is
// the subject, the revision, the time, the status of a record, and Redacts. Who, Why and Batch are
// content too, and are removed.
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

// Records returns how many records the subject of c has after the change. This is 1 if c is a
// change to a record. It is 0 for all other changes, and
// for nil.
func (c *Change) Records() int64 {
	if c == nil || c.Record == nil {
		return 0
	}
	return 1
}

// HasValues reports whether c is a change to a record with typed values, or with locations that are
// views of values.
func (c *Change) HasValues() bool {
	if c.Record == nil {
		return false
	}
	return len(c.Record.Values) > 0 || slices.ContainsFunc(c.Record.Locations, isView)
}

// A ConflictError is returned if the current revision is not the revision that a change expects.
type ConflictError struct {
	Index    int    // position of the change in its batch, from 0
	Key      string // key of the name, prefix of the authority, or ID of the user
	Expected uint64
	Current  uint64 // current revision; 0 if there is none
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

// A StateError is returned for a change that the state of its subject does not allow. An example is
// the deletion of an active name.
type StateError struct {
	Index int
	Key   string
	Rule  string // the rule that the change violates, for people to read
	Clock bool   // the change is rejected because it is too much earlier than the last one; AnyTime would allow it
}

func (e *StateError) Error() string { return fmt.Sprintf("store: %s: %s", e.Key, e.Rule) }

// A ChangeError is returned for a change that any store would reject as malformed. It indicates a
// bug in the caller.
type ChangeError struct {
	Index  int
	Reason string // what is wrong, for people to read
}

func (e *ChangeError) Error() string {
	return fmt.Sprintf("store: change %d of the batch: %s", e.Index, e.Reason)
}
