package pages

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

// onceCookie holds a secret between the form that makes it and the page that shows it. So no URL
// has the secret, and any node can show the page. Reloading or going back does not show the
// secret again.
const onceCookie = "__Host-nomen-once"

// onceTime is how long a secret waits to be shown.
const onceTime = time.Minute

// A once is a secret that is shown only once.
type once struct {
	User  string    `json:"user"` // who may see it
	Of    string    `json:"of"`   // path of the page that shows it
	Text  string    `json:"text"`
	Until time.Time `json:"until,omitzero"` // when the secret becomes invalid; zero if it does not
}

// setOnce keeps a secret for the page with a path, and redirects to that page.
func (c *request) setOnce(o once) error {
	o.User = c.session.UserID
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	c.setOnceCookie(base64.RawURLEncoding.EncodeToString(b), int(onceTime/time.Second))
	c.see(o.Of)
	return nil
}

// takeOnce returns the secret for the page of the request, and removes it from the browser. It
// returns an empty one if the secret was shown already.
func (c *request) takeOnce() (o once) {
	cookies := c.r.CookiesNamed(onceCookie)
	if len(cookies) != 1 {
		return once{}
	}
	b, err := base64.RawURLEncoding.DecodeString(cookies[0].Value)
	if err != nil || json.Unmarshal(b, &o) != nil || o.User != c.session.UserID || o.Of != c.r.URL.EscapedPath() {
		return once{}
	}
	c.setOnceCookie("", -1)
	return o
}

func (c *request) setOnceCookie(value string, age int) {
	http.SetCookie(c.w, &http.Cookie{
		Name: onceCookie, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}
