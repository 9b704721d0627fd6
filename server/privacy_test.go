package server

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/misses"
)

// The page about privacy says what the options of the server mean, in all languages.
func TestPrivacyPage(t *testing.T) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	for _, tt := range []struct {
		name      string
		change    func(*Options)
		want, not []string // keys of texts
	}{
		{"nothing", nil, []string{"title", "purpose", "count-no", "log-no", "limit", "cookie"}, []string{"count", "click", "failed", "log-full"}},
		{"counts", func(o *Options) { o.Counts = newCounter(t, time.Now) }, []string{"count", "click"}, []string{"count-no"}},
		{"failed lookups", func(o *Options) { o.Misses = new(misses.Counter) }, []string{"failed"}, nil},
		{"log", func(o *Options) { o.AccessLog = log }, []string{"log-full"}, []string{"log-no", "log-none", "log-truncated"}},
		{"truncated", func(o *Options) { o.AccessLog, o.LogAddresses = log, "truncated" }, []string{"log-truncated"}, []string{"log-no", "log-full"}},
		{"none", func(o *Options) { o.AccessLog, o.LogAddresses = log, "none" }, []string{"log-none"}, []string{"log-no", "log-full"}},
	} {
		s, _ := newTestServer(t, tt.change)
		l := listen(t, s)
		for _, texts := range s.site.Texts().All() {
			t.Run(tt.name+" "+texts.Tag(), func(t *testing.T) {
				status, fields, body := cutAnswer(exchange(t, l.Public, "GET /-/privacy HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nAccept-Language: "+texts.Tag()+"\r\nConnection: close\r\n\r\n"))
				if !strings.Contains(status, http.StatusText(http.StatusOK)) || fieldOf(fields, "Content-Language") != texts.Tag() {
					t.Errorf("%s, %q", status, fields)
				}
				for _, key := range tt.want {
					if text := texts.Text("privacy." + key); !strings.Contains(body, text) {
						t.Errorf("no %q in %s", text, body)
					}
				}
				for _, key := range tt.not {
					if text := texts.Text("privacy." + key); strings.Contains(body, text) {
						t.Errorf("%q in %s", text, body)
					}
				}
			})
		}
	}
}
