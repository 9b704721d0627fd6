package format

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/shown"
)

const ldContext = `["https://schema.org",{"dc":"` + dcElements + `","dcterms":"` + dcTerms + `"}]`

// writeJSONLD writes an answer as a schema.org CreativeWork in application/ld+json. The @id is the
// name, encoding has the locations of the resource, and sameAs has the other names. Locations that
// do not lead to the resource are in license, subjectOf (for descriptions) or dcterms:relation.
//
// All elements of Dublin Core are written under their own names, and some also under their names in
// schema.org. Elements outside Dublin Core, and data that only resolvers need, are omitted. The
// output can be embedded in a script element of HTML.
func writeJSONLD(w io.Writer, a *nomen.Answer) error {
	b, err := jsonLD(a)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// jsonLD returns the JSON on one line. It escapes characters that could be read as markup, and
// characters that a terminal or browser interprets.
func jsonLD(a *nomen.Answer) ([]byte, error) {
	o := newWork(a)
	b, err := json.Marshal(&o) // escapes "<", ">" and "&"
	if err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	return shown.JSON(b), nil
}

func isResource(l nomen.Location) bool { return nomen.RelationOf(l.Rel) <= nomen.Copied }

func newWork(a *nomen.Answer) ldWork {
	o := ldWork{
		Context: json.RawMessage(ldContext), Type: "CreativeWork", ID: a.Name.Key(),
		SameAs: slices.DeleteFunc(slices.Clone(a.Names), func(s string) bool { return !location.IsHarmless(s) }),
		Status: string(a.Status), Reason: a.Reason, dublinCoreLD: ldElements(a.Metadata),
	}
	o.Name, o.Description, o.Creator, o.Contributor = o.Title, o.DCDescription, o.DCCreator, o.DCContributor
	o.Publisher, o.Published, o.Language, o.Keywords = o.DCPublisher, o.Date, o.DCLanguage, o.Subject
	if a.Spelling != "" {
		o.Identifier = append(o.Identifier, a.Spelling)
	}
	if a.Same || a.Service == nomen.IisI {
		o.Identifier = append(o.Identifier, ldProperty{"PropertyValue", string(nomen.IisI), a.Same})
	}
	if !a.Modified.IsZero() {
		o.Modified = a.Modified.UTC().Format(time.RFC3339Nano)
	}
	if a.Revision > 0 {
		o.Version = strconv.FormatUint(a.Revision, 10)
	}
	for _, l := range a.Locations {
		switch {
		case !location.IsLink(l.URL):
		case !isResource(l):
			o.link(l)
		default:
			o.Encoding = append(o.Encoding, ldMedia{"MediaObject", l.URL, l.Type, tagOrUnknown(l.Lang), shown.Lines(l.Note)})
		}
	}
	for _, s := range keys(a.Successors) {
		o.Replaced = append(o.Replaced, ldReference{ID: s})
	}
	return o
}

// link adds a location that does not lead to the resource, such as a licence.
func (o *ldWork) link(l nomen.Location) {
	to := ldReference{l.URL, l.Type, tagOrUnknown(l.Lang), shown.Lines(l.Note)}
	for _, rel := range locationRelations(l) {
		switch rel {
		case relLicense:
			o.License = append(o.License, to)
		case relDescribedBy:
			o.SubjectOf = append(o.SubjectOf, to)
		default:
			o.Related = append(o.Related, to)
		}
	}
}

// An ldWork is the JSON-LD form of an answer.
type ldWork struct {
	Context json.RawMessage `json:"@context"`
	Type    string          `json:"@type"`
	ID      string          `json:"@id,omitempty"`

	Identifier  []any  `json:"identifier,omitempty"` // the spelling, if it differs from the name; for I=I, an ldProperty
	Name        ldText `json:"name,omitempty"`
	Description ldText `json:"description,omitempty"`
	Creator     ldText `json:"creator,omitempty"`
	Contributor ldText `json:"contributor,omitempty"`
	Publisher   ldText `json:"publisher,omitempty"`
	Published   ldText `json:"datePublished,omitempty"`
	Language    ldText `json:"inLanguage,omitempty"`
	Keywords    ldText `json:"keywords,omitempty"`

	Encoding  ldMany[ldMedia]     `json:"encoding,omitempty"`
	SameAs    ldText              `json:"sameAs,omitempty"`
	License   ldMany[ldReference] `json:"license,omitempty"`
	SubjectOf ldMany[ldReference] `json:"subjectOf,omitempty"`
	Status    string              `json:"creativeWorkStatus,omitempty"`
	Modified  string              `json:"dateModified,omitempty"`
	Version   string              `json:"version,omitempty"`

	dublinCoreLD
	Related  ldMany[ldReference] `json:"dcterms:relation,omitempty"`
	Replaced ldMany[ldReference] `json:"dcterms:isReplacedBy,omitempty"`
	Reason   string              `json:"dcterms:provenance,omitempty"` // why the name was retired
}

// A dublinCoreLD has the elements of RFC 5013.
type dublinCoreLD struct {
	Title         ldText `json:"dc:title,omitempty"`
	DCCreator     ldText `json:"dc:creator,omitempty"`
	DCContributor ldText `json:"dc:contributor,omitempty"`
	DCPublisher   ldText `json:"dc:publisher,omitempty"`
	Date          ldText `json:"dc:date,omitempty"`
	DCDescription ldText `json:"dc:description,omitempty"`
	Subject       ldText `json:"dc:subject,omitempty"`
	DCType        ldText `json:"dc:type,omitempty"`
	Format        ldText `json:"dc:format,omitempty"`
	DCIdentifier  ldText `json:"dc:identifier,omitempty"`
	Source        ldText `json:"dc:source,omitempty"`
	DCLanguage    ldText `json:"dc:language,omitempty"`
	Relation      ldText `json:"dc:relation,omitempty"`
	Coverage      ldText `json:"dc:coverage,omitempty"`
	Rights        ldText `json:"dc:rights,omitempty"`
}

func (d *dublinCoreLD) fields() [len(dublinCore)]*ldText {
	return [...]*ldText{
		&d.Title, &d.DCCreator, &d.DCContributor, &d.DCPublisher, &d.Date, &d.DCDescription, &d.Subject, &d.DCType,
		&d.Format, &d.DCIdentifier, &d.Source, &d.DCLanguage, &d.Relation, &d.Coverage, &d.Rights,
	}
}

func ldElements(m nomen.Metadata) dublinCoreLD {
	var d dublinCoreLD
	for i, field := range d.fields() {
		*field = m[dublinCore[i]]
	}
	return d
}

type ldMedia struct {
	Type        string `json:"@type"`
	URL         string `json:"contentUrl"`
	Format      string `json:"encodingFormat,omitempty"`
	Language    string `json:"inLanguage,omitempty"`
	Description string `json:"description,omitempty"`
}

// An ldReference is a reference to another thing. Other software may write such a reference as a
// string.
type ldReference struct {
	ID          string `json:"@id"`
	Format      string `json:"encodingFormat,omitempty"`
	Language    string `json:"inLanguage,omitempty"`
	Description string `json:"description,omitempty"`
}

// UnmarshalJSON reads a string, or an object with an identifier or a URL.
func (r *ldReference) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &r.ID)
	}
	type plain ldReference // a type without methods, to prevent recursion
	var thing struct {
		plain
		URL string `json:"url"`
	}
	if err := json.Unmarshal(b, &thing); err != nil {
		return err
	}
	*r = ldReference(thing.plain)
	r.ID = cmp.Or(r.ID, thing.URL)
	return nil
}

