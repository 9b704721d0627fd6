package format

import (
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
)

// A Past has the data that a page shows about other revisions of a name.
type Past struct {
	At        time.Time  // time of the revision that is shown, if the request was for an earlier time
	Present   string     // URL of the current state
	Revisions []Revision // newest first
	All       string     // URL of all revisions; "" if Revisions has all
	Retired   time.Time  // when the name was retired; zero if unknown or not retired
	Form      string     // path of the form for choosing another time, or ""
}

// A Revision is the public part of a change to a name.
type Revision struct {
	Number uint64
	Time   time.Time
	Status nomen.Status
	Fields []string // the changed fields; nil for the first revision
	Target string   // URL of the name as of this revision
}

// memento writes a note that the page shows an earlier state of the name.
func (p *page) memento() {
	past := p.on.Past
	if past.At.IsZero() {
		return
	}
	p.print("<div class=\"banner\" role=\"note\">\n<p>")
	p.say("page.at", p.moment(past.At))
	if past.Present != "" {
		p.print(" ")
		p.link(past.Present, p.t("page.present"))
	}
	p.print("</p>\n</div>\n")
}

// history writes the public history, and a form for choosing another day. It writes nothing if
// there is only one revision.
func (p *page) history() {
	past := p.on.Past
	if len(past.Revisions) < 2 {
		return
	}
	p.heading("page.history")
	p.revisions(past)
	if past.Form == "" {
		return
	}
	p.print("<form method=\"get\" action=\"%s\">\n<input type=\"hidden\" name=\"s\" value=\"I2C\">\n", past.Form)
	p.print("<label for=\"at\">%s</label>\n<p class=\"hint\" id=\"at-hint\">%s</p>\n", p.t("page.as-of"), p.t("page.as-of-hint"))
	p.print("<input id=\"at\" name=\"at\" required pattern=\"[0-9]{4}-[0-9]{2}-[0-9]{2}\" autocomplete=\"off\" aria-describedby=\"at-hint\">\n")
	p.print("<button>%s</button>\n</form>\n", p.t("page.as-of-button"))
}

func (p *page) revisions(past Past) {
	p.print("<ul>\n")
	for _, r := range past.Revisions {
		at := p.markup(func(p *page) {
			p.print("<A HREF=\"%s\">", r.Target)
			p.b.WriteString(string(p.moment(r.Time)))
			p.print("</A>")
		})
		p.print("<li>")
		switch {
		case r.Status == nomen.Retired && slices.Contains(r.Fields, "status"):
			p.say("page.revision-retired", at, r.Number)
		case len(r.Fields) > 0:
			p.say("page.revision-changed", at, r.Number, p.english(strings.Join(r.Fields, ", ")))
		default:
			p.say("page.revision", at, r.Number)
		}
		p.print("</li>\n")
	}
	p.print("</ul>\n")
	if past.All != "" {
		p.print("<p>")
		p.link(past.All, p.t("page.history-all"))
		p.print("</p>\n")
	}
}
