package public

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// TestNamespaces compiles every rule, which runs its tests.
func TestNamespaces(t *testing.T) {
	all, err := Namespaces()
	if err != nil {
		t.Fatal(err)
	}
	prefixes := func(a *store.Authority) string { return a.Prefix.String() }
	var got []string
	for _, a := range all {
		got = append(got, prefixes(a))
		if len(a.Rules) == 0 || a.Description == "" {
			t.Errorf("%s has no rules, or no description", a.Prefix)
		}
		if _, err := a.Rules.Compile(a.Prefix); err != nil {
			t.Errorf("%s: %s", a.Prefix, err)
		}
	}
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("not sorted, or a duplicate: %q", got)
	}
	for _, want := range []string{"ark", "doi", "hdl", "urn:doi", "urn:ietf:rfc", "urn:isbn", "urn:issn", "urn:lex:it", "urn:nbn:de", "urn:nbn:fi", "urn:oid"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if slices.Contains(got, "urn:uuid") {
		t.Error("no authority for UUIDs")
	}
}

// TestPrefixes counts the prefixes of the registries and compiles every rule, which tests it
// with the registry's own example.
func TestPrefixes(t *testing.T) {
	want := map[string]struct{ prefixes, withRules, examples int }{
		"bioregistry":     {1623, 1546, 1572},
		"identifiers.org": {856, 856, 856},
	}
	for _, r := range Registries() {
		got := want[r.Name]
		got.prefixes, got.withRules, got.examples = 0, 0, 0
		seen := map[name.Prefix]bool{}
		for p, err := range r.Prefixes("") {
			if err != nil {
				t.Error(err)
				continue
			}
			a := p.Authority
			if seen[a.Prefix] {
				t.Errorf("%s: duplicate %s", r.Name, a.Prefix)
			}
			seen[a.Prefix] = true
			got.prefixes++
			if len(a.Rules) > 0 {
				got.withRules++
			}
			if !p.Example.IsZero() {
				got.examples++
				if !a.Prefix.Covers(p.Example) {
					t.Errorf("%s does not cover %s", a.Prefix, p.Example)
				}
			}
			if a.Description == "" {
				t.Errorf("%s has no description", a.Prefix)
			}
		}
		if got != want[r.Name] {
			t.Errorf("%s: got %+v, want %+v", r.Name, got, want[r.Name])
		}
	}
}

// TestBase uses another base.
func TestBase(t *testing.T) {
	for p, err := range Registries()[1].Prefixes("https://id.example.org/c/") {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(p.Authority.Prefix.String(), "https://id.example.org/c/") || !strings.HasPrefix(p.Example.String(), p.Authority.Prefix.String()+":") {
			t.Fatalf("%s, %s", p.Authority.Prefix, p.Example)
		}
	}
	for _, bad := range []string{"urn:x", "https://", "https://id.example.org/?x"} {
		for _, err := range Registries()[0].Prefixes(bad) {
			if err == nil {
				t.Errorf("base %q is accepted", bad)
			}
			break
		}
	}
}

// TestRealExamples resolves the examples in the registries' own files. Each must have the URL
// that results from inserting it into the template.
func TestRealExamples(t *testing.T) {
	for _, tt := range []struct {
		file, variable string
		registry       int
	}{{"prefixes.jsonl", "$1", 0}, {"identifiers-org.jsonl", "{$id}", 1}} {
		lines, _ := testrun.Lines(t, "prefixes/"+tt.file)
		rules := map[string]*store.Authority{} // by prefix in lower case
		for p, err := range Registries()[tt.registry].Prefixes("https://x.example") {
			if err != nil {
				t.Fatal(err)
			}
			rules[strings.ToLower(p.Authority.Prefix.String())] = p.Authority
		}
		resolved := 0
		for _, line := range lines {
			var o struct {
				Prefix, Example string
				Format          string `json:"uri_format"`
				Providers       []struct {
					Format string `json:"uri_format"`
				}
			}
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatal(err)
			}
			var templates []string
			if o.Format != "" {
				templates = []string{o.Format}
			} else if tt.registry == 1 {
				for _, p := range o.Providers {
					templates = append(templates, p.Format)
				}
			}
			if o.Example == "" || len(templates) == 0 {
				continue
			}
			a := rules["https://x.example/"+o.Prefix]
			if a == nil {
				t.Errorf("%s is missing", o.Prefix)
				continue
			}
			c, err := a.Rules.Compile(a.Prefix)
			if err != nil {
				t.Error(err)
				continue
			}
			// Characters that a name cannot contain are escaped.
			spelled := strings.NewReplacer("%", "%25", "#", "%23", " ", "%20", "|", "%7C", "\\", "%5C").Replace(o.Example)
			got, ok, _ := c.Apply(name.MustParse(a.Prefix.String()+":"+spelled), rule.Request{})
			if !ok || len(got.Locations) == 0 {
				t.Errorf("%s: %s has no location", o.Prefix, o.Example)
				continue
			}
			var want []string
			for _, tmpl := range templates {
				tmpl = strings.NewReplacer(" ", "%20", "{"+tt.variable+"}", "%7B"+tt.variable+"%7D", "%t", "%25t", "[", "%5B", "]", "%5D").Replace(tmpl)
				if strings.Count(tmpl, "#") > 1 {
					i := strings.LastIndexByte(tmpl, '#')
					tmpl = tmpl[:i] + "%23" + tmpl[i+1:]
				}
				want = append(want, strings.ReplaceAll(tmpl, tt.variable, strings.NewReplacer(" ", "%20", "|", "%7C", "\\", "%5C").Replace(o.Example)))
			}
			for _, l := range got.Locations[:1] {
				if !slices.Contains(want, l.URL) {
					t.Errorf("%s: %s has the location %s, want one of %q", o.Prefix, o.Example, l.URL, want)
				}
			}
			resolved++
		}
		t.Logf("%s: %d examples", tt.file, resolved)
	}
}

// TestFresh regenerates the tables.
func TestFresh(t *testing.T) {
	sources, err := filepath.Abs("../testdata/corpus/whole/prefixes")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "gen")
	if out, err := exec.Command("go", "build", "-o", bin, "./gen").CombinedOutput(); err != nil {
		t.Fatalf("%s: %s", err, out)
	}
	run := exec.Command(bin, sources)
	run.Dir = t.TempDir()
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %s", err, out)
	}
	for _, file := range []string{"bioregistry.tsv", "identifiers.tsv"} {
		got, err := os.ReadFile(file)
		want, err2 := os.ReadFile(filepath.Join(run.Dir, file))
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate (%v, %v)", file, err, err2)
		}
	}
}
