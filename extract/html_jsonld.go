package extract

import (
	"bytes"
	"slices"
)

// maxTerms is how many terms of a context are known to have references.
const maxTerms = 1 << 8

// A linkedData finds the references in a block of JSON-LD: identifiers, what the
// context in the block says to be one, the properties of schema.org that are
// locators, and every string that is a URI. A base in a context holds in the
// object that has the context (JSON-LD 1.1, 4.1.3); each is taken to be relative
// to the document, for its bound. Names with prefixes are none that are looked
// for.
type linkedData struct {
	scan   *htmlScan
	bases  []nodeBase // of the objects around, the innermost last
	terms  []string   // of which the values are references
	schema bool       // a context is that of schema.org
}

// A nodeBase is the base of an object that has so many around it.
type nodeBase struct {
	depth int
	scope *scope
}

func (h *htmlScan) jsonLD(content *mapped) {
	d := linkedData{scan: h}
	scanJSON(content, d.take)
}

// scope is that of the references here.
func (d *linkedData) scope() *scope {
	if n := len(d.bases); n > 0 {
		return d.bases[n-1].scope
	}
	return d.scan.scope
}

// take looks at a string.
func (d *linkedData) take(v *mapped, at jsonPlace) {
	for n := len(d.bases); n > 0 && at.least < d.bases[n-1].depth; n-- {
		d.bases = d.bases[:n-1]
	}
	h, where := d.scan, d.scan.where+"script "+at.key
	switch {
	case at.isKey:
		if isWhole(v.text) {
			h.queue.reference(v, 0, len(v.text), d.scope(), where)
		}
	case at.key == "@base":
		d.base(v, at, where)
	case d.isReference(v.text, at):
		h.queue.reference(v, 0, len(v.text), d.scope(), where)
	default:
		d.learn(v.text, at)
		h.textAttribute(v, d.scope(), where)
	}
}

// base takes a base, of the object around the context if it is in one.
func (d *linkedData) base(v *mapped, at jsonPlace, where string) {
	d.scan.queue.reference(v, 0, len(v.text), d.scope(), where)
	u, err := readReference(spelled(v.text))
	if err != nil {
		return
	}
	depth := max(0, slices.Index(at.keys, "@context"))
	d.bases = append(d.bases, nodeBase{depth, d.scan.scope.inner(u)})
}

// learn notes what a context says of the values of others.
func (d *linkedData) learn(text []byte, at jsonPlace) {
	n := len(at.keys)
	d.schema = d.schema || at.key == "@context" && bytes.Contains(text, []byte("schema.org"))
	if at.key == "@type" && string(text) == "@id" && n > 1 && at.keys[n-1] != "" && slices.Contains(at.keys, "@context") && len(d.terms) < maxTerms {
		d.terms = append(d.terms, at.keys[n-1])
	}
}

// isReference reports whether a string is a reference that may be relative.
func (d *linkedData) isReference(text []byte, at jsonPlace) bool {
	if schemeLength(string(text)) > 0 || bytes.HasPrefix(text, []byte("_:")) {
		return false
	}
	switch {
	case at.key == "@id", at.key == "@context", slices.Contains(d.terms, at.key):
		return true
	}
	return d.schema && isSchemaLocator(at.key) && bytes.ContainsAny(text, "/.#?") && !bytes.ContainsAny(text, " \t\r\n{}<>\"")
}

// isSchemaLocator reports whether a property of schema.org has locators as its
// values: those that pages give as relative references.
func isSchemaLocator(key string) bool {
	switch key {
	case "url", "image", "logo", "sameAs", "contentUrl", "embedUrl", "thumbnailUrl", "downloadUrl", "installUrl", "discussionUrl",
		"mainEntityOfPage", "item", "relatedLink", "significantLink", "codeRepository", "photo", "screenshot":
		return true
	}
	return false
}
