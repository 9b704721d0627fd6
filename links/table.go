package links

import (
	"cmp"
	"encoding/binary"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/store/pebblestore"
)

// A table is an ordered map of octets. The values that scan passes are valid only during the call.
type table interface {
	// scan calls yield for the keys from the key from up to, but not including, the key to, until
	// yield returns false.
	scan(from, to []byte, yield func(key, value []byte) bool) error
	// apply writes all changes or none.
	apply([]write) error
}

// A write sets a key, or deletes it if the value is nil.
type write struct{ key, value []byte }

// side is a table on disk.
type side struct{ *pebblestore.Side }

func (s side) scan(from, to []byte, yield func(key, value []byte) bool) error {
	it, err := s.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			it.Close()
			return err
		}
		if !yield(it.Key(), value) {
			break
		}
	}
	return cmp.Or(it.Error(), it.Close())
}

// apply does not wait until the changes are on disk: what is lost is found again by further checks.
func (s side) apply(all []write) error {
	b := s.NewBatch()
	defer b.Close()
	for _, w := range all {
		var err error
		if w.value == nil {
			err = b.Delete(w.key, nil)
		} else {
			err = b.Set(w.key, w.value, nil)
		}
		if err != nil {
			return err
		}
	}
	if err := s.Apply(b, pebble.NoSync); err != nil {
		return err
	}
	return s.Err()
}

// The first octet of a key. docs/reference/files.md describes the keys and values.
const (
	spaceMeta    = 'm'
	spaceLink    = 'l' // URL: state
	spaceDue     = 'd' // host, 0, class, minute, URL
	spaceQueue   = 'q' // second, host
	spaceHost    = 'h' // host: as JSON
	spaceRobots  = 'r' // origin: as JSON
	spaceVerdict = 'v' // verdict, URL; not for unknown, good and confirmed locations
	spaceFailing = 'f' // failing host
	spaceLarge   = 'b' // host with too many locations: their number, and how many are checked in 30 days
	spaceEvent   = 'e' // minute, event, URL or host
)

func keyOf(space byte, parts ...string) []byte {
	k := []byte{space}
	for _, p := range parts {
		k = append(k, p...)
	}
	return k
}

// after returns the first key that does not begin with a prefix, which must not end with 0xff.
func after(prefix []byte) []byte {
	end := append([]byte{}, prefix...)
	end[len(end)-1]++
	return end
}

func uint32Text(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }

func minutesOf(t time.Time) uint32 { return uint32(clamp(t.Unix() / 60)) }
func secondsOf(t time.Time) uint32 { return uint32(clamp(t.Unix())) }

func clamp(n int64) int64 { return min(max(n, 1), math.MaxUint32) }

func dueKey(host string, class byte, t time.Time, url string) []byte {
	return keyOf(spaceDue, host, "\x00", string([]byte{class}), uint32Text(minutesOf(t)), url)
}

func queueKey(second uint32, host string) []byte {
	return keyOf(spaceQueue, uint32Text(second), host)
}

// isListed reports whether the locations with a verdict are in the space of verdicts.
func isListed(v Verdict) bool { return v != Unknown && v != Good && v != Confirmed }

func verdictKey(v Verdict, url string) []byte {
	return keyOf(spaceVerdict, string([]byte{byte(v)}), url)
}

// classOf returns the class of a location in the queue of its host. The lowest class is checked
// first.
func classOf(v Verdict) byte {
	switch v {
	case Failing, Suspect:
		return 0
	case Unknown:
		return 1
	}
	return classes - 1
}

const classes = 3
