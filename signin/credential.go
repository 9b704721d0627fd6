package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
)

// A credential is what a client shows to prove who it is: in a cookie, or in a link.
type credential struct {
	user   string // ID
	secret string
}

// The limits of a credential in bytes.
const (
	secretSize = 32
	maxUserID  = 64
)

// newCredential returns a credential with a random secret.
func newCredential(user string) credential {
	var b [secretSize]byte
	_, _ = rand.Read(b[:]) // it never fails
	return credential{user, base64.RawURLEncoding.EncodeToString(b[:])}
}

// String returns a text that parseCredential accepts.
func (c credential) String() string { return c.user + "." + c.secret }

// hash returns what the vault has in place of the secret.
func (c credential) hash() []byte {
	sum := sha256.Sum256([]byte(c.secret))
	return sum[:]
}

// matches reports whether a hash is that of the secret. Its time does not depend on the hash.
func (c credential) matches(hash []byte) bool { return subtle.ConstantTimeCompare(c.hash(), hash) == 1 }

// parseCredential parses a text from a client. It accepts only what newCredential can return, so
// that the ID can be a part of a key in the vault.
func parseCredential(text string) (c credential, ok bool) {
	c.user, c.secret, ok = strings.Cut(text, ".")
	if !ok || !isUserID(c.user) {
		return credential{}, false
	}
	b, err := base64.RawURLEncoding.DecodeString(c.secret)
	if err != nil || len(b) != secretSize || strings.ContainsAny(c.secret, "\r\n") {
		return credential{}, false
	}
	return c, true
}

// isUserID reports whether a text can be the ID of a user.
func isUserID(id string) bool {
	return id != "" && len(id) <= maxUserID && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
