package conform

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// signpostingCases returns the cases of the FAIR Signposting profile, for the
// first response to a name that comes from this server.
func signpostingCases() []Case {
	s := func(id, level string, force Force, words string, check func(*probe) outcome) Case {
		return Case{"FAIR-" + id, Signposting, "signposting.org/FAIR, " + level, force, words, named(check)}
	}
	return []Case{
		s("1/cite-as", "level 1", Must, "The landing page has exactly one link \"cite-as\", to an http or https URI.", func(p *probe) outcome {
			all := related(p.landing(), "cite-as")
			if len(all) != 1 {
				return failed("%d links with the relation \"cite-as\"", len(all))
			}
			return want(isHTTP(all[0].target), "cite-as %s", all[0].target)
		}),
		s("1/describedby", "level 1", Must, "The landing page links to at least one description.", func(p *probe) outcome {
			return want(len(related(p.landing(), "describedby")) > 0, "no link with the relation \"describedby\"")
		}),
		s("1/describedby-type", "level 1", Must, "Each link to a description has a media type.", typed("describedby")),
		s("1/describedby-answer", "level 1", Must, "A description is available in the media type that its link gives.", func(p *probe) outcome {
			checked := false
			for _, l := range related(p.landing(), "describedby") {
				path, here := p.local(l.target)
				if !here || l.param("type") == "" {
					continue
				}
				checked = true
				if r := p.web("GET", path, "Accept: "+l.param("type")); !r.is(200) || r.mediaType() != bareType(l.param("type")) {
					return failed("%s with type %q got %s", l.target, l.param("type"), r)
				}
			}
			if !checked {
				return skipped("no description with a type is on this server")
			}
			return passed()
		}),
		s("1/item-type", "level 1", Should, "Each link to content has a media type.", typed("item")),
		s("1/type", "level 1", Must, "The landing page has one or two links \"type\", one of them to https://schema.org/AboutPage.", func(p *probe) outcome {
			page := p.landingPage()
			if page.redirects() {
				return missing(NeedsLanding, "the name redirects to a landing page on another server")
			}
			all := related(linksOf(page), "type")
			about := slices.ContainsFunc(all, func(l link) bool { return l.target == "https://schema.org/AboutPage" })
			return want(about && len(all) <= 2, "%d links with the relation \"type\"; to AboutPage: %t", len(all), about)
		}),
		s("1/author", "level 1", Should, "Each link \"author\" is to the URI of a person or organisation.", func(p *probe) outcome {
			for _, l := range related(p.landing(), "author") {
				if !isHTTP(l.target) {
					return failed("author %s", l.target)
				}
			}
			return passed()
		}),
		s("1/license", "level 1", Must, "The landing page has at most one link \"license\".", func(p *probe) outcome {
			n := len(related(p.landing(), "license"))
			return want(n <= 1, "%d links with the relation \"license\"", n)
		}),
		s("2/linkset", "level 2", Must, "The landing page links to a link set, with its media type.", func(p *probe) outcome {
			all := related(p.landing(), "linkset")
			return want(slices.ContainsFunc(all, func(l link) bool {
				return slices.Contains([]string{linksetJSON, linksetText}, bareType(l.param("type")))
			}),
				"no link with the relation \"linkset\" and such a type")
		}),
		s("2/anchor", "level 2", Must, "The link set has a context object for the landing page, with the URI that clients use for it.", func(p *probe) outcome {
			_, out, ok := p.contextOfLanding()
			if !ok {
				return out
			}
			return passed()
		}),
		s("2/relations", "level 2", Must, "The context object of the landing page has the same links cite-as, describedby, item, type, author and license as the page.", func(p *probe) outcome {
			c, _, ok := p.contextOfLanding()
			if !ok {
				return skipped("no context object for the landing page")
			}
			for _, relation := range []string{"cite-as", "describedby", "item", "type", "author", "license"} {
				for _, l := range related(p.landing(), relation) {
					if u, ok := p.absolute(p.path(p.name()), l.target); !ok || !c.has(relation, u.String()) {
						return failed("%s %s is missing", relation, l.target)
					}
				}
			}
			return passed()
		}),
		s("2/collection", "level 2", Must, "The link set has a context object for each content resource, with collection.", inContexts("item", "collection")),
		s("2/describes", "level 2", Must, "The link set has a context object for each description, with describes.", inContexts("describedby", "describes")),
	}
}

