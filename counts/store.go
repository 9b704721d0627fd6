package counts

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
)

// A Batch has counts to add to a store. The rows are sorted by key, and no two rows have the same
// key.
type Batch struct {
	Node string // identifies the Counter
	Seq  uint64 // number of the batch, from 1
	Rows []Row
}

// A Query selects rows.
type Query struct {
	Kind     Kind
	From, To Month // inclusive
	Text     string
	Prefix   bool // select all texts that begin with Text
}

func (q Query) includes(k Key) bool {
	return k.Kind == q.Kind && k.Month >= q.From && k.Month <= q.To && (k.Text == q.Text || q.Prefix && strings.HasPrefix(k.Text, q.Text))
}

// A Store keeps counts. It is safe for concurrent use.
type Store interface {
	// Add adds a batch atomically. If the last batch of the node had the same number, Add does
	// nothing. A caller that does not know whether a batch was added can therefore add it again.
	// When Add returns nil, the counts are on disk.
	Add(ctx context.Context, b Batch) error

	// Rows yields the rows that a query selects, sorted by key.
	Rows(ctx context.Context, q Query) iter.Seq2[Row, error]

	// Roll replaces the counts of days by sums of the month, in all months before the given month.
	Roll(ctx context.Context, before Month) error
}

// A Memory is a Store in memory. The zero value is empty.
type Memory struct {
	mu   sync.Mutex
	rows map[Key][]Cell
	last map[string]uint64 // number of the last batch, by node
}

var _ Store = (*Memory)(nil)

// Add implements [Store].
func (m *Memory) Add(_ context.Context, b Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows == nil {
		m.rows, m.last = map[Key][]Cell{}, map[string]uint64{}
	}
	if m.last[b.Node] == b.Seq {
		return nil
	}
	m.last[b.Node] = b.Seq
	for _, r := range b.Rows {
		m.rows[r.Key] = Add(m.rows[r.Key], r.Cells)
	}
	return nil
}

// Rows implements [Store].
func (m *Memory) Rows(_ context.Context, q Query) iter.Seq2[Row, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []Row
	for k, cells := range m.rows {
		if q.includes(k) {
			rows = append(rows, Row{k, slices.Clone(cells)})
		}
	}
	slices.SortFunc(rows, CompareRows)
	return func(yield func(Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Roll implements [Store].
func (m *Memory) Roll(_ context.Context, before Month) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, cells := range m.rows {
		if k.Month < before {
			m.rows[k] = Whole(cells)
		}
	}
	return nil
}
