package conform

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var webCases = []row{
	{"RFC9110-15/name", "RFC 9110, 15.3, 15.4", Must, "GET of a path with a full name gets the resource, a description of it, or a redirect.", func(p *probe) outcome {
		r := p.get()
		return want(r.is(200) || r.redirects() || r.is(300), "/%s got %s", p.name(), r)
	}},
	{"RFC9110-10.2.2/location", "RFC 9110, 10.2.2", Must, "A redirect has one Location field, with a URI reference.", func(p *probe) outcome {
		r := p.get()
		need(r.redirects(), "the name does not redirect: %s", r)
		_, err := uri.ParseReference(r.get("Location"))
		return want(len(r.all("Location")) == 1 && err == nil, "Location %q", r.all("Location"))
	}},
	{"RFC9110-10.2.2/scheme", "RFC 9110, 17", Must, "A redirect does not lead to a URL that a browser would execute.", func(p *probe) outcome {
		for _, e := range p.elements {
			r := p.web("GET", p.path(p.full(e)))
			scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(r.get("Location"))), ":")
			must(!slices.Contains([]string{"javascript", "data", "vbscript", "blob"}, scheme), "Location %q", r.get("Location"))
		}
		return passed()
	}},
	{"RFC9110-9.3.2/head", "RFC 9110, 9.3.2", Must, "HEAD gets the same status and fields as GET, and no body.", func(p *probe) outcome {
		get, head := p.get(), p.web("HEAD", p.path(p.name()))
		return want(head.status == get.status && p.sameLocation(get, head) && head.mediaType() == get.mediaType() && len(head.surplus) == 0,
			"HEAD got %s with %d bytes, GET got %s", head, len(head.surplus), get)
	}},
	{"RFC9110-15.5.5/404", "RFC 9110, 15.5.5", Must, "An unknown name gets 404.", func(p *probe) outcome {
		r := p.web("GET", p.path(p.full(p.absent())))
		return want(r.is(404), "an unknown name got %s", r)
	}},
	{"RFC9110-15.5.11/410", "RFC 9110, 15.5.11", Should, "A permanently retired name gets 410.", func(p *probe) outcome {
		r := p.web("GET", p.path(p.full(p.retired())))
		return want(r.is(410), "a retired name got %s", r)
	}},
	{"RFC9110-15.4.2/301", "RFC 9110, 15.4.2", Should, "A name that was replaced by another is permanently redirected to it.", func(p *probe) outcome {
		r := p.web("GET", p.path(p.full(p.moved())))
		need(!p.gateway(), "a proxy or gateway follows the redirect itself")
		return want(r.is(301, 308) && r.has("Location"), "a replaced name got %s", r)
	}},
	{"RFC9110-15.5.1/malformed", "RFC 9110, 15.5.1; RFC 8141, 2", Should, "A malformed name gets a client error.", func(p *probe) outcome {
		r := p.web("GET", p.path("urn:example:%zz"))
		return want(r.status >= 400 && r.status < 500, "a malformed name got %s", r)
	}},
	{"RFC8141-3.1/case", "RFC 8141, 3.1", Must, "\"urn\" and the namespace identifier are case-insensitive.", func(p *probe) outcome {
		other, ok := equivalentSpelling(p.name())
		need(ok, "%s is not a URN", p.name())
		get, r := p.get(), p.web("GET", p.path(other))
		return want(r.status == get.status && (get.redirects() && p.sameLocation(get, r) || !get.redirects() && r.mediaType() == get.mediaType()), "/%s got %s, /%s got %s", other, r, p.name(), get)
	}},
	{"RFC8141-2.3.1/r-component", "RFC 8141, 2.3.1, 3", Should, "An r-component that the resolver does not understand does not change which name is meant.", func(p *probe) outcome {
		get, r := p.get(), p.web("GET", p.path(p.name()+"?+conform:x=y"))
		return want(r.status == get.status && p.sameLocation(get, r), "with an r-component the response is %s, without %s", r, get)
	}},
	{"RFC8141-2.3.2/q-component", "RFC 8141, 2.3.2", Must, "If a URN with a q-component redirects to a URL, the q-component is copied to the query of the URL.", func(p *probe) outcome {
		get := p.get()
		if _, ok := equivalentSpelling(p.name()); !ok || !get.redirects() {
			return skipped("no URN that redirects")
		}
		r := p.web("GET", p.path(p.name()+"?=conform=1"))
		if strings.Contains(get.get("Location"), "?") || r.redirects() && !isHTTP(r.get("Location")) {
			return skipped("the URL has its own query or is not http, for which the document has no requirement")
		}
		u, err := uri.ParseReference(r.get("Location"))
		query, _ := u.Query()
		return want(err == nil && query == "conform=1", "the response is %s", r)
	}},
	{"RFC9112-3.2/host", "RFC 9112, 3.2", Must, "An HTTP/1.1 request without a Host field gets 400.", func(p *probe) outcome {
		r := p.ask(request{method: "GET", target: p.path(p.name()), version: "HTTP/1.1", fields: []string{"Connection: close"}})
		return want(r.is(400), "a request without Host got %s", r)
	}},
	{"RFC9112-3.2/hosts", "RFC 9112, 3.2", Must, "An HTTP/1.1 request with two Host fields gets 400.", func(p *probe) outcome {
		r := p.ask(request{method: "GET", target: p.path(p.name()), version: "HTTP/1.1", fields: []string{"Host: " + p.t.authority, "Host: " + unrelated, "Connection: close"}})
		return want(r.is(400), "a request with two Host fields got %s", r)
	}},
	{"RFC9110-9.1/method", "RFC 9110, 9.1", Should, "An unknown method gets 501 or 405.", func(p *probe) outcome {
		r := p.web("RESOLVE", p.path(p.name()))
		return want(r.is(405, 501), "RESOLVE got %s", r)
	}},
	{"RFC9110-15.5.6/allow", "RFC 9110, 15.5.6", Must, "A response with 405 has an Allow field.", func(p *probe) outcome {
		r := p.web("RESOLVE", p.path(p.name()))
		need(r.is(405), "an unknown method got %s", r)
		return want(r.has("Allow"), "no Allow field")
	}},
	{"RFC9110-6.6.1/date", "RFC 9110, 6.6.1", Must, "Responses have a Date field.", func(p *probe) outcome {
		for _, r := range []*response{p.get(), p.web("GET", p.path(p.full(p.absent())))} {
			if _, err := http.ParseTime(r.get("Date")); err != nil {
				return failed("the response with status %d has Date %q", r.status, r.get("Date"))
			}
		}
		return passed()
	}},
	{"RFC9110-12.5.5/vary", "RFC 9110, 12.5.5", Should, "If the response depends on Accept, Vary says so.", func(p *probe) outcome {
		get := p.get()
		for _, accept := range []string{"text/html", "application/json", "application/linkset+json"} {
			r := p.web("GET", p.path(p.name()), "Accept: "+accept)
			if r.status == get.status && r.mediaType() == get.mediaType() && p.sameLocation(get, r) {
				continue
			}
			for _, one := range []*response{get, r} {
				if vary := strings.ToLower(one.get("Vary")); !one.refused() && !strings.Contains(vary, "*") && !slices.Contains(words(vary), "accept") {
					return failed("with Accept: %s the response is %s, without %s, and Vary is %q", accept, r, get, one.get("Vary"))
				}
			}
		}
		return passed()
	}},
	{"RFC9110-13.1.2/304", "RFC 9110, 13.1.2", Should, "A description with an ETag gets 304 for an If-None-Match with that ETag.", func(p *probe) outcome {
		path, r, ok := p.description()
		need(ok && r.has("ETag"), "no description with an ETag found")
		again := p.web("GET", path, "If-None-Match: "+r.get("ETag"))
		return want(again.is(304) && len(again.surplus) == 0, "If-None-Match: %s got %s", r.get("ETag"), again)
	}},
	{"WEB/line-break", "RFC 9110, 5.5", Must, "A percent-encoded line break in a path does not become a header field of the response.", func(p *probe) outcome {
		r := p.web("GET", p.path(p.full("x%0D%0AX-Conform:%20injected")))
		return want(!r.has("X-Conform"), "the response has the field X-Conform")
	}},
	{"WEB/open-redirect", "CWE-601", Must, "Paths do not redirect to arbitrary sites that are not registered with the server.", func(p *probe) outcome {
		for _, path := range []string{p.t.base + "//" + unrelated + "/", p.path("https://" + unrelated + "/x"), p.path("%5C%5C" + unrelated), p.path("urn:example:x@" + unrelated)} {
			r := p.web("GET", path)
			if u, ok := p.absolute("/", strings.ReplaceAll(r.get("Location"), `\`, "/")); r.redirects() && ok {
				if host, _ := u.Host(); strings.EqualFold(host, unrelated) {
					return failed("%s leads to %s", path, r.get("Location"))
				}
			}
		}
		return passed()
	}},
	{"CSL/json", "crosscite.org; CSL-JSON", May, "If the server supports application/vnd.citationstyles.csl+json, the response is an object with a type and a title.", citation("application/vnd.citationstyles.csl+json", func(body []byte) bool {
		var item struct{ Type, Title string }
		return json.Unmarshal(body, &item) == nil && item.Type != "" && item.Title != ""
	})},
	{"CSL/bibtex", "crosscite.org; BibTeX", May, "If the server supports application/x-bibtex, the response is an entry.", citation("application/x-bibtex", func(body []byte) bool {
		text := bytes.TrimSpace(body)
		return bytes.HasPrefix(text, []byte("@")) && bytes.HasSuffix(text, []byte("}"))
	})},
	{"CSL/ris", "crosscite.org; RIS", May, "If the server supports application/x-research-info-systems, the response begins with TY and ends with ER.", citation("application/x-research-info-systems", func(body []byte) bool {
		text := bytes.TrimSpace(body)
		return bytes.HasPrefix(text, []byte("TY  - ")) && bytes.Contains(text, []byte("\nER  -"))
	})},
}

// get requests the path of the first name.
func (p *probe) get() *response { return p.web("GET", p.path(p.name())) }

// words returns the elements of a comma-separated list.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// description returns the path of a description of the first name, and the response for this path
// with status 200. It returns false if the server has no description.
func (p *probe) description() (string, *response, bool) {
	if r := p.get(); r.is(200) {
		return p.path(p.name()), r, true
	}
	for _, path := range p.paths(linksOf(p.get()), "describedby") {
		if r := p.web("GET", path); r.is(200) {
			return path, r, true
		}
	}
	return "", nil, false
}

// citation returns a check that requests the first name in a citation format and tests the body
// with the function good.
func citation(format string, good func([]byte) bool) func(*probe) outcome {
	return func(p *probe) outcome {
		r := p.web("GET", p.path(p.name()), "Accept: "+format)
		need(r.is(200) && r.mediaType() == format, "the server does not support this format: %s", r)
		return want(good(r.body), "the text is not in this format")
	}
}
