package conform

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// At most this many bytes of the header and the body of a response are read.
const (
	maxHead = 64 << 10
	maxBody = 1 << 20
)

// lingerShare divides the timeout. The result is the time that the server has for closing the
// connection after a complete response.
const lingerShare = 8

// An Exchange is a request and its response, as the bytes that were sent and received on the
// connection. With TLS, these are the decrypted bytes.
type Exchange struct {
	Sent []byte
	Got  []byte
	Err  string // why there is no complete response, or ""
}

// A request is an HTTP request. The package does not use net/http, so that it can also send invalid
// or obsolete requests.
type request struct {
	method, target string
	version        string   // "HTTP/1.0", or "" for a Simple-Request
	fields         []string // of the form "Name: value"
}

func (r request) bytes() []byte {
	var b bytes.Buffer
	b.WriteString(r.method + " " + r.target)
	if r.version == "" {
		b.WriteString("\r\n")
		return b.Bytes()
	}
	b.WriteString(" " + r.version + "\r\n")
	for _, f := range r.fields {
		b.WriteString(f + "\r\n")
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// A response is a parsed HTTP response. The status is 0 if there was no valid status line.
type response struct {
	proto   string // "HTTP/1.0"
	status  int
	reason  string
	fields  [][2]string // names as they were spelled
	body    []byte      // decoded, without the bytes after it
	surplus []byte      // bytes after the body
	closed  bool        // the server closed the connection
	cut     bool        // the server sent more than maxBody bytes, or less than it announced
	fault   string      // why there is no response
	raw     []byte      // all bytes of the response
}

// all returns the values of all header fields with a name.
func (r *response) all(name string) []string {
	var values []string
	for _, f := range r.fields {
		if strings.EqualFold(f[0], name) {
			values = append(values, f[1])
		}
	}
	return values
}

// get returns the values of all header fields with a name, joined with commas.
func (r *response) get(name string) string { return strings.Join(r.all(name), ", ") }

func (r *response) has(name string) bool { return len(r.all(name)) > 0 }

func (r *response) mediaType() string {
	t, _, _ := strings.Cut(r.get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}

func (r *response) is(statuses ...int) bool { return slices.Contains(statuses, r.status) }

func (r *response) redirects() bool { return r.is(301, 302, 303, 307, 308) }

func (r *response) refused() bool { return r.status >= 400 && r.status <= 599 }

func (r *response) text() string { return string(r.body) }

func (r *response) String() string {
	if r.fault != "" {
		return r.fault
	}
	s := strconv.Itoa(r.status)
	if r.reason != "" {
		s += " " + r.reason
	}
	if t := r.mediaType(); t != "" && !r.redirects() {
		s += ", " + t
	}
	if l := r.get("Location"); l != "" {
		s += ", Location " + l
	}
	return s
}

// A dialer opens connections to the server under test.
type dialer struct {
	address string // host:port
	host    string // server name for TLS
	secure  bool
	config  *tls.Config
	timeout time.Duration
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// send sends a request on a new connection and reads the response. It stops reading when the server
// closes the connection, or shortly after the response is complete.
func (d *dialer) send(ctx context.Context, r request) (*response, Exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	sent := r.bytes()
	e := Exchange{Sent: sent}
	conn, err := d.connect(ctx)
	if err != nil {
		e.Err = err.Error()
		return &response{fault: "no connection: " + err.Error()}, e, err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	written := make(chan error, 1)
	go func() { // the server may respond before it has read everything
		_, err := conn.Write(sent)
		written <- err
	}()
	got, closed, err := d.read(conn, r)
	conn.Close()
	if failed := <-written; err == nil && len(got) == 0 {
		err = failed
	}
	e.Got = got
	resp := parseResponse(got, r)
	resp.closed = closed
	if err != nil && !resp.complete(r) {
		e.Err = plainError(err)
		if resp.fault != "" || len(got) == 0 {
			resp = &response{fault: "no response: " + e.Err, raw: got}
		} else {
			resp.cut = true
		}
	}
	return resp, e, nil
}

func (d *dialer) connect(ctx context.Context) (net.Conn, error) {
	conn, err := d.dial(ctx, "tcp", d.address)
	if err != nil || !d.secure {
		return conn, err
	}
	config := d.config.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName = d.host
	}
	config.NextProtos = []string{"http/1.1"}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secured, nil
}

func (d *dialer) read(conn net.Conn, r request) (got []byte, closed bool, err error) {
	buf := make([]byte, 32<<10)
	lingering := false
	for len(got) < maxHead+maxBody {
		n, err := conn.Read(buf)
		got = append(got, buf[:n]...)
		switch {
		case errors.Is(err, io.EOF), err != nil && lingering && !errors.Is(err, os.ErrDeadlineExceeded):
			return got, true, nil
		case err != nil && lingering:
			return got, false, nil
		case err != nil:
			return got, false, err
		}
		if resp := parseResponse(got, r); !lingering && resp.complete(r) {
			lingering = true
			_ = conn.SetReadDeadline(time.Now().Add(d.timeout / lingerShare))
		}
	}
	return got, false, nil
}

func (r *response) complete(q request) bool {
	if r.fault != "" || r.cut {
		return false
	}
	return r.bodiless(q) || r.has("Content-Length") || r.chunked()
}

func (r *response) bodiless(q request) bool {
	return q.method == "HEAD" || r.is(204, 304) || r.status > 0 && r.status < 200
}

func (r *response) chunked() bool {
	return strings.Contains(strings.ToLower(r.get("Transfer-Encoding")), "chunked")
}

// parseResponse parses a response. A response to a Simple-Request that does not begin with a status
// line consists only of a body.
func parseResponse(raw []byte, q request) *response {
	r := &response{raw: raw}
	if q.version == "" && !bytes.HasPrefix(raw, []byte("HTTP/")) {
		r.body = raw
		return r
	}
	head, rest, ok := cutHead(raw)
	lines := strings.Split(string(head), "\n")
	proto, status, _ := strings.Cut(strings.TrimSuffix(lines[0], "\r"), " ")
	code, reason, _ := strings.Cut(status, " ")
	n, err := strconv.Atoi(code)
	switch {
	case !strings.HasPrefix(proto, "HTTP/") || err != nil || len(code) != 3:
		r.fault = "no status line"
		if len(raw) == 0 {
			r.fault = "the connection was closed without a response"
		}
		return r
	case !ok:
		r.fault = "unterminated header"
		return r
	}
	r.proto, r.status, r.reason = proto, n, reason
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r"), ":")
		if ok {
			r.fields = append(r.fields, [2]string{name, strings.TrimSpace(value)})
		}
	}
	r.setBody(rest, q)
	return r
}

func cutHead(raw []byte) (head, rest []byte, ok bool) {
	for i := range raw {
		if raw[i] != '\n' {
			continue
		}
		switch {
		case bytes.HasPrefix(raw[i+1:], []byte("\r\n")):
			return raw[:i], raw[i+3:], true
		case bytes.HasPrefix(raw[i+1:], []byte("\n")):
			return raw[:i], raw[i+2:], true
		}
		if i > maxHead {
			break
		}
	}
	return raw, nil, false
}

func (r *response) setBody(rest []byte, q request) {
	switch {
	case r.bodiless(q):
		r.surplus = rest
	case r.chunked():
		in := bytes.NewReader(rest)
		body, err := io.ReadAll(io.LimitReader(httputil.NewChunkedReader(in), maxBody))
		r.body, r.cut = body, err != nil
		if err == nil {
			left, _ := io.ReadAll(in)
			r.surplus = bytes.TrimPrefix(left, []byte("\r\n")) // trailers are not parsed, and are part of surplus
		}
	case r.has("Content-Length"):
		n, err := strconv.Atoi(r.all("Content-Length")[0])
		if err != nil || n < 0 {
			r.fault = fmt.Sprintf("Content-Length %q", r.get("Content-Length"))
			return
		}
		if r.cut = n > len(rest); r.cut {
			n = len(rest)
		}
		r.body, r.surplus = rest[:n], rest[n:]
	default:
		r.body = rest
	}
}

func plainError(err error) string {
	var op *net.OpError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}
