package from

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Format is a format of files of another program.
type Format struct {
	Name string // for --format
	What string // what the files are, in a few words

	// Match reports whether a file of a directory has this format. The path is relative to the
	// directory, with slashes. If Match is nil, only files can be imported, not directories.
	Match func(path string) bool

	// Convert reads a file and calls the methods of the output in the order of the file. The error
	// says why the rest of the file cannot be read. Convert must use memory that does not depend on
	// the length of the file, except for rules of authorities.
	Convert func(ctx context.Context, in *Input, out *Output) error

	// Complete means that a record has all values of each of its fields. So the import replaces the
	// fields of a record that exists, and does not merge them.
	Complete bool
}

// An Input is a file to convert.
type Input struct {
	io.Reader             // the content, decompressed
	At        io.ReaderAt // the content for random access; nil if the input is a stream or compressed
	Size      int64       // number of bytes of At

	File string // for messages
	Path string // path below the given directory, with slashes; the base name if a file was given
	Base string // the value of --base; "" if it was not given

	// Current returns the stored record of a name, or nil if the store has none. Before that, it
	// imports all records in the output. Because the records after the call need another import,
	// call Current for many names before you write the next record. In a dry run, the records of
	// the file are not stored.
	Current func(ctx context.Context, n name.Name) (*store.Record, error)
}

// A Refusal is a directive that was not imported, or only in part.
type Refusal struct {
	Line   int    `json:"line"`             // line or number of the entry, from 1
	Column int    `json:"column,omitempty"` // in bytes, from 1; 0 if the reason is about the whole entry
	Text   string `json:"text"`             // shortened
	Reason string `json:"reason"`
}

// A Report has the results for the directives of a file.
type Report struct {
	File       string    `json:"file"`
	Directives int64     `json:"directives"`
	Handled    int64     `json:"handled"`
	Refused    []Refusal `json:"refused"`           // the first 100,000
	Omitted    int64     `json:"omitted,omitempty"` // refusals that are not in Refused
}

const (
	maxRefusals = 100_000 // maximum number of refusals in a report
	maxText     = 200     // maximum length of the text of a refusal, in bytes
)

// An AuthorityChange is a change of an authority, or a new one.
type AuthorityChange struct {
	Line   int
	Prefix name.Prefix
	Change func(*store.Authority) // changes the existing authority, or a new one that has only the prefix
}

// An Output receives what a file contains. Its methods are safe for concurrent use.
type Output struct {
	OnRefusal func(Refusal) // called for each refusal; may be nil

	mu          sync.Mutex
	records     io.Writer
	lines       int     // written to records
	places      []place // of the last records, by the line of the output
	report      Report
	authorities []AuthorityChange
}

// NewOutput returns an output for a file. It writes the records as JSON Lines.
func NewOutput(file string, records io.Writer) *Output {
	return &Output{records: records, report: Report{File: file, Refused: []Refusal{}}}
}

// Record writes a record that begins in a line of the file. See [Output.RecordAt].
func (o *Output) Record(line int, r *store.Record) error { return o.RecordAt(line, 0, r) }

