package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"
)

// Limits for reading after the last response on a connection. A connection that is closed with
// unread bytes is reset, and the client could lose the response (RFC 9112, 9.6).
const (
	lingerTime = time.Second
	maxLinger  = 256 << 10
)

// A refusal is an error response of this package.
type refusal struct {
	status int
	advice string
}

var (
	uriTooLong     = refusal{http.StatusRequestURITooLong, "The request line is too long."}
	headerTooLarge = refusal{http.StatusRequestHeaderFieldsTooLarge, "The header block is too long."}
	badFraming     = refusal{http.StatusBadRequest, "Transfer-Encoding cannot be combined with Content-Length or HTTP/1.0 (RFC 9112, 6.1)."}
	requestTimeout = refusal{http.StatusRequestTimeout, "The request did not arrive in time."}
)

// refuse sends an error response instead of net/http, and ends the connection. After that, reads of
// net/http return [io.EOF], and writes fail.
func (c *conn) refuse(r refusal) error {
	c.stage = ended
	c.refused.Store(true)
	c.deadline.lift(c.Conn)
	if c.headBegun() {
		c.logRefusal(r.status)
		c.SetWriteDeadline(time.Now().Add(lingerTime))
		c.Conn.Write(r.answer(bytes.HasPrefix(c.in, []byte("HEAD ")), c.listener.config.Now()))
		c.linger()
	}
	c.in = nil
	return io.EOF
}

// logRefusal logs an error response. As in package requestlog, the client's address is a
// [netip.Addr].
func (c *conn) logRefusal(status int) {
	attrs := []slog.Attr{slog.Int("status", status)}
	if from, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
		attrs = append(attrs, slog.Any("remote", from.Addr().Unmap()))
	}
	c.listener.config.Log.LogAttrs(context.Background(), slog.LevelInfo, "request rejected", attrs...)
}

func (r refusal) answer(bare bool, now time.Time) []byte {
	text := http.StatusText(r.status)
	body := fmt.Sprintf("%d %s\r\n%s\r\n", r.status, text, r.advice)
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n",
		r.status, text, now.UTC().Format(http.TimeFormat), len(body))
	if bare {
		return []byte(head)
	}
	return []byte(head + body)
}

// linger ends the response, and waits until the client has seen it.
func (c *conn) linger() {
	if c.CloseWrite() != nil {
		return
	}
	c.Conn.SetReadDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, c.Conn, maxLinger)
}

func (c *conn) lingerAndClose() {
	c.linger()
	c.Conn.Close()
}
