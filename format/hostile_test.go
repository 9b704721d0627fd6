package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
)

// oddTypes has values that look like types, languages and relations but are invalid.
func oddTypes() *nomen.Answer {
	a := &nomen.Answer{Service: nomen.I2C, Name: name.MustParse("urn:x-y:1"), Status: nomen.Active}
	for i, s := range []string{
		"text/html; charset=utf-8", "text/", "/html", "html", "text/html/x", "a b/c", "text/h\xff", strings.Repeat("a", 128) + "/b", "text/html\r\nX: y",
		"en", "de-Latn-DE-1996", "x-unspecified", "x-a", "i-klingon", "i-x", "en_GB", "en-", "-en", "e", "en-a", "en-abcdefghi", "qq-ZZ", "en-x-a", "zh-min-nan",
		"anchor", "ITEM", "next prev", "rel\"=x", "https://example.org/rel \u202E",
	} {
		a.Locations = append(a.Locations, nomen.Location{URL: "https://example.org/" + strings.Repeat("x", i), Type: s, Lang: s, Rel: s, Note: s, Down: i%2 == 0})
	}
	return a
}

// evils are texts that try to break out of some syntax.
func evils() []string {
	return []string{
		`"quoted" and 'quoted' \ \"`, `</script><script>alert(1)</script>`, `<!--<script>`, `]]>`, `--></style>`, "a\r\nSet-Cookie: x=1\r\n\r\n<html>", "\x00\x01\x7f\u0085",
		"\u2028\u2029\ufeff", "\u202Egnp.exe\u2066\u200f", "\xff\xfe\xc0\xaf", "javascript:alert(1)", "=====;charset=US-ASCII\r\nhttps://evil.example/", "&#x3C;script&#x3E;",
		"%!s(MISSING) %d {{.}} ${x}", "name: urn:x-y:2\nstatus: active", "# comment\r\nhttps://evil.example/", strings.Repeat("very long ", 1_000), "é ü ß č ж ξ 雪",
	}
}

// evilAnswer has s in every field.
func evilAnswer(s string) *nomen.Answer {
	l := nomen.Location{URL: "https://example.org/x", Type: s, Lang: s, Rel: s, Country: s, Component: s, Charset: s, Note: s, ValidFrom: s, ValidUntil: s, Down: true}
	wild := l
	wild.URL = s
	return &nomen.Answer{
		Service: nomen.I2C, Name: name.MustParse("urn:x-y:1"), Spelling: s, Status: nomen.Status(s), Locations: []nomen.Location{wild, l},
		Metadata: nomen.Metadata{"title": {s}, "language": {s}, s: {s}}, Names: []string{s}, Reason: s, Redirect: s, Why: []string{s},
	}
}

// Text of a record stays in its field, in every format.
func TestHostileInEveryFormat(t *testing.T) {
	for _, s := range evils() {
		for _, a := range []*nomen.Answer{evilAnswer(s), tombstoneOf(s)} {
			for _, f := range Formats() {
				if err := intact(f, a); err != nil {
					t.Errorf("%s of %.40q: %v", f.Name, s, err)
				}
			}
		}
		for _, fault := range problemFaults(t, s, tombstoneOf(s)) {
			t.Errorf("problem of %.40q: %s", s, fault)
		}
	}
}

// tombstoneOf returns evilAnswer for a retired name.
func tombstoneOf(s string) *nomen.Answer {
	a := evilAnswer(s)
	a.Status, a.Successors = nomen.Retired, []name.Name{name.MustParse("urn:x-y:2")}
	return a
}

// problemFaults returns what the page or text of a problem must not contain.
func problemFaults(t *testing.T, s string, a *nomen.Answer) []string {
	t.Helper()
	var all []string
	for k := nomen.Malformed; k <= nomen.Denied; k++ {
		p := NewProblem(&nomen.Error{Kind: k, Name: s, Offset: min(2, len(s)), Rule: s, Message: s, Suggestions: []string{s, "urn:x-y:3"}, Legal: true, Answer: a}, 404)
		p.Title, p.Available = s, []string{s}
		for _, p.Answer = range []*nomen.Answer{a, nil} {
			all = append(all, faults(t, written(t, WriteProblemHTML, p))...)
			if text := written(t, writeProblemText, p); strings.ContainsFunc(text, shown.Odd) {
				all = append(all, "odd characters in the text")
			}
			if body := written(t, WriteProblem, p); !json.Valid([]byte(body)) || strings.Count(body, "\n") != 1 || strings.ContainsFunc(body, shown.Odd) {
				all = append(all, "no JSON on one line, or with what a terminal obeys")
			}
			if b, err := readURC(strings.NewReader(written(t, WriteProblemURC, p)), nomen.I2C); err != nil || p.Answer == nil && len(b.Locations) > 0 {
				all = append(all, "a location in text/urc-0")
			}
		}
	}
	return all
}

