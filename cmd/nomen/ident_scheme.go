package main

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

// schemeParts returns the parts of u that its scheme defines, without decoding them. If the scheme
// decodes a part, and the part contains escapes, schemeParts also returns the decoded value under a
// name that ends in "_decoded". It omits decoded values that are not text.
func schemeParts(u uri.URI) nameParts {
	parts := extra.Catalogue().Parts(u)
	var all nameParts
	for _, p := range parts {
		all = append(all, namespace.Part{Name: p.Label(), Value: p.Value})
	}
	seen := map[string]bool{}
	for _, p := range parts {
		label := p.Label()
		if !seen[label] && p.Escaped {
			all = append(all, decodedParts(u.Dialect(), parts, label)...)
		}
		seen[label] = true
	}
	return all
}

func (r *components) beyond(parts nameParts) nameParts {
	for _, p := range parts {
		if !r.repeats(p) {
			return parts
		}
	}
	return nil
}

func (r *components) repeats(p namespace.Part) bool {
	c, ok := map[string]*string{
		"user": r.Userinfo, "host": r.Host, "port": r.Port,
		"path": r.Path, "query": r.Query, "fragment": r.Fragment,
	}[p.Name]
	return ok && c != nil && *c == p.Value
}

// decodedParts returns the decoded values of all parts with a name. The result is nil if none of
// these parts contains escapes, or if a decoded value is not text.
func decodedParts(d uri.Dialect, parts []scheme.Part, name string) nameParts {
	var decoded nameParts
	escapes := false
	for _, p := range parts {
		if !p.HasLabel(name) {
			continue
		}
		text, ok := p.Text(d)
		if !ok {
			return nil
		}
		escapes = escapes || strings.IndexByte(p.Value, '%') >= 0
		decoded = append(decoded, namespace.Part{Name: name + "_decoded", Value: text})
	}
	if !escapes {
		return nil
	}
	return decoded
}

// scheme adds the findings about violations of scheme rules. It converts their offsets to offsets
// in the input.
func (v *verdict) scheme(id identifier) {
	for _, f := range extra.Catalogue().Check(id.uri) {
		if f.Code == scheme.CodeCredentials { // more specific than FindingUserinfo
			v.Findings = slices.DeleteFunc(v.Findings, func(f finding) bool { return f.Code == uri.FindingUserinfo })
		}
		v.Findings = append(v.Findings, finding{f.Code, f.Severity.String(), id.offsetIn(v.Input, f.Offset), f.Message, f.Rule})
	}
}
