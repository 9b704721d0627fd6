package memstore

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/nomen-project/nomen/store"
)

// A version is a change with the number of its batch and its number in the log. Numbers in the log
// begin at 1; the number of a change of a token is 0. The change is never modified, but a redaction
// replaces it.
type version struct {
	moment uint64
	seq    uint64
	change *store.Change
}

// A table contains the versions of all subjects of one kind. Keys are never removed.
type table struct {
	versions map[string][]version // versions of each subject, oldest first
	keys     []string             // sorted keys; replaced by a new slice, never changed
	fresh    []string             // keys that are not in the field keys yet
}

func newTable() *table { return &table{versions: map[string][]version{}} }

func (t *table) add(key string, v version) {
	before, ok := t.versions[key]
	if !ok {
		t.fresh = append(t.fresh, key)
	}
	t.versions[key] = append(before, v)
}

// at returns the last change of a subject up to a batch and a time. It returns nil if the subject
// did not exist then. The versions of a subject are in the order of their batches and times.
func (t *table) at(key string, moment uint64, at time.Time) *store.Change {
	all := t.versions[key]
	n := sort.Search(len(all), func(i int) bool {
		return all[i].moment > moment || !all[i].change.KnownAt(at)
	})
	if n == 0 {
		return nil
	}
	return all[n-1].change
}

func (t *table) sorted() []string {
	if len(t.fresh) > 0 {
		slices.Sort(t.fresh)
		t.keys = merge(t.keys, t.fresh)
		t.fresh = nil
	}
	return t.keys
}

func merge(a, b []string) []string {
	all := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		from := &a
		if b[0] < a[0] {
			from = &b
		}
		all, *from = append(all, (*from)[0]), (*from)[1:]
	}
	return append(append(all, a...), b...)
}

func within(keys []string, scan store.Scan) []string {
	from := sort.Search(len(keys), func(i int) bool { return keys[i] > scan.After && keys[i] >= scan.Prefix })
	keys = keys[from:]
	to := sort.Search(len(keys), func(i int) bool { return !strings.HasPrefix(keys[i], scan.Prefix) })
	return keys[:to]
}
