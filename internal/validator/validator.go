// Package validator creates and compares the entity tags and dates of conditional requests (RFC
// 9110, 8.8 and 13).
package validator

import (
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"net/http"
	"strings"
	"time"
)

// TagOf returns the strong entity tag of a representation. The tag is a digest of the content type,
// the content coding and the body.
func TagOf(contentType string, coding string, body []byte) string {
	h := sha256.New()
	h.Write([]byte(contentType + "\n" + coding + "\n"))
	h.Write(body)
	return DigestTag(h)
}

// DigestTag returns the strong entity tag that consists of the digest in h.
func DigestTag(h hash.Hash) string {
	const enough = 16 // bytes
	return `"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:enough]) + `"`
}

// LastModified returns the value of the field Last-Modified. The time modified is rounded up to a
// second, but not beyond now (RFC 9110, 8.8.2.1). If modified is zero, LastModified returns "".
func LastModified(modified, now time.Time) string {
	if modified.IsZero() {
		return ""
	}
	t := modified.UTC().Truncate(time.Second)
	if t.Before(modified) {
		t = t.Add(time.Second)
	}
	if t.After(now) {
		t = now.UTC().Truncate(time.Second)
	}
	return t.Format(http.TimeFormat)
}

// ParseDate parses a date in any of the three formats of HTTP. It returns the zero time if s is
// invalid.
func ParseDate(s string) time.Time {
	t, err := http.ParseTime(s)
	if err != nil {
		return time.Time{}
	}
	return t
}

const maxTags = 256

// Matches reports whether a field is "*" or contains the tag. If weak is true, Matches uses the
// weak comparison, which ignores the prefix "W/". Otherwise a weak tag never matches (RFC 9110,
// 8.8.3.2).
func Matches(field, tag string, weak bool) bool {
	if strings.Trim(field, " \t") == "*" {
		return true
	}
	for n := 0; n < maxTags; n++ {
		field = strings.TrimLeft(field, " \t,")
		isWeak := strings.HasPrefix(field, "W/")
		candidate := strings.TrimPrefix(field, "W/")
		if candidate == "" || candidate[0] != '"' {
			return false
		}
		end := strings.IndexByte(candidate[1:], '"')
		if end < 0 {
			return false
		}
		if candidate[:end+2] == tag && (weak || !isWeak) {
			return true
		}
		field = candidate[end+2:]
	}
	return false
}
