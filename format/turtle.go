package format

import (
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/shown"
)

// turtlePrefixes are the namespaces of [writeTurtle]. They match the namespaces in the JSON-LD
// context of schema.org.
const turtlePrefixes = "@prefix dc: <" + dcElements + "> .\n@prefix dcterms: <" + dcTerms + "> .\n" +
	"@prefix schema: <http://schema.org/> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n\n"

// writeTurtle writes the statements of [writeJSONLD] as text/turtle (RDF 1.1 Turtle). Values of the
// metadata that are http or https URIs become IRIs. All other values become literals.
func writeTurtle(w io.Writer, a *nomen.Answer) error {
	o := newWork(a)
	t := &turtle{}
	t.b.WriteString(turtlePrefixes)
	if o.ID == "" {
		t.b.WriteString("[]")
	} else {
		t.b.WriteString(iri(o.ID))
	}
	t.b.WriteString(" a schema:" + o.Type)
	t.identifiers(o)
	t.metadata(o)
	for _, m := range o.Encoding {
		t.say("schema:encoding", "[ a schema:"+m.Type+" ; schema:contentUrl "+iri(m.URL)+about(m.Format, m.Language, m.Description)+" ]")
	}
	others := t.related(o)
	t.text("schema:creativeWorkStatus", o.Status, "")
	t.text("dcterms:provenance", o.Reason, "")
	t.text("schema:dateModified", o.Modified, "^^xsd:dateTime")
	t.text("schema:version", o.Version, "")
	t.b.WriteString(" .\n" + others)
	_, err := io.WriteString(w, t.b.String())
	return err
}

// A turtle writes statements about one subject.
type turtle struct{ b strings.Builder }

func (t *turtle) say(property, object string) {
	t.b.WriteString(" ;\n  " + property + " " + object)
}

func (t *turtle) text(property, value, kind string) {
	if value != "" {
		t.say(property, literal(value)+kind)
	}
}

func (t *turtle) identifiers(o ldWork) {
	for _, v := range o.Identifier {
		switch v := v.(type) {
		case string:
			t.say("schema:identifier", literal(v))
		case ldProperty:
			t.say("schema:identifier", fmt.Sprintf("[ a schema:%s ; schema:name %s ; schema:value %t ]", v.Type, literal(v.Name), v.Value))
		}
	}
}

// metadata writes the elements of Dublin Core, and their equivalents in schema.org.
func (t *turtle) metadata(o ldWork) {
	for i, values := range o.fields() {
		for _, v := range *values {
			t.say("dc:"+dublinCore[i], node(v))
		}
	}
	for _, field := range []struct {
		property string
		values   ldText
	}{
		{"name", o.Name},
		{"description", o.Description},
		{"creator", o.Creator},
		{"contributor", o.Contributor},
		{"publisher", o.Publisher},
		{"datePublished", o.Published},
		{"inLanguage", o.Language},
		{"keywords", o.Keywords},
		{"sameAs", o.SameAs},
	} {
		for _, v := range field.values {
			t.say("schema:"+field.property, node(v))
		}
	}
}

// related writes the links to other resources, and returns the statements about these resources.
func (t *turtle) related(o ldWork) (others string) {
	for _, links := range []struct {
		property string
		to       ldMany[ldReference]
	}{{"schema:license", o.License}, {"schema:subjectOf", o.SubjectOf}, {"dcterms:relation", o.Related}, {"dcterms:isReplacedBy", o.Replaced}} {
		for _, to := range links.to {
			t.say(links.property, iri(to.ID))
			if said := about(to.Format, to.Language, to.Description); said != "" {
				others += iri(to.ID) + strings.TrimPrefix(said, " ;") + " .\n"
			}
		}
	}
	return others
}

// about returns the properties of a resource, such as its media type.
func about(mediaType, language, description string) (said string) {
	for _, field := range []struct{ property, value string }{
		{"encodingFormat", mediaType}, {"inLanguage", language}, {"description", description},
	} {
		if field.value != "" {
			said += " ; schema:" + field.property + " " + literal(field.value)
		}
	}
	return said
}

// node returns an IRI if s is an http, https or urn URI, and otherwise a literal.
func node(s string) string {
	if isWeb(s) || strings.HasPrefix(s, "urn:") && isAbsolute(s) {
		return iri(s)
	}
	return literal(s)
}

// iri returns a URI as IRIREF. A URI contains no characters that need escapes in an IRIREF.
func iri(s string) string { return "<" + s + ">" }

// literal returns a string as STRING_LITERAL_QUOTE.
func literal(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case shown.Odd(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
