package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
)

// A credential is the secret in a cookie or a link by which a client proves who it is.
type credential struct {
	user   string // ID of the user
	secret string
}

// Sizes of the parts of a credential, in bytes.
const (
	secretSize = 32
	maxUserID  = 64
)

func newCredential(user string) credential {
	var b [secretSize]byte
	_, _ = rand.Read(b[:]) // it never fails
	return credential{user, base64.RawURLEncoding.EncodeToString(b[:])}
}

func (c credential) String() string { return c.user + "." + c.secret }

// hash returns the hash of the secret. The vault has only the hash.
func (c credential) hash() []byte {
	sum := sha256.Sum256([]byte(c.secret))
	return sum[:]
}

// matches reports whether hash is the hash of the secret. The comparison takes constant time.
func (c credential) matches(hash []byte) bool { return subtle.ConstantTimeCompare(c.hash(), hash) == 1 }

// parseCredential parses text from a client. It accepts only text in the form that newCredential
// produces, so that the ID of the user can safely become part of a key in the vault.
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

func isUserID(id string) bool {
	return id != "" && len(id) <= maxUserID && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
