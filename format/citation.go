package format

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/uri"
)

// A citation has the data that reference managers need to cite a resource.
type citation struct {
	kind      workKind
	id        string // the name
	url       string // the page about the name; "" if unknown
	doi       string
	number    string // ISBN or ISSN
	numbering string // "ISBN", "ISSN" or ""

	titles, publishers, abstracts, keywords, languages []string

	authors, contributors []person
	issued                date
}

// A workKind is a kind of work, such as a book, with the term for it in several vocabularies.
type workKind struct {
	schema string // https://schema.org/
	csl    string // CSL 1.0.2, appendix III
	ris    string // TY
	bibtex string // entry type
}

// unknownKind is the kind of works without a known type.
var unknownKind = workKind{"CreativeWork", "document", "GEN", "misc"}

// workKinds maps Dublin Core types to kinds. It includes the DCMI Type Vocabulary, the types of
// schema.org, and the most common terms of COAR and CSL. The keys are in lower case, without spaces
// and hyphens.
var workKinds = map[string]workKind{
	"article":             {"Article", "article", "GEN", "misc"},
	"articlejournal":      {"ScholarlyArticle", "article-journal", "JOUR", "article"},
	"journalarticle":      {"ScholarlyArticle", "article-journal", "JOUR", "article"},
	"scholarlyarticle":    {"ScholarlyArticle", "article-journal", "JOUR", "article"},
	"researcharticle":     {"ScholarlyArticle", "article-journal", "JOUR", "article"},
	"book":                {"Book", "book", "BOOK", "book"},
	"bookpart":            {"Chapter", "chapter", "CHAP", "incollection"},
	"chapter":             {"Chapter", "chapter", "CHAP", "incollection"},
	"collection":          {"Collection", "collection", "GEN", "misc"},
	"conferencepaper":     {"ScholarlyArticle", "paper-conference", "CONF", "inproceedings"},
	"dataset":             {"Dataset", "dataset", "DATA", "misc"},
	"event":               {"Event", "event", "GEN", "misc"},
	"image":               {"ImageObject", "graphic", "FIGURE", "misc"},
	"stillimage":          {"ImageObject", "graphic", "FIGURE", "misc"},
	"imageobject":         {"ImageObject", "graphic", "FIGURE", "misc"},
	"photograph":          {"Photograph", "graphic", "FIGURE", "misc"},
	"interactiveresource": {"CreativeWork", "webpage", "ELEC", "misc"},
	"map":                 {"Map", "map", "MAP", "misc"},
	"movingimage":         {"VideoObject", "motion_picture", "VIDEO", "misc"},
	"videoobject":         {"VideoObject", "motion_picture", "VIDEO", "misc"},
	"report":              {"Report", "report", "RPRT", "techreport"},
	"technicalreport":     {"Report", "report", "RPRT", "techreport"},
	"software":            {"SoftwareSourceCode", "software", "COMP", "misc"},
	"softwaresourcecode":  {"SoftwareSourceCode", "software", "COMP", "misc"},
	"sound":               {"AudioObject", "song", "SOUND", "misc"},
	"audioobject":         {"AudioObject", "song", "SOUND", "misc"},
	"standard":            {"CreativeWork", "standard", "STAND", "misc"},
	"text":                {"CreativeWork", "document", "GEN", "misc"},
	"thesis":              {"Thesis", "thesis", "THES", "phdthesis"},
	"doctoralthesis":      {"Thesis", "thesis", "THES", "phdthesis"},
	"masterthesis":        {"Thesis", "thesis", "THES", "mastersthesis"},
	"webpage":             {"WebPage", "webpage", "ELEC", "misc"},
	"website":             {"WebSite", "webpage", "ELEC", "misc"},
}

// kindOfWork returns the kind for the first type that is known. A type may be a URI that ends in a
// known term.
func kindOfWork(types []string) workKind {
	for _, s := range types {
		if u, err := uri.Parse(s); err == nil {
			s = u.String()
			s = s[strings.LastIndexAny(s, "/#:")+1:]
		}
		if k, ok := workKinds[strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(s))]; ok {
			return k
		}
	}
	return unknownKind
}

// A person has a family name and perhaps given names. If the name cannot be divided, or is that of
// an organisation, the field literal has the whole name.
type person struct{ family, given, literal string }

