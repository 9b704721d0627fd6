package server

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// maxAge returns for how long an answer may be kept without asking again: what the
// answer says, else what the authority says.
func maxAge(a *store.Authority, ans *nomen.Answer) time.Duration {
	if ans.MaxAge > 0 || a == nil {
		return ans.MaxAge
	}
	return time.Duration(a.MaxAge) * time.Second
}

// cacheControl returns the Cache-Control of an answer. Unless somebody says
// otherwise, every reuse is preceded by a conditional request (1995, 5).
func cacheControl(a *store.Authority, ans *nomen.Answer) string {
	return cacheFor(maxAge(a, ans), ans.Private)
}

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

// changed returns when what is answered came to be as it is.
func changed(ans *nomen.Answer) time.Time {
	if ans.Changed.After(ans.Modified) {
		return ans.Changed
	}
	return ans.Modified
}

// dates remembers how the present second is spelled.
type dates struct{ last atomic.Pointer[date] }

type date struct {
	second int64
	text   string
}

// of returns t as HTTP spells it.
func (d *dates) of(t time.Time) string {
	second := t.Unix()
	if last := d.last.Load(); last != nil && last.second == second {
		return last.text
	}
	now := &date{second, t.UTC().Format(http.TimeFormat)}
	d.last.Store(now)
	return now.text
}
