package pages

import (
	"encoding/json"
	"html"
	"maps"
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/value"
)

// Limits of the parts of a record that a page shows. They limit the size of the page for every
// record. Lengths are in bytes. For several values together, they are lengths of the HTML.
const (
	maxShown       = 1000   // length of a value
	maxShownRest   = 100    // length of a text of a location other than the URL
	maxShownAll    = 8000   // length of all values of a list
	maxShownLong   = 2000   // length of all values of a list on the page of a long name
	longPath       = 1000   // length of a path from which a name counts as long, because the page contains the path many times
	maxShownTable  = 40_000 // length of a table of differences
	maxShownPrefix = 150    // length of a prefix of a role
	maxShownScope  = 1000   // length of all prefixes of a role
	valueMarkup    = 100
	rowMarkup      = 900 // approximate length of the markup of a location
)

func part(text string) string { return cut(text, maxShown) }

// isWhole reports whether part returns the text unchanged. For a result of part, it reports whether
// the text was not truncated.
func isWhole(text string) bool { return len(text) < maxShown }

// cut returns the beginning of a text, with at least limit bytes. It returns a shorter text
// unchanged.
func cut(text string, limit int) string {
	if len(text) < limit {
		return text
	}
	return ascii.Head(text, limit)
}

func htmlSize(texts ...string) (size int) {
	for _, text := range texts {
		size += len(html.EscapeString(shown.Inline(text)))
	}
	return size
}

// A cutting truncates lists that are too long. It counts the values that it shortens or leaves out.
type cutting struct {
	most    int // maximum length of a list
	omitted int
}

func newCutting(spelling string) *cutting {
	if len(namePath(spelling)) > longPath {
		return &cutting{most: maxShownLong}
	}
	return &cutting{most: maxShownAll}
}

func (c *cutting) record(rec *store.Record) *store.Record {
	if rec == nil {
		return nil
	}
	few := *rec
	few.Reason = c.text(rec.Reason)
	few.Locations = c.locations(rec.Locations)
	few.Metadata = c.metadata(rec.Metadata)
	few.SameAs = c.list(rec.SameAs, c.most)
	few.Successors = c.list(rec.Successors, c.most)
	few.Values = c.values(rec)
	return &few
}

// values returns the first typed values of a record, shortened. They include the data of views. A
// record without typed values has only locations.
func (c *cutting) values(rec *store.Record) []nomen.Value {
	if len(rec.Values) == 0 {
		return nil
	}
	all := value.Of(rec)
	few := make([]nomen.Value, len(all))
	for i, v := range all {
		v.Type, v.Data = cut(v.Type, maxShownRest), part(v.Data)
		few[i] = v
	}
	few = first(c, few, c.most, func(v nomen.Value) int { return 3*valueMarkup + htmlSize(v.Type, v.Data, v.Format, v.Timestamp) })
	for i, v := range few {
		if v != all[i] {
			c.omitted++
		}
	}
	return few
}

func (c *cutting) locations(all []nomen.Location) []nomen.Location {
	few := make([]nomen.Location, len(all))
	for i, l := range all {
		few[i] = cutLocation(l)
	}
	few = first(c, few, 2*c.most, func(l nomen.Location) int {
		return rowMarkup + 3*len(l.URL) + htmlSize(l.URL, l.Type, l.Lang, l.Rel, l.Country, l.Component, l.Charset, l.Note)
	})
	for i, l := range few {
		if l != all[i] {
			c.omitted++
		}
	}
	return few
}

func cutLocation(l nomen.Location) nomen.Location {
	l.URL = part(l.URL)
	for _, text := range []*string{&l.Type, &l.Lang, &l.Rel, &l.Country, &l.Component, &l.Charset, &l.Note, &l.Attributes} {
		*text = cut(*text, maxShownRest)
	}
	return l
}

func (c *cutting) text(text string) string {
	if !isWhole(text) {
		c.omitted++
	}
	return part(text)
}

func (c *cutting) list(all []string, most int) []string {
	few := make([]string, len(all))
	for i, text := range all {
		few[i] = part(text)
	}
	few = first(c, few, most, func(text string) int { return valueMarkup + htmlSize(text) })
	for i := range few {
		if !isWhole(all[i]) {
			c.omitted++
		}
	}
	return few
}

func (c *cutting) metadata(all nomen.Metadata) nomen.Metadata {
	few, left := nomen.Metadata{}, c.most
	for _, element := range slices.Sorted(maps.Keys(all)) {
		values := c.list(all[element], left)
		if len(values) == 0 {
			continue
		}
		few[element] = values
		if !isWhole(element) {
			c.omitted++
		}
		left -= htmlSize(part(element)) + len(values)*valueMarkup + htmlSize(values...)
	}
	return few
}

// first returns the first values of a list, up to a total size of limit, and counts the other
// values as omitted.
func first[T any](c *cutting, all []T, limit int, size func(T) int) []T {
	for i, value := range all {
		if limit -= size(value); limit < 0 {
			c.omitted += len(all) - i
			return all[:i]
		}
	}
	return all
}

type fewDifferences struct {
	Shown []adminapi.Difference
	More  int
}

func newFewDifferences(all []adminapi.Difference) fewDifferences {
	var c cutting
	few := slices.Clone(all)
	for i, d := range few {
		few[i] = adminapi.Difference{Field: cut(d.Field, maxShownRest), Before: c.text(d.Before), After: c.text(d.After)}
	}
	c.omitted = 0
	few = first(&c, few, maxShownTable, differenceSize)
	return fewDifferences{few, c.omitted}
}

func differenceSize(d adminapi.Difference) int {
	return 2*valueMarkup + htmlSize(d.Field, d.Before, d.After)
}

type fewPrefixes struct {
	Shown []string
	More  int
}

func newFewPrefixes(all []string) fewPrefixes {
	few := make([]string, len(all))
	for i, p := range all {
		few[i] = cut(p, maxShownPrefix)
	}
	var c cutting
	few = first(&c, few, maxShownScope, func(p string) int { return htmlSize(p) })
	return fewPrefixes{few, c.omitted}
}

type fewVersions struct {
	Shown []threeVersions
	More  int
}

func newFewVersions(all []threeVersions) fewVersions {
	var c cutting
	few := slices.Clone(all)
	for i, v := range few {
		few[i] = threeVersions{cut(v.Field, maxShownRest), part(v.Before), part(v.Now), part(v.Yours)}
	}
	few = first(&c, few, maxShownTable, func(v threeVersions) int {
		return 3*valueMarkup + htmlSize(v.Field, v.Before, v.Now, v.Yours)
	})
	return fewVersions{few, c.omitted}
}

// recordFile sends a record as a file. It is the record at the time in the query parameter "at", or
// the current record.
func (c *request) recordFile() error {
	n, err := c.subject()
	if err != nil {
		return err
	}
	at := time.Time{}
	if text := c.r.Form.Get("at"); text != "" {
		if at, err = adminapi.ParseTime(text); err != nil {
			return &adminapi.RequestError{Field: "at", Message: err.Error()}
		}
	}
	return c.sendRecord(n, at)
}

func (c *request) sendRecord(n name.Name, at time.Time) error {
	rec, err := c.api.GetAt(c.ctx(), n, at)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(rec, "", " ")
	if err == nil {
		c.download("record.json", "application/json", append(b, '\n'))
	}
	return err
}