// personOf parses "Family, Given". It does not divide a name without a comma, with several commas,
// or with a legal form after the comma.
func personOf(s string) person {
	s = shown.Inline(s)
	family, given, ok := strings.Cut(s, ",")
	family, given = strings.TrimSpace(family), strings.TrimSpace(given)
	if !ok || family == "" || given == "" || strings.Contains(given, ",") || isLegalForm(given) || isAbsolute(s) {
		return person{literal: s}
	}
	return person{family: family, given: given}
}

// String returns the name with the family name first.
func (p person) String() string { return cmp.Or(p.literal, p.family+", "+p.given) }

func isLegalForm(s string) bool {
	switch strings.ToLower(strings.TrimSuffix(s, ".")) {
	case "inc", "incorporated", "ltd", "limited", "llc", "llp", "corp", "plc", "co", "gmbh", "ag", "ab", "as", "oy", "bv", "nv", "s.a", "sa", "srl", "s.p.a", "spa":
		return true
	}
	return false
}

// persons returns the persons in values. If there are both names and http or https URIs, the URIs
// are assumed to identify the persons with these names, and are ignored.
func persons(values []string) []person {
	named := slices.ContainsFunc(values, func(s string) bool { return !isWeb(s) })
	var all []person
	for _, s := range values {
		if strings.TrimSpace(s) != "" && (!named || !isWeb(s)) {
			all = append(all, personOf(s))
		}
	}
	return all
}

func isWeb(s string) bool {
	u, err := uri.Parse(s)
	scheme, _ := u.Scheme()
	return err == nil && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

type date struct{ year, month, day int }

// dateOf parses a date of the form YYYY, YYYY-MM or YYYY-MM-DD (W3CDTF; RFC 3339). It ignores a
// time after the date.
func dateOf(s string) (d date) {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "T")
	parts := strings.Split(s, "-")
	if len(parts) > 3 || len(parts[0]) != 4 {
		return date{}
	}
	into := [...]*int{&d.year, &d.month, &d.day}
	most := [...]int{9999, 12, 31}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil || n == 0 || int(n) > most[i] || i > 0 && len(part) != 2 {
			return date{}
		}
		*into[i] = int(n)
	}
	return d
}

// parts returns the year, month and day, as far as they are known.
func (d date) parts() []int {
	all := []int{d.year, d.month, d.day}
	return all[:slices.Index(append(all, 0), 0)]
}

func (d date) ris() (year, day string) {
	if d.year == 0 {
		return "", ""
	}
	year = fmt.Sprintf("%04d", d.year)
	day = year + "/"
	for _, n := range []int{d.month, d.day} {
		if n > 0 {
			day += fmt.Sprintf("%02d", n)
		}
		day += "/"
	}
	return year, day
}

// cite returns the citation of an answer. The URL of the citation is the first of these that
// exists: the URL of the page about the name, the name itself if it is a URL, the first location of
// the resource.
func cite(a *nomen.Answer, p Page) citation {
	c := citeMetadata(a.Metadata)
	c.id, c.url = a.Name.Key(), p.nameURL(a.Name.Key())
	if c.url == "" && location.IsLink(c.id) {
		c.url = c.id
	}
	for _, l := range a.Locations {
		if c.url == "" && isResource(l) && location.IsLink(l.URL) {
			c.url = l.URL
		}
	}
	for _, s := range append([]string{c.id}, a.Names...) {
		c.identify(s)
	}
	return c
}

func citeMetadata(m nomen.Metadata) citation {
	c := citation{
		kind:   kindOfWork(m["type"]),
		titles: nonEmpty(m["title"]), publishers: nonEmpty(m["publisher"]), abstracts: nonEmpty(m["description"]),
		keywords: nonEmpty(m["subject"]), languages: nonEmpty(m["language"]),
		authors: persons(m["creator"]), contributors: persons(m["contributor"]),
	}
	for _, s := range m["date"] {
		if c.issued = dateOf(s); c.issued.year > 0 {
			break
		}
	}
	return c
}

