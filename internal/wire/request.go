package wire

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
)

// mendedRequest is the request that the client sent, before it was mended.
type mendedRequest struct {
	requestLine
	path string // the target that net/http gets
}

// newMendedRequest gives a request a random path. Clients cannot guess the path, and it is valid only
// for this request. The request is the last of its connection, so a client that learns the path cannot
// use it.
func newMendedRequest(line requestLine) *mendedRequest {
	return &mendedRequest{requestLine: line, path: "/mended/" + rand.Text()}
}

// contextKey is the key of the context value with the *conn of a request.
type contextKey struct{}

// ConnContext attaches a connection to the context of its requests. It must be the ConnContext of
// the [http.Server], or be called by it.
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

// mendedOf returns the mended request from which r was made, or nil if r was not mended.
func mendedOf(r *http.Request) *mendedRequest {
	c := connOf(r)
	if c == nil {
		return nil
	}
	m := c.request.Load()
	if m == nil || m.path != r.RequestURI {
		return nil // r is an earlier request of the connection
	}
	return m
}

// Target returns the request target exactly as the client sent it. For a mended request r.URL,
// r.RequestURI and r.URL.Path are meaningless, and r.Host is the Host field even if the target
// has a host.
func Target(r *http.Request) string {
	if m := mendedOf(r); m != nil {
		return m.target
	}
	return r.RequestURI
}

// Proto returns the HTTP version exactly as the client sent it, for example "http/1.0". For a
// Simple-Request, it returns "".
func Proto(r *http.Request) string {
	if m := mendedOf(r); m != nil {
		return m.proto
	}
	return r.Proto
}

// Watched reports whether the listener inspects the bytes after r on the connection of r. After an
// HTTP/1.x request for which Watched reports false, a server should close the connection. Then the
// framing of all requests has been checked.
func Watched(r *http.Request) bool {
	if r.ProtoMajor != 1 {
		return true
	}
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0 && r.TransferEncoding == nil &&
		r.Header["Upgrade"] == nil && r.Header["Expect"] == nil
}

// Own reports whether the program itself sent r, through [Dial].
func Own(r *http.Request) bool {
	c := connOf(r)
	return c != nil && c.RemoteAddr().Network() == "pipe"
}

// Simple reports whether r is a Simple-Request of HTTP/0.9. Only the body of the response is
// sent.
func Simple(r *http.Request) bool {
	m := mendedOf(r)
	return m != nil && m.simple()
}

// SetReason sets the reason phrase of the response to r. Call it before w writes the header of the
// response. An empty phrase restores the default. Control characters become spaces. A phrase longer
// than [MaxReason] bytes is not used. SetReason has no effect on connections of other listeners, and
// in HTTP/2, because HTTP/2 has no reason phrases.
func SetReason(w http.ResponseWriter, r *http.Request, phrase string) {
	c := connOf(r)
	if c == nil || c.hijacked.Load() {
		return
	}
	name := c.listener.reasonHeader
	phrase = Reason(phrase)
	if phrase == "" {
		delete(w.Header(), name)
		return
	}
	w.Header()[name] = []string{phrase}
	c.filter.CompareAndSwap(nil, &filter{reasonHeader: name})
}
