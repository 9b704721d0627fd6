package conform

import (
	"strings"
)

// ezidCases are the cases for the EZID API. None of them changes data on the server.
var ezidCases = []row{
	{"status", "server status", Must, "GET /status says that EZID is up.", func(p *probe) outcome {
		r := p.web("GET", p.t.base+"/status")
		return want(r.is(200) && r.text() == "success: EZID is up", "/status got %s with %.80q", r, r.text())
	}},
	{"type", "the API", Must, "Responses are plain text in UTF-8.", func(p *probe) outcome {
		got := p.web("GET", p.t.base+"/status").get("Content-Type")
		return want(strings.EqualFold(strings.ReplaceAll(got, " ", ""), "text/plain;charset=utf-8"), "Content-Type %q", got)
	}},
	{"unknown", "error reporting", Must, "An unknown identifier gets status 400 and the text on which clients depend.", func(p *probe) outcome {
		return p.ezidError(p.full(p.absent()), 400, "error: bad request - no such identifier")
	}},
	{"view", "operation: get identifier metadata", Must, "The first line of a response begins with \"success: \" and the identifier.", func(p *probe) outcome {
		line, _, _ := strings.Cut(p.ezidView().text(), "\n")
		id, ok := strings.CutPrefix(line, "success: ")
		return want(ok && plainARK(id) == plainARK(p.name()), "the first line is %.80q", line)
	}},
	{"elements", "operation: get identifier metadata", Must, "Each further line is an element, with a label, a colon and a space, and ends with a line break.", func(p *probe) outcome {
		text := p.ezidView().text()
		must(strings.HasSuffix(text, "\n"), "the last line has no line break")
		for line := range strings.Lines(text) {
			label, _, ok := strings.Cut(line, ": ")
			must(ok && label != "", "the line %.80q is not an element", line)
		}
		return passed()
	}},
	{"internal", "internal metadata", Must, "The elements of an identifier have its target, status and profile, and the times of its creation and last change in seconds.", func(p *probe) outcome {
		for _, label := range []string{"_target", "_status", "_profile", "_created", "_updated"} {
			value := p.ezidElement(label)
			must(value != "", "no element %s", label)
			if label == "_created" || label == "_updated" {
				must(strings.Trim(value, "0123456789") == "", "%s is %q", label, value)
			}
		}
		return passed()
	}},
	{"parameter", "error reporting", Must, "An unknown parameter is an error.", func(p *probe) outcome {
		return p.ezidError(p.name()+"?nonesuch=1", 400, "error: bad request - unrecognized URL query parameter 'nonesuch'")
	}},
	{"method", "error reporting", Must, "An unknown method gets status 405.", func(p *probe) outcome {
		r := p.web("RESOLVE", p.t.base+"/id/"+p.name())
		return want(r.is(405) && r.text() == "error: method not allowed", "RESOLVE got %s with %.80q", r, r.text())
	}},
	{"login", "authentication", Must, "A request without credentials gets status 401 and the challenge that clients expect.", func(p *probe) outcome {
		r := p.web("GET", p.t.base+"/login")
		need(!r.is(403), "the server reads no credentials on this connection: %s", r)
		return want(r.is(401) && r.get("WWW-Authenticate") == `Basic realm="EZID"` && r.text() == "error: unauthorized", "/login got %s with WWW-Authenticate %q", r, r.get("WWW-Authenticate"))
	}},
	{"resolve", "resolver", Must, "With No-Redirect, the response for an identifier has status 200, and its target as Location.", func(p *probe) outcome {
		target := p.ezidElement("_target")
		need(p.ezidElement("_status") == "public", "the first name is not public")
		r := p.web("GET", p.path(p.name()), "No-Redirect: true")
		return want(r.is(200) && r.get("Location") == target, "got %s with Location %q, and the target is %q", r, r.get("Location"), target)
	}},
	{"info", "resolver", Must, "The inflections ?info and ?? return the elements of an identifier.", func(p *probe) outcome {
		for _, inflection := range []string{"?info", "??"} {
			r := p.web("GET", p.path(p.name())+inflection, "Accept: text/plain")
			must(r.is(200) && strings.Contains("\n"+r.text(), "\n_target: "), "%s got %s", inflection, r)
		}
		return passed()
	}},
}

func (p *probe) ezidView() *response {
	r := p.web("GET", p.t.base+"/id/"+p.name())
	need(r.is(200), "the elements of %s are not available: %s", p.name(), r)
	return r
}

func (p *probe) ezidElement(label string) string {
	_, text, _ := strings.Cut("\n"+p.ezidView().text(), "\n"+label+": ")
	value, _, _ := strings.Cut(text, "\n")
	return value
}

// ezidError checks the error response for an identifier. The text must be the whole body, because
// EZID ends an error response without a line break.
func (p *probe) ezidError(id string, status int, text string) outcome {
	r := p.web("GET", p.t.base+"/id/"+id)
	return want(r.is(status) && r.text() == text, "/id/%s got %s with %.80q", id, r, r.text())
}

func plainARK(id string) string {
	if rest, ok := strings.CutPrefix(id, "ark:/"); ok {
		return "ark:" + rest
	}
	return id
}
