package pebblestore

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Key spaces. The first byte of a key is its key space. New kinds of data must use other letters
// (see docs/reference/files.md).
const (
	spaceAuthority = 'a' // prefix of an authority: its last change
	spaceHistory   = 'h' // key of a subject, 0, time, revision: an earlier change of the subject
	spaceLocation  = 'l' // escaped URL and key of a name: a current location of the name
	spaceLog       = 'c' // number: reference to the change that has this number in the log
	spaceNode      = 'r' // level and index: a node of the Merkle tree over the log
	spaceMeta      = 'm' // word: data about the store itself
	spaceName      = 'n' // key of a name: its last change
	spaceToken     = 't' // ID of a token: its last change
	spaceUser      = 'p' // ID of a user: the user's last change
	spaceRights    = 'g' // ID of a token: the last change of its rights
)

// Keys in spaceMeta.
const (
	metaFormat = "mformat" // version of this format
	metaRules  = "mrules"  // name.RulesVersion of the program that made the store
	metaCount  = "mcount"  // number of records
	metaID     = "mid"     // random bytes that identify the store
)

func space(k store.Kind) byte {
	switch k {
	case store.KindName:
		return spaceName
	case store.KindAuthority:
		return spaceAuthority
	case store.KindUser:
		return spaceUser
	case store.KindTokenRights:
		return spaceRights
	default:
		return spaceToken
	}
}

// kindIn returns the kind of the subjects whose last changes are in a key space. It returns 0 for
// other key spaces, and for a key space whose changes are not in the log.
func kindIn(space byte) store.Kind {
	switch space {
	case spaceName:
		return store.KindName
	case spaceAuthority:
		return store.KindAuthority
	case spaceUser:
		return store.KindUser
	case spaceRights:
		return store.KindTokenRights
	default:
		return 0
	}
}

func appendKey(b []byte, s store.Subject) []byte {
	return append(append(b, space(s.Kind)), s.Key...)
}

// appendHistory appends the common prefix of the history keys of a subject. The prefix ends in a
// NUL, which no key of a name, an authority or a user contains.
func appendHistory(b []byte, s store.Subject) []byte {
	return append(appendKey(append(b, spaceHistory), s), 0)
}

const stampSize = 16 // length of time and revision in a history key, in bytes

// appendStamp appends a time and a revision, encoded so that later changes sort first.
func appendStamp(b []byte, at time.Time, revision uint64) []byte {
	b = binary.BigEndian.AppendUint64(b, ^(uint64(at.UnixMilli()) ^ 1<<63))
	return binary.BigEndian.AppendUint64(b, ^revision)
}

// appendMoment appends a stamp for seeking to a time. Changes later than the given time sort before
// the stamp, and all other changes sort after it.
func appendMoment(b []byte, at time.Time) []byte {
	return appendStamp(b, at, math.MaxUint64)
}

// bounds returns the range lower <= key < upper of the keys that a scan reads. The result ok is
// false for an empty range.
func bounds(k store.Kind, scan store.Scan) (lower, upper []byte, ok bool) {
	from := scan.Prefix
	if scan.After >= from && scan.After != "" {
		from = scan.After + "\x00"
	}
	lower = append([]byte{space(k)}, from...)
	upper = successor(append([]byte{space(k)}, scan.Prefix...))
	return lower, upper, string(lower) < string(upper)
}

// successor returns the first key after all keys with the prefix. The first byte of the prefix must
// not be 0xFF. The prefix is modified.
func successor(prefix []byte) []byte {
	for prefix[len(prefix)-1] == 0xff {
		prefix = prefix[:len(prefix)-1]
	}
	prefix[len(prefix)-1]++
	return prefix
}

const minMillis = -62135596800000 + 1

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func appendSeq(b []byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, spaceLog), seq)
}

func appendNode(b []byte, level int, index uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, spaceNode, byte(level)), index)
}

// markSize is the number of bytes of the leaf hash in each log row. These bytes show that a change
// was altered, without reading other rows.
const markSize = 4

// A logRow is a stored entry of the log, which refers to a change.
type logRow struct {
	seq      uint64
	subject  store.Subject
	revision uint64
	time     time.Time
	mark     [markSize]byte
}

func (r *logRow) append(b []byte) []byte {
	b = append(b, r.mark[:]...)
	b = append(appendKey(b, r.subject), 0)
	b = binary.AppendUvarint(b, r.revision)
	return binary.AppendVarint(b, r.time.UnixMilli())
}

// parseRow decodes a row. If only the value is invalid, parseRow returns an error together with a
// row that has only the number.
func parseRow(key, value []byte) (*logRow, error) {
	if len(key) != 9 {
		return nil, &CorruptError{Key: string(key), Reason: "not a key of the log"}
	}
	r := &logRow{seq: binary.BigEndian.Uint64(key[1:])}
	damage := func(reason string) (*logRow, error) {
		return &logRow{seq: r.seq}, &CorruptError{Key: string(key), Reason: reason}
	}
	end := bytes.IndexByte(value[min(markSize, len(value)):], 0)
	if end < 1 {
		return damage("truncated")
	}
	copy(r.mark[:], value)
	subject, rest := value[markSize:markSize+end], value[markSize+end+1:]
	if r.subject.Kind = kindIn(subject[0]); r.subject.Kind == 0 {
		return damage("subject must be a name, an authority, a user or the rights of a token")
	}
	r.subject.Key = string(subject[1:])
	revision, n := uvarint(rest)
	if n == 0 || revision == 0 || revision >= store.AnyRevision {
		return damage("invalid revision")
	}
	zigzag, m := uvarint(rest[n:])
	if m == 0 || n+m < len(rest) {
		return damage("invalid time")
	}
	r.revision, r.time = revision, fromMillis(int64(zigzag>>1)^-int64(zigzag&1))
	return r, nil
}

// appendEscaped appends a URL in an encoding that preserves the order of URLs. In the encoding, the
// byte FF follows each NUL, and two NULs end the URL.
func appendEscaped(b []byte, url string) []byte {
	for i := range len(url) {
		if b = append(b, url[i]); url[i] == 0 {
			b = append(b, 0xff)
		}
	}
	return b
}

func appendPlace(b []byte, p store.Place) []byte {
	b = appendEscaped(append(b, spaceLocation), p.URL)
	return append(append(b, 0, 0), p.Name.Key()...)
}

func parsePlace(key []byte) (store.Place, error) {
	bad := &CorruptError{Key: string(key), Reason: "not a location and a name"}
	if len(key) == 0 || key[0] != spaceLocation {
		return store.Place{}, bad
	}
	var url []byte
	for i := 1; i+1 < len(key); i++ {
		switch {
		case key[i] != 0:
			url = append(url, key[i])
		case key[i+1] == 0xff:
			url = append(url, 0)
			i++
		case key[i+1] == 0 && i+2 < len(key) && !bytes.Contains(key[i+2:], []byte{0}):
			return store.Place{URL: string(url), Name: name.FromKey(string(key[i+2:]))}, nil
		default:
			return store.Place{}, bad
		}
	}
	return store.Place{}, bad
}
