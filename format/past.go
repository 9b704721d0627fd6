package format

import (
	"fmt"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
)

// A Past describes a name at other times, for a page.
type Past struct {
	At        time.Time  // time of the revision that is shown, if the question was for a time; zero otherwise
	Present   string     // URL of the current state of the name
	Revisions []Revision // newest first
	All       string     // URL of the list of all revisions; "" if Revisions is complete
}

// A Revision is the public part of a change to a name.
type Revision struct {
	Number uint64
	Time   time.Time
	Status nomen.Status
	Fields []string // the changed fields; none for the first revision
	Target string   // URL of the name as of this revision
}

// memento says that a page shows an earlier state.
func (p *page) memento(past Past) {
	if past.At.IsZero() {
		return
	}
	p.print("<div class=\"banner\" role=\"note\">\n<p>This is the record as of ")
	p.time(past.At)
	p.print(". ")
	p.link(past.Present, "Show the current record")
	p.print("</p>\n</div>\n")
}

func (p *page) time(t time.Time) {
	p.print("<time datetime=\"%s\">%s</time>", t.UTC().Format(time.RFC3339Nano), t.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// revisions writes the public history. It writes nothing for a single revision.
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
		p.link(past.All, "All revisions")
		p.print("</p>\n")
	}
}
