package nomen_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// publish puts one name into a store in memory.
func publish(ctx context.Context) (*memstore.Store, error) {
	st := memstore.New()
	_, err := registrar.New(st, registrar.Options{}).Put(ctx, registrar.Operator(), registrar.Request{Record: &store.Record{
		Name:      name.MustParse("urn:example:alb002"),
		Locations: []nomen.Location{{URL: "https://example.org/albums/2", Type: "text/html"}},
		Metadata:  nomen.Metadata{"title": {"Second album"}},
	}}, "first edition")
	return st, err
}

// A program keeps names and resolves them itself: the registrar writes into a store, the engine
// reads from it. If there is no answer, the error says why.
func Example() {
	ctx := context.Background()
	st, err := publish(ctx)
	if err != nil {
		log.Fatal(err)
	}
	engine := resolve.New(st, resolve.Options{})
	for _, spelling := range []string{"URN:Example:alb002", "urn:example:alb003"} {
		a, err := engine.Resolve(ctx, nomen.Question{Name: name.MustParse(spelling), Service: nomen.I2L})
		var no *nomen.Error
		if errors.As(err, &no) {
			fmt.Println(no.Kind, no.Name)
			continue
		}
		if err != nil {
			log.Fatal(err) // the store failed: that says nothing about the name
		}
		fmt.Println(a.Name, a.Locations[0].URL)
	}
	// Output:
	// urn:example:alb002 https://example.org/albums/2
	// unknown-name urn:example:alb003
}

// The same over the network: the server answers HTTP requests from an engine, and the client sends
// questions to a server. The engine and the client are both a [nomen.Resolver].
func Example_network() {
	ctx := context.Background()
	st, err := publish(ctx)
	if err != nil {
		log.Fatal(err)
	}
	srv, err := server.New(server.Options{Resolver: resolve.New(st, resolve.Options{}), Store: st})
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(srv.Public())
	defer web.Close()

	asker, err := client.New(client.Options{Via: web.URL + "/"})
	if err != nil {
		log.Fatal(err)
	}
	defer asker.Close()
	a, err := asker.Resolve(ctx, nomen.Question{Name: name.MustParse("urn:example:alb002"), Service: nomen.I2C})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Metadata["title"], a.Locations[0].URL)
	// Output: [Second album] https://example.org/albums/2
}

// Two spellings of one name have one key, under which every store keeps the name. An error about a
// name has the offset of the fault.
func Example_names() {
	a, b := name.MustParse("URN:ISBN:0-395-36341-1"), name.MustParse("urn:isbn:9780395363416")
	fmt.Println(a, a == b)
	_, err := name.Parse("urn:isbn")
	var bad *name.Error
	if errors.As(err, &bad) {
		fmt.Println(bad.Offset, bad.Rule, bad.Message)
	}
	// Output:
	// urn:isbn:9780395363416 true
	// 8 assigned-name has no ":" after the NID
}

// TestExamples checks that in these packages every exported function and method is used by an
// example that runs. The methods of errors are excepted, because printing an error calls them.
// Packages uri and urn have stricter tests of their own.
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
	shown, exported := map[string]bool{"Error": true, "Unwrap": true, "Violation": true}, []*ast.FuncDecl{}
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
