package adminapi

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Users is the response to GET users.
type Users struct {
	Users []*store.User `json:"users"`
}

// A Granting is the body of POST users/{id}/grants.
type Granting struct {
	registrar.Granting
	Expected *uint64 `json:"expected,omitempty"` // expected revision; absent if any revision is accepted
	Why      string  `json:"why,omitempty"`
}

// Registrar converts g to a granting of package registrar.
func (g Granting) Registrar() registrar.Granting {
	grant := g.Granting
	grant.Expected = revisionOrAny(g.Expected)
	return grant
}

func userPath(id string) string { return "users/" + EscapeName(id) }

// Users returns all users, sorted by ID.
func (c *Client) Users(ctx context.Context) ([]*store.User, error) {
	all, err := request[Users](ctx, c, http.MethodGet, "users", nil, nil)
	return all.Users, err
}

// User returns the user with this ID, or [store.ErrNotFound].
func (c *Client) User(ctx context.Context, id string) (*store.User, error) {
	u := new(store.User)
	if _, err := c.call(ctx, http.MethodGet, userPath(id), nil, nil, u); err != nil {
		return nil, err
	}
	return u, nil
}

// PutUser creates or replaces a user; see [registrar.Registrar.PutUser].
func (c *Client) PutUser(ctx context.Context, u *store.User, expected uint64, why string) (registrar.Outcome, error) {
	if u.ID == "" {
		return c.change(ctx, http.MethodPost, "users", url.Values{"why": {why}}, u)
	}
	return c.change(ctx, http.MethodPut, userPath(u.ID), changeQuery(expected, why), u)
}

// GrantUser changes the grants of a user; see [registrar.Registrar.GrantUser].
func (c *Client) GrantUser(ctx context.Context, id string, g registrar.Granting, why string) (registrar.Outcome, error) {
	return c.change(ctx, http.MethodPost, userPath(id)+"/grants", nil, Granting{g, revisionOrNil(g.Expected), why})
}

// RedactUser removes content from the history of a user; see [registrar.Registrar.RedactUser].
func (c *Client) RedactUser(ctx context.Context, id string, r registrar.Redaction) (registrar.Outcome, error) {
	return c.change(ctx, http.MethodPost, userPath(id)+"/redact", nil, Redaction{r, revisionOrNil(r.Expected)})
}

// UserHistory yields the changes of the user with this ID, newest first, while it receives them. It
// yields nothing for an unknown ID.
func (c *Client) UserHistory(ctx context.Context, id string) iter.Seq2[*store.Change, error] {
	return revisionsOf(ctx, c, userPath(id), id, func(r Revision, change *store.Change) bool {
		change.User = r.User
		return r.User != nil
	})
}

// UserRevisions is like [Client.UserHistory], but yields the revisions in their JSON form, with the
// names of users, and [store.ErrNotFound] for an unknown ID.
func (c *Client) UserRevisions(ctx context.Context, id string) iter.Seq2[Revision, error] {
	return lines[Revision](ctx, c, userPath(id)+"/history", url.Values{"format": {"jsonl"}})
}

// knownOnly yields the values of seq. If seq yields [store.ErrNotFound], knownOnly ends without an
// error.
func knownOnly[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if errors.Is(err, store.ErrNotFound) || !yield(v, err) {
				return
			}
		}
	}
}

const maxUserNames = 10_000

// A UserNames looks up and caches the names of the users who made changes. It is not safe for
// concurrent use.
type UserNames struct {
	find  func(ctx context.Context, id string) (*store.User, error)
	known map[string]string
}

// NewUserNames returns a UserNames that calls find to look up users.
func NewUserNames(find func(ctx context.Context, id string) (*store.User, error)) *UserNames {
	return &UserNames{find: find, known: map[string]string{}}
}

// Of returns the current name of the author of a change. It returns "" if the author is not a user,
// no longer has a name, or cannot be looked up.
func (n *UserNames) Of(ctx context.Context, who string) string {
	if !registrar.IsUserID(who) {
		return ""
	}
	if name, ok := n.known[who]; ok {
		return name
	}
	if len(n.known) >= maxUserNames {
		clear(n.known)
	}
	n.known[who] = ""
	if u, err := n.find(ctx, who); err == nil {
		n.known[who] = u.Name
	}
	return n.known[who]
}
