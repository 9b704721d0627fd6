package tlog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
)

// Types of keys (signed-note, Signature types).
const (
	algEd25519     = 1 // signatures of logs
	algCosignature = 4 // cosignatures of witnesses, by Ed25519
)

// maxKey is the maximum length of a key in its text form, in bytes.
const maxKey = 2048

// timeSize is the length of the time at the beginning of a cosignature, in bytes.
const timeSize = 8

// NewVerifier returns the verifier for a public key in text form. This is the key of a log
// (NAME+HASH+KEY with the type 1) or of a witness (type 4).
func NewVerifier(vkey string) (note.Verifier, error) {
	name, key, err := parseKey(vkey, "")
	if err != nil {
		return nil, err
	}
	if key[0] == algEd25519 {
		return note.NewVerifier(vkey)
	}
	return &cosigner{name: name, public: key[1:]}, nil
}

// NewSigner returns the signer for a private key in text form. This is the key of a log
// (PRIVATE+KEY+NAME+HASH+KEY with the type 1) or of a witness (type 4). Cosignatures of a witness
// include the time, which now returns.
func NewSigner(skey string, now func() time.Time) (note.Signer, error) {
	name, key, err := parseKey(skey, privatePrefix)
	if err != nil {
		return nil, err
	}
	if key[0] == algEd25519 {
		return note.NewSigner(skey)
	}
	private := ed25519.NewKeyFromSeed(key[1:])
	return &cosigner{name: name, public: private.Public().(ed25519.PublicKey), private: private, now: now}, nil
}

// PublicKey returns the public key of a private key. Both are in text form.
func PublicKey(skey string) (vkey string, err error) {
	name, key, err := parseKey(skey, privatePrefix)
	if err != nil {
		return "", err
	}
	return formatKey("", name, key[0], ed25519.NewKeyFromSeed(key[1:]).Public().(ed25519.PublicKey), nil), nil
}

// IsWitnessKey reports whether a verifier belongs to a witness.
func IsWitnessKey(v note.Verifier) bool { _, ok := v.(*cosigner); return ok }

const privatePrefix = "PRIVATE+KEY+"

// parseKey parses the text form of a key. It returns the name, and the type of the key followed by
// its bytes. The hash in a private key is that of the public key.
func parseKey(text, prefix string) (name string, key []byte, err error) {
	fault := func(rule string) error { return &FormatError{Format: "key", Rule: rule} }
	rest, ok := strings.CutPrefix(text, prefix)
	switch {
	case len(text) > maxKey:
		return "", nil, fault("the key is too long")
	case !ok:
		return "", nil, fault("a private key must begin with " + privatePrefix)
	case prefix == "" && strings.HasPrefix(text, privatePrefix):
		return "", nil, fault("expected a public key, but this is a private key; never pass it to others")
	}
	name, rest, _ = strings.Cut(rest, "+")
	hash, encoded, ok := strings.Cut(rest, "+")
	if !ok || !ValidKeyName(name) {
		return "", nil, fault("a key must have the form NAME+HASH+KEY (signed-note, Verifier keys)")
	}
	key, err = base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != algEd25519 && key[0] != algCosignature {
		return "", nil, fault("the key must be an Ed25519 key of a log (type 1) or of a witness (type 4)")
	}
	public := ed25519.PublicKey(key[1:])
	if prefix != "" {
		public = ed25519.NewKeyFromSeed(key[1:]).Public().(ed25519.PublicKey)
	}
	if fmt.Sprintf("%08x", keyHash(name, key[0], public)) != hash {
		return "", nil, fault("the hash does not match the name and the key; check that the key is complete")
	}
	return name, key, nil
}

// ValidKeyName reports whether a key can have this name. A name is not empty, and does not contain
// white space or plus signs (signed-note, Format). The name of a log's key is the origin of its
// checkpoints.
func ValidKeyName(name string) bool {
	return name != "" && len(name) <= maxOrigin && utf8.ValidString(name) && !strings.Contains(name, "+") &&
		strings.IndexFunc(name, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }) < 0
}

// GenerateKey makes the key of a log or of a witness. It returns the private and the public key in
// text form.
func GenerateKey(random io.Reader, name string, witness bool) (skey, vkey string, err error) {
	if !ValidKeyName(name) {
		return "", "", fmt.Errorf("invalid key name %q: want the URL without the scheme, such as names.example.org/-/log, without spaces and plus signs", name)
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return "", "", err
	}
	alg := byte(algEd25519)
	if witness {
		alg = algCosignature
	}
	public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	return formatKey(privatePrefix, name, alg, public, seed), formatKey("", name, alg, public, nil), nil
}

func formatKey(prefix, name string, alg byte, public ed25519.PublicKey, seed []byte) string {
	key := []byte(public)
	if seed != nil {
		key = seed
	}
	return fmt.Sprintf("%s%s+%08x+%s", prefix, name, keyHash(name, alg, public), base64.StdEncoding.EncodeToString(append([]byte{alg}, key...)))
}

func keyHash(name string, alg byte, public ed25519.PublicKey) uint32 {
	sum := sha256.Sum256(append(append([]byte(name), '\n', alg), public...))
	return binary.BigEndian.Uint32(sum[:])
}

// A cosigner makes and verifies cosignatures with Ed25519.
type cosigner struct {
	name    string
	public  ed25519.PublicKey
	private ed25519.PrivateKey
	now     func() time.Time
}

// Name implements [note.Signer] and [note.Verifier].
func (c *cosigner) Name() string { return c.name }

func (c *cosigner) KeyHash() uint32 { return keyHash(c.name, algCosignature, c.public) }

// Sign implements [note.Signer]. It returns an error for a text that is not a checkpoint.
func (c *cosigner) Sign(msg []byte) ([]byte, error) {
	if _, err := ParseCheckpoint(string(msg)); err != nil {
		return nil, err
	}
	at := c.now().Unix()
	if at < 0 {
		return nil, errors.New("cannot cosign: the clock is before 1970")
	}
	sig := binary.BigEndian.AppendUint64(nil, uint64(at))
	return append(sig, ed25519.Sign(c.private, cosigned(uint64(at), msg))...), nil
}

func (c *cosigner) Verify(msg, sig []byte) bool {
	if len(sig) != timeSize+ed25519.SignatureSize {
		return false
	}
	at := binary.BigEndian.Uint64(sig)
	return at <= math.MaxInt64 && ed25519.Verify(c.public, cosigned(at, msg), sig[timeSize:])
}

// cosigned returns the message that a cosignature signs (tlog-cosignature, Ed25519 signed message).
func cosigned(at uint64, msg []byte) []byte {
	b := append([]byte("cosignature/v1\ntime "), strconv.FormatUint(at, 10)...)
	return append(append(b, '\n'), msg...)
}

// CosignatureTime returns the time of a cosignature. The caller must have verified the signature.
func CosignatureTime(sig note.Signature) (time.Time, error) {
	raw, err := base64.StdEncoding.DecodeString(sig.Base64)
	const hash = 4 // length of the hash of the key, in bytes
	if err != nil || len(raw) != hash+timeSize+ed25519.SignatureSize {
		return time.Time{}, fmt.Errorf("the signature by %q is not a cosignature", sig.Name)
	}
	at := binary.BigEndian.Uint64(raw[hash:])
	if at > math.MaxInt64 {
		return time.Time{}, fmt.Errorf("the cosignature by %q has an invalid time", sig.Name)
	}
	return time.Unix(int64(at), 0).UTC(), nil
}
