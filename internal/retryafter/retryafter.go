// Package retryafter reads and writes the value of the header field Retry-After (RFC 9110,
// section 10.2.3).
package retryafter

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Parse returns how long a value says to wait. The value is a number of seconds, or a date. If the
// value is empty or invalid, or if the date is past, Parse returns 0. The wait can be years, so
// callers must limit it.
func Parse(value string, now time.Time) time.Duration {
	value = strings.Trim(value, " \t")
	n, err := strconv.ParseUint(value, 10, 31)
	if err == nil || errors.Is(err, strconv.ErrRange) { // if the number is too large, n is the largest number
		return time.Duration(n) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// Format returns the value for a wait: whole seconds, rounded up, at least 1.
func Format(wait time.Duration) string { return strconv.Itoa(Seconds(wait)) }

// Seconds returns a wait in whole seconds, rounded up, at least 1.
func Seconds(wait time.Duration) int {
	seconds := wait / time.Second
	if wait%time.Second > 0 {
		seconds++
	}
	return max(int(seconds), 1)
}
