package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func (s *API) users() (store.Users, error) {
	u, err := store.UsersOf(s.store)
	return u, unsupportedError(err)
}

// shownTo returns the fields of a user that an actor may see. Administrators of all names and the
// user see all fields. Owners, who may grant roles, see all fields except the subjects. Other
// actors see only the ID and the name, because the history names the authors of changes.
func shownTo(a registrar.Actor, u *store.User) *store.User {
	switch {
	case u == nil, a.MayAll(registrar.Administrator), a.Who == u.ID:
		return u
	case a.MayAny(registrar.Owner):
		u = u.Clone()
		u.Subjects = nil
		return u
	}
	return &store.User{ID: u.ID, Name: u.Name, Modified: u.Modified, Revision: u.Revision, Redacted: u.Redacted}
}

func (s *API) listUsers(c *call) error {
	users, err := s.users()
	if err != nil {
		return err
	}
	all := adminapi.Users{Users: []*store.User{}}
	for u, err := range users.AllUsers(c.r.Context(), time.Time{}) {
		if err != nil {
			return err
		}
		all.Users = append(all.Users, shownTo(c.actor, u))
	}
	return writeJSON(c.w, http.StatusOK, all)
}

func (s *API) getUser(c *call) error {
	users, err := s.users()
	if err != nil {
		return err
	}
	u, err := users.User(c.r.Context(), c.value, time.Time{})
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", revisionTag(u.Revision))
	return writeJSON(c.w, http.StatusOK, shownTo(c.actor, u))
}

func (s *API) addUser(c *call) error {
	in, err := c.intent()
	if err != nil {
		return err
	}
	u := new(store.User)
	if err := readJSON(c, u); err != nil {
		return err
	}
	if u.ID != "" {
		return &adminapi.RequestError{Field: "id", Message: "must be absent: the server makes it"}
	}
	return s.putUser(c, u, in)
}

func (s *API) replaceUser(c *call) error {
	in, err := c.intent()
	if err != nil {
		return err
	}
	u := &store.User{ID: c.value}
	if err := readJSON(c, u); err != nil {
		return err
	}
	if u.ID != c.value {
		return &adminapi.RequestError{Field: "id", Message: "must be the ID in the path"}
	}
	return s.putUser(c, u, in)
}

func (s *API) putUser(c *call, u *store.User, in intent) error {
	out, err := s.registrar.PutUser(c.r.Context(), c.actor, u, in.expected, in.why)
	s.forgetSessions(c.r.Context(), out.User)
	return c.userOutcome(out, err, in.conditional)
}

func (c *call) userOutcome(out registrar.Outcome, err error, conditional bool) error {
	out.User = shownTo(c.actor, out.User)
	return c.outcome(out, unsupportedError(err), conditional)
}

func (s *API) grantUser(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	var body adminapi.Granting
	if err := readJSON(c, &body); err != nil {
		return err
	}
	g, conditional, err := body.Registrar(), false, error(nil)
	if c.r.Header.Get("If-Match") != "" {
		if g.Expected, conditional, err = c.expectation(nil); err != nil {
			return err
		}
	}
	out, err := s.registrar.GrantUser(c.r.Context(), c.actor, c.value, g, body.Why)
	return c.userOutcome(out, err, conditional)
}

func (s *API) redactUser(c *call) error {
	red, conditional, err := c.redaction()
	if err != nil {
		return err
	}
	return s.redact(c, redactRequest{Of: redactsUser, Key: c.value, Redaction: red}, conditional)
}

func (s *API) userHistory(c *call) error {
	if err := c.requireAllNames("users"); err != nil {
		return err
	}
	users, err := s.users()
	if err != nil {
		return err
	}
	return s.history(c, users.UserHistory(c.r.Context(), c.value))
}

func (s *API) userNames() *adminapi.UserNames {
	return adminapi.NewUserNames(func(ctx context.Context, id string) (*store.User, error) {
		users, err := store.UsersOf(s.store)
		if err != nil {
			return nil, err
		}
		return users.User(ctx, id, time.Time{})
	})
}
