// Package ezid imports batch downloads from EZID in the formats CSV, XML and ANVL.
//
// Package internal/ezid defines how EZID elements become fields of a record. The record also keeps
// every element unchanged, with three exceptions: _target and _status are fields of the record, and
// _shadowedby can be derived from the DOI. Times in ISO 8601 form are converted to seconds.
//
// Each identifier counts as one directive. If the identifier is invalid, the directive is refused.
// If an element is invalid, the directive is refused as well, but a record with the other elements
// is imported.
//
// Prefer XML or ANVL if identifiers have the elements erc, dc, datacite or crossref. EZID replaces
// line breaks by spaces in a CSV file, so these elements cannot be parsed.
package ezid

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Formats returns the formats of batch downloads.
func Formats() []from.Format {
	return []from.Format{
		{Name: "ezid-csv", What: "batch download of EZID as CSV", Convert: readCSV},
		{Name: "ezid-xml", What: "batch download of EZID as XML", Convert: readXML},
		{Name: "ezid-anvl", What: "batch download of EZID as ANVL", Convert: readANVL},
	}
}

// An entry is an identifier in a file, together with its elements.
type entry struct {
	line     int
	start    int // column in which the entry begins
	id       string
	elements ezid.Elements
	faults   []string // what could not be read
	first    string   // label of the first fault

	place func(label string) (line, column int) // of an element, or of the identifier; nil for the beginning
}

func (e *entry) fail(label, reason string) {
	e.first = cmp.Or(e.first, label)
	e.faults = append(e.faults, label+": "+reason)
}

func (e *entry) placeOf(label string) (line, column int) {
	if e.place != nil {
		if line, column := e.place(label); line > 0 {
			return line, column
		}
	}
	return e.line, e.start
}

// An importer converts entries to records and writes them to an output.
type importer struct {
	out  *from.Output
	base string
}

func newImporter(in *from.Input, out *from.Output) *importer {
	return &importer{out, strings.TrimSuffix(cmp.Or(in.Base, ezid.Home), "/")}
}

func (im *importer) add(e *entry) error {
	n, ok := ezid.ParseID(e.id)
	if !ok {
		line, column := e.placeOf(ezid.IDColumn)
		im.out.RefuseAt(line, column, e.id, "invalid identifier")
		return nil
	}
	rec := &store.Record{Name: n, Spelling: spelling(n, e.id), Status: nomen.Active}
	mapped := mappedOf(e.elements)
	for _, label := range slices.Sorted(maps.Keys(e.elements)) {
		im.set(rec, e, label)
	}
	for field, value := range mapped {
		if rec.Metadata == nil {
			rec.Metadata = nomen.Metadata{}
		}
		if len(rec.Metadata[field]) == 0 {
			rec.Metadata[field] = []string{value}
		}
	}
	if err := im.out.RecordAt(e.line, e.start, rec); err != nil {
		return err
	}
	if len(e.faults) > 0 {
		line, column := e.placeOf(e.first)
		im.out.RefuseAt(line, column, e.id, strings.Join(e.faults, "; "))
		return nil
	}
	im.out.Handled(1)
	return nil
}

func (im *importer) set(rec *store.Record, e *entry, label string) {
	var bad *ezid.FieldError
	if err := ezid.Apply(rec, ezid.Elements{label: e.elements[label]}, ezid.Rules{Base: im.base, New: true, Import: true}); errors.As(err, &bad) {
		e.fail(bad.Label, bad.Reason)
	}
}

func spelling(n name.Name, id string) string {
	if given, err := name.Parse(id); err == nil && given == n {
		return id
	}
	return n.Key()
}

func mappedOf(e ezid.Elements) map[string]string {
	all := map[string]string{}
	for _, field := range []string{"Creator", "Title", "Publisher", "Date", "Type"} {
		label := "_mapped" + field
		if e[label] != "" && !strings.HasPrefix(e[label], "(:") { // a code such as (:unav) means that the value is unknown
			all[strings.ToLower(field)] = e[label]
		}
		delete(e, label)
	}
	return all
}

// maxEntry is the maximum length of an entry in a file, in bytes.
const maxEntry = 16 << 20

var errTooLong = errors.New("an identifier with its elements must not be longer than 16 MiB")

// A bounded reader fails if an entry is too long.
type bounded struct {
	io.Reader
	left int
}

func (b *bounded) reset() { b.left = maxEntry }

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.Reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
