package obo

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

const sample = `idspace: EX
base_url: /obo/ex
products:
- ex.owl: https://h.example/ex.owl
term_browser: ontobee
example_terms:
- EX_0000001
base_redirect: https://h.example/
entries:
- exact: /a.b
  replacement: https://h.example/a
  status: permanent
- prefix: /p/
  replacement: https://h.example/p/x%3Ay/
  tests:
  - from: /p/1/2
    to: https://h.example/p/x%3Ay/1/2
- regex: ^/obo/ex/r(\d+)/(.*)$
  replacement: https://h.example/r?n=$1&t=$2
  status: see other
- prefix: /
  replacement: https://h.example/all/
- exact: /p/hidden
  replacement: https://h.example/hidden
tests:
- from: /A.B
  to: https://h.example/a
`

func convert(t *testing.T, file, text string, authorities map[string]*store.Authority) from.Report {
	t.Helper()
	out := from.NewOutput(file, nil)
	if err := Convert(t.Context(), &from.Input{Reader: strings.NewReader(text), Path: file}, out); err != nil {
		t.Errorf("%s: %v", file, err)
	}
	for _, change := range out.Authorities() {
		p := change.Prefix.String()
		if authorities[p] == nil {
			authorities[p] = &store.Authority{Prefix: change.Prefix}
		}
		change.Change(authorities[p])
	}
	return out.Report()
}

// answer returns the location of a path under the authority with the longest prefix.
func answer(t *testing.T, authorities map[string]*store.Authority, compiled map[*store.Authority]*rule.Compiled, p string) (string, int) {
	t.Helper()
	n, err := name.Parse("http://purl.obolibrary.org" + escape(p))
	if err != nil {
		t.Fatal(err)
	}
	for prefix := range n.Prefixes {
		a := authorities[prefix.String()]
		if a == nil {
			continue
		}
		c := compiled[a]
		if c == nil {
			var err error
			if c, err = a.Rules.Compile(a.Prefix); err != nil {
				t.Fatal(err)
			}
			compiled[a] = c
		}
		if r, ok, _ := c.Apply(n, rule.Request{}); ok && len(r.Locations) == 1 {
			return r.Locations[0].URL, r.Status
		}
		return "", 0
	}
	return "", 0
}

func TestConvert(t *testing.T) {
	authorities := make(map[string]*store.Authority)
	for range 2 { // the second import changes nothing
		if r := convert(t, "ex.yml", sample, authorities); len(r.Refused) > 0 || r.Handled != 12 {
			t.Errorf("got %+v, want 12 directives, all handled", r)
		}
	}
	if got := len(authorities["http://purl.obolibrary.org/obo"].Rules); got != 3 {
		t.Errorf("got %d common rules, want 3", got)
	}
	compiled := make(map[*store.Authority]*rule.Compiled)
	for _, tt := range []struct {
		path, want string
		status     int
	}{
		{"/obo/ex.owl", "https://h.example/ex.owl", 302},
		{"/obo/EX.OWL", "https://h.example/ex.owl", 302},
		{"/obo/EX_123", "http://www.ontobee.org/browser/rdf.php?o=EX&iri=http://purl.obolibrary.org/obo/EX_123", 303},
		{"/obo/ex_123", "", 0},
		{"/obo/ex", "https://h.example/", 302},
		{"/obo/ex/A.b", "https://h.example/a", 301},
		{"/obo/EX/a.b", "https://h.example/a", 301},
		{"/obo/ex/axb", "https://h.example/all/axb", 302},
		{"/obo/ex/P/1 2#3", "https://h.example/p/x%3Ay/1%202%233", 302},
		{"/obo/ex/r12/x/y", "https://h.example/r?n=12&t=x/y", 303},
		{"/obo/ex/", "https://h.example/all/", 302},
		{"/obo/ex/p//1", "https://h.example/p/x%3Ay/1", 302},
		{"/obo/other", "", 0},
	} {
		if got, status := answer(t, authorities, compiled, tt.path); got != tt.want || status != tt.status {
			t.Errorf("%s: got %s, %d, want %s, %d", tt.path, got, status, tt.want, tt.status)
		}
	}
}

