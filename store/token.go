package store

import (
	"context"
	"iter"
	"slices"
	"time"
)

// A Token lets its bearer change names. The secret itself is nowhere kept.
type Token struct {
	ID       string    `json:"id"`       // public part, never empty
	Hash     [32]byte  `json:"hash"`     // SHA-256 of the secret
	Role     string    `json:"role"`     // reader, editor, owner, administrator
	Prefixes []string  `json:"prefixes"` // where the role holds; none for everywhere
	Who      string    `json:"who"`      // written into the history
	Created  time.Time `json:"created"`  // in whole milliseconds
	Revoked  bool      `json:"revoked"`
	Expires  time.Time `json:"expires,omitzero"` // when it ends, in whole milliseconds; zero for never
	Used     time.Time `json:"used,omitzero"`    // the beginning of the day, in UTC, on which it was last used; zero if that is not known
}

// Expired reports whether t has ended by a time.
func (t *Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// Tokens is a store's ability to find the tokens beside the records.
type Tokens interface {
	// Token returns the token of this ID, or ErrNotFound.
	Token(ctx context.Context, id string) (*Token, error)
}

// A TokenLister is a store that can list its tokens.
type TokenLister interface {
	// AllTokens yields every token, revoked ones too, in the byte order of their
	// IDs, as of one moment.
	AllTokens(ctx context.Context) iter.Seq2[*Token, error]
}

// A TokenHistorian is a store that can tell who put each of its tokens there, and why.
type TokenHistorian interface {
	// TokenChanges yields the last change of every token, as AllTokens yields
	// the tokens.
	TokenChanges(ctx context.Context) iter.Seq2[*Change, error]
}

// use returns the change that notes the day of c, which is UseOnly, in the token that last
// has left; nil if there is nothing to note.
func (c *Change) use(last *Change) *Change {
	if last == nil || last.Token == nil || !c.Token.Used.After(last.Token.Used) {
		return nil
	}
	n := last.Clone()
	n.Token.Used = c.Token.Used
	return n
}

// Clone returns a copy in normal form that shares nothing with t.
func (t *Token) Clone() *Token {
	c := *t
	c.Prefixes = cloneList(t.Prefixes)
	c.Created, c.Expires = wholeMillis(t.Created), wholeMillis(t.Expires)
	if c.Used = wholeMillis(t.Used); !c.Used.IsZero() {
		c.Used = c.Used.Truncate(24 * time.Hour)
	}
	return &c
}

// SameContent reports whether t and o, both in normal form, are equal.
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
