package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
)

// A User is a person who may sign in. Users are kept with their history, like authorities. The
// history of names has only the ID of a user, so that a changed or redacted name of a person
// takes effect everywhere.
type User struct {
	ID       string      `json:"id"`                 // never empty, and never changed
	Name     string      `json:"name"`               // for people
	Mail     string      `json:"mail,omitempty"`     // address, for people
	Subjects []string    `json:"subjects,omitempty"` // who the user is at identity providers; a subject belongs to one user
	Grants   []UserGrant `json:"grants,omitempty"`   // what the user may do; nothing if empty
	Disabled bool        `json:"disabled,omitempty"` // the user may do nothing
	Since    time.Time   `json:"since,omitzero"`     // when the user was added, in whole milliseconds

	Modified time.Time `json:"modified,omitzero"`  // time of the last change; set by the store
	Revision uint64    `json:"revision,omitempty"` // from 1; set by the store
	Redacted bool      `json:"redacted,omitempty"` // the content was redacted; set by the store
}

// A UserGrant is a role for the names with some prefixes.
type UserGrant struct {
	Role     string   `json:"role"`               // reader, editor, owner, administrator
	Prefixes []string `json:"prefixes,omitempty"` // the scope; everywhere if empty
}

// Clone returns a deep copy of u in normal form.
func (u *User) Clone() *User {
	c := *u
	c.Subjects = cloneList(u.Subjects)
	c.Grants = cloneList(u.Grants)
	for i, g := range c.Grants {
		c.Grants[i].Prefixes = cloneList(g.Prefixes)
	}
	c.Since, c.Modified = wholeMillis(u.Since), wholeMillis(u.Modified)
	return &c
}

// SameContent reports whether u and o, both in normal form, are equal except for Modified and
// Revision.
func (u *User) SameContent(o *User) bool {
	return u.ID == o.ID &&
		u.Name == o.Name &&
		u.Mail == o.Mail &&
		slices.Equal(u.Subjects, o.Subjects) &&
		slices.EqualFunc(u.Grants, o.Grants, UserGrant.equal) &&
		u.Disabled == o.Disabled &&
		u.Since.Equal(o.Since) &&
		u.Redacted == o.Redacted
}

func (g UserGrant) equal(o UserGrant) bool {
	return g.Role == o.Role && slices.Equal(g.Prefixes, o.Prefixes)
}

// Users is a store that keeps users.
type Users interface {
	// User returns the user with this ID as of a time, or ErrNotFound.
	User(ctx context.Context, id string, at time.Time) (*User, error)

	// AllUsers yields every user, including disabled ones, in the byte order of their IDs, as
	// List does for records.
	AllUsers(ctx context.Context, at time.Time) iter.Seq2[*User, error]

	// UserOf returns the user who has a subject now, or ErrNotFound.
	UserOf(ctx context.Context, subject string) (*User, error)

	// UserHistory yields the changes of the user with this ID, newest first, as History does
	// for a name.
	UserHistory(ctx context.Context, id string) iter.Seq2[*Change, error]
}

// UsersOf returns r as Users, or an error that wraps [errors.ErrUnsupported].
func UsersOf(r Reader) (Users, error) {
	if u, ok := r.(Users); ok {
		return u, nil
	}
	return nil, unable(r, "keep users")
}

// subjectMark begins the URLs of subjects in an index of locations. No location begins with it.
const subjectMark = "\x00user\x00"

// SubjectURL returns the URL of the place that the subject of a user has in an index of
// locations. The name of that place has the ID of the user as its key.
func SubjectURL(subject string) string { return subjectMark + subject }

// appendSubjects appends the URL of each subject of u in an index to list.
func (u *User) appendSubjects(list []string) []string {
	for _, s := range u.Subjects {
		list = append(list, SubjectURL(s))
	}
	return list
}

// PlaceSubject returns the subject that an index has p for.
func PlaceSubject(p Place) Subject {
	if strings.HasPrefix(p.URL, subjectMark) {
		return Subject{KindUser, p.Name.Key()}
	}
	return Subject{KindName, p.Name.Key()}
}

// AppendPlaces appends the places that an index has for the content that exists after c.
func (c *Change) AppendPlaces(list []Place) []Place {
	for _, url := range c.AppendIndexed(nil) {
		list = append(list, Place{URL: url, Name: name.FromKey(c.Subject().Key)})
	}
	return list
}

// CheckSubjects returns a [*StateError] if a subject would belong to two users after the steps
// of changes. The function owner returns the ID of the user who has a subject before the steps,
// "" if none has it. Every store must call it in Apply, such that no other user is changed
// between the answer of owner and the write.
func CheckSubjects(changes []Change, steps []Step, owner func(subject string) (string, error)) error {
	after := map[string]*User{} // by ID
	for _, s := range steps {
		if s.Next.User != nil {
			after[s.Subject.Key] = s.Next.User
		}
	}
	taken := map[string]string{} // by subject: the ID of the user who has it after the steps
	for i := range changes {
		u := changes[i].User
		if u == nil || after[u.ID] == nil {
			continue
		}
		for _, subject := range after[u.ID].Subjects {
			id, err := ownerAfter(subject, after, taken, owner)
			if err != nil {
				return err
			}
			if id != "" && id != u.ID {
				return &StateError{Index: i, Key: u.ID, Rule: fmt.Sprintf("the subject %s belongs to the user %s already", strconv.Quote(shorten(subject)), id)}
			}
			taken[subject] = u.ID
		}
	}
	return nil
}

// ownerAfter returns the ID of a user known to have a subject after the steps, or "".
func ownerAfter(subject string, after map[string]*User, taken map[string]string, owner func(string) (string, error)) (string, error) {
	if id := taken[subject]; id != "" {
		return id, nil
	}
	id, err := owner(subject)
	if u := after[id]; u != nil && !slices.Contains(u.Subjects, subject) {
		return "", err
	}
	return id, err
}