// TestDecoded: a pattern is decoded, and a test of a file compares decoded locations.
func TestDecoded(t *testing.T) {
	authorities := make(map[string]*store.Authority)
	const text = "idspace: EX\nbase_url: /obo/ex\nentries:\n- exact: /a%20b\n  replacement: https://h.example/x%3Ay\n  tests:\n  - from: /a%20b\n    to: https://h.example/x:y\n" +
		"- regex: ^/obo/ex/r(%5C%2E)x$\n  replacement: https://h.example/r$1\n"
	if r := convert(t, "ex.yml", text, authorities); len(r.Refused) > 0 {
		t.Fatalf("%+v", r)
	}
	compiled := make(map[*store.Authority]*rule.Compiled)
	for path, want := range map[string]string{"/obo/ex/a b": "https://h.example/x%3Ay", "/obo/ex/r.x": "https://h.example/r."} {
		if got, _ := answer(t, authorities, compiled, path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for text, reason := range map[string]string{
		"entries:\n- exact: /a\n  replacement: https://h.example/\n  status: 418":                                           "unknown status",
		"entries:\n- exact: /a\n  replacement: relative":                                                                    "depends on the request",
		"entries:\n- regex: ^/other/(.*)$\n  replacement: https://h.example/$1":                                             "must begin with the path",
		"entries:\n- regex: ^/obo/ex/(?=a)$\n  replacement: https://h.example/":                                             "unsupported regular expression",
		"entries:\n- regex: ^/obo/ex/a$\n  replacement: https://h.example/$1":                                               "no group $1",
		"entries:\n- replacement: https://h.example/":                                                                       "must have exact, prefix or regex",
		"entries:\n- exact: /a\n  replacement: https://h.example/\n  note: x":                                               "unknown key",
		"entries:\n- exact: /a\n  replacement: https://h.example/\n  tests:\n  - from: /a\n    to: https://h.example/other": "do not give the expected location",
		"entries:\n- exact: /a\n  prefix: /b\n  replacement: https://h.example/":                                            "must have only one",
		"term_browser: other": "unknown browser",
		"extra: 1":            "unknown key",
	} {
		r := convert(t, "ex.yml", "idspace: EX\nbase_url: /obo/ex\n"+text, make(map[string]*store.Authority))
		if len(r.Refused) != 1 || !strings.Contains(r.Refused[0].Reason, reason) {
			t.Errorf("%q: got %+v, want %s", text, r.Refused, reason)
		}
	}
	for _, text := range []string{"", "a: [", "idspace: X", "idspace: X\nbase_url: obo"} {
		if err := Convert(t.Context(), &from.Input{Reader: strings.NewReader(text)}, from.NewOutput("x", nil)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestFoundry imports the files of the OBO Foundry and makes all their tests.
func TestFoundry(t *testing.T) {
	files := foundry(t)
	authorities := make(map[string]*store.Authority)
	full := 0
	for file, text := range files {
		r := convert(t, file, text, authorities)
		if len(r.Refused) == 0 {
			full++
		}
		for _, refused := range r.Refused {
			if !strings.HasPrefix(refused.Text, "test: /chebi/") && !strings.HasPrefix(refused.Text, "test: /CHEBI/") { // of another file
				t.Errorf("%s: %+v", file, refused)
			}
		}
	}
	for p, a := range authorities {
		if _, err := a.Rules.Check(a.Prefix); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	made, compiled := 0, make(map[*store.Authority]*rule.Compiled)
	for file, text := range files {
		var f struct {
			Base    string `yaml:"base_url"`
			Tests   []test
			Entries []struct{ Tests, Test []test }
		}
		if err := yaml.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		for _, e := range f.Entries {
			f.Tests = slices.Concat(f.Tests, e.Tests, e.Test)
		}
		for _, tt := range f.Tests {
			made++
			if got, _ := answer(t, authorities, compiled, f.Base+tt.From); got != tt.To {
				t.Errorf("%s: %s: got %s, want %s", file, tt.From, got, tt.To)
			}
		}
	}
	t.Logf("%d of %d files are fully handled, %d tests, %d authorities", full, len(files), made, len(authorities))
}

// foundry returns the files of the OBO Foundry. Without them, it returns a sample.
func foundry(t *testing.T) map[string]string {
	t.Helper()
	data, ok := testrun.Beside(t, "data/migrate/obo-purl.tar")
	if !ok {
		return map[string]string{"ex.yml": sample}
	}
	files := make(map[string]string)
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if Format().Match(h.Name) {
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			files[path.Base(h.Name)] = string(text)
		}
	}
}
