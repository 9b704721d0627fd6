package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/store"
)

// listPath is where the lists of ElementIDs are, each under its prefix.
const listPath = "/-/list/"

// typeList is the media type of lists of ElementIDs.
const typeList = format.TypeText + "; charset=utf-8"

// list streams all ElementIDs of an authority, one a line (1995, 3.5.2: Y95-57):
// those that resolve or did, in the order of their names. The list is read twice
// where its length or its tag have to be known before: for parts of it, for
// conditional requests, for HEAD, and where it is short. One that takes too long to read
// is sent without them.
func (s *Server) list(ctx context.Context, r *request, prefix string, set *store.AuthoritySet) *reply {
	a := exactly(set, prefix)
	if a == nil || !a.List {
		return s.problem(r, asked{form: formList}, &nomen.Error{Kind: nomen.Unknown, Name: prefix, Message: "there is no such list"})
	}
	if err := (asked{authority: a}).admitted(); err != nil {
		return s.problem(r, asked{form: formList}, err)
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

// needsTag reports whether the answer to a request depends on its tag or length.
func (r *request) needsTag() bool {
	return r.method == http.MethodHead || r.byteRange != "" || r.ifMatch != "" || r.ifNoneMatch != ""
}

// measuredList completes the answer with a list whose tag and length are known
// before it is sent.
func (s *Server) measuredList(ctx context.Context, r *request, p *reply, l listing) *reply {
	p.add("Vary", "Accept-Encoding")
	how := codingFor(r.encodings)
	if r.byteRange != "" { // parts are those of the list as it is
		how = identity
	}
	m := measure{hash: sha256.New()}
	io.WriteString(m.hash, typeList+"\n"+string(how)+"\n")
	measuring, cancel := gateway.Asking(ctx)
	defer cancel()
	measuring, late := context.WithTimeout(measuring, s.limits.Measure)
	defer late()
	switch err := l.write(measuring, &m); {
	case err != nil && measuring.Err() != nil: // it is sent without tag and length, as if nothing had been asked of them
		p.stream = func(ctx context.Context, w io.Writer) error { return l.write(ctx, w) }
		return s.codeStreamAs(p, codingFor(r.encodings))
	case err != nil:
		return s.failure(r, err)
	}
	p.add("ETag", digestTag(m.hash))
	if p = conditional(r, p); p.status != http.StatusOK {
		p.form = formList
		return p
	}
	begin, end := int64(0), m.n
	if r.method == http.MethodGet && r.byteRange != "" && (r.ifRange == "" || matches(r.ifRange, p.get("ETag"), false) && r.ifRange != "*") {
		var satisfiable, ok bool
		if begin, end, satisfiable, ok = byteRange(r.byteRange, m.n); ok && !satisfiable {
			return unsatisfiable(m.n)
		} else if ok {
			p.status = http.StatusPartialContent
			p.add("Content-Range", fmt.Sprintf("bytes %d-%d/%d", begin, end-1, m.n))
		}
	}
	p.length = end - begin
	p.stream = func(ctx context.Context, w io.Writer) error {
		return l.writePart(ctx, w, begin, end)
	}
	if how != identity {
		p = s.codeStreamAs(p, how)
	}
	return p
}

func unsatisfiable(length int64) *reply {
	p := newReply(http.StatusRequestedRangeNotSatisfiable)
	p.form = formList
	p.add("Content-Range", "bytes */"+strconv.FormatInt(length, 10))
	return p.withText("The list has " + strconv.FormatInt(length, 10) + " bytes.")
}

// byteRange reads a Range field (RFC 9110, 14.1.2) for a body of a length. It is
// not ok, and to be ignored, if it cannot be read or wants several parts.
func byteRange(field string, length int64) (begin, end int64, satisfiable, ok bool) {
	unit, set, isRange := strings.Cut(field, "=")
	if !isRange || !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return 0, length, false, false
	}
	first, last, isRange := strings.Cut(strings.TrimSpace(set), "-")
	if !isRange || strings.Contains(set, ",") {
		return 0, length, false, false
	}
	switch {
	case first == "": // the last so many bytes
		n, ok := decimal(last)
		if !ok {
			return 0, length, false, false
		}
		return max(length-n, 0), length, n > 0 && length > 0, true
	case last == "":
		n, ok := decimal(first)
		if !ok {
			return 0, length, false, false
		}
		return n, length, n < length, true
	}
	from, okFrom := decimal(first)
	to, okTo := decimal(last)
	if !okFrom || !okTo || to < from {
		return 0, length, false, false
	}
	return from, min(to, length-1) + 1, from < length, true
}

// decimal reads digits. What is too large for a length is the greatest one.
func decimal(s string) (int64, bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 62)
	if err != nil && s != "" {
		return 1<<61 - 1, true
	}
	return n, s != ""
}

// A listing is the list of an authority.
type listing struct {
	s         *Server
	set       *store.AuthoritySet
	authority *store.Authority
}

func (l listing) write(ctx context.Context, w io.Writer) error {
	return format.WriteList(w, l.s.elements(ctx, l.set, l.authority))
}

// writePart writes the bytes of the list from begin to before end. That the list
// has become shorter meanwhile is an error.
func (l listing) writePart(ctx context.Context, w io.Writer, begin, end int64) error {
	if begin == end {
		return nil
	}
	c := &cut{w: w, skip: begin, left: end - begin}
	err := l.write(ctx, c)
	switch {
	case c.left == 0:
		return nil // and the error is that it had enough
	case err != nil:
		return err
	}
	return fmt.Errorf("the list has changed: %w", io.ErrUnexpectedEOF)
}

// A measure counts and digests what is written to it.
type measure struct {
	hash hash.Hash
	n    int64
}

func (m *measure) Write(b []byte) (int, error) {
	m.n += int64(len(b))
	return m.hash.Write(b)
}

// A cut passes on a part of what is written to it, and then wants no more.
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
