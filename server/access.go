package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/wire"
)

// logAccess writes a line about a request to the access log, if there is one (1995, 7:
// Y95-71).
func (s *Server) logAccess(r *http.Request, target string, from netip.Addr, status int, sent int64, took time.Duration) {
	if s.access == nil {
		return
	}
	l := accessRecord{from, r.Method, target, wire.Proto(r), r.Host, r.UserAgent()}
	l.log(r.Context(), s.access, status, sent, took)
}

// An accessRecord holds what the access log says about a request.
type accessRecord struct {
	from                               netip.Addr
	method, target, proto, host, agent string
}

func (v accessRecord) log(ctx context.Context, to *slog.Logger, status int, sent int64, took time.Duration) {
	to.LogAttrs(ctx, slog.LevelInfo, "request",
		slog.String("remote", v.from.String()),
		slog.String("method", printable(v.method)),
		slog.String("target", printable(v.target)),
		slog.String("proto", printable(v.proto)),
		slog.String("host", printable(v.host)),
		slog.Int("status", status),
		slog.Int64("bytes", sent),
		slog.Float64("seconds", took.Seconds()),
		slog.String("agent", printable(v.agent)),
	)
}

// maxLogged bounds the bytes of a value in a log line.
const maxLogged = 2048

// printable returns s with everything but visible ASCII and spaces escaped, so that it
// cannot break a line or move a cursor.
func printable(s string) string {
	if len(s) > maxLogged {
		s = s[:maxLogged] + "..."
	}
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
