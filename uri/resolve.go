package uri

import (
	"errors"
	"fmt"
)

// ErrNoBase is the error of a base that has no scheme: a relative reference
// cannot be resolved against another one.
var ErrNoBase = errors.New("the base has no scheme")

// Resolve returns the URI that ref means where u is the base (RFC 3986, 5.2).
// The result is what its components were computed to be: where a path without
// an authority would begin with two slashes, "/." is put before it.
func (u URI) Resolve(ref URI) (URI, error) {
	if u.scheme == 0 {
		return URI{}, fmt.Errorf("uri: resolve %s against %s: %w", quote(ref.s), quote(u.s), ErrNoBase)
	}
	var buf [256]byte
	return u.dialect.Parse(string(appendTarget(buf[:0], u, ref)))
}

// appendTarget appends the target of RFC 3986, 5.2.2 and 5.3.
func appendTarget(b []byte, base, ref URI) []byte {
	switch {
	case ref.scheme != 0:
		b = append(b, ref.s[:ref.path]...)
		b = appendCleanPath(b, ref.path > ref.afterScheme(), "", ref.Path())
	case ref.path > 0:
		b = append(b, base.s[:base.afterScheme()]...)
		b = append(b, ref.s[:ref.path]...)
		b = appendCleanPath(b, true, "", ref.Path())
	case ref.query == 0 && ref.frag == 0: // the path is empty, no query
		b = append(b, base.s[:base.frag]...)
	case ref.query == 0:
		b = append(b, base.s[:base.query]...)
	default:
		b = append(b, base.s[:base.path]...)
		b = appendCleanPath(b, base.path > base.afterScheme(), mergeBase(base, ref), ref.Path())
	}
	return append(b, ref.s[ref.query:]...)
}

// mergeBase returns what is put before the path of a relative reference.
func mergeBase(base, ref URI) string {
	p := base.Path()
	if ref.s[0] == '/' {
		return ""
	}
	if p == "" && base.path > base.afterScheme() {
		return "/"
	}
	n := len(p)
	for n > 0 && p[n-1] != '/' {
		n--
	}
	return p[:n]
}

// appendCleanPath appends dir and path without their dot segments.
func appendCleanPath(b []byte, authority bool, dir, path string) []byte {
	start := len(b)
	b = append(b, dir...)
	b = append(b, path...)
	b = b[:start+removeDots(b[start:])]
	if !authority && len(b) > start+1 && b[start] == '/' && b[start+1] == '/' {
		b = append(b, "/."...)
		copy(b[start+2:], b[start:])
		b[start+1] = '.'
	}
	return b
}

// removeDots removes the dot segments of a path in place and returns the new
// length (RFC 3986, 5.2.4).
func removeDots(p []byte) int {
	w := 0
	r := leadingDots(p)
	for r < len(p) {
		n := segmentEnd(p, r)
		switch seg := string(p[r:n]); {
		case seg == "/.":
			if n == len(p) {
				p[w] = '/'
				w++
			}
		case seg == "/..":
			for w--; w > 0 && p[w] != '/'; {
				w--
			}
			w = max(w, 0)
			if n == len(p) {
				p[w] = '/'
				w++
			}
		default:
			w += copy(p[w:], p[r:n])
		}
		r = n
	}
	return w
}

// leadingDots returns the length of the dot segments that a path without a
// leading slash begins with.
func leadingDots(p []byte) int {
	r := 0
	for r < len(p) && p[r] != '/' {
		n := segmentEnd(p, r)
		if seg := string(p[r:n]); seg != "." && seg != ".." {
			return r
		}
		r = min(n+1, len(p))
	}
	return r
}

// segmentEnd returns the end of the segment that begins at i, with its slash.
func segmentEnd(p []byte, i int) int {
	for i++; i < len(p) && p[i] != '/'; {
		i++
	}
	return i
}
