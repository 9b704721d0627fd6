package nomen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// particles are the English words that a reader takes for a part of the sentence when a comment
// uses them as the name of a parameter.
const particles = " above after again against all along among any around as asked at because before behind between beyond by" +
	" each every for from how if in into less like many more most no none not of off on once only other over own same since" +
	" given known wanted earlier later begun told ended have may found seen taken chosen shown left kept good bad rest" +
	" so than that then there these this those till to too toward under until up very what when where whether which who whom why with within without "

// prepositions are the particles that rarely end a clause or precede a verb, except as names.
const prepositions = " above after at before below between beyond by from in of on since to until with "

// verbs and connectives show that the word beside them is a noun, and so the name of a parameter.
const (
	verbs       = " accepts are becomes begins can cannot contains does ends fails gives had has have holds is lacks may must returns says was will yields "
	connectives = " and calls called equals if of than to "
)

// A comment names a parameter by a noun. If the name of the parameter is a particle, the noun
// stands before it: "the parameter after is nil" instead of "after is nil".
func TestParametersInComments(t *testing.T) {
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch base := filepath.Base(file); {
		case err != nil:
			return err
		case d.IsDir() && (base == "testdata" || base == "bin" || base != "." && strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Doc != nil {
				for _, said := range bareParticles(d.Doc.Text(), particlesOf(d)) {
					t.Errorf("%s: %s: %q: rename the parameter to a noun, or write \"the parameter NAME\"", fset.Position(d.Doc.Pos()), d.Name.Name, said)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// particlesOf returns the names of the parameters and results of a function that are particles.
func particlesOf(d *ast.FuncDecl) (names []string) {
	for _, l := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
		if l == nil {
			continue
		}
		for _, f := range l.List {
			for _, id := range f.Names {
				if id.Name != d.Name.Name && strings.Contains(particles, " "+id.Name+" ") {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// bareParticles returns the places of a comment where a particle is used as a name.
func bareParticles(doc string, names []string) (found []string) {
	words := strings.Fields(doc)
	for i, w := range words {
		name := strings.TrimRight(w, ".,;:)")
		if !slices.Contains(names, name) {
			continue
		}
		before, after := "", ""
		if i > 0 {
			before = strings.ToLower(words[i-1])
		}
		if i+1 < len(words) {
			after = strings.TrimRight(words[i+1], ".,;:)")
		}
		subject := w == name && strings.Contains(verbs, " "+after+" ") && (before == "" || strings.HasSuffix(before, ".") || strings.Contains(connectives, " "+before+" "))
		object := w != name && strings.Contains(connectives, " "+before+" ")
		preposition := strings.Contains(prepositions, " "+name+" ") && before != "parameter" && (w != name || strings.Contains(verbs, " "+after+" "))
		if subject || object || preposition {
			found = append(found, before+" "+w+" "+after)
		}
	}
	return found
}

func TestBareParticles(t *testing.T) {
	for doc, want := range map[string]int{
		"f returns the changes that lead from before to after, by field.": 1,
		"If before is nil, there was no record.":                          1,
		"f calls after, and returns.":                                     1,
		"After is nil.":                                                   0, // not the name
		"If the parameter before is nil, there was no record.":            0,
		"f returns what there was. It is empty after a change.":           0,
		"These begin at the state before.":                                1,
		"f returns what the function after returns.":                      1,
	} {
		if got := bareParticles(doc, []string{"before", "after"}); len(got) != want {
			t.Errorf("bareParticles(%q) = %q, want %d", doc, got, want)
		}
	}
}
