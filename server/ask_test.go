package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"
)

// A server asks itself through the code of its public listeners, with TLS too, even if all
// connections are taken. The requests are neither logged nor counted.
func TestAsk(t *testing.T) {
	var log bytes.Buffer
	s, _ := newTestServer(t, func(o *Options) {
		o.AccessLog = slog.New(slog.NewTextHandler(&log, nil))
		o.Limits.Connections, o.Limits.HeadTimeout = 1, time.Minute
	})
	secure, _ := certificate(t)
	l := listenAll(t, s, Listener{Address: "127.0.0.1:0"}, Listener{Address: "127.0.0.1:0", TLS: secure}, Listener{Address: "127.0.0.1:0", Protocols: Protocol1995})
	dialShort(t, l) // takes the only connection
	for range 3 {
		if err := l.Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}
	stop(t, l)
	if err := l.Ask(t.Context()); err == nil {
		t.Error("a stopped server answers")
	}
}

// If the server does not answer, Ask returns an error.
func TestAskInVain(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) {
		o.Middleware = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		}
	})
	l := listen(t, s)
	gone := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, gone)
	defer cancel()
	if err := l.Ask(ctx); !errors.Is(err, gone) {
		t.Errorf("got %v, want %v", err, gone)
	}
}
