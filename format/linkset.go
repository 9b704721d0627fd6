package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
)

// The relations of links that do not lead to locations.
const (
	itemRelation      = "item"                                 // for locations without a relation
	sameRelation      = "http://www.w3.org/2002/07/owl#sameAs" // to other names
	successorRelation = "successor-version"                    // RFC 5829
)

// A link is a link from the name to a target (RFC 8288, section 2).
type link struct {
	rel   string
	href  string
	kind  string   // media type
	langs []string // languages of the target
	title title
}

type title struct{ value, language string }

// linksOf returns links to the locations of an answer, to its other names and to its successors.
// For a location with several relations, it returns a link for each relation. It omits targets that
// are not harmless URIs; see [location.IsHarmless]. It also omits invalid language tags, invalid
// media types, and the parameters of media types.
func linksOf(a *nomen.Answer) []link {
	var all []link
	for _, l := range a.Locations {
		if !location.IsHarmless(l.URL) {
			continue
		}
		k := link{href: l.URL, kind: mediaTypeOf(l.Type), title: title{value: shown.Lines(l.Note)}}
		if isLanguageTag(l.Lang) {
			k.langs = []string{l.Lang}
			k.title.language = l.Lang
		}
		for _, k.rel = range locationRelations(l) {
			all = append(all, k)
		}
	}
	for _, s := range a.Names {
		if location.IsHarmless(s) {
			all = append(all, link{rel: sameRelation, href: s})
		}
	}
	for _, s := range a.Successors {
		all = append(all, link{rel: successorRelation, href: s.Key()})
	}
	return all
}

// relations returns the valid relation types in rel. Registered types are in lower case.
func relations(rel string) []string {
	var all []string
	for r := range strings.FieldsSeq(rel) {
		if l := strings.ToLower(r); isRegistered(l) {
			all = append(all, l)
		} else if isAbsolute(r) {
			all = append(all, r)
		}
		if len(all) == maxRelations {
			break
		}
	}
	return all
}

// maxRelations is the maximum number of relations of a location or a link-value.
const maxRelations = 16

func locationRelations(l nomen.Location) []string {
	if all := relations(l.Rel); all != nil {
		return all
	}
	return []string{itemRelation}
}

