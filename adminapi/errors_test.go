package adminapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Each error arrives at the client with the values of its fields, except those listed here.
func TestEveryErrorCrosses(t *testing.T) {
	const (
		cause = "Err"   // causes stay in the log of the server
		index = "Index" // each change of a batch has its own outcome
	)
	tested := map[string]bool{
		"DetachedError":     true, // made by the client
		"WaitingError":      true, // made by the client
		"PreconditionError": true, // arrives as the conflict that it wraps
		"BrokenError":       true, // its cause arrives as text
	}
	for _, tt := range []struct {
		err  error
		lost []string
	}{
		{new(RequestError), nil},
		{&StatusError{Kind: KindHost}, nil},
		{new(StatusError), nil},
		{new(JobsError), nil},
		{new(FullError), nil},
		{new(ReloadError), nil},
		{new(RateError), nil},
		{new(name.Error), []string{cause}},
		{new(bulk.LineError), nil},
		{new(registrar.RefusalError), []string{cause}},
		{new(registrar.DeniedError), nil},
		{new(store.ConflictError), []string{index}},
		{new(store.StateError), []string{index}},
		{new(store.LimitError), []string{index}},
		{new(store.HeadError), nil},
		{new(store.AwayError), []string{cause}},
		{new(store.UnknownError), []string{cause}},
	} {
		v := reflect.ValueOf(tt.err).Elem()
		kind := v.FieldByName("Kind")
		known := ""
		if kind.IsValid() {
			known = kind.String()
		}
		full(t, v)
		if kind.IsValid() {
			kind.SetString(known) // there are no other kinds
		}
		want := reflect.New(v.Type())
		want.Elem().Set(v)
		for _, field := range tt.lost {
			want.Elem().FieldByName(field).SetZero()
		}
		p := crossed(t, NewProblem(tt.err))
		if diff := cmp.Diff(p.err(), want.Interface(), cmpopts.IgnoreUnexported(bulk.LineError{})); diff != "" {
			t.Errorf("%T does not arrive as it was sent:\n%s", tt.err, diff)
		}
		tested[v.Type().Name()] = true
	}
	for typ := range errorTypes(t) {
		if !tested[typ] && typ != "Error" { // name.Error
			t.Errorf("%s is not tested", typ)
		}
	}
}

// errorTypes returns the exported types of errors that this package declares or converts.
func errorTypes(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	note := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if n.Name.IsExported() && strings.HasSuffix(n.Name.Name, "Error") {
				found[n.Name.Name] = true
			}
		case *ast.StarExpr:
			if s, ok := n.X.(*ast.SelectorExpr); ok && strings.HasSuffix(s.Sel.Name, "Error") {
				found[s.Sel.Name] = true
			}
		}
		return true
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			ast.Inspect(f, note)
		}
	}
	if len(found) < 15 {
		t.Fatalf("found only %v", found)
	}
	return found
}
