// Package links imports lists of names with one URL per name. It supports the link shorteners
// YOURLS, Shlink and Kutt, and the ARK resolver arklet.
//
// A list is a CSV file with a header line, a file with JSON responses of an API, or a database
// dump. The package recognizes the form by the beginning of the file. Each link counts as a
// directive.
package links

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Formats returns one format for each supported program.
func Formats() []from.Format {
	var all []from.Format
	for _, p := range []program{
		{name: "yourls", what: "short links of YOURLS: CSV, or a dump of the database", table: "yourls_url", link: yourls},
		{name: "shlink", what: "short links of Shlink: CSV, or responses of its API", link: shlink},
		{name: "kutt", what: "short links of Kutt: responses of its API, or a dump of the database", table: "links", link: kutt},
		{name: "arklet", what: "ARKs of arklet: CSV, or a dump of the database", table: "ark_ark", link: arklet, base: "ark:"},
	} {
		all = append(all, from.Format{Name: p.name, What: p.what, Convert: p.convert, Complete: true})
	}
	return all
}

type program struct {
	name, what string
	table      string // table of the database; "" if a dump cannot be read
	base       string // default base; "" if --base is required
	link       func(row) (link, error)
}

// A row contains the fields of a link. The keys are the field names in lower case, without spaces
// and underscores.
type row struct {
	line   int
	column int // in bytes, from 1
	fields map[string]string
}

func (r row) get(fields ...string) string {
	for _, f := range fields {
		if v := r.fields[f]; v != "" {
			return v
		}
	}
	return ""
}

// is reports whether a boolean field is true.
func (r row) is(field string) bool { return ascii.IsOneOf(r.fields[field], "true", "t", "1") }

func fieldName(s string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "\ufeff", "").Replace(s))
}

// A link is a name, together with the record for it.
type link struct {
	name     string // what follows the base, or the whole name if absolute
	absolute bool   // the name needs no base
	record   store.Record
	lost     []string // what a record cannot represent
}

func (p program) convert(ctx context.Context, in *from.Input, out *from.Output) error {
	w := writer{program: p, out: out, base: in.Base}
	if w.base == "" {
		w.base = p.base
	}
	return p.rows(in, func(r row) error { return errors.Join(w.write(r), ctx.Err()) })
}

type writer struct {
	program
	out  *from.Output
	base string
}

func (w *writer) write(r row) error {
	l, err := w.link(r)
	if reason := r.fields[tooLong]; reason != "" {
		err = errors.New(reason)
	}
	if err == nil {
		err = w.setName(&l)
	}
	if err != nil {
		w.out.RefuseAt(r.line, r.column, r.text(), err.Error())
		return nil
	}
	if err := w.out.RecordAt(r.line, r.column, &l.record); err != nil {
		return err
	}
	if l.lost != nil {
		w.out.RefuseAt(r.line, r.column, l.record.Spelling, "imported without "+strings.Join(l.lost, ", "))
		return nil
	}
	w.out.Handled(1)
	return nil
}

// text returns the name in a row, for messages.
func (r row) text() string {
	return r.get("keyword", "shorturl", "shortcode", "address", "ark")
}

var errNoBase = errors.New("the list has only the part of the name after the host: a base is needed, such as https://sho.rt/")

// setName sets the name of the record of a link. It percent-encodes characters that a URL path
// cannot contain.
func (w *writer) setName(l *link) error {
	spelling := ascii.EscapeUnless(l.name, func(c byte) bool { return ascii.IsPchar(c) || c == '/' })
	if !l.absolute {
		if w.base == "" {
			return errNoBase
		}
		spelling = w.base + spelling
	}
	if l.name == "" {
		return errors.New("the link has no name")
	}
	l.record.Spelling = spelling
	_, err := name.Parse(spelling)
	return err
}

