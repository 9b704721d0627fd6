package codec

import (
	"crypto/sha256"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// A Leaf is a decoded leaf of the log. It contains only the part of a change that stays public
// after a redaction.
type Leaf struct {
	Subject  store.Subject
	Status   nomen.Status // of a record after the change; "" for other subjects and after a deletion
	Revision uint64
	Time     time.Time
	Redacts  []uint64 // revisions of the same subject whose content the change removed
	Digest   [sha256.Size]byte
}

// ParseLeaf decodes the output of [AppendLeaf]. For any other input, the error is a
// [*CorruptError].
func ParseLeaf(leaf []byte) (*Leaf, error) {
	d := decoder{s: string(leaf)}
	l := new(Leaf)
	if d.byte() != leafVersion {
		d.fail("unknown version of a leaf")
	}
	kind := d.byte()
	if l.Subject.Kind = leafKind(kind); l.Subject.Kind == 0 {
		d.fail("unknown kind of leaf")
	}
	l.Status = kindStatus(kind)
	l.Subject.Key = d.text()
	if l.Revision = d.uvarint(); l.Revision == 0 {
		d.fail("missing revision")
	}
	l.Time = fromMillis(d.millis())
	if d.off < len(d.s) && d.s[d.off] == 0 {
		d.off++
	} else {
		l.Redacts = d.revisions(l.Revision - 1)
	}
	copy(l.Digest[:], d.bytes(len(l.Digest)))
	if err := d.end("log"); err != nil {
		return nil, err
	}
	return l, nil
}

func leafKind(kind byte) store.Kind {
	switch kind {
	case holdsActive, holdsReserved, holdsRetired, holdsDeletion:
		return store.KindName
	case holdsAuthority:
		return store.KindAuthority
	case holdsUser:
		return store.KindUser
	case holdsRights:
		return store.KindTokenRights
	}
	return 0
}
