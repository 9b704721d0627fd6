package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// An entry contains the fields of the index that become part of a record.
type entry struct {
	URN         string   `json:"urn"`
	Title       string   `json:"title"`
	Authors     []string `json:"authors"`
	Date        string   `json:"date"` // such as "April 1969" or "1 April 1978"
	DOI         string   `json:"doi"`
	Formats     []string `json:"formats"` // a list of ASCII, TEXT, HTML, PDF, PS, XML
	ObsoletedBy []string `json:"obsoleted_by"`
}

// A record contains the fields that an import needs. The import sets all other fields.
type record struct {
	Name       string           `json:"name"`
	Locations  []nomen.Location `json:"locations"`
	Metadata   nomen.Metadata   `json:"metadata"`
	SameAs     []string         `json:"same_as"`
	Successors []string         `json:"successors,omitempty"`
}

func convert(index io.Reader) ([]byte, error) {
	var out bytes.Buffer
	lines := bufio.NewScanner(index)
	for n := 1; lines.Scan(); n++ {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		rec, err := e.record()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(rec); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return out.Bytes(), lines.Err()
}

func (e entry) record() (record, error) {
	number, ok := strings.CutPrefix(e.URN, "urn:ietf:rfc:")
	if !ok || e.Title == "" || e.DOI == "" {
		return record{}, fmt.Errorf("%q is not an RFC, or lacks a title or DOI", e.URN)
	}
	month, err := month(number, e.Date)
	if err != nil {
		return record{}, err
	}
	doi, err := name.Parse("urn:doi:" + e.DOI)
	if err != nil {
		return record{}, err
	}
	m := nomen.Metadata{"title": {e.Title}, "date": {month}}
	if len(e.Authors) > 0 {
		m["creator"] = e.Authors
	}
	return record{e.URN, e.locations(number), m, []string{doi.Key()}, e.ObsoletedBy}, nil
}

// The RFCs whose month in the index is one too early, unless there is a day. Some RFCs before this
// range have the same error. docs/decisions/0005-months-of-the-rfc-index.md has the evidence.
var (
	firstEarly = time.Date(1992, time.February, 1, 0, 0, 0, 0, time.UTC)
	lastEarly  = time.Date(2006, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// month returns the month of publication as YYYY-MM. For some RFCs published on the first of April,
// the index has a day.
func month(number, date string) (string, error) {
	words := strings.Fields(date)
	t, err := time.Parse("January 2006", strings.Join(words[max(0, len(words)-2):], " "))
	if err == nil && len(words) == 2 && early(number, t) {
		t = t.AddDate(0, 1, 0)
	}
	return t.Format("2006-01"), err
}

// early reports whether the month of an RFC in the index is one too early.
func early(number string, t time.Time) bool {
	switch number {
	case "2555": // the index is correct
		return false
	case "1122", "1123":
		return true
	}
	return !t.Before(firstEarly) && !t.After(lastEarly)
}

// locations returns the four locations of an RFC, in the order of preference. The first location is
// the text, which suits programs; browsers prefer HTML. For the few RFCs that exist only as images,
// the first location is the page about the RFC.
func (e entry) locations(number string) []nomen.Location {
	text := nomen.Location{URL: "https://www.rfc-editor.org/rfc/rfc" + number + ".txt", Type: "text/plain", Rel: "item"}
	html := nomen.Location{URL: "https://datatracker.ietf.org/doc/html/rfc" + number, Type: "text/html", Rel: "item"}
	info := nomen.Location{URL: "https://www.rfc-editor.org/info/rfc" + number, Type: "text/html", Rel: "describedby"}
	doi := nomen.Location{URL: "https://doi.org/" + e.DOI, Type: "text/html", Rel: "describedby"}
	all := []nomen.Location{text, html, info, doi}
	if !slices.Contains(e.Formats, "ASCII") && !slices.Contains(e.Formats, "TEXT") {
		all = []nomen.Location{info, html, doi, text}
	}
	for i := range all {
		all[i].Lang, all[i].Priority = "en", i+1
	}
	return all
}
