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

// version is the version of the key spaces and of the rules for splitting texts into words. An
// index of another version is built again.
const version = 1

// The key spaces, identified by the first byte of a key.
const (
	spaceMeta    = 'm' // the position
	spaceSegment = 'd' // key after which a segment begins: its segment
	spaceData    = 's' // number of a segment: its names and words
)

// The data of a segment.
const (
	dataKey  = 'k' // number of a name: its key
	dataWord = 'w' // word, 0: numbers of names; word, 0, number of a name: nothing
)

// A position is how much of the store an index has.
type position struct {
	Version int      `json:"version"`
	Seq     uint64   `json:"seq"`    // number of the last change of the log that the index has
	Digest  [32]byte `json:"digest"` // digest of that change
}

// positionAt returns the position after a change of the log.
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

// A segment is a range of names. It has the names whose keys are greater than after, up to the next
// segment.
type segment struct {
	after  string
	number uint32 // identifies its data; 0 if it has none
	base   uint32 // number of names when it was built; their numbers are in the order of their keys
	extra  uint32 // changes since then; each has given a name the next number

	pending bool // to be built; its names cannot be found yet
}

// segments are the segments of an index, in order. A slice that searches can see is not modified.
type segments []segment

// at returns the position of the segment of a key.
func (s segments) at(key string) int {
	return max(0, sort.Search(len(s), func(i int) bool { return s[i].after >= key })-1)
}

// end returns the last key that segment i can have, or "" if it is the last segment.
func (s segments) end(i int) string {
	if i+1 == len(s) {
		return ""
	}
	return s[i+1].after
}

// next returns a number for a new segment.
func (s segments) next() uint32 {
	n := uint32(0)
	for i := range s {
		n = max(n, s[i].number)
	}
	return n + 1
}

// pending returns the position of the first segment that is to be built, or -1.
func (s segments) pending() int {
	return slices.IndexFunc(s, func(g segment) bool { return g.pending })
}

// replaced returns a copy of s with other segments in the place of segment i.
func (s segments) replaced(i int, by segments) segments { return slices.Concat(s[:i], by, s[i+1:]) }

const segmentSize = 13 // bytes of a stored segment

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

// write writes the segments that differ from the former ones, and removes those that are gone.
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

// data returns the beginning of the keys of the data of a segment.
func data(number uint32) []byte { return binary.BigEndian.AppendUint32([]byte{spaceData}, number) }

// sweep removes the data of segments that are not in s: they were not completed before a crash.
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

// appendName appends the key under which the key of a name is stored.
func (s *segment) appendName(b []byte, n uint16) []byte {
	b = append(binary.BigEndian.AppendUint32(append(b, spaceData), s.number), dataKey)
	return binary.BigEndian.AppendUint16(b, n)
}

// appendWord appends the key for the numbers of the names that contain a word. The key of a
// name that was added later continues with its number.
func (s *segment) appendWord(b, word []byte) []byte {
	return append(s.appendPrefix(b, word), 0)
}

// appendPrefix appends the beginning of the keys of the words that begin with prefix.
func (s *segment) appendPrefix(b, prefix []byte) []byte {
	b = append(binary.BigEndian.AppendUint32(append(b, spaceData), s.number), dataWord)
	return append(b, prefix...)
}
