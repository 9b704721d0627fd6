package wire

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
)

// mendedRequest is what the client sent in place of what net/http was given.
type mendedRequest struct {
	requestLine
	path string // the target that net/http was given
}

// newMendedRequest gives line a path that nobody can guess, let alone have sent.
// It serves this one request, the last of its connection, so that it is of no use
// to anybody who learns it.
func newMendedRequest(line requestLine) *mendedRequest {
	return &mendedRequest{requestLine: line, path: "/mended/" + rand.Text()}
}

// contextKey is the key of a request's *conn.
type contextKey struct{}

// ConnContext ties the requests of a connection to it. It is meant to be an
// [http.Server]'s ConnContext, or to be called by it.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	w, ok := c.(interface{ wire() *conn })
	if !ok {
		return ctx
	}
	w.wire().known = true
	return context.WithValue(ctx, contextKey{}, w.wire())
}

func (c *conn) wire() *conn { return c }

func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(contextKey{}).(*conn)
	return c
}

// mendedOf returns what was mended in r, or nil.
func mendedOf(r *http.Request) *mendedRequest {
	c := connOf(r)
	if c == nil {
		return nil
	}
	m := c.request.Load()
	if m == nil || m.path != r.RequestURI {
		return nil // r came before the mended one
	}
	return m
}

// Target returns the request target exactly as the client sent it. In a mended
// request r.URL, r.RequestURI and r.URL.Path say nothing about it, and r.Host is
// the Host header even if the target names a host.
func Target(r *http.Request) string {
	if m := mendedOf(r); m != nil {
		return m.target
	}
	return r.RequestURI
}

// Proto returns the version exactly as the client sent it: "http/1.0", for
// example, or the empty string in a Simple-Request.
func Proto(r *http.Request) string {
	if m := mendedOf(r); m != nil {
		return m.proto
	}
	return r.Proto
}

// Watched reports whether the listener looks at what follows r on its connection.
// A server that ends the connection after every other request of HTTP/1.x gets no
// request whose framing has not been checked.
func Watched(r *http.Request) bool {
	if r.ProtoMajor != 1 {
		return true
	}
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0 && r.TransferEncoding == nil &&
		r.Header["Upgrade"] == nil && r.Header["Expect"] == nil
}

// Mended reports whether the request line was one that net/http refuses.
func Mended(r *http.Request) bool { return mendedOf(r) != nil }

// Simple reports whether r is a Simple-Request of HTTP/0.9. Nothing but the body
// of the response will be sent.
func Simple(r *http.Request) bool {
	m := mendedOf(r)
	return m != nil && m.simple()
}

// SetReason sets the reason phrase of the response to r, which w writes, in the
// place of the usual one. It must be called before w's header is written; an
// empty phrase takes back an earlier one. Controls in the phrase become spaces;
// one that is longer than [MaxReason] bytes is not used. In HTTP/2, which has no
// reason phrases, and on connections of other listeners, SetReason does nothing.
func SetReason(w http.ResponseWriter, r *http.Request, phrase string) {
	c := connOf(r)
	if c == nil || c.hijacked.Load() {
		return
	}
	name := c.listener.reasonHeader
	phrase = cleanReason(phrase)
	if phrase == "" {
		delete(w.Header(), name)
		return
	}
	w.Header()[name] = []string{phrase}
	c.filter.CompareAndSwap(nil, &filter{reasonHeader: name})
}
