package pages

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

// onceCookie carries a secret from the form that creates it to the page that shows it. With a
// cookie, the URL does not contain the secret, and any node can show the page. The secret is not
// shown again when the user goes back or reloads the page.
const onceCookie = "__Host-nomen-once"

const onceTime = time.Minute

type once struct {
	User  string    `json:"user"` // the user who may see the secret
	Of    string    `json:"of"`   // path of the page that shows the secret
	Text  string    `json:"text"`
	Until time.Time `json:"until,omitzero"` // when the secret becomes invalid; zero for never
}

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

// takeOnce returns the secret for the page of the request, and removes it from the browser. If the
// secret was already shown, the result is empty.
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
