package registry_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/registry"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/urn"
)

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTables checks that every entry of the packages is in a table, under its name.
func TestTables(t *testing.T) {
	r := registry.Standard()
	for n := range namespace.All() {
		if _, ok := r.Namespaces().Lookup(strings.ToUpper(n.NID)); !ok {
			t.Errorf("namespaces: %q not found", n.NID)
		}
	}
	for n := range urn.IANANamespaces().All() {
		if _, ok := r.Namespaces().Lookup(n.NID); !ok {
			t.Errorf("namespaces: %q of IANA not found", n.NID)
		}
	}
	for s := range extra.Catalogue().All() {
		if _, ok := r.Schemes().Lookup(s.Name); !ok {
			t.Errorf("schemes: %q not found", s.Name)
		}
	}
	if _, ok := r.Services().Lookup("i2l"); ok {
		t.Error(`services: "i2l" found; case matters (N12-61)`)
	}
	for _, tt := range []struct {
		table registry.Table
		names string
	}{
		{r.Services(), "I2C I2Cs I2L I2Ls I2N I2Ns I2R I2Rs I=I"}, // N12-60
		{r.Keywords(), "c s"}, // N12-59
	} {
		if got := strings.Join(tt.table.Names(), " "); got != tt.names {
			t.Errorf("%s: got %s, want %s", tt.table.Name, got, tt.names)
		}
	}
}

// TestFormats checks that every format of every table and entry is well-formed and contains all
// of the entry (2012, 9.1).
func TestFormats(t *testing.T) {
	for _, table := range append(registry.Standard().Tables(), registry.Index(registry.Standard().Tables())) {
		for _, f := range registry.Formats() {
			list := written(t, func(w io.Writer) error { return f.Table(table, w) })
			wellFormed(t, f, list)
			if f.Name != "txt" && !strings.Contains(list, plain(f, table.Note)) {
				t.Errorf("%s as %s: lacks the note (N12-58)", table.Name, f.Name)
			}
			for _, e := range table.Entries {
				for _, cell := range table.Cells(e) {
					if f.Name != "json" && !strings.Contains(list, plain(f, cell)) {
						t.Errorf("%s as %s: %s: lacks %q", table.Name, f.Name, e.Name, cell)
					}
				}
				one := written(t, func(w io.Writer) error { return f.Entry(table, w, e) })
				wellFormed(t, f, one)
				for _, field := range e.Shown() {
					for _, v := range field.Values {
						if f.Name != "json" && !strings.Contains(one, plain(f, v)) {
							t.Errorf("%s as %s: %s: lacks %s %q", table.Name, f.Name, e.Name, field.Name, v)
						}
					}
				}
			}
		}
	}
}

// plain returns the spelling of a text in a format.
func plain(f registry.Format, s string) string {
	switch f.Name {
	case "html":
		s = strings.Join(strings.Fields(s), " ")
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;").Replace(s)
	case "xml":
		var b strings.Builder
		xml.EscapeText(&b, []byte(s)) // into b, which cannot fail
		return b.String()
	case "json":
		b, _ := json.Marshal(s)
		return strings.Trim(string(b), `"`)
	}
	return strings.Join(strings.Fields(s), " ")
}

func wellFormed(t *testing.T, f registry.Format, s string) {
	t.Helper()
	var err error
	switch f.Name {
	case "json":
		err = json.Unmarshal([]byte(s), new(any))
	case "xml":
		for d := xml.NewDecoder(strings.NewReader(s)); err == nil; {
			_, err = d.Token()
		}
	case "html":
		for z := html.NewTokenizer(strings.NewReader(s)); err == nil; z.Next() {
			err = z.Err()
		}
	}
	if err != nil && err != io.EOF {
		t.Errorf("%s: %v in %.200s", f.Name, err, s)
	}
}

// TestOwnEntries checks that a site's entries are added and escaped.
func TestOwnEntries(t *testing.T) {
	const own = `{"namespaces": [{"nid": "Shelf", "kind": "unregistered", "reference": "<script>\u001b[2J\u202e", "security": "none"}]}`
	r, err := registry.Standard().With(strings.NewReader(own))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := r.Namespaces().Lookup("SHELF")
	if !ok {
		t.Fatal("not found")
	}
	for _, f := range registry.Formats() {
		got := written(t, func(w io.Writer) error { return f.Entry(r.Namespaces(), w, e) })
		if strings.Contains(got, "<script>") != (f.Name == "txt" || f.Name == "json") || strings.Contains(got, "\x1b") {
			t.Errorf("%s: unsafe: %q", f.Name, got)
		}
	}
	if got := e.Get("services"); got != "" {
		t.Errorf("services: got %q, want none", got)
	}
	if got := written(t, func(w io.Writer) error { return r.Namespaces().WriteEntryText(w, e) }); !strings.Contains(got, "services    not stated\n") {
		t.Errorf("got %q, want services not stated", got)
	}
}

// TestStated checks that every entry has what its documents state, or says that they do not
// state it.
func TestStated(t *testing.T) {
	table := registry.Standard().Namespaces()
	ids := map[string]string{
		"special": "N12-69", "functional": "N12-70", "services": "N12-68", "keywords": "N12-68",
	}
	given := map[string]int{}
	for _, e := range table.Entries {
		text := written(t, func(w io.Writer) error { return table.WriteEntryText(w, e) })
		if e.Get("stated") != "" {
			given["stated"]++
		}
		for name, id := range ids {
			if e.Get(name) != "" {
				given[name]++
			}
			line := regexp.MustCompile(`(?m)^` + name + ` +\S`)
			if !line.MatchString(text) {
				t.Errorf("%s: %s: %s is neither given nor said to be not stated:\n%s", id, e.Name, name, text)
			}
		}
	}
	for name, least := range map[string]int{"special": 75, "functional": 30, "services": 8, "stated": 105} {
		if given[name] < least {
			t.Errorf("%s: %s of %d namespaces, want at least %d", ids[name], name, given[name], least)
		}
	}
	if s, _ := extra.Catalogue().Lookup("urn"); !strings.Contains(strings.ReplaceAll(s.Reference, " ", ""), "RFC8141") || strings.Contains(s.Reference, "2141") {
		t.Errorf("N12-73: the reference of the scheme urn is %q", s.Reference)
	}
}

func FuzzWith(f *testing.F) {
	f.Add(`{"namespaces": [{"nid": "shelf", "kind": "unregistered", "reference": "a", "security": "b"}]}`)
	f.Add(`{"services": [{"name": "I2X", "purpose": "p", "status": "provisional", "reference": "r"}], "keywords": [{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := registry.Standard().With(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, table := range r.Tables() {
			if table.Name == "schemes" {
				continue // the text cannot change this table
			}
			for _, format := range registry.Formats() {
				wellFormed(t, format, written(t, func(w io.Writer) error { return format.Table(table, w) }))
			}
		}
	})
}
