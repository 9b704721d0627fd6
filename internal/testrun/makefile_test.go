package testrun

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMakefileNames checks the tests that the Makefile names: make quick leaves out those in
// LONG, and make check runs those in PLAIN_TESTS apart from the others of their packages.
func TestMakefileNames(t *testing.T) {
	packages := testPackages(t)
	for name := range strings.SplitSeq(makeVariable(t, "LONG"), "|") {
		if len(packages[name]) == 0 {
			t.Errorf("LONG has %s, which does not exist", name)
		}
	}
	run := strings.Fields(makeVariable(t, "WITH_PLAIN_TESTS"))
	for name := range strings.SplitSeq(makeVariable(t, "PLAIN_TESTS"), "|") {
		if len(packages[name]) == 0 {
			t.Errorf("PLAIN_TESTS has %s, which does not exist", name)
		}
		for _, dir := range packages[name] {
			if !slices.Contains(run, dir) {
				t.Errorf("%s has %s, which runs nowhere: add the package to WITH_PLAIN_TESTS", dir, name)
			}
		}
	}
}

// TestPlainPackages checks that the packages in PLAIN start no goroutines, so that the race
// detector would find nothing in them.
func TestPlainPackages(t *testing.T) {
	const format = `{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}} {{.}}{{"\n"}}{{end}}{{end}}{{end}}`
	list := exec.Command("go", append([]string{"list", "-test", "-deps", "-f", format}, strings.Fields(makeVariable(t, "PLAIN"))...)...)
	list.Dir = moduleRoot(t)
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		dir, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !filepath.IsAbs(file) { // else the go command generated it
			paths[filepath.Join(dir, file)] = true
		}
	}
	if len(paths) < 100 {
		t.Fatalf("go list found only %d files", len(paths))
	}
	files := token.NewFileSet()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		source, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			if n != nil && concurrent(n) {
				t.Errorf("%s: concurrent code in a package of PLAIN, or in one that it imports", files.Position(n.Pos()))
			}
			return true
		})
	}
}

// concurrent reports whether n starts a goroutine: by a go statement, a method Go or Parallel,
// or a server.
func concurrent(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.ImportSpec:
		return slices.Contains([]string{`"net/http/httptest"`, `"testing/synctest"`, `"golang.org/x/sync/errgroup"`}, n.Path.Value)
	case *ast.SelectorExpr:
		return n.Sel.Name == "Go" || n.Sel.Name == "Parallel" || n.Sel.Name == "RunParallel"
	}
	return false
}

// testPackages returns the directories, as in ./store, that have a test of a name.
func testPackages(t *testing.T) map[string][]string {
	t.Helper()
	root, found := moduleRoot(t), map[string][]string{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		for line := range strings.Lines(string(source)) {
			rest, ok := strings.CutPrefix(line, "func Test")
			if name, _, is := strings.Cut(rest, "(t *testing.T)"); ok && is {
				found["Test"+name] = append(found["Test"+name], "./"+filepath.ToSlash(rel))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// makeVariable returns what the Makefile assigns to a variable.
func makeVariable(t *testing.T, name string) string {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(moduleRoot(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, value, ok := strings.Cut(string(makefile), "\n"+name+" = ")
	if !ok {
		t.Fatalf("the Makefile does not assign %s", name)
	}
	value, _, _ = strings.Cut(value, "\n")
	return value
}
