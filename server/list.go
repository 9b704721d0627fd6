package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/store"
)

// listPath is the path prefix of the lists of ElementIDs. The prefix of an authority follows it.
const listPath = "/-/list/"

const typeList = format.TypeText + "; charset=utf-8"

// list streams all ElementIDs of an authority, active and retired, one per line and sorted by name
// (draft of 1995, 3.5.2: Y95-57). The response has a length and an ETag if the list is short. The
// response to HEAD, a range request or a conditional request has them for a list of any length: the
// server first reads the whole list to compute them. If this takes too long, the server sends the
// list without them.
func (s *Server) list(ctx context.Context, r *request, prefix string, set *store.AuthoritySet) *reply {
	a := authorityWithPrefix(set, prefix)
	if a == nil || !a.List {
		return s.problem(ctx, r, parsedTarget{form: formList}, &nomen.Error{Kind: nomen.Unknown, Name: prefix, Message: "list not found"})
	}
	if err := (parsedTarget{authority: a}).checkAccess(); err != nil {
		return s.problem(ctx, r, parsedTarget{form: formList}, err)
	}
	l := listing{s: s, set: set, authority: a}
	p := newReply(http.StatusOK)
	p.form = formList
	p.add("Content-Type", typeList)
	p.add("Cache-Control", "no-cache")
	p.add("Accept-Ranges", "bytes")
	size, err := s.sizes.of(ctx, s, set, a)
	switch {
	case err != nil:
		return s.failure(r, err)
	case size.more && !r.needsTag():
		p.stream = func(ctx context.Context, w io.Writer) error { return l.write(ctx, w) }
		return s.codeStream(r, p)
	}
	return s.measuredList(ctx, r, p, l)
}

func (r *request) needsTag() bool {
	return r.method == http.MethodHead || r.byteRange != "" || r.ifMatch != "" || r.ifNoneMatch != ""
}

func (s *Server) measuredList(ctx context.Context, r *request, p *reply, l listing) *reply {
	p.add("Vary", "Accept-Encoding")
	how := codingFor(r.encodings)
	if r.byteRange != "" { // a range counts bytes of the uncompressed list
		how = identity
	}
	m := measure{hash: sha256.New()}
	io.WriteString(m.hash, typeList+"\n"+string(how)+"\n")
	measuring, cancel := gateway.Asking(ctx)
	defer cancel()
	measuring, late := context.WithTimeout(measuring, s.limits.Measure)
	defer late()
	switch err := l.write(measuring, &m); {
	case err != nil && measuring.Err() != nil: // too slow: send the list without tag and length
		p.stream = func(ctx context.Context, w io.Writer) error { return l.write(ctx, w) }
		return s.codeStreamAs(p, codingFor(r.encodings))
	case err != nil:
		return s.failure(r, err)
	}
	p.add("ETag", validator.DigestTag(m.hash))
	if p = conditional(r, p); p.status != http.StatusOK {
		p.form = formList
		return p
	}
	begin, end := int64(0), m.n
	if r.method == http.MethodGet && (r.ifRange == "" || validator.Matches(r.ifRange, p.get("ETag"), false) && r.ifRange != "*") {
		switch begin, end, p.status = byteRange(r.byteRange, m.n); p.status {
		case http.StatusRequestedRangeNotSatisfiable:
			return unsatisfiable(m.n)
		case http.StatusPartialContent:
			p.add("Content-Range", fmt.Sprintf("bytes %d-%d/%d", begin, end-1, m.n))
		}
	}
	p.length = end - begin
	p.stream = func(ctx context.Context, w io.Writer) error {
		return l.writePart(ctx, w, begin, end)
	}
	return s.codeStreamAs(p, how)
}

func unsatisfiable(length int64) *reply {
	p := newReply(http.StatusRequestedRangeNotSatisfiable)
	p.form = formList
	p.add("Content-Range", "bytes */"+strconv.FormatInt(length, 10))
	return p.withText("The list has " + strconv.FormatInt(length, 10) + " bytes.")
}

// byteRange parses a Range field for a body of a given length (RFC 9110, 14.1.2). It returns the
// range and the status of the response. Without the field the range is the whole body. A field that
// is invalid or has several ranges is ignored.
func byteRange(field string, length int64) (begin, end int64, status int) {
	unit, set, _ := strings.Cut(field, "=")
	first, last, isRange := strings.Cut(strings.TrimSpace(set), "-")
	from, okFrom := decimal(first)
	to, okTo := decimal(last)
	begin, end = from, length
	switch {
	case !isRange, !strings.EqualFold(strings.TrimSpace(unit), "bytes"), !okFrom && first != "", !okTo && last != "",
		!okFrom && !okTo, okFrom && okTo && to < from:
		return 0, length, http.StatusOK
	case !okFrom: // "-N" means the last N bytes
		begin = max(length-to, 0)
	case okTo:
		end = min(to, length-1) + 1
	}
	if begin >= length {
		return 0, length, http.StatusRequestedRangeNotSatisfiable
	}
	return begin, end, http.StatusPartialContent
}

// decimal parses a number. A number that is too large becomes the largest int64.
func decimal(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 62)
	return int64(n), err == nil || errors.Is(err, strconv.ErrRange)
}

// A listing is the list of ElementIDs of an authority.
type listing struct {
	s         *Server
	set       *store.AuthoritySet
	authority *store.Authority
}

func (l listing) write(ctx context.Context, w io.Writer) error {
	return format.WriteList(w, l.s.elements(ctx, l.set, l.authority))
}

// writePart writes the bytes of the list from begin up to end, exclusive. It returns an error if
// the list has become shorter.
func (l listing) writePart(ctx context.Context, w io.Writer, begin, end int64) error {
	if begin == end {
		return nil
	}
	c := &cut{w: w, skip: begin, left: end - begin}
	err := l.write(ctx, c)
	switch {
	case c.left == 0:
		return nil // the cut returned io.EOF, because everything was written
	case err != nil:
		return err
	}
	return fmt.Errorf("the list has changed: %w", io.ErrUnexpectedEOF)
}

// A measure is a writer that counts and hashes the bytes written to it.
type measure struct {
	hash hash.Hash
	n    int64
}

func (m *measure) Write(b []byte) (int, error) {
	m.n += int64(len(b))
	return m.hash.Write(b)
}

// A cut is a writer that passes on a part of the bytes written to it. After this part, Write
// returns [io.EOF].
type cut struct {
	w          io.Writer
	skip, left int64
}

func (c *cut) Write(b []byte) (int, error) {
	all := len(b)
	skip := min(c.skip, int64(len(b)))
	b = b[skip:]
	c.skip -= skip
	b = b[:min(c.left, int64(len(b)))]
	if len(b) > 0 {
		if _, err := c.w.Write(b); err != nil {
			return 0, err
		}
	}
	if c.left -= int64(len(b)); c.left == 0 {
		return 0, io.EOF
	}
	return all, nil
}
