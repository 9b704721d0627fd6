// Package retryafter reads and writes the header field Retry-After (RFC 9110, section 10.2.3).
package retryafter

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Parse returns how long to wait, where value is a number of seconds or a date. It returns 0 if the
// value is empty or invalid, or the date is in the past. The result can be years, so callers must
// limit it.
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

// Format returns the value for a wait, in whole seconds, rounded up to at least 1.
func Format(wait time.Duration) string { return strconv.Itoa(Seconds(wait)) }

// Seconds returns a wait in whole seconds, rounded up to at least 1.
func Seconds(wait time.Duration) int {
	seconds := wait / time.Second
	if wait%time.Second > 0 {
		seconds++
	}
	return max(int(seconds), 1)
}
