// Package requestlog writes what servers log about requests: a line in the access log (1995,
// 7: Y95-71), and the panics of handlers.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
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

// A Record holds what the access log says about a request.
type Record struct {
	Listener string // name of the listener
	From     netip.Addr
	Method   string
	Target   string // as sent
	Proto    string
	Host     string
	Agent    string // User-Agent
	Trace    string // ID of the trace, from traceparent; "" if none
}

// listenerKey is the key of the context value with the name of a listener.
type listenerKey struct{}

// WithListener returns a context for the requests of the listener with a name.
func WithListener(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, listenerKey{}, name)
}

// Of returns the record of a request with a target as sent by a client.
func Of(r *http.Request, target string, from netip.Addr) Record {
	listener, _ := r.Context().Value(listenerKey{}).(string)
	parent, _ := trace.Of(r.Header)
	return Record{listener, from, r.Method, target, wire.Proto(r), r.Host, r.UserAgent(), parent.ID()}
}

// Log writes a line about a request and its response, unless to is nil.
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

// Remote returns the attribute with the address of a client, or an empty one if the address is
// not known. The value is a [netip.Addr], by which the handler of the log recognises the
// addresses that it must not write in full. All log lines with the address of a client must use
// it.
func Remote(from netip.Addr) slog.Attr {
	if !from.IsValid() {
		return slog.Attr{}
	}
	return slog.Any("remote", from)
}

// maxLogged bounds the bytes of a value in a log line.
const maxLogged = 2048

// Printable returns s with everything but visible ASCII and spaces escaped, so that it
// cannot break a line or move a cursor.
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

// Panic logs a panic of the handler that defers it, and aborts the request but not the
// program.
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
