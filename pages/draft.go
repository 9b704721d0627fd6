package pages

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// maxRows is the maximum number of locations, and of metadata values, in a form. The package
// net/url rejects a form with more than 10,000 fields.
const maxRows = 500

type draft struct {
	Spelling  string
	Status    string
	Locations []locationRow
	Metadata  []metadataRow
	SameAs    string // one URI per line
	Why       string
	Revision  uint64 // revision at the start of the edit; 0 for a new name
}

type locationRow struct {
	ID string // the IDs of the fields are ID, a hyphen, and the name of the field
	nomen.Location
	Rank, Share string // priority and weight, as entered
}

type metadataRow struct{ ID, Element, Value string }

func newDraft(rec *store.Record) *draft {
	d := &draft{Spelling: rec.Spelling, Status: string(rec.Status), SameAs: joined(rec.SameAs), Revision: rec.Revision}
	for _, l := range rec.Locations {
		d.Locations = append(d.Locations, locationRow{Location: l, Rank: rank(l.Priority), Share: rank(l.Weight)})
	}
	for _, element := range sortedKeys(rec.Metadata) {
		for _, value := range rec.Metadata[element] {
			d.Metadata = append(d.Metadata, metadataRow{Element: element, Value: value})
		}
	}
	d.number()
	return d
}