// place sets the status and the location of the record. If url is "", the record becomes reserved.
func (l *link) place(url string) {
	if l.record.Status = nomen.Active; url == "" {
		l.record.Status = nomen.Reserved
		return
	}
	l.record.Locations = []nomen.Location{{URL: url}}
}

func (l *link) describe(element string, values ...string) {
	values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	if len(values) == 0 {
		return
	}
	if l.record.Metadata == nil {
		l.record.Metadata = nomen.Metadata{}
	}
	l.record.Metadata[element] = values
}

// during sets the period in which the location is valid. It returns an error if a time is invalid.
func (l *link) during(since, until string) error {
	for i, given := range []string{since, until} {
		if given == "" || len(l.record.Locations) == 0 {
			continue
		}
		at, err := parseTime(given)
		if err != nil {
			return fmt.Errorf("invalid time %.40q", given)
		}
		if i == 0 {
			l.record.Locations[0].ValidFrom = at
		} else {
			l.record.Locations[0].ValidUntil = at
		}
	}
	return nil
}

func parseTime(s string) (string, error) {
	var first error
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05"} {
		t, err := time.Parse(layout, s)
		if err == nil {
			return t.UTC().Truncate(time.Second).Format(time.RFC3339), nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

func yourls(r row) (l link, err error) {
	l.name = r.get("keyword")
	url := r.get("url")
	if l.place(url); url == "" {
		return l, errors.New("the link has no URL")
	}
	if title := r.get("title"); title != url {
		l.describe("title", title)
	}
	return l, nil
}

func shlink(r row) (l link, err error) {
	l.name = r.get("shortcode")
	if url := r.get("shorturl"); url != "" {
		scheme, rest, ok := strings.Cut(url, "://")
		if !ok {
			scheme, rest = "https", url
		}
		l.name, l.absolute = scheme+"://"+rest, true
	} else if domain := r.get("domain"); domain != "" {
		l.name, l.absolute = "https://"+domain+"/"+l.name, true
	}
	url := r.get("longurl")
	if l.place(url); url == "" {
		return l, errors.New("the link has no URL")
	}
	l.describe("title", r.get("title"))
	l.describe("subject", strings.FieldsFunc(r.get("tags"), func(c rune) bool { return c == '|' || c == ',' })...)
	if r.get("maxvisits") != "" {
		l.lost = append(l.lost, "the limit of visits")
	}
	if r.is("hasredirectrules") {
		l.lost = append(l.lost, "its redirect rules")
	}
	return l, l.during(r.get("validsince"), r.get("validuntil"))
}

func kutt(r row) (l link, err error) {
	l.name = r.get("address")
	if domain := r.get("domain"); domain != "" {
		l.name, l.absolute = "https://"+domain+"/"+l.name, true
	}
	url := r.get("target")
	l.place(url)
	switch {
	case url == "":
		return l, errors.New("the link has no URL")
	case r.is("banned"):
		return l, errors.New("the link is banned")
	case r.get(noDomain) != "":
		return l, fmt.Errorf("unknown domain %.20q", r.get(noDomain))
	case r.get("password") != "" && r.get("password") != "false":
		return l, errors.New("the link needs a password, which nomen does not have")
	}
	l.describe("description", r.get("description"))
	return l, l.during("", r.get("expirein"))
}

// These are the indexes of the typed values of an ARK.
const (
	indexMetadata   = 10001
	indexCommitment = 10002
)

func arklet(r row) (l link, err error) {
	l.name = strings.TrimPrefix(strings.TrimPrefix(r.get("ark"), "ark:"), "/")
	l.place(r.get("url"))
	for _, v := range []nomen.Value{
		{Index: indexMetadata, Type: "arklet:metadata", Data: r.get("metadata")},
		{Index: indexCommitment, Type: "arklet:commitment", Data: r.get("commitment")},
	} {
		if v.Data != "" {
			l.record.Values = append(l.record.Values, v)
		}
	}
	l.describe("description", r.get("metadata"))
	return l, nil
}

var errEmpty = errors.New("line 1: the file is empty")

func eof(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
