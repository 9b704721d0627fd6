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

// A User is a person who can sign in. Stores keep the history of users, as they do for authorities.
// The history of names refers to users only by their IDs. A change or redaction of a person's name
// therefore takes effect everywhere.
type User struct {
	ID       string      `json:"id"`                 // never empty, and never changed
	Name     string      `json:"name"`               // name for people to read
	Mail     string      `json:"mail,omitempty"`     // mail address, for people to read
	Subjects []string    `json:"subjects,omitempty"` // identities at identity providers; no two users have the same subject
	Grants   []UserGrant `json:"grants,omitempty"`   // what the user may do; nothing if empty
	Disabled bool        `json:"disabled,omitempty"` // the user may do nothing, whatever the grants say
	Since    time.Time   `json:"since,omitzero"`     // when the user was added, in whole milliseconds

	Modified time.Time `json:"modified,omitzero"`  // time of the last change; set by the store
	Revision uint64    `json:"revision,omitempty"` // number of the last change, from 1; set by the store
	Redacted bool      `json:"redacted,omitempty"` // the content was removed by a redaction; set by the store
}

// A UserGrant gives a user a role, for all names or only for names with certain prefixes.
type UserGrant struct {
	Role     string   `json:"role"`               // reader, editor, owner or administrator
	Prefixes []string `json:"prefixes,omitempty"` // prefixes of the names for which the role is; all names if empty
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

// SameContent reports whether u and o differ at most in Modified and Revision. Both must be in
// normal form.
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

// Users is a store that also keeps users.
type Users interface {
	// User returns the user with the given ID in the state at a time, or ErrNotFound.
	User(ctx context.Context, id string, at time.Time) (*User, error)

	// AllUsers yields every user, including disabled users, in the byte order of the IDs and in the
	// state of one moment.
	AllUsers(ctx context.Context, at time.Time) iter.Seq2[*User, error]

	// UserOf returns the user who currently has the given subject at an identity provider, or
	// ErrNotFound.
	UserOf(ctx context.Context, subject string) (*User, error)

	// UserHistory yields the changes of the user with the given ID, newest first.
	UserHistory(ctx context.Context, id string) iter.Seq2[*Change, error]
}

// UsersOf returns r as Users. If r does not implement Users, the error wraps
// [errors.ErrUnsupported].
func UsersOf(r Reader) (Users, error) {
	if u, ok := r.(Users); ok {
		return u, nil
	}
	return nil, unable(r, "keep users")
}

// subjectMark is the prefix of the URLs for the subjects of users in an index of locations. No
// location begins with subjectMark.
const subjectMark = "\x00user\x00"

// SubjectURL returns the URL under which an index of locations contains the subject of a user. In
// the place with this URL, the key of the field Name is the ID of the user.
func SubjectURL(subject string) string { return subjectMark + subject }

func (u *User) appendSubjects(list []string) []string {
	for _, s := range u.Subjects {
		list = append(list, SubjectURL(s))
	}
	return list
}

// PlaceSubject returns the name or the user to which a place in an index belongs.
func PlaceSubject(p Place) Subject {
	if strings.HasPrefix(p.URL, subjectMark) {
		return Subject{KindUser, p.Name.Key()}
	}
	return Subject{KindName, p.Name.Key()}
}

// AppendPlaces appends the places that an index must contain for the subject of c after the change.
func (c *Change) AppendPlaces(list []Place) []Place {
	for _, url := range c.AppendIndexed(nil) {
		list = append(list, Place{URL: url, Name: name.FromKey(c.Subject().Key)})
	}
	return list
}

// CheckSubjects returns a [*StateError] if two users would have the same subject at an identity
// provider after the steps. The function owner must return the ID of the user who has a subject
// before the steps, or "". Every store must call CheckSubjects in Apply. The store must prevent
// other changes of users between the call of CheckSubjects and the write.
func CheckSubjects(changes []Change, steps []Step, owner func(subject string) (string, error)) error {
	after := map[string]*User{} // each changed user after the steps, by ID
	for _, s := range steps {
		if s.Next.User != nil {
			after[s.Subject.Key] = s.Next.User
		}
	}
	taken := map[string]string{} // the ID of the user who has a subject after the steps, by subject
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

// ownerAfter returns the ID of the user who will have a subject after the steps, or "".
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
