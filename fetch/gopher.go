package fetch

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/uri"
)

// gopher implements [plan.Step] for the scheme gopher. It sends the selector, and interprets the
// response according to the type of the item (RFC 1436, sections 2 and 3.8).
func (j *retrieval) gopher(ctx context.Context, r plan.Request) (plan.Outcome, error) {
	if r.Type == "" {
		r.Type = "1"
	}
	switch kind := r.Type[0]; kind {
	case '8', 'T', 'h':
		item := plan.GopherItem{Type: kind, Selector: r.Object, Host: r.Host, Port: r.Port}
		at, err := item.Locator()
		if name, _ := at.Scheme(); err == nil && name != "gopher" { // the item refers to another protocol
			return plan.Outcome{Locators: []uri.URI{at}}, nil
		}
		if kind != 'h' {
			return plan.Outcome{}, j.refuse(r.URI, "the session has an invalid host or port", err)
		}
	case '2', '3', 'i':
		return plan.Outcome{}, fmt.Errorf("fetch: %s: items of type %c cannot be retrieved: %w", r.URI.Redacted(), kind, plan.ErrNoAlgorithm)
	}
	conn, err := j.say(ctx, r, r.Send)
	if err != nil {
		return plan.Outcome{}, err
	}
	o, err := gopherObject(r, conn)
	if err != nil {
		conn.Close()
		return plan.Outcome{}, err
	}
	return j.found(o)
}

func gopherObject(r plan.Request, conn net.Conn) (*Object, error) {
	in := bufio.NewReader(conn)
	o := &Object{Resource: nomen.Resource{Type: r.Format, Size: -1}}
	isText := r.Text || r.Type == "1" || r.Type == "7"
	if strings.Count(r.Send, "\t") > 1 {
		size, err := gopherLength(r, in)
		if err != nil {
			return nil, err
		}
		if size >= 0 {
			o.Size, o.Body = size, closing{&exactly{in: in, left: size}, conn.Close}
			return o, nil
		}
		isText = size == untilDot
	}
	if !isText {
		o.Body = closing{in, conn.Close}
		return o, nil
	}
	if err := gopherRefusal(r, in); err != nil {
		return nil, err
	}
	o.Body = closing{newLines(in, true), conn.Close}
	return o, nil
}

// Special lengths in Gopher+.
const (
	untilDot   = -1
	untilClose = -2
)

// gopherLength reads the first line of a Gopher+ response. This is a plus sign and the length of
// the rest, or a minus sign and an error.
func gopherLength(r plan.Request, in *bufio.Reader) (int64, error) {
	line, err := readLine(in)
	bad := &FormatError{URL: r.URI.Redacted(), Protocol: "Gopher", Message: fmt.Sprintf("invalid Gopher+ header %.80q", line), Err: err}
	if err != nil || line == "" {
		return 0, bad
	}
	text, _, _ := strings.Cut(line[1:], " ")
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case line[0] == '-' && err == nil:
		reason, _ := readLine(in)
		code, words, _ := strings.Cut(reason, " ")
		number, err := strconv.Atoi(code)
		if err != nil {
			words = reason
		}
		return 0, &StatusError{URL: r.URI.Redacted(), Protocol: "Gopher", Code: number, Reason: shown.Line(words), Missing: number == 1}
	case line[0] == '+' && err == nil && n >= untilClose:
		return n, nil
	}
	return 0, bad
}

// gopherRefusal returns the error in a response, or nil. A response is an error if its first line
// is an item of type 3 (RFC 1436, section 3.8). If the request was not for a menu or a search, the
// host of this item must also be "error.host".
func gopherRefusal(r plan.Request, in *bufio.Reader) error {
	first, err := in.Peek(1) // otherwise the caller gets this error when it reads
	for err == nil && first[0] == '3' && bytes.IndexByte(first, '\n') < 0 {
		first, err = in.Peek(max(in.Buffered(), len(first)+1))
	}
	text, _, _ := strings.Cut(string(first), "\n")
	if !strings.HasPrefix(text, "3") {
		return nil
	}
	item, err := plan.ParseGopherItem(text)
	if err != nil || r.Type != "1" && r.Type != "7" && item.Host != "error.host" {
		return nil
	}
	return &StatusError{URL: r.URI.Redacted(), Protocol: "Gopher", Reason: shown.Line(item.Display), Missing: true}
}

// An exactly reads a fixed number of bytes. It returns [io.ErrUnexpectedEOF] if the input ends
// earlier.
type exactly struct {
	in   io.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.in.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// TypeMenu is the media type of a Gopher menu.
const TypeMenu = "application/gopher-menu"

// ReadMenu returns an iterator over the items of a Gopher menu (RFC 1436, section 2), including
// text lines. For an invalid line, the iterator yields an error that wraps [plan.ErrGopherItem] and
// continues. It ends after any other error.
func ReadMenu(r io.Reader) iter.Seq2[plan.GopherItem, error] {
	return func(yield func(plan.GopherItem, error) bool) {
		in := bufio.NewReader(r)
		for {
			line, err := readLine(in)
			switch {
			case err == io.EOF, err == nil && line == ".":
				return
			case err != nil:
				yield(plan.GopherItem{}, err)
				return
			case line == "":
				continue
			}
			if item, err := plan.ParseGopherItem(line); !yield(item, err) {
				return
			}
		}
	}
}
