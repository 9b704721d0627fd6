package ezid

import (
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/anvl"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const (
	maxBody     = store.MaxRecord // maximum size of a request in bytes
	maxAttempts = 10              // maximum number of attempts to make a change while other clients change the record
	maxHistory  = 1000            // maximum number of revisions to read when searching for the first revision
)

const noSuchIdentifier = "no such identifier"

func (h *Handler) view(c *call) reply {
	actor, known, failure := h.authenticate(c)
	if !failure.ok() {
		return failure
	}
	on, failure := c.options("prefix_match")
	if !failure.ok() {
		return failure
	}
	n, ok := ezid.ParseID(c.rest)
	if !ok {
		return badRequest("invalid identifier")
	}
	rec, err := h.find(store.Fresh(c.r.Context()), n, on["prefix_match"]) // so that clients can read what they have written
	if store.IsAway(err) {
		rec, err = h.find(c.r.Context(), n, on["prefix_match"])
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return badRequest(noSuchIdentifier)
	case err != nil:
		return h.failure(c, err)
	}
	if hidden, err := h.hidden(c.r.Context(), actor, rec); err != nil || hidden {
		return h.hide(c, known, err)
	}
	e, err := h.elements(c.r.Context(), c.Base, rec)
	if err != nil {
		return h.failure(c, err)
	}
	text := ezid.ID(rec.Name)
	if id := ezid.ID(n); id != text && on["prefix_match"] {
		text += " in_lieu_of " + id
	}
	r := succeeded(text)
	r.body = e.Append([]byte{})
	return r
}

// hide returns the reply for a record that the client may not see.
func (h *Handler) hide(c *call, known bool, err error) reply {
	switch {
	case err != nil:
		return h.failure(c, err)
	case known || !c.Private:
		return failed("forbidden")
	}
	return failed("unauthorized")
}

// find returns the record of a name in the scope of the dialect. If beginnings is true, it returns
// the record of the longest prefix of the name that has a record.
func (h *Handler) find(ctx context.Context, n name.Name, beginnings bool) (*store.Record, error) {
	if !h.Scope.Covers(n) {
		return nil, store.ErrNotFound
	}
	rec, err := h.Registrar.Get(ctx, n)
	if !beginnings || !errors.Is(err, store.ErrNotFound) {
		return rec, err
	}
	rec, _, err = h.longest(ctx, ezid.ID(n))
	return rec, err
}

// hidden reports whether an actor may not see a record. An actor with rights for the name may see
// every record. Other actors may not see reserved and redacted records, and records whose authority
// does not publish its names.
func (h *Handler) hidden(ctx context.Context, actor registrar.Actor, rec *store.Record) (bool, error) {
	set, err := h.Authorities.Set(ctx, time.Time{})
	if err != nil {
		return false, err
	}
	a := set.Of(rec.Name)
	public := rec.Status != nomen.Reserved && !rec.Redacted && (a == nil || a.Access == "")
	return !public && !actor.Reaches(rec.Name), nil
}

func (h *Handler) elements(ctx context.Context, base string, rec *store.Record) (ezid.Elements, error) {
	e := ezid.Of(rec, base)
	if e[ezid.Created] == "" {
		created, err := h.created(ctx, rec)
		if err != nil {
			return nil, err
		}
		e[ezid.Created] = strconv.FormatInt(created.Unix(), 10)
	}
	if e[ezid.Owner] == "" {
		owner, err := h.owner(ctx, rec.Name)
		if err != nil {
			return nil, err
		}
		e[ezid.Owner] = owner
	}
	if e[ezid.OwnerGroup] == "" {
		e[ezid.OwnerGroup] = e[ezid.Owner]
	}
	return e, nil
}

// created returns the time of the first revision of a record. If the record has very many
// revisions, it returns the time of an early revision.
func (h *Handler) created(ctx context.Context, rec *store.Record) (time.Time, error) {
	first, left := rec.Modified, maxHistory
	if rec.Revision == 1 {
		return first, nil
	}
	for change, err := range store.History(ctx, h.Store, rec.Name) {
		if errors.Is(err, errors.ErrUnsupported) {
			break
		}
		if err != nil {
			return first, err
		}
		if left--; change.Record == nil || left == 0 {
			break // the name was deleted and created again
		}
		first = change.Time
	}
	return first, nil
}

// owner returns the owner of a name, which is the first owner of its authority. The authors of
// changes are not public.
func (h *Handler) owner(ctx context.Context, n name.Name) (string, error) {
	set, err := h.Authorities.Set(ctx, time.Time{})
	if err != nil {
		return "", err
	}
	if a := set.Of(n); a != nil && len(a.Owners) > 0 {
		return a.Owners[0], nil
	}
	return "anonymous", nil
}

type change struct {
	actor registrar.Actor
	name  name.Name
	given ezid.Elements
}

func (h *Handler) parse(c *call, hasBody bool, params ...string) (ch change, on map[string]bool, failure reply) {
	if ch.actor, failure = h.author(c); !failure.ok() {
		return ch, nil, failure
	}
	if hasBody {
		if ch.given, failure = c.body(); !failure.ok() {
			return ch, nil, failure
		}
	}
	if on, failure = c.options(params...); !failure.ok() {
		return ch, nil, failure
	}
	var ok bool
	if ch.name, ok = ezid.ParseID(c.rest); !ok {
		return ch, nil, badRequest("invalid identifier")
	}
	return ch, on, reply{}
}

