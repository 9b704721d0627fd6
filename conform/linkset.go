package conform

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/uri"
)

const (
	linksetJSON = "application/linkset+json"
	linksetText = "application/linkset"
)

// linksetCases are the cases for link sets of names (RFC 9264).
var linksetCases = []row{
	{"6/link", "6", Must, "The response for the name links to its link set.", func(p *probe) outcome {
		return want(len(related(linksOf(p.get()), "linkset")) > 0, "no link with the relation \"linkset\": Link %q", p.get().get("Link"))
	}},
	{"6/type", "6", Should, "The link to a link set has a type attribute with one of the two media types.", func(p *probe) outcome {
		for _, one := range related(linksOf(p.get()), "linkset") {
			if t := one.param("type"); t != linksetJSON && t != linksetText {
				return failed("type %q", t)
			}
		}
		return passed()
	}},
	{"4.2/json", "4.2", May, "If the link set is available as application/linkset+json, it is a JSON text in UTF-8.", func(p *probe) outcome {
		r := p.linkset(linksetJSON)
		return want(utf8.Valid(r.body) && json.Valid(r.body), "the text is not JSON in UTF-8")
	}},
	{"4.2.1/sole", "4.2.1", Must, "The JSON text is an object with the sole member \"linkset\", an array.", func(p *probe) outcome {
		r := p.linkset(linksetJSON)
		need(json.Valid(r.body), "the text is not JSON")
		var whole map[string]json.RawMessage
		var list []json.RawMessage
		err := json.Unmarshal(r.body, &whole)
		return want(err == nil && len(whole) == 1 && json.Unmarshal(whole["linkset"], &list) == nil && list != nil, "the members are %q", slices.Sorted(maps.Keys(whole)))
	}},
	{"4.2.2/anchor", "4.2.2, 4", Should, "Each context object has an anchor, which is not a relative reference.", eachContext(func(c context9264) outcome {
		u, err := uri.Parse(c.anchor)
		return want(err == nil && u.IsValid(), "anchor %q", c.anchor)
	})},
	{"4.2.2/arrays", "4.2.2", Must, "The value of each relation is an array of objects, also if there is only one target.", eachContext(func(c context9264) outcome {
		return want(len(c.odd) == 0, "for the anchor %s, these members are not arrays of objects: %q", c.anchor, c.odd)
	})},
	{"4.2.3/href", "4.2.3", Must, "Each target object has an href.", eachTarget(func(t map[string]any) outcome {
		return want(isString(t["href"]), "href %v", t["href"])
	})},
	{"4.2.3/absolute", "4.2.3, 4", Should, "An href is not a relative reference.", eachTarget(func(t map[string]any) outcome {
		href, ok := t["href"].(string)
		if !ok {
			return passed()
		}
		_, err := uri.Parse(href)
		return want(err == nil, "href %q", href)
	})},
	{"4.2.4.1/hreflang", "4.2.4.1", Must, "The value of hreflang is an array of strings.", eachTarget(func(t map[string]any) outcome {
		v, there := t["hreflang"]
		return want(!there || isArray(v, isString), "hreflang %v", v)
	})},
	{"4.2.4.1/strings", "4.2.4.1", Must, "The values of type, title and media are strings.", eachTarget(func(t map[string]any) outcome {
		for _, name := range []string{"type", "title", "media"} {
			if v, there := t[name]; there && !isString(v) {
				return failed("%s %v", name, v)
			}
		}
		return passed()
	})},
	{"4.2.4.2/title", "4.2.4.2", Must, "The value of an attribute whose name ends with \"*\" is an array of objects with a value.", eachTarget(func(t map[string]any) outcome {
		for name, v := range t {
			if strings.HasSuffix(name, "*") && !isArray(v, hasValue) {
				return failed("%s %v", name, v)
			}
		}
		return passed()
	})},
	{"4.2.4.3/extensions", "4.2.4.3", Must, "The value of any other attribute is an array of strings.", eachTarget(func(t map[string]any) outcome {
		for name, v := range t {
			if !slices.Contains([]string{"href", "hreflang", "type", "title", "media"}, name) && !strings.HasSuffix(name, "*") && !isArray(v, isString) {
				return failed("%s %v", name, v)
			}
		}
		return passed()
	})},
	{"4.1/syntax", "4.1", May, "If the link set is available as application/linkset, it has the syntax of the Link field, in ASCII.", func(p *probe) outcome {
		r := p.linkset(linksetText)
		_, good := parseLinks(r.text())
		return want(good && !slices.ContainsFunc(r.body, func(c byte) bool { return c >= 0x80 }), "the text is not a list of links in ASCII")
	}},
	{"4.1/anchor", "4", Should, "Each link of application/linkset has an anchor.", func(p *probe) outcome {
		r := p.linkset(linksetText)
		links, _ := parseLinks(r.text())
		for _, one := range links {
			if one.param("anchor") == "" {
				return failed("the link to %s has no anchor", one.target)
			}
		}
		return passed()
	}},
	{"4/same", "4", Should, "Both formats have the same links.", sameSets},
}

