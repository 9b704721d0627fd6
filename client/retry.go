package client

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"syscall"
	"time"

	"github.com/nomen-project/nomen/internal/retryafter"
)

func (r *reply) notNow(now time.Time) error {
	if r.status < http.StatusInternalServerError && r.status != http.StatusTooManyRequests {
		return nil
	}
	wait := min(retryafter.Parse(r.header.Get("Retry-After"), now), maxRetryAfter)
	return &StatusError{Code: r.status, Reason: r.reason, RetryAfter: wait}
}

const maxRetryAfter = 24 * time.Hour

// The client asks a busy server again after firstPause, and doubles the pause for each further
// attempt. If the server asks for a pause longer than maxPatience, the client gives up.
const (
	firstPause  = 200 * time.Millisecond
	maxPatience = 10 * time.Second
)

// busy reports whether a retry makes sense after err, and how long the server asked to wait. Every
// question can be repeated safely (RFC 9110, 9.2.1). A retry does not make sense if the connection
// was refused or the attempt has timed out.
func busy(err error) (time.Duration, bool) {
	var status *StatusError
	if errors.As(err, &status) {
		switch status.Code {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return status.RetryAfter, status.RetryAfter <= maxPatience
		}
	}
	return 0, errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrUnexpectedEOF)
}

// pause waits before retry n, which starts at 0. It adds a random time of up to half the pause, so
// that many clients do not retry at the same time.
func pause(ctx context.Context, n int, least time.Duration) error {
	wait := firstPause << min(n, 10)
	wait = max(wait, least) + rand.N(wait/2)
	if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
		return context.DeadlineExceeded
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
