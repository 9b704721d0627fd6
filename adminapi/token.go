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

// A token is spelled ID "." SECRET. The ID is public, the secret is kept only by
// its bearer.

// maxToken bounds the length of what is taken for a token.
const maxToken = 256

// NewToken makes a token. The spelling is for the bearer alone.
func NewToken(g Grant, now time.Time) (spelling string, t *store.Token) {
	id, secret := rand.Text(), rand.Text()
	return id + "." + secret, &store.Token{
		ID: id, Hash: sha256.Sum256([]byte(secret)), Role: g.Role, Prefixes: g.Prefixes, Who: g.Who, Created: now,
	}
}

// ListTokens returns what may be told of the tokens of a store, in the order of their
// IDs; see [store.AllTokens].
func ListTokens(ctx context.Context, r store.Reader) ([]Token, error) {
	all := []Token{}
	for t, err := range store.AllTokens(ctx, r) {
		if err != nil {
			return nil, err
		}
		all = append(all, Token{t.ID, t.Who, t.Role, t.Prefixes, t.Created, t.Revoked})
	}
	return all, nil
}

// AdministratorGrant is that of the first token of a store.
func AdministratorGrant() Grant {
	return Grant{Who: "administrator", Role: registrar.Administrator.String()}
}

// SplitToken cuts a token into its ID and secret.
func SplitToken(spelling string) (id, secret string, ok bool) {
	id, secret, ok = strings.Cut(spelling, ".")
	return id, secret, ok && id != "" && secret != "" && len(spelling) <= maxToken
}

// Matches reports whether secret is that of t, in a time that tells nothing.
func Matches(t *store.Token, secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(sum[:], t.Hash[:]) == 1
}
