package handle

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A page is the part of a list that a client requests. If the size is negative, this is the whole
// list.
type page struct{ number, size int }

func (p page) first() int {
	if p.size <= 0 {
		return 0
	}
	return p.number * p.size
}

func (p page) has(i int) bool {
	return p.size < 0 || i >= p.first() && i-p.first() < p.size
}

// page returns the requested page. The result both is true if the query has both the number and the
// size of the page.
func (q *request) page() (p page, both bool, err error) {
	p = page{0, -1}
	for key, to := range map[string]*int{"page": &p.number, "pageSize": &p.size} {
		if text := q.query.get(key); text != "" {
			if *to, err = strconv.Atoi(text); err != nil {
				return p, false, failed(codeProtocol, "java.lang.NumberFormatException: For input string: %q", text)
			}
		}
	}
	p.number, p.size = max(p.number, 0), max(p.size, -1)
	if p.size > 0 && p.number > hdl.MaxIndex/p.size {
		return p, false, failed(codeProtocol, "page out of range")
	}
	return p, q.query.get("page") != "" && q.query.get("pageSize") != "", nil
}

// list sends the handles with a prefix for which the client has rights.
func (q *request) list() error {
	if err := q.needClient(); err != nil {
		return err
	}
	given := q.query.get("prefix")
	spans, err := q.spans(given)
	if err != nil {
		return err
	}
	p, both, err := q.page()
	if err != nil {
		return err
	}
	release, err := q.occupy()
	if err != nil {
		return err
	}
	defer release()
	out := listAnswer{Code: codeSuccess, Prefix: given, Handles: []string{}}
	if both {
		out.Page, out.PageSize = &p.number, &p.size
	}
	total := 0
	for _, span := range spans {
		if err := q.readList(q.r.Context(), span, func(handle string) error {
			if total++; !p.has(total - 1) {
				return nil
			}
			if len(out.Handles) == maxListed {
				return failed(codeProtocol, "more than %d handles: ask for pages with page and pageSize", maxListed)
			}
			out.Handles = append(out.Handles, handle)
			return nil
		}); err != nil {
			return err
		}
	}
	out.Total = strconv.Itoa(total)
	q.send(http.StatusOK, out)
	return nil
}

// occupy reserves one of the slots for reading lists, which the caller must free by calling
// release. It returns an error if too many lists are being read.
func (s *Server) occupy() (release func(), err error) {
	select {
	case s.lists <- struct{}{}:
		return func() { <-s.lists }, nil
	default:
		return nil, failed(codeBusy, "too many lists of handles are being read")
	}
}

const maxListed = 100_000

type listAnswer struct {
	Code     code     `json:"responseCode"`
	Prefix   string   `json:"prefix"`
	Total    string   `json:"totalCount"` // a string, as in Handle.Net servers
	Page     *int     `json:"page,omitempty"`
	PageSize *int     `json:"pageSize,omitempty"`
	Handles  []string `json:"handles"`
}

// spans returns the prefixes of the keys of handles with a prefix for which the client has rights.
// If the client has no such rights, spans returns an error.
func (q *request) spans(prefix string) (all []string, err error) {
	prefix, ok := strings.CutPrefix(prefix, "0.NA/")
	if !ok {
		prefix = strings.TrimSuffix(prefix, "/")
	}
	if prefix == "" || strings.Contains(prefix, "/") {
		return nil, failed(codeInvalidHandle, "Invalid prefix")
	}
	reached := false
	for _, scheme := range hdl.Schemes(prefix) {
		p, err := name.ParsePrefix(scheme + hdl.Escape(prefix))
		if err != nil {
			return nil, failed(codeInvalidHandle, "Invalid prefix")
		}
		reached = reached || q.actor.MayPrefix(p, registrar.Reader)
		all = append(all, p.Spans()...)
	}
	if !reached {
		return nil, failed(codeNoPermission, "permission denied for the prefix %q", prefix)
	}
	return all, nil
}

// readList calls the function do with each handle that begins with a prefix, if the client may list
// the handle.
func (q *request) readList(ctx context.Context, begin string, do func(handle string) error) error {
	for rec, err := range q.store.List(store.Fresh(ctx), store.Scan{Prefix: begin}) {
		if err != nil {
			return err
		}
		if !q.mayList(rec) {
			continue
		}
		handle, _ := hdl.Of(rec.Spelling)
		if err := do(handle); err != nil {
			return err
		}
	}
	return nil
}

// mayList reports whether the client may see a record in a list. The handle must be public and in
// the scope of the dialect, and the client must have rights for it.
func (q *request) mayList(rec *store.Record) bool {
	return rec.Status == nomen.Active && q.scope.Covers(rec.Name) && q.actor.Reaches(rec.Name)
}
