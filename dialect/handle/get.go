package handle

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Types of values with a special meaning for this server.
const (
	typeURL    = "URL"
	typeAdmin  = "HS_ADMIN"
	typeAlias  = "HS_ALIAS"
	typeSecret = "HS_SECKEY"
)

// A record has the data of the server about a handle.
type record struct {
	name   name.Name
	stored *store.Record // nil if the values are from a rule or another resolver
	values []nomen.Value // in the order of their indexes
	admin  bool          // the client has rights for the name
}

// readFresh is like read, but reads a fresh view of the store. The result includes all changes that
// any server has acknowledged, so that clients can read what they have written. If the database is
// unavailable, readFresh uses the data that this server has in memory.
func (s *Server) readFresh(ctx context.Context, handle string, actor *registrar.Actor) (*record, error) {
	rec, err := s.read(store.Fresh(ctx), handle, actor)
	if store.IsAway(err) {
		return s.read(ctx, handle, actor)
	}
	return rec, err
}

// read returns the record of a handle. If the handle is not public and the client has no rights for
// it, the error only says that access is restricted.
func (s *Server) read(ctx context.Context, handle string, actor *registrar.Actor) (*record, error) {
	rec, err := s.lookup(ctx, handle, actor)
	if err == nil && rec.stored == nil {
		rec.values, err = s.resolve(ctx, rec.name)
	}
	return rec, err
}

// lookup is like read, but the result for a handle without a record has only the name.
func (s *Server) lookup(ctx context.Context, handle string, actor *registrar.Actor) (*record, error) {
	n, err := s.nameOf(handle)
	if err != nil {
		return nil, err
	}
	set, err := s.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	a := set.Of(n)
	rec := &record{name: a.Fold(n)}
	rec.admin = actor != nil && actor.Reaches(rec.name)
	if refused := a.Refuses(handle); refused != nil && !rec.admin {
		return nil, refusal(refused, actor != nil)
	}
	rec.stored, err = s.store.Get(ctx, rec.name, time.Time{})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return rec, nil
	case err != nil:
		return nil, err
	case rec.stored.Status == nomen.Retired && len(rec.stored.Successors) == 1:
		rec.values, err = aliasOf(rec.stored)
		return rec, err
	case rec.stored.Status != nomen.Active:
		return nil, store.ErrNotFound
	}
	rec.values = valuesOf(rec.stored)
	return rec, nil
}

func refusal(e *nomen.Error, known bool) error {
	if known || e.Legal {
		return failed(codeNoPermission, "%s", e.Message)
	}
	return failed(codeAuthNeeded, "%s", e.Message)
}

// resolve returns URL values for a name without a record, from a rule or another resolver.
func (s *Server) resolve(ctx context.Context, n name.Name) ([]nomen.Value, error) {
	ans, err := s.resolver.Resolve(ctx, nomen.Question{Name: n, Service: nomen.I2Ls, Strict: true})
	var no *nomen.Error
	switch {
	case errors.As(err, &no) && no.Kind == nomen.Denied:
		return nil, refusal(no, false)
	case errors.As(err, &no) && no.Kind == nomen.NoResult:
		return nil, nil
	case errors.As(err, &no):
		return nil, store.ErrNotFound
	case err != nil:
		return nil, err
	case ans.Redirect != "" || ans.Raw != nil:
		return nil, store.ErrNotFound
	}
	var all []nomen.Value
	for i, l := range ans.Locations {
		all = append(all, nomen.Value{Index: i + 1, Type: typeURL, Data: l.URL})
	}
	return all, nil
}

// aliasOf returns an HS_ALIAS value for a retired name if its only successor is a handle. For other
// retired names, it returns the error for a deleted handle.
func aliasOf(rec *store.Record) ([]nomen.Value, error) {
	handle, ok := hdl.Of(rec.Successors[0])
	if !ok {
		return nil, store.ErrNotFound
	}
	return []nomen.Value{{Index: 1, Type: typeAlias, Data: handle, Timestamp: timestamp(rec.Modified)}}, nil
}