// linkset requests the link set of the first name in the given format.
func (p *probe) linkset(format string) *response {
	return p.linksetOf(append(linksOf(p.get()), p.landing()...), format)
}

// linksetOf returns a link set in the given format. It requests the target of each link with the
// relation "linkset" until a response has this format.
func (p *probe) linksetOf(links []link, format string) *response {
	for _, path := range p.paths(links, "linkset") {
		if r := p.web("GET", path, "Accept: "+format); r.is(200) && r.mediaType() == format {
			return r
		}
	}
	panic(skipped("the link set is not available from this server as %s", format))
}

// A context9264 is a link context object (RFC 9264, section 4.2).
type context9264 struct {
	anchor  string
	targets map[string][]map[string]any // by relation
	odd     []string                    // members that should be arrays of targets but are not
}

// contexts returns the link context objects in a JSON link set.
func contexts(body []byte) []context9264 {
	var whole struct{ Linkset []map[string]any }
	if json.Unmarshal(body, &whole) != nil {
		return nil
	}
	var all []context9264
	for _, object := range whole.Linkset {
		c := context9264{targets: map[string][]map[string]any{}}
		c.anchor, _ = object["anchor"].(string)
		for _, relation := range slices.Sorted(maps.Keys(object)) {
			if relation == "anchor" {
				continue
			}
			list, ok := object[relation].([]any)
			for _, one := range list {
				t, isObject := one.(map[string]any)
				ok = ok && isObject
				c.targets[relation] = append(c.targets[relation], t)
			}
			if !ok {
				c.odd = append(c.odd, relation)
			}
		}
		all = append(all, c)
	}
	return all
}

func eachContext(check func(context9264) outcome) func(*probe) outcome {
	return func(p *probe) outcome {
		r := p.linkset(linksetJSON)
		all := contexts(r.body)
		need(len(all) > 0, "the link set has no context objects")
		for _, c := range all {
			if out := check(c); out.verdict != Pass {
				return out
			}
		}
		return passed()
	}
}

func eachTarget(check func(map[string]any) outcome) func(*probe) outcome {
	return eachContext(func(c context9264) outcome {
		for _, relation := range slices.Sorted(maps.Keys(c.targets)) {
			for _, t := range c.targets[relation] {
				if out := check(t); out.verdict != Pass {
					out.detail = relation + ": " + out.detail
					return out
				}
			}
		}
		return passed()
	})
}

// isArray reports whether v is an array whose elements all satisfy test.
func isArray(v any, test func(any) bool) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool { return !test(one) })
}

func isString(v any) bool {
	_, ok := v.(string)
	return ok
}

func hasValue(v any) bool {
	object, ok := v.(map[string]any)
	return ok && isString(object["value"])
}

func sameSets(p *probe) outcome {
	j := p.linkset(linksetJSON)
	t := p.linkset(linksetText)
	var first, second []string
	for _, c := range contexts(j.body) {
		for relation, targets := range c.targets {
			for _, target := range targets {
				href, _ := target["href"].(string)
				first = append(first, relation+" <"+href+">")
			}
		}
	}
	links, _ := parseLinks(t.text())
	for _, l := range links {
		for relation := range strings.FieldsSeq(l.param("rel")) {
			second = append(second, relation+" <"+l.target+">")
		}
	}
	slices.Sort(first)
	slices.Sort(second)
	return want(slices.Equal(slices.Compact(first), slices.Compact(second)), "they have %q and %q", first, second)
}
