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

// Client returns a client that calls the API in this process with the rights of the actor a. The
// pages use it after they have authenticated the user. All rules and limits of the API apply to the
// actor. The rate limit is per [registrar.Actor].Who. A request over the network cannot impersonate
// such a client.
func (s *API) Client(a registrar.Actor) *adminapi.Client {
	return &adminapi.Client{URL: "http://localhost", HTTP: &http.Client{
		Transport:     insideTransport{s, a},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// insideKey is the key of a context value: the actor of a request from [API.Client].
type insideKey struct{}

func insideActor(ctx context.Context) (registrar.Actor, bool) {
	a, ok := ctx.Value(insideKey{}).(registrar.Actor)
	return a, ok
}

// insidePrefix and the actor take the place of the token ID in requests from [API.Client]. Token
// IDs never contain a space, so they cannot be confused.
const insidePrefix = "user "

type insideTransport struct {
	api   *API
	actor registrar.Actor
}

// RoundTrip sends a request to the API, and returns when the API has sent the header of the
// response. The context of the request is canceled when the body of the response is closed.
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

type insideBody struct {
	*io.PipeReader
	ctx    context.Context
	cancel context.CancelFunc
}

// Read reads from the body. When the context of the request has ended, Read returns the cause, even
// if data are left.
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

// An insideWriter passes a response from the API to the client. Only one goroutine at a time may
// use it, but other goroutines may set deadlines concurrently.
type insideWriter struct {
	header   http.Header
	response *http.Response
	once     sync.Once
	sent     chan struct{} // closed when the response has its header
	in       io.Closer     // the body of the request
	out      *io.PipeWriter
}

// serve makes the API answer the request. After a panic of the API, serve ends the response with an
// error, like net/http.
func (w *insideWriter) serve(api *API, r *http.Request) {
	defer r.Body.Close()
	ended := error(io.ErrUnexpectedEOF)
	defer func() {
		_ = recover() // http.ErrAbortHandler, or a panic that the API has logged
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

// WriteHeader passes the header to the client. Only the first call has an effect.
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

// Flush passes the header to the client. The body does not need to be flushed, because it is not
// buffered.
func (w *insideWriter) Flush() { w.WriteHeader(http.StatusOK) }

// EnableFullDuplex does nothing, because the client can always send and receive concurrently.
func (w *insideWriter) EnableFullDuplex() error { return nil }

// SetReadDeadline closes the body of the request if the deadline is in the past. It ignores future
// deadlines, because the context of the request limits its time.
func (w *insideWriter) SetReadDeadline(t time.Time) error {
	if hasPassed(t) {
		return w.in.Close()
	}
	return nil
}

func (w *insideWriter) SetWriteDeadline(t time.Time) error {
	if hasPassed(t) {
		return w.out.CloseWithError(os.ErrDeadlineExceeded)
	}
	return nil
}

func hasPassed(t time.Time) bool { return !t.IsZero() && t.Before(time.Now()) }
