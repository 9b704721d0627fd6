package server

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// The times of the revisions of urn:dns:example.org:alb002 in the tests: reserved,
// published, moved, retired.
var (
	reservedAt = modified.Add(-48 * time.Hour) // before the fixture
	movedAt    = modified.Add(time.Hour + 250*time.Millisecond)
	retiredAt  = modified.Add(2 * time.Hour)
)

func asOf(t time.Time) func(*request) {
	return func(r *request) { r.datetime = t.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT") }
}

// lived is a server with a name that has a history.
func lived(t *testing.T) (*Server, store.Store) {
	t.Helper()
	srv, s := newTestServer(t, func(o *Options) { o.PublicURL = "https://names.example" })
	n := name.MustParse("urn:dns:example.org:life")
	rec := func(status nomen.Status, url, why string, at time.Time) {
		r := &store.Record{Name: n, Status: status, Locations: []nomen.Location{{URL: url, Note: "<script>alert(1)</script>"}}}
		if status == nomen.Retired {
			r.Reason = "sold out"
		}
		c := store.Change{Record: r, Expected: store.AnyRevision, Time: at, Who: "<b>clerk</b>", Why: why}
		if _, err := s.Apply(context.Background(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	rec(nomen.Reserved, "https://example.org/secret", "<i>planned</i>", reservedAt)
	rec(nomen.Active, "https://example.org/first", "public", modified)
	rec(nomen.Active, "https://example.org/second", "moved", movedAt)
	rec(nomen.Retired, "https://example.org/second", "sold out", retiredAt)
	return srv, s
}

// links returns the links of a response. Dates in them contain commas.
func links(p *reply) []string { return strings.Split(p.get("Link"), ", <") }

// RFC 7089, 4.1.1 and 4.5.4: a response as of a time, including redirects, says of which
// time it is.
func TestMementos(t *testing.T) {
	s, _ := lived(t)
	for _, tt := range []struct {
		target   string
		status   int
		location string
		datetime string
	}{
		{"/urn:dns:example.org:life?at=2026-11-19T08:30:00Z", 303, "https://example.org/first", modifiedText},
		{"/urn:dns:example.org:life?at=2026-11-19T09:30:00.249Z", 303, "https://example.org/first", modifiedText},
		{"/urn:dns:example.org:life?at=2026-11-19T09:30:00.250Z", 303, "https://example.org/second", "Thu, 19 Nov 2026 09:30:01 GMT"},
		{"/urn:dns:example.org:life?at=2026-11-19T10:30:00.25%2B01:00", 303, "https://example.org/second", "Thu, 19 Nov 2026 09:30:01 GMT"},
		{"/urn:dns:example.org:life?at=2026-11-19", 410, "", "Thu, 19 Nov 2026 10:30:00 GMT"},
		{"/urn:dns:example.org:life?at=2999-01-01", 410, "", ""}, // a time in the future has no memento (RFC 7089, 4.5.6)
		{"/urn:dns:example.org:life?s=I2C&at=2026-11-19T09:00:00Z", 200, "", modifiedText},
		{"/URN:DNS:example.org:life?at=2026-11-19T09:00:00Z&s=I2C", 200, "", modifiedText},
		{"/life?at=2026-11-19T09:00:00Z", 200, "", modifiedText},
		{"/uri-res/N2L?urn:dns:example.org:life?at=2026-11-19T09:00:00Z", 303, "https://example.org/first", modifiedText},
		{"life?at=2026-11-19T09:00:00Z", 200, "", ""},            // by the protocol of 1995, without its fields
		{"/urn:dns:example.org:life?at=2026-11-18", 404, "", ""}, // reserved
		{"/urn:dns:example.org:life?at=2000-01-01", 404, "", ""}, // not registered
		{"/urn:dns:example.org:life?at=2026-99-99", 400, "", ""},
		{"/urn:dns:example.org:life?at=2026-11-19&at=2026-11-20", 400, "", ""},
		{"/urn:dns:example.org:life?at=2026-11-19%0D%0AX:y", 400, "", ""},
		{"/urn:dns:example.org:life?at=home", 410, "", ""}, // not a time
		{"life?at=home", 400, "", ""}, // Y95-08
		{"/urn:dns:example.org:life", 410, "", ""},
	} {
		p := ask(s, tt.target)
		if p.status != tt.status || p.get("Location") != tt.location || p.get("Memento-Datetime") != tt.datetime {
			t.Errorf("%s: %d %q of %q, want %d %q of %q", tt.target, p.status, p.get("Location"), p.get("Memento-Datetime"), tt.status, tt.location, tt.datetime)
		}
		if !strings.HasPrefix(tt.target, "/") || tt.status == 400 {
			continue
		}
		// RFC 7089, 4.1.1: a response as of a time does not vary by time.
		if vary := p.get("Vary"); strings.Contains(vary, "Accept-Datetime") == strings.Contains(tt.target, "at=2") {
			t.Errorf("%s: Vary is %q", tt.target, vary)
		}
		if tt.datetime != "" && !slices.ContainsFunc(links(p), func(l string) bool { return strings.HasSuffix(l, `rel="original timegate"`) }) {
			t.Errorf("%s: links %q", tt.target, links(p))
		}
	}
	p := ask(s, "/urn:dns:example.org:life?at=2026-11-19T09:00:00Z&s=I2C")
	again := ask(s, "/urn:dns:example.org:life?at=2026-11-19T09:00:00Z&s=I2C", func(r *request) { r.ifNoneMatch = p.get("ETag") })
	if again.status != 304 || again.get("Memento-Datetime") != modifiedText || again.get("Vary") != p.get("Vary") || !strings.HasPrefix(p.get("Vary"), "Accept, Accept-Language") {
		t.Errorf("not modified: %d, %v", again.status, again.fields)
	}
}

// RFC 7089, 4.1.1 and 4.5.3: a path redirects to the memento, which says that it is one.
func TestTimeGate(t *testing.T) {
	s, _ := lived(t)
	const path = "/urn:dns:example.org:life"
	for _, tt := range []struct {
		target string
		at     time.Time
		want   string
	}{
		{path, modified, path + "?at=2026-11-19T08:30:00Z"},
		{path, modified.Add(time.Minute), path + "?at=2026-11-19T08:30:00Z"},
		{path, movedAt, path + "?at=2026-11-19T08:30:00Z"}, // truncated to the second it is earlier
		{path, movedAt.Add(time.Second), path + "?at=2026-11-19T09:30:00.25Z"},
		{path, retiredAt.Add(-time.Second), path + "?at=2026-11-19T09:30:00.25Z"},
		{path, retiredAt, path + "?at=2026-11-19T10:30:00Z"}, // to the second
		{path, testNow.AddDate(1, 0, 0), path + "?at=2026-11-19T10:30:00Z"},
		{path, reservedAt, path + "?at=2026-11-19T08:30:00Z"}, // the first one
		{path + "?s=I2C", modified, path + "?s=I2C&at=2026-11-19T08:30:00Z"},
		{path + "?s=I2L&c=%3Ctoc%3E", modified, path + "?s=I2L&c=%3Ctoc%3E&at=2026-11-19T08:30:00Z"},
		{"/life", modified, path + "?s=I2C&at=2026-11-19T08:30:00Z"},
		{"/uri-res/N2Ls?urn:dns:example.org:life", modified, path + "?s=I2Ls&at=2026-11-19T08:30:00Z"},
	} {
		p := ask(s, tt.target, asOf(tt.at))
		if p.status != 302 || p.get("Location") != tt.want || p.get("Memento-Datetime") != "" {
			t.Errorf("%s at %v: %d to %q, want %q", tt.target, tt.at, p.status, p.get("Location"), tt.want)
			continue
		}
		if vary := p.get("Vary"); vary != "Accept, Accept-Datetime" {
			t.Errorf("%s: Vary is %q", tt.target, vary)
		}
		m := ask(s, p.get("Location"), asOf(testNow)) // a memento is not negotiated
		if m.get("Memento-Datetime") == "" || m.status == 302 {
			t.Errorf("%s: %d, %v", p.get("Location"), m.status, m.fields)
		}
	}
	want := []string{
		`<https://names.example/urn:dns:example.org:life>; rel="original timegate"`,
		`https://names.example/-/timemap/urn:dns:example.org:life>; rel="timemap"; type="application/link-format"`,
		`https://names.example/urn:dns:example.org:life?at=2026-11-19T08:30:00Z>; rel="first memento"; datetime="` + modifiedText + `"`,
		`https://names.example/urn:dns:example.org:life?at=2026-11-19T09:30:00.25Z>; rel="next memento"; datetime="Thu, 19 Nov 2026 09:30:01 GMT"`,
		`https://names.example/urn:dns:example.org:life?at=2026-11-19T10:30:00Z>; rel="last memento"; datetime="Thu, 19 Nov 2026 10:30:00 GMT"`,
	}
	if got := links(ask(s, path, asOf(modified))); !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
	for target, status := range map[string]int{
		"/urn:dns:example.org:none":     404,
		"/urn:dns:example.org:secret":   404,
		"/urn:ietf:rfc:2648?+x?=y":      303, // cannot have a time
		"alb002":                        200,
		"/-/healthz":                    200,
		"/urn:dns:example.org:urn+m":    200,
		"/urn:dns:example.org:life?at=": 302,
	} {
		if p := ask(s, target, asOf(modified)); p.status != status {
			t.Errorf("%s: %d, want %d", target, p.status, status)
		}
	}
	for _, bad := range []string{"yesterday", "2026-11-19", "Thu, 19 Nov 2026 08:30:00 CET", "Thursday, 19-Nov-26 08:30:00 GMT"} {
		if p := ask(s, path, func(r *request) { r.datetime = bad }); p.status != 400 {
			t.Errorf("Accept-Datetime %q: %d, want 400", bad, p.status)
		}
	}
}

// stream returns the streamed body of a reply.
func stream(t *testing.T, p *reply) string {
	t.Helper()
	var b strings.Builder
	if p.stream == nil {
		return string(p.body)
	}
	if err := p.stream(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// RFC 7089, 5: all mementos, and nothing that was not public.
func TestTimeMap(t *testing.T) {
	s, st := lived(t)
	p := ask(s, "/-/timemap/urn:dns:example.org:life")
	const base = "<https://names.example/urn:dns:example.org:life"
	want := base + `>;rel="original timegate",
<https://names.example/-/timemap/urn:dns:example.org:life>;rel="self";type="application/link-format",
` + base + `?at=2026-11-19T10:30:00Z>;rel="last memento";datetime="Thu, 19 Nov 2026 10:30:00 GMT",
` + base + `?at=2026-11-19T09:30:00.25Z>;rel="memento";datetime="Thu, 19 Nov 2026 09:30:01 GMT",
` + base + `?at=2026-11-19T08:30:00Z>;rel="first memento";datetime="` + modifiedText + `"
`
	if got := stream(t, p); p.status != 200 || p.get("Content-Type") != "application/link-format" || got != want {
		t.Errorf("%d:\n%s\nwant\n%s", p.status, got, want)
	}
	got := stream(t, ask(s, "/-/timemap/urn%3Adns%3Aexample.org%3Aalb002?s=I2C&at=2026-01-01&x=y"))
	if !strings.Contains(got, `/urn:dns:example.org:alb002?s=I2C&at=2026-11-19T08:30:00Z>;rel="first last memento"`) ||
		!strings.Contains(got, `/-/timemap/urn:dns:example.org:alb002?s=I2C>;rel="self"`) {
		t.Errorf("of descriptions:\n%s", got)
	}
	// A name that is a URL is its own original; its TimeGate is here.
	got = stream(t, ask(s, "/-/timemap/https://purl.example/net/x"))
	if want := `<https://purl.example/net/x>;rel="original",
<https://names.example/https://purl.example/net/x>;rel="timegate",
`; !strings.HasPrefix(got, want) {
		t.Errorf("of a web name:\n%s\nwant\n%s", got, want)
	}
	for target, status := range map[string]int{
		"/-/timemap/urn:dns:example.org:none": 404, "/-/timemap/urn:dns:example.org:secret": 404,
		"/-/timemap/urn:x": 400, "/-/timemap/": 400, "/-/timemap/<script>": 400,
	} {
		if p := ask(s, target, accepting("text/html")); p.status != status || strings.Contains(string(p.body), "<script>") {
			t.Errorf("%s: %d, want %d: %s", target, p.status, status, p.body)
		}
	}
	redact(t, st, "urn:dns:example.org:life", 3)
	if got := stream(t, ask(s, "/-/timemap/urn:dns:example.org:life")); strings.Contains(got, "09:30:00.25Z") || strings.Count(got, "memento") != 3 {
		t.Errorf("with one redacted:\n%s", got)
	}
}

// redact removes the content of a revision.
func redact(t *testing.T, s store.Store, key string, revision uint64) {
	t.Helper()
	rec, err := s.Get(t.Context(), name.MustParse(key), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	c := store.Change{Record: rec, Expected: rec.Revision, Time: testNow, Why: "a court", Redacts: []uint64{revision}}
	if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
		t.Fatal(err)
	}
}

// A redacted revision is reported as such, without its content.
func TestRedactedMemento(t *testing.T) {
	s, st := lived(t)
	redact(t, st, "urn:dns:example.org:life", 3)
	for _, accept := range []string{"", "text/html", "application/json"} {
		p := ask(s, "/urn:dns:example.org:life?s=I2C&at=2026-11-19T10:00:00Z", accepting(accept))
		if p.status != 451 || strings.Contains(string(p.body), "second") || strings.Contains(string(p.body), "clerk") {
			t.Errorf("%s: %d: %s", accept, p.status, p.body)
		}
	}
	if p := ask(s, "/urn:dns:example.org:life?s=I2C&at=2026-11-19T09:00:00Z"); p.status != 200 {
		t.Errorf("the one before: %d", p.status)
	}
}

// The page of a name shows the public part of its history.
func TestHistoryOnPages(t *testing.T) {
	s, st := lived(t)
	const memento = "/urn:dns:example.org:life?s=I2C&at=2026-11-19T10:00:00Z"
	page := string(ask(s, memento, accepting("text/html")).body)
	for _, want := range []string{
		`<A HREF="/urn:dns:example.org:life?s=I2C">Show the current record</A>`, "<h2>History</h2>", "This page shows the record as of ",
		`<A HREF="/urn:dns:example.org:life?s=I2C&amp;at=2026-11-19T08:30:00Z">`, ": revision 4 retired the name",
		`: revision 3 changed <span lang="en">locations</span>`, `<form method="get" action="/urn:dns:example.org:life">`, "&lt;script&gt;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, secret := range []string{"<script>", "clerk", "planned", "secret", "revision 1<", "revision 1:"} {
		if strings.Contains(page, secret) {
			t.Errorf("the page has %q:\n%s", secret, page)
		}
	}
	once := string(ask(s, "/urn:dns:example.org:alb002?s=I2C", accepting("text/html")).body)
	if strings.Contains(once, "History") || strings.Contains(once, "Show the current record") {
		t.Errorf("a name without a past:\n%s", once)
	}
	n := name.MustParse("urn:dns:example.org:alb002")
	for i := range 30 {
		rec := &store.Record{Name: n, Locations: []nomen.Location{{URL: fmt.Sprintf("https://example.org/%d", i)}}}
		if _, err := st.Apply(t.Context(), []store.Change{{Record: rec, Expected: store.AnyRevision, Time: testNow}}); err != nil {
			t.Fatal(err)
		}
	}
	many := string(ask(s, "/urn:dns:example.org:alb002?s=I2C", accepting("text/html")).body)
	if got := strings.Count(many, "<time datetime"); got != shownRevisions+1 || !strings.Contains(many, `<A HREF="/-/timemap/urn:dns:example.org:alb002">All revisions</A>`) {
		t.Errorf("%d times on a page of 31 revisions:\n%s", got, many)
	}
}

// forgetful is a store without history.
type forgetful struct{ store.Reader }

func TestWithoutHistory(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.Store = forgetful{o.Store} })
	if p := ask(s, "/urn:ietf:rfc:2648", asOf(modified)); p.status != 303 {
		t.Errorf("Accept-Datetime: %d", p.status)
	}
	if p := ask(s, "/urn:ietf:rfc:2648?s=I2C", accepting("text/html")); p.status != 200 || p.get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("a page: %d", p.status)
	}
}

// unreadable is a store whose history cannot be read.
type unreadable struct{ store.Reader }

func (unreadable) History(context.Context, name.Name) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) { yield(nil, context.DeadlineExceeded) }
}

func TestUnreadableHistory(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.Store = unreadable{o.Store} })
	for _, p := range []*reply{
		ask(s, "/urn:ietf:rfc:2648", asOf(modified)), ask(s, "/-/timemap/urn:ietf:rfc:2648"),
		ask(s, "/urn:ietf:rfc:2648?s=I2C", accepting(format.TypeHTML)),
	} {
		if p.status != 503 {
			t.Errorf("got %d, want 503", p.status)
		}
	}
}

