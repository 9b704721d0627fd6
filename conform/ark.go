package conform

import (
	"slices"
	"strings"
)

// arkCases are the cases for ARK resolvers. None of them changes data on the server.
var arkCases = []row{
	{"info", "5.2", Must, "The inflection ?info gets a description in plain text, which begins with the segment erc.", func(p *probe) outcome {
		r := p.inflected(p.name(), "?info")
		media, _, _ := strings.Cut(r.get("Content-Type"), ";")
		return want(r.is(200) && strings.EqualFold(strings.TrimSpace(media), "text/plain") && strings.HasPrefix(r.text(), "erc:"), "?info got %s with Content-Type %q and %.80q", r, r.get("Content-Type"), r.text())
	}},
	{"kernel", "5.1.2", Must, "The description answers who, what, when and where.", func(p *probe) outcome {
		return hasKernel(p.segment("erc"))
	}},
	{"where", "5.1.2", Must, "The element where has the identifier, and not a location that may change.", func(p *probe) outcome {
		got := p.segment("erc")["where"]
		return want(strings.HasSuffix(plainARK(got[max(strings.Index(got, "ark:"), 0):]), strings.ReplaceAll(p.name(), "-", "")), "where is %q", got)
	}},
	{"support", "5.1.1", Should, "The description has the segment erc-support: who promises what about the identifier, since when, and where to read more.", func(p *probe) outcome {
		return hasKernel(p.segment("erc-support"))
	}},
	{"describes", "5.2", May, "A link with the relation describes leads to the ARK.", func(p *probe) outcome {
		links := linksOf(p.inflected(p.name(), "?info"))
		i := slices.IndexFunc(links, func(l link) bool { return l.is("describes") })
		need(i >= 0, "there is no such link")
		return want(strings.Contains(links[i].target, "ark:") && !strings.Contains(links[i].target, "?"), "the link leads to %q", links[i].target)
	}},
	{"older", "1.2", May, "The older inflections ? and ?? get a description too.", func(p *probe) outcome {
		offered := false
		for _, inflection := range []string{"?", "??"} {
			r := p.inflected(p.name(), inflection)
			if !r.is(301, 302, 303, 307, 308) {
				offered = true
				must(r.is(200) && strings.HasPrefix(r.text(), "erc:"), "%s got %s with %.80q", inflection, r, r.text())
			}
		}
		need(offered, "they have no meaning here")
		return passed()
	}},
	{"access", "5.1", Must, "The ARK alone leads to the object, or to something in its place.", func(p *probe) outcome {
		r := p.web("GET", p.path(p.name()))
		return want(r.is(200) || r.is(301, 302, 303, 307, 308) && r.get("Location") != "", "got %s", r)
	}},
	{"label", "2.2", Must, "An ARK with the older label ark:/ is the same.", func(p *probe) outcome {
		return p.sameARK(strings.Replace(p.ark(), "ark:", "ark:/", 1))
	}},
	{"case", "3.2", Must, "Letter case does not distinguish labels and NAANs.", func(p *probe) outcome {
		naan, name, _ := strings.Cut(p.ark(), "/")
		return p.sameARK(strings.ToUpper(naan) + "/" + name)
	}},
	{"hyphen", "3.1", Must, "Hyphens are ignored.", func(p *probe) outcome {
		naan, name, _ := strings.Cut(p.ark(), "/")
		return p.sameARK(naan + "/" + name[:1] + "-" + name[1:])
	}},
	{"end", "3.1", Must, "A slash or a period at the end is ignored.", func(p *probe) outcome {
		for _, end := range []string{"/", "."} {
			if o := p.sameARK(p.ark() + end); o.verdict != Pass {
				return o
			}
		}
		return passed()
	}},
	{"well-known", "5.6", Should, "/.well-known/ark has the path to which clients append an ARK.", func(p *probe) outcome {
		need(p.t.base == "", "the target is below a path")
		r := p.web("GET", "/.well-known/ark")
		path := strings.TrimSpace(r.text())
		return want(r.is(200) && strings.HasPrefix(path, "/") && strings.HasSuffix(path, "/"), "got %s with %.80q", r, r.text())
	}},
}

func (p *probe) ark() string {
	name := plainARK(p.name())
	need(strings.HasPrefix(name, "ark:") && len(name) > strings.IndexByte(name, '/')+1 && strings.Contains(name, "/"), "the first name is not an ARK")
	return name
}

func (p *probe) inflected(name, inflection string) *response {
	return p.web("GET", p.path(name)+inflection)
}

// sameARK checks that another spelling of the first name, which is an ARK, has the same
// description.
func (p *probe) sameARK(spelling string) outcome {
	r := p.inflected(spelling, "?info")
	return want(r.is(200) && r.text() == p.inflected(p.name(), "?info").text(), "the description of %s differs: %s", spelling, r)
}

// segment requests the description of the first name, and returns the elements in the segment with
// the given label.
func (p *probe) segment(label string) map[string]string {
	_, text, _ := strings.Cut("\n"+p.inflected(p.name(), "?info").text(), "\n"+label+":")
	elements := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		name, value, ok := strings.Cut(line, ":")
		if i > 0 && ok && value == "" {
			break
		}
		elements[name] = strings.TrimSpace(value)
	}
	return elements
}

func hasKernel(elements map[string]string) outcome {
	for _, label := range []string{"who", "what", "when", "where"} {
		must(elements[label] != "", "no element %s", label)
	}
	return passed()
}
