package admin

import (
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

type logFilter struct{ who, prefix, kind, batch string }

func newLogFilter(q url.Values) (logFilter, error) {
	f := logFilter{q.Get("who"), q.Get("prefix"), q.Get("kind"), q.Get("batch")}
	switch f.kind {
	case "", adminapi.KindOfName, adminapi.KindOfAuthority, adminapi.KindOfUser, adminapi.KindOfToken:
		return f, nil
	}
	return f, &adminapi.RequestError{Field: "kind", Message: fmt.Sprintf("must be name, authority, user or token, not %.40q", f.kind)}
}

// selects reports whether the filter selects an entry. The entry must be the result of seenBy.
func (f logFilter) selects(e *adminapi.Entry) bool {
	return (f.who == "" || e.Who == f.who || e.WhoName != "" && strings.EqualFold(e.WhoName, f.who)) &&
		strings.HasPrefix(e.Key, f.prefix) && (f.batch == "" || e.Batch == f.batch) && (f.kind == "" || f.kind == kindOf(e))
}

func kindOf(e *adminapi.Entry) string {
	switch {
	case e.Authority != nil:
		return adminapi.KindOfAuthority
	case e.User != nil:
		return adminapi.KindOfUser
	case e.Rights != nil:
		return adminapi.KindOfToken
	}
	return adminapi.KindOfName
}

func upTo(until uint64, limit iter.Seq2[*store.Entry, error]) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for e, err := range limit {
			if err == nil && until > 0 && e.Seq > until || !yield(e, err) {
				return
			}
		}
	}
}

// prove sends a change with the proof that the log contains it.
func (s *API) prove(c *call) error {
	seq, err := strconv.ParseUint(c.value, 10, 64)
	if err != nil || seq == 0 {
		return store.ErrNotFound
	}
	h, err := store.HeadOf(c.r.Context(), s.store)
	if err != nil {
		return unsupportedError(err)
	}
	size, err := number(c.q, "size", h.Size)
	switch {
	case err != nil:
		return err
	case seq > h.Size:
		return store.ErrNotFound
	case size < seq || size > h.Size:
		return &adminapi.RequestError{Field: "size", Message: fmt.Sprintf("must be at least %d, the number of the change, and at most %d, the number of changes", seq, h.Size)}
	}
	source, err := audit.SourceOf(s.store)
	if err != nil {
		return unsupportedError(err)
	}
	p, err := audit.Prove(c.r.Context(), source, size, seq)
	if err != nil {
		return err
	}
	seen, ok := seenBy(c.actor, p.Entry)
	if !ok {
		return c.actor.DeniedAny(registrar.Reader, "changes/"+c.value)
	}
	e := adminapi.NewEntry(seen)
	e.WhoName = s.userNames().Of(c.r.Context(), e.Who)
	return writeJSON(c.w, http.StatusOK, adminapi.NewProof(e, p.Head, p.Hashes))
}

func (s *API) headAt(c *call, at time.Time) error {
	source, err := audit.SourceOf(s.store)
	if err != nil {
		return unsupportedError(err)
	}
	size, err := audit.SizeAt(c.r.Context(), source, at)
	if err != nil {
		return err
	}
	h, err := audit.HeadOf(c.r.Context(), source, size)
	if err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusOK, adminapi.NewHead(h))
}