// Attacks in targets and fields do no harm in responses.
func TestHostileTimes(t *testing.T) {
	s, _ := lived(t)
	for _, target := range []string{
		`/urn:dns:example.org:life?c=%22%3E%3Cscript%3E%0D%0ASet-Cookie:x&s=I2C`, `/urn:dns:example.org:life?at=2026-11-19T09:00:00Z%22%3E%3Cscript%3E`,
		`/urn:dns:example.org:life?at=2026-"><script>`, "/urn:dns:example.org:life?c=\x1b[2J&at=2026-11-19", `/-/timemap/urn:dns:example.org:life?c=%3E;rel=%22x%22,%3Cu:%0D%0A`,
	} {
		for _, change := range []func(*request){asOf(modified), accepting("text/html"), func(r *request) { r.datetime = "x\r\nSet-Cookie: y" }} {
			p := ask(s, target, change)
			for _, f := range p.fields {
				if strings.ContainsAny(f.value, "\r\n\x1b") || strings.Contains(f.value, "<script") || f.name == "Set-Cookie" {
					t.Errorf("%s: %s: %q", target, f.name, f.value)
				}
				if f.name == "Link" && (strings.Count(f.value, "<") != strings.Count(f.value, ", <")+1 || strings.Count(f.value, ">") != strings.Count(f.value, ">; rel=")) {
					t.Errorf("%s: %s", target, f.value)
				}
			}
			body := stream(t, p)
			isHTML := strings.HasPrefix(p.get("Content-Type"), "text/html")
			if isHTML && strings.Contains(body, "<script>") || strings.Contains(body, "\x1b") || p.get("Content-Type") == typeLinkFormat && strings.Count(body, "<") != 5 {
				t.Errorf("%s: %s", target, body)
			}
		}
	}
}

