package pgstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// errBroken is wrapped by errors about rows that the store cannot have written.
var errBroken = errors.New("the database is damaged")

// An entry is a change as the tables nomen_pending and nomen_log contain it: a reference to the
// content, and the hash of the leaf in the Merkle tree.
type entry struct {
	kind     store.Kind
	key      string
	revision uint64
	time     int64       // in milliseconds
	leaf     ledger.Hash // in nomen_log, only the first bytes of the hash
}

// checkSize is the number of bytes of the leaf hash that nomen_log contains for each entry. The
// stored nodes of the tree only show that one of 256 entries was altered. The leaf hashes show
// which one.
const checkSize = 4

func (e *entry) subject() store.Subject { return store.Subject{Kind: e.kind, Key: e.key} }

func (e *entry) appendTo(b []byte, leafSize int) []byte {
	b = append(b, byte(e.kind))
	b = binary.AppendUvarint(b, uint64(len(e.key)))
	b = append(b, e.key...)
	b = binary.AppendUvarint(b, e.revision)
	b = binary.AppendVarint(b, e.time)
	return append(b, e.leaf[:leafSize]...)
}

func readEntries(b []byte, leafSize int) ([]entry, error) {
	var all []entry
	for offset := len(b); len(b) > 0; {
		e, rest, ok := readEntry(b, leafSize)
		if !ok {
			return nil, fmt.Errorf("%w: entries of the log, offset %d", errBroken, offset-len(b))
		}
		all, b = append(all, e), rest
	}
	return all, nil
}

func readEntry(b []byte, leafSize int) (e entry, rest []byte, ok bool) {
	e.kind, b = store.Kind(b[0]), b[1:]
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return e, nil, false
	}
	e.key, b = string(b[n:n+int(size)]), b[n+int(size):]
	if e.revision, n = binary.Uvarint(b); n <= 0 {
		return e, nil, false
	}
	b = b[n:]
	if e.time, n = binary.Varint(b); n <= 0 || len(b)-n < leafSize {
		return e, nil, false
	}
	b = b[n:]
	copy(e.leaf[:leafSize], b)
	return e, b[leafSize:], slices.Contains(changeKinds[:], e.kind)
}

// A changeRow is a change as a row of nomen_present or nomen_past.
type changeRow struct {
	subject        store.Subject
	time, revision int64
	salt, value    []byte // for a redacted change, the salt is the digest
}

func (r *changeRow) size() int { return len(r.value) + len(r.subject.Key) }

// makeRow returns the row for the change of an entry. It also sets the digest of the entry, unless
// the change is redacted.
func makeRow(s store.Subject, e *store.Entry) changeRow {
	r := changeRow{subject: s, time: e.Change.Time.UnixMilli(), revision: int64(e.Change.Revision()), value: codec.Append(nil, e.Change)}
	if e.Change.Redacted {
		r.salt = append(r.salt, e.Digest[:]...)
		return r
	}
	r.salt = append(r.salt, e.Salt[:]...)
	e.Digest = codec.Digest(e.Salt, r.value)
	return r
}

// decode returns the entry of a row, without the number in the log.
func (r *changeRow) decode() (*store.Entry, error) {
	c, err := codec.Decode(r.subject, r.value)
	if err != nil {
		return nil, err
	}
	e := &store.Entry{Change: c}
	want := store.SaltSize
	if c.Redacted {
		want = len(e.Digest)
	}
	switch {
	case len(r.salt) != want:
		return nil, &codec.CorruptError{Key: r.subject.Key, Reason: fmt.Sprintf("its salt has %d bytes, expected %d", len(r.salt), want)}
	case c.Redacted:
		copy(e.Digest[:], r.salt)
	default:
		copy(e.Salt[:], r.salt)
		e.Digest = codec.Digest(e.Salt, r.value)
	}
	return e, nil
}

// redact replaces the content of the row by the digest. If the row is already redacted, redact does
// nothing.
func (r *changeRow) redact() error {
	e, err := r.decode()
	if err != nil || e.Change.Redacted {
		return err
	}
	e.Change = e.Change.Redact()
	*r = makeRow(r.subject, e)
	return nil
}

func entryOf(s store.Subject, e *store.Entry) entry {
	return entry{
		kind: s.Kind, key: s.Key, revision: e.Change.Revision(), time: e.Change.Time.UnixMilli(),
		leaf: ledger.LeafHash(codec.AppendLeaf(nil, e)),
	}
}
