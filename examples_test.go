package nomen_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples: in these packages every exported function and method has an
// example that runs, or is used by one. Errors show themselves when they are
// printed. (urn asks for more, beside its files.)
func TestExamples(t *testing.T) {
	for _, dir := range []string{"mint", "namespace"} {
		t.Run(dir, func(t *testing.T) { checkExamples(t, dir) })
	}
}

func checkExamples(t *testing.T, dir string) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("no sources")
	}
	shown, exported := map[string]bool{"Error": true, "Unwrap": true}, []*ast.FuncDecl{}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			show(f, shown)
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.IsExported() && (fn.Recv == nil || exportedReceiver(fn)) {
				exported = append(exported, fn)
			}
		}
	}
	for _, fn := range exported {
		if !shown[fn.Name.Name] {
			t.Errorf("no example shows %s", fn.Name.Name)
		}
	}
}

// show notes the functions and methods that the examples of a file use.
func show(f *ast.File, shown map[string]bool) {
	for _, e := range doc.Examples(f) {
		if e.Output == "" && !e.EmptyOutput {
			continue
		}
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				shown[s.Sel.Name] = true
			}
			return true
		})
	}
}

func exportedReceiver(fn *ast.FuncDecl) bool {
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}
