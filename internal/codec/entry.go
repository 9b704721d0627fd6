package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/nomen-project/nomen/store"
)

// AppendEntry appends the encoding of the entry e to b. The encoding consists of the change, the
// position in the log, and the salt. If the change is redacted, it has the digest instead of the
// salt.
func AppendEntry(b []byte, e *store.Entry) []byte {
	return AppendSeal(Append(b, e.Change), e)
}

// AppendSeal appends the last part of the encoding of e to b, which follows the encoding of the
// change.
func AppendSeal(b []byte, e *store.Entry) []byte {
	b = binary.AppendUvarint(b, e.Seq)
	if e.Change.Redacted {
		return append(b, e.Digest[:]...)
	}
	return append(b, e.Salt[:]...)
}

// DecodeEntry decodes the output of [AppendEntry]. The subject must not be a token. If the value
// does not contain the digest of the change, DecodeEntry computes the digest. The error is a
// [*CorruptError].
func DecodeEntry(s store.Subject, value []byte) (*store.Entry, error) {
	e := new(store.Entry)
	n, err := decodeEntry(e, s, value)
	if err != nil {
		return nil, err
	}
	if !e.Change.Redacted {
		e.Digest = Digest(e.Salt, value[:n])
	}
	return e, nil
}

// DecodeEntryChange is like [DecodeEntry], but returns only the change and computes no hash.
func DecodeEntryChange(s store.Subject, value []byte) (*store.Change, error) {
	var e store.Entry
	if _, err := decodeEntry(&e, s, value); err != nil {
		return nil, err
	}
	return e.Change, nil
}

// RevisionOf returns the revision of the change in the output of [AppendEntry], without decoding
// anything else. If the value has no revision, RevisionOf returns 0.
func RevisionOf(value []byte) uint64 {
	if len(value) <= revisionOffset {
		return 0
	}
	expected, n := binary.Uvarint(value[revisionOffset:])
	if n <= 0 || expected >= store.AnyRevision-1 {
		return 0
	}
	return expected + 1
}

// revisionOffset is the offset of the revision in a value. It follows one byte for the version and
// one byte for the kind.
const revisionOffset = 2

// A Position is the position of a change in the log.
type Position struct {
	Subject       store.Subject
	Seq, Revision uint64
	Time          time.Time
}

// AppendStoredLeaf appends the leaf of the entry at position p, like [AppendLeaf], but does not
// decode the entry. The parameter value must be the output of [AppendEntry] for the entry. If the
// value does not belong to p, AppendStoredLeaf returns false. It also returns false if the change
// redacts earlier revisions or is redacted itself; the caller must then decode the entry.
// AppendStoredLeaf does not check the content of the change, so the caller must compare the leaf
// with the log.
func AppendStoredLeaf(b []byte, p Position, value []byte) (leaf []byte, ok bool) {
	var room [2 * binary.MaxVarintLen64]byte
	head := binary.AppendUvarint(room[:0], p.Revision-1)
	head = binary.AppendVarint(head, p.Time.UnixMilli())
	if len(value) < revisionOffset || !bytes.HasPrefix(value[revisionOffset:], head) {
		return b, false
	}
	kind, from := value[1], revisionOffset+len(head)
	switch {
	case value[0] == version1:
	case value[0] == version3 && from < len(value) && value[from] == 0: // it redacts nothing
		from++
	default:
		return b, false
	}
	number := binary.AppendUvarint(room[:0], p.Seq)
	salt := len(value) - store.SaltSize
	end := salt - len(number)
	if end < from || !bytes.Equal(value[end:salt], number) {
		return b, false
	}
	b = appendText(append(b, leafVersion, kind), p.Subject.Key)
	b = binary.AppendUvarint(b, p.Revision)
	b = binary.AppendVarint(b, p.Time.UnixMilli())
	b = appendRevisions(b, nil)
	digest := Digest([store.SaltSize]byte(value[salt:]), value[:end])
	return append(b, digest[:]...), true
}

// decodeEntry decodes the output of [AppendEntry] into e. It returns the length of the encoded
// change in bytes.
func decodeEntry(e *store.Entry, s store.Subject, value []byte) (int, error) {
	d := decoder{s: string(value)}
	e.Change = d.change(s)
	n := d.off
	if s.Kind == store.KindToken {
		d.fail("token in the log")
	}
	if e.Seq = d.uvarint(); e.Seq == 0 {
		d.fail("missing place in the log")
	}
	if e.Change.Redacted {
		copy(e.Digest[:], d.bytes(len(e.Digest)))
	} else {
		copy(e.Salt[:], d.bytes(len(e.Salt)))
	}
	return n, d.end(s.Key)
}

// CheckDigest returns a [*store.EntryError] if the digest of the entry e does not match its change.
// The parameter next is the change in normal form. CheckDigest uses buf for the encoding of the
// change, and returns the buffer for reuse.
func CheckDigest(buf []byte, e *store.Entry, next *store.Change) ([]byte, error) {
	buf = Append(buf[:0], next)
	if !next.Redacted && Digest(e.Salt, buf) != e.Digest {
		return buf, &store.EntryError{Seq: e.Seq, Key: next.Subject().Key, Reason: "the digest does not match the content"}
	}
	return buf, nil
}