// isRegistered reports whether r has the form of a registered relation type, LOALPHA *( LOALPHA /
// DIGIT / "." / "-" ) (RFC 8288, section 3.3). It returns false for "anchor", which would be read
// as the link context.
func isRegistered(r string) bool {
	if r == "" || r == "anchor" || !ascii.IsLetter(r[0]) {
		return false
	}
	for _, c := range []byte(r) {
		if (!ascii.IsAlnum(c) || 'A' <= c && c <= 'Z') && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// answerOf converts links to an answer. The relation of a link determines whether its target is
// another name, a successor or a location. The target of a successor-version must be a valid name,
// and is otherwise a location.
func answerOf(anchor string, all []link, asked nomen.Service) *nomen.Answer {
	a := &nomen.Answer{Service: asked}
	if n, err := name.Parse(anchor); err == nil {
		a.Name = n
	}
	for _, k := range all {
		if !isAbsolute(k.href) {
			continue
		}
		switch k.rel {
		case sameRelation:
			a.Names = append(a.Names, k.href)
			continue
		case successorRelation:
			if n, err := name.Parse(k.href); err == nil {
				a.Successors = append(a.Successors, n)
				continue
			}
		}
		a.Locations = append(a.Locations, k.location())
	}
	return a
}

func (k link) location() nomen.Location {
	l := nomen.Location{URL: k.href, Type: k.kind, Rel: k.rel, Note: k.title.value, Lang: k.title.language}
	if l.Rel == itemRelation {
		l.Rel = ""
	}
	if len(k.langs) > 0 {
		l.Lang = k.langs[0]
	}
	return l
}

// writeLinksetJSON writes the locations, other names and successors as application/linkset+json
// (RFC 9264, section 4.2). The title of a link is the note of the location.
func writeLinksetJSON(w io.Writer, a *nomen.Answer, p Page) error {
	var b bytes.Buffer
	b.WriteString(`{"linkset":[`)
	for i, c := range contextsOf(a, p) {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := c.encode(&b); err != nil {
			return err
		}
	}
	b.WriteString("]}\n")
	_, err := w.Write(b.Bytes())
	return err
}

func (c linkContext) encode(b *bytes.Buffer) error {
	b.WriteByte('{')
	comma := ""
	if c.anchor != "" {
		b.WriteString(`"anchor":` + quoteJSON(c.anchor))
		comma = ","
	}
	for _, group := range groups(c.links) {
		b.WriteString(comma + quoteJSON(group[0].rel) + ":[")
		for i, k := range group {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := k.encode(b); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		comma = ","
	}
	b.WriteByte('}')
	return nil
}

// quoteJSON returns an ASCII text as a JSON string.
func quoteJSON(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func groups(all []link) [][]link {
	var grouped [][]link
	index := map[string]int{}
	for _, k := range all {
		i, ok := index[k.rel]
		if !ok {
			i = len(grouped)
			index[k.rel] = i
			grouped = append(grouped, nil)
		}
		grouped[i] = append(grouped[i], k)
	}
	return grouped
}

// A target is a link target object (RFC 9264, section 4.2.3).
type target struct {
	Href      string       `json:"href"`
	Type      string       `json:"type,omitempty"`
	Hreflang  []string     `json:"hreflang,omitempty"`
	Title     string       `json:"title,omitempty"`
	TitleStar []titleValue `json:"title*,omitempty"`
}

type titleValue struct {
	Value    string `json:"value"`
	Language string `json:"language,omitempty"`
}

// encode writes a link target object.
func (k link) encode(b *bytes.Buffer) error {
	t := target{Href: k.href, Type: k.kind, Hreflang: k.langs}
	if k.title.language == "" {
		t.Title = k.title.value
	} else if k.title.value != "" {
		t.TitleStar = []titleValue{{k.title.value, k.title.language}}
	}
	if err := encode(b, t); err != nil {
		return err
	}
	b.Truncate(b.Len() - len("\n"))
	return nil
}

func (t target) link(rel string) link {
	k := link{rel: rel, href: t.Href, kind: t.Type, langs: t.Hreflang, title: title{value: t.Title}}
	if len(t.TitleStar) > 0 {
		k.title = title{t.TitleStar[0].Value, t.TitleStar[0].Language}
	}
	return k
}

// readLinksetJSON reads application/linkset+json. The name in the answer is the first link context.
// readLinksetJSON ignores links with a different context, because these are not about the name. It
// also ignores links to relative references.
func readLinksetJSON(r io.Reader, asked nomen.Service) (*nomen.Answer, error) {
	var o struct {
		Linkset *contexts `json:"linkset"`
	}
	if err := decode(r, TypeLinksetJSON, &o); err != nil {
		return nil, err
	}
	if o.Linkset == nil {
		return nil, &Error{Format: TypeLinksetJSON, Rule: "linkset", Message: "missing member linkset"}
	}
	return answerOf(o.Linkset.anchor, o.Linkset.links, asked), nil
}

// A contexts reads a linkset and keeps the links of its first context.
type contexts struct {
	anchor string
	begun  bool
	links  []link
	count  int // of links in all contexts
}

// UnmarshalJSON reads an array of link context objects. It preserves the order of the members,
// which a map would not.
func (c *contexts) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if err := expect(d, '['); err != nil {
		return err
	}
	for d.More() {
		if err := c.context(d); err != nil {
			return err
		}
	}
	return nil
}

func (c *contexts) context(d *json.Decoder) error {
	if err := expect(d, '{'); err != nil {
		return err
	}
	anchor := ""
	var all []link
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		if rel, _ := t.(string); rel != "anchor" {
			all, err = c.targets(d, rel, all)
		} else {
			err = d.Decode(&anchor)
		}
		if err != nil {
			return err
		}
	}
	if !c.begun {
		c.anchor, c.begun = anchor, true
	}
	if anchor == c.anchor {
		c.links = append(c.links, all...)
	}
	return expect(d, '}')
}

// targets reads an array of link target objects. It ignores values that are not arrays, which are
// extensions (RFC 9264, section 4.2.5).
func (c *contexts) targets(d *json.Decoder, rel string, all []link) ([]link, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, err
	}
	if raw[0] != '[' {
		return all, nil
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	if err := expect(in, '['); err != nil {
		return nil, err
	}
	for in.More() {
		if c.count++; c.count > maxItems {
			return nil, fmt.Errorf("more than %d links", maxItems)
		}
		var t target
		if err := in.Decode(&t); err != nil {
			return nil, err
		}
		all = append(all, t.link(rel))
	}
	return all, nil
}

func expect(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err == nil && t != want {
		return fmt.Errorf("unexpected %v, expected %q", t, want.String())
	}
	return err
}
