package conform

import (
	"slices"
	"strings"
)

// A link is a link-value of a Link field (RFC 8288, section 3).
type link struct {
	target string
	params [][2]string // names are in lower case
}

func (l link) param(name string) string {
	for _, p := range l.params {
		if p[0] == name {
			return p[1]
		}
	}
	return ""
}

// is reports whether the first "rel" parameter of the link contains a relation.
func (l link) is(relation string) bool {
	return slices.ContainsFunc(strings.Fields(l.param("rel")), func(r string) bool { return strings.EqualFold(r, relation) })
}

// linksOf returns the links in the Link fields of a response. It omits links with an anchor
// parameter, because these describe other resources.
func linksOf(r *response) []link {
	all, _ := parseLinks(r.get("Link"))
	return slices.DeleteFunc(all, func(l link) bool { return l.param("anchor") != "" })
}

func related(links []link, relation string) []link {
	return slices.DeleteFunc(slices.Clone(links), func(l link) bool { return !l.is(relation) })
}

// parseLinks parses a list of link-values. If a link-value is invalid, parseLinks returns the links
// before it, and false.
func parseLinks(s string) (links []link, ok bool) {
	for {
		s = strings.TrimLeft(s, " \t\r\n,")
		if s == "" {
			return links, true
		}
		end := strings.IndexByte(s, '>')
		if s[0] != '<' || end < 0 {
			return links, false
		}
		l := link{target: strings.TrimSpace(s[1:end])}
		s = s[end+1:]
		for {
			s = strings.TrimLeft(s, " \t\r\n")
			if s == "" || s[0] == ',' {
				break
			}
			if s[0] != ';' {
				return links, false
			}
			var name, value string
			if name, value, s, ok = parseParam(s[1:]); !ok {
				return links, false
			}
			if name != "" {
				l.params = append(l.params, [2]string{strings.ToLower(name), value})
			}
		}
		links = append(links, l)
	}
}

// parseParam parses a parameter. The value is a token or a quoted string.
func parseParam(s string) (name, value, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	end := strings.IndexAny(s, "=;, \t\r\n")
	if end < 0 {
		return s, "", "", true
	}
	name, s = s[:end], strings.TrimLeft(s[end:], " \t\r\n")
	if !strings.HasPrefix(s, "=") {
		return name, "", s, true
	}
	s = strings.TrimLeft(s[1:], " \t\r\n")
	if !strings.HasPrefix(s, `"`) {
		if end = strings.IndexAny(s, ";, \t\r\n"); end < 0 {
			end = len(s)
		}
		return name, s[:end], s[end:], true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return name, b.String(), s[i+1:], true
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return name, "", "", false
}
