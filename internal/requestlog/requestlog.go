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

// A Record has what the access log says about a request.
type Record struct {
	Listener string // name of the listener that received the request
	From     netip.Addr
	Method   string
	Target   string // target of the request, as the client sent it
	Proto    string
	Host     string
	Agent    string // value of the header field User-Agent
	Trace    string // trace ID from traceparent; "" if there is none
}

// listenerKey is the key of the context value with the name of a listener.
type listenerKey struct{}

// WithListener returns a context that has the name of a listener. It is for the requests that this
// listener receives.
func WithListener(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, listenerKey{}, name)
}

// Of returns the record of a request. The target must be the one that the client sent.
func Of(r *http.Request, target string, from netip.Addr) Record {
	listener, _ := r.Context().Value(listenerKey{}).(string)
	parent, _ := trace.Of(r.Header)
	return Record{listener, from, r.Method, target, wire.Proto(r), r.Host, r.UserAgent(), parent.ID()}
}

// Log writes a line about a request and its response to the logger. If the logger is nil, Log does
// nothing.
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

// Remote returns an attribute with the address of a client. If the address is not known, the
// attribute is empty. The attribute's value is a [netip.Addr], so that the log handler can
// recognize the addresses that it must shorten or omit. Every log line with the address of a client
// must use Remote.
func Remote(from netip.Addr) slog.Attr {
	if !from.IsValid() {
		return slog.Attr{}
	}
	return slog.Any("remote", from)
}

// maxLogged is the maximum length of a value in a log line, in bytes.
const maxLogged = 2048

// Printable escapes all characters of s but spaces and visible ASCII characters. The result cannot
// break a line or move a cursor.
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

// Panic is for a handler's defer statement. If the handler panics, Panic logs the panic and aborts
// the request, but not the program.
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
