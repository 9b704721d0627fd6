package extract

import (
	"bytes"
	"slices"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

// maxTerms is the maximum number of terms that are recorded as references.
const maxTerms = 1 << 8

// A linkedData finds the references in a block of JSON-LD. These are identifiers, values of terms
// that a context declares as identifiers, values of the schema.org properties for locators, and
// strings that are themselves URIs. Names with prefixes are ignored.
//
// A base in a context applies to the object that has the context (JSON-LD 1.1, 4.1.3). The base is
// resolved against the base of the document, even if an enclosing object has a base. This limits
// the work.
type linkedData struct {
	scan   *htmlScan
	bases  []nodeBase // of the enclosing objects, innermost last
	terms  []string   // terms whose values are references
	schema bool       // the context of schema.org is in use
}

type nodeBase struct {
	depth int
	scope *scope
}

func (h *htmlScan) jsonLD(content *source.Mapped) {
	d := linkedData{scan: h}
	scanJSON(content, d.take)
}

func (d *linkedData) scope() *scope {
	if n := len(d.bases); n > 0 {
		return d.bases[n-1].scope
	}
	return d.scan.scope
}

// take processes a string. The string can set a base or declare a term. Otherwise take adds the
// references in the string to the findings.
func (d *linkedData) take(v *source.Mapped, at jsonPlace) {
	for n := len(d.bases); n > 0 && at.least < d.bases[n-1].depth; n-- {
		d.bases = d.bases[:n-1]
	}
	h, where := d.scan, d.scan.where+"script "+at.key
	switch {
	case at.isKey:
		if isWhole(v.Text) {
			h.queue.reference(v, 0, len(v.Text), d.scope(), where)
		}
	case at.key == "@base":
		d.base(v, at, where)
	case d.isReference(v.Text, at):
		h.queue.reference(v, 0, len(v.Text), d.scope(), where)
	default:
		d.learn(v.Text, at)
		h.textAttribute(v, d.scope(), where)
	}
}

func (d *linkedData) base(v *source.Mapped, at jsonPlace, where string) {
	d.scan.queue.reference(v, 0, len(v.Text), d.scope(), where)
	u, err := readReference(spelled(v.Text))
	if err != nil {
		return
	}
	depth := max(0, slices.Index(at.keys, "@context"))
	d.bases = append(d.bases, nodeBase{depth, d.scan.scope.inner(u)})
}

func (d *linkedData) learn(text []byte, at jsonPlace) {
	n := len(at.keys)
	d.schema = d.schema || at.key == "@context" && bytes.Contains(text, []byte("schema.org"))
	if at.key == "@type" && string(text) == "@id" && n > 1 && at.keys[n-1] != "" && slices.Contains(at.keys, "@context") && len(d.terms) < maxTerms {
		d.terms = append(d.terms, at.keys[n-1])
	}
}

func (d *linkedData) isReference(text []byte, at jsonPlace) bool {
	if ascii.SchemeLength(string(text)) > 0 || bytes.HasPrefix(text, []byte("_:")) {
		return false
	}
	switch {
	case at.key == "@id", at.key == "@context", slices.Contains(d.terms, at.key):
		return true
	}
	return d.schema && isSchemaLocator(at.key) && bytes.ContainsAny(text, "/.#?") && !bytes.ContainsAny(text, " \t\r\n{}<>\"")
}

// isSchemaLocator reports whether the values of a schema.org property are locators. It knows only
// the properties for which web pages use relative references.
func isSchemaLocator(key string) bool {
	switch key {
	case "url", "image", "logo", "sameAs", "contentUrl", "embedUrl", "thumbnailUrl", "downloadUrl", "installUrl", "discussionUrl",
		"mainEntityOfPage", "item", "relatedLink", "significantLink", "codeRepository", "photo", "screenshot":
		return true
	}
	return false
}