// CheckSame returns a [*store.EntryError] if the entry e differs from the stored entry at the same
// position of the log.
func CheckSame(e, stored *store.Entry) error {
	if e.Seq == stored.Seq && e.Change != nil && e.Change.Token == nil && bytes.Equal(AppendLeaf(nil, e), AppendLeaf(nil, stored)) {
		return nil
	}
	return &store.EntryError{Seq: stored.Seq, Key: stored.Change.Subject().Key, Reason: "the store has a different change with this number"}
}

// digestBuffer is the maximum total length of salt and value, in bytes, for which [Digest]
// allocates no memory.
const digestBuffer = 2048

// Digest returns the digest of a change. The value must be the output of [Append] for the change.
// Usually the digest is SHA-256 of the salt and the value. For a value of version 3, it is the
// [PublicDigest] of the public part and the salted hash of the private part. Digest cannot compute
// the digest of a redacted change, because the value no longer has the content that was hashed.
func Digest(salt [store.SaltSize]byte, value []byte) [sha256.Size]byte {
	if len(value) > 0 && value[0] == version3 {
		if before, private, after, ok := cutPrivate(value); ok {
			return publicDigest(before, after, SaltedHash(salt, private))
		}
	}
	return SaltedHash(salt, value)
}

// SaltedHash returns the SHA-256 hash of a salt followed by a value.
func SaltedHash(salt [store.SaltSize]byte, value []byte) [sha256.Size]byte {
	if len(value) <= digestBuffer-store.SaltSize {
		var buf [digestBuffer]byte
		n := copy(buf[:], salt[:])
		n += copy(buf[n:], value)
		return sha256.Sum256(buf[:n])
	}
	h := sha256.New()
	h.Write(salt[:])
	h.Write(value)
	return [sha256.Size]byte(h.Sum(nil))
}

// splitTag is hashed before the public part in [PublicDigest], where [SaltedHash] has the salt. It
// has the length of a salt. It keeps the two kinds of digests distinct.
const splitTag = "nomen/digest/v2\n"

// PublicDigest returns the digest of a change with separate public and private parts. It is the
// SHA-256 hash of a constant, the public part of the value, and the hash of the private part.
func PublicDigest(public []byte, privateHash [sha256.Size]byte) [sha256.Size]byte {
	return publicDigest(public, nil, privateHash)
}

func publicDigest(before, after []byte, privateHash [sha256.Size]byte) [sha256.Size]byte {
	if len(splitTag)+len(before)+len(after)+len(privateHash) <= digestBuffer {
		var buf [digestBuffer]byte
		n := copy(buf[:], splitTag)
		n += copy(buf[n:], before)
		n += copy(buf[n:], after)
		n += copy(buf[n:], privateHash[:])
		return sha256.Sum256(buf[:n])
	}
	h := sha256.New()
	h.Write([]byte(splitTag))
	h.Write(before)
	h.Write(after)
	h.Write(privateHash[:])
	return [sha256.Size]byte(h.Sum(nil))
}

// SplitValue returns the public and the private part of a value of version 3. [DecodePublic]
// decodes the public part alone. For a value of another version, SplitValue returns false.
func SplitValue(value []byte) (public, private []byte, ok bool) {
	if len(value) == 0 || value[0] != version3 {
		return nil, nil, false
	}
	before, private, after, ok := cutPrivate(value)
	return append(bytes.Clone(before), after...), private, ok
}

// cutPrivate returns the private part of a value of version 3, and the bytes before and after that
// part.
func cutPrivate(value []byte) (before, private, after []byte, ok bool) {
	rest := value[min(revisionOffset, len(value)):]
	number := func() uint64 {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			rest = nil
			return 0
		}
		rest = rest[size:]
		return n
	}
	number() // the revision before
	number() // the time
	if number()&partRedacts != 0 {
		for range min(number(), store.MaxValues) {
			number()
		}
	}
	before = value[:len(value)-len(rest)]
	n := number()
	if n == 0 || n > uint64(len(rest)) {
		return nil, nil, nil, false
	}
	return before, rest[:n], rest[n:], true
}

const leafVersion = 1

// AppendLeaf appends the leaf of the entry e to b, which is the data that the Merkle tree hashes
// for this entry. The leaf contains only the part of the change that stays public after a
// redaction. It does not contain the number of the entry, which is the position of the leaf in the
// tree.
func AppendLeaf(b []byte, e *store.Entry) []byte {
	c := e.Change
	b = append(b, leafVersion, kindOf(c))
	switch {
	case c.Record != nil:
		b = appendText(b, c.Record.Name.Key())
	case c.Authority != nil:
		b = appendText(b, c.Authority.Prefix.String())
	case c.User != nil:
		b = appendText(b, c.User.ID)
	case c.Rights != nil:
		b = appendText(b, c.Rights.ID)
	default:
		b = appendText(b, c.Delete.Key())
	}
	return appendLeafRest(b, c.Revision(), c.Time, c.Redacts, e.Digest)
}

// appendLeafRest appends the part of a leaf after the key.
func appendLeafRest(b []byte, revision uint64, at time.Time, redacts []uint64, digest [sha256.Size]byte) []byte {
	b = binary.AppendUvarint(b, revision)
	b = binary.AppendVarint(b, at.UnixMilli())
	b = appendRevisions(b, redacts)
	return append(b, digest[:]...)
}
