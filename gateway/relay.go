package gateway

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/nomen-project/nomen/internal/paced"
)

// A Relay is a request that a [Forward] forwards, with a deadline for each step of reading and
// writing. It counts the bytes that it sends.
type Relay struct {
	http.ResponseWriter
	forward *Forward
	request *http.Request
	out     *paced.Writer
	status  int
}

// Relay returns a relay of a request. target is the target as the client sent it. The client
// is in the context of the request (see [WithClient]). The body of the request may be nil.
func (f *Forward) Relay(w http.ResponseWriter, r *http.Request, target string, step time.Duration) *Relay {
	out := r.WithContext(r.Context())
	if u, err := url.Parse(target); err == nil && r.Method != http.MethodConnect {
		out.URL = u
	}
	out.RequestURI = target
	if out.Body != nil && out.Body != http.NoBody {
		out.Body = struct {
			*paced.Reader
			io.Closer
		}{paced.NewReader(r.Body, w, step), r.Body}
	}
	return &Relay{ResponseWriter: w, forward: f, request: out, out: paced.NewWriter(w, step)}
}

// Run forwards the request and its response.
func (w *Relay) Run() { w.forward.ServeHTTP(w, w.request) }

// Status returns the status of the response, or 0 before the response has begun.
func (w *Relay) Status() int { return w.status }

// Sent returns the number of bytes of the body that were sent.
func (w *Relay) Sent() int64 { return w.out.Written() }

// WriteHeader records the status.
func (w *Relay) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (w *Relay) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.out.Write(b)
}

// Hijack hands over the connection to a tunnel, which sends status 200 itself.
func (w *Relay) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, early, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusOK
	}
	return c, early, err
}

// Unwrap implements the interface of [http.ResponseController].
func (w *Relay) Unwrap() http.ResponseWriter { return w.ResponseWriter }
