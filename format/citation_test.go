package format

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// cited is a work with everything that the citation formats contain.
func cited() *nomen.Answer {
	return &nomen.Answer{
		Service: nomen.I2C, Name: name.MustParse("urn:nbn:fi-fe2019"), Status: nomen.Active,
		Locations: []nomen.Location{
			{URL: "https://spdx.org/licenses/CC-BY-4.0", Rel: "license"},
			{URL: "https://example.org/data_1.csv?a=1&b=50%25", Type: "text/csv"},
		},
		Metadata: nomen.Metadata{
			"title":   {"50% of $5 & more:\r\n{The_rest} #1 ~ ^ \\"},
			"creator": {"Länsman, Áile", "Ford and Sons, Mary", "Research and Co, Inc.", "Finnish Institute", "https://orcid.org/0000-0001-2345-6789"},
			"date":    {"in spring", "2019-08-05T10:00:00Z"}, "publisher": {"National Library"}, "type": {"http://purl.org/dc/dcmitype/Dataset"},
			"subject": {"birds", "ice"}, "language": {"fi"}, "description": {"First.", "Second\nline."}, "rights": {"https://spdx.org/licenses/CC-BY-4.0"},
		},
		Names: []string{"doi:10.5072/A_b", "urn:isbn:9780451450524"},
	}
}

func TestCitations(t *testing.T) {
	page := Page{Base: "https://names.example.org"}
	for name, want := range map[string]string{
		"csl-json": `{"id":"urn:nbn:fi-fe2019","type":"dataset","title":"50% of $5 & more: {The_rest} #1 ~ ^ \\",` +
			`"author":[{"family":"Länsman","given":"Áile"},{"family":"Ford and Sons","given":"Mary"},{"literal":"Research and Co, Inc."},{"literal":"Finnish Institute"}],` +
			`"issued":{"date-parts":[[2019,8,5]]},"publisher":"National Library","abstract":"First. Second line.","keyword":"birds, ice","language":"fi",` +
			`"DOI":"10.5072/A_b","ISBN":"9780451450524","URL":"https://names.example.org/urn:nbn:fi-fe2019"}` + "\n",
		"bibtex": "@misc{urn:nbn:fi-fe2019,\n" +
			"  author = {Länsman, Áile and {Ford and Sons}, Mary and {Research and Co, Inc.} and {Finnish Institute}},\n" +
			"  title = {50\\% of \\$5 \\& more: \\textbraceleft{}The\\_rest\\textbraceright{} \\#1 \\textasciitilde{} \\textasciicircum{} \\textbackslash{}},\n" +
			"  publisher = {National Library},\n  year = {2019},\n  month = aug,\n  isbn = {9780451450524},\n  doi = {10.5072/A_b},\n" +
			"  url = {https://names.example.org/urn:nbn:fi-fe2019},\n  keywords = {birds, ice},\n  abstract = {First. Second line.},\n  language = {fi}\n}\n",
		"ris": "TY  - DATA\r\nID  - urn:nbn:fi-fe2019\r\nTI  - 50% of $5 & more: {The_rest} #1 ~ ^ \\\r\n" +
			"AU  - Länsman, Áile\r\nAU  - Ford and Sons, Mary\r\nAU  - Research and Co, Inc.\r\nAU  - Finnish Institute\r\n" +
			"PY  - 2019\r\nDA  - 2019/08/05/\r\nPB  - National Library\r\nAB  - First. Second line.\r\nKW  - birds\r\nKW  - ice\r\nLA  - fi\r\n" +
			"DO  - 10.5072/A_b\r\nSN  - 9780451450524\r\nUR  - https://names.example.org/urn:nbn:fi-fe2019\r\nER  - \r\n",
	} {
		f, ok := ByName(name)
		if !ok || f.Read != nil {
			t.Fatalf("ByName(%q) = %v, %t", name, f, ok)
		}
		if d := cmp.Diff(written(t, f.On(page).Write, cited()), want); d != "" {
			t.Errorf("%s (got -, want +):\n%s", name, d)
		}
		// Without a page the URL is that of the resource, not that of its licence.
		if got := written(t, f.Write, cited()); !strings.Contains(got, "https://example.org/data_1.csv?a=1&b=50%25") || strings.Contains(got, "spdx") {
			t.Errorf("%s without a page: %s", name, got)
		}
		if got := written(t, f.Write, &nomen.Answer{Service: nomen.I2C, Name: name2019}); !strings.Contains(got, "fe2019") {
			t.Errorf("%s of a name without metadata: %s", name, got)
		}
	}
}

