package signin

import (
	"context"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Users implements [People] with the users of a store.
type Users struct {
	Store     store.Users
	Registrar *registrar.Registrar // adds users
}

var _ People = Users{}

// Person implements [People].
func (u Users) Person(ctx context.Context, id string) (*Person, error) {
	return personOf(u.Store.User(store.Fresh(ctx), id, time.Time{}))
}

// PersonOf implements [People].
func (u Users) PersonOf(ctx context.Context, subject string) (*Person, error) {
	return personOf(u.Store.UserOf(store.Fresh(ctx), subject))
}

// LastDisabled implements [People]. A redacted revision counts as a revision in which the user was
// disabled.
func (u Users) LastDisabled(ctx context.Context, id string, after uint64) (revision uint64, err error) {
	for c, err := range u.Store.UserHistory(store.Fresh(ctx), id) {
		switch {
		case err != nil:
			return 0, err
		case c.User == nil:
			continue
		case c.User.Revision <= after:
			return 0, nil
		case c.User.Disabled || c.User.Redacted:
			return c.User.Revision, nil
		}
	}
	return 0, nil
}

// Add implements [People]. The author of the change is the operator of the machine, who has
// permitted such changes in the configuration.
func (u Users) Add(ctx context.Context, n Newcomer) (*Person, error) {
	user := &store.User{Name: n.Name, Mail: n.Mail, Subjects: []string{n.Subject}}
	out, err := u.Registrar.PutUser(ctx, registrar.Operator(), user, store.AnyRevision, "first sign-in; a claim gives a right")
	return personOf(out.User, err)
}

func personOf(u *store.User, err error) (*Person, error) {
	if err != nil {
		return nil, err
	}
	a, err := registrar.Person(u)
	if err != nil {
		return nil, err
	}
	return &Person{ID: u.ID, Name: u.Name, Actor: a, Disabled: u.Disabled || u.Redacted, Revision: u.Revision}, nil
}
