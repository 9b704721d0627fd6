package server

import (
	"html"
	"net/http"
	"strings"
	"testing"
)

// The page about the checks of links says who sends the requests and how to stop them, in all
// languages, also below a path and with HEAD.
func TestCheckerPage(t *testing.T) {
	checks := &LinkChecks{Agent: "nomen/1 (link checker; +https://names.example.org/-/checker)", Contact: "desk@example.org"}
	for _, tt := range []struct {
		name   string
		checks *LinkChecks
		want   []string // keys of texts
		not    []string
		also   []string // parts of the page
	}{
		{"off", nil, []string{"title", "off"}, []string{"purpose", "robots"}, nil},
		{"on", checks, []string{"title", "purpose", "agent", "contact", "often", "gap", "robots"}, []string{"off"}, []string{checks.Agent, `href="mailto:desk@example.org"`, "User-agent: nomen\nDisallow: /"}},
		{"no contact", &LinkChecks{Agent: "nomen/1"}, []string{"robots"}, []string{"contact"}, []string{"nomen/1"}},
	} {
		s, _ := newTestServer(t, func(o *Options) { o.LinkChecks = tt.checks })
		l := listen(t, s)
		for _, texts := range s.site.Texts().All() {
			get := func(method string) string {
				status, fields, body := cutAnswer(exchange(t, l.Public, method+" "+CheckerPath+" HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nAccept-Language: "+texts.Tag()+"\r\nConnection: close\r\n\r\n"))
				if !strings.Contains(status, http.StatusText(http.StatusOK)) || fieldOf(fields, "Content-Language") != texts.Tag() {
					t.Errorf("%s %s %s: %s, %q", tt.name, texts.Tag(), method, status, fields)
				}
				return html.UnescapeString(body)
			}
			if body := get("HEAD"); body != "" {
				t.Errorf("%s %s: HEAD has the body %q", tt.name, texts.Tag(), body)
			}
			body := get("GET")
			for _, key := range tt.want {
				if text := texts.Text("checker." + key); !strings.Contains(body, text) {
					t.Errorf("%s %s: no %q in %s", tt.name, texts.Tag(), text, body)
				}
			}
			for _, key := range tt.not {
				if text := texts.Text("checker." + key); strings.Contains(body, text) {
					t.Errorf("%s %s: %q in %s", tt.name, texts.Tag(), text, body)
				}
			}
			for _, text := range tt.also {
				if !strings.Contains(body, text) {
					t.Errorf("%s %s: no %q in %s", tt.name, texts.Tag(), text, body)
				}
			}
		}
	}
}
