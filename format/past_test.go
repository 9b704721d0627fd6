package format

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

func TestHTMLPast(t *testing.T) {
	a := &nomen.Answer{Service: nomen.I2C, Name: name.MustParse("urn:example:a"), Status: nomen.Active}
	write := func(past Past) string {
		var b bytes.Buffer
		if err := writeHTML(&b, a, Page{Past: past}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var plain bytes.Buffer
	if err := writeHTML(&plain, a, Page{}); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2026, 11, 20, 12, 0, 0, 5e6, time.UTC)
	one := Revision{Number: 1, Time: when, Status: nomen.Active, Target: "/urn:example:a?at=x"}
	if got := write(Past{}); got != plain.String() {
		t.Errorf("without a past the page is another:\n%s", got)
	}
	if got := write(Past{Revisions: []Revision{one}}); got != plain.String() {
		t.Errorf("a single revision is not a history:\n%s", got)
	}
	two := Revision{Number: 2, Time: when.Add(time.Hour), Status: nomen.Retired, Fields: []string{"status"}, Target: `/urn:example:a?at="><script>`}
	three := Revision{Number: 3, Time: when.Add(2 * time.Hour), Status: nomen.Retired, Fields: []string{"title", `"><script>alert(1)</script>`}, Target: "/x"}
	got := write(Past{At: when, Present: `/"><script>`, Revisions: []Revision{three, two, one}, All: `/-/"><script>`, Form: `/"><script>`})
	for _, want := range []string{
		`<p>This page shows the record as of <time datetime="2026-11-20T12:00:00.005Z">20 November 2026, 12:00 UTC</time>. <A HREF="/&#34;&gt;&lt;script&gt;">Show the current record</A></p>`,
		`<time datetime="2026-11-20T13:00:00.005Z">20 November 2026, 13:00 UTC</time></A>: revision 2 retired the name</li>`,
		`</A>: revision 3 changed <span lang="en">title, &#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;</span></li>`,
		`<li><A HREF="/urn:example:a?at=x"><time datetime="2026-11-20T12:00:00.005Z">20 November 2026, 12:00 UTC</time></A>: revision 1</li>`,
		`<form method="get" action="/&#34;&gt;&lt;script&gt;">`, `<input type="hidden" name="s" value="I2C">`,
		`<input id="at" name="at" required pattern="[0-9]{4}-[0-9]{2}-[0-9]{2}" autocomplete="off" aria-describedby="at-hint">`,
		`<p><A HREF="/-/&#34;&gt;&lt;script&gt;">All revisions</A></p>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, "<script>") {
		t.Errorf("the page has a script:\n%s", got)
	}
}
