package handle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/value"
)

// These are the limits of a window.
const (
	maxHandles = 20_000   // number of handles
	maxBytes   = 32 << 20 // length of the data of their values
)

// A state is the current state of a handle after the operations read so far.
type state struct {
	line   int           // of its first operation
	column int           // of its first operation, 0 for the beginning of the line
	record *store.Record // as before the file; a new record has only name and spelling
	exists bool          // the handle exists now
	values []nomen.Value
	gone   bool // the file has deleted the handle
	size   int  // length of the data that were put into the handle
	stored bool // the values include the values that the store had
}

// A window contains the handles that have been read or changed, but not yet written to the output.
type window struct {
	ctx  context.Context
	in   *from.Input
	out  *from.Output
	base string

	states  map[name.Name]*state
	order   []*state
	size    int
	written func(name.Name) // called for each handle that leaves the window; may be nil
}

func newWindow(ctx context.Context, in *from.Input, out *from.Output) *window {
	return &window{ctx: ctx, in: in, out: out, base: cmp.Or(in.Base, "hdl:"), states: map[name.Name]*state{}}
}

func (w *window) empty(handle string) (*store.Record, error) {
	spelling := w.base + hdl.Escape(handle)
	n, err := name.Parse(spelling)
	return &store.Record{Name: n, Spelling: spelling}, err
}

func (w *window) get(line int, empty *store.Record) (*state, error) {
	if s := w.states[empty.Name]; s != nil {
		return s, nil
	}
	if w.in.Current == nil {
		return w.add(line, empty, nil)
	}
	there, err := w.in.Current(w.ctx, empty.Name)
	if err != nil {
		return nil, err
	}
	return w.add(line, empty, there)
}

// fresh is like get, but does not read the store. Use it if the stored values of the handle do not
// matter.
func (w *window) fresh(line int, empty *store.Record) (*state, error) {
	if s := w.states[empty.Name]; s != nil {
		return s, nil
	}
	return w.add(line, empty, nil)
}

// add adds a handle to the window. If the window is full, add first writes the oldest half of the
// handles to the output.
func (w *window) add(line int, empty, stored *store.Record) (*state, error) {
	if len(w.order) >= maxHandles || w.size > maxBytes {
		if err := w.writeFirst((len(w.order) + 1) / 2); err != nil {
			return nil, err
		}
	}
	s := &state{line: line, record: empty}
	if stored != nil {
		s.record, s.exists, s.values, s.stored = stored, stored.Status != nomen.Retired, value.Of(stored), true
	}
	w.states[empty.Name] = s
	w.order = append(w.order, s)
	return s, nil
}

var errExists = errors.New("another value has this index")

// put adds a value to a handle. If the handle has a value with the same index, put replaces this
// value if replace is true. If replace is false, a different value with the same index is an error.
func (w *window) put(s *state, v nomen.Value, replace bool) error {
	i := slices.IndexFunc(s.values, func(have nomen.Value) bool { return have.Index == v.Index })
	switch {
	case len(v.Data) > store.MaxText:
		return fmt.Errorf("the data have %d bytes, more than the limit of %d", len(v.Data), store.MaxText)
	case i < 0 && len(s.values) >= store.MaxRecordValues:
		return fmt.Errorf("more values than the limit of %d", store.MaxRecordValues)
	case i < 0:
		s.values = append(s.values, v)
	case replace:
		s.values[i] = v
	case !same(s.values[i], v):
		return errExists
	}
	size := len(v.Data) + len(v.Type)
	s.size += size
	w.size += size
	return nil
}

// same reports whether two values are equal apart from their timestamps. An undefined TTL equals
// the default TTL.
func same(a, b nomen.Value) bool {
	a.Timestamp, b.Timestamp = "", ""
	a.TTL, b.TTL = cmp.Or(a.TTL, usualTTL()), cmp.Or(b.TTL, usualTTL())
	return a == b
}

func usualTTL() nomen.TTL { return nomen.Seconds(int(nomen.DefaultTTL.Seconds())) }

func (w *window) flush() error { return w.writeFirst(len(w.order)) }

func (w *window) writeFirst(n int) error {
	for _, s := range w.order[:n] {
		if err := w.write(s); err != nil {
			return err
		}
		if w.written != nil {
			w.written(s.record.Name)
		}
		delete(w.states, s.record.Name)
		w.size -= s.size
	}
	w.order = slices.Delete(w.order, 0, n)
	return w.ctx.Err()
}

func (w *window) write(s *state) error {
	r := s.record
	switch {
	case s.gone:
		return w.out.RecordAt(s.line, cmp.Or(s.column, 1), &store.Record{Spelling: r.Spelling, Status: nomen.Retired, Reason: "deleted by a batch file"})
	case !s.exists:
		return nil // an operation on a handle that does not exist was refused
	}
	return w.out.RecordAt(s.line, cmp.Or(s.column, 1), record(r, s.values))
}

// record returns the record to import for a handle. Its lists of locations and values are never
// nil, because the import does not change a stored list if the new list is nil.
func record(r *store.Record, values []nomen.Value) *store.Record {
	out := &store.Record{Spelling: r.Spelling, Status: nomen.Active, Locations: slices.Clone(r.Locations), Values: r.Values}
	value.Set(out, values)
	out.Locations, out.Values = notNil(out.Locations), notNil(out.Values)
	return out
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

const secretReason = "a value of the type HS_SECKEY is not imported, because the history would keep the secret: use a token of nomen"

func isSecret(kind string) bool { return ascii.EqualFold(kind, hdl.TypeSecret) }
