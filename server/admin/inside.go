package admin

import (
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
)

// Client returns a client that calls the API in this process, with the rights of an actor. It is
// for pages that have found out who their user is: all rules and limits of the API apply to the
// actor, and requests are counted by [registrar.Actor].Who. A request from outside cannot be
// mistaken for one of such a client.
func (s *API) Client(a registrar.Actor) *adminapi.Client {
	return &adminapi.Client{URL: "http://localhost", HTTP: &http.Client{
		Transport:     insideTransport{s, a},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// insideKey is the key of the actor in the context of requests of [API.Client].
type insideKey struct{}

// insideActor returns the actor of a request of [API.Client].
func insideActor(ctx context.Context) (registrar.Actor, bool) {
	a, ok := ctx.Value(insideKey{}).(registrar.Actor)
	return a, ok
}

// insidePrefix precedes the actor in what identifies the client of a request of [API.Client]. IDs
// of tokens contain no space.
const insidePrefix = "user "

// An insideTransport calls an API for an actor.
type insideTransport struct {
	api   *API
	actor registrar.Actor
}

// RoundTrip returns when the API has sent the header of the response. It ends the request when
// the body of the response is closed.
func (t insideTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), insideKey{}, t.actor))
	in := r.Clone(ctx)
	in.RequestURI = r.URL.RequestURI()
	in.Header.Del("Authorization")
	if in.Body == nil {
		in.Body = http.NoBody
	}
	body, pipe := io.Pipe()
	w := &insideWriter{header: http.Header{}, sent: make(chan struct{}), in: in.Body, out: pipe}
	w.response = &http.Response{
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Request: r,
		Trailer: http.Header{}, Body: insideBody{body, ctx, cancel},
	}
	context.AfterFunc(ctx, func() { pipe.CloseWithError(context.Cause(ctx)) })
	go w.serve(t.api, in)
	select {
	case <-w.sent:
		return w.response, nil
	case <-ctx.Done():
		cancel()
		return nil, context.Cause(ctx)
	}
}

// An insideBody is the body of a response.
type insideBody struct {
	*io.PipeReader
	ctx    context.Context
	cancel context.CancelFunc
}

// Read returns the cause of the end of the request's context after that end, even if the API had
// sent more before.
func (b insideBody) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.PipeReader.Read(p)
}

// Close ends the request.
func (b insideBody) Close() error {
	defer b.cancel()
	return b.PipeReader.Close()
}

// An insideWriter passes a response to the client. Only one goroutine may use it, except for the
// deadlines.
type insideWriter struct {
	header   http.Header
	response *http.Response
	once     sync.Once
	sent     chan struct{} // closed when response has the header
	in       io.Closer     // body of the request
	out      *io.PipeWriter
}

// serve runs the API. Like net/http, it ends the response with an error if the API panics.
func (w *insideWriter) serve(api *API, r *http.Request) {
	defer r.Body.Close()
	ended := error(io.ErrUnexpectedEOF)
	defer func() {
		_ = recover() // http.ErrAbortHandler; the API has logged any other panic
		w.WriteHeader(http.StatusInternalServerError)
		w.out.CloseWithError(ended)
	}()
	api.serve(w, r)
	w.WriteHeader(http.StatusOK)
	for field := range w.response.Trailer {
		w.response.Trailer[field] = w.header[field]
	}
	ended = io.EOF
}

func (w *insideWriter) Header() http.Header { return w.header }

// WriteHeader passes the header to the client, unless that has been done.
func (w *insideWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.response.StatusCode, w.response.Status = status, http.StatusText(status)
		w.response.Header = maps.Clone(w.header)
		for field := range strings.SplitSeq(w.header.Get("Trailer"), ", ") {
			if field != "" {
				w.response.Trailer[http.CanonicalHeaderKey(field)] = nil
			}
		}
		close(w.sent)
	})
}

func (w *insideWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(b)
}

// Flush passes the header to the client; nothing else is buffered.
func (w *insideWriter) Flush() { w.WriteHeader(http.StatusOK) }

// EnableFullDuplex does nothing: the client can always send and receive at the same time.
func (w *insideWriter) EnableFullDuplex() error { return nil }

// SetReadDeadline closes the body of the request if the deadline has passed. There are no other
// deadlines: the context of the request limits its time.
func (w *insideWriter) SetReadDeadline(t time.Time) error {
	if hasPassed(t) {
		return w.in.Close()
	}
	return nil
}

// SetWriteDeadline ends the response if the deadline has passed.
func (w *insideWriter) SetWriteDeadline(t time.Time) error {
	if hasPassed(t) {
		return w.out.CloseWithError(os.ErrDeadlineExceeded)
	}
	return nil
}

func hasPassed(t time.Time) bool { return !t.IsZero() && t.Before(time.Now()) }
