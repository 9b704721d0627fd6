package store

import (
	"context"
	"iter"
	"slices"
	"time"
)

// TokenRights are the rights of the bearer of a token, as the log of changes records them. They do
// not include the secret of the token, the hash of the secret, or the day of the last use. A caller
// that changes a token must change its rights in the same batch. The log then shows which rights a
// token had at any time. Like other subjects, the rights of a token have revisions, and a change
// can redact the content of earlier revisions.
type TokenRights struct {
	ID       string    `json:"id"`                 // ID of the token: its public part
	Role     string    `json:"role,omitempty"`     // reader, editor, owner or administrator
	Prefixes []string  `json:"prefixes,omitempty"` // prefixes of the names that the token is limited to; not limited if empty
	Who      string    `json:"who,omitempty"`      // bearer of the token: author of its changes in the history
	Created  time.Time `json:"created,omitzero"`   // in whole milliseconds
	Expires  time.Time `json:"expires,omitzero"`   // in whole milliseconds; zero for never
	Revoked  bool      `json:"revoked,omitempty"`  // the token is valid for nothing

	Modified time.Time `json:"modified,omitzero"`  // time of the last change; set by the store
	Revision uint64    `json:"revision,omitempty"` // number of the last change, from 1; set by the store
	Redacted bool      `json:"redacted,omitempty"` // the content was removed by a redaction; set by the store
}

// Rights returns the rights of the token t, without a revision.
func (t *Token) Rights() *TokenRights {
	return &TokenRights{
		ID: t.ID, Role: t.Role, Prefixes: cloneList(t.Prefixes), Who: t.Who,
		Created: wholeMillis(t.Created), Expires: wholeMillis(t.Expires), Revoked: t.Revoked,
	}
}

// Clone returns a deep copy of r in normal form.
func (r *TokenRights) Clone() *TokenRights {
	c := *r
	c.Prefixes = cloneList(r.Prefixes)
	c.Created, c.Expires, c.Modified = wholeMillis(r.Created), wholeMillis(r.Expires), wholeMillis(r.Modified)
	return &c
}

// SameContent reports whether r and o are equal except for Modified and Revision. Both must be in
// normal form.
func (r *TokenRights) SameContent(o *TokenRights) bool {
	return r.ID == o.ID &&
		r.Role == o.Role &&
		slices.Equal(r.Prefixes, o.Prefixes) &&
		r.Who == o.Who &&
		r.Created.Equal(o.Created) &&
		r.Expires.Equal(o.Expires) &&
		r.Revoked == o.Revoked &&
		r.Redacted == o.Redacted
}

// RightsHistorian is a store that has the rights of tokens in its log.
type RightsHistorian interface {
	// TokenRights returns the rights of the token with the given ID in the state at a time, or
	// ErrNotFound.
	TokenRights(ctx context.Context, id string, at time.Time) (*TokenRights, error)

	// AllTokenRights yields the rights of every token, in the byte order of the IDs and in the
	// state of one moment, as List does. The token itself need not be in this store, because the
	// log can come from another store.
	AllTokenRights(ctx context.Context, at time.Time) iter.Seq2[*TokenRights, error]

	// TokenRightsHistory yields the changes of the rights of the token with the given ID, newest
	// first.
	TokenRightsHistory(ctx context.Context, id string) iter.Seq2[*Change, error]
}

// RightsOf returns r as a RightsHistorian. If r is not a RightsHistorian, the error wraps
// [errors.ErrUnsupported].
func RightsOf(r Reader) (RightsHistorian, error) {
	if h, ok := r.(RightsHistorian); ok {
		return h, nil
	}
	return nil, unable(r, "keep the rights of tokens")
}
