package admin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func (c *call) at() (time.Time, error) {
	if _, err := c.query("at"); err != nil {
		return time.Time{}, err
	}
	return c.timeOf("at")
}

func (c *call) timeOf(key string) (time.Time, error) {
	text := c.r.URL.Query().Get(key)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := adminapi.ParseTime(text)
	if err != nil {
		return t, &adminapi.RequestError{Field: key, Message: err.Error()}
	}
	return t, nil
}

func number(q url.Values, key string, absent uint64) (uint64, error) {
	text := q.Get(key)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &adminapi.RequestError{Field: key, Message: fmt.Sprintf("invalid number %.40q", text)}
	}
	return n, nil
}

func (c *call) requireAllNames(what string) error {
	if c.actor.MayAll(registrar.Administrator) {
		return nil
	}
	return c.actor.DeniedAll(registrar.Administrator, what)
}

// detailedError adds the cause to an error. Only administrators of all names may see the cause.
func detailedError(err error) error {
	if err = unsupportedError(err); adminapi.NewProblem(err).Status != http.StatusInternalServerError {
		return err
	}
	return &adminapi.StatusError{Status: http.StatusInternalServerError, Detail: shown.Error(err)}
}

// unsupportedError sets the status 501 if the store does not support an operation.
func unsupportedError(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: shown.Error(err)}
	}
	return err
}

// Limits of the history in one JSON document.
const (
	maxHistory      = 1000     // number of revisions
	maxHistoryBytes = 16 << 20 // approximate size of the JSON
)

// nameHistory sends the revisions of a name, newest first. A response in JSON has a limited number
// of revisions.
func (s *API) nameHistory(c *call) error {
	n, err := s.subject(c, time.Time{})
	if err != nil {
		return err
	}
	return s.history(c, store.History(c.r.Context(), s.store, n))
}

// authorityHistory is nameHistory for an authority. It does not check permissions, because every
// token may read authorities.
func (s *API) authorityHistory(c *call) error {
	p, err := name.ParsePrefix(c.value)
	if err != nil {
		return err
	}
	return s.history(c, store.AuthorityHistory(c.r.Context(), s.store, p))
}

// history sends revisions in the format of the parameter "format".
func (s *API) history(c *call, changes iter.Seq2[*store.Change, error]) error {
	q, err := c.query("format")
	if err != nil {
		return err
	}
	switch q.Get("format") {
	case "", "json":
		return s.historyAtOnce(c, changes)
	case "jsonl":
		names := s.userNames()
		return stream(s, c, changes, 0, store.ErrNotFound, func(change *store.Change) (any, bool) {
			return revisionOf(c, names, change), true
		})
	}
	return &adminapi.RequestError{Field: "format", Message: "must be json or jsonl"}
}

func revisionOf(c *call, names *adminapi.UserNames, change *store.Change) adminapi.Revision {
	r := adminapi.NewRevision(change)
	r.WhoName = names.Of(c.r.Context(), r.Who)
	return r
}

func (s *API) historyAtOnce(c *call, changes iter.Seq2[*store.Change, error]) error {
	h := adminapi.History{Revisions: []adminapi.Revision{}}
	size, names := 0, s.userNames()
	for change, err := range changes {
		if err != nil {
			return unsupportedError(err)
		}
		if len(h.Revisions) == maxHistory || size > maxHistoryBytes {
			h.Truncated = true
			break
		}
		r := revisionOf(c, names, change)
		b, err := adminapi.Encode(r)
		if err != nil {
			return err
		}
		size += len(b)
		h.Revisions = append(h.Revisions, r)
	}
	if len(h.Revisions) == 0 {
		return store.ErrNotFound
	}
	return writeJSON(c.w, http.StatusOK, h)
}

func (s *API) redactName(c *call) error {
	n, err := s.subject(c, time.Time{})
	if err != nil {
		return err
	}
	red, conditional, err := c.redaction()
	if err != nil {
		return err
	}
	return s.redact(c, redactRequest{Of: redactsName, Key: n.Key(), Redaction: red}, conditional)
}

func (s *API) redactAuthority(c *call) error {
	p, err := name.ParsePrefix(c.value)
	if err != nil {
		return err
	}
	red, conditional, err := c.redaction()
	if err != nil {
		return err
	}
	return s.redact(c, redactRequest{Of: redactsAuthority, Key: p.String(), Redaction: red}, conditional)
}

// redaction reads the body of a request for a redaction. The result conditional reports whether the
// expected revision is in a header field.
func (c *call) redaction() (red registrar.Redaction, conditional bool, err error) {
	if _, err := c.query(); err != nil {
		return red, false, err
	}
	var body adminapi.Redaction
	if err := readJSON(c, &body); err != nil {
		return red, false, err
	}
	red = body.Registrar()
	if c.r.Header.Get("If-Match") != "" {
		red.Expected, conditional, err = c.expectation(nil)
	}
	return red, conditional, err
}

