package handle

import (
	"crypto"
	"crypto/dsa" //lint:ignore SA1019 administrators of Handle servers have keys of this kind
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/dialect"
)

// An answer has the parameters of an Authorization field of the scheme Handle. It may be an answer
// to a challenge (see [answer.answers]).
type answer map[string]string

// The parameters of an answer.
const (
	paramSession   = "sessionid"
	paramID        = "id"
	paramType      = "type"
	paramCnonce    = "cnonce"
	paramAlg       = "alg"
	paramSignature = "signature"
	paramVersion   = "version"
	paramCert      = "clientcert"
)

const maxAnswer = 20

// parseAnswer parses the parameters of an Authorization field: NAME=VALUE, separated by commas,
// where a value is a token or a quoted string. If the text is invalid, ok is false.
func parseAnswer(text string) (a answer, ok bool) {
	a = answer{}
	for {
		text = strings.TrimLeft(text, " \t,")
		if text == "" {
			return a, true
		}
		key, tail, found := strings.Cut(text, "=")
		key = strings.ToLower(strings.TrimRight(key, " \t"))
		if _, twice := a[key]; !found || twice || !isToken(key) || len(a) == maxAnswer {
			return nil, false
		}
		if a[key], text, ok = parseAnswerValue(strings.TrimLeft(tail, " \t")); !ok {
			return nil, false
		}
	}
}

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7F || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}

// parseAnswerValue parses the value at the beginning of a text, up to a comma. It returns the value
// and the rest of the text.
func parseAnswerValue(text string) (value, tail string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		value, tail, _ = strings.Cut(text, ",")
		value = strings.TrimRight(value, " \t")
		return value, tail, value != "" && !strings.ContainsAny(value, "\" \t") // a token may be base64, which contains "/" and "="
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			tail = strings.TrimLeft(text[i+1:], " \t")
			return b.String(), tail, tail == "" || tail[0] == ','
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}

// addJSON adds the members of a JSON object to the parameters. It returns false if the object is
// invalid, if a value is not a string, a number or a boolean, or if a member contradicts a
// parameter.
func (a answer) addJSON(body []byte) bool {
	var more map[string]any
	if json.Unmarshal(body, &more) != nil || len(more) > maxAnswer {
		return false
	}
	for key, v := range more {
		key = strings.ToLower(key)
		text, ok := v.(string)
		switch v := v.(type) {
		case float64:
			text, ok = strconv.FormatFloat(v, 'f', -1, 64), true
		case bool:
			text, ok = strconv.FormatBool(v), true
		}
		if have, there := a[key]; !ok || there && have != text {
			return false
		}
		a[key] = text
	}
	return true
}

// answers reports whether an answer has a parameter that only answers to a challenge have.
func (a answer) answers() bool {
	return slices.ContainsFunc([]string{paramID, paramCnonce, paramSignature}, func(key string) bool { return a[key] != "" })
}

const missingFields = "Missing fields in authentication data"

// problem returns the first missing or invalid parameter of an answer to a challenge, as a text, or
// "". It does not check the signature, which proves does.
func (a answer) problem() string {
	for _, key := range []string{paramID, paramType, paramCnonce, paramAlg, paramSignature} {
		if a[key] == "" {
			return missingFields
		}
	}
	switch {
	case a[paramVersion] != "" && a[paramVersion] != "0":
		return "Unknown version in Authorization: Handle"
	case a[paramType] != typeSecret && a[paramType] != typePublicKey:
		return "Unknown type in Authorization: Handle"
	}
	return ""
}

const typePublicKey = "HS_PUBKEY"

func (a answer) digest() [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join([]string{a[paramID], a[paramType], a[paramCnonce], a[paramAlg], a[paramSignature]}, "\x00")))
}

// proves reports whether the answer to a nonce proves that the client is the identity i. If the
// identity is unknown, i is nil and proves returns false. The duration of proves does not depend on
// the secret, which could otherwise be guessed from response times.
func (a answer) proves(i *dialect.Identity, nonce []byte) bool {
	cnonce, ok := decode64(a[paramCnonce])
	signature, signed := decode64(a[paramSignature])
	if !ok || !signed || len(cnonce) == 0 {
		return false
	}
	message := slices.Concat(nonce, cnonce)
	if a[paramType] == typePublicKey {
		return i != nil && plainAlg(a[paramAlg]) == "sha256" && isSignature(i.PublicKey, message, signature)
	}
	secret := newNonce() // so that the response time for an unknown identity is the same
	known := i != nil && i.Secret != nil
	if known {
		secret = i.Secret
	}
	want := a.mac(secret, message)
	return want != nil && subtle.ConstantTimeCompare(signature, want) == 1 && known
}

func decode64(text string) ([]byte, bool) {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	return b, err == nil
}

// plainAlg returns the name of an algorithm in lower case and without punctuation.
func plainAlg(s string) string {
	s = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s))
	switch s {
	case "sha":
		return "sha1"
	case "sha2":
		return "sha256"
	case "pbkdf2withhmacsha1":
		return "pbkdf2hmacsha1"
	}
	return s
}

// mac returns the authentication code of a message, or nil for an unsupported algorithm.
func (a answer) mac(secret, message []byte) []byte {
	switch plainAlg(a[paramAlg]) {
	case "sha1":
		sum := sha1.Sum(slices.Concat(secret, message, secret))
		return sum[:]
	case "sha256":
		sum := sha256.Sum256(slices.Concat(secret, message, secret))
		return sum[:]
	case "hmacsha1":
		m := hmac.New(sha1.New, secret)
		m.Write(message)
		return m.Sum(nil)
	case "hmacsha256":
		m := hmac.New(sha256.New, secret)
		m.Write(message)
		return m.Sum(nil)
	case "pbkdf2hmacsha1":
		return a.derivedMAC(secret, message)
	}
	return nil
}

// Limits of the PBKDF2 parameters. Clients of Handle.Net use a salt of 16 bytes, 10,000 iterations
// and 160 bits.
const (
	minIterations = 1000
	maxIterations = 100_000
	minKeyBits    = 128
	maxKeyBits    = 512
	maxSalt       = 64
)

// derivedMAC returns the authentication code of a message with a key derived from a secret. If the
// parameters exceed the limits, derivedMAC returns nil.
func (a answer) derivedMAC(secret, message []byte) []byte {
	salt, ok := decode64(a["salt"])
	iterations, err1 := strconv.Atoi(a["iterations"])
	bits, err2 := strconv.Atoi(a["length"])
	if !ok || err1 != nil || err2 != nil || len(salt) > maxSalt || iterations < minIterations || iterations > maxIterations ||
		bits < minKeyBits || bits > maxKeyBits || bits%8 != 0 {
		return nil
	}
	key, err := pbkdf2.Key(sha1.New, string(secret), salt, iterations, bits/8)
	if err != nil {
		return nil
	}
	m := hmac.New(sha1.New, key)
	m.Write(message)
	return m.Sum(nil)
}

// isSignature reports whether a signature of the SHA-256 digest of a message is valid for a public
// key. It supports RSA (PKCS #1, version 1.5) and DSA.
func isSignature(key any, message, signature []byte) bool {
	sum := sha256.Sum256(message)
	switch key := key.(type) {
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
	case *dsa.PublicKey:
		var rs struct{ R, S *big.Int }
		rest, err := asn1.Unmarshal(signature, &rs)
		return err == nil && len(rest) == 0 && dsa.Verify(key, sum[:min(len(sum), key.Q.BitLen()/8)], rs.R, rs.S)
	}
	return false
}
