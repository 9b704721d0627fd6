package nomen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wordsNamed are the words in code spans of CONTRIBUTING.md and design.md that are neither a Go
// identifier in a file that the line links to nor a path. Each has the file in which the word
// occurs, or "" if it is a word of another program or protocol.
var wordsNamed = map[string]string{
	"CI": "", "clients": "", "Host": "", "Cache-Control": "", "init": "", "http.ServeMux": "", "net/mail": "", "mime/multipart": "", "dist/1.2.3": "",
	"contrib/allowed_signers": "", "testdata/fuzz": "", // made by the first release, and by go test
	"LONG": "Makefile", "PLAIN": "Makefile", "PLAIN_TESTS": "Makefile",
	"NOMEN_MACHINE": "cmd/nomen/machine_clients_test.go", "NOMEN_DIST": "cmd/nomen/guide_clients_test.go", "NOMEN_EARLIER": "cmd/nomen/upgrade_clients_test.go",
	"list": "docs/reference/authority.md", "allowed": "prose_test.go", "equivalents": "scripts/mutate/main.go",
}

var (
	codeSpan       = regexp.MustCompile("`([^`]+)`")
	testName       = regexp.MustCompile(`\bTest[A-Z]\w*`)
	makeTarget     = regexp.MustCompile("`make ([a-z-]+)")
	identifierSpan = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)*$`)
	pathSpan       = regexp.MustCompile(`^\w[\w.-]*(/[\w.-]*)+$|^[\w-]+\.(go|md|tsv|json|mod)$`)
	// inFile matches identifiers that a document places in a file.
	inFile = regexp.MustCompile("((?:`[\\w.]+`,? (?:and )?)+)in \\[[^\\]]*\\]\\(([^()\\s]+)\\)")
)

// TestCodeNamed checks that the functions, types, files, tests and make targets that
// CONTRIBUTING.md and design.md name exist where these documents say.
func TestCodeNamed(t *testing.T) {
	c := codeNames{t: t, files: map[string]map[string]bool{}, used: map[string]bool{}}
	for _, document := range []string{"CONTRIBUTING.md", "docs/explanation/design.md"} {
		source, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range textOfMarkdown(source) {
			for _, fault := range c.line(filepath.Dir(document), line.string) {
				t.Errorf("%s:%d: %s", document, line.line, fault)
			}
		}
	}
	for word := range wordsNamed {
		if !c.used[word] {
			t.Errorf("wordsNamed has %q, which neither document uses", word)
		}
	}
	if c.found < 150 {
		t.Errorf("found only %d names", c.found)
	}
}

// TestCodeNamedFindsFaults checks that TestCodeNamed would notice a wrong name.
func TestCodeNamedFindsFaults(t *testing.T) {
	for _, line := range []string{
		"`newMetrics` in [cmd/nomen/serve_seeing.go](cmd/nomen/serve_seeing.go)",
		"`newSeen` in [cmd/nomen/serve.go](cmd/nomen/serve.go), and [x](cmd/nomen/serve_seeing.go)",
		"see `Engine.Nothing`: [resolve/engine.go](resolve/engine.go)",
		"the file `bulk/nothing.go`", "the file `nothing.go` there: [bulk](bulk/import.go)", "`resolve.Nothing`",
		"the test TestNothingAtAll", "`go test ./bulk -run TestNothingAtAll`", "run `make nothing`",
	} {
		c := codeNames{t: t, files: map[string]map[string]bool{}, used: map[string]bool{}}
		if len(c.line(".", line)) == 0 {
			t.Errorf("no fault found in %s", line)
		}
	}
}

// codeNames looks up the names that a document has.
type codeNames struct {
	t     *testing.T
	files map[string]map[string]bool // names declared in a Go file, by file
	used  map[string]bool            // words of wordsNamed that were found
	found int                        // names that exist
}

// line returns the faults of a line of a document in the directory dir.
func (c *codeNames) line(dir, line string) (faults []string) {
	check := func(ok bool, fault string) {
		if c.found++; !ok {
			c.found--
			faults = append(faults, fault)
		}
	}
	var linked []string // files and directories
	for _, m := range link.FindAllStringSubmatch(line, -1) {
		target, _, _ := strings.Cut(m[1], "#")
		if !strings.Contains(target, ":") {
			linked = append(linked, path.Join(filepath.ToSlash(dir), target))
		}
	}
	for _, m := range inFile.FindAllStringSubmatch(line, -1) {
		for _, id := range codeSpan.FindAllStringSubmatch(m[1], -1) {
			file := path.Join(filepath.ToSlash(dir), m[2])
			check(!strings.HasSuffix(file, ".go") || c.declares(file, id[1]), id[1]+" is not declared in "+file)
		}
	}
	for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
		switch word := m[1]; {
		case c.excepted(word):
		case identifierSpan.MatchString(word) && !pathSpan.MatchString(word):
			check(c.identifier(word, linked), "no package, and no declaration in a linked file: "+word)
		case pathSpan.MatchString(word):
			check(exists(word, linked), "no file or directory "+word)
		}
	}
	for _, m := range makeTarget.FindAllStringSubmatch(line, -1) {
		check(occurs("Makefile", regexp.MustCompile(`(?m)^`+m[1]+`:`)), "no target in the Makefile: "+m[1])
	}
	for _, test := range testName.FindAllString(line, -1) {
		check(slices.ContainsFunc(append(linked, "cmd/nomen"), func(at string) bool { return c.declares(at, test) }), "no test in a linked directory or cmd/nomen: "+test)
	}
	return faults
}

// excepted reports whether wordsNamed has a word. If wordsNamed gives a file for the word, excepted
// also checks that the file contains it.
func (c *codeNames) excepted(word string) bool {
	file, ok := wordsNamed[word]
	if ok && file != "" && !occurs(file, regexp.MustCompile(`\b`+word+`\b`)) {
		c.t.Errorf("wordsNamed: %s is not in %s", word, file)
	}
	c.used[word] = c.used[word] || ok
	return ok
}

// identifier reports whether an identifier is a package, or is declared in a linked file, or,
// as package.Name, in a package.
func (c *codeNames) identifier(word string, linked []string) bool {
	if goFiles(word) != nil || word == "nomen" {
		return true
	}
	for _, at := range linked {
		if c.declares(at, word) || c.declares(path.Dir(at), word) {
			return true
		}
	}
	pkg, name, _ := strings.Cut(word, ".")
	dirs := []string{pkg, "scheme/" + pkg}
	if pkg == "nomen" {
		dirs = []string{"."}
	}
	return name != "" && slices.ContainsFunc(dirs, func(dir string) bool { return c.declares(dir, name) })
}

// declares reports whether a file, or a file of a directory, declares a name: a function, type,
// variable, constant, method, Type.Method or Type.Field.
func (c *codeNames) declares(at, name string) bool {
	if !strings.HasSuffix(at, ".go") {
		return slices.ContainsFunc(goFiles(at), func(file string) bool { return c.declares(file, name) })
	}
	if c.files[at] == nil {
		c.files[at] = declared(c.t, at)
	}
	return c.files[at][name]
}

// declared returns the names that a Go file declares outside function bodies.
func declared(t *testing.T, file string) map[string]bool {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[d.Name.Name], names[funcName(d)] = true, true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				declareSpec(names, s)
			}
		}
	}
	return names
}

func declareSpec(names map[string]bool, s ast.Spec) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names[n.Name] = true
		}
	case *ast.TypeSpec:
		names[s.Name.Name] = true
		var members *ast.FieldList
		switch x := s.Type.(type) {
		case *ast.StructType:
			members = x.Fields
		case *ast.InterfaceType:
			members = x.Methods
		default:
			return
		}
		for _, m := range members.List {
			for _, n := range m.Names {
				names[s.Name.Name+"."+n.Name] = true
			}
		}
	}
}

// funcName returns the name of a function, or Type.Method.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.Ident:
			return x.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

func goFiles(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return files
}

// exists reports whether a path exists, either from the root or beside a linked file.
func exists(word string, linked []string) bool {
	for _, base := range append([]string{"."}, linked...) {
		for _, dir := range []string{base, path.Dir(base)} {
			if _, err := os.Stat(filepath.FromSlash(path.Join(dir, word))); err == nil {
				return true
			}
		}
	}
	return false
}

func occurs(file string, pattern *regexp.Regexp) bool {
	source, err := os.ReadFile(filepath.FromSlash(file))
	return err == nil && pattern.Match(source)
}
