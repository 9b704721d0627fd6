package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/wire"
)

// logAccess writes one line about a request, if that is wanted (1995, 7:
// Y95-71).
func (s *Server) logAccess(r *http.Request, target string, from netip.Addr, status int, sent int64, took time.Duration) {
	if s.access == nil {
		return
	}
	s.access.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("remote", from.String()),
		slog.String("method", printable(r.Method)),
		slog.String("target", printable(target)),
		slog.String("proto", printable(wire.Proto(r))),
		slog.String("host", printable(r.Host)),
		slog.Int("status", status),
		slog.Int64("bytes", sent),
		slog.Float64("seconds", took.Seconds()),
		slog.String("agent", printable(r.UserAgent())),
	)
}

// maxLogged bounds the bytes of a value in a log line.
const maxLogged = 2048

// printable returns s with everything but visible ASCII and spaces escaped, so
// that it cannot end a line or move a cursor.
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
