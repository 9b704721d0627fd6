package uri

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
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
			if !ok || !fn.Name.IsExported() {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				recv := fn.Recv.List[0].Type
				if star, ok := recv.(*ast.StarExpr); ok {
					recv = star.X
				}
				name = recv.(*ast.Ident).Name + "_" + name
			}
			if !have[name] {
				t.Errorf("no example for %s", name)
			}
		}
	}
}

// Parsing and comparing never use the network: the packages imported cannot.
func TestNoNetwork(t *testing.T) {
	for _, f := range parseFiles(t, false) {
		for _, imp := range f.Imports {
			switch path := strings.Trim(imp.Path.Value, `"`); {
			case path == "net/netip", path == "net/url", path == "github.com/nomen-project/nomen/internal/ascii":
			case path == "net", strings.HasPrefix(path, "net/"), strings.Contains(path, "."):
				t.Errorf("U03-03: %s is imported", path)
			}
		}
	}
}
