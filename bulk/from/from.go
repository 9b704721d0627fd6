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

// A Format describes a file format of another program.
type Format struct {
	Name string // for --format
	What string // what the files are, in a few words

	// Match reports whether a file in a directory has this format. The path is relative to the
	// directory and slash-separated. If Match is nil, only single files can be imported, not
	// directories.
	Match func(path string) bool

	// Convert reads a file and calls the methods of the output in the order of the file. It returns
	// an error if the rest of the file cannot be read. The memory that Convert uses must not depend
	// on the length of the file, except for rules of authorities.
	Convert func(ctx context.Context, in *Input, out *Output) error

	// Complete reports whether each field of a record has all of its values. The import then
	// replaces the fields of an existing record. Otherwise it merges them.
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

	// Current imports all records written to the output so far, and then returns the stored record
	// of a name. It returns nil if the store has no such record. The first record written after a
	// call of Current begins a new import. For good performance, call Current for many names before
	// writing the next record. In a dry run, the store does not contain the records of the file.
	Current func(ctx context.Context, n name.Name) (*store.Record, error)
}

// A Refusal is a directive that was not imported completely.
type Refusal struct {
	Line   int    `json:"line"`             // line or number of the entry, from 1
	Column int    `json:"column,omitempty"` // in bytes, from 1; 0 if the reason is about the whole entry
	Text   string `json:"text"`             // shortened
	Reason string `json:"reason"`
}

// A Report summarizes the import of the directives in a file.
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

// An AuthorityChange is a change of an existing authority, or the creation of a new one.
type AuthorityChange struct {
	Line   int
	Prefix name.Prefix
	Change func(*store.Authority) // changes the existing authority, or a new one that has only the prefix
}

// An Output receives the records and other results of a conversion. Its methods are safe for
// concurrent use.
type Output struct {
	OnRefusal func(Refusal) // called for each refusal; may be nil

	mu          sync.Mutex
	records     io.Writer
	lines       int     // written to records
	places      []place // of the last records, by the line of the output
	report      Report
	authorities []AuthorityChange
}

// NewOutput returns an Output that writes records as JSON Lines. The parameter file is the name of
// the file for the report.
func NewOutput(file string, records io.Writer) *Output {
	return &Output{records: records, report: Report{File: file, Refused: []Refusal{}}}
}

// Record is like [Output.RecordAt], but for a record whose column is unknown.
func (o *Output) Record(line int, r *store.Record) error { return o.RecordAt(line, 0, r) }

// RecordAt writes a record that begins at a line and column of the file. The column is 0 if it is
// unknown. The line must not be smaller than in the call before. If possible, the record gets the
// same line number in the output. Otherwise [Output.Place] returns the position in the file. The
// import changes only fields that have a value. A non-nil empty list removes all locations or
// values of an existing record. If the status of a new record is empty, the import sets it to
// active.
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

// A place maps a line of the output to the position of the record in the file.
type place struct{ output, line, column int }

// keptPlaces is the number of the most recent records for which an output keeps the position. It is
// larger than the number of records that an import has read but not yet stored.
const keptPlaces = 1 << 14

// Place converts a line of the output to a line and column of the file. The column is 0 if it is
// unknown.
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

// Restart prepares the output for a new import, which begins with the next record. Blank lines
// before this record make sure that it keeps its line number in the file.
func (o *Output) Restart() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines, o.places = 0, nil
}

// Authority adds a change of an authority. The import applies the change after it has imported all
// records.
func (o *Output) Authority(line int, p name.Prefix, change func(*store.Authority)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.authorities = append(o.authorities, AuthorityChange{line, p, change})
}

// Handled counts n directives as imported completely.
func (o *Output) Handled(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.report.Directives += int64(n)
	o.report.Handled += int64(n)
}

// Refuse reports a directive that was not imported completely.
func (o *Output) Refuse(line int, text, reason string) { o.RefuseAt(line, 0, text, reason) }

// RefuseAt is like [Output.Refuse], but also reports the column to which the reason applies.
func (o *Output) RefuseAt(line, column int, text, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.report.Directives++
	o.refuse(line, column, text, reason)
}

// Reject reports a record that the converter has counted as handled, but that the import has
// rejected. The parameter output is the line number of the record in the output.
func (o *Output) Reject(output int, text, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line, column := o.placeOf(output)
	o.reject(line, column, text, reason)
}

// RejectAuthority reports a change of an authority that the converter has counted as handled, but
// that the store has rejected.
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

// Shorten truncates a text for a message. The result is valid UTF-8.
func Shorten(s string) string {
	if !utf8.ValidString(s) {
		s = fmt.Sprintf("%q", ascii.Head(s, maxText))
	}
	return ascii.Head(s, maxText)
}

// Report returns the report about the directives so far.
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
