package bulk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// ExportOptions configure an export. The zero value exports all current records as uncompressed JSON
// Lines.
type ExportOptions struct {
	Format      Format
	Compression Compression
	Prefix      string           // beginning of the names to export, in any spelling
	Statuses    []nomen.Status   // only records with one of these statuses; empty for all
	At          time.Time        // the state at this time; zero for now
	Spreadsheet bool             // mark cells that a spreadsheet would execute; only for CSV and TSV
	Revisions   bool             // include modified and revision; only for JSON Lines
	Now         func() time.Time // clock; time.Now if nil
	Progress    func(Summary)    // called regularly, if not nil
	Refused     func(Refusal)    // called for every record that the format cannot represent, if not nil
}

// Export writes a consistent snapshot of the records to w, sorted by name. It leaves out records
// that the format cannot represent, and calls Refused for each of them. If a format cannot
// represent only some fields, Export may write the record without these fields. It then calls
// Refused as well.
func Export(ctx context.Context, s store.Reader, w io.Writer, o ExportOptions) (sum Summary, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	e := exporter{options: o, start: o.Now()}
	if e.encoder, err = o.encoder(e.start); err != nil {
		return sum, err
	}
	packed, err := compress(w, o.Compression)
	if err != nil {
		return sum, err
	}
	out := bufio.NewWriterSize(packed, bufferSize)
	err = e.run(ctx, s, out)
	err = errors.Join(err, out.Flush(), packed.Close())
	e.summary.Seconds = o.Now().Sub(e.start).Seconds()
	return e.summary, err
}

// An encoder writes records in one format.
type encoder interface {
	// head returns what precedes the first record.
	head() []byte

	// record appends a record. The error is errNoLine if the format does not include the record,
	// such as a retired name in a map. It is a *heldError if the format cannot represent the
	// record, and a *partError if the record was appended without some of its fields.
	record(b []byte, r *store.Record) ([]byte, error)
}

// A ruled encoder also writes the rules of authorities, after the records.
type ruled interface {
	// authority is called for each authority before head.
	authority(a *store.Authority)

	// rule appends a rule of an authority. The error says what the format cannot represent.
	rule(b []byte, a *store.Authority, i int) ([]byte, error)

	// end is called after the rules of an authority if rules of a parent authority follow. It
	// appends a directive that keeps the rules of the parent from matching names of this authority.
	end(b []byte, a *store.Authority) ([]byte, error)

	tail() []byte
}

// A surveyor is an encoder that must see all records before it can write the head.
type surveyor interface{ survey(r *store.Record) }

var errNoLine = errors.New("bulk: no line")

type heldError struct{ field, reason string }

func (e *heldError) Error() string { return e.field + ": " + e.reason }

// A partError names the fields that a record lost because the format cannot represent them.
type partError struct{ fields []string }

func (e *partError) Error() string { return "written without " + strings.Join(e.fields, ", ") }

func (o ExportOptions) encoder(start time.Time) (encoder, error) {
	if o.Revisions && o.Format != JSONLines {
		return nil, fmt.Errorf("bulk: revisions are not supported by the format %s, only by jsonl", o.Format)
	}
	if o.Spreadsheet && o.Format != CSV && o.Format != TSV {
		return nil, fmt.Errorf("bulk: marks for spreadsheets are not supported by the format %s, only by csv and tsv", o.Format)
	}
	at := o.At
	if at.IsZero() {
		at = start
	}
	if !o.Format.Writable() {
		return nil, fmt.Errorf("bulk: writing the format %s is not supported", o.Format)
	}
	switch o.Format {
	case JSONLines:
		return jsonEncoder{revisions: o.Revisions}, nil
	case CSV:
		return &tableEncoder{marks: o.Spreadsheet}, nil
	case TSV:
		return &tableEncoder{tabs: true, marks: o.Spreadsheet}, nil
	case NginxMap:
		return &nginxMap{at: at, folded: map[uint64]struct{}{}}, nil
	case ApacheMap:
		return apacheMap{at: at}, nil
	case URIList:
		return uriList{at: at}, nil
	case EZIDCSV:
		return newEZIDEncoder(), nil
	case HandleBatch:
		return handleBatch{}, nil
	case Htaccess:
		return &htaccess{at: at, path: newWebPath(canonicalPrefix(o.Prefix))}, nil
	case OBOYAML:
		if p := newWebPath(canonicalPrefix(o.Prefix)); p.url() != "/" {
			return &oboYAML{at: at, path: p}, nil
		}
		return nil, errors.New("bulk: obo-yaml needs the directory of the names as prefix, such as http://purl.obolibrary.org/obo/go")
	case CaddyMap:
		return &caddyMap{at: at, path: newWebPath(canonicalPrefix(o.Prefix))}, nil
	}
	return nil, fmt.Errorf("bulk: unknown format %d", o.Format)
}

