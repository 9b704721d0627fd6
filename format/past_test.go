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
	two := Revision{Number: 2, Time: when.Add(time.Hour), Status: nomen.Retired, Fields: []string{"status", `"><script>alert(1)</script>`}, Target: `/urn:example:a?at="><script>`}
	got := write(Past{At: when, Present: `/"><script>`, Revisions: []Revision{two, one}, All: `/-/"><script>`})
	for _, want := range []string{
		`<p>This is the record as of <time datetime="2026-11-20T12:00:00.005Z">2026-11-20 12:00:00 UTC</time>. <A HREF="/&#34;&gt;&lt;script&gt;">Show the current record</A></p>`,
		`<time datetime="2026-11-20T13:00:00.005Z">2026-11-20 13:00:00 UTC</time></A> revision 2, retired: <bdi>status, &#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;</bdi></li>`,
		`<li><A HREF="/urn:example:a?at=x"><time datetime="2026-11-20T12:00:00.005Z">2026-11-20 12:00:00 UTC</time></A> revision 1</li>`,
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
