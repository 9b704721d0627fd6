package format

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen"
)

func (p *page) problemTitle(e *Problem) string {
	if p.on.Other {
		return p.t("problem.no-page")
	}
	if key := p.problemKey(e, ""); key != "" {
		return p.t(key)
	}
	return orDefault(e.Title, p.t("problem.no-answer"))
}

func (p *page) problemKey(e *Problem, suffix string) string {
	key := "problem." + e.Type[strings.LastIndexAny(e.Type, "/#:")+1:] + suffix
	if e.Type == "" || strings.HasSuffix(e.Type, "#") || p.on.Site.Texts.Forms(key) == nil {
		return ""
	}
	return key
}

func (p *page) problem(e *Problem) {
	lang := p.on.Site.Texts.Tag()
	if !p.on.Other && p.problemKey(e, "") == "" && e.Title != "" {
		lang = "en"
	}
	p.print("<h1 lang=\"%s\">%s</h1>\n", lang, p.problemTitle(e))
	if e.Name != "" && e.Answer == nil {
		p.print("<p>")
		p.offender(e)
		p.print("</p>\n")
	}
	p.reason(e)
	if path := p.on.Root + NamePath(e.Name); e.Kind() == nomen.NoResult && p.nameTarget(e.Name) == path {
		p.print("<p>")
		p.link(path+describeQuery, p.t("problem.describe"))
		p.print("</p>\n")
	}
	p.suggestions(e)
	p.available(e.Available)
	if a := e.Answer; a != nil {
		p.answer(a, "h2")
		p.facts(a)
		p.history()
	}
	p.why(e.Why)
	p.owner("owner.heading")
	if e.Status != 0 {
		p.print("<p class=\"dim\">%s</p>\n", p.t("problem.status", e.Status))
	}
}

// available writes the media types that a client can request instead.
func (p *page) available(all []string) {
	if len(all) == 0 {
		return
	}
	p.heading("problem.available")
	p.print("<ul>\n")
	for _, s := range all {
		p.print("<li><code>%s</code></li>\n", s)
	}
	p.print("</ul>\n")
}

// suggestions writes the names that the client may have meant. If the last suggestion is a prefix
// of the unknown name, it has its own heading.
func (p *page) suggestions(e *Problem) {
	all, above := e.Suggestions, ""
	if last := len(all) - 1; last >= 0 && e.Kind() == nomen.Unknown && isAbove(all[last], e.Name) {
		all, above = all[:last], all[last]
	}
	if len(all) > 0 {
		p.heading("problem.suggestions")
		p.names(all)
	}
	if above != "" {
		p.heading("problem.above")
		p.print("<p>%s</p>\n", p.t("problem.above-text"))
		p.names([]string{above})
	}
}

func isAbove(prefix, name string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	return ok && strings.IndexAny(rest, "/:.-") == 0 && strings.Trim(rest, ".,;:!?)]}>'\"/-_") != ""
}

// reason writes the detail of the problem, the position of the error in the name, and the next
// step.
func (p *page) reason(e *Problem) {
	p.detail(e)
	if e.Kind() == nomen.Malformed {
		p.print("<p>%s", p.t("problem.malformed-at", e.Offset))
		if e.Rule != "" {
			p.print(" ")
			p.say("problem.malformed-rule", p.code(e.Rule))
		}
		p.print("</p>\n")
	}
	if e.Legal {
		p.print("<p>%s</p>\n", p.t("problem.legal"))
	}
	if next := p.problemKey(e, "-next"); p.on.Other {
		p.print("<p>%s</p>\n", p.t("problem.no-page-next"))
	} else if next != "" {
		p.print("<p>%s</p>\n", p.t(next))
	}
}

// detail writes the detail of the problem. If e.Detail adds nothing to the kind of the problem,
// detail writes a message about this kind in the language of the page.
func (p *page) detail(e *Problem) {
	detail, at := e.Detail, p.on.Past.At
	if !at.IsZero() {
		detail = strings.TrimPrefix(detail, "as of "+at.UTC().Format(time.RFC3339)+": ")
	}
	text := p.problemKey(e, "-text")
	unknown := e.Kind() == nomen.Unknown
	plain := detail == "not found" || strings.HasPrefix(detail, "not found;") || strings.HasPrefix(detail, "not found,")
	switch {
	case p.on.Other, detail == "" && text == "", e.repeats():
	case unknown && plain && !at.IsZero():
		p.print("<p>")
		p.say("problem.unknown-name-at", p.moment(at))
		p.print("</p>\n")
	case text != "" && (detail == "" || plain || !unknown):
		p.print("<p>%s</p>\n", p.t(text))
	default:
		p.print("<div class=\"banner\" role=\"alert\"><p lang=\"en\"><bdi>%s</bdi></p></div>\n", detail)
	}
}

// offender writes the name that was requested. If the name is malformed, offender marks the
// position of the error.
func (p *page) offender(e *Problem) {
	if e.Kind() != nomen.Malformed || e.Offset < 0 || e.Offset > len(e.Name) {
		p.print("<code>%s</code>", e.Name)
		return
	}
	before, at, after := around(e.Name, e.Offset)
	p.print("<code>%s<mark>%s</mark>%s</code>", before, orDefault(at, "\u2423"), after)
}

func around(s string, offset int) (before, at, after string) {
	before, rest := s[:offset], s[offset:]
	for i := range rest {
		if i > 0 {
			return before, rest[:i], rest[i:]
		}
	}
	return before, rest, ""
}
