package conform

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// serviceCases are the cases for the services of RFC 2483. The requests have the form of RFC 2169.
var serviceCases = []row{
	{"4.2/I2Ls", "4.2", Must, "I2Ls returns a list of URLs.", func(p *probe) outcome {
		r := p.service("I2Ls", p.name(), "Accept: text/uri-list")
		return want(r.is(200) && r.mediaType() == "text/uri-list", "I2Ls of %s got %s", p.name(), r)
	}},
	{"4.1/I2L", "4.1", Must, "I2L returns one and only one URL.", func(p *probe) outcome {
		r := p.service("I2L", p.name())
		need(!r.is(404) || len(p.uris("I2Ls", p.name())) > 0, "the name has no URL: %s", r)
		_, err := uri.Parse(r.get("Location"))
		return want(r.redirects() && len(r.all("Location")) == 1 && err == nil, "I2L got %s with Location %q", r, r.all("Location"))
	}},
	{"4.2/one-of", "4.1, 4.2", Must, "The URL that I2L returns is one of those that I2Ls returns.", func(p *probe) outcome {
		r := p.service("I2L", p.name())
		need(len(r.all("Location")) == 1, "I2L got no URL: %s", r)
		return want(slices.Contains(p.uris("I2Ls", p.name()), r.get("Location")), "%s is not in the list", r.get("Location"))
	}},
	{"2.1/case", "2.1", Must, "The names of operations are case-insensitive.", func(p *probe) outcome {
		return sameList(p.service("I2Ls", p.name(), "Accept: text/uri-list"), p.service("i2ls", p.name(), "Accept: text/uri-list"))
	}},
	{"4/malformed", "4.1 to 4.9", Must, "A malformed URI gets a different error from an unknown name.", func(p *probe) outcome {
		r := p.service("I2Ls", "urn:example:%zz")
		return want(r.refused() && !r.is(404), "I2Ls of a malformed URI got %s", r)
	}},
	{"4/unknown", "4.1 to 4.9", Must, "A URI that does not exist in any form gets an error.", func(p *probe) outcome {
		r := p.service("I2Ls", p.full(p.absent()))
		return want(r.is(404), "I2Ls of an unknown name got %s", r)
	}},
	{"4/past", "4.1 to 4.9", Must, "A URI that existed in the past is distinguished from one that never existed.", func(p *probe) outcome {
		r := p.service("I2L", p.full(p.retired()))
		return want(r.is(410), "I2L of a retired name got %s", r)
	}},
	{"4.5/I2C", "4.5", Must, "I2C returns a description of the resource.", func(p *probe) outcome {
		r := p.service("I2C", p.name())
		need(!r.refused(), "I2C is not available: %s", r)
		return want(r.is(200) && len(r.body) > 0 && r.mediaType() != "", "I2C got %s with %d bytes", r, len(r.body))
	}},
	{"4.7/I2N", "4.7", Must, "I2N returns one and only one URN.", func(p *probe) outcome {
		r := p.service("I2N", p.name(), "Accept: text/uri-list")
		need(r.is(200) || r.redirects(), "I2N is not available: %s", r)
		got := uriLines(r.text())
		if r.redirects() {
			got = []string{urnAtEnd(r.get("Location"))}
		}
		must(len(got) == 1, "I2N got %d URIs", len(got))
		_, err := urn.Parse(got[0])
		return want(err == nil, "I2N got %q, which is not a URN", got[0])
	}},
	{"4.8/I2Ns", "4.8", Must, "I2Ns returns zero or more URNs.", func(p *probe) outcome { return listOfURNs(p, "I2Ns") }},
	{"4.9/true", "4.9", Must, "I=I of a URI and itself is TRUE.", func(p *probe) outcome {
		r := p.equal(p.name(), p.name())
		return want(strings.TrimSpace(r.text()) == "TRUE", "I=I of %s and itself is %q", p.name(), r.text())
	}},
	{"4.9/false", "4.9", Must, "I=I of two different names is FALSE.", func(p *probe) outcome {
		if len(p.elements) < 2 {
			return missing(NeedsNames, "only one name known")
		}
		r := p.equal(p.name(), p.full(p.elements[1]))
		return want(strings.TrimSpace(r.text()) == "FALSE", "I=I of two names is %q", r.text())
	}},
	{"5/lines", "5", Must, "Lines of text/uri-list end with CR LF.", func(p *probe) outcome { return listLines(p, "I2Ls") }},
	{"5/uris", "5", Must, "Each line of text/uri-list that is not a comment is one URI.", func(p *probe) outcome { return listURIs(p, "I2Ls") }},
	{"5/comment", "5", Should, "The first line of the list is a comment with the original URI.", func(p *probe) outcome { return listComment(p, "I2Ls") }},
}

// equal requests the service I=I, which compares two identifiers, as plain text.
func (p *probe) equal(a, b string) *response {
	r := p.service("I=I", a+"&"+b, "Accept: text/plain")
	need(r.is(200), "I=I with \"&\" between two URIs is not available: %s", r)
	return r
}

func urnAtEnd(url string) string {
	const scheme = "urn:"
	// The loop does not search in a lower-case copy, because the offsets in such a copy may differ.
	for i := 0; i+len(scheme) <= len(url); i++ {
		if strings.EqualFold(url[i:i+len(scheme)], scheme) {
			return url[i:]
		}
	}
	return url
}