func timestamp(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

// A selection determines the values of a handle that a client has requested.
type selection struct {
	indexes    []int
	types      []string
	publicOnly bool
}

// selects reports whether the client has requested a value and may read it.
func (s *selection) selects(v *nomen.Value, admin bool) bool {
	if !v.Public() && (s.publicOnly || !admin || !strings.HasPrefix(v.Permissions, "1")) {
		return false
	}
	return len(s.indexes)+len(s.types) == 0 || slices.Contains(s.indexes, v.Index) || slices.ContainsFunc(s.types, func(t string) bool { return isType(v.Type, t) })
}

// of returns the values of a record that the client has requested and may read.
func (s *selection) of(rec *record) (all []nomen.Value) {
	for i := range rec.values {
		if s.selects(&rec.values[i], rec.admin) {
			all = append(all, rec.values[i])
		}
	}
	return all
}

// isType reports whether a type matches the requested type. A requested type that ends with a dot
// matches all of its subtypes.
func isType(have, asked string) bool {
	if begin, ok := strings.CutSuffix(asked, "."); ok {
		return ascii.EqualFold(have, begin) || ascii.HasPrefix(have, asked)
	}
	return ascii.EqualFold(have, asked)
}

func (q *request) get() error {
	if q.handle == "" && q.query.has("prefix") {
		return q.list()
	}
	asked := selection{types: q.query.all("type"), publicOnly: q.query.flag("publicOnly", !q.known)}
	for _, text := range q.query.all("index") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return failed(codeProtocol, "java.lang.NumberFormatException: For input string: %q", text)
		}
		asked.indexes = append(asked.indexes, n)
	}
	return q.resolveHandle(&asked)
}

func (q *request) post() error {
	asked := struct {
		Index      numbers `json:"index"`
		Type       texts   `json:"type"`
		PublicOnly *bool   `json:"publicOnly"`
	}{}
	if kind, _, _ := mime.ParseMediaType(q.r.Header.Get("Content-Type")); kind == "application/json" {
		if err := json.NewDecoder(q.r.Body).Decode(&asked); err != nil && !errors.Is(err, io.EOF) {
			return failed(codeProtocol, "com.google.gson.JsonParseException: %v", err)
		}
	}
	for _, n := range asked.Index {
		q.query = append(q.query, parameter{key: "index", value: strconv.Itoa(n)})
	}
	for _, t := range asked.Type {
		q.query = append(q.query, parameter{key: "type", value: t})
	}
	if asked.PublicOnly != nil {
		q.query = append(q.query, parameter{key: "publicOnly", value: strconv.FormatBool(*asked.PublicOnly)})
	}
	return q.get()
}

type numbers []int

// UnmarshalJSON reads a list or a number.
func (n *numbers) UnmarshalJSON(b []byte) error { return oneOrMore(b, (*[]int)(n)) }

type texts []string

// UnmarshalJSON reads a list or a text.
func (t *texts) UnmarshalJSON(b []byte) error { return oneOrMore(b, (*[]string)(t)) }

func oneOrMore[T any](b []byte, list *[]T) error {
	if len(b) > 0 && b[0] == '[' || string(b) == "null" {
		return json.Unmarshal(b, list)
	}
	*list = make([]T, 1)
	return json.Unmarshal(b, &(*list)[0])
}

func (q *request) client() *registrar.Actor {
	if q.known {
		return &q.actor
	}
	return nil
}

func (q *request) resolveHandle(asked *selection) error {
	rec, err := q.readFresh(q.r.Context(), q.handle, q.client())
	if err != nil {
		return err
	}
	values := asked.of(rec)
	if len(values) == 0 {
		q.send(200, struct {
			Code   code     `json:"responseCode"`
			Values []string `json:"values"`
			Handle string   `json:"handle"`
		}{codeNoValues, []string{}, q.handle})
		return nil
	}
	shownValues := make([]jsonValue, len(values))
	for i := range values {
		shownValues[i] = shown(&values[i])
	}
	q.send(200, struct {
		Code   code        `json:"responseCode"`
		Handle string      `json:"handle"`
		Values []jsonValue `json:"values"`
	}{codeSuccess, q.handle, shownValues})
	if !q.known { // authenticated users see the current values
		q.call.Counted(rec.name, counts.Of(nomen.I2C))
	}
	return nil
}
