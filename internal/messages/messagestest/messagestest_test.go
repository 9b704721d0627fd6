package messagestest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nomen-project/nomen/internal/messages"
)

const (
	header = "[format]\nname = \"X\"\nday = \"2006-01-02\"\ntime = \"2006-01-02 15:04 UTC\"\n[a]\n"
	other  = "[format]\nname = \"Y\"\nday = \"2.1.2006\"\ntime = \"2.1.2006 15.04\"\n[a]\n"
)

func newSet(t *testing.T, english, finnish string) *messages.Set {
	t.Helper()
	s, err := messages.Read(fstest.MapFS{"m_en.toml": {Data: []byte(english)}, "m_fi.toml": {Data: []byte(finnish)}}, "m_", "en", "fi")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFaults shows that each rule can fail.
func TestFaults(t *testing.T) {
	for _, tt := range []struct{ name, en, fi, want string }{
		{"good", header + `b = "x {1}"`, other + `b = "y {1}"`, ""},
		{"good plural", header + "b.one = \"one {2}\"\nb.other = \"{1} {2}\"", other + "b.one = \"{1} yksi {2}\"\nb.other = \"{1} kpl {2}\"", ""},
		{"missing", header + `b = "x"`, other, `m_fi.toml has no text "a.b": add the key to that file too`},
		{"too many", header, other + `b = "x"`, "m_fi.toml: a.b: there is no such text"},
		{"not translated", header + `b = "x"`, other + `b = "x"`, "a.b: is not translated"},
		{"other arguments", header + `b = "x {1}"`, other + `b = "y {2}"`, `a.b: "y {2}" has the arguments`},
		{"lost argument of a form", header + "b.one = \"one {2}\"\nb.other = \"{1} {2}\"", other + "b.one = \"yksi\"\nb.other = \"{1} kpl {2}\"", `"yksi" has the arguments`},
		{"lost form", header + "b.one = \"one\"\nb.other = \"{1}\"", other + "b.other = \"{1} kpl\"", `a.b: has the plural forms ["other"], want ["one" "other"]`},
		{"form too many", header + "b.one = \"one\"\nb.two = \"two\"\nb.other = \"{1}\"", other + "b.one = \"yksi\"\nb.other = \"{1} kpl\"", `m_en.toml: a.b: has the plural forms`},
		{"HTML", header + `b = "<b>"`, other + `b = "y"`, "m_en.toml: a.b: \"<b>\" has HTML"},
		{"entity", header + `b = "x"`, other + `b = "&auml;"`, "m_fi.toml: a.b: \"&auml;\" has HTML"},
		{"empty", header + `b = "x"`, other + `b = ""`, "is empty"},
		{"space", header + `b = "x"`, other + `b = "y "`, "space around"},
		{"day", strings.Replace(header, "2006-01-02\"", "2006-01\"", 1), other, "m_en.toml: format.day"},
		{"time", header, strings.Replace(other, "15.04", "15", 1), "m_fi.toml: format.time"},
	} {
		faults := Faults(newSet(t, tt.en, tt.fi), Options{Prefix: "m_", Same: nil})
		if tt.want == "" && len(faults) > 0 || tt.want != "" && !hasPart(faults, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, faults, tt.want)
		}
	}
	same := map[string]string{"a.b": "fi", "a.c": "fi", "a.none": "fi"}
	faults := Faults(newSet(t, header+"b = \"x\"\nc = \"x\"", other+"b = \"x\"\nc = \"y\""), Options{Same: same})
	if !hasPart(faults, "a.c: differs") || !hasPart(faults, `no text "a.none"`) || len(faults) != 2 {
		t.Errorf("got %q", faults)
	}
}

func hasPart(all []string, part string) bool {
	return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, part) })
}

// TestUses finds keys in templates and in code.
func TestUses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	files := []string{
		write("x.html", `{{define "y"}}{{range .}}{{if t "a.one" .}}{{else}}<p title="{{f . (t "a.two") "x"}}">{{end}}{{with t "a.gone"}}{{end}}{{template "z" (t "a.three")}}{{end}}{{end}}{{.T "a.seven" 1}}{{$.T "a.eight"}}{{.No "a.nine"}}`),
		write("x.go", "package x\nfunc f() { c.text(\"a.four\", 1); key := \"a.five\"; c.Text(\"b.six\", args...); open(\"a.csv\") }"),
		write("x_test.go", "package x\nvar unused = \"a.unused\""),
	}
	s := newSet(t, header+"one = \"{1}\"\ntwo = \"x\"\nthree = \"{1}\"\nfour = \"x\"\nfive = \"x\"\nseven = \"x\"\neight = \"x\"\nunused = \"x\"\n[b]\nsix = \"{1}\"\n", other)
	u, err := readUses(files, s.All()[0])
	if err != nil {
		t.Fatal(err)
	}
	got := u.faults(s.All()[0], Options{Prefix: "m_"})
	want := []string{
		dir + `/x.go: "a.four" has 0 arguments, found 1`,
		dir + `/x.html: m_en.toml has no text "a.gone"`,
		dir + `/x.html: "a.seven" has 0 arguments, found 1`,
		dir + `/x.html: "a.three" has 1 arguments, found 0`,
		"m_en.toml: a.unused is not used",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
