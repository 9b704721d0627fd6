package urn

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// parseFiles reads the sources of the package, or its tests.
func parseFiles(t *testing.T, tests bool) []*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// Every exported function and method has an example that runs.
func TestExamples(t *testing.T) {
	have := map[string]bool{}
	for _, f := range parseFiles(t, true) {
		for _, e := range doc.Examples(f) {
			have[e.Name] = e.Output != "" || e.EmptyOutput
		}
	}
	for _, f := range parseFiles(t, false) {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Name.IsExported() && !have[exampleName(fn)] {
				t.Errorf("no example for %s", exampleName(fn))
			}
		}
	}
}

func exampleName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	recv := fn.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	if generic, ok := recv.(*ast.IndexExpr); ok {
		recv = generic.X
	}
	return recv.(*ast.Ident).Name + "_" + fn.Name.Name
}

// Names are parsed and compared without a network, so no package that uses one is imported (N12-50,
// N12-65). Other packages have the resolvers, which are chosen by NID.
func TestNoNetwork(t *testing.T) {
	for _, f := range parseFiles(t, false) {
		for _, imp := range f.Imports {
			switch path := strings.Trim(imp.Path.Value, `"`); {
			case slices.Contains([]string{"uri", "internal/ascii", "internal/tsv"}, strings.TrimPrefix(path, "github.com/nomen-project/nomen/")):
			case path == "net", strings.HasPrefix(path, "net/"), strings.Contains(path, "."):
				t.Errorf("%s is imported", path)
			}
		}
	}
}