// intact returns the first fault in the output of f for an evilAnswer.
func intact(f Format, a *nomen.Answer) error {
	var b bytes.Buffer
	if err := f.Write(&b, a); err != nil {
		return err
	}
	body := b.String()
	if f.MediaType == TypeCBOR { // binary: strings have a length
		_, err := readCBOR(&b, nomen.I2C)
		return err
	}
	if f.MediaType != TypeURC && !utf8.ValidString(body) {
		return errors.New("not UTF-8")
	}
	if i := strings.IndexFunc(strings.ReplaceAll(body, crlf, ""), shown.Odd); i >= 0 && f.MediaType != TypeURC { // which has its own charsets
		return errors.New("characters that a terminal obeys")
	}
	switch f.MediaType {
	case TypeHTML:
		return pageFault(body)
	case TypeLinkset:
		if a.Name.IsZero() {
			return nil
		}
		return checkLinkset(body)
	case TypeLinksetJSON:
		return checkLinksetJSON(body)
	case TypeText:
		return nil
	case TypeTurtle:
		return turtleFault(body)
	case TypeURIList:
		return listFault(body)
	case TypeJSON, TypeJSONLD:
		if !json.Valid(b.Bytes()) || strings.Count(body, "\n") != 1 {
			return errors.New("no JSON on one line")
		}
		if f.MediaType == TypeJSONLD && strings.ContainsAny(body, "<>&\u2028") {
			return errors.New("markup in JSON-LD")
		}
	}
	again, err := f.Read(strings.NewReader(body), a.Service)
	if err != nil {
		return err
	}
	if again.Name != a.Name && (f.MediaType != TypeURC || a.Service == nomen.I2C) {
		return errors.New("another name: " + again.Name.Key())
	}
	for _, l := range again.Locations {
		if f.MediaType != TypeJSON && strings.Contains(l.URL, "evil") { // JSON returns the content of the record unchanged
			return errors.New("a location that was missing: " + l.URL)
		}
	}
	return nil
}

// listFault checks for ASCII lines of text/uri-list that, apart from comments, are the
// locations.
func listFault(body string) error {
	for line := range strings.SplitSeq(strings.TrimSuffix(body, crlf), crlf) {
		switch {
		case strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }):
			return errors.New("control characters, or not ASCII: " + line)
		case !strings.HasPrefix(line, "#") && strings.Contains(line, "evil"):
			return errors.New("a line that was missing: " + line)
		}
	}
	return nil
}

func pageFault(body string) error {
	all, err := pageFaults(body)
	if err == nil && len(all) > 0 {
		err = errors.New(strings.Join(all, "; "))
	}
	return err
}

// FuzzWriters puts texts into all fields of answers and parses the output.
func FuzzWriters(f *testing.F) {
	for _, s := range evils() {
		f.Add(s[:min(len(s), 100)], "https://example.org/a", "text/html", "fr", "item", s[:min(len(s), 100)], byte(0))
	}
	f.Add("urn:x-y:'", "javascript:alert(1)", "a/b;c", "x-unspecified", "stylesheet up", "\r\n\t=====", byte(3))
	services := []nomen.Service{nomen.I2C, nomen.I2L, nomen.I2Ls, nomen.I2N, nomen.I2Ns, nomen.IisI, nomen.I2R, ""}
	f.Fuzz(func(t *testing.T, spelling, url, kind, lang, rel, text string, choice byte) {
		a := &nomen.Answer{
			Service: services[int(choice)%len(services)], Name: name.MustParse("urn:x-y:1"), Spelling: spelling, Status: nomen.Status(kind), Same: choice > 127,
			Locations: []nomen.Location{{URL: url, Type: kind, Lang: lang, Rel: rel, Note: text, Charset: kind, Country: lang, Component: text, ValidFrom: text, Down: choice > 63}},
			Metadata:  nomen.Metadata{"title": {text, url}, "language": {lang}, text: {spelling}, "creator": {rel}}, Names: []string{spelling, url},
			Reason: text, Redirect: url, Why: []string{text},
		}
		if n, err := name.Parse(spelling); err == nil {
			a.Name = n
			a.Successors = []name.Name{n}
		}
		for _, f := range Formats() {
			var b bytes.Buffer
			if err := f.Write(&b, a); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			var err error
			switch f.MediaType {
			case TypeHTML:
				err = pageFault(b.String())
			case TypeLinkset:
				err = checkLinkset(b.String())
			case TypeLinksetJSON:
				err = checkLinksetJSON(b.String())
			case TypeTurtle:
				err = turtleFault(b.String())
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", f.Name, err, b.String())
			}
			if f.Read != nil {
				if _, err := f.Read(&b, a.Service); err != nil {
					t.Fatalf("%s: %v", f.Name, err)
				}
			}
		}
		if err := citationFault(t, a); err != nil {
			t.Fatal(err)
		}
		p := NewProblem(&nomen.Error{Kind: nomen.Kind(1 + choice%5), Name: spelling, Offset: int(choice), Rule: rel, Message: text, Suggestions: []string{url}, Answer: a}, 404)
		var b bytes.Buffer
		for _, write := range []func(io.Writer, *Problem) error{WriteProblemHTML, WriteProblemURC, writeProblemText, WriteProblem} {
			b.Reset()
			if err := write(&b, p); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(b.String(), "<!DOCTYPE") {
				if err := pageFault(b.String()); err != nil {
					t.Fatalf("problem: %v\n%s", err, b.String())
				}
			}
		}
	})
}

// Nothing that a browser runs becomes the target of a link in data, whoever stated it.
func TestNoScriptInLinks(t *testing.T) {
	const script, did = "javascript:alert(1)", "did:example:1"
	a := &nomen.Answer{
		Service: nomen.I2C, Name: name.MustParse("urn:example:1"), Status: nomen.Active,
		Names: []string{script, did}, Locations: []nomen.Location{{URL: script}, {URL: "https://example.org/1"}},
	}
	for _, f := range []string{"linkset", "linkset-json", "json-ld", "turtle"} {
		to, ok := ByName(f)
		if !ok {
			t.Fatal(f)
		}
		var b strings.Builder
		if err := to.Write(&b, a); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); strings.Contains(got, script) {
			t.Errorf("%s: %s", f, got)
		} else if !strings.Contains(got, did) || !strings.Contains(got, "https://example.org/1") {
			t.Errorf("%s lacks a link: %s", f, got)
		}
	}
}
