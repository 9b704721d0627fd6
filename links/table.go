package links

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
)

// A reader reads an ordered map from bytes to bytes. The arguments of yield in scan are valid only
// during the call.
type reader interface {
	// scan calls yield for each key in a half-open interval, in ascending order, until yield
	// returns false.
	scan(from, to []byte, yield func(key, value []byte) bool) error
	// get returns the values of keys in the same order. The value of a missing key is nil.
	get(keys ...[]byte) ([][]byte, error)
}

// A table is an ordered map from bytes to bytes.
type table interface {
	reader
	// update calls do, and atomically writes the changes that do returns. No other update of the
	// shard can run at the same time. If writing fails, update may call do again.
	update(shard byte, do func(reader) ([]write, error)) error
	// clear removes all entries.
	clear() error
	close() error
}

// A write sets a key, or deletes it if the value is nil.
type write struct{ key, value []byte }

// side is a table in a directory of this server.
type side struct {
	*pebblestore.Side
	open func() (*pebblestore.Side, error)
	wipe func() error
}

func (s *side) scan(from, to []byte, yield func(key, value []byte) bool) error {
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

func (s *side) get(keys ...[]byte) ([][]byte, error) { return getEach(s, keys) }

func getEach(r reader, keys [][]byte) ([][]byte, error) {
	all := make([][]byte, len(keys))
	for i, key := range keys {
		err := r.scan(key, append(key[:len(key):len(key)], 0), func(_, v []byte) bool {
			all[i] = append([]byte{}, v...)
			return false
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// update does not wait until the changes are on disk. After a crash, further checks restore lost
// changes.
func (s *side) update(_ byte, do func(reader) ([]write, error)) error {
	all, err := do(s)
	if err != nil || len(all) == 0 {
		return err
	}
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

func (s *side) clear() error {
	_ = s.Side.Close() // an error does not matter, because the content is deleted
	if err := s.wipe(); err != nil {
		return err
	}
	again, err := s.open()
	if err == nil {
		s.Side = again
	}
	return err
}

func (s *side) close() error { return s.Side.Close() }

// shared is a table in a database that several servers share.
type shared struct {
	*pgstore.Octets
	life context.Context // ends when the watcher is closed
	end  func()
}

const pageSize = 500

func (s *shared) scan(from, to []byte, yield func(key, value []byte) bool) error {
	return scanPages(from, to, yield, func(from, to []byte, limit int) (keys, values [][]byte, err error) {
		return s.Scan(s.life, from, to, limit)
	})
}

func scanPages(from, to []byte, yield func(key, value []byte) bool, read func(from, to []byte, limit int) (keys, values [][]byte, err error)) error {
	for limit := 2; ; limit = pageSize { // often only the first entry is needed
		keys, values, err := read(from, to, limit)
		if err != nil {
			return err
		}
		for i, key := range keys {
			if !yield(key, values[i]) {
				return nil
			}
		}
		if len(keys) < limit {
			return nil
		}
		from = append(keys[limit-1], 0)
	}
}

func (s *shared) get(keys ...[]byte) ([][]byte, error) { return getEach(s, keys) }

func (s *shared) update(shard byte, do func(reader) ([]write, error)) error {
	return s.Update(s.life, int32(shard), func(r *pgstore.OctetsReader) (keys, values [][]byte, err error) {
		all, err := do(sharedReader{r})
		for _, w := range all {
			keys, values = append(keys, w.key), append(values, w.value)
		}
		return keys, values, err
	})
}

func (s *shared) clear() error { return s.Clear(s.life) }

func (s *shared) close() error {
	s.end()
	return nil
}

type sharedReader struct{ *pgstore.OctetsReader }

func (r sharedReader) scan(from, to []byte, yield func(key, value []byte) bool) error {
	return scanPages(from, to, yield, r.Scan)
}

func (r sharedReader) get(keys ...[]byte) ([][]byte, error) {
	found, values, err := r.Get(keys)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(found))
	for i, k := range found {
		at[string(k)] = i
	}
	all := make([][]byte, len(keys))
	for i, k := range keys {
		if n, ok := at[string(k)]; ok {
			all[i] = values[n]
		}
	}
	return all, nil
}

// The first octet of a key. docs/reference/files.md describes the keys and values.
const (
	spaceMeta    = 'm'
	spaceLink    = 'l' // URL: state
	spaceDue     = 'd' // host, 0, class, minute, URL: times at which locations are due
	spaceQueue   = 'q' // second, host
	spaceHost    = 'h' // host: as JSON
	spaceRobots  = 'r' // origin: as JSON
	spaceVerdict = 'v' // verdict, URL; not for unknown, good and confirmed locations
	spaceFailing = 'f' // failing host
	spaceLarge   = 'b' // host with too many locations: their number, and how many are checked in 30 days
	spaceEvent   = 'e' // minute, event, URL or host
	spaceCounts  = 'c' // shard: number of locations by verdict, as JSON
	spaceDead    = 'x' // shard, dead URL: since when it fails, and since when it is dead
	spaceChanges = 'n' // shard: how often its dead URLs changed
)

func keyOf(space byte, parts ...string) []byte {
	k := []byte{space}
	for _, p := range parts {
		k = append(k, p...)
	}
	return k
}

// after returns the smallest key greater than all keys with a prefix. The prefix must not end with
// 0xff.
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

func isListed(v Verdict) bool { return v != Unknown && v != Good && v != Confirmed }

func verdictKey(v Verdict, url string) []byte {
	return keyOf(spaceVerdict, string([]byte{byte(v)}), url)
}

// classOf returns the class of a location in the queue of its host. Locations of lower classes are
// checked first.
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

// shards is the number of shards of a table. All data about a host are in one shard. Servers that
// share a table can update different shards concurrently.
const shards = 64

func shardOf(host string) byte { return byte(hashOf(host) % shards) }