type exporter struct {
	encoder encoder
	options ExportOptions
	start   time.Time
	summary Summary
}

func (e *exporter) run(ctx context.Context, s store.Reader, out io.Writer) error {
	prefix, err := e.options.keyPrefix(ctx, s)
	if err != nil {
		return err
	}
	if v, ok := e.encoder.(surveyor); ok {
		for rec, err := range e.records(ctx, s, prefix) {
			if err != nil {
				return err
			}
			v.survey(rec)
		}
	}
	authorities, err := e.authorities(ctx, s, prefix)
	if err != nil {
		return err
	}
	if _, err := out.Write(e.encoder.head()); err != nil {
		return err
	}
	var b []byte
	for rec, err := range e.records(ctx, s, prefix) {
		if err != nil {
			return err
		}
		if b, err = e.encode(b[:0], rec); err != nil {
			return err
		}
		if _, err := out.Write(b); err != nil {
			return err
		}
		if e.summary.Read%batchSize == 0 && e.options.Progress != nil {
			e.summary.Seconds = e.options.Now().Sub(e.start).Seconds()
			e.options.Progress(e.summary)
		}
	}
	return e.rules(out, authorities)
}

// authorities passes all authorities to an encoder that writes rules. It returns the authorities
// below the prefix that have rules, with child authorities before their parents.
func (e *exporter) authorities(ctx context.Context, s store.Reader, prefix string) (all []*store.Authority, err error) {
	r, ok := e.encoder.(ruled)
	if !ok {
		return nil, nil
	}
	for a, err := range s.Authorities(ctx, e.options.At) {
		if err != nil {
			return nil, err
		}
		r.authority(a)
		if len(a.Rules) > 0 && strings.HasPrefix(a.Prefix.String(), strings.TrimSuffix(prefix, "/")) {
			all = append(all, a)
		}
	}
	slices.Reverse(all) // an authority precedes the authorities with shorter prefixes
	return all, nil
}

func (e *exporter) rules(out io.Writer, all []*store.Authority) error {
	r, ok := e.encoder.(ruled)
	if !ok {
		return nil
	}
	for i, a := range all {
		text := e.rulesOf(r, a)
		if above := func(b *store.Authority) bool { return strings.HasPrefix(a.Prefix.String(), b.Prefix.String()) }; slices.ContainsFunc(all[i+1:], above) {
			b, err := r.end(text, a)
			if err != nil {
				e.refuseRule(a, "rules", err)
			} else {
				text = b
			}
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	_, err := out.Write(r.tail())
	return err
}

func (e *exporter) rulesOf(r ruled, a *store.Authority) (text []byte) {
	for i := range a.Rules {
		if b, err := r.rule(text, a, i); err != nil {
			e.refuseRule(a, fmt.Sprintf("rules[%d]", i), err)
		} else {
			text = b
		}
	}
	return text
}

func (e *exporter) refuseRule(a *store.Authority, field string, err error) {
	e.summary.Refused++
	if e.options.Refused != nil {
		e.options.Refused(Refusal{Name: a.Prefix.String(), Field: field, Reason: err.Error(), Err: err})
	}
}

func (e *exporter) records(ctx context.Context, s store.Reader, prefix string) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for rec, err := range s.List(ctx, store.Scan{Prefix: prefix, At: e.options.At}) {
			if err == nil && len(e.options.Statuses) > 0 && !slices.Contains(e.options.Statuses, rec.Status) {
				continue
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// encode appends a record, unless the record is left out or rejected.
func (e *exporter) encode(b []byte, rec *store.Record) ([]byte, error) {
	b, err := e.encoder.record(b, rec)
	var held *heldError
	var part *partError
	cannot := errors.As(err, &held)
	switch {
	case rec.Redacted:
		held, cannot = &heldError{reason: "the revision that was current at that time has been redacted"}, true
	case err == nil && !utf8.Valid(b):
		held, cannot = &heldError{reason: "is not UTF-8"}, true
	}
	switch {
	case cannot:
		e.summary.Refused++
		e.refuse(Refusal{Name: rec.Spelling, Field: held.field, Reason: held.reason, Err: held})
	case errors.Is(err, errNoLine):
		e.summary.LeftOut++
	case errors.As(err, &part):
		e.summary.Read++
		e.summary.Partial++
		e.refuse(Refusal{Name: rec.Spelling, Reason: part.Error(), Err: part})
		return b, nil
	case err != nil:
		return b, err
	default:
		e.summary.Read++
		return b, nil
	}
	return b[:0], nil
}

func (e *exporter) refuse(r Refusal) {
	if e.options.Refused != nil {
		e.options.Refused(r)
	}
}

// compress returns a writer that compresses into w. Closing it does not close w.
func compress(w io.Writer, c Compression) (io.WriteCloser, error) {
	switch c {
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return plain{w}, nil
}

// plain adds to a writer a Close that does nothing.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }
