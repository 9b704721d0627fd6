package handle

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const why = "Handle client"

// maxAttempts is the maximum number of attempts to make a change while other clients change the
// same handle.
const maxAttempts = 10

func (q *request) put() error {
	if err := q.needClient(); err != nil {
		return err
	}
	if kind, _, err := mime.ParseMediaType(q.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return failed(codeProtocol, "java.lang.Exception: Unsupported media type %s", q.r.Header.Get("Content-Type"))
	}
	minted := q.query.flag("mintNewSuffix", false)
	given, err := readValues(q.r.Body, q.handle)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return err
	case err != nil:
		return failed(codeProtocol, "com.google.gson.JsonParseException: %v", err)
	}
	if minted {
		q.handle += newSuffix()
	}
	n, err := q.nameOf(q.handle)
	if err != nil {
		return err
	}
	change := edit{given: given, overwrite: q.query.flag("overwrite", true)}
	if change.partial, err = q.indexes(given); err != nil {
		return err
	}
	created, err := q.apply(q.r.Context(), n, change.put)
	if err != nil {
		return err
	}
	if created {
		q.succeed(http.StatusCreated)
		return nil
	}
	q.succeed(http.StatusOK)
	return nil
}

func newSuffix() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// variousIndexes is a value of the parameter "index". It limits a change to the indexes in the
// body.
const variousIndexes = "various"

// indexes reports whether the query limits the change to certain indexes. It returns an error if
// these are not the indexes of the given values.
func (q *request) indexes(given []nomen.Value) (bool, error) {
	texts := q.query.all("index")
	if len(texts) == 0 || slices.Contains(texts, variousIndexes) {
		return len(texts) > 0, nil
	}
	asked, err := numbersOf(texts)
	if err != nil {
		return false, err
	}
	have := map[int]bool{}
	for i := range given {
		have[given[i].Index] = true
	}
	if !maps.Equal(asked, have) {
		return false, failed(codeProtocol, "java.lang.Exception: Mismatched indexes in PUT request")
	}
	return true, nil
}

func numbersOf(texts []string) (map[int]bool, error) {
	all := map[int]bool{}
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, failed(codeProtocol, "java.lang.NumberFormatException: For input string: %q", text)
		}
		all[n] = true
	}
	return all, nil
}

// A change is a function that returns the new values of a handle. If the handle does not exist,
// existing is nil.
type change func(existing []nomen.Value, exists bool) ([]nomen.Value, error)

// An edit is the change that a PUT request describes.
type edit struct {
	given     []nomen.Value
	partial   bool // keep values with other indexes
	overwrite bool
}

func (e *edit) put(there []nomen.Value, exists bool) ([]nomen.Value, error) {
	switch {
	case !e.partial && exists && !e.overwrite:
		return nil, failed(codeExists, "")
	case !e.partial:
		return e.given, nil
	case !exists:
		return nil, failed(codeNotFound, "")
	}
	all := map[int]nomen.Value{}
	for _, v := range there {
		all[v.Index] = v
	}
	for _, v := range e.given {
		if _, taken := all[v.Index]; taken && !e.overwrite {
			return nil, failed(codeValueExists, "")
		}
		all[v.Index] = v
	}
	return slices.Collect(maps.Values(all)), nil
}

func (q *request) remove() error {
	if err := q.needClient(); err != nil {
		return err
	}
	indexes, err := numbersOf(q.query.all("index"))
	if err != nil {
		return err
	}
	n, err := q.nameOf(q.handle)
	if err != nil {
		return err
	}
	if len(indexes) == 0 {
		err = q.retire(q.r.Context(), n)
	} else {
		_, err = q.apply(q.r.Context(), n, func(existing []nomen.Value, exists bool) ([]nomen.Value, error) {
			return without(existing, exists, indexes)
		})
	}
	if err == nil {
		q.succeed(http.StatusOK)
	}
	return err
}

func without(existing []nomen.Value, exists bool, indexes map[int]bool) ([]nomen.Value, error) {
	if !exists {
		return nil, failed(codeNotFound, "")
	}
	rest := slices.DeleteFunc(slices.Clone(existing), func(v nomen.Value) bool { return indexes[v.Index] })
	if len(rest) == len(existing) {
		return nil, failed(codeNoValues, "")
	}
	return rest, nil
}

// retire deletes a handle if it is reserved, and retires it otherwise.
func (q *request) retire(ctx context.Context, n name.Name) error {
	rec, err := q.current(ctx, n)
	switch {
	case err != nil:
		return err
	case rec == nil || rec.Status == nomen.Retired:
		return failed(codeNotFound, "")
	case rec.Status == nomen.Reserved:
		_, err = q.registrar.Delete(ctx, q.actor, n, rec.Revision, why)
	default:
		_, err = q.registrar.Retire(ctx, q.actor, n, registrar.Retirement{Reason: "deleted by a Handle client", Expected: rec.Revision}, why)
	}
	return err
}

// current returns the record of a name, or nil. If the client has no rights for the name, the error
// does not disclose whether the record exists.
func (q *request) current(ctx context.Context, n name.Name) (*store.Record, error) {
	kept, err := q.registrar.Kept(ctx, n, time.Time{})
	if err != nil {
		return nil, err
	}
	if !q.actor.MayName(kept, registrar.Editor) {
		return nil, q.actor.Denied(registrar.Editor, kept, n.Key())
	}
	rec, err := q.store.Get(store.Fresh(ctx), kept, time.Time{})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return rec, err
}

// apply changes the values of a name. If the handle is new, created is true.
func (q *request) apply(ctx context.Context, n name.Name, do change) (created bool, err error) {
	for range maxAttempts {
		if created, err = q.applyOnce(ctx, n, do); !errors.As(err, new(*store.ConflictError)) {
			return created, err
		}
	}
	return created, err
}

func (q *request) applyOnce(ctx context.Context, n name.Name, do change) (created bool, err error) {
	rec, err := q.current(ctx, n)
	if err != nil {
		return false, err
	}
	exists := rec != nil && rec.Status == nomen.Active
	var there []nomen.Value
	if exists {
		there = valuesOf(rec)
	}
	values, err := do(there, exists)
	if err != nil {
		return false, err
	}
	req := changed(n, q.handle, rec, stamped(values, there, timestamp(q.now())))
	_, err = q.registrar.Put(ctx, q.actor, req, why)
	return !exists, err
}

// stamped sorts values by index and sets their timestamps. A value that is unchanged keeps its
// timestamp. All others get the given timestamp.
func stamped(values, existing []nomen.Value, timestamp string) []nomen.Value {
	before := map[int]nomen.Value{}
	for _, v := range existing {
		before[v.Index] = v
	}
	all := slices.Clone(values)
	for i := range all {
		v := &all[i]
		old, ok := before[v.Index]
		v.Timestamp = timestamp
		if same := *v; ok {
			if same.Timestamp = old.Timestamp; same == old {
				v.Timestamp = old.Timestamp
			}
		}
	}
	slices.SortFunc(all, func(a, b nomen.Value) int { return a.Index - b.Index })
	return all
}

func spelling(n name.Name, handle string) string {
	scheme, _, _ := strings.Cut(n.Key(), ":")
	return scheme + ":" + hdl.Escape(handle)
}
