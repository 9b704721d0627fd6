package format

import (
	"time"

	"github.com/nomen-project/nomen"
)

// The vocabularies of Dublin Core.
const (
	dcElements = "http://purl.org/dc/elements/1.1/"
	dcTerms    = "http://purl.org/dc/terms/"
)

// dublinCore writes the metadata as meta elements, as DCMI defines it ("Expressing Dublin Core
// metadata using HTML/XHTML meta and link elements", 2008). The name is written as an identifier.
// Elements outside Dublin Core are omitted. Titles are assumed to be in the language of the
// resource, if this language is known. All other values have an unknown language.
func (p *page) dublinCore(a *nomen.Answer) {
	if a.Name.IsZero() && len(a.Metadata) == 0 {
		return
	}
	p.print("<link rel=\"schema.DC\" href=\"" + dcElements + "\">\n<link rel=\"schema.DCTERMS\" href=\"" + dcTerms + "\">\n")
	if !a.Name.IsZero() {
		p.meta("DC.identifier", "", a.Name.Key())
	}
	for _, element := range dublinCore {
		language := ""
		if element == "title" {
			language = languageOf(a)
		}
		for _, value := range a.Metadata[element] {
			p.meta("DC."+element, language, value)
		}
	}
	if !a.Modified.IsZero() {
		p.meta("DCTERMS.modified", "", a.Modified.UTC().Format(time.RFC3339Nano))
	}
	for _, s := range keys(a.Successors) {
		p.meta("DCTERMS.isReplacedBy", "", s)
	}
}

func (p *page) meta(name, language, content string) {
	p.print("<meta name=\""+name+"\" lang=\"%s\" content=\"%s\">\n", language, content)
}

// languageOf returns the language of the resource. It returns "" if the language is unknown or the
// resource has several languages.
func languageOf(a *nomen.Answer) string {
	if all := a.Metadata["language"]; len(all) == 1 {
		return tagOrUnknown(all[0])
	}
	return ""
}