func rank(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func (d *draft) number() {
	for i := range d.Locations {
		d.Locations[i].ID = fmt.Sprintf("location-%d", i)
	}
	for i := range d.Metadata {
		d.Metadata[i].ID = fmt.Sprintf("metadata-%d", i)
	}
}

func readDraft(f url.Values) (*draft, error) {
	d := &draft{Status: f.Get("status"), SameAs: lines(f.Get("same_as")), Why: lines(f.Get("why"))}
	d.Revision, _ = strconv.ParseUint(f.Get("revision"), 10, 64) // malformed: 0, which leads to a conflict
	locations, err := rows(f, "locations")
	if err != nil {
		return nil, err
	}
	for i := range locations {
		d.Locations = append(d.Locations, readLocation(f, fmt.Sprintf("location-%d-", i)))
	}
	values, err := rows(f, "metadata")
	if err != nil {
		return nil, err
	}
	for i := range values {
		id := fmt.Sprintf("metadata-%d-", i)
		d.Metadata = append(d.Metadata, metadataRow{Element: f.Get(id + "element"), Value: lines(f.Get(id + "value"))})
	}
	d.number()
	return d, nil
}

func rows(f url.Values, list string) (int, error) {
	n, err := strconv.Atoi(f.Get(list))
	if err != nil || n < 0 || n > maxRows {
		return 0, &adminapi.RequestError{Field: list, Message: fmt.Sprintf("must be a number from 0 to %d", maxRows)}
	}
	return n, nil
}

// lines converts the line breaks that browsers send (CR LF) to those of records.
func lines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func readLocation(f url.Values, id string) locationRow {
	get := func(field string) string { return strings.TrimSpace(f.Get(id + field)) }
	index, _ := strconv.Atoi(get("index")) // hidden; 0 if absent
	return locationRow{Rank: get("priority"), Share: get("weight"), Location: nomen.Location{
		URL: get("url"), Type: get("type"), Lang: get("lang"), Rel: get("rel"), Country: get("country"),
		Component: get("component"), Charset: get("charset"), Note: lines(f.Get(id + "note")),
		ValidFrom: get("valid_from"), ValidUntil: get("valid_until"), Down: f.Get(id+"down") != "",
		Index: index, Attributes: get("attributes"),
	}}
}

// empty reports whether the row has no input. It ignores hidden fields.
func (l locationRow) empty() bool {
	l.Index, l.Attributes = 0, ""
	return l.Location == nomen.Location{} && l.Rank == "" && l.Share == ""
}

// do handles a button that adds or removes a row. It returns false for the button that saves the
// record.
func (d *draft) do(button string) bool {
	defer d.number()
	if i, ok := d.removes(button, "remove-location-", len(d.Locations)); ok {
		d.Locations = slices.Delete(d.Locations, i, i+1)
		return true
	}
	if i, ok := d.removes(button, "remove-metadata-", len(d.Metadata)); ok {
		d.Metadata = slices.Delete(d.Metadata, i, i+1)
		return true
	}
	switch button {
	case "add-location":
		if len(d.Locations) < maxRows {
			d.Locations = append(d.Locations, locationRow{})
		}
	case "add-metadata":
		if len(d.Metadata) < maxRows {
			d.Metadata = append(d.Metadata, metadataRow{Element: "title"})
		}
	}
	return button != "save"
}

func (*draft) removes(button, prefix string, n int) (int, bool) {
	text, ok := strings.CutPrefix(button, prefix)
	i, err := strconv.Atoi(text)
	return i, ok && err == nil && 0 <= i && i < n
}

// record returns the record in the draft. It leaves out empty rows. It also returns a problem for
// each invalid number.
func (d *draft) record() (*store.Record, []problem) {
	rec := &store.Record{Spelling: d.Spelling, Status: nomen.Status(d.Status), SameAs: entries(d.SameAs), Metadata: nomen.Metadata{}}
	var faults []problem
	for _, row := range d.Locations {
		if row.empty() {
			continue
		}
		l := row.Location
		for _, n := range []struct {
			id, text string
			into     *int
		}{{"-priority", row.Rank, &l.Priority}, {"-weight", row.Share, &l.Weight}} {
			var err error
			if *n.into, err = strconv.Atoi(n.text); err != nil && n.text != "" {
				faults = append(faults, problem{row.ID + n.id, fmt.Sprintf("%q: must be a number, or empty", n.text)})
			}
		}
		rec.Locations = append(rec.Locations, l)
	}
	for _, row := range d.Metadata {
		if row.Value != "" {
			rec.Metadata[row.Element] = append(rec.Metadata[row.Element], row.Value)
		}
	}
	return rec, faults
}

func entries(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func joined(all []string) string { return strings.Join(all, "\n") }

// fieldID returns the ID of the form field for a field of the record. The parameter is the name of
// the field in an error of the registrar, such as "locations[2].url".
func (d *draft) fieldID(field string) string {
	list, rest, _ := strings.Cut(field, "[")
	index, sub, _ := strings.Cut(rest, "]")
	i, _ := strconv.Atoi(index)
	element, isMetadata := strings.CutPrefix(list, "metadata.")
	switch {
	case list == "locations":
		kept := slices.DeleteFunc(slices.Clone(d.Locations), locationRow.empty)
		if i < len(kept) {
			return kept[i].ID + "-" + strings.TrimPrefix(sub, ".")
		}
	case isMetadata:
		kept := slices.DeleteFunc(slices.Clone(d.Metadata), func(r metadataRow) bool { return r.Element != element || r.Value == "" })
		if i < len(kept) {
			return kept[i].ID + "-value"
		}
	default:
		return list
	}
	return ""
}

type fieldID func(field string) string

// firstField returns the first part of the path of a field, such as "prefixes" for "prefixes[2]".
func firstField(field string) string {
	field, _, _ = strings.Cut(field, "[")
	return field
}

func onlyField(id string) fieldID { return func(string) string { return id } }

// faultOf converts an error to an entry of the error summary. It returns false unless the error is
// about the input, or about too many jobs.
func (c *request) faultOf(err error, id fieldID) (problem, bool) {
	if err == nil {
		return problem{}, false
	}
	if errors.As(err, new(*adminapi.JobsError)) {
		return problem{"", c.texts.text("upload.busy")}, true
	}
	p := adminapi.NewProblem(err)
	if p.Status != http.StatusUnprocessableEntity && p.Status != http.StatusBadRequest && p.Status != http.StatusRequestEntityTooLarge {
		return problem{}, false
	}
	text := p.Detail
	if p.Offset > 0 {
		text = fmt.Sprintf("%s (offset %d)", text, p.Offset)
	}
	return problem{id(p.Field), text}, true
}

// editFields are the fields of a record that a draft contains.
const editFields = registrar.FieldStatus | registrar.FieldLocations | registrar.FieldMetadata | registrar.FieldSameAs
