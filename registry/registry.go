package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/nomen-project/nomen/urn"
)

// maxSize bounds the file of a site's own entries, in bytes.
const maxSize = 16 << 20

// Registries are the entries of the documents and those that a site adds. The methods may be
// called concurrently; [Registries.With] returns a new value. Use [Standard] to get one: the
// zero value has only namespaces and schemes.
type Registries struct {
	namespaces urn.Namespaces
	own        []urn.Namespace // the namespaces that the site added
	schemeIDs  urn.SchemeIDs
	keywords   urn.Keywords
	services   urn.Services
}

// Standard returns the registries of the documents and of IANA.
func Standard() Registries {
	return Registries{
		namespaces: urn.IANANamespaces(), schemeIDs: urn.SchemeIDs1995(),
		keywords: urn.Keywords2012(), services: urn.Services2012(),
	}
}

// With returns the registries with the entries in text added. An added entry replaces an entry
// with the same name. Text is a JSON object with any of the members "namespaces", "scheme_ids",
// "keywords" and "services", each an array of entries in the format "json". If an entry is
// invalid, none is added and the error names it; the error about invalid JSON has the byte
// offset. With reads at most 16 MiB.
func (r Registries) With(text io.Reader) (Registries, error) {
	var own struct {
		Namespaces []urn.Namespace `json:"namespaces"`
		SchemeIDs  []urn.SchemeID  `json:"scheme_ids"`
		Keywords   []urn.Keyword   `json:"keywords"`
		Services   []urn.Service   `json:"services"`
	}
	d := json.NewDecoder(io.LimitReader(text, maxSize))
	d.DisallowUnknownFields()
	if err := d.Decode(&own); err != nil {
		at := d.InputOffset()
		var bad *json.SyntaxError
		if errors.As(err, &bad) {
			at = max(bad.Offset-1, 0) // bad.Offset is the offset after the invalid byte
		}
		return r, fmt.Errorf("offset %d: %w", at, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, fmt.Errorf("offset %d: more than one object, or too long", d.InputOffset())
	}
	namespaces, err1 := r.namespaces.With(own.Namespaces...)
	schemeIDs, err2 := r.schemeIDs.With(own.SchemeIDs...)
	keywords, err3 := r.keywords.With(own.Keywords...)
	services, err4 := r.services.With(own.Services...)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return r, err
	}
	return Registries{namespaces, own.Namespaces, schemeIDs, keywords, services}, nil
}

// Inspector returns an inspector of URNs that knows the entries.
func (r Registries) Inspector() urn.Inspector {
	return urn.Inspector{Namespaces: r.namespaces, SchemeIDs: r.schemeIDs, Keywords: r.keywords, Services: r.services}
}

// Tables returns every registry as a table.
func (r Registries) Tables() []Table {
	return []Table{r.Namespaces(), r.Schemes(), r.Services(), r.Keywords(), r.SchemeIDs()}
}

// Index returns a table of tables. It is for all formats except HTML; for HTML, use
// [WriteIndexHTML].
func Index(tables []Table) Table {
	index := Table{Name: "registries", Entry: "registry", Title: "Registries", Columns: []string{"name", "title", "reference"}}
	for _, t := range tables {
		index.Entries = append(index.Entries, Entry{
			Name:   t.Name,
			Fields: []Field{field("name", t.Name), field("title", t.Title), field("reference", t.Reference)},
			Value: struct {
				Name      string `json:"name"`
				Title     string `json:"title"`
				Reference string `json:"reference"`
			}{t.Name, t.Title, t.Reference},
		})
	}
	return index
}
