package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/nomen-project/nomen/urn"
)

// maxSize is the maximum size in bytes of the file with a site's own entries.
const maxSize = 16 << 20

// Registries are the standard registries together with the entries that a site has added. They are
// immutable and safe for concurrent use. The zero value has only namespaces and schemes; use
// [Standard] for complete registries.
type Registries struct {
	namespaces urn.Namespaces
	own        []urn.Namespace // namespaces of the site
	schemeIDs  urn.SchemeIDs
	keywords   urn.Keywords
	services   urn.Services
}

// Standard returns the registries with the entries of IANA and of the drafts.
func Standard() Registries {
	return Registries{
		namespaces: urn.IANANamespaces(), schemeIDs: urn.SchemeIDs1995(),
		keywords: urn.Keywords2012(), services: urn.Services2012(),
	}
}

// With returns a copy of the registries with the entries in text added. An added entry replaces an
// entry with the same name. The text is a JSON object that may have the members "namespaces",
// "scheme_ids", "keywords" and "services", each with an array of entries in the format "json". If
// an entry is invalid, With adds nothing and returns an error that names the entry. If the JSON is
// invalid, the error has the byte offset. With reads at most 16 MiB.
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

// Inspector returns an inspector of URNs that uses the registries.
func (r Registries) Inspector() urn.Inspector {
	return urn.Inspector{Namespaces: r.namespaces, SchemeIDs: r.schemeIDs, Keywords: r.keywords, Services: r.services}
}

// Tables returns all registries as tables.
func (r Registries) Tables() []Table {
	return []Table{r.Namespaces(), r.Schemes(), r.Services(), r.Keywords(), r.SchemeIDs()}
}

// Index returns a table whose entries are the given tables. For HTML, use [WriteIndexHTML] instead.
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
