package testrun

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCorpusSums checks that testdata/corpus/SHA256SUMS lists each committed file with its hash,
// and that the README names each directory.
func TestCorpusSums(t *testing.T) {
	corpus := filepath.Join(moduleRoot(t), "testdata", "corpus")
	listed := map[string]string{}
	sums, err := os.ReadFile(filepath.Join(corpus, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sums)) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[file] = sum
	}
	readme, err := os.ReadFile(filepath.Join(corpus, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		file, _ := filepath.Rel(corpus, path) // both are absolute
		if err != nil || d.IsDir() || file == "SHA256SUMS" || file == "README.md" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != listed[file] {
			t.Errorf("%s: SHA-256 %s, SHA256SUMS has %q", file, got, listed[file])
		}
		delete(listed, file)
		_, below, _ := strings.Cut(file, "/") // whole or part
		if name := strings.TrimSuffix(below, ".gz"); !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("README.md does not say where %s is from", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Sorted(maps.Keys(listed)) {
		t.Errorf("%s is in SHA256SUMS, and missing", file)
	}
}

// imports reports whether a file imports a package.
func imports(source *ast.File, path string) bool {
	return slices.ContainsFunc(source.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(path) })
}

// elsewhere names the tests that may skip: those of other packages use Missing.
var elsewhere = map[string]string{
	"internal/testrun/testrun.go":       "Missing",
	"bench/":                            "another module, for comparisons with other libraries",
	"scripts/attacks/files_test.go":     "as root only; run by make attack",
	"scripts/release/packages_test.go":  "as root only; run by make test-packages",
	"cmd/nomen/guide_clients_test.go":   "runs the image of a release, if one is given; run by make test-clients",
	"pages/browser_test.go":             "opens some pages if Chromium is installed; make test-clients installs it, and opens all",
	"cmd/nomen/upgrade_clients_test.go": "needs an earlier commit in the clone; run by make test-clients",
}

// TestNoSkips checks that a test skips only if a program is not installed. For anything else that a
// test needs, there is a committed file, the test fails without it, or the test has a build tag.
func TestNoSkips(t *testing.T) {
	root, files := moduleRoot(t), token.NewFileSet()
	skips, missing := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() && path != root && (base == "testdata" || base == "bin" || strings.HasPrefix(base, ".")) {
			return filepath.SkipDir
		}
		file, _ := filepath.Rel(root, path)
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		source, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range source.Comments {
			if text := group.List[0].Text; strings.HasPrefix(text, "//go:generate") && strings.Contains(text, "shared") {
				t.Errorf("%s: a generator reads what is not in a clone: %s", files.Position(group.Pos()), text)
			}
		}
		if !imports(source, "testing") {
			return nil
		}
		for _, call := range callsOf(source) {
			f := call.Fun.(*ast.SelectorExpr)
			switch on := f.X.(*ast.Ident); {
			case on.Name == "testrun" && f.Sel.Name == "Missing":
				missing++
			case slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, f.Sel.Name) && !allowed(filepath.ToSlash(file)) && !inCheck(source, call):
				skips++
				t.Errorf("%s: skips", files.Position(call.Pos()))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tests skip; %d places need a program that may not be installed", skips, missing)
}

// callsOf returns the calls of the form x.f().
func callsOf(source *ast.File) (calls []*ast.CallExpr) {
	ast.Inspect(source, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				if _, ok := f.X.(*ast.Ident); ok {
					calls = append(calls, call)
				}
			}
		}
		return true
	})
	return calls
}

func allowed(file string) bool {
	for prefix := range elsewhere {
		if strings.HasPrefix(file, prefix) {
			return true
		}
	}
	return false
}

// inCheck reports whether a call is within a function given to rapid.Check or rapid.MakeCheck,
// whose Skip drops one example.
func inCheck(source *ast.File, call *ast.CallExpr) (in bool) {
	ast.Inspect(source, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncLit)
		if !ok || f.Pos() > call.Pos() || f.End() < call.End() || len(f.Type.Params.List) != 1 {
			return true
		}
		if star, ok := f.Type.Params.List[0].Type.(*ast.StarExpr); ok {
			if s, ok := star.X.(*ast.SelectorExpr); ok {
				if p, ok := s.X.(*ast.Ident); ok && p.Name == "rapid" {
					in = true
				}
			}
		}
		return true
	})
	return in
}
