package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/store"
)

const batchPath = "/-/resolve"

// The media types for a list of names.
const (
	typeURIList   = format.TypeURIList
	typeJSONLines = "application/jsonl"
)

// The limits for a list of names.
const (
	batchAhead  = 16 // names of one list that are looked up at the same time
	maxBatchRow = 64 << 10

	batchPause = 20 * time.Millisecond // how long finished lines wait for the next one before they are sent
)

// isBatch reports whether a target is [batchPath]. The target can have the absolute form, which
// clients send to proxies (RFC 9112, 3.2.2).
func isBatch(target string) bool {
	if _, path, ok := absoluteForm(target); ok {
		target = path
	}
	path, _, _ := strings.Cut(target, "?")
	return path == batchPath
}

type batchResult struct {
	Input  string          `json:"input"`
	Line   int             `json:"line"`
	Answer json.RawMessage `json:"answer,omitempty"`
	Error  *batchError     `json:"error,omitempty"`
}

type batchError struct {
	Code        string          `json:"code"`
	Offset      *int            `json:"offset,omitempty"`
	Rule        string          `json:"rule,omitempty"`
	Message     string          `json:"message"`
	Suggestions []string        `json:"suggestions,omitempty"`
	Answer      json.RawMessage `json:"answer,omitempty"` // the tombstone of a retired name
	StaleSince  time.Time       `json:"stale_since,omitzero"`
}

// batch answers a list of names. The response has one line of JSON per name, in the order of the
// list. Each line is sent as soon as its answer is known.
func (s *Server) batch(ctx context.Context, r *request) *reply {
	p := s.checkRate(ctx)
	if p == nil {
		p = s.batchReply(ctx, r)
	}
	p.form = formBatch
	if !p.has("Cache-Control") {
		uncached(p)
	}
	return p
}

func (s *Server) batchReply(ctx context.Context, r *request) *reply {
	set, err := s.authorities.Set(ctx, time.Time{})
	if err != nil {
		return s.failure(r, err)
	}
	_, text, _ := strings.Cut(r.target, "?")
	q, _ := readQuery(text)
	if !q.strictAt(text) {
		return s.problem(ctx, r, parsedTarget{form: formPage}, badTime(r.target, q.badAt))
	}
	items, back, p := s.readItems(ctx, r)
	if p == nil { // a client that is still sending its list holds no turn
		p = s.withTurn(ctx, func() *reply { return s.streamBatch(ctx, r, set, q, items) })
	}
	if p.stream == nil {
		back()
	} else {
		p.onRelease(back)
	}
	return p
}

// streamBatch streams the answers to a list of names. It restarts the time limit for asking other
// servers, so that the time for reading the list does not count.
func (s *Server) streamBatch(ctx context.Context, r *request, set *store.AuthoritySet, q query, items []batchItem) *reply {
	if a := gateway.ClientOf(ctx); a != nil {
		a.Until = time.Now().Add(s.limits.Ask)
	}
	p := newReply(http.StatusOK)
	p.add("Content-Type", typeJSONLines)
	since := store.StalenessOf(ctx).Since() // since when the authorities are stale
	p.stream = func(ctx context.Context, w io.Writer) error {
		stale := store.WithStaleness(ctx)
		stale.Note(since)
		return s.resolveItems(stale, w, r, set, q, items)
	}
	door := s.explainer.Access
	p.private = door.Policy() == gateway.Own && door.Admits(gateway.ClientOf(ctx)) // other servers may be asked, because the client is a user of this server
	return s.codeStream(r, p)
}