// Reference returns a line for citing a resource in a text. The line consists of the creators,
// year, title, publisher and URL, as far as they are known. If the date does not begin with a year,
// the line has the whole date instead. If the title is unknown, Reference returns "".
func Reference(m nomen.Metadata, url string) string {
	c := citeMetadata(m)
	title := first(c.titles)
	if title == "" {
		return ""
	}
	names := make([]string, len(c.authors))
	for i, p := range c.authors {
		names[i] = p.String()
	}
	who := strings.Join(names, "; ")
	year := first(nonEmpty(m["date"]))
	if c.issued.year > 0 {
		year = fmt.Sprintf("%04d", c.issued.year)
	}
	if year != "" {
		who = strings.TrimSpace(who + " (" + year + ")")
	}
	var parts []string
	for _, part := range []string{who, title, first(c.publishers)} {
		if part != "" {
			parts = append(parts, strings.TrimSuffix(part, ".")+".")
		}
	}
	return strings.Join(append(parts, shown.Inline(url)), " ")
}

// identify sets the DOI or number of the citation if s is a name or URL of a DOI, ISBN or ISSN.
func (c *citation) identify(s string) {
	cut := func(prefix string) (string, bool) {
		if len(s) <= len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) || !isAbsolute(s) {
			return "", false
		}
		return s[len(prefix):], true
	}
	for _, prefix := range []string{"doi:", "https://doi.org/", "http://dx.doi.org/", "urn:doi:"} {
		if rest, ok := cut(prefix); ok && c.doi == "" {
			if plain, err := uri.Unescape(rest); err == nil && strings.IndexFunc(plain, shown.Odd) < 0 && strings.HasPrefix(plain, "10.") {
				c.doi = shown.Inline(plain)
			}
		}
	}
	for _, kind := range []string{"isbn", "issn"} {
		if rest, ok := cut("urn:" + kind + ":"); ok && c.number == "" {
			c.numbering, c.number = strings.ToUpper(kind), strings.ToUpper(rest)
		}
	}
}