type ldProperty struct {
	Type  string `json:"@type"`
	Name  string `json:"name"`
	Value bool   `json:"value"`
}

// An ldMany is a list. JSON-LD permits a single value without brackets.
type ldMany[T any] []T

// UnmarshalJSON reads a single value, or an array of at most maxItems values.
func (m *ldMany[T]) UnmarshalJSON(b []byte) error {
	*m = nil
	if b[0] != '[' {
		var one T
		if err := json.Unmarshal(b, &one); err != nil {
			return err
		}
		*m = ldMany[T]{one}
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := expect(d, '['); err != nil {
		return err
	}
	for d.More() {
		if len(*m) == maxItems {
			return fmt.Errorf("more than %d values", maxItems)
		}
		var one T
		if err := d.Decode(&one); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	return nil
}

// An ldText is a list of strings. JSON-LD permits a single string without brackets.
type ldText []string

// UnmarshalJSON reads strings, and the names or identifiers of objects. It ignores other values.
func (t *ldText) UnmarshalJSON(b []byte) error {
	var all ldMany[json.RawMessage]
	if err := all.UnmarshalJSON(b); err != nil {
		return err
	}
	*t = nil
	for _, raw := range all {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			*t = append(*t, s)
			continue
		}
		var thing struct {
			ID    string `json:"@id"`
			Name  string `json:"name"`
			Value string `json:"@value"`
		}
		if json.Unmarshal(raw, &thing) != nil {
			continue
		}
		for _, s := range []string{thing.Value, thing.Name, thing.ID} {
			if s != "" {
				*t = append(*t, s)
				break
			}
		}
	}
	return nil
}

// readJSONLD reads the output of [writeJSONLD], or a similar schema.org work from another source.
// It ignores unknown members.
func readJSONLD(r io.Reader, asked nomen.Service) (*nomen.Answer, error) {
	var o ldWork
	if err := decode(r, TypeJSONLD, &o); err != nil {
		return nil, err
	}
	a := &nomen.Answer{Service: asked, Status: nomen.Status(o.Status), Reason: o.Reason, Names: orNil([]string(o.SameAs))}
	for _, l := range o.Encoding {
		a.Locations = append(a.Locations, nomen.Location{URL: l.URL, Type: l.Format, Lang: l.Language, Note: l.Description})
	}
	for _, links := range []struct {
		rel string
		to  ldMany[ldReference]
	}{{relDescribedBy, o.SubjectOf}, {relLicense, o.License}, {relRelated, o.Related}} {
		for _, to := range links.to {
			if isAbsolute(to.ID) {
				a.Locations = append(a.Locations, nomen.Location{URL: to.ID, Rel: links.rel, Type: to.Format, Lang: to.Language, Note: to.Description})
			}
		}
	}
	if err := setName(a, o.spelling(), o.ID); err != nil {
		return nil, &Error{Format: TypeJSONLD, Rule: "@id", Message: err.Error(), Err: err}
	}
	a.Same = o.same()
	a.Modified, _ = parseTime(o.Modified) // zero if invalid
	a.Revision, _ = strconv.ParseUint(o.Version, 10, 64)
	for _, s := range o.Replaced {
		successors, err := parseNames([]string{s.ID})
		if err != nil {
			return nil, &Error{Format: TypeJSONLD, Rule: "dcterms:isReplacedBy", Message: err.Error(), Err: err}
		}
		a.Successors = append(a.Successors, successors...)
	}
	o.setMetadata(a)
	return a, nil
}

// spelling returns the first identifier that is a string, or otherwise the @id.
func (o *ldWork) spelling() string {
	for _, v := range o.Identifier {
		if s, ok := v.(string); ok {
			return s
		}
	}
	return o.ID
}

// same returns the answer to I=I, which says whether two names identify the same thing. The answer
// is stored among the identifiers.
func (o *ldWork) same() bool {
	return slices.ContainsFunc(o.Identifier, func(v any) bool {
		m, ok := v.(map[string]any)
		return ok && m["name"] == string(nomen.IisI) && m["value"] == true
	})
}

// setMetadata copies the Dublin Core properties of the document to the metadata of the answer. If a
// property is missing, setMetadata uses the corresponding property of schema.org.
func (o *ldWork) setMetadata(a *nomen.Answer) {
	schema := map[string]ldText{
		"title": o.Name, "creator": o.Creator, "contributor": o.Contributor, "publisher": o.Publisher,
		"date": o.Published, "description": o.Description, "subject": o.Keywords, "language": o.Language,
	}
	for i, field := range o.fields() {
		element := dublinCore[i]
		values := *field
		if len(values) == 0 {
			values = schema[element]
		}
		for _, v := range values {
			addMetadata(a, element, v)
		}
	}
}
