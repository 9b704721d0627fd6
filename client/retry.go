package client

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// notNow returns an error if a status says that the server cannot answer at
// present, whatever it is asked.
func (r *reply) notNow(now time.Time) error {
	if r.status < http.StatusInternalServerError && r.status != http.StatusTooManyRequests {
		return nil
	}
	return &StatusError{Code: r.status, Reason: r.reason, RetryAfter: retryAfter(r.header.Get("Retry-After"), now)}
}

// retryAfter reads seconds or a date (RFC 9110, 10.2.3), at most a day.
func retryAfter(s string, now time.Time) time.Duration {
	const most = 24 * time.Hour
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, most)
	}
	if t, err := http.ParseTime(s); err == nil {
		return min(max(t.Sub(now), 0), most)
	}
	return 0
}

// Who is busy is asked again after this long, doubled each time; and not at all
// if he wants to be left alone for longer than maxPatience.
const (
	firstPause  = 200 * time.Millisecond
	maxPatience = 10 * time.Second
)

// busy reports whether the same question may be answered in a moment: a question
// is safe to repeat (RFC 9110, 9.2.1), but not worth it where nobody listens, or
// where the time of an attempt ran out. It also returns for how long the server
// wants to be left alone.
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

// pause waits before the nth time of asking again, from 0: by chance up to a
// half longer, so that many clients do not come back at once.
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