const (
	maxWait  = 60                     // maximum time in seconds that a request may wait for a change
	waitStep = 200 * time.Millisecond // time between two checks for a new change
)

// changes streams the changes with numbers greater than the parameter "after", up to the parameter
// "until". If there is no such change, changes waits for one as long as the parameter "wait"
// allows. Other parameters select changes.
func (s *API) changes(c *call) error {
	filter, err := newLogFilter(c.q)
	if err != nil {
		return err
	}
	var after, until, limit, wait uint64
	for _, n := range []struct {
		key  string
		into *uint64
	}{{"after", &after}, {"until", &until}, {"limit", &limit}, {"wait", &wait}} {
		var err error
		if *n.into, err = number(c.q, n.key, 0); err != nil {
			return err
		}
	}
	if c.r.Method != http.MethodHead {
		if err := s.await(c.r.Context(), after, time.Duration(min(wait, maxWait))*time.Second); err != nil {
			return unsupportedError(err)
		}
	}
	names := s.userNames()
	return stream(s, c, upTo(until, store.Changes(c.r.Context(), s.store, after)), limit, nil, func(e *store.Entry) (any, bool) {
		e, ok := seenBy(c.actor, e)
		if !ok {
			return nil, false
		}
		j := adminapi.NewEntry(e)
		j.WhoName = names.Of(c.r.Context(), j.Who)
		return j, filter.selects(&j)
	})
}

// seenBy returns the part of a log entry that an actor may see. It returns false if the actor may
// not see the entry. Every actor may see changes of authorities. Only administrators of all names
// may see the content of changes of users and of the rights of tokens. Other actors with rights for
// all names get such entries without content, as if they were redacted, because they need the
// digests to compute the head of the log.
func seenBy(a registrar.Actor, e *store.Entry) (*store.Entry, bool) {
	switch c := e.Change; {
	case c.Record != nil:
		return e, a.Reaches(c.Record.Name)
	case c.Authority != nil:
		return e, true
	case (c.User != nil || c.Rights != nil) && a.MayAll(registrar.Administrator):
		return e, true
	case c.User != nil || c.Rights != nil:
		return &store.Entry{Seq: e.Seq, Change: c.Redact(), Digest: e.Digest}, a.MayAll(registrar.Reader)
	default:
		return e, a.Reaches(c.Delete)
	}
}

func (s *API) await(ctx context.Context, size uint64, limit time.Duration) error {
	if limit == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(waitStep)
	defer tick.Stop()
	for {
		head, err := store.HeadOf(ctx, s.store)
		if head.Size > size || errors.Is(err, context.DeadlineExceeded) || s.health.Closing() {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// head sends the head of the log. If the parameter "since" is set, head adds a proof that the log
// begins with the log of that size. If the parameter "at" is set, head sends the head of the log at
// that time.
func (s *API) head(c *call) error {
	h, err := store.HeadOf(c.r.Context(), s.store)
	if err != nil {
		return unsupportedError(err)
	}
	if at, err := c.timeOf("at"); err != nil || !at.IsZero() {
		if err != nil {
			return err
		}
		return s.headAt(c, at)
	}
	out := adminapi.NewHead(h)
	if c.q.Get("since") == "" {
		out.Published = s.published()
		return writeJSON(c.w, http.StatusOK, out)
	}
	size, err := number(c.q, "size", h.Size)
	if err != nil {
		return err
	}
	since, err := number(c.q, "since", 0)
	if err != nil {
		return err
	}
	if since > size || size > h.Size {
		return &adminapi.RequestError{Field: "since", Message: fmt.Sprintf("must not exceed size, and size must not exceed %d, the number of changes", h.Size)}
	}
	prover, ok := s.store.(store.Prover)
	if !ok {
		return &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: "this store does not support proofs"}
	}
	proof, err := prover.ProveHead(c.r.Context(), size, since)
	if err != nil {
		return err
	}
	for _, p := range proof {
		out.Proof = append(out.Proof, hex.EncodeToString(p[:]))
	}
	return writeJSON(c.w, http.StatusOK, out)
}

func (s *API) find(c *call) error {
	if !c.q.Has("location") {
		return &adminapi.RequestError{Field: "location", Message: "missing; must be the beginning of the locations to find"}
	}
	limit, err := number(c.q, "limit", 0)
	if err != nil {
		return err
	}
	after := store.Place{URL: c.q.Get("after_url"), Name: name.FromKey(c.q.Get("after_name"))}
	return stream(s, c, store.Find(c.r.Context(), s.store, c.q.Get("location"), after), limit, nil, func(p store.Place) (any, bool) {
		return adminapi.Place{URL: p.URL, Key: p.Name.Key()}, c.actor.Reaches(p.Name)
	})
}
