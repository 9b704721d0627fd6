package pebblestore

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/nomen-project/nomen/store"
)

// The key spaces, by the first byte of a key. Those of other data to come must
// not use these letters (docs/formats.md).
const (
	spaceAuthority = 'a' // prefix: the last change of an authority
	spaceHistory   = 'h' // key in its space, 0, time, revision: a change before the last
	spaceMeta      = 'm' // word: of the store itself
	spaceName      = 'n' // key: the last change of a name
	spaceToken     = 't' // ID: the last change of a token
)

// The words of spaceMeta.
const (
	metaFormat = "mformat" // the version of this format
	metaRules  = "mrules"  // name.RulesVersion when the store was made
	metaCount  = "mcount"  // how many records there are
)

func space(k store.Kind) byte {
	switch k {
	case store.KindName:
		return spaceName
	case store.KindAuthority:
		return spaceAuthority
	default:
		return spaceToken
	}
}

// appendKey appends the key of the last change of a subject.
func appendKey(b []byte, s store.Subject) []byte {
	return append(append(b, space(s.Kind)), s.Key...)
}

// appendHistory appends what the history keys of a subject begin with. Keys of
// names and authorities have no NUL.
func appendHistory(b []byte, s store.Subject) []byte {
	return append(appendKey(append(b, spaceHistory), s), 0)
}

const stampSize = 16 // bytes of time and revision in a history key

// appendStamp appends a time and a revision so that later ones come first.
func appendStamp(b []byte, at time.Time, revision uint64) []byte {
	b = binary.BigEndian.AppendUint64(b, ^(uint64(at.UnixMilli()) ^ 1<<63))
	return binary.BigEndian.AppendUint64(b, ^revision)
}

// appendMoment appends the stamp before all changes that were not later than at.
func appendMoment(b []byte, at time.Time) []byte {
	return appendStamp(b, at, math.MaxUint64)
}

// bounds returns the keys of a space between which a scan lies, the second not
// included; ok is false if nothing lies between them.
func bounds(k store.Kind, scan store.Scan) (lower, upper []byte, ok bool) {
	from := scan.Prefix
	if scan.After >= from && scan.After != "" {
		from = scan.After + "\x00"
	}
	lower = append([]byte{space(k)}, from...)
	upper = successor(append([]byte{space(k)}, scan.Prefix...))
	return lower, upper, string(lower) < string(upper)
}

// successor returns the first key after all that begin with prefix, whose first
// byte is not 0xFF.
func successor(prefix []byte) []byte {
	for prefix[len(prefix)-1] == 0xff {
		prefix = prefix[:len(prefix)-1]
	}
	prefix[len(prefix)-1]++
	return prefix
}
