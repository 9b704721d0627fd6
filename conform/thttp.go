package conform

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// thttpCases are the cases for THTTP (RFC 2169).
var thttpCases = []row{
	{"2/service", "2.0", Must, "A service is requested as GET /uri-res/SERVICE?URI: N2Ls of a known name gets 200.", func(p *probe) outcome {
		r := p.service("N2Ls", p.name())
		return want(r.is(200), "N2Ls of %s got %s", p.name(), r)
	}},
	{"2/404", "2.0", Must, "Status codes are those of HTTP: an unknown name gets 404.", func(p *probe) outcome {
		r := p.service("N2Ls", p.full(p.absent()))
		return want(r.is(404), "N2Ls of an unknown name got %s", r)
	}},
	{"2/equivalent", "2.0", Must, "Lexically equivalent URNs get identical results.", func(p *probe) outcome {
		other, ok := equivalentSpelling(p.name())
		need(ok, "%s is not a URN", p.name())
		return sameList(p.service("N2Ls", p.name(), "Accept: text/uri-list"), p.service("N2Ls", other, "Accept: text/uri-list"))
	}},
	{"3.1/location", "3.1", Must, "N2L returns the URL in a Location field.", func(p *probe) outcome {
		r := p.service("N2L", p.name())
		need(!r.refused(), "the name has no URL: %s", r)
		_, err := uri.Parse(r.get("Location"))
		return want(r.has("Location") && err == nil, "N2L got %s with Location %q", r, r.get("Location"))
	}},
	{"3.1/303", "3.1", Should, "HTTP/1.1 clients get status 303 for N2L.", func(p *probe) outcome {
		r := p.service("N2L", p.name())
		need(!r.refused(), "the name has no URL: %s", r)
		if f := p.front(r); r.is(302) && f != "" {
			return skipped("a server in front may have forwarded the request as HTTP/1.0 (%s): %s", f, r)
		}
		return want(r.is(303), "N2L over HTTP/1.1 got %s", r)
	}},
	{"3.1/302", "3.1", Should, "HTTP/1.0 clients get status 302 for N2L, unless the resolver has reasons for 301 or 304.", func(p *probe) outcome {
		r := p.ask(request{method: "GET", target: p.t.base + "/uri-res/N2L?" + p.name(), version: "HTTP/1.0", fields: []string{"Host: " + p.t.authority}})
		need(!r.refused(), "the name has no URL: %s", r)
		if f := p.front(r); r.is(303) && f != "" {
			return skipped("a server in front may have forwarded the request as HTTP/1.1 (%s): %s", f, r)
		}
		return want(r.is(301, 302, 304), "N2L over HTTP/1.0 got %s", r)
	}},
	{"3.2/uri-list", "3.2", Should, "N2Ls supports at least text/uri-list.", func(p *probe) outcome {
		r := p.service("N2Ls", p.name(), "Accept: text/uri-list")
		return want(r.mediaType() == "text/uri-list", "N2Ls with Accept: text/uri-list got %s", r)
	}},
	{"3.2/html", "3.2", Should, "N2Ls as text/html has the URLs as list items, each of them a link.", func(p *probe) outcome {
		r := p.service("N2Ls", p.name(), "Accept: text/html")
		need(r.mediaType() == "text/html", "N2Ls is not available as text/html: %s", r)
		urls := p.uris("N2Ls", p.name())
		need(len(urls) > 0, "the name has no URL")
		there := anchors(strings.Join(listItems.FindAllString(r.text(), -1), "\n"))
		for _, u := range urls {
			must(slices.Contains(there, u), "no list item links to %s", u)
		}
		return passed()
	}},
	{"A/lines", "Appendix A", Must, "Lines of text/uri-list end with CR LF.", func(p *probe) outcome { return listLines(p, "N2Ls") }},
	{"A/uris", "Appendix A", Must, "Each line of text/uri-list that is not a comment is one URI.", func(p *probe) outcome { return listURIs(p, "N2Ls") }},
	{"A/comment", "Appendix A", Should, "The first line of the list is a comment with the original URI.", func(p *probe) outcome { return listComment(p, "N2Ls") }},
	{"3.4/N2Rs", "3.4", Must, "N2Rs returns a multipart/alternative message, or the only version.", func(p *probe) outcome {
		r := p.service("N2Rs", p.name())
		need(r.is(200), "N2Rs is not available: %s", r)
		if r.mediaType() != "multipart/alternative" {
			return want(r.mediaType() != "" && !strings.HasPrefix(r.mediaType(), "multipart/"), "N2Rs got %s", r)
		}
		return want(strings.Contains(r.get("Content-Type"), "boundary="), "Content-Type %q has no boundary", r.get("Content-Type"))
	}},
	{"3.5/type", "3.5", Must, "N2C returns a description with a Content-Type.", func(p *probe) outcome {
		r := p.service("N2C", p.name())
		need(!r.refused(), "N2C is not available: %s", r)
		return want(r.is(200) && mediaType.MatchString(r.get("Content-Type")), "N2C got %s with Content-Type %q", r, r.get("Content-Type"))
	}},
	{"3.5/accept", "3.5", Should, "N2C honours Accept.", func(p *probe) outcome {
		first := p.service("N2C", p.name())
		need(first.is(200), "N2C is not available: %s", first)
		for _, wanted := range []string{"text/html", "text/plain"} {
			if r := p.service("N2C", p.name(), "Accept: "+wanted); r.is(200) && r.mediaType() != wanted {
				return failed("N2C with Accept: %s got %s", wanted, r)
			}
		}
		return passed()
	}},
	{"3.6/N2Ns", "3.6", Must, "N2Ns returns a list of URNs.", func(p *probe) outcome { return listOfURNs(p, "N2Ns") }},
	{"3.7/L2Ns", "3.7", Must, "L2Ns returns the URNs of the resource at a URL.", func(p *probe) outcome {
		return reverse(p, "L2Ns", p.name())
	}},
	{"3.8/L2Ls", "3.8", Must, "L2Ls returns the URLs of the resource at a URL.", func(p *probe) outcome {
		return reverse(p, "L2Ls", "")
	}},
	{"3.9/L2C", "3.9", Must, "L2C returns a description, as N2C does.", func(p *probe) outcome {
		urls := p.uris("N2Ls", p.name())
		need(len(urls) > 0, "the name has no URL")
		r := p.service("L2C", urls[0])
		need(!r.refused(), "L2C is not available: %s", r)
		return want(r.is(200) && r.mediaType() == p.service("N2C", p.name()).mediaType(), "L2C got %s", r)
	}},
}

