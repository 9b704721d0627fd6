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

// Parse returns how long a value says to wait: a number of seconds, or the time until a date.
// It returns 0 if the value is empty or invalid, or if the date is past. The wait can be
// years: callers bound it.
func Parse(value string, now time.Time) time.Duration {
	value = strings.Trim(value, " \t")
	n, err := strconv.ParseUint(value, 10, 31)
	if err == nil || errors.Is(err, strconv.ErrRange) { // n is the largest number then
		return time.Duration(n) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// Format returns a wait in whole seconds, rounded up, at least 1.
func Format(wait time.Duration) string { return strconv.Itoa(Seconds(wait)) }

// Seconds returns a wait in whole seconds, rounded up, at least 1.
func Seconds(wait time.Duration) int {
	seconds := wait / time.Second
	if wait%time.Second > 0 {
		seconds++
	}
	return max(int(seconds), 1)
}
