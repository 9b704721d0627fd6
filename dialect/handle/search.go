package handle

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/store"
)

const searchPath = "/hrls/handles"

// Parameters that select a page of the search results.
const (
	limitKey = "limit"
	pageKey  = "page"
)

// A criterion is a condition of a search. The handle must have a value of this type whose data
// match the pattern. In the pattern, "*" matches any text.
type criterion struct{ kind, pattern string }

func (q *request) criteria() (all []criterion) {
	for _, p := range q.query {
		switch p.key {
		case "", limitKey, pageKey, "callback", "pretty": // parameters that are not types of values
		default:
			all = append(all, criterion{p.key, p.value})
		}
	}
	return all
}

func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return text == pattern
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		if _, text, ok = strings.Cut(text, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(text, parts[last])
}

type match struct{ key, handle string }

func isMatch(values []nomen.Value, all []criterion) bool {
	return !slices.ContainsFunc(all, func(c criterion) bool {
		return !slices.ContainsFunc(values, func(v nomen.Value) bool {
			return ascii.EqualFold(v.Type, c.kind) && v.Format == nomen.FormatText && matches(c.pattern, v.Data)
		})
	})
}

// find returns the handles that satisfy all conditions and that the client may list (see mayList),
// sorted by key. The keys begin with one of the texts in spans.
func (q *request) find(all []criterion, spans []string) (found []match, err error) {
	release, err := q.occupy()
	if err != nil {
		return nil, err
	}
	defer release()
	err = q.candidates(q.r.Context(), all, spans, func(rec *store.Record) error {
		values := (&selection{}).of(&record{values: valuesOf(rec), admin: true})
		if !isMatch(values, all) {
			return nil
		}
		if len(found) == maxListed {
			return failed(codeProtocol, "more than %d handles: add conditions", maxListed)
		}
		handle, _ := hdl.Of(rec.Spelling)
		found = append(found, match{rec.Name.Key(), handle})
		return nil
	})
	slices.SortFunc(found, func(a, b match) int { return strings.Compare(a.key, b.key) })
	return slices.Compact(found), err // the index of locations may yield a name several times
}

// candidates calls do for all records that may satisfy the conditions. If there is a condition on a
// URL, these are only records with such a location.
func (q *request) candidates(ctx context.Context, all []criterion, spans []string, do func(*store.Record) error) error {
	ctx = store.Fresh(ctx)
	for _, c := range all {
		if begin, _, _ := strings.Cut(c.pattern, "*"); ascii.EqualFold(c.kind, typeURL) && strings.Contains(begin, "://") {
			return q.located(ctx, begin, spans, do)
		}
	}
	for _, span := range spans {
		for rec, err := range q.store.List(ctx, store.Scan{Prefix: span}) {
			if err == nil && q.mayList(rec) {
				err = do(rec)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *request) located(ctx context.Context, begin string, spans []string, do func(*store.Record) error) error {
	for place, err := range store.Find(ctx, q.store, begin, store.Place{}) {
		if err != nil {
			return err
		}
		n := place.Name
		if !slices.ContainsFunc(spans, func(s string) bool { return strings.HasPrefix(n.Key(), s) }) {
			continue
		}
		rec, err := q.store.Get(ctx, n, time.Time{})
		if err == nil && q.mayList(rec) {
			err = do(rec)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (q *request) reverse() error {
	if q.r.Method != http.MethodGet && q.r.Method != http.MethodHead {
		q.w.Header().Set("Allow", "GET, HEAD")
		q.answer(http.StatusMethodNotAllowed, codeProtocol, "Unknown method "+q.r.Method)
		return nil
	}
	if err := q.needClient(); err != nil {
		return err
	}
	all := q.criteria()
	if len(all) == 0 {
		return failed(codeProtocol, "no search terms: add conditions such as URL=*example.org*")
	}
	found, err := q.find(all, q.scopeSpans())
	if err != nil {
		return err
	}
	if found, err = q.paged(found); err != nil {
		return err
	}
	handles := make([]string, len(found))
	for i := range found {
		handles[i] = found[i].handle
	}
	q.send(http.StatusOK, handles)
	return nil
}

func (q *request) scopeSpans() (all []string) {
	for _, p := range q.scope {
		all = append(all, p.Spans()...)
	}
	return all
}

// paged returns the requested page of the results. The first page has the number 1. If there is no
// limit, or if the limit is 0, a single page has all results.
func (q *request) paged(found []match) ([]match, error) {
	at := map[string]int{pageKey: 1}
	for _, key := range []string{limitKey, pageKey} {
		if text := q.query.get(key); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 || n > hdl.MaxIndex {
				return nil, failed(codeProtocol, "invalid %s %q: want a number", key, text)
			}
			at[key] = n
		}
	}
	limit := at[limitKey]
	if limit == 0 {
		return found, nil
	}
	begin := min((max(at[pageKey], 1)-1)*limit, len(found))
	return found[begin:min(begin+limit, len(found))], nil
}