// named wraps a check. The case is not applicable if the authority of the names is unknown.
func named(check func(*probe) outcome) func(*probe) outcome {
	return func(p *probe) outcome {
		if p.name() == "" {
			return missing(NeedsAuthority, "the authority of the names is unknown")
		}
		return check(p)
	}
}

// service requests a resolution service such as N2L with the URL path of RFC 2169.
func (p *probe) service(service, operand string, fields ...string) *response {
	return p.web("GET", p.t.base+"/uri-res/"+service+"?"+operand, fields...)
}

// uris requests a service as text/uri-list, and returns the URIs in the list.
func (p *probe) uris(service, operand string) []string {
	r := p.service(service, operand, "Accept: text/uri-list")
	if !r.is(200) || r.mediaType() != "text/uri-list" {
		return nil
	}
	return uriLines(r.text())
}

func uriLines(list string) []string {
	var uris []string
	for line := range strings.Lines(list) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && line[0] != '#' {
			uris = append(uris, line)
		}
	}
	return uris
}

var listItems = regexp.MustCompile(`(?is)<li\b.*?(</li>|</ul>|$)`)

// equivalentSpelling returns an equivalent URN with "URN" and the namespace identifier in upper
// case.
func equivalentSpelling(name string) (string, bool) {
	u, err := urn.Parse(name)
	if err != nil {
		return "", false
	}
	fields := strings.SplitN(u.String(), ":", 3)
	return strings.ToUpper(fields[0]) + ":" + strings.ToUpper(fields[1]) + ":" + fields[2], true
}

func sameList(a, b *response) outcome {
	return want(a.status == b.status && slices.Equal(uriLines(a.text()), uriLines(b.text())), "the results differ: %s and %s", a, b)
}

func (p *probe) listText(service string) *response {
	r := p.service(service, p.name(), "Accept: text/uri-list")
	need(r.is(200) && r.mediaType() == "text/uri-list", "%s is not available as text/uri-list: %s", service, r)
	return r
}

func listLines(p *probe, service string) outcome {
	r := p.listText(service)
	return crlfLines(r.text(), func(string) bool { return true })
}

func listURIs(p *probe, service string) outcome {
	r := p.listText(service)
	for _, line := range uriLines(r.text()) {
		if _, err := uri.Parse(line); err != nil {
			return failed("%q: %v", line, err)
		}
	}
	return passed()
}

func listComment(p *probe, service string) outcome {
	r := p.listText(service)
	first, _, _ := strings.Cut(r.text(), "\n")
	text, comment := strings.CutPrefix(strings.TrimSpace(first), "#")
	return want(comment && strings.EqualFold(strings.TrimSpace(text), p.name()), "the first line is %q", first)
}

func listOfURNs(p *probe, service string) outcome {
	r := p.service(service, p.name(), "Accept: text/uri-list")
	need(r.is(200), "%s is not available: %s", service, r)
	must(r.mediaType() == "text/uri-list", "%s got %s", service, r)
	for _, u := range uriLines(r.text()) {
		if _, err := urn.Parse(u); err != nil {
			return failed("%q is not a URN", u)
		}
	}
	return passed()
}

// reverse requests a service for the first URL of the name, and checks the list in the response.
// The list must contain the entry. If entry is "", it must contain any URL of the name.
func reverse(p *probe, service, entry string) outcome {
	urls := p.uris("N2Ls", p.name())
	need(len(urls) > 0, "the name has no URL")
	r := p.service(service, urls[0], "Accept: text/uri-list")
	need(r.is(200), "%s is not available: %s", service, r)
	got := uriLines(r.text())
	need(len(got) > 0 || !p.gateway(), "a proxy or gateway does not know which names a URL has")
	if entry == "" {
		return want(slices.ContainsFunc(got, func(u string) bool { return slices.Contains(urls, u) }), "%s of %s has no URL of the name", service, urls[0])
	}
	return want(slices.ContainsFunc(got, func(u string) bool { return strings.EqualFold(u, entry) }), "%s of %s does not have %s", service, urls[0], entry)
}