// landing returns the links of the landing page.
func (p *probe) landing() []link { return linksOf(p.landingPage()) }

// landingPage returns the landing page given by the caller, or the response to
// the name, or the page on this server to which the name redirects.
func (p *probe) landingPage() *response {
	if p.o.Landing != "" {
		if page, here := p.follow(p.o.Landing, "Accept: text/html"); here {
			return page
		}
	}
	r := p.web("GET", p.path(p.name()), "Accept: text/html")
	if r.redirects() {
		if next, here := p.follow(r.get("Location"), "Accept: text/html"); here && next.is(200) {
			return next
		}
	}
	return r
}

func isHTTP(s string) bool {
	u, err := uri.Parse(s)
	scheme, _ := u.Scheme()
	return err == nil && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// bareType returns a media type without parameters.
func bareType(s string) string {
	t, _, _ := strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// typed passes if each link with the given relation has a type.
func typed(relation string) func(*probe) outcome {
	return func(p *probe) outcome {
		all := related(p.landing(), relation)
		if len(all) == 0 {
			return skipped("there are no links with the relation %q", relation)
		}
		for _, l := range all {
			if !mediaType.MatchString(l.param("type")) {
				return failed("the link to %s has type %q", l.target, l.param("type"))
			}
		}
		return passed()
	}
}

// has reports whether a context has a link.
func (c context9264) has(relation, target string) bool {
	return slices.ContainsFunc(c.targets[relation], func(t map[string]any) bool { return t["href"] == target })
}

// signs returns the context objects of the landing page's link set.
func (p *probe) signs() ([]context9264, outcome, bool) {
	for _, l := range related(p.landing(), "linkset") {
		path, here := p.local(l.target)
		if !here {
			continue
		}
		if r := p.web("GET", path, "Accept: "+linksetJSON); r.is(200) && r.mediaType() == linksetJSON {
			return contexts(r.body), outcome{}, true
		}
	}
	return nil, skipped("the link set is not available from this server as %s", linksetJSON), false
}

// contextOfLanding returns the context object of the page, identified by its
// URL or by that of cite-as.
func (p *probe) contextOfLanding() (context9264, outcome, bool) {
	all, out, ok := p.signs()
	if !ok {
		return context9264{}, out, false
	}
	anchors := []string{p.t.url(p.path(p.name()))}
	if u, ok := p.absolute(p.t.base+"/", p.o.Landing); ok && p.o.Landing != "" {
		anchors = append(anchors, u.String())
	}
	for _, l := range related(p.landing(), "cite-as") {
		anchors = append(anchors, l.target)
	}
	for _, c := range all {
		if slices.Contains(anchors, c.anchor) {
			return c, outcome{}, true
		}
	}
	return context9264{}, failed("no context object has the anchor %s", strings.Join(anchors, " or ")), false
}

// inContexts passes if each target of a relation is the anchor of a context
// object that has another relation.
func inContexts(relation, back string) func(*probe) outcome {
	return func(p *probe) outcome {
		all, out, ok := p.signs()
		if !ok {
			return out
		}
		links := related(p.landing(), relation)
		if len(links) == 0 {
			return skipped("there are no links with the relation %q", relation)
		}
		for _, l := range links {
			u, _ := p.absolute(p.path(p.name()), l.target)
			if !slices.ContainsFunc(all, func(c context9264) bool { return c.anchor == u.String() && len(c.targets[back]) > 0 }) {
				return failed("%s has no context object with %q", u, back)
			}
		}
		return passed()
	}
}