// The adapter passes Accept-Datetime on.
func TestAcceptDatetime(t *testing.T) {
	s, _ := lived(t)
	l := listen(t, s)
	answer := exchange(t, l.Public, "GET /urn:dns:example.org:life HTTP/1.1\r\nHost: example.org\r\nAccept-Datetime: "+modifiedText+"\r\nConnection: close\r\n\r\n")
	status, fields, _ := cutAnswer(answer)
	if status != "HTTP/1.1 302 Found" || fieldOf(fields, "Location") != "/urn:dns:example.org:life?at=2026-11-19T08:30:00Z" {
		t.Errorf("got %s", answer)
	}
}

// A failed lookup as of a time before the name existed reports that time.
func TestUnknownAsOf(t *testing.T) {
	s, _ := newTestServer(t, nil)
	p := ask(s, "/urn:ietf:rfc:2648?at=1999-01-01T00:00:00Z")
	if p.status != 404 || !strings.Contains(string(p.body), "as of 1999-01-01T00:00:00Z: not found") {
		t.Errorf("%d %s", p.status, p.body)
	}
	if p := ask(s, "/urn:ietf:rfc:9999999"); p.status != 404 || strings.Contains(string(p.body), "as of") {
		t.Errorf("now: %d %s", p.status, p.body)
	}
}
