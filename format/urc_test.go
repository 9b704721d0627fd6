package format

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
)

// If only locations were asked for, only locations and notes are written (1995, 3.4.2.1),
// unless a note looks like a description.
func TestURCLocationsOnly(t *testing.T) {
	a := &nomen.Answer{
		Service: nomen.I2Ls, Name: name.MustParse("urn:dns:example.org:x"), Status: nomen.Active, Revision: 1,
		Locations: []nomen.Location{
			{URL: "https://example.org/one", Lang: "fr", Charset: "ISO-8859-1", Note: "free text"},
			{URL: "https://example.org/two", Lang: "no tag\r\n"},
		},
	}
	want := "=====;charset=ISO-8859-1;language=fr\r\nhttps://example.org/one\r\nfree text\r\n=====\r\nhttps://example.org/two\r\n"
	if got := written(t, WriteURC, a); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, note := range []string{"name: urn:x-y:z", "\n\nname: x", "a\r\n\r\nname: urn:x-y:z\nstatus: retired"} {
		a.Locations[0].Note = note
		got, err := readURC(strings.NewReader(written(t, WriteURC, a)), a.Service)
		if err != nil || got.Locations[0].Note != shown.Lines(note) || got.Name != a.Name || got.Status != nomen.Active {
			t.Errorf("%q: got %+v, %v", note, got, err)
		}
	}
}

// Answers of other servers are read without loss.
func TestReadURCOfOthers(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       nomen.Answer
	}{
		{
			"notes", "=====\nftp://ftp.wnln.example/phones.txt\n     This is the most up-to-date version.\n=====fr\nftp://ftp.bigstate.example/phones.txt\n",
			nomen.Answer{Locations: []nomen.Location{{URL: "ftp://ftp.wnln.example/phones.txt", Note: "     This is the most up-to-date version."}, {URL: "ftp://ftp.bigstate.example/phones.txt", Lang: "fr"}}},
		},
		{ // Y95-55
			"urn+m", "=====\nThe URNs on this server\nmostly point to movies.\n=====\nmailto:x@example.org\n=====\n \n=====\nmore",
			nomen.Answer{
				Metadata:  nomen.Metadata{"description": {"The URNs on this server\nmostly point to movies.", "more"}},
				Locations: []nomen.Location{{URL: "mailto:x@example.org"}},
			},
		},
		{ // Y95-46
			"unknown charset", "=====;charset=UTF-8\nhttps://example.org/\n\xc3\xa9\xff\n",
			nomen.Answer{Locations: []nomen.Location{{URL: "https://example.org/", Charset: "UTF-8", Note: "é\uFFFD"}}},
		},
		{
			"what looks like a description", "=====\nhttps://example.org/\nname: not a name\nx: y\n",
			nomen.Answer{Locations: []nomen.Location{{URL: "https://example.org/", Note: "name: not a name\nx: y"}}},
		},
		{
			"no field", "=====\nhttps://example.org/\nname: urn:x-y:z\nx\n",
			nomen.Answer{Locations: []nomen.Location{{URL: "https://example.org/", Note: "name: urn:x-y:z\nx"}}},
		},
		{
			"an invalid key", "=====\nname: urn:x-y:z\nkey: %\n",
			nomen.Answer{Metadata: nomen.Metadata{"description": {"name: urn:x-y:z\nkey: %"}}},
		},
		{
			"fields that are not understood", "=====\nname: URN:x-y:z\nrevision: x\nmodified: y\nsuccessor: z\nmax-age: -1\nfoo:bar\ndc:title: t\n",
			nomen.Answer{
				Name: name.MustParse("urn:x-y:z"), Spelling: "URN:x-y:z",
				Metadata: nomen.Metadata{"revision": {"x"}, "modified": {"y"}, "successor": {"z"}, "max-age": {"-1"}, "foo": {"bar"}, "title": {"t"}},
			},
		},
	} {
		got, err := readURC(strings.NewReader(tt.body), "")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if d := cmp.Diff(*got, tt.want, compareNames); d != "" {
			t.Errorf("%s (got -, want +):\n%s", tt.name, d)
		}
	}
}

