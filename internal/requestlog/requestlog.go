// Package requestlog writes the access log of a server, with one line for each request (draft of
// 1995, 7: Y95-71). It also logs the panics of handlers.
//
// Comments cite drafts by their year and section, as in "draft of 1995, 3.1"; docs/glossary.md
// lists the drafts.
package requestlog

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/trace"
	"github.com/nomen-project/nomen/internal/wire"
)

// A Record is what the access log says about a request.
type Record struct {
	Listener string // name of the listener
	From     netip.Addr
	Method   string
	Target   string // request target as the client sent it
	Proto    string
	Host     string
	Agent    string // User-Agent field
	Trace    string // trace ID from traceparent, or ""
}

type listenerKey struct{}

// WithListener returns a context with the name of a listener, for the requests that it receives.
func WithListener(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, listenerKey{}, name)
}

// Of returns the record of a request. The target must be as the client sent it.
func Of(r *http.Request, target string, from netip.Addr) Record {
	listener, _ := r.Context().Value(listenerKey{}).(string)
	parent, _ := trace.Of(r.Header)
	return Record{listener, from, r.Method, target, wire.Proto(r), r.Host, r.UserAgent(), parent.ID()}
}

// Log logs a request and its response. If the logger is nil, Log does nothing.
func (v Record) Log(ctx context.Context, to *slog.Logger, status int, sent int64, took time.Duration) {
	if to == nil {
		return
	}
	remote, traced := Remote(v.From), slog.Attr{}
	if v.Trace != "" {
		traced = slog.String("trace_id", v.Trace)
	}
	to.LogAttrs(ctx, slog.LevelInfo, "request",
		slog.String("listener", v.Listener),
		remote,
		slog.String("method", Printable(v.Method)),
		slog.String("target", Printable(v.Target)),
		slog.String("proto", Printable(v.Proto)),
		slog.String("host", Printable(v.Host)),
		slog.Int("status", status),
		slog.Int64("bytes", sent),
		slog.Float64("seconds", took.Seconds()),
		slog.String("agent", Printable(v.Agent)),
		traced,
	)
}

// Remote returns an attribute with the address of a client. If the address is unknown, the
// attribute is empty. Every log line with the address of a client must use Remote. Its value is a
// [netip.Addr], so that the log handler can recognize, shorten or omit the address.
func Remote(from netip.Addr) slog.Attr {
	if !from.IsValid() {
		return slog.Attr{}
	}
	return slog.Any("remote", from)
}

// maxLogged is the maximum length of a value in a log line, in bytes. Longer values are truncated.
const maxLogged = 2048

// Printable escapes all characters of s except for spaces and visible ASCII characters, so that the
// result cannot begin a new line or control a terminal.
func Printable(s string) string {
	s = ascii.Head(s, maxLogged)
	clean := func(c byte) bool { return c >= ' ' && c < 0x7f && c != '\\' }
	i := 0
	for i < len(s) && clean(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for _, c := range []byte(s[i:]) {
		if clean(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String()
}

// Panic must be deferred by a handler. If the handler panics, Panic logs this and aborts the
// request, but not the program.
func Panic(log *slog.Logger) {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		log.Error("panic", "value", v, "stack", string(debug.Stack()))
		panic(http.ErrAbortHandler)
	}
}
