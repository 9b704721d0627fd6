package pages

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

// Limits of the forms that are remembered.
const (
	sentTime = onceTime // how long; long enough for a double click
	maxSent  = 1000     // how many
)

// A sentForms remembers forms with a field "key" that were just sent. If a person sends such a form
// twice, the browser shows only the second response. The second request therefore gets the response
// to the first, and has no effect of its own. The zero sentForms is ready for use.
type sentForms struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]*sentForm
}

type sentForm struct {
	at       time.Time
	done     chan struct{}
	location string   // target of the redirect; "" if the form can be sent again
	cookies  []string // cookies that the response sets
}

// find returns the form with this ID. The result is true if the form is new.
func (f *sentForms) find(id [sha256.Size]byte, now time.Time) (*sentForm, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil || len(f.all) >= maxSent {
		f.tidy(now)
	}
	if form := f.all[id]; form != nil && now.Sub(form.at) < sentTime {
		return form, false
	}
	form := &sentForm{at: now, done: make(chan struct{})}
	if len(f.all) < maxSent {
		f.all[id] = form
	}
	return form, true
}

func (f *sentForms) tidy(now time.Time) {
	if f.all == nil {
		f.all = map[[sha256.Size]byte]*sentForm{}
	}
	for id, form := range f.all {
		if now.Sub(form.at) >= sentTime {
			delete(f.all, id)
		}
	}
}

// forget permits that the form is sent again.
func (f *sentForms) forget(id [sha256.Size]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, id)
}

// once calls handle for a form, unless the same person has just sent the same form, for example
// with a double click. Then it waits for the response to the form that came first, and repeats the
// redirect of that response.
func (c *request) once(handle func(*request) error) error {
	key := c.r.PostForm.Get("key")
	if c.r.Method != http.MethodPost || key == "" {
		return handle(c)
	}
	id := sha256.Sum256([]byte(c.session.UserID + "\x00" + c.r.URL.RequestURI() + "\x00" + c.r.PostForm.Encode()))
	for {
		form, isNew := c.sent.find(id, c.now())
		if isNew {
			return c.answerNew(id, form, handle)
		}
		select {
		case <-form.done:
		case <-c.ctx().Done():
			return c.ctx().Err()
		}
		if form.location != "" {
			for _, cookie := range form.cookies {
				c.w.Header().Add("Set-Cookie", cookie)
			}
			c.see(form.location)
			return nil
		}
	}
}

// answerNew calls handle for a form that has not been sent before, and keeps the redirect for
// copies of the form. If the person sends the form a second time, the browser closes the connection
// of the first request. So handle gets a context that closing the connection does not cancel.
func (c *request) answerNew(id [sha256.Size]byte, form *sentForm, handle func(*request) error) error {
	defer close(form.done)
	w := &redirectWriter{ResponseWriter: c.w}
	c.w = w
	defer func() {
		if w.status != http.StatusSeeOther {
			c.sent.forget(id)
			return
		}
		form.location, form.cookies = w.Header().Get("Location"), w.Header().Values("Set-Cookie")
	}()
	c.r = c.r.WithContext(context.WithoutCancel(c.r.Context()))
	return handle(c)
}

type redirectWriter struct {
	http.ResponseWriter
	status int
}

func (w *redirectWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *redirectWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
