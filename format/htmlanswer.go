package format

import (
	"html/template"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/site"
)

func (p *page) answer(a *nomen.Answer, heading string) {
	if !a.Name.IsZero() {
		p.print("<"+heading+" class=\"name\">%s</"+heading+">\n", a.Name.Key())
	} else {
		p.print("<"+heading+">%s</"+heading+">\n", p.t("page.answer"))
	}
	if titles := a.Metadata["title"]; len(titles) > 0 {
		p.print("<p class=\"lead\" lang=\"\"><bdi>%s</bdi></p>\n", titles[0])
	}
	p.kind(kindOf(a.Name))
	p.memento()
	p.tombstone(a)
	if !aboutNames(a.Service) && a.Status != nomen.Retired {
		p.heading("page.leads")
		p.locations(a.Locations)
	}
	if aboutNames(a.Service) || len(a.Names) > 0 {
		p.heading("page.other-names")
		p.names(a.Names)
	}
}

func (p *page) kind(k kind) {
	if k.id == "" {
		return
	}
	title := p.markup(func(p *page) { p.print("<span lang=\"en\">%s</span>", k.title) })
	p.print("<p class=\"dim\">")
	if k.scheme {
		p.say("kind.scheme-title", p.code(k.id), title)
	} else {
		p.say("kind.namespace-title", p.code(k.id), title)
	}
	p.print("</p>\n")
}

// tombstone writes the time and the reason of the retirement of a name, and the names to use
// instead.
func (p *page) tombstone(a *nomen.Answer) {
	if a.Status == nomen.Retired {
		p.print("<div class=\"banner\" role=\"note\">\n<p><strong>")
		if since := p.on.Past.Retired; since.IsZero() {
			p.say("tombstone.retired")
		} else {
			p.say("tombstone.retired-since", p.moment(since))
		}
		p.print("</strong></p>\n")
		if a.Reason != "" {
			p.print("<p>")
			p.say("tombstone.reason", p.foreign(a.Reason))
			p.print("</p>\n")
		}
		p.instead(a)
		p.print("</div>\n")
	}
	if a.Redirect != "" {
		p.print("<p>%s</p>\n", p.t("page.redirects"))
		p.names([]string{a.Redirect})
	}
}

// instead writes the alternatives to a retired name: its successors, preserved copies, and
// remaining locations.
func (p *page) instead(a *nomen.Answer) {
	if len(a.Successors) > 0 {
		p.print("<p>%s</p>\n", p.t("tombstone.successors"))
		p.names(keys(a.Successors))
	} else if a.Redirect == "" {
		p.print("<p>%s</p>\n", p.t("tombstone.lost"))
	}
	var copies, others []nomen.Location
	for _, l := range a.Locations {
		if nomen.RelationOf(l.Rel) == nomen.Copied {
			copies = append(copies, l)
		} else {
			others = append(others, l)
		}
	}
	if len(copies) > 0 {
		p.print("<p>%s</p>\n", p.t("tombstone.copy"))
		p.locations(copies)
	}
	if len(others) > 0 {
		p.print("<p>%s</p>\n", p.t("tombstone.was"))
		p.locations(others)
	}
}

func (p *page) locations(all []nomen.Location) {
	if len(all) == 0 {
		p.print("<p>%s</p>\n", p.t("page.no-location"))
		return
	}
	p.print("<div class=\"where\">\n<UL>")
	for _, l := range all {
		p.print("<LI>")
		if location.IsLink(l.URL) {
			p.link(l.URL, l.URL)
		} else {
			p.print("<code>%s</code>", l.URL)
		}
		if about := p.aboutLocation(l); about != "" {
			p.print("<br>\n<small>%s</small>", about)
		}
		if l.Note != "" {
			p.print("\n<p class=\"note\" lang=\"%s\"><bdi>%s</bdi></p>", tagOrUnknown(l.Lang), l.Note)
		}
		p.print("</LI>\n")
	}
	p.print("</UL>\n</div>\n")
}

func (p *page) aboutLocation(l nomen.Location) string {
	var all []string
	add := func(key, s string) {
		switch {
		case s == "":
		case key == "":
			all = append(all, s)
		default:
			all = append(all, p.t(key, s))
		}
	}
	add("", l.Type)
	add("location.lang", l.Lang)
	if l.Rel != itemRelation {
		add("", l.Rel)
	}
	add("location.component", l.Component)
	add("location.country", l.Country)
	add("location.from", l.ValidFrom)
	add("location.until", l.ValidUntil)
	if l.Down {
		add("", p.t("location.down"))
	}
	return strings.Join(all, ", ")
}

// link writes a link. HREF must be the first attribute, because simple clients search for "<A
// HREF=".
func (p *page) link(target, text string) { p.print(`<A HREF="%s">%s</A>`, target, text) }

func (p *page) names(all []string) {
	if len(all) == 0 {
		p.print("<p>%s</p>\n", p.t("page.no-names"))
		return
	}
	p.print("<UL>")
	for _, s := range all {
		p.print("<LI>")
		p.name(s)
		p.print("</LI>\n")
	}
	p.print("</UL>\n")
}

// name writes a name, as a link if possible.
func (p *page) name(s string) {
	if target := p.nameTarget(s); target != "" {
		p.link(target, s)
		return
	}
	p.print("<code>%s</code>", s)
}

func (p *page) isDescription(a *nomen.Answer) bool {
	return p.on.Base != "" && !a.Name.IsZero() && (a.Service == nomen.I2C || a.Service == nomen.I2Cs)
}

