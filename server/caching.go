package server

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen"
)

// cacheControl returns the Cache-Control field for an answer. If the answer has no lifetime, the
// field makes a cache send a conditional request before every reuse (1995, 5).
func cacheControl(ans *nomen.Answer) string { return cacheFor(ans.MaxAge, ans.Private) }

func cacheFor(age time.Duration, private bool) string {
	value := "no-cache"
	if age >= time.Second {
		value = "max-age=" + strconv.Itoa(int(age/time.Second))
	}
	if private {
		value = "private, " + value
	}
	return value
}

// addAge adds to a reply the age of its stale answer, in the fields with which a cache marks a
// stale response (RFC 5861, section 4; RFC 9111, section 5.1; RFC 9211). It leaves errors of this
// server unchanged.
func (s *Server) addAge(p *reply, age time.Duration) {
	if age == 0 || p.status >= http.StatusInternalServerError {
		return
	}
	s.metrics.Stale()
	seconds := strconv.FormatInt(int64(age/time.Second), 10)
	p.add("Age", seconds)
	p.add("Cache-Status", "nomen; hit; ttl=-"+seconds+"; detail=storage-away")
}

// changed returns the time of the last change of an answer, in its record or in any other part.
func changed(ans *nomen.Answer) time.Time { return later(ans.Modified, ans.Changed) }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// dates formats times for header fields. It keeps the text of the last second that it formatted.
type dates struct{ last atomic.Pointer[date] }

type date struct {
	second int64
	text   string
}

// of returns t in the format of HTTP.
func (d *dates) of(t time.Time) string {
	second := t.Unix()
	if last := d.last.Load(); last != nil && last.second == second {
		return last.text
	}
	now := &date{second, t.UTC().Format(http.TimeFormat)}
	d.last.Store(now)
	return now.text
}
