package format

import (
	"fmt"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
)

// A Past is what a page tells of a name as of other times.
type Past struct {
	At        time.Time  // of the revision that is shown, if it was asked for as of a time; zero otherwise
	Present   string     // where the name is shown as it is now
	Revisions []Revision // the newest first
	All       string     // where all of them are listed; "" if these are all
}

// A Revision is what everybody may know of one change of a name.
type Revision struct {
	Number uint64
	Time   time.Time
	Status nomen.Status
	Fields []string // that were changed; none for the first
	Target string   // where the name is shown as it was from then on
}

// memento says that a page is not about the present.
func (p *page) memento(past Past) {
	if past.At.IsZero() {
		return
	}
	p.print("<div class=\"banner\" role=\"note\">\n<p>This is how it was since ")
	p.time(past.At)
	p.print(". ")
	p.link(past.Present, "How it is now")
	p.print("</p>\n</div>\n")
}

func (p *page) time(t time.Time) {
	p.print("<time datetime=\"%s\">%s</time>", t.UTC().Format(time.RFC3339Nano), t.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// revisions writes the history, as far as it is for everybody. A single revision
// is none.
func (p *page) revisions(past Past) {
	if len(past.Revisions) < 2 {
		return
	}
	p.print("<h2>History</h2>\n<ul>\n")
	for _, r := range past.Revisions {
		p.print("<li><A HREF=\"%s\">", r.Target)
		p.time(r.Time)
		p.print("</A> revision %s", fmt.Sprint(r.Number))
		if r.Status == nomen.Retired {
			p.print(", retired")
		}
		if len(r.Fields) > 0 {
			p.print(": <bdi>%s</bdi>", strings.Join(r.Fields, ", "))
		}
		p.print("</li>\n")
	}
	p.print("</ul>\n")
	if past.All != "" {
		p.print("<p>")
		p.link(past.All, "All of them")
		p.print("</p>\n")
	}
}