// Text of a record never breaks out of its part.
func TestURCHostile(t *testing.T) {
	a := hostile()
	a.Locations = append(a.Locations, nomen.Location{URL: "https://example.org/", Note: "\r\n=====\r\nhttps://evil.example/"}, nomen.Location{Note: "https://evil.example/"}, nomen.Location{URL: "\n", Note: "<URL:https://evil.example/>"})
	parts, err := ReadParts(strings.NewReader(written(t, WriteURC, a)))
	if err != nil || len(parts) != len(a.Locations) {
		t.Fatalf("got %d parts, %v, want %d", len(parts), err, len(a.Locations))
	}
	for i, p := range parts {
		if isAbsolute(a.Locations[i].URL) != (p.URL != "") || strings.Contains(p.URL, "evil") && !strings.Contains(a.Locations[i].URL, "evil") {
			t.Errorf("part %d of %q has the URL %q", i, a.Locations[i].URL, p.URL)
		}
	}
}

// A description with too many fields is free text.
func TestURCFieldBound(t *testing.T) {
	body := "=====\nname: urn:x-y:z\n" + strings.Repeat("a:\n", maxItems)
	a, err := readURC(strings.NewReader(body), nomen.I2C)
	if err != nil || !a.Name.IsZero() || len(a.Metadata["description"]) != 1 {
		t.Errorf("got %q, %v", a.Name, err)
	}
}

// Text in a script outside the draft's charsets is readable if the client accepts UTF-8. For
// every other client the octets stay in the closed set. Both come back unchanged.
func TestURCOfOtherScripts(t *testing.T) {
	a := &nomen.Answer{
		Service: nomen.I2C, Name: name.MustParse("urn:x-y:z"), Status: nomen.Active, Modified: time.Unix(0, 0).UTC(),
		Metadata:  nomen.Metadata{"title": {"中文 हिन्दी"}},
		Locations: []nomen.Location{{URL: "https://example.org/one"}, {URL: "https://example.org/two", Note: "café"}, {URL: "https://example.org/three", Note: "中\x1b &#x41;"}},
	}
	urc, _ := ByName("urc")
	closed, open := written(t, urc.Write, a), written(t, urc.InUnicode().Write, a)
	for _, want := range []string{
		"=====\r\nhttps://example.org/one\r\nname: urn:x-y:z\r\n", "title: &#x4E2D;&#x6587; &#x939;",
		"=====;charset=ISO-8859-1\r\nhttps://example.org/two\r\ncaf\xe9\r\n", "=====\r\nhttps://example.org/three\r\n&#x4E2D;&#x1B; &#x26;#x41;\r\n",
	} {
		if !strings.Contains(closed, want) {
			t.Errorf("Y95-46: no %q in\n%q", want, closed)
		}
	}
	for _, want := range []string{
		"=====;charset=UTF-8\r\nhttps://example.org/one\r\nname: urn:x-y:z\r\n", "title: 中文 हिन्दी\r\n",
		"=====;charset=ISO-8859-1\r\nhttps://example.org/two\r\ncaf\xe9\r\n", "=====;charset=UTF-8\r\nhttps://example.org/three\r\n中&#x1B; &#x26;#x41;\r\n",
	} {
		if !strings.Contains(open, want) {
			t.Errorf("Y95-78: no %q in\n%q", want, open)
		}
	}
	for _, body := range []string{closed, open} {
		got, err := readURC(strings.NewReader(body), nomen.I2C)
		if err != nil || got.Metadata["title"][0] != a.Metadata["title"][0] || got.Locations[2].Note != a.Locations[2].Note || got.Locations[1].Note != a.Locations[1].Note {
			t.Errorf("Y95-78: %q is read as %+v, %v", body, got, err)
		}
	}
	gone := NewProblem(&nomen.Error{Kind: nomen.Gone, Message: "中文"}, 410)
	form := ProblemFormat(TypeURC)
	if got := written(t, form.Write, gone); !strings.Contains(got, "&#x4E2D;") || strings.Contains(got, "UTF-8") {
		t.Errorf("Y95-46: a problem: %q", got)
	}
	if got := written(t, form.InUnicode().Write, gone); !strings.Contains(got, "中文") || !strings.HasPrefix(got, "=====;charset=UTF-8\r\n") {
		t.Errorf("Y95-78: a problem: %q", got)
	}
	for _, f := range Formats() { // other formats are unchanged
		if f.MediaType != TypeURC && written(t, f.Write, a) != written(t, f.InUnicode().Write, a) {
			t.Errorf("%s changes", f.Name)
		}
	}
}
