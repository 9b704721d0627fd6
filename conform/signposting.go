package conform

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var signpostingCases = []row{
	{"1/cite-as", "level 1", Must, "The landing page has exactly one link \"cite-as\", to an http or https URI.", func(p *probe) outcome {
		all := related(p.landing(), "cite-as")
		must(len(all) == 1, "%d links with the relation \"cite-as\"", len(all))
		return want(isHTTP(all[0].target), "cite-as %s", all[0].target)
	}},
	{"1/describedby", "level 1", Must, "The landing page links to at least one description.", func(p *probe) outcome {
		return want(len(related(p.landing(), "describedby")) > 0, "no link with the relation \"describedby\"")
	}},
	{"1/describedby-type", "level 1", Must, "Each link to a description has a media type.", typed("describedby")},
	{"1/describedby-answer", "level 1", Must, "A description is available in the media type that its link gives.", func(p *probe) outcome {
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
		need(checked, "no description with a type is on this server")
		return passed()
	}},
	{"1/item-type", "level 1", Should, "Each link to content has a media type.", typed("item")},
	{"1/type", "level 1", Must, "The landing page has one or two links \"type\", one of them to https://schema.org/AboutPage.", func(p *probe) outcome {
		page := p.landingPage()
		if page.redirects() {
			return missing(NeedsLanding, "the name redirects to a landing page on another server")
		}
		all := related(linksOf(page), "type")
		about := slices.ContainsFunc(all, func(l link) bool { return l.target == "https://schema.org/AboutPage" })
		return want(about && len(all) <= 2, "%d links with the relation \"type\"; to AboutPage: %t", len(all), about)
	}},
	{"1/author", "level 1", Should, "Each link \"author\" is to the URI of a person or organisation.", func(p *probe) outcome {
		for _, l := range related(p.landing(), "author") {
			must(isHTTP(l.target), "author %s", l.target)
		}
		return passed()
	}},
	{"1/license", "level 1", Must, "The landing page has at most one link \"license\".", func(p *probe) outcome {
		n := len(related(p.landing(), "license"))
		return want(n <= 1, "%d links with the relation \"license\"", n)
	}},
	{"2/linkset", "level 2", Must, "The landing page links to a link set, with its media type.", func(p *probe) outcome {
		all := related(p.landing(), "linkset")
		return want(slices.ContainsFunc(all, func(l link) bool {
			return slices.Contains([]string{linksetJSON, linksetText}, bareType(l.param("type")))
		}),
			"no link with the relation \"linkset\" and such a type")
	}},
	{"2/anchor", "level 2", Must, "The link set has a context object for the landing page, with the URI that clients use for it.", func(p *probe) outcome {
		p.contextOfLanding()
		return passed()
	}},
	{"2/relations", "level 2", Must, "The context object of the landing page has the same links cite-as, describedby, item, type, author and license as the page.", func(p *probe) outcome {
		var c context9264
		if out := p.run(func(p *probe) outcome {
			c = p.contextOfLanding()
			return passed()
		}); out.verdict != Pass {
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
	}},
	{"2/collection", "level 2", Must, "The link set has a context object for each content resource, with collection.", inContexts("item", "collection")},
	{"2/describes", "level 2", Must, "The link set has a context object for each description, with describes.", inContexts("describedby", "describes")},
}

func (p *probe) landing() []link { return linksOf(p.landingPage()) }

// landingPage requests the landing page of the first name. This is the page in [Options].Landing,
// or else the page to which the name redirects. If the landing page is on another server,
// landingPage returns the response for the name itself.
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

func bareType(s string) string {
	t, _, _ := strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

func typed(relation string) func(*probe) outcome {
	return func(p *probe) outcome {
		all := related(p.landing(), relation)
		need(len(all) > 0, "there are no links with the relation %q", relation)
		for _, l := range all {
			must(mediaType.MatchString(l.param("type")), "the link to %s has type %q", l.target, l.param("type"))
		}
		return passed()
	}
}

func (c context9264) has(relation, target string) bool {
	return slices.ContainsFunc(c.targets[relation], func(t map[string]any) bool { return t["href"] == target })
}

// signs returns the link context objects in the link set of the landing page.
func (p *probe) signs() []context9264 {
	return contexts(p.linksetOf(p.landing(), linksetJSON).body)
}

// contextOfLanding returns the link context object of the landing page. The anchor of this object
// is the URL of the name, the URL of the page, or the target of a cite-as link in the page.
func (p *probe) contextOfLanding() context9264 {
	all := p.signs()
	anchors := []string{p.t.url(p.path(p.name()))}
	if u, ok := p.absolute(p.t.base+"/", p.o.Landing); ok && p.o.Landing != "" {
		anchors = append(anchors, u.String())
	}
	for _, l := range related(p.landing(), "cite-as") {
		anchors = append(anchors, l.target)
	}
	for _, c := range all {
		if slices.Contains(anchors, c.anchor) {
			return c
		}
	}
	panic(failed("no context object has the anchor %s", strings.Join(anchors, " or ")))
}

// inContexts returns a check of the link set of the landing page. The target of each link with the
// given relation must be the anchor of a link context object. This object must have a link with the
// inverse relation, which is the parameter back.
func inContexts(relation, back string) func(*probe) outcome {
	return func(p *probe) outcome {
		all := p.signs()
		links := related(p.landing(), relation)
		need(len(links) > 0, "there are no links with the relation %q", relation)
		for _, l := range links {
			u, _ := p.absolute(p.path(p.name()), l.target)
			must(slices.ContainsFunc(all, func(c context9264) bool { return c.anchor == u.String() && len(c.targets[back]) > 0 }), "%s has no context object with %q", u, back)
		}
		return passed()
	}
}
