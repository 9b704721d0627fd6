package bulk

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/value"
)

// A handleBatch writes batch files for the tools of Handle.Net servers. For each active handle, the
// file has a CREATE operation with one line for each value.
type handleBatch struct{}

func (handleBatch) head() []byte { return nil }

func (handleBatch) record(b []byte, r *store.Record) ([]byte, error) {
	handle, ok := hdl.Of(r.Spelling)
	switch {
	case !ok:
		return b, &heldError{"name", "is not a handle: only names with hdl: or doi: can be in a batch file"}
	case strings.ContainsAny(handle, "\r\n") || strings.TrimSpace(handle) != handle:
		return b, &heldError{"name", "a batch file cannot hold its spaces or line breaks"}
	}
	values, err := batchValues(r)
	if err != nil {
		return b, err
	}
	b = append(b, "CREATE "...)
	b = append(b, handle...)
	b = append(b, '\n')
	for i := range values {
		if b, err = hdl.AppendLine(b, &values[i]); err != nil {
			return b, &heldError{fmt.Sprintf("value %d", values[i].Index), err.Error()}
		}
	}
	return append(b, '\n'), nil
}

// batchValues returns the values of a handle for a batch file. If a retired name has a single
// successor that is a handle, the only value is an alias for the successor.
func batchValues(r *store.Record) ([]nomen.Value, error) {
	if r.Status == nomen.Retired && len(r.Successors) == 1 {
		if other, ok := hdl.Of(r.Successors[0]); ok {
			return []nomen.Value{{Index: 1, Type: hdl.TypeAlias, Data: other}}, nil
		}
	}
	if r.Status != nomen.Active {
		return nil, errNoLine
	}
	values := value.Of(r)
	if len(values) == 0 {
		return nil, errNoLine
	}
	return values, nil
}