var name2019 = name.MustParse("urn:nbn:fi-fe2019")

func TestCitedDates(t *testing.T) {
	for s, want := range map[string]date{
		"2019": {2019, 0, 0}, "2019-08": {2019, 8, 0}, "2019-08-05": {2019, 8, 5}, " 2019-08-05T10:00:00+02:00 ": {2019, 8, 5}, "0476": {476, 0, 0},
		"": {}, "19": {}, "2019-13": {}, "2019-8": {}, "2019-08-32": {}, "05.08.2019": {}, "2019-08-05-01": {}, "-2019": {}, "2019/2020": {}, "+201": {}, "0000": {},
	} {
		if got := dateOf(s); got != want {
			t.Errorf("dateOf(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestReference(t *testing.T) {
	const url = "https://n.example/x"
	for _, tt := range []struct {
		m    nomen.Metadata
		want string
	}{
		{nomen.Metadata{}, ""},
		{nomen.Metadata{"creator": {"A"}}, ""},
		{nomen.Metadata{"title": {" ", "T."}}, "T. " + url},
		{nomen.Metadata{"title": {"T"}, "date": {"1999"}}, "(1999). T. " + url},
		{nomen.Metadata{"title": {"T"}, "date": {"1999-05-01T10:00:00Z"}}, "(1999). T. " + url},
		{nomen.Metadata{"title": {"T"}, "date": {" ", "about 1900"}}, "(about 1900). T. " + url},
		{nomen.Metadata{"title": {"T"}, "creator": {"Mitchell,  Joni", "Reprise, Inc.", "https://orcid.org/0000-0002-1825-0097"}}, "Mitchell, Joni; Reprise, Inc. T. " + url},
		{nomen.Metadata{"title": {"T\u202e"}, "creator": {"", "A"}, "publisher": {"P"}}, "A. T[U+202E]. P. " + url},
	} {
		if got := Reference(tt.m, url); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.m, got, tt.want)
		}
	}
}

func TestKindOfWork(t *testing.T) {
	for s, want := range map[string]string{
		"Dataset": "dataset", "https://schema.org/Dataset": "dataset", "http://purl.org/dc/dcmitype/MovingImage": "motion_picture",
		"journal article": "article-journal", "Doctoral Thesis": "thesis", "Software": "software", "": "document", "no such thing": "document",
	} {
		if got := kindOfWork([]string{"\xff", s}).csl; got != want {
			t.Errorf("kindOfWork(%q) = %s, want %s", s, got, want)
		}
	}
}

// Text of a record does not end a field, an entry or a statement early.
func TestHostileCitations(t *testing.T) {
	for _, s := range append(evils(), `}, note = {x`, `{`, `}`, `\{`, "TY  - BOOK\nER  - ", `" ; a <x> . [] "`, "<urn:a> .") {
		for _, a := range []*nomen.Answer{evilAnswer(s), tombstoneOf(s), evilCitation(s)} {
			if err := citationFault(t, a); err != nil {
				t.Errorf("%.40q: %v", s, err)
			}
			if err := turtleFault(written(t, writeTurtle, a)); err != nil {
				t.Errorf("turtle of %.40q: %v\n%s", s, err, written(t, writeTurtle, a))
			}
		}
	}
}

// evilCitation has s in every field that is cited.
func evilCitation(s string) *nomen.Answer {
	a := &nomen.Answer{Service: nomen.I2C, Name: name.MustParse("doi:10.5072/%7Bx%7D%0D%0A"), Metadata: nomen.Metadata{}, Names: []string{s}}
	for _, element := range dublinCore {
		a.Metadata[element] = []string{s, s + ", " + s, "https://example.org/" + s}
	}
	return a
}

var (
	risLine  = regexp.MustCompile(`^[A-Z][A-Z0-9]  - [^\r\n]*$`)
	bibField = regexp.MustCompile(`^  [a-z]+ = (\{.*\}|[a-z]{3}),?$`)
)

// citationFault returns the first fault in the citations of an answer.
func citationFault(t *testing.T, a *nomen.Answer) error {
	t.Helper()
	ris := written(t, alone(writeRIS), a)
	lines := strings.Split(strings.TrimSuffix(ris, "\r\n"), "\r\n")
	for i, line := range lines {
		ends := strings.HasPrefix(line, "ER  - ")
		if !risLine.MatchString(line) || ends != (i == len(lines)-1) || strings.HasPrefix(line, "TY") != (i == 0) {
			return fmt.Errorf("RIS: line %d: %q", i, line)
		}
	}
	bib := written(t, alone(writeBibTeX), a)
	lines = strings.Split(bib, "\n")
	if n := len(lines); !strings.HasPrefix(bib, "@") || n < 2 || lines[n-1] != "" || lines[n-2] != "}" {
		return fmt.Errorf("BibTeX: no entry: %q", bib)
	}
	for _, line := range lines[1 : len(lines)-2] {
		depth := 0
		for i, c := range line {
			switch c {
			case '{':
				depth++
			case '}':
				if depth--; depth == 0 && strings.TrimRight(line[i+1:], ",") != "" {
					return fmt.Errorf("BibTeX: the value ends early: %q", line)
				}
			}
		}
		if depth != 0 || !bibField.MatchString(line) {
			return fmt.Errorf("BibTeX: %q", line)
		}
	}
	var item map[string]any
	csl := written(t, alone(writeCSL), a)
	if err := json.Unmarshal([]byte(csl), &item); err != nil || item["id"] == "" || item["type"] == "" || strings.Count(csl, "\n") != 1 {
		return fmt.Errorf("CSL-JSON: %v: %s", err, csl)
	}
	for _, body := range []string{ris, bib, csl} {
		if strings.ContainsAny(body, "\x00\x1b\u202e\u2028") {
			return fmt.Errorf("control characters: %q", body)
		}
	}
	return nil
}

// turtleToken is a token of the output of writeTurtle (RDF 1.1 Turtle, 6.5).
var turtleToken = regexp.MustCompile(`^(?:<[^\x00-\x20<>"{}|^` + "`" + `\\]*>|"(?:[^"\\\n\r]|\\["\\nrt]|\\u[0-9A-F]{4})*"(?:\^\^xsd:dateTime)?|(?:dc|dcterms|schema|xsd):[A-Za-z]*|@prefix|true|false|a|[\[\].;])`)

// turtleFault parses subjects with their properties.
func turtleFault(body string) error {
	var tokens []string
	for rest := strings.TrimSpace(body); rest != ""; rest = strings.TrimLeft(rest, " \n") {
		token := turtleToken.FindString(rest)
		if token == "" {
			return fmt.Errorf("no token at %.60q", rest)
		}
		tokens, rest = append(tokens, token), rest[len(token):]
	}
	for len(tokens) > 4 && tokens[0] == "@prefix" && tokens[3] == "." {
		tokens = tokens[4:]
	}
	for rest, ok := tokens, true; len(rest) > 0; rest = rest[1:] {
		if rest, ok = turtleSubject(rest); !ok {
			return errors.New("no subject")
		}
		if rest, ok = turtleProperties(rest); !ok || len(rest) == 0 || rest[0] != "." {
			return fmt.Errorf("not a list of properties before %q", rest)
		}
	}
	return nil
}

func turtleSubject(tokens []string) ([]string, bool) {
	if len(tokens) > 1 && tokens[0] == "[" && tokens[1] == "]" {
		return tokens[2:], true
	}
	if len(tokens) > 0 && tokens[0][0] == '<' {
		return tokens[1:], true
	}
	return nil, false
}

func turtleProperties(tokens []string) (rest []string, ok bool) {
	for {
		if len(tokens) < 3 || tokens[0] != "a" && !strings.Contains(tokens[0], ":") {
			return tokens, false
		}
		object := tokens[1]
		tokens = tokens[2:]
		switch {
		case object == "[":
			if tokens, ok = turtleProperties(tokens); !ok || len(tokens) == 0 || tokens[0] != "]" {
				return tokens, false
			}
			tokens = tokens[1:]
		case strings.ContainsAny(object[:1], ".;]@"):
			return tokens, false
		}
		if len(tokens) == 0 || tokens[0] != ";" {
			return tokens, true
		}
		tokens = tokens[1:]
	}
}

// A licence, a description and a related resource are not encodings of the work in JSON-LD and
// Turtle; copies are.
func TestRelationsInLinkedData(t *testing.T) {
	a := &nomen.Answer{Service: nomen.I2C, Name: name.MustParse("urn:x-y:1"), Locations: []nomen.Location{
		{URL: "https://example.org/file"},
		{URL: "https://example.org/copy", Rel: "archive"},
		{URL: "https://example.org/licence", Rel: "license"},
		{URL: "https://example.org/about", Rel: "describedby", Type: "text/html", Note: "what it is"},
		{URL: "https://example.org/next", Rel: "next"},
		{URL: "https://example.org/both", Rel: "license ITEM"},
	}}
	var o struct {
		Encoding []struct {
			URL string `json:"contentUrl"`
		} `json:"encoding"`
		License, SubjectOf []struct {
			ID string `json:"@id"`
		}
		Related []struct {
			ID string `json:"@id"`
		} `json:"dcterms:relation"`
	}
	body := written(t, writeJSONLD, a)
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(o.Encoding, o.License, o.SubjectOf, o.Related)
	if want := "[{https://example.org/file} {https://example.org/copy} {https://example.org/both}] [{https://example.org/licence}] [{https://example.org/about}] [{https://example.org/next}]"; got != want {
		t.Errorf("JSON-LD: got %s, want %s", got, want)
	}
	turtle := written(t, writeTurtle, a)
	for _, want := range []string{
		"schema:encoding [ a schema:MediaObject ; schema:contentUrl <https://example.org/file> ]", "schema:contentUrl <https://example.org/copy>",
		"schema:license <https://example.org/licence>", "schema:subjectOf <https://example.org/about>", `<https://example.org/about> schema:encodingFormat "text/html" ; schema:description "what it is" .`, "dcterms:relation <https://example.org/next>",
	} {
		if !strings.Contains(turtle, want) {
			t.Errorf("Turtle: no %s in\n%s", want, turtle)
		}
	}
	if strings.Count(turtle, "schema:encoding ") != 3 {
		t.Errorf("Turtle has other encodings:\n%s", turtle)
	}
	again, err := readJSONLD(strings.NewReader(body), nomen.I2C)
	if err != nil || len(again.Locations) != 6 || again.Locations[3] != a.Locations[3] {
		t.Errorf("read again: %v, %v", again, err)
	}
	// The same data without brackets, as others write it.
	again, err = readJSONLD(strings.NewReader(`{"@id":"urn:x-y:1","license":"https://example.org/l","subjectOf":{"url":"https://example.org/s"}}`), nomen.I2C)
	if want := []nomen.Location{{URL: "https://example.org/s", Rel: "describedby"}, {URL: "https://example.org/l", Rel: "license"}}; err != nil || !cmp.Equal(again.Locations, want) {
		t.Errorf("of others: %v, %v", again, err)
	}
}
