package wire

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
)

// A mendedRequest contains the original request line of a request that was mended (see the package
// comment).
type mendedRequest struct {
	requestLine
	path string // the target that net/http sees
}

// newMendedRequest returns a mendedRequest with a random path, which clients cannot guess. A client
// that learns the path cannot use it, because the connection ends after this request.
func newMendedRequest(line requestLine) *mendedRequest {
	return &mendedRequest{requestLine: line, path: "/mended/" + rand.Text()}
}

type contextKey struct{}

// ConnContext puts a connection into the context of its requests. The ConnContext of the
// [http.Server] must be this function, or call it.
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

// Target returns the request target as the client sent it. If the listener has mended the request
// (see the package comment), r.RequestURI and r.URL have no meaning, and r.Host is the Host field
// even if the target contains a host.
func Target(r *http.Request) string {
	if m := mendedOf(r); m != nil {
		return m.target
	}
	return r.RequestURI
}

// Proto returns the HTTP version as the client sent it, such as "http/1.0". For a Simple-Request it
// returns "".
func Proto(r *http.Request) string {
	if m := mendedOf(r); m != nil {
		return m.proto
	}
	return r.Proto
}

// Watched reports whether the listener also inspects the next request on the connection of r. If
// Watched returns false, the framing of later requests is not checked. To answer only checked
// requests, a server should then close the connection after the response.
func Watched(r *http.Request) bool {
	if r.ProtoMajor != 1 {
		return true
	}
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0 && r.TransferEncoding == nil &&
		r.Header["Upgrade"] == nil && r.Header["Expect"] == nil
}

// Own reports whether the program sent r to itself, through [Dial].
func Own(r *http.Request) bool {
	c := connOf(r)
	return c != nil && c.RemoteAddr().Network() == "pipe"
}

// Simple reports whether r is a Simple-Request of HTTP/0.9, so that only the body of the response
// is sent.
func Simple(r *http.Request) bool {
	m := mendedOf(r)
	return m != nil && m.simple()
}

// SetReason sets the reason phrase of the response to r. It must be called before the header of the
// response is written. An empty phrase restores the default. Control characters become spaces. A
// phrase of more than [MaxReason] bytes is ignored. SetReason has no effect in HTTP/2, which has no
// reason phrases, or on connections of other listeners.
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