// resolveItems answers the lines of a list in order. It looks up several names at the same time.
func (s *Server) resolveItems(ctx context.Context, w io.Writer, r *request, set *store.AuthoritySet, q query, items []batchItem) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pending := make(chan chan []byte, batchAhead)
	l := &listLookups{server: s, next: make(chan struct{}, 1)}
	go func() {
		defer close(pending)
		for i := range items {
			line := make(chan []byte, 1)
			select {
			case pending <- line:
			case <-ctx.Done():
				return
			}
			go func() { line <- s.itemLine(ctx, r, set, q, l, &items[i]) }()
		}
	}()
	late := time.NewTimer(batchPause)
	defer late.Stop()
	for line := range pending {
		var b []byte
		late.Reset(batchPause)
		select {
		case b = <-line:
		case <-late.C:
			if err := flush(w); err != nil { // send the finished lines
				return err
			}
			b = <-line
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// A listLookups shares the limit on concurrent lookups fairly among all lists that are being
// resolved. At most one name of each list waits for a lookup, so a short list is answered soon even
// while the server resolves many long lists.
type listLookups struct {
	server *Server
	next   chan struct{} // contains an element while a name of the list waits
}

func (l *listLookups) begin(ctx context.Context) error {
	select {
	case l.next <- struct{}{}:
		defer func() { <-l.next }()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case l.server.lookups <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *listLookups) end() { <-l.server.lookups }

// outside calls query, which asks other servers. During this call, the name does not count against
// the limit on concurrent lookups.
func (l *listLookups) outside(ctx context.Context, query func() (*nomen.Answer, error)) (*nomen.Answer, error) {
	l.end()
	defer func() { _ = l.begin(context.WithoutCancel(ctx)) }()
	return query()
}

// itemLine returns the response to one line of a list, which counts as one lookup.
func (s *Server) itemLine(ctx context.Context, r *request, set *store.AuthoritySet, q query, l *listLookups, w *batchItem) (line []byte) {
	if l.begin(ctx) != nil {
		return nil // nothing reads the responses any more
	}
	defer l.end()
	out := batchResult{Input: w.Name, Line: w.Line}
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic", "value", v, "stack", string(debug.Stack()))
			line = []byte(fmt.Sprintf(`{"line":%d,"error":{"code":"failure","message":"the resolver failed"}}`+"\n", w.Line))
		}
	}()
	stale := store.WithStaleness(ctx)
	stale.Note(store.StalenessOf(ctx).Since())
	ans, err := s.resolveItem(stale, r, set, q, l, w)
	if err == nil {
		out.Answer, err = answerJSON(ans)
	}
	if err != nil {
		out.Error = s.batchError(err)
	}
	if since := stale.Since(); !since.IsZero() && !store.IsAway(err) {
		s.metrics.Stale()
		if out.Error != nil {
			out.Error.StaleSince = since
		}
	}
	line, err = adminapi.Encode(out)
	if err != nil {
		panic(err) // cannot happen: all fields are text
	}
	return line
}

func answerJSON(ans *nomen.Answer) (json.RawMessage, error) {
	b, err := written(func(w io.Writer) error { return format.WriteJSON(w, ans) })
	return bytes.TrimSpace(b), err
}

// resolveItem resolves the name in one line of a list. While other servers are asked, the name does
// not count against the limit on concurrent lookups.
func (s *Server) resolveItem(ctx context.Context, r *request, set *store.AuthoritySet, q query, l *listLookups, w *batchItem) (*nomen.Answer, error) {
	if w.err != nil {
		return nil, w.err
	}
	a, err := s.parseItem(ctx, set, q, w)
	switch {
	case err != nil:
		return nil, err
	case a.reserved != "":
		return l.outside(ctx, func() (*nomen.Answer, error) { return s.reservedItem(ctx, r, a, set) })
	}
	a = a.interpreted()
	if a.service == nomen.I2R || a.service == nomen.I2Rs {
		return nil, &nomen.Error{Kind: nomen.NoResult, Name: w.Name, Service: a.service, Message: "resources cannot be requested in a list"}
	}
	put, err := a.question(r, a.service)
	if err != nil {
		return nil, err
	}
	put.Accept, put.Languages = w.Accept, cmp.Or(w.Languages, put.Languages)
	var ans *nomen.Answer
	resolve := func() (*nomen.Answer, error) { return s.resolver.Resolve(ctx, put) }
	if s.isLocal(a) {
		ans, err = resolve()
	} else {
		ans, err = l.outside(ctx, resolve)
	}
	if err != nil {
		s.countMiss(r, a, err)
		var e *nomen.Error
		if errors.As(err, &e) {
			s.countItem(r, a, nil, e)
			err = a.unknown(e)
		}
		return nil, err
	}
	s.countItem(r, a, ans, nil)
	question.CloseResources(ans)
	return ans, nil
}

// reservedItem answers a reserved request in a list. As for a single request, this server answers
// if it serves the authority (draft of 1995, 3.5: Y95-55 to Y95-59).
func (s *Server) reservedItem(ctx context.Context, r *request, a parsedTarget, set *store.AuthoritySet) (*nomen.Answer, error) {
	n := a.name
	var ans *nomen.Answer
	var err error
	if elsewhere, ok := a.requestElsewhere(set, ""); ok {
		a.name = elsewhere
		ans, err = s.askRequest(ctx, r, a)
	}
	if ans == nil && err == nil {
		ans, err = s.requestAnswer(ctx, r, a, set)
	}
	if err != nil {
		return nil, err
	}
	if ans.Service == nomen.I2Ns && ans.Redirect == "" && ans.Raw == nil {
		ans = authorityLinks(s.base(r), a.reserved, set, ans)
	}
	told := *ans
	told.Name = n
	return &told, nil
}

func (q query) orElse(o query) query {
	if q.service == "" {
		q.service, q.other = o.service, o.other
	}
	q.component = cmp.Or(q.component, o.component)
	if q.at.IsZero() {
		q.at = o.at
	}
	return q
}

// batchError converts an error to the same JSON that the command line prints.
func (s *Server) batchError(err error) *batchError {
	var e *nomen.Error
	var limit *gateway.LimitError
	var away *store.AwayError
	switch {
	case errors.As(err, &e):
	case errors.As(err, &limit):
		return &batchError{Code: "limit", Message: fmt.Sprintf("too many lookups at other servers; try again in %s s", gateway.RetryAfter(limit))}
	case errors.Is(err, nomen.ErrLoop):
		return &batchError{Code: "loop", Message: nomen.ErrLoop.Error()}
	case errors.Is(err, nomen.ErrUpstream):
		s.log.Info("upstream resolver failed", "err", err)
		return &batchError{Code: "upstream", Message: "the resolver to which the name is delegated failed; try again later"}
	case errors.As(err, &away):
		return &batchError{Code: "unavailable", Message: "the name service is temporarily unavailable; try again later"}
	default:
		if !errors.Is(err, context.Canceled) {
			s.log.Error("lookup failed", "err", err)
		}
		return &batchError{Code: "failure", Message: "the resolver failed; try again later"}
	}
	out := &batchError{Code: e.Kind.String(), Rule: e.Rule, Message: e.Message, Suggestions: e.Suggestions}
	if e.Kind == nomen.Malformed {
		out.Offset = &e.Offset
	}
	if e.Answer != nil {
		out.Answer, _ = answerJSON(e.Answer) // if it fails, the error is sent without the answer
	}
	return out
}