func (p *page) cite(a *nomen.Answer) {
	if !p.isDescription(a) {
		return
	}
	url := p.on.nameURL(a.Name.Key())
	p.heading("page.cite")
	p.print("<p>%s</p>\n<p>", p.t("page.cite-text"))
	p.link(url, url)
	p.print("</p>\n")
	if url != a.Name.Key() {
		p.print("<p>%s <code>%s</code></p>\n", p.t("page.name"), spelling(a))
	}
	p.b.WriteString(string(p.on.QR))
	p.print("<p class=\"screen\">%s</p>\n", p.t("page.cite-formats"))
	p.row(a, "bibtex", "ris", "csl-json")
}

// receipt writes links to the receipt for the revision and to a QR code with the hash of the
// receipt.
func (p *page) receipt() {
	if p.on.Receipt == "" {
		return
	}
	mark := "?"
	if strings.Contains(p.on.Receipt, "?") {
		mark = "&"
	}
	p.heading("page.receipt")
	p.print("<p>%s</p>\n<ul class=\"row\">\n", p.t("page.receipt-text"))
	p.print("<li><a href=\"%s\">%s</a></li>\n", p.on.Receipt, p.t("page.receipt-file"))
	p.print("<li><a href=\"%s\">%s</a></li>\n", p.on.Receipt+mark+"format=qr", p.t("page.receipt-qr"))
	p.print("</ul>\n")
}

// formats writes links to the description in other formats.
func (p *page) formats(a *nomen.Answer) {
	if p.isDescription(a) {
		p.print("<div class=\"screen\">\n")
		p.heading("page.formats")
		p.row(a, "json", "json-ld", "turtle", "linkset-json", "cbor", "urc", "uri-list", "text")
		p.print("</div>\n")
	}
}

// row writes links to the description in the formats with the given names.
func (p *page) row(a *nomen.Answer, names ...string) {
	p.print("<ul class=\"row\">\n")
	for _, s := range names {
		if f, ok := ByName(s); ok {
			p.print("<li><a href=\"%s\" type=\"%s\">%s</a></li>\n", p.on.Root+NamePath(a.Name.Key())+describeQuery+"&format="+f.Name, f.MediaType, f.Name)
		}
	}
	p.print("</ul>\n")
}

// facts writes the fields of the description that are not shown elsewhere on the page. All values
// of a field have a common label.
func (p *page) facts(a *nomen.Answer) {
	p.heading("page.about")
	p.print("<dl>\n")
	last := ""
	for _, f := range describe(a) {
		if elsewhere(f, a) {
			continue
		}
		if f.name != last {
			p.print("<dt>%s</dt>", p.fieldLabel(f.name))
			last = f.name
		}
		p.fact(f)
	}
	p.print("</dl>\n")
}

// fieldLabel returns the label of a field in the language of the page. For an element outside
// Dublin Core it returns the name of the element.
func (p *page) fieldLabel(name string) string {
	if key := "field." + name; p.on.Site.Texts.Forms(key) != nil {
		return p.t(key)
	}
	return label(name)
}

func elsewhere(f field, a *nomen.Answer) bool {
	switch f.name {
	case "name":
		return a.Spelling == ""
	case "key", "same-as", "redirect", "reason":
		return true
	case "title":
		return f.value == a.Metadata["title"][0]
	case "successor":
		return a.Status == nomen.Retired
	}
	return false
}

func (p *page) fact(f field) {
	switch f.name {
	case "successor":
		p.print("<dd>")
		p.name(f.value)
		p.print("</dd>\n")
	case "modified", "stale-since":
		p.print("<dd>")
		if t, err := time.Parse(time.RFC3339Nano, f.value); err == nil {
			p.b.WriteString(string(p.moment(t)))
		}
		p.print("</dd>\n")
	case "status":
		if key := "status." + f.value; p.on.Site.Texts.Forms(key) != nil {
			p.print("<dd>%s</dd>\n", p.t(key))
			return
		}
		fallthrough
	default:
		p.print("<dd lang=\"\"><bdi>%s</bdi></dd>\n", f.value)
	}
}

func (p *page) why(steps []string) {
	if len(steps) == 0 {
		return
	}
	p.heading("page.why")
	p.print("<ol lang=\"en\">\n")
	for _, s := range steps {
		p.print("<li>%s</li>\n", s)
	}
	p.print("</ol>\n")
}

// owner writes the description and the contact of the owner of the name. If the authority has no
// contact, owner writes the contact of the site.
func (p *page) owner(heading string) {
	o, contact := p.on.Owner, p.on.Site.Contact()
	if o.Description == "" && o.Contact == "" && contact == "" {
		return
	}
	p.heading(heading)
	if o.Description != "" {
		p.print("<p>")
		p.say("owner.described", p.code(o.Prefix), p.foreign(o.Description))
		p.print("</p>\n")
	}
	p.print("<p>")
	switch {
	case o.Contact != "":
		p.say("owner.contact", p.contact(o.Contact))
	case contact != "":
		p.say("owner.site", p.contact(contact))
	}
	p.print("</p>\n")
}

// contact returns a contact as HTML. If the contact is a harmless URL, the result is a link.
func (p *page) contact(s string) template.HTML {
	return p.markup(func(p *page) {
		if !location.IsLink(s) {
			p.print("<bdi>%s</bdi>", s)
			return
		}
		p.print("<a href=\"%s\">%s</a>", s, site.ContactText(s))
	})
}
