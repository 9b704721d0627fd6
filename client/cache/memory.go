package cache

import (
	"cmp"
	"container/list"
	"sync"
)

// The defaults of [Limits].
const (
	DefaultMaxEntries = 100_000
	DefaultMaxBytes   = 256 << 20
)

// Limits limit a [Storage]. A field that is zero stands for its default.
type Limits struct {
	MaxEntries int
	MaxBytes   int64 // total size of the stored entries and their keys
}

func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(max(l.MaxEntries, 0), DefaultMaxEntries), cmp.Or(max(l.MaxBytes, 0), DefaultMaxBytes)}
}

// A Memory is a [Storage] that keeps the most recently used entries in memory. It is safe for
// concurrent use.
type Memory struct {
	limits Limits

	mu    sync.Mutex
	byKey map[string]*list.Element // of *item
	used  *list.List               // most recently used first
	bytes int64
}

// An item is a stored entry.
type item struct {
	key  string
	text []byte // encoded, because the caller of Get may modify the entry
}

func (i *item) size() int64 { return int64(2*len(i.key) + len(i.text)) }

var _ Storage = (*Memory)(nil)

// NewMemory returns an empty Memory.
func NewMemory(l Limits) *Memory {
	return &Memory{limits: l.withDefaults(), byKey: map[string]*list.Element{}, used: list.New()}
}

// Get implements [Storage].
func (m *Memory) Get(key string) (Entry, bool) {
	m.mu.Lock()
	e, ok := m.byKey[key]
	if !ok {
		m.mu.Unlock()
		return Entry{}, false
	}
	m.used.MoveToFront(e)
	text := e.Value.(*item).text
	m.mu.Unlock()
	out, err := decode(text)
	return out, err == nil && out.Key == key
}

// Put implements [Storage]. If an entry exceeds the limits by itself, Put does not store it.
func (m *Memory) Put(e Entry) error {
	text, err := encode(e)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(m.byKey[e.Key])
	i := &item{e.Key, text}
	if i.size() > m.limits.MaxBytes {
		return nil
	}
	m.byKey[e.Key] = m.used.PushFront(i)
	m.bytes += i.size()
	for m.used.Len() > m.limits.MaxEntries || m.bytes > m.limits.MaxBytes {
		m.drop(m.used.Back())
	}
	return nil
}

// Drop implements [Storage].
func (m *Memory) Drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(m.byKey[key])
}

func (m *Memory) drop(e *list.Element) {
	if e == nil {
		return
	}
	i := m.used.Remove(e).(*item)
	delete(m.byKey, i.key)
	m.bytes -= i.size()
}

// Len returns the number of entries.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used.Len()
}
