package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A batchItem is one line of a list of names: a JSON object, or just a URI.
type batchItem struct {
	Name      string        `json:"name"`
	Service   nomen.Service `json:"service,omitempty"`
	Component string        `json:"component,omitempty"`
	R         string        `json:"r,omitempty"`
	Q         string        `json:"q,omitempty"`
	Other     string        `json:"other,omitempty"` // the second URI of I=I
	Accept    string        `json:"accept,omitempty"`
	Languages string        `json:"languages,omitempty"`
	At        string        `json:"at,omitempty"`
	Line      int           `json:"-"`
	err       error
}

// listReader returns the function that parses a list in the media type of the request, up to limit
// lines. If the media type is not supported, listReader returns a reply with the error instead.
func (r *request) listReader() (read func(body []byte, limit int) []batchItem, _ *reply) {
	kind, _, err := mime.ParseMediaType(r.contentType)
	p := newReply(http.StatusUnsupportedMediaType)
	switch {
	case err == nil && kind == typeURIList:
		read = readURIs
	case err == nil && slices.Contains([]string{typeJSONLines, "application/x-ndjson", "application/x-jsonlines", "application/ndjson", format.TypeJSON}, kind):
		read = readRows
	default:
		p.add("Accept-Post", typeURIList+", "+typeJSONLines)
		return nil, p.withText("A list of names must have the Content-Type " + typeURIList + " or " + typeJSONLines + ".")
	}
	if r.contentCoding != "" && !strings.EqualFold(r.contentCoding, "identity") {
		p.add("Accept-Encoding", "identity") // RFC 9110, 12.5.3
		return nil, p.withText("A list of names must be sent without Content-Encoding.")
	}
	return read, nil
}

// readItems reads a list from the body of a request. It reserves memory for the list, which the
// caller must release by calling back. If the list cannot be read, readItems returns a reply with
// the error.
func (s *Server) readItems(ctx context.Context, r *request) (items []batchItem, back func(), _ *reply) {
	back = func() {}
	read, p := r.listReader()
	if p != nil {
		return nil, back, p
	}
	var body []byte
	var err error
	if r.body != nil {
		body, back, err = s.readBody(ctx, r.body, s.limits.BatchBytes)
	}
	var limit *gateway.LimitError
	limited := errors.As(err, &limit)
	switch {
	case limited:
		return nil, back, s.tooMany(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, back, requestTimeout()
	case err != nil:
		return nil, back, newReply(http.StatusBadRequest).withText("request body truncated")
	case len(body) > s.limits.BatchBytes:
		return nil, back, newReply(http.StatusRequestEntityTooLarge).withText(fmt.Sprintf("The list is longer than %d bytes.", s.limits.BatchBytes))
	}
	items = read(body, s.limits.BatchNames+1)
	if len(items) > s.limits.BatchNames {
		return nil, back, newReply(http.StatusRequestEntityTooLarge).withText(fmt.Sprintf("The list has more than %d names.", s.limits.BatchNames))
	}
	return items, back, nil
}

// readURIs reads a list in the format text/uri-list (RFC 2483, 5). A line may also end in a single
// CR (RFC 2169, appendix A).
func readURIs(body []byte, limit int) []batchItem {
	body = bytes.ReplaceAll(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	return readLines(body, limit, func(line []byte) (batchItem, bool) {
		return batchItem{Name: string(line)}, line[0] != '#'
	})
}

// readRows reads JSON Lines: strings, or objects with the fields of a [batchItem].
func readRows(body []byte, limit int) []batchItem {
	return readLines(body, limit, func(line []byte) (batchItem, bool) {
		var w batchItem
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		var err error
		if line[0] == '"' {
			err = d.Decode(&w.Name)
		} else {
			err = d.Decode(&w)
		}
		if err == nil {
			if _, end := d.Token(); end != io.EOF {
				err = errors.New("unexpected data after the value")
			}
		}
		if err != nil {
			w = batchItem{Name: string(line), err: &nomen.Error{
				Kind: nomen.Malformed, Name: string(line), Offset: int(d.InputOffset()), Rule: "JSON",
				Message: rowError(err),
			}}
		}
		return w, true
	})
}

func rowError(err error) string {
	var e *json.UnmarshalTypeError
	if errors.As(err, &e) {
		if e.Field == "" {
			return "a line must be a string or an object, not " + e.Value
		}
		return e.Field + ": must be a string, not " + e.Value
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// readLines calls read for each line of a body, and returns the items, but at most limit. It skips
// empty lines, and lines for which read returns false, such as comments.
func readLines(body []byte, limit int, read func([]byte) (batchItem, bool)) []batchItem {
	var all []batchItem
	number := 0
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // some editors write a byte order mark
	for line := range bytes.Lines(body) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		w, ok := batchItem{}, true
		if len(line) > maxBatchRow {
			w.err = &nomen.Error{Kind: nomen.Malformed, Offset: maxBatchRow, Rule: "line", Message: "the line is longer than 64 KiB"}
		} else {
			w, ok = read(line)
		}
		if w.Line = number; !ok {
			continue
		}
		if all = append(all, w); len(all) == limit {
			break
		}
	}
	return all
}

// parseItem parses a line of a list. The first of these that contains a directive takes precedence:
// the fields of the line, the query of the name, and the query of the request.
func (s *Server) parseItem(ctx context.Context, set *store.AuthoritySet, q query, w *batchItem) (a parsedTarget, err error) {
	spelling, own, _ := strings.Cut(w.Name, "?")
	n, err := name.Parse(spelling)
	if err != nil {
		return a, question.Malformed(w.Name, 0, err)
	}
	whole := wholeName(n, own)
	registered, err := s.isRegistered(ctx, whole)
	if err != nil {
		return a, err
	}
	if registered {
		n, own = whole, ""
	}
	a = parsedTarget{form: formWeb, name: n, authority: set.Of(n), query: q}
	a.query.plain = ""
	if told, _ := readQuery(own); own != "" {
		a.query = told.orElse(q)
	}
	if err := a.query.override(w); err != nil {
		return a, err
	}
	return reservedName(a.spelled(spelling), spelling), nil
}

// override sets directives and components in q from the fields of a line.
func (q *query) override(w *batchItem) (err error) {
	if w.Service != "" {
		if q.service = w.Service; !w.Service.Known() {
			return &nomen.Error{Kind: nomen.NoResult, Name: w.Name, Service: w.Service, Message: "unknown service"}
		}
	}
	q.component, q.r, q.q, q.other = cmp.Or(w.Component, q.component), cmp.Or(w.R, q.r), cmp.Or(w.Q, q.q), cmp.Or(w.Other, q.other)
	if w.At != "" {
		if q.at, err = adminapi.ParseTime(w.At); err != nil {
			return &nomen.Error{Kind: nomen.Malformed, Name: w.At, Rule: "at", Message: err.Error()}
		}
	}
	for _, component := range []string{q.r, q.q} {
		if _, ok := checkedComponent(component); component != "" && !ok {
			return &nomen.Error{Kind: nomen.Malformed, Name: component, Rule: "rq-components", Message: "invalid component (RFC 8141)"}
		}
	}
	return nil
}