func (c *call) body() (ezid.Elements, reply) {
	if field := c.r.Header.Get("Content-Type"); field != "" {
		media, params, err := mime.ParseMediaType(field)
		if charset := params["charset"]; err != nil || media != "text/plain" || charset != "" && !strings.EqualFold(charset, "utf-8") {
			return nil, badRequest("If specified, Content-Type must be text/plain and encoding must be UTF-8")
		}
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	if err != nil {
		return nil, badRequest("malformed or incomplete request body")
	}
	if !utf8.Valid(text) {
		return nil, badRequest(string(anvl.NotUTF8))
	}
	all, err := anvl.Parse(string(text))
	var bad *anvl.Error
	switch {
	case errors.As(err, &bad) && bad.Reason == anvl.NotUTF8:
		return nil, badRequest(string(bad.Reason))
	case errors.As(err, &bad):
		return nil, badRequest("ANVL parse error (" + string(bad.Reason) + ")")
	}
	e := make(ezid.Elements, len(all))
	for _, el := range all {
		e[el.Label] = el.Value
	}
	return e, reply{}
}

func (h *Handler) create(c *call) reply {
	ch, on, failure := h.parse(c, true, "update_if_exists")
	if !failure.ok() {
		return failure
	}
	r := h.put(c, ch)
	if on["update_if_exists"] && r.text == badRequest(alreadyExists).text {
		return h.update(c, ch)
	}
	return r
}

const alreadyExists = "identifier already exists, cannot create"

func (h *Handler) put(c *call, ch change) reply {
	if !h.Scope.Covers(ch.name) {
		return failed("forbidden")
	}
	rec, failure := h.fresh(c, ch)
	if rec == nil {
		return failure
	}
	// An error of the registrar would depend on the rights of the client for an existing name.
	switch _, err := h.Registrar.Get(store.Fresh(c.r.Context()), ch.name); {
	case err == nil && ch.actor.MayName(ch.name, registrar.Editor):
		return badRequest(alreadyExists)
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return h.failure(c, err)
	}
	_, err := h.Registrar.Put(c.r.Context(), ch.actor, registrar.Request{Record: rec, Expected: 0}, "")
	switch {
	case errors.As(err, new(*store.ConflictError)):
		return badRequest(alreadyExists)
	case err != nil:
		return h.failure(c, err)
	}
	r := succeeded(withShadow(ch.name))
	r.created = true
	return r
}

// fresh returns the record that a request creates. If the record cannot be created, it is nil and
// the reply has the error.
func (h *Handler) fresh(c *call, ch change) (*store.Record, reply) {
	rec := &store.Record{Name: ch.name, Spelling: ch.name.Key(), Status: nomen.Active}
	if failure := h.apply(c, rec, ch, true); !failure.ok() {
		return nil, failure
	}
	return rec, reply{}
}

func (h *Handler) apply(c *call, rec *store.Record, ch change, isNew bool) reply {
	if _, ok := ch.given[ezid.Owner]; ok && !ch.actor.MayName(rec.Name, registrar.Owner) {
		e, err := h.elements(c.r.Context(), c.Base, rec)
		if err != nil {
			return h.failure(c, err)
		}
		if !isNew && ch.given[ezid.Owner] != e[ezid.Owner] || isNew && ch.given[ezid.Owner] != ch.actor.Who {
			return badRequest("ownership change prohibited")
		}
	}
	var bad *ezid.FieldError
	if err := ezid.Apply(rec, ch.given, ezid.Rules{Base: c.Base, New: isNew}); errors.As(err, &bad) {
		return badRequest(oneLine(bad.Error()))
	}
	return reply{}
}

// withShadow returns the identifier of a name. For a DOI, it appends the ARK that EZID also assigns
// to the DOI.
func withShadow(n name.Name) string {
	id := ezid.ID(n)
	if shadow := ezid.Shadow(id); shadow != "" {
		return id + " | " + shadow
	}
	return id
}

func (h *Handler) modify(c *call) reply {
	ch, _, failure := h.parse(c, true)
	if !failure.ok() {
		return failure
	}
	return h.update(c, ch)
}

// update changes a record. If other clients change the record at the same time, update tries again.
func (h *Handler) update(c *call, ch change) reply {
	ctx := store.Fresh(c.r.Context())
	for attempts := 1; ; attempts++ {
		rec, err := h.find(ctx, ch.name, false)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return badRequest(noSuchIdentifier)
		case err != nil:
			return h.failure(c, err)
		case !ch.actor.MayName(rec.Name, registrar.Editor):
			return failed("forbidden")
		}
		next := rec.Clone()
		if failure := h.apply(c, next, ch, false); !failure.ok() {
			return failure
		}
		_, err = h.Registrar.Put(ctx, ch.actor, registrar.Request{Record: next, Expected: rec.Revision}, "")
		if errors.As(err, new(*store.ConflictError)) && attempts < maxAttempts {
			continue
		}
		if err != nil {
			return h.failure(c, err)
		}
		return succeeded(ezid.ID(rec.Name))
	}
}

func (h *Handler) remove(c *call) reply {
	ch, _, failure := h.parse(c, false)
	if !failure.ok() {
		return failure
	}
	if !h.Scope.Covers(ch.name) {
		return badRequest(noSuchIdentifier)
	}
	_, err := h.Registrar.Delete(c.r.Context(), ch.actor, ch.name, store.AnyRevision, "")
	switch {
	case errors.Is(err, store.ErrNotFound):
		return badRequest(noSuchIdentifier)
	case errors.As(err, new(*store.StateError)):
		return badRequest("identifier status does not support deletion")
	case err != nil:
		return h.failure(c, err)
	}
	return succeeded(ezid.ID(ch.name))
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func contains(list []string, s string) bool { return slices.Contains(list, s) }
