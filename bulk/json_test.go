package bulk

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

var names = cmp.Comparer(func(a, b name.Name) bool { return a == b })

// all reads to the end. The error end is the last one, which is not a *LineError.
func all(t testing.TB, r io.Reader) (lines []fileLine, bad []*LineError, end error) {
	t.Helper()
	in, err := newReader(r, JSONLines, Auto, Sheet{})
	if err != nil {
		return nil, nil, err
	}
	defer in.close()
	for {
		line, err := in.next()
		var e *LineError
		if errors.As(err, &e) {
			bad = append(bad, e)
		} else if err != nil {
			return lines, bad, err
		} else {
			lines = append(lines, line)
		}
	}
}

func TestRecord(t *testing.T) {
	const full = ` { "name" : "urn:ietf:rfc:2648" ,"status":"active",` +
		`"locations":[{"url":"https://www.rfc-editor.org/rfc/rfc2648.txt","type":"text/plain","lang":"en","rel":"item","priority":1,"weight":2,` +
		`"country":"US","component":"toc","charset":"US-ASCII","down":true,"note":"free \"text\"\n\u00e4\ud83d\ude00\/","valid_from":"","valid_until":""}, {"url":"x"}],` +
		`"metadata":{"title":["A","B"],"creator":[]},"same_as":["urn:doi:10.17487/rfc2648"],"successors":[],"reason":"",` +
		"\t\"modified\":\"2026-11-20T12:00:00Z\",\"revision\":3}\r"
	lines, bad, end := all(t, strings.NewReader(full))
	if len(lines) != 1 || bad != nil || end != io.EOF {
		t.Fatalf("got %v, %v, %v", lines, bad, end)
	}
	want := &store.Record{
		Spelling: "urn:ietf:rfc:2648", Status: nomen.Active,
		Locations: []nomen.Location{
			{
				URL: "https://www.rfc-editor.org/rfc/rfc2648.txt", Type: "text/plain", Lang: "en", Rel: "item", Priority: 1, Weight: 2,
				Country: "US", Component: "toc", Charset: "US-ASCII", Down: true, Note: "free \"text\"\nä😀/",
			},
			{URL: "x"},
		},
		Metadata: nomen.Metadata{"title": {"A", "B"}, "creator": nil},
		SameAs:   []string{"urn:doi:10.17487/rfc2648"}, Revision: 3,
	}
	if diff := cmp.Diff(want, lines[0].Record, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got, want := lines[0].Fields, registrar.FieldReason<<1-1; got != want {
		t.Errorf("fields %b, want %b", got, want)
	}
}

func TestFieldsOfALine(t *testing.T) {
	for in, want := range map[string]registrar.Fields{
		`{"name":"a:b"}`:                         registrar.FieldName,
		`{"name":"a:b","revision":2}`:            registrar.FieldName,
		`{"locations":[],"name":"a:b"}`:          registrar.FieldName | registrar.FieldLocations,
		`{"name":"a:b","metadata":{}}`:           registrar.FieldName | registrar.FieldMetadata,
		`{"name":"a:b","reason":"","status":""}`: registrar.FieldName | registrar.FieldReason | registrar.FieldStatus,
	} {
		lines, bad, _ := all(t, strings.NewReader(in))
		if len(lines) != 1 || lines[0].Fields != want {
			t.Errorf("%s: %v, %v; want fields %b", in, lines, bad, want)
		}
	}
}

func TestBadLines(t *testing.T) {
	for _, c := range []struct {
		in      string
		column  int
		field   string
		message string // a part
	}{
		{`[]`, 1, "", "expected an object, found a list"},
		{`urn:a:b`, 1, "", "expected an object, found 'u'"},
		{`null`, 1, "", "found null"},
		{`{}`, 1, "name", "missing"},
		{`{"name":""}`, 1, "name", "missing"},
		{`{"name":"a:b",}`, 15, "", `expected a string, found '}'`},
		{`{"name":"a:b"]`, 14, "", `expected "," or "}"`},
		{`{"name" "a:b"}`, 9, "", "expected a colon"},
		{`{name:"a:b"}`, 2, "", "expected a string"},
		{`{"name":"a:b"}}`, 15, "", "after the record"},
		{`{"name":"a:b"}{"name":"a:c"}`, 15, "", "after the record"},
		{`{"name":"a:b"} // x`, 16, "", "after the record"},
		{`{"name":"a:b","colour":"red"}`, 15, "colour", "unknown field"},
		{`{"name":"a:b","Name":"x"}`, 15, "Name", "unknown field"},
		{`{"name":"a:b","":1}`, 15, "", "unknown field"},
		{`{"name":"a:b","locations":[{"url":"x"},{"url":"y","colour":"red"}]}`, 51, "locations[1].colour", "unknown field"},
		{`{"name":"a:b","name":"a:c"}`, 15, "name", "given twice"},
		{`{"name":"a:b","n\u0061me":"a:c"}`, 15, "name", "given twice"},
		{`{"name":"a:b","locations":[{"url":"x","url":"y"}]}`, 39, "locations[0].url", "given twice"},
		{`{"name":"a:b","metadata":{"title":["x"],"title":[]}}`, 41, "metadata.title", "given twice"},
		{`{"name":7}`, 9, "name", "expected a string, found a number"},
		{`{"name":null}`, 9, "name", "found null (omit a field without a value)"},
		{`{"name":true}`, 9, "name", "a boolean"},
		{`{"name":"a:b","locations":{}}`, 27, "locations", "expected a list, found an object"},
		{`{"name":"a:b","locations":["x"]}`, 28, "locations[0]", "expected an object, found a string"},
		{`{"name":"a:b","locations":[{"url":[]}]}`, 35, "locations[0].url", "expected a string, found a list"},
		{`{"name":"a:b","locations":[{"url":"x","priority":"1"}]}`, 50, "locations[0].priority", "expected a number, found a string"},
		{`{"name":"a:b","locations":[{"url":"x","priority":1.5}]}`, 50, "locations[0].priority", "whole number"},
		{`{"name":"a:b","locations":[{"url":"x","down":"true"}]}`, 46, "locations[0].down", "expected true or false, found a string"},
		{`{"name":"a:b","locations":[{"url":"x","weight":01}]}`, 48, "locations[0].weight", "whole number"},
		{`{"name":"a:b","locations":[{"url":"x","weight":1e2}]}`, 48, "locations[0].weight", "whole number"},
		{`{"name":"a:b","locations":[{"url":"x","weight":-}]}`, 48, "locations[0].weight", "whole number"},
		{`{"name":"a:b","locations":[{"url":"x"}`, 39, "locations[0]", `expected "," or "]", found the end`},
		{`{"name":"a:b","metadata":{"title":"x"}}`, 35, "metadata.title", "expected a list, found a string"},
		{`{"name":"a:b","metadata":{"title":["x",1]}}`, 40, "metadata.title[1]", "found a number"},
		{`{"name":"a:b","same_as":["x" "y"]}`, 30, "same_as[0]", `expected "," or "]"`},
		{`{"name":"a:b","values":{}}`, 24, "values", "expected a list, found an object"},
		{`{"name":"a:b","values":[{"index":"1"}]}`, 34, "values[0].index", "expected a number, found a string"},
		{`{"name":"a:b","values":[{"index":1},{"url":"x"}]}`, 38, "values[1].url", "unknown field"},
		{`{"name":"a:b","values":[{"attributes":"x"}]}`, 26, "values[0].attributes", "unknown field"},
		{`{"name":"a:b","values":[{"ttl":1,"ttl":2}]}`, 34, "values[0].ttl", "given twice"},
		{`{"name":"a:b","values":[{"ttl":true}]}`, 32, "values[0].ttl", "expected a number, found a boolean"},
		{`{"name":"a:b","values":[{"data":{"value":"x"}}]}`, 33, "values[0].data", "expected a string, found an object"},
		{`{"name":"a:b","values":[` + strings.Repeat(`{},`, 1000) + `{}]}`, 3025, "values[1000]", "at most 1000 values"},
		{`{"name":"a:b","locations":[{"data":"x"}]}`, 29, "locations[0].data", "unknown field"},
		{`{"name":"a:b","revision":-1}`, 26, "revision", "too small"},
		{`{"name":"a:b","revision":18446744073709551615}`, 26, "revision", "whole number"},
		{`{"name":"a:b","modified":"today"}`, 26, "modified", "expected a time"},
		{"{\"name\":\"a:\xff\"}", 12, "", "not UTF-8"},
		{"{\"name\":\"a:b\tc\"}", 13, "name", "control character"},
		{`{"name":"a:\x"}`, 12, "name", "invalid escape"},
		{`{"name":"a:\u12g4"}`, 12, "name", "four hexadecimal digits"},
		{`{"name":"a:\ud800"}`, 12, "name", "surrogate"},
		{`{"name":"a:\udc00\ud800"}`, 12, "name", "surrogate"},
		{`{"name":"a:\ud800\u0041"}`, 12, "name", "surrogate"},
		{`{"name":"a:b`, 13, "name", "ends in a string"},
		{`{"name":"a:\`, 13, "name", "ends in a string"},
		{`{"name":"a:\u00`, 16, "name", "ends in an escape"},
	} {
		lines, bad, end := all(t, strings.NewReader(c.in+"\n"+`{"name":"good:one"}`+"\n"))
		if end != io.EOF || len(lines) != 1 || len(bad) != 1 {
			t.Errorf("%s: %d good, %d bad, %v; want 1 and 1", c.in, len(lines), len(bad), end)
			continue
		}
		if e := bad[0]; e.Line != 1 || e.Column != c.column || e.Field != c.field || !strings.Contains(e.Message, c.message) {
			t.Errorf("%s:\n got line %d, column %d, %q: %s\nwant line 1, column %d, %q: %s", c.in, e.Line, e.Column, e.Field, e.Message, c.column, c.field, c.message)
		}
	}
}

// reference is the result of encoding/json for a line that the reader has accepted.
type reference struct {
	Name       string           `json:"name"`
	Status     nomen.Status     `json:"status"`
	Locations  []nomen.Location `json:"locations"`
	Metadata   nomen.Metadata   `json:"metadata"`
	SameAs     []string         `json:"same_as"`
	Successors []string         `json:"successors"`
	Reason     string           `json:"reason"`
	Modified   string           `json:"modified"`
	Revision   uint64           `json:"revision"`
}

func FuzzJSONLines(f *testing.F) {
	f.Add([]byte(`{"name":"urn:ietf:rfc:2648","status":"active","locations":[{"url":"https://example.org/","priority":1,"note":"\u00e4\n"}],"metadata":{"title":["A"]},"same_as":["x:y"],"successors":[],"reason":"","modified":"2026-11-20T12:00:00Z","revision":3}`))
	f.Add([]byte("\uFEFF{\"name\":\"a:b\"}\r\n\r\n{\"name\":\"a:c\",\"locations\":[{\"url\":\"x\"},{\"colour\":1}]}\n"))
	f.Add([]byte(`{"name":"a:\ud83d\ude00","metadata":{"title":["\\\"\/"]}}`))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := newReader(strings.NewReader(string(data)), JSONLines, Auto, Sheet{})
		if err != nil {
			if !errors.As(err, new(*BrokenError)) {
				t.Fatalf("NewReader: %v", err)
			}
			return
		}
		defer in.close()
		last := 0
		for {
			line, err := in.next()
			var bad *LineError
			isLine := errors.As(err, &bad)
			broken := errors.As(err, new(*BrokenError))
			switch {
			case isLine && bad.Line > last && bad.Column > 0:
				last = bad.Line
			case err == nil && line.Number > last:
				last = line.Number
				agree(t, data, line)
			case err == io.EOF || broken:
				return
			default:
				t.Fatalf("after line %d: line %d, %v", last, line.Number, err)
			}
		}
	})
}

// agree compares a line that the reader has accepted with the result of encoding/json. It compares
// only uncompressed input, because it must find the line in the input.
func agree(t *testing.T, data []byte, line fileLine) {
	lines := strings.Split(strings.TrimPrefix(string(data), "\uFEFF"), "\n")
	if line.Number > len(lines) || strings.HasPrefix(lines[0], "\x1f\x8b") || strings.HasPrefix(lines[0], "\x28\xb5") {
		return
	}
	var want reference
	if err := json.Unmarshal([]byte(lines[line.Number-1]), &want); err != nil {
		t.Fatalf("taken, but encoding/json says %v: %q", err, lines[line.Number-1])
	}
	r := line.Record
	got := reference{r.Spelling, r.Status, r.Locations, r.Metadata, r.SameAs, r.Successors, r.Reason, want.Modified, r.Revision}
	if diff := cmp.Diff(normalized(want), normalized(got)); diff != "" {
		t.Fatalf("%q (-want +got)\n%s", lines[line.Number-1], diff)
	}
}

// normalized makes empty lists nil.
func normalized(r reference) string {
	rec := store.Record{
		Spelling: r.Name, Status: r.Status, Locations: r.Locations, Metadata: nomen.Metadata{}, SameAs: r.SameAs,
		Successors: r.Successors, Reason: r.Reason, Revision: r.Revision,
	}
	for k, v := range r.Metadata {
		rec.Metadata[k] = append([]string{}, v...)
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestOrdinary checks that ordinary stops at quotes, backslashes and control characters, at any
// position, and at no other byte.
func TestOrdinary(t *testing.T) {
	for c := range 256 {
		for at := range 24 {
			b := []byte("abcdefghéüÿ\x7f\xff ~!#[]{}ij")[:24]
			b[at] = byte(c)
			want := 24
			if c < ' ' || c == '"' || c == '\\' {
				want = at / 8 * 8
			}
			if got := ordinary(string(b)); got != want {
				t.Errorf("%q: %d, want %d", b, got, want)
			}
		}
	}
}
