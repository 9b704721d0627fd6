package pages

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

// Limits of the set of recently sent forms.
const (
	sentTime = onceTime // time for which a form is kept
	maxSent  = 1000     // maximum number of forms
)

// A sentForms is a set of recently sent forms with a field "key". If a user sends such a form
// twice, the browser shows only the second response. The second request is not carried out, but
// gets the same response as the first. The zero sentForms is ready for use.
type sentForms struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]*sentForm
}

type sentForm struct {
	at       time.Time
	done     chan struct{}
	location string   // target of the redirect; "" if the form may be sent again
	cookies  []string // cookies that the response sets
}

// find returns the form with this ID, and adds it if necessary. The second result is true if the
// form is new.
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

// forget removes a form, so that it can be sent again.
func (f *sentForms) forget(id [sha256.Size]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, id)
}

// once calls handle for a form, unless the same user has just sent the same form, for example by a
// double click. In this case, once waits for the response to the first form, and sends the same
// redirect.
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

// answerNew calls handle for a form that has not been sent before, and keeps the redirect for the
// case that the form is sent again. If the user sends the form a second time, the browser closes
// the connection of the first request. The context of handle is therefore not canceled when the
// connection is closed.
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
