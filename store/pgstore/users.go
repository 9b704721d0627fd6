package pgstore

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/store"
)

const (
	// lockUsers serializes transactions that change users, so that two of them cannot give the same
	// subject to different users. It also sets the version of the schema, because programs of
	// earlier versions do not support users.
	lockUsers = "update nomen_meta set format = greatest(format, $1) where id = 1"
	ownersOf  = "select head, mark, key, rest from nomen_place where head = any($1)"
)

// owners maps subjects at identity providers to the IDs of their users.
type owners map[string]string

// readOwners returns the owners of the subjects in a group of changes. The caller must have
// executed lockUsers in the same transaction.
func readOwners(ctx context.Context, c queryer, group []*request) (owners, error) {
	var heads [][]byte
	for _, r := range group {
		for i := range r.changes {
			if r.changes[i].User != nil {
				for _, p := range places(&r.changes[i]) {
					heads = append(heads, []byte(p.head))
				}
			}
		}
	}
	all := owners{}
	if heads == nil {
		return all, nil
	}
	found, err := queryPlaces(ctx, c, ownersOf, heads)
	for _, p := range found {
		all[p.head+p.rest] = p.key
	}
	return all, err
}

// after returns a function that returns the ID of the user who will have a subject after the
// planned changes.
func (o owners) after(planned map[store.Subject]*store.Change) func(subject string) (string, error) {
	return func(subject string) (string, error) {
		for _, c := range planned {
			if c.User != nil && slices.Contains(c.User.Subjects, subject) {
				return c.User.ID, nil
			}
		}
		id := o[store.SubjectURL(subject)]
		if planned[store.Subject{Kind: store.KindUser, Key: id}] != nil { // this user no longer has the subject
			return "", nil
		}
		return id, nil
	}
}

func (s *Store) owner(ctx context.Context, subject string) (id string, err error) {
	if err := s.enter(ctx); err != nil {
		return "", err
	}
	defer s.gate.Leave()
	want := makePlace(store.SubjectURL(subject), "")
	err = s.cluster.read(ctx, short, true, func(ctx context.Context, c *pgx.Conn, _ role) error {
		id = ""
		found, err := queryPlaces(ctx, c, ownersOf, [][]byte{[]byte(want.head)})
		for _, p := range found {
			if p.rest == want.rest {
				id = p.key
			}
		}
		return err
	})
	return id, failed("read", err)
}