// RecordAt writes a record. The import changes only the fields that have values. Lists of locations and
// values that are empty but not nil remove all locations or values. The record begins
// in this line and column of the file; the column is 0 if it is unknown. Lines must not decrease. The output
// has the record on the same line if no other record is there; [Output.Place] has the place in the file.
// For Status the default of an import is active.
func (o *Output) RecordAt(line, column int, r *store.Record) error {
	text, err := json.Marshal(fieldsOf(r))
	if err != nil {
		return fmt.Errorf("record of line %d: %w", line, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	blank := max(line-o.lines-1, 0)
	o.lines += blank + 1
	if o.places == nil {
		o.places = make([]place, keptPlaces)
	}
	o.places[o.lines%keptPlaces] = place{o.lines, line, column}
	if err := feedLines(o.records, blank); err != nil {
		return err
	}
	_, err = o.records.Write(append(text, '\n'))
	return err
}

// A place is where a record of the output begins in the file.
type place struct{ output, line, column int }

// keptPlaces is the number of records of which an output knows the place. An import has fewer records
// that are read and not yet stored.
const keptPlaces = 1 << 14

// Place returns the line and column of the file for a line of the output. The column is 0 if it is unknown.
func (o *Output) Place(output int) (line, column int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.placeOf(output)
}

func (o *Output) placeOf(output int) (line, column int) {
	if o.places != nil && output > 0 {
		if p := o.places[output%keptPlaces]; p.output == output {
			return p.line, p.column
		}
	}
	return output, 0
}

func feedLines(w io.Writer, n int) error {
	const most = 4096
	for n > 0 {
		part := min(n, most)
		if _, err := w.Write(slices.Repeat([]byte{'\n'}, part)); err != nil {
			return err
		}
		n -= part
	}
	return nil
}

type fields struct {
	Spelling      string           `json:"name"`
	Status        nomen.Status     `json:"status,omitempty"`
	Locations     []nomen.Location `json:"locations,omitzero"`
	Metadata      nomen.Metadata   `json:"metadata,omitempty"`
	SameAs        []string         `json:"same_as,omitempty"`
	Successors    []string         `json:"successors,omitempty"`
	Reason        string           `json:"reason,omitempty"`
	ShowLocations bool             `json:"show_locations,omitempty"`
	Values        []nomen.Value    `json:"values,omitzero"`
}

func fieldsOf(r *store.Record) fields {
	return fields{r.Spelling, r.Status, r.Locations, r.Metadata, r.SameAs, r.Successors, r.Reason, r.ShowLocations, r.Values}
}

// Restart says that the next record begins a new import. The output for this import begins with
// blank lines, so that each record keeps its line number in the file.
func (o *Output) Restart() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines, o.places = 0, nil
}

// Authority adds a change of an authority. It is made after the records were imported.
func (o *Output) Authority(line int, p name.Prefix, change func(*store.Authority)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.authorities = append(o.authorities, AuthorityChange{line, p, change})
}

// Handled counts directives that were imported completely.
func (o *Output) Handled(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.report.Directives += int64(n)
	o.report.Handled += int64(n)
}

// Refuse reports a directive that was not imported, or not completely.
func (o *Output) Refuse(line int, text, reason string) { o.RefuseAt(line, 0, text, reason) }

// RefuseAt is like Refuse for a reason that is about what stands in a column.
func (o *Output) RefuseAt(line, column int, text, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.report.Directives++
	o.refuse(line, column, text, reason)
}

// Reject reports a record that the converter counted as handled, and that the import rejected. The
// parameter output is the line of the output.
func (o *Output) Reject(output int, text, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line, column := o.placeOf(output)
	o.reject(line, column, text, reason)
}

// RejectAuthority reports an authority that the converter counted as handled, and that the store rejected.
func (o *Output) RejectAuthority(c AuthorityChange, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reject(c.Line, 1, c.Prefix.String(), reason)
}

func (o *Output) reject(line, column int, text, reason string) {
	if o.report.Handled > 0 {
		o.report.Handled--
	} else {
		o.report.Directives++
	}
	o.refuse(line, column, text, reason)
}

func (o *Output) refuse(line, column int, text, reason string) {
	r := Refusal{line, column, Shorten(text), reason}
	if len(o.report.Refused) < maxRefusals {
		o.report.Refused = append(o.report.Refused, r)
	} else {
		o.report.Omitted++
	}
	if o.OnRefusal != nil {
		o.OnRefusal(r)
	}
}

// Shorten returns the beginning of a text for a message, as valid UTF-8.
func Shorten(s string) string {
	if !utf8.ValidString(s) {
		s = fmt.Sprintf("%q", ascii.Head(s, maxText))
	}
	return ascii.Head(s, maxText)
}

// Report returns the report of the file so far.
func (o *Output) Report() Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.report
	r.Refused = slices.Clip(r.Refused)
	return r
}

// Authorities returns the changes of authorities in the order of the file.
func (o *Output) Authorities() []AuthorityChange {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clip(o.authorities)
}
