package server

import (
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/validator"
)

// HEAD returns the fields of GET, and 304 the caching fields of 200.
func TestConditions(t *testing.T) {
	s, _ := newTestServer(t, nil)
	full := ask(s, "/alb002")
	tag := full.get("ETag")
	before, after := "Thu, 19 Nov 2026 08:29:59 GMT", "Thu, 19 Nov 2026 08:30:01 GMT"
	for _, tt := range []struct {
		title                                 string
		match, unmodified, noneMatch, changed string
		want                                  int
	}{
		{title: "nothing", want: 200},
		{title: "Y95-68 before", changed: before, want: 200},
		{title: "Y95-68 equal", changed: modifiedText, want: 304},
		{title: "Y95-68 after", changed: after, want: 304},
		{title: "Y95-68 in the form of C", changed: "Thu Nov 19 08:30:00 2026", want: 304},
		{title: "same tag", noneMatch: tag, want: 304},
		{title: "same tag, weak", noneMatch: "W/" + tag, want: 304},
		{title: "same tag among others", noneMatch: `"a,b" , ` + tag, want: 304},
		{title: "other tag", noneMatch: `"x"`, want: 200},
		{title: "other tag goes before the date", noneMatch: `"x"`, changed: after, want: 200},
		{title: "no tag at all", noneMatch: "nonsense", changed: after, want: 200},
		{title: "an unclosed tag", noneMatch: `"x`, want: 200},
		{title: "match", match: tag, want: 200},
		{title: "match is strong", match: "W/" + tag, want: 412},
		{title: "match of another", match: `"x"`, want: 412},
		{title: "match of any", match: "*", want: 200},
		{title: "match and not modified", match: tag, changed: modifiedText, want: 304},
		{title: "unmodified", unmodified: modifiedText, want: 200},
		{title: "modified", unmodified: before, want: 412},
		{title: "match goes before unmodified", match: tag, unmodified: before, want: 200},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			p := ask(s, "/alb002", func(r *request) {
				r.method, r.ifMatch, r.ifUnmodifiedSince = method, tt.match, tt.unmodified
				r.ifNoneMatch, r.ifModifiedSince = tt.noneMatch, tt.changed
			})
			if p.status != tt.want {
				t.Errorf("%s, %s: got %d, want %d", method, tt.title, p.status, tt.want)
			}
			if p.status != 304 {
				continue
			}
			for _, name := range []string{"ETag", "Last-Modified", "Vary", "Cache-Control", "Date"} {
				if p.get(name) == "" || p.get(name) != full.get(name) {
					t.Errorf("%s, %s: %s is %q, want %q", method, tt.title, name, p.get(name), full.get(name))
				}
			}
			if p.get("Content-Type")+p.get("Content-Length") != "" || len(p.body) > 0 {
				t.Errorf("%s, %s: a 304 with a body", method, tt.title)
			}
		}
	}
	if html := ask(s, "/alb002", accepting("text/html")).get("ETag"); html == tag || html == "" {
		t.Errorf("two formats have one tag: %s", html)
	}
}

// A change within the second of the last response is not missed (Y95-67).
func TestLastModifiedWithinASecond(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)).UTC() }
	for _, tt := range []struct{ modified, now, want int }{
		{10_000, 20_000, 10_000},
		{10_200, 20_000, 11_000},
		{10_200, 10_500, 10_000}, // never later than Date
		{10_000, 10_000, 10_000},
	} {
		want := at(tt.want).Format("Mon, 02 Jan 2006 15:04:05 GMT")
		if got := validator.LastModified(at(tt.modified), at(tt.now)); got != want {
			t.Errorf("changed at %d, asked at %d: got %s, want %s", tt.modified, tt.now, got, want)
		}
	}
}
