package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// urnComponents contains the parts of a URN that its dialect defines.
type urnComponents struct {
	NID         *string     `json:"nid,omitempty"`
	NSS         *string     `json:"nss,omitempty"`
	R           *string     `json:"r,omitempty"`
	Q           *string     `json:"q,omitempty"`
	F           *string     `json:"f,omitempty"` // in the draft of 2012 the fragment
	Directives  []directive `json:"directives,omitempty"`
	SchemeID    *string     `json:"scheme_id,omitempty"`
	AuthorityID *string     `json:"authority_id,omitempty"`
	ElementID   *string     `json:"element_id,omitempty"`
}

type directive struct {
	Keyword string `json:"keyword"`
	Value   string `json:"value"`
	Ignored bool   `json:"ignored,omitempty"`
}

func urnParts(n urn.URN) *urnComponents {
	switch n.Dialect() {
	case urn.Draft1995:
		return &urnComponents{
			SchemeID:    defined(n.SchemeID(), true),
			AuthorityID: defined(n.AuthorityID(), true),
			ElementID:   defined(n.ElementID(), true),
		}
	case urn.RFC2141, urn.Draft2012, urn.RFC8141:
		return &urnComponents{
			NID: defined(n.NID(), true), NSS: defined(n.NSS(), true),
			R: defined(n.RComponent()), Q: defined(n.QComponent()), F: defined(n.FComponent()),
			Directives: directivesOf(n),
		}
	}
	return nil
}

func directivesOf(n urn.URN) []directive {
	var all []directive
	for _, d := range n.Directives(urn.Keywords2012(), acceptsDirective) {
		all = append(all, directive(d))
	}
	return all
}

// acceptsDirective reports whether a directive in a URN is valid. The value of the keyword "s" must
// be a known service. The namespace defines the values of all other keywords, so any value is
// accepted for them.
func acceptsDirective(keyword, value string) bool {
	if keyword != "s" {
		return true
	}
	_, ok := urn.Services2012().Lookup(value)
	return ok
}

// rows passes each part of the URN to the function row.
func (n *urnComponents) rows(row func(label string, value *string)) {
	if n == nil {
		return
	}
	row("nid", n.NID)
	row("nss", n.NSS)
	row("r-component", n.R)
	row("q-component", n.Q)
	for _, d := range n.Directives {
		text := d.Keyword + "=" + d.Value
		if d.Ignored {
			text += "  (ignored)"
		}
		row("directive", &text)
	}
	row("f-component", n.F)
	row("scheme id", n.SchemeID)
	row("authority id", n.AuthorityID)
	row("element id", n.ElementID)
}

// namespaceOf returns the namespace of a URN. It returns false for a URN in the dialect of 1995,
// because its SchemeID identifies how names are assigned, but does not define a syntax.
func namespaceOf(n urn.URN) (namespace.Namespace, bool) {
	if n.Dialect() == urn.Draft1995 {
		return namespace.Namespace{}, false
	}
	return namespace.Lookup(n.NID())
}

func canonicalName(n urn.URN) string {
	if n.Dialect() == urn.Draft1995 {
		return n.Canonical()
	}
	return namespace.Canonical(n)
}

// nameParts are the parts of a name that its namespace or scheme defines. The JSON form is an
// object. If a part occurs more than once, its value in the object is an array.
type nameParts []namespace.Part

// partsOf returns the parts of a URN. The result is nil if the URN breaks a rule of its namespace.
func partsOf(n urn.URN) nameParts {
	ns, ok := namespaceOf(n)
	if !ok || ns.Check(n.NSS()) != nil {
		return nil
	}
	return ns.Parts(n.NSS())
}

// MarshalJSON writes an object with the parts in the order in which they occur in the name.
func (p nameParts) MarshalJSON() ([]byte, error) {
	values := map[string][]string{}
	for _, part := range p {
		values[part.Name] = append(values[part.Name], part.Value)
	}
	var b bytes.Buffer
	before := byte('{')
	for _, part := range p {
		all, ok := values[part.Name]
		if !ok {
			continue // already written with the first part of this name
		}
		delete(values, part.Name)
		b.WriteByte(before)
		before = ','
		if err := writeMember(&b, part.Name, all); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeMember writes a member of a JSON object. If there are several values, it writes an array.
func writeMember(b *bytes.Buffer, name string, values []string) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(name); err != nil {
		return err
	}
	b.WriteByte(':')
	if len(values) == 1 {
		return e.Encode(values[0])
	}
	return e.Encode(values)
}

func (k *checker) checkURN(v *verdict) {
	id, err := k.read(v.Input)
	v.judge(err)
	for _, f := range k.inspector.Inspect(k.urn, v.Input) {
		if f.Code != uri.FindingInvalid { // already added by judge
			v.add(f)
		}
	}
	if id.urn.IsValid() {
		v.namespace(id.urn)
		k.spelling(v, id)
	}
	v.suggest(k.urn)
}

// spelling checks a URN by the rules of URIs and adds the findings. It omits findings that the
// checks of URNs report as well.
func (k *checker) spelling(v *verdict, id identifier) {
	for _, f := range k.uri.Inspect(id.urn.String(), k.rules...) {
		switch f.Code {
		case uri.FindingInvalid, uri.FindingNUL, uri.FindingCharset,
			uri.FindingNeedlessEscape, uri.FindingLowerEscape, uri.FindingUpperScheme:
			// The checks of URNs report these findings.
		default:
			f.Offset = id.offsetIn(v.Input, f.Offset)
			v.add(f)
		}
	}
}

func (v *verdict) namespace(n urn.URN) {
	if n.Dialect() == urn.Draft1995 {
		return
	}
	for _, f := range namespace.Check(n) {
		v.add(f)
	}
}

type suggestion struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// suggest adds suggestions of names that the user may have meant. It does nothing in the dialect of
// 1995, because the suggestions do not support brackets and white space.
func (v *verdict) suggest(d urn.Dialect) {
	if d == urn.Draft1995 {
		return
	}
	for _, m := range name.Suggest(v.Input) {
		if _, err := d.Parse(m.Name); err == nil || !strings.HasPrefix(strings.ToLower(m.Name), urnPrefix) {
			v.Suggestions = append(v.Suggestions, suggestion(m))
		}
	}
}

// mayMeanName reports whether an identifier that is not a URN may be a mistyped URN. This is so if
// the identifier is malformed, has no scheme, contains a URN, or has a scheme that may be a
// namespace identifier.
func mayMeanName(id identifier, valid bool) bool {
	scheme, ok := id.uri.Scheme()
	if !valid || !ok {
		return true
	}
	if _, ok := id.uri.Authority(); ok {
		rest := strings.ToLower(id.uri.String())
		return strings.Contains(rest, "/"+urnPrefix) || strings.Contains(rest, "urn%3a")
	}
	return !slices.Contains(schemesToo, strings.ToLower(scheme))
}

// schemesToo are the namespace identifiers that are also URI schemes. An input such as
// "doi:10.1000/1" is therefore a URI, and not a URN without "urn:".
var schemesToo = []string{"dns", "doi", "dvb", "ed2k", "example", "oid", "pwid", "service", "xmpp"}
