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

// A Relay is a request that a [Forward] forwards. Each step of reading and writing has a deadline.
// The Relay counts the bytes that it sends to the client.
type Relay struct {
	http.ResponseWriter
	forward *Forward
	request *http.Request
	out     *paced.Writer
	status  int

	// Show returns the body of a response that says why the request was not forwarded. It also sets
	// the header fields of this response. If Show is nil, the body is plain text.
	Show func(h http.Header, status int, why string) []byte
}

// Relay returns a Relay of the request r. The context of r must carry the client (see
// [WithClient]), and its body may be nil. The parameter target is the request target as the client
// sent it, and step is the time limit for each read or write.
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

// Status returns the status of the response, or 0 if the response has not begun.
func (w *Relay) Status() int { return w.status }

// Sent returns how many bytes of the body were sent to the client.
func (w *Relay) Sent() int64 { return w.out.Written() }

// WriteHeader records the status and sends the header.
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

// Hijack passes the connection to a tunnel, which sends the status 200 itself.
func (w *Relay) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, early, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusOK
	}
	return c, early, err
}

// Unwrap returns the original ResponseWriter, for [http.ResponseController].
func (w *Relay) Unwrap() http.ResponseWriter { return w.ResponseWriter }
