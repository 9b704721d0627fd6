package handle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/store"
)

// epicPath is the path of version 2 of the ePIC API.
const epicPath = "/v2/handles/"

// An epicValue is a value in the JSON of the ePIC API.
type epicValue struct {
	Index     int             `json:"idx"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"parsed_data"`
	Timestamp string          `json:"timestamp,omitempty"`
	TTL       any             `json:"ttl"`
}

func epicShown(values []nomen.Value) ([]epicValue, error) {
	all := make([]epicValue, len(values))
	for i := range values {
		v := shown(&values[i])
		data, err := encode(v.Data.Value, false)
		if err != nil {
			return nil, err
		}
		all[i] = epicValue{v.Index, v.Type, data, v.Timestamp, v.TTL}
	}
	return all, nil
}

// epic answers a request to the ePIC API. The path is PREFIX, PREFIX/ or an encoded handle.
func (q *request) epic(path string) {
	q.cors()
	q.handle = hdl.Unescape(path)
	prefix, suffix, _ := strings.Cut(q.handle, "/")
	q.run(func() error {
		switch {
		case q.r.Method == http.MethodOptions:
			q.options()
			return nil
		case prefix == "":
			return failed(codeInvalidHandle, "Empty handle invalid")
		case suffix == "":
			return q.epicPrefix(prefix)
		}
		return q.epicHandle()
	})
}

func (q *request) epicPrefix(prefix string) error {
	switch q.r.Method {
	case http.MethodGet, http.MethodHead:
		return q.epicList(prefix)
	case http.MethodPost:
		q.handle = prefix + "/" + newSuffix()
		return q.epicPut(func(exists bool) bool { return !exists })
	}
	return q.epicMethod("GET, HEAD, POST, OPTIONS")
}

func (q *request) epicHandle() error {
	switch q.r.Method {
	case http.MethodGet, http.MethodHead:
		return q.epicGet()
	case http.MethodPut:
		return q.epicPut(q.precondition)
	case http.MethodDelete:
		return q.epicDelete()
	}
	return q.epicMethod("GET, HEAD, PUT, DELETE, OPTIONS")
}

func (q *request) epicMethod(allowed string) error {
	q.w.Header().Set("Allow", allowed)
	q.answer(http.StatusMethodNotAllowed, codeProtocol, "Unknown method "+q.r.Method)
	return nil
}

// precondition reports whether If-Match and If-None-Match permit a change. The parameter exists
// reports whether the handle exists.
func (q *request) precondition(exists bool) bool {
	h := q.r.Header
	return (h.Get("If-None-Match") != "*" || !exists) && (h.Get("If-Match") != "*" || exists)
}

func (q *request) epicGet() error {
	rec, err := q.readFresh(q.r.Context(), q.handle, q.client())
	if err != nil {
		return err
	}
	all, err := epicShown((&selection{}).of(rec))
	if err == nil {
		q.send(http.StatusOK, all)
	}
	return err
}

var errPrecondition = errors.New("handle: precondition failed")

