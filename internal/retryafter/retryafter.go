// Package retryafter reads and writes the header field Retry-After (RFC 9110, section 10.2.3).
package retryafter

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Parse returns how long to wait. The value is a number of seconds, or a date. Parse returns 0 if
// the value is empty or invalid, or if the date is in the past. The result can be very large, so
// callers must limit it.
func Parse(value string, now time.Time) time.Duration {
	value = strings.Trim(value, " \t")
	n, err := strconv.ParseUint(value, 10, 31)
	if err == nil || errors.Is(err, strconv.ErrRange) { // a number that is too large becomes the largest number
		return time.Duration(n) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// Format returns the field value for a wait. This is the number of seconds, rounded up, but at
// least 1.
func Format(wait time.Duration) string { return strconv.Itoa(Seconds(wait)) }

// Seconds returns the number of seconds in a wait, rounded up, but at least 1.
func Seconds(wait time.Duration) int {
	seconds := wait / time.Second
	if wait%time.Second > 0 {
		seconds++
	}
	return max(int(seconds), 1)
}
