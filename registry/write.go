package registry

import (
	"bytes"
	_ "embed" // for the page
	"encoding/json"
	"encoding/xml"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/site"
)

// A Format is a format in which tables and entries can be written.
type Format struct {
	Name      string // also the suffix in paths, such as "html"
	MediaType string // media type with parameters

	// Table writes a list of all entries, and Entry writes all fields of an entry.
	Table func(t Table, w io.Writer) error
	Entry func(t Table, w io.Writer, e Entry) error
}

// Formats returns all formats. HTML is the first. It is the generic form of a registry, and its
// pages link to all other formats (draft of 2012, section 9.1). The caller may modify the slice.
func Formats() []Format {
	return []Format{
		{"html", "text/html; charset=utf-8", Table.writeHTML, Table.writeEntryHTML},
		{"txt", "text/plain; charset=utf-8", Table.WriteText, Table.WriteEntryText},
		{"xml", "application/xml", Table.writeXML, Table.writeEntryXML},
		{"json", "application/json", Table.writeJSON, Table.writeEntryJSON},
	}
}

// ByName returns the format with the given Name.
func ByName(name string) (Format, bool) {
	all := Formats()
	i := slices.IndexFunc(all, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return all[i], true
}

// WriteText writes a line for each entry, in columns.
func (t Table) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range t.Entries {
		cells := t.Cells(e)
		for i := range cells {
			cells[i] = shown.Line(cells[i])
		}
		if _, err := io.WriteString(tw, strings.Join(cells, "\t")+"\n"); err != nil {
			return err
		}
	}
	return tw.Flush()
}

// WriteEntryText writes a line for each value of an entry, after the label of its field.
func (t Table) WriteEntryText(w io.Writer, e Entry) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range e.Shown() {
		for _, v := range f.orElse() {
			if _, err := io.WriteString(tw, f.Label()+"\t"+shown.Line(v)+"\n"); err != nil {
				return err
			}
		}
	}
	return tw.Flush()
}

func (f Field) orElse() []string {
	if len(f.Values) == 0 {
		return []string{f.Missing}
	}
	return f.Values
}

// writeJSON writes an object with the name, title, reference, note and entries.
func (t Table) writeJSON(w io.Writer) error {
	entries := make([]any, len(t.Entries))
	for i, e := range t.Entries {
		entries[i] = e.Value
	}
	return encode(w, struct {
		Registry  string `json:"registry"`
		Title     string `json:"title"`
		Reference string `json:"reference"`
		Note      string `json:"note,omitempty"`
		Entries   []any  `json:"entries"`
	}{t.Name, t.Title, t.Reference, t.Note, entries})
}

func (t Table) writeEntryJSON(w io.Writer, e Entry) error { return encode(w, e.Value) }

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// writeXML writes a registry element with a record for each entry, similar to the registries of
// IANA. An empty element has an attribute "missing" with the reason.
func (t Table) writeXML(w io.Writer) error { return t.writeXMLOf(w, t.Entries...) }

func (t Table) writeEntryXML(w io.Writer, e Entry) error { return t.writeXMLOf(w, e) }

func (t Table) writeXMLOf(w io.Writer, entries ...Entry) error {
	x := &xmlWriter{e: xml.NewEncoder(w)}
	x.e.Indent("", " ")
	x.open("registry", "id", t.Name)
	x.text("title", t.Title)
	x.text("xref", t.Reference)
	if t.Note != "" {
		x.text("note", t.Note)
	}
	for _, e := range entries {
		x.open("record")
		for _, f := range e.Shown() {
			for _, v := range f.Values {
				x.text(f.Name, v)
			}
			if len(f.Values) == 0 {
				x.open(f.Name, "missing", f.Missing)
				x.end(f.Name)
			}
		}
		x.end("record")
	}
	x.end("registry")
	if x.err == nil {
		x.err = x.e.Close()
	}
	if x.err != nil {
		return x.err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type xmlWriter struct {
	e   *xml.Encoder
	err error
}

func (x *xmlWriter) token(t xml.Token) {
	if x.err == nil {
		x.err = x.e.EncodeToken(t)
	}
}

func (x *xmlWriter) open(name string, attributes ...string) {
	start := xml.StartElement{Name: xml.Name{Local: name}}
	for pair := range slices.Chunk(attributes, 2) {
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: pair[0]}, Value: pair[1]})
	}
	x.token(start)
}

func (x *xmlWriter) end(name string) { x.token(xml.EndElement{Name: xml.Name{Local: name}}) }

func (x *xmlWriter) text(name, value string) {
	x.open(name)
	x.token(xml.CharData(value))
	x.end(name)
}

//go:embed page.html
var pageText string

// pages are the templates of a list, an entry and the index.
var pages = sync.OnceValues(func() (*template.Template, error) {
	return site.Parse("registry", pageText, template.FuncMap{"label": label, "shown": shown.Line, "path": url.PathEscape})
})

// writeHTML writes a page with a list of all entries. The page links to other formats by the path
// NAME.FORMAT, and to entries by the path NAME/ENTRY.
func (t Table) writeHTML(w io.Writer) error { return t.WriteHTML(w, nil) }

// writeEntryHTML writes the page about an entry, whose path is NAME/ENTRY. The page links to the
// list.
func (t Table) writeEntryHTML(w io.Writer, e Entry) error { return t.WriteEntryHTML(w, e, nil) }

// WriteHTML writes the list of entries as a page of a site. If p is nil, the page has the default
// settings.
func (t Table) WriteHTML(w io.Writer, p *site.Page) error {
	return execute(w, "table", view{Page: p.OrDefault(""), Table: t})
}

// WriteEntryHTML writes the page about an entry as a page of a site. If p is nil, the page has the
// default settings.
func (t Table) WriteEntryHTML(w io.Writer, e Entry, p *site.Page) error {
	return execute(w, "entry", view{Page: p.OrDefault(""), Table: t, Of: e})
}

// WriteIndexHTML writes a page that links to the tables.
func WriteIndexHTML(w io.Writer, tables []Table, p *site.Page) error {
	return execute(w, "index", view{Page: p.OrDefault(""), Tables: tables})
}

// A view is the data of a page.
type view struct {
	*site.Page
	Table
	Of     Entry
	Tables []Table
}

// Formats returns the formats other than HTML.
func (view) Formats() []Format { return Formats()[1:] }

// execute renders a page. It writes nothing if rendering fails.
func execute(w io.Writer, page string, data view) error {
	t, err := pages()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, page, data); err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}
