package format

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A field is a field of a description in text/urc-0, before conversion to a charset.
type field struct{ name, value string }

const firstField = "name:"

const nameless = "-"

// foreign is the prefix of field names for elements that are not in Dublin Core.
const foreign = "dc:"

// dublinCore lists the elements of RFC 5013 in the order in which they are written.
var dublinCore = [...]string{
	"title", "creator", "contributor", "publisher", "date", "description", "subject", "type",
	"format", "identifier", "source", "language", "relation", "coverage", "rights",
}

func elements(m nomen.Metadata) []string {
	var known, other []string
	for _, element := range dublinCore {
		if len(m[element]) > 0 {
			known = append(known, element)
		}
	}
	for _, element := range slices.Sorted(maps.Keys(m)) {
		if len(m[element]) > 0 && !slices.Contains(dublinCore[:], element) {
			other = append(other, element)
		}
	}
	return append(known, other...)
}

func describe(a *nomen.Answer) []field {
	all := []field{{"name", orDefault(spelling(a), nameless)}}
	add := func(name string, values ...string) {
		for _, v := range values {
			all = append(all, field{name, v})
		}
	}
	addSome := func(name, value string) {
		if value != "" {
			add(name, value)
		}
	}
	addTime := func(name string, t time.Time) {
		if !t.IsZero() {
			add(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	if a.Spelling != "" {
		add("key", a.Name.Key())
	}
	addSome("status", string(a.Status))
	if a.Same || a.Service == nomen.IisI {
		add("same", strings.ToUpper(strconv.FormatBool(a.Same)))
	}
	addSome("redirect", a.Redirect)
	if a.MaxAge > 0 {
		add("max-age", seconds(a.MaxAge).String())
	}
	addTime("stale-since", a.StaleSince)
	addSome("reason", a.Reason)
	add("successor", keys(a.Successors)...)
	for _, element := range elements(a.Metadata) {
		name := element
		if !slices.Contains(dublinCore[:], element) {
			name = foreign + element
		}
		add(name, a.Metadata[element]...)
	}
	add("same-as", a.Names...)
	addTime("modified", a.Modified)
	if a.Revision > 0 {
		add("revision", strconv.FormatUint(a.Revision, 10))
	}
	return all
}

// text returns the concatenation of all names and values. It is used to find out which characters a
// description contains.
func text(fields []field) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(f.name + f.value)
	}
	return b.String()
}

// writeFields returns the lines of a description, escaped for a charset. It inserts a space after
// each line break in a value.
func writeFields(fields []field, c charset) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		value := strings.ReplaceAll(c.escape(f.value), "\n", "\n ")
		all[i] = fieldName(f.name, c) + ": " + value
	}
	return strings.Join(all, "\n")
}

// fieldName escapes the characters that would end a field name. Only names of elements outside
// Dublin Core can contain such characters.
func fieldName(s string, c charset) string {
	element, ok := strings.CutPrefix(s, foreign)
	if !ok {
		return s
	}
	element = strings.ReplaceAll(c.escape(element), ":", reference+"3A;")
	return foreign + strings.ReplaceAll(element, "\n", reference+"A;")
}

// readDescription reads the description at the end of meta, which is the metainformation of the
// first part. It returns the text before the description.
func readDescription(a *nomen.Answer, meta string) string {
	note, block := "", meta
	if i := strings.LastIndex(meta, "\n\n"+firstField); i >= 0 {
		note, block = meta[:i], meta[i+len("\n\n"):]
	}
	fields, ok := readFields(block)
	if !ok {
		return meta
	}
	d := nomen.Answer{Service: a.Service}
	if n := fields.first("name"); n != nameless {
		if err := setName(&d, n, fields.first("key")); err != nil {
			return meta
		}
	}
	for _, f := range fields {
		setField(&d, f)
	}
	*a = d
	return note
}

type fieldList []field

func (fields fieldList) first(name string) string {
	for _, f := range fields {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// readFields reads a description. It returns false if block is not a description or has more than
// maxItems fields.
func readFields(block string) (fieldList, bool) {
	if !strings.HasPrefix(block, firstField) {
		return nil, false
	}
	var all fieldList
	var values []*strings.Builder
	for line := range strings.SplitSeq(block, "\n") {
		if more, ok := strings.CutPrefix(line, " "); ok && len(all) > 0 {
			values[len(values)-1].WriteString("\n" + more)
			continue
		}
		prefix := ""
		if rest, ok := strings.CutPrefix(line, foreign); ok {
			prefix, line = foreign, rest
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || len(all) == maxItems {
			return nil, false
		}
		b := new(strings.Builder)
		b.WriteString(strings.TrimPrefix(value, " "))
		all, values = append(all, field{name: prefix + unescape(name)}), append(values, b)
	}
	for i, b := range values {
		all[i].value = unescape(b.String())
	}
	return all, true
}

func setField(a *nomen.Answer, f field) {
	var err error
	switch f.name {
	case "name", "key":
	case "status":
		a.Status = nomen.Status(f.value)
	case "same":
		a.Same = f.value == "TRUE"
	case "redirect":
		a.Redirect = f.value
	case "max-age":
		var s seconds
		s, err = parseSeconds(f.value)
		a.MaxAge = time.Duration(s)
	case "stale-since":
		a.StaleSince, err = parseTime(f.value)
	case "reason":
		a.Reason = f.value
	case "successor":
		var n name.Name
		if n, err = name.Parse(f.value); err == nil {
			a.Successors = append(a.Successors, n)
		}
	case "same-as":
		a.Names = append(a.Names, f.value)
	case "modified":
		a.Modified, err = parseTime(f.value)
	case "revision":
		a.Revision, err = strconv.ParseUint(f.value, 10, 64)
	default:
		addMetadata(a, strings.TrimPrefix(f.name, foreign), f.value)
	}
	if err != nil {
		addMetadata(a, f.name, f.value)
	}
}
