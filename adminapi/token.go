package adminapi

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A token has the form ID "." SECRET. The ID is public. Only the bearer knows the secret.

// maxToken is the maximum length of a token in bytes.
const maxToken = 256

// NewToken creates a token. It also returns the spelling of the token, which contains the secret
// and must be given only to the bearer.
func NewToken(g Grant, now time.Time) (spelling string, t *store.Token) {
	id, secret := rand.Text(), rand.Text()
	return id + "." + secret, &store.Token{
		ID: id, Hash: sha256.Sum256([]byte(secret)), Role: g.Role, Prefixes: g.Prefixes, Who: g.Who, Created: now, Expires: g.Expires,
	}
}

// ListTokens returns the tokens of a store without their secrets, sorted by ID (see
// [store.AllTokens]).
func ListTokens(ctx context.Context, r store.Reader) ([]Token, error) {
	set, err := store.NewTable(r, time.Now, 0).Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	all := []Token{}
	for t, err := range store.AllTokens(ctx, r) {
		if err != nil {
			return nil, err
		}
		token := Token{ID: t.ID, Who: t.Who, Role: t.Role, Prefixes: t.Prefixes, Since: t.Created, Revoked: t.Revoked, Expires: t.Expires}
		if !t.Used.IsZero() {
			token.LastUsed = t.Used.Format(time.DateOnly)
		}
		for _, p := range t.Prefixes {
			if err := registrar.CheckReach(p, set); err != nil && !t.Revoked {
				token.Warnings = append(token.Warnings, err.Error())
			}
		}
		all = append(all, token)
	}
	return all, nil
}

// AdministratorGrant returns the rights of the first token of a store.
func AdministratorGrant() Grant {
	return Grant{Who: "administrator", Role: registrar.Administrator.String()}
}

// SplitToken splits the spelling of a token into ID and secret.
func SplitToken(spelling string) (id, secret string, ok bool) {
	id, secret, ok = strings.Cut(spelling, ".")
	return id, secret, ok && id != "" && secret != "" && len(spelling) <= maxToken
}

// Matches reports whether secret is the secret of t. It compares in constant time.
func Matches(t *store.Token, secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(sum[:], t.Hash[:]) == 1
}
