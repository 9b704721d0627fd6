package store

import (
	"context"
	"iter"
	"slices"
	"time"
)

// A Token is an access token for the admin API. A store keeps only a hash of the secret of the
// token.
type Token struct {
	ID       string    `json:"id"`       // public part of the token, never empty
	Hash     [32]byte  `json:"hash"`     // SHA-256 of the secret
	Role     string    `json:"role"`     // reader, editor, owner or administrator
	Prefixes []string  `json:"prefixes"` // prefixes of the names to which the token is limited; unlimited if empty
	Who      string    `json:"who"`      // author of the token's changes in the history
	Created  time.Time `json:"created"`  // in whole milliseconds
	Revoked  bool      `json:"revoked"`
	Expires  time.Time `json:"expires,omitzero"` // when it expires, in whole milliseconds; zero for never
	Used     time.Time `json:"used,omitzero"`    // start of the day, in UTC, of its last use; zero if unknown
}

// Expired reports whether the token has expired at the time now.
func (t *Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// Tokens is a store that can find tokens by their IDs.
type Tokens interface {
	// Token returns the token with the given ID, or ErrNotFound.
	Token(ctx context.Context, id string) (*Token, error)
}

// A TokenLister is a store that can list its tokens.
type TokenLister interface {
	// AllTokens yields every token, including revoked tokens, in the byte order of the IDs and in
	// the state of one moment.
	AllTokens(ctx context.Context) iter.Seq2[*Token, error]
}

// A TokenHistorian is a store that can tell who last changed each token, and why.
type TokenHistorian interface {
	// TokenChanges yields the last change of each token, in the order of AllTokens.
	TokenChanges(ctx context.Context) iter.Seq2[*Change, error]
}

// use returns the change to write for c, which must have UseOnly set. The result has the token of
// the last change, with the day of use from c. If the token stays the same, use returns nil.
func (c *Change) use(last *Change) *Change {
	if last == nil || last.Token == nil || !c.Token.Used.After(last.Token.Used) {
		return nil
	}
	n := last.Clone()
	n.Token.Used = c.Token.Used
	return n
}

// Clone returns a deep copy of t in normal form.
func (t *Token) Clone() *Token {
	c := *t
	c.Prefixes = cloneList(t.Prefixes)
	c.Created, c.Expires = wholeMillis(t.Created), wholeMillis(t.Expires)
	if c.Used = wholeMillis(t.Used); !c.Used.IsZero() {
		c.Used = c.Used.Truncate(24 * time.Hour)
	}
	return &c
}

// SameContent reports whether t and o are equal. Both must be in normal form.
func (t *Token) SameContent(o *Token) bool {
	return t.ID == o.ID &&
		t.Hash == o.Hash &&
		t.Role == o.Role &&
		slices.Equal(t.Prefixes, o.Prefixes) &&
		t.Who == o.Who &&
		t.Created.Equal(o.Created) &&
		t.Expires.Equal(o.Expires) &&
		t.Used.Equal(o.Used) &&
		t.Revoked == o.Revoked
}
