package conform

import (
	"encoding/json"
	"html"
	"strconv"
	"strings"
)

// handleCases are the cases for the JSON API of Handle servers and for the Handle proxy. None of
// them changes data on the server.
var handleCases = []row{
	{"resolve", "1.3", Must, "A handle has status 200, the response code 1, and the handle as it was requested.", func(p *probe) outcome {
		r := p.handle("")
		a := r.handleAnswer()
		return want(r.is(200) && a.Code == 1 && a.Handle == p.plainHandle() && len(a.Values) > 0, "%s got %s with %.80q", p.plainHandle(), r, r.text())
	}},
	{"type", "1.3", Must, "Responses are JSON in UTF-8.", func(p *probe) outcome {
		got := p.handle("").get("Content-Type")
		return want(strings.EqualFold(strings.ReplaceAll(got, " ", ""), "application/json;charset=utf-8"), "Content-Type %q", got)
	}},
	{"value", "1.4", Must, "Each value has an index, a type, data with a format, and a TTL.", func(p *probe) outcome {
		for _, v := range p.handleValues("") {
			must(v.Index > 0 && v.Type != "" && v.Data.Format != "" && v.Data.Value != nil && v.TTL != nil, "the value %d of type %q is incomplete", v.Index, v.Type)
		}
		return passed()
	}},
	{"time", "1.4", Should, "Each value has a timestamp, which pyhandle needs to change the value.", func(p *probe) outcome {
		for _, v := range p.handleValues("") {
			must(v.Timestamp != "", "the value %d has no timestamp", v.Index)
		}
		return passed()
	}},
	{"index", "1.2", Must, "The parameter index selects a value.", func(p *probe) outcome {
		first := p.handleValues("")[0].Index
		got := p.handleValues("?index=" + strconv.Itoa(first))
		return want(len(got) == 1 && got[0].Index == first, "index=%d got %d values", first, len(got))
	}},
	{"select", "1.2", Must, "The parameter type selects the values of a type.", func(p *probe) outcome {
		first := p.handleValues("")[0].Type
		for _, v := range p.handleValues("?type=" + first) {
			must(strings.EqualFold(v.Type, first), "type=%s got a value of the type %q", first, v.Type)
		}
		return passed()
	}},
	{"nothing", "1.3", Must, "If no value is selected, the status is 200 and the response code 200.", func(p *probe) outcome {
		return p.handleFails("GET", p.handlePath()+"?type=NO-SUCH-TYPE", 200, 200)
	}},
	{"unknown", "1.3", Must, "An unknown handle has status 404 and the response code 100.", func(p *probe) outcome {
		return p.handleFails("GET", p.t.base+"/api/handles/"+unlabelled(p.full(p.absent())), 404, 100)
	}},
	{"empty", "1.2", Must, "Without a handle, the status is 400 and the response code 102.", func(p *probe) outcome {
		return p.handleFails("GET", p.t.base+"/api/handles/", 400, 102)
	}},
	{"method", "1.2", Must, "An unknown method has status 501 and the response code 4.", func(p *probe) outcome {
		return p.handleFails("RESOLVE", p.handlePath(), 501, 4)
	}},
	{"rights", "1.5", Must, "A list without credentials has status 401, the response code 402, and the challenge that clients expect.", func(p *probe) outcome {
		prefix, _, _ := strings.Cut(p.plainHandle(), "/")
		r := p.web("GET", p.t.base+"/api/handles?prefix="+prefix)
		need(!r.is(403), "the server reads no credentials on this connection: %s", r)
		return want(r.is(401) && r.handleAnswer().Code == 402 && strings.Contains(r.get("WWW-Authenticate"), `Basic realm="handle"`), "got %s with %.80q, WWW-Authenticate %q", r, r.text(), r.get("WWW-Authenticate"))
	}},
	{"jsonp", "1.2", Must, "With callback, the response is a call of this function, in JavaScript.", func(p *probe) outcome {
		r := p.handle("?callback=got")
		return want(strings.HasPrefix(r.text(), "got({") && strings.HasSuffix(r.text(), "});") && r.mediaType() == "application/javascript", "got %s of type %q with %.80q", r, r.mediaType(), r.text())
	}},
	{"cors", "1.3", Must, "Scripts of all sites can read responses.", func(p *probe) outcome {
		got := p.handle("", "Origin: https://other.example").get("Access-Control-Allow-Origin")
		return want(got == "*", "Access-Control-Allow-Origin %q", got)
	}},
	{"redirect", "1.6", Must, "The proxy redirects to a URL of the handle, with a page that has a link to it.", func(p *probe) outcome {
		r := p.web("GET", p.handleProxy("?ignore_aliases"))
		to := r.get("Location")
		return want(r.redirects() && to != "" && strings.Contains(r.text(), `<a href="`+html.EscapeString(to)+`">`), "%s got %s with Location %q and %.80q", p.plainHandle(), r, to, r.text())
	}},
	{"noredirect", "1.6", Must, "With noredirect, the proxy shows the values of the handle on a page.", func(p *probe) outcome {
		r := p.web("GET", p.handleProxy("?noredirect"))
		return want(r.is(200) && r.mediaType() == "text/html" && strings.Contains(r.text(), "<table"), "noredirect got %s of type %q", r, r.mediaType())
	}},
	{"page", "1.6", Must, "For an unknown handle, the proxy has a page with status 404.", func(p *probe) outcome {
		r := p.web("GET", p.t.base+"/"+unlabelled(p.full(p.absent()))+"?noredirect")
		return want(r.is(404) && r.mediaType() == "text/html", "got %s of type %q", r, r.mediaType())
	}},
}

type handleValue struct {
	Index int
	Type  string
	Data  struct {
		Format string
		Value  any
	}
	TTL       any
	Timestamp string
}

type handleAnswer struct {
	Code   int `json:"responseCode"`
	Handle string
	Values []handleValue
}

// handleAnswer decodes the body as JSON. If the body is not valid JSON, it returns the zero value.
func (r *response) handleAnswer() (a handleAnswer) {
	if json.Unmarshal(r.body, &a) != nil {
		return handleAnswer{}
	}
	return a
}

func unlabelled(name string) string {
	for _, label := range []string{"hdl:", "doi:"} {
		if rest, ok := strings.CutPrefix(name, label); ok {
			return rest
		}
	}
	return name
}

func (p *probe) plainHandle() string { return unlabelled(p.name()) }

func (p *probe) handlePath() string { return p.t.base + "/api/handles/" + p.plainHandle() }

func (p *probe) handleProxy(query string) string { return p.t.base + "/" + p.plainHandle() + query }

// handle requests the first name from the JSON API, with the given query.
func (p *probe) handle(query string, fields ...string) *response {
	return p.web("GET", p.handlePath()+query, fields...)
}

// handleValues requests values of the first name. If there are no values, the case ends as not
// applicable.
func (p *probe) handleValues(query string) []handleValue {
	r := p.handle(query)
	all := r.handleAnswer().Values
	need(len(all) > 0, "the values of %s are not available: %s", p.plainHandle(), r)
	return all
}

// handleFails checks that a request fails with the given HTTP status and Handle response code.
func (p *probe) handleFails(method, target string, status, code int) outcome {
	r := p.web(method, target)
	return want(r.is(status) && r.handleAnswer().Code == code, "%s %s got %s with %.80q", method, target, r, r.text())
}
