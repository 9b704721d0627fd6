package search

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/store"
)

// version is the version of the database format and of the rules that split texts into words. An
// index with another version is built again.
const version = 1

// The first byte of a database key is the type of the entry. Each comment describes the rest of the
// key and, after a colon, the value.
const (
	spaceMeta    = 'm' // nothing: the position
	spaceSegment = 'd' // segment.after: the other fields of the segment
	spaceData    = 's' // number of the segment, and then dataKey or dataWord as below
)

// Types of entries in the data of a segment. Each comment describes the rest of the database key
// and, after a colon, the value.
const (
	dataKey = 'k' // number of a name: its key

	// For the names that existed when the segment was built, the key has the word and a zero byte,
	// and the value has the numbers of the names with the word. For a name that was added later,
	// the key has the word, a zero byte and the number of the name, and the value is empty.
	dataWord = 'w'
)

// A position identifies the last change that was indexed.
type position struct {
	Version int      `json:"version"`
	Seq     uint64   `json:"seq"`    // number of the change
	Digest  [32]byte `json:"digest"` // digest of the change
}

func positionAt(ctx context.Context, f store.Feed, seq uint64) (position, error) {
	at := position{Version: version, Seq: seq}
	if seq == 0 {
		return at, nil
	}
	for e, err := range f.Changes(ctx, seq-1) {
		if err != nil {
			return at, err
		}
		at.Digest = e.Digest
		return at, nil
	}
	return at, fmt.Errorf("search: change %d of the log is missing", seq)
}

func readPosition(db pebble.Reader) (at position, err error) {
	value, closer, err := db.Get([]byte{spaceMeta})
	if errors.Is(err, pebble.ErrNotFound) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	defer closer.Close()
	if err := json.Unmarshal(value, &at); err != nil {
		return at, err
	}
	if at.Version != version {
		return at, fmt.Errorf("it has version %d, expected %d", at.Version, version)
	}
	return at, nil
}

func (p position) write(b *pebble.Batch) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return b.Set([]byte{spaceMeta}, text, nil)
}

// A segment contains the names in a range of keys. The keys are greater than the field after of the
// segment, and at most the same field of the next segment.
type segment struct {
	after  string
	number uint32 // identifies the data of the segment; 0 if it has none
	base   uint32 // how many names the build had, which are numbered in the order of their keys
	extra  uint32 // how many changes came later, each of which has given a name the next number

	pending bool // not built yet, so its names are not found
}

// segments are the segments of an index, in the order of their keys. Searches share the slice, so
// it must not be modified.
type segments []segment

func (s segments) at(key string) int {
	return max(0, sort.Search(len(s), func(i int) bool { return s[i].after >= key })-1)
}

func (s segments) end(i int) string {
	if i+1 == len(s) {
		return ""
	}
	return s[i+1].after
}

// next returns an unused number for a new segment.
func (s segments) next() uint32 {
	n := uint32(0)
	for i := range s {
		n = max(n, s[i].number)
	}
	return n + 1
}

func (s segments) pending() int {
	return slices.IndexFunc(s, func(g segment) bool { return g.pending })
}

func (s segments) replaced(i int, by segments) segments { return slices.Concat(s[:i], by, s[i+1:]) }

const segmentSize = 13 // bytes

func readSegments(db pebble.Reader) (all segments, err error) {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceSegment}, UpperBound: []byte{spaceSegment + 1}})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		if len(v) != segmentSize {
			return nil, errors.New("invalid segment")
		}
		u := binary.BigEndian.Uint32
		all = append(all, segment{string(it.Key()[1:]), u(v), u(v[4:]), u(v[8:]), v[12] != 0})
	}
	return all, it.Error()
}

// write writes the segments in s that are not in former, or differ there. It removes the segments
// in former that are not in s, with their data.
func (s segments) write(b *pebble.Batch, former segments) error {
	is, was, numbers := map[string]bool{}, map[segment]bool{}, map[uint32]bool{}
	for _, f := range former {
		was[f] = true
	}
	for _, g := range s {
		is[g.after], numbers[g.number] = true, true
		if !was[g] {
			if err := b.Set(g.key(), g.value(), nil); err != nil {
				return err
			}
		}
	}
	for _, f := range former {
		if !is[f.after] {
			if err := b.Delete(f.key(), nil); err != nil {
				return err
			}
		}
		if !numbers[f.number] {
			if err := b.DeleteRange(data(f.number), data(f.number+1), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *segment) key() []byte { return append([]byte{spaceSegment}, s.after...) }

func (s *segment) value() []byte {
	b := make([]byte, 0, segmentSize)
	for _, n := range []uint32{s.number, s.base, s.extra} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	if s.pending {
		return append(b, 1)
	}
	return append(b, 0)
}

// data returns the prefix of the database keys under which the data of a segment is stored.
func data(number uint32) []byte { return binary.BigEndian.AppendUint32([]byte{spaceData}, number) }

// sweep removes data that belongs to no segment. A crash during a build can leave such data.
func (s segments) sweep(db *pebble.DB) error {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceData}, UpperBound: []byte{spaceData + 1}})
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; {
		if len(it.Key()) < 5 {
			return errors.New("invalid key")
		}
		n := binary.BigEndian.Uint32(it.Key()[1:])
		if !slices.ContainsFunc(s, func(g segment) bool { return g.number == n }) {
			if err := db.DeleteRange(data(n), data(n+1), pebble.NoSync); err != nil {
				return err
			}
		}
		ok = it.SeekGE(data(n + 1))
	}
	return it.Error()
}

func (s *segment) appendName(b []byte, n uint16) []byte {
	b = append(binary.BigEndian.AppendUint32(append(b, spaceData), s.number), dataKey)
	return binary.BigEndian.AppendUint16(b, n)
}

// appendWord appends the database key for a word. For a name that was added after the segment was
// built, the caller must append the number of the name.
func (s *segment) appendWord(b, word []byte) []byte {
	return append(s.appendPrefix(b, word), 0)
}

func (s *segment) appendPrefix(b, prefix []byte) []byte {
	b = append(binary.BigEndian.AppendUint32(append(b, spaceData), s.number), dataWord)
	return append(b, prefix...)
}
