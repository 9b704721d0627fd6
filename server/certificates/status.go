package certificates

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// A Source provides the certificates of listeners. It is safe for concurrent use.
type Source interface {
	// TLS returns the configuration of a listener.
	TLS() *tls.Config

	// WellKnown returns a handler that answers the challenges of a certificate authority, and
	// passes all other requests to next.
	WellKnown(next http.Handler) http.Handler

	// Run keeps the certificates current until ctx ends.
	Run(ctx context.Context)

	// Reload reads the files again, or retries failed orders, without waiting.
	Reload() error

	// Status describes the certificates, sorted by host.
	Status() []Status
}

// A Status describes the certificate of a host.
type Status struct {
	Host     string    // a DNS name; for a certificate in a file, its first name
	Begins   time.Time // zero if there is no certificate yet
	Expires  time.Time // zero if there is no certificate yet
	Err      string    // why the last order or reading failed, on one line; "" if it succeeded
	Attempts int       // failed attempts since the last success
	Next     time.Time // time of the next attempt after a failure; zero if unknown
}

const maxWarning = 21 * 24 * time.Hour

// late reports whether a certificate should have been replaced already. A certificate is late when
// less than a sixth of its lifetime is left, but at the earliest three weeks before it expires.
func (s *Status) late(now time.Time) bool {
	return !s.Expires.IsZero() && s.Expires.Sub(now) < min(s.Expires.Sub(s.Begins)/6, maxWarning)
}

// A reminder logs once a day that a certificate should already have been replaced.
type reminder struct{ last time.Time }

func (r *reminder) remind(log *slog.Logger, s Status, now time.Time) {
	if !s.late(now) || now.Sub(r.last) < 24*time.Hour {
		return
	}
	r.last = now
	text := "the certificate expires soon"
	if now.After(s.Expires) {
		text = "the certificate has expired"
	}
	log.Error(text, "host", s.Host, "expires", s.Expires.UTC().Format(time.RFC3339), "err", s.Err)
}

const maxText = 500 // maximum length in bytes of an error in a log line or a Status

// oneLine returns an error on one line. It truncates long texts, because a message of a certificate
// authority can have any length.
func oneLine(err error) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "?")), " ")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	return text
}
