package server

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen"
)

// cacheControl returns the Cache-Control field for an answer. For an answer without a lifetime,
// caches must send a conditional request before they use the answer again (draft of 1995, 5).
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

// addAge adds to a reply the age of its stale answer, in the fields with which caches mark stale
// responses (RFC 5861, section 4; RFC 9111, section 5.1; RFC 9211). It does not change a reply with
// a 5xx status.
func (s *Server) addAge(p *reply, age time.Duration) {
	if age == 0 || p.status >= http.StatusInternalServerError {
		return
	}
	s.metrics.Stale()
	seconds := strconv.FormatInt(int64(age/time.Second), 10)
	p.add("Age", seconds)
	p.add("Cache-Status", "nomen; hit; ttl=-"+seconds+"; detail=storage-away")
}

func changed(ans *nomen.Answer) time.Time { return later(ans.Modified, ans.Changed) }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// dates formats times for header fields. It caches the text for the most recent second.
type dates struct{ last atomic.Pointer[date] }

type date struct {
	second int64
	text   string
}

// of returns t as an HTTP date.
func (d *dates) of(t time.Time) string {
	second := t.Unix()
	if last := d.last.Load(); last != nil && last.second == second {
		return last.text
	}
	now := &date{second, t.UTC().Format(http.TimeFormat)}
	d.last.Store(now)
	return now.text
}
