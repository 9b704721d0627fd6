package format

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
)

// seed adds the golden files of a format and some bodies.
func seed(f *testing.F, pattern string, bodies ...string) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, body := range bodies {
		f.Add([]byte(body))
	}
}

// settles checks that the result of a reader is the same after writing and reading it again.
func settles(t *testing.T, format string, body []byte) {
	f, _ := ByName(format)
	once, err := f.Read(bytes.NewReader(body), nomen.I2C)
	if err != nil {
		if e := new(Error); !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(body) {
			t.Fatalf("%T %v", err, err)
		}
		return
	}
	twice, err := f.Read(strings.NewReader(written(t, f.Write, once)), nomen.I2C)
	if err != nil {
		t.Fatal(err)
	}
	if format == "linkset" && len(once.Locations)+len(once.Names)+len(once.Successors) == 0 {
		once.Name = twice.Name
	}
	ignoreBodies(once, twice)
	if d := cmp.Diff(twice, once, compareNames); d != "" {
		t.Fatalf("second reading -, first +:\n%s", d)
	}
}

func ignoreBodies(all ...*nomen.Answer) {
	for _, a := range all {
		if a.Resource != nil {
			a.Resource.Body = nil
		}
	}
}

func FuzzURC(f *testing.F) {
	seed(f, "*.urc.golden", "=====\r<URL:\ra:b\n =====\n", "===== ISO-8859-3 x\n\xa5", "=====;charset=UTF-8\n\xff\n=====\n\nname: -\n")
	f.Fuzz(func(t *testing.T, body []byte) {
		parts, err := ReadParts(bytes.NewReader(body))
		if err != nil {
			return
		}
		for _, p := range parts {
			if p.URL != "" && !isAbsolute(p.URL) {
				t.Fatalf("URL %q", p.URL)
			}
			rewritable(t, p)
		}
		if a, err := readURC(bytes.NewReader(body), nomen.I2C); err == nil {
			rereadable(t, a)
		}
	})
}

// rewritable checks that a part that can be written comes back unchanged.
func rewritable(t *testing.T, p Part) {
	var b bytes.Buffer
	if err := WritePart(&b, p); err != nil {
		if e := new(Error); !errors.As(err, &e) || e.Rule == "url" || b.Len() > 0 {
			t.Fatalf("%+v: %v", p, err)
		}
		return
	}
	again, err := ReadParts(&b)
	if err != nil || len(again) != 1 {
		t.Fatalf("%+v: %v, %v", p, again, err)
	}
	if d := cmp.Diff(again[0], p, onlyStated); d != "" {
		t.Fatalf("got -, want +:\n%s", d)
	}
}

// rereadable checks that an answer from any body can be written so that its locations and notes
// come back.
func rereadable(t *testing.T, a *nomen.Answer) {
	again, err := readURC(strings.NewReader(written(t, WriteURC, a)), a.Service)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*nomen.Answer{a, again} {
		for i, l := range x.Locations {
			x.Locations[i].Charset = ""
			if !isLanguage(l.Lang) || strings.EqualFold(l.Lang, defaultLanguage) {
				x.Locations[i].Lang = ""
			}
		}
	}
	if d := cmp.Diff(again, a, compareNames); d != "" {
		t.Fatalf("got -, want +:\n%s", d)
	}
}

func FuzzURIList(f *testing.F) {
	seed(f, "*.uri-list.golden", "#\r\na:\rb:")
	f.Fuzz(func(t *testing.T, body []byte) { settles(t, "uri-list", body) })
}

func FuzzJSON(f *testing.F) {
	seed(f, "*.json.golden", `{"locations":[{},null],"metadata":{"":[]},"resource":{}}`, `{"max_age":1.5,"same":false}`)
	f.Fuzz(func(t *testing.T, body []byte) { settles(t, "json", body) })
}

func FuzzProblem(f *testing.F) {
	seed(f, "*problem-json.golden", `{"type":"/retired","answer":{}}`, `{"type":"x","offset":5,"name":"abc"}`)
	f.Fuzz(func(t *testing.T, body []byte) {
		once, err := ReadProblem(bytes.NewReader(body))
		if err != nil {
			if e := new(Error); !errors.As(err, &e) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		for _, accept := range []string{TypeText, TypeHTML, TypeURC} {
			written(t, ProblemFormat(accept).Write, once)
		}
		twice, err := ReadProblem(strings.NewReader(written(t, WriteProblem, once)))
		if err != nil {
			t.Fatal(err)
		}
		if once.Answer != nil && twice.Answer != nil {
			ignoreBodies(once.Answer, twice.Answer)
		}
		if d := cmp.Diff(twice, once, compareNames); d != "" {
			t.Fatalf("second reading -, first +:\n%s", d)
		}
	})
}

func FuzzLinksetJSON(f *testing.F) {
	seed(f, "*.linkset-json.golden", `{"linkset":[{"a":[{"href":"a:","hreflang":[],"title*":[]}]}, {}]}`)
	f.Fuzz(func(t *testing.T, body []byte) { settlesLoosely(t, "linkset-json", body) })
}

func FuzzLinkset(f *testing.F) {
	seed(f, "*.linkset.golden", `<a:>;rel="a b";title*=UTF-8'x'%41,`)
	f.Fuzz(func(t *testing.T, body []byte) { settlesLoosely(t, "linkset", body) })
}

func FuzzJSONLD(f *testing.F) {
	seed(f, "*.json-ld.golden", `{"name":"x","author":{"name":"y"},"encoding":{"contentUrl":"https://x.example/"},"sameAs":[{"@id":"a:b"}]}`, `{"identifier":[1,{"name":"I=I","value":true},"urn:x-y:1"],"dc:title":[null,{"@value":"t"}]}`)
	f.Fuzz(func(t *testing.T, body []byte) { settlesLoosely(t, "json-ld", body) })
}

// settlesLoosely is like settles after one more round, since the first one normalises
// relations, languages and texts.
func settlesLoosely(t *testing.T, format string, body []byte) {
	f, _ := ByName(format)
	a, err := f.Read(bytes.NewReader(body), nomen.I2C)
	if err != nil {
		settles(t, format, body)
		return
	}
	settles(t, format, []byte(written(t, f.Write, a)))
}

func FuzzNegotiate(f *testing.F) {
	for _, accept := range []string{"", "*/*;q=0", `text/html;a="b,\"c";q=0.5, */*;q=1.000`, "text/*;q=0,,"} {
		f.Add(accept)
	}
	offers := Formats()
	f.Fuzz(func(t *testing.T, accept string) {
		got, ok := Negotiate(accept, offers, offers[0])
		if _, known := ByName(got.Name); ok != known {
			t.Fatalf("%q, %t", got.Name, ok)
		}
		if again, okAgain := Negotiate(accept+" ,", offers, offers[0]); len(accept) < 8000 && !strings.ContainsAny(accept, `"`) && (again.Name != got.Name || okAgain != ok) {
			t.Fatalf("an empty element changes %q to %q", got.Name, again.Name)
		}
		if form := ProblemFormat(accept); form.Write == nil {
			t.Fatal("no form")
		}
	})
}