func nonEmpty(values []string) []string {
	var all []string
	for _, s := range values {
		if s = strings.TrimSpace(shown.Inline(s)); s != "" {
			all = append(all, s)
		}
	}
	return all
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// A cslItem is an item of the CSL-JSON schema, 1.0.2.
type cslItem struct {
	ID          string    `json:"id"`
	Type        string    `json:"type"`
	Title       string    `json:"title,omitempty"`
	Author      []cslName `json:"author,omitempty"`
	Contributor []cslName `json:"contributor,omitempty"`
	Issued      *cslDate  `json:"issued,omitempty"`
	Publisher   string    `json:"publisher,omitempty"`
	Abstract    string    `json:"abstract,omitempty"`
	Keyword     string    `json:"keyword,omitempty"`
	Language    string    `json:"language,omitempty"`
	DOI         string    `json:"DOI,omitempty"`
	ISBN        string    `json:"ISBN,omitempty"`
	ISSN        string    `json:"ISSN,omitempty"`
	URL         string    `json:"URL,omitempty"`
}

type cslName struct {
	Family  string `json:"family,omitempty"`
	Given   string `json:"given,omitempty"`
	Literal string `json:"literal,omitempty"`
}

type cslDate struct {
	Parts [][]int `json:"date-parts"`
}

func cslNames(all []person) []cslName {
	var names []cslName
	for _, p := range all {
		names = append(names, cslName{p.family, p.given, p.literal})
	}
	return names
}

// writeCSL writes the metadata as an item of CSL-JSON, application/vnd.citationstyles.csl+json
// (citationstyles.org, CSL 1.0.2).
func writeCSL(w io.Writer, a *nomen.Answer, p Page) error {
	c := cite(a, p)
	item := cslItem{
		ID: orDefault(c.id, nameless), Type: c.kind.csl, Title: first(c.titles), Author: cslNames(c.authors), Contributor: cslNames(c.contributors),
		Publisher: strings.Join(c.publishers, "; "), Abstract: strings.Join(c.abstracts, " "), Keyword: strings.Join(c.keywords, ", "),
		Language: first(c.languages), DOI: c.doi, URL: c.url,
	}
	if parts := c.issued.parts(); len(parts) > 0 {
		item.Issued = &cslDate{[][]int{parts}}
	}
	switch c.numbering {
	case "ISBN":
		item.ISBN = c.number
	case "ISSN":
		item.ISSN = c.number
	}
	return encode(w, item)
}

// writeBibTeX writes the metadata as a BibTeX entry, application/x-bibtex, in UTF-8. It escapes the
// special characters of TeX, so that braces are balanced. BibTeX styles read the fields url and doi
// verbatim, so writeBibTeX percent-encodes special characters in these fields.
func writeBibTeX(w io.Writer, a *nomen.Answer, p Page) error {
	c := cite(a, p)
	var b strings.Builder
	b.WriteString("@" + c.kind.bibtex + "{" + bibKey(orDefault(c.id, "unnamed")))
	field := func(name, value string) {
		if value != "" {
			b.WriteString(",\n  " + name + " = {" + value + "}")
		}
	}
	authors := make([]string, len(c.authors))
	for i, p := range c.authors {
		authors[i] = p.bibTeX()
	}
	field("author", strings.Join(authors, " and "))
	field("title", escapeTeX(first(c.titles)))
	publisher := "publisher"
	switch c.kind.bibtex {
	case "techreport":
		publisher = "institution"
	case "phdthesis", "mastersthesis":
		publisher = "school"
	}
	field(publisher, escapeTeX(strings.Join(c.publishers, "; ")))
	if c.issued.year > 0 {
		field("year", fmt.Sprintf("%04d", c.issued.year))
	}
	if c.issued.month > 0 {
		b.WriteString(",\n  month = " + strings.ToLower(monthNames[c.issued.month-1]))
	}
	if c.numbering != "" {
		field(strings.ToLower(c.numbering), escapeTeX(c.number))
	}
	field("doi", verbatimTeX(c.doi))
	field("url", verbatimTeX(c.url))
	field("keywords", escapeTeX(strings.Join(c.keywords, ", ")))
	field("abstract", escapeTeX(strings.Join(c.abstracts, " ")))
	field("language", escapeTeX(first(c.languages)))
	b.WriteString("\n}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// bibTeX returns the name in the syntax of BibTeX. A literal name is in braces, which prevent
// BibTeX from dividing it.
func (p person) bibTeX() string {
	if p.literal != "" {
		return "{" + escapeTeX(p.literal) + "}"
	}
	return bibWord(p.family) + ", " + bibWord(p.given)
}

var monthNames = [...]string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

func bibKey(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (ascii.IsAlnum(byte(r)) || strings.ContainsRune(":._/+-", r)) {
			return r
		}
		return '_'
	}, s)
}

// bibWord escapes a part of a name. If the part contains the word "and", at which BibTeX would
// divide the list of names, bibWord puts the part in braces.
func bibWord(s string) string {
	escaped := escapeTeX(s)
	if slices.ContainsFunc(strings.Fields(s), func(word string) bool { return strings.EqualFold(word, "and") }) {
		return "{" + escaped + "}"
	}
	return escaped
}

var texEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\textbraceleft{}`, "}", `\textbraceright{}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`,
	"#", `\#`, "$", `\$`, "%", `\%`, "&", `\&`, "_", `\_`,
)

// escapeTeX escapes the special characters of TeX. It replaces braces by commands, because BibTeX
// counts braces even after a backslash.
func escapeTeX(s string) string { return texEscapes.Replace(s) }

func verbatimTeX(s string) string {
	return strings.NewReplacer("{", "%7B", "}", "%7D", `\`, "%5C", " ", "%20").Replace(s)
}

// writeRIS writes the metadata as application/x-research-info-systems, in UTF-8 with CRLF line
// endings. Line breaks in values become spaces.
func writeRIS(w io.Writer, a *nomen.Answer, p Page) error {
	c := cite(a, p)
	var b strings.Builder
	tag := func(name string, values ...string) {
		for _, s := range values {
			if s != "" {
				b.WriteString(name + "  - " + s + crlf)
			}
		}
	}
	tag("TY", c.kind.ris)
	tag("ID", c.id)
	tag("TI", first(c.titles))
	for _, p := range c.authors {
		tag("AU", p.String())
	}
	if year, day := c.issued.ris(); year != "" {
		tag("PY", year)
		tag("DA", day)
	}
	tag("PB", c.publishers...)
	tag("AB", strings.Join(c.abstracts, " "))
	tag("KW", c.keywords...)
	tag("LA", c.languages...)
	tag("DO", c.doi)
	tag("SN", c.number)
	tag("UR", c.url)
	b.WriteString("ER  - " + crlf)
	_, err := io.WriteString(w, b.String())
	return err
}