// epicPut creates a handle or replaces its values if the function permits returns true.
func (q *request) epicPut(permits func(exists bool) bool) error {
	if err := q.needClient(); err != nil {
		return err
	}
	given, err := readEpic(q.r.Body)
	if err != nil {
		return err
	}
	n, err := q.nameOf(q.handle)
	if err != nil {
		return err
	}
	created, err := q.apply(q.r.Context(), n, func(existing []nomen.Value, exists bool) ([]nomen.Value, error) {
		if !permits(exists) {
			return nil, errPrecondition
		}
		return indexed(given, existing)
	})
	switch {
	case errors.Is(err, errPrecondition):
		q.answer(http.StatusPreconditionFailed, codeExists, "the handle does not have the state that the request needs")
		return nil
	case err != nil:
		return err
	case created:
		q.w.Header().Set("Location", q.call.Base+epicPath+hdl.Escape(q.handle))
		q.w.WriteHeader(http.StatusCreated)
		return nil
	}
	q.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (q *request) epicDelete() error {
	if err := q.needClient(); err != nil {
		return err
	}
	n, err := q.nameOf(q.handle)
	if err != nil {
		return err
	}
	if err = q.retire(q.r.Context(), n); err == nil {
		q.w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// readEpic parses a list of values in the JSON of ePIC. If a value does not have an index, its
// index is 0.
func readEpic(body io.Reader) ([]nomen.Value, error) {
	var given []struct {
		epicValue
		TTL json.RawMessage `json:"ttl"`
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, failed(codeProtocol, "invalid list of values: %v", err)
	}
	if len(given) > maxGiven {
		return nil, failed(codeInvalidValue, "more than %d values", maxGiven)
	}
	all := make([]nomen.Value, len(given))
	for i, g := range given {
		if all[i], err = g.value(g.TTL); err != nil {
			return nil, failed(codeInvalidValue, "%v", err)
		}
	}
	return all, nil
}

func (g *epicValue) value(ttl json.RawMessage) (v nomen.Value, err error) {
	switch {
	case g.Index < 0 || g.Index > hdl.MaxIndex:
		return v, fmt.Errorf("invalid idx %d: must be positive", g.Index)
	case g.Type == "" || g.Data == nil:
		return v, errors.New("a value must have type and parsed_data")
	case ascii.EqualFold(g.Type, typeSecret):
		return v, errSecret
	}
	v.Index, v.Type = g.Index, g.Type
	if v.TTL, err = hdl.ReadTTL(ttl); err != nil {
		return v, err
	}
	if ascii.EqualFold(g.Type, typeAdmin) && g.Data[0] == '{' {
		v.Format = hdl.FormatAdmin
		v.Data, err = hdl.ReadAdmin(g.Data)
		return v, err
	}
	if err := json.Unmarshal(g.Data, &v.Data); err != nil || string(g.Data) == "null" {
		return v, fmt.Errorf("invalid parsed_data of type %.40q: want a string", g.Type)
	}
	return v, nil
}

// indexed assigns an index to each value in a request. A value without an index gets that of an
// existing value of the same type, or a free index. It also gets the permissions of the existing
// value with the same index.
func indexed(values, existing []nomen.Value) ([]nomen.Value, error) {
	all, used := slices.Clone(values), map[int]bool{}
	for i := range all {
		if n := all[i].Index; n != 0 && used[n] {
			return nil, failed(codeInvalidValue, "the idx %d is given twice", n)
		}
		used[all[i].Index] = true
	}
	for i := range all {
		v := &all[i]
		if v.Index == 0 {
			v.Index = indexFor(v.Type, existing, used)
			used[v.Index] = true
		}
		for _, old := range existing {
			if old.Index == v.Index {
				v.Permissions, v.References = old.Permissions, old.References
			}
		}
	}
	return all, nil
}

func indexFor(kind string, existing []nomen.Value, occupied map[int]bool) int {
	for _, old := range existing {
		if ascii.EqualFold(old.Type, kind) && !occupied[old.Index] {
			return old.Index
		}
	}
	used := func(n int) bool {
		return occupied[n] || slices.ContainsFunc(existing, func(v nomen.Value) bool { return v.Index == n })
	}
	n := 2 // as in pyhandle: 1 is for URLs, and 100 to 199 are for administrators
	switch {
	case ascii.EqualFold(kind, typeURL):
		n = 1
	case ascii.EqualFold(kind, typeAdmin):
		n = 100
	}
	for used(n) || n >= 100 && n < 200 && !ascii.EqualFold(kind, typeAdmin) {
		n++
	}
	return n
}

const maxShown = 10_000

// epicList sends the suffixes of the handles with a prefix that match the conditions in the query.
// If the request has the header field Depth, epicList also sends the values.
func (q *request) epicList(prefix string) error {
	q.handle = ""
	if err := q.needClient(); err != nil {
		return err
	}
	spans, err := q.spans(prefix)
	if err != nil {
		return err
	}
	found, err := q.find(q.criteria(), spans)
	if err == nil {
		found, err = q.paged(found)
	}
	if err != nil {
		return err
	}
	if depth := q.r.Header.Get("Depth"); depth == "1" || ascii.EqualFold(depth, "infinity") {
		return q.epicValues(found)
	}
	suffixes := make([]string, len(found))
	for i := range found {
		_, suffixes[i], _ = strings.Cut(found[i].handle, "/")
	}
	q.send(http.StatusOK, suffixes)
	return nil
}

func (q *request) epicValues(found []match) error {
	if len(found) > maxShown {
		return failed(codeProtocol, "more than %d handles: ask for pages with limit and page", maxShown)
	}
	all := make(map[string][]epicValue, len(found))
	for i := range found {
		rec, err := q.readFresh(q.r.Context(), found[i].handle, q.client())
		if errors.Is(err, store.ErrNotFound) { // the handle was deleted concurrently
			continue
		}
		if err == nil {
			all["/handles/"+found[i].handle], err = epicShown((&selection{}).of(rec))
		}
		if err != nil {
			return err
		}
	}
	q.send(http.StatusOK, all)
	return nil
}
