package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/shown"
)

type reply struct {
	status int    // 200 if simple is true
	reason string // reason phrase without control characters
	header http.Header
	body   []byte
	simple bool          // the response is in HTTP/0.9, which has no head
	public bool          // the response came from a public address
	url    string        // URL of the request; "" for the 1995 protocol
	from   string        // identifies the request for [Validators]
	stream io.ReadCloser // body of a resource; nil if it is in body
	length int64         // of stream; -1 if unknown
}

func (r *reply) String() string {
	if r.simple {
		return fmt.Sprintf("a body without a head, %d bytes", len(r.body))
	}
	return fmt.Sprintf("%d %s, %d bytes of %q", r.status, r.reason, len(r.body), r.header.Get("Content-Type"))
}

// maxHead is the maximum size of the head of a response, in bytes.
const maxHead = 64 << 10

// readReply reads a whole response, with a body of at most maxBody bytes. A response that does not
// begin with a status line is the body of an HTTP/0.9 response.
func readReply(conn io.Reader, maxBody int64) (*reply, error) {
	bounded := &io.LimitedReader{R: conn, N: maxHead}
	in := bufio.NewReader(bounded)
	const sign = "HTTP/"
	begin, err := in.Peek(len(sign))
	switch {
	case len(begin) == 0:
		return nil, fmt.Errorf("connection closed before a response: %w", noEOF(err))
	case err != nil && err != io.EOF:
		return nil, err
	case string(begin) != sign:
		return readSimple(in, bounded, maxBody)
	}
	resp, err := readHead(in, bounded, &http.Request{Method: http.MethodGet})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	bounded.N = 1<<63 - 1 // the body has a limit of its own
	return replyOf(resp, maxBody)
}

// readHead reads the head of a response, and any informational responses before it (RFC 9110,
// 15.2). The limit applies to all of them together.
func readHead(in *bufio.Reader, limited *io.LimitedReader, req *http.Request) (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(in, req)
		switch {
		case err != nil && limited.N <= 0:
			return nil, &SizeError{What: "head", Limit: maxHead}
		case err != nil:
			return nil, fmt.Errorf("malformed HTTP response: %w", noEOF(err))
		case resp.StatusCode >= http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols:
			return resp, nil
		}
	}
}

func replyOf(resp *http.Response, maxBody int64) (*reply, error) {
	body, err := readBody(resp.Body, maxBody)
	if err != nil {
		return nil, err
	}
	r := headOf(resp)
	r.body = body
	return r, nil
}

func headOf(resp *http.Response) *reply {
	_, reason, _ := strings.Cut(resp.Status, " ")
	return &reply{status: resp.StatusCode, reason: shown.Line(reason), header: resp.Header}
}

func readSimple(in *bufio.Reader, bounded *io.LimitedReader, maxBody int64) (*reply, error) {
	bounded.N = 1<<63 - 1
	body, err := readBody(in, maxBody)
	switch {
	case err != nil:
		return nil, err
	case !isText(body):
		return nil, errors.New("malformed HTTP response")
	}
	return &reply{status: http.StatusOK, header: http.Header{}, body: body, simple: true}, nil
}

func readBody(r io.Reader, maxBody int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	switch {
	case int64(len(body)) > maxBody:
		return nil, &SizeError{What: "body", Limit: maxBody}
	case err != nil:
		return nil, fmt.Errorf("response truncated: %w", err)
	}
	return body, nil
}

// endsInURL reports whether a text/urc-0 body ends within a bracketed URL (1995, 3.4.2: Y95-48). In
// HTTP/1.0, a body without Content-Length can be recognised as truncated only in this way.
func (r *reply) endsInURL() bool {
	const open = "<URL:"
	i := bytes.LastIndex(r.body, []byte(open))
	if i < 0 || i > 0 && r.body[i-1] != '\n' && r.body[i-1] != '\r' {
		return false
	}
	f, ok := format.Lookup(r.mediaType())
	return ok && f.MediaType == format.TypeURC && bytes.IndexByte(r.body[i:], '>') < 0
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func isText(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\t' && c != '\r' && c != '\n' && c != '\f' || c == 0x7f })
}
