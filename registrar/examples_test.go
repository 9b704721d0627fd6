package registrar_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// exampleRequest asks for a name with one location.
func exampleRequest(spelling, url string) registrar.Request {
	return registrar.Request{
		Record:   &store.Record{Spelling: spelling, Locations: []nomen.Location{{URL: url}}},
		Expected: store.AnyRevision,
	}
}

// exampleRegistrar returns a registrar of a new store with one name.
func exampleRegistrar() (context.Context, *registrar.Registrar) {
	ctx, r := context.Background(), registrar.New(memstore.New(), registrar.Options{})
	if _, err := r.Put(ctx, registrar.Operator(), exampleRequest("urn:example:alb002", "https://old.example/2"), ""); err != nil {
		log.Fatal(err)
	}
	return ctx, r
}

// Requests that are refused are left out, and the others are applied as one batch.
func ExampleRegistrar_Apply() {
	ctx, r := exampleRegistrar()
	outs, err := r.Apply(ctx, registrar.Operator(), []registrar.Request{
		exampleRequest("urn:example:alb003", "https://example.org/3"),
		exampleRequest("urn:example:alb004", "not a URL"),
	}, "")
	fmt.Println(outs[0].Created, outs[0].Err, err)
	var refused *registrar.RefusalError
	fmt.Println(outs[1].Created, errors.As(outs[1].Err, &refused))
	// Output:
	// true <nil> <nil>
	// false true
}

// A preview says what would happen, and changes nothing.
func ExampleRegistrar_Preview() {
	ctx, r := exampleRegistrar()
	outs, err := r.Preview(ctx, registrar.Operator(), []registrar.Request{exampleRequest("urn:example:alb003", "https://example.org/3")})
	fmt.Println(outs[0].Created, err)
	_, err = r.Get(ctx, name.MustParse("urn:example:alb003"))
	fmt.Println(errors.Is(err, store.ErrNotFound))
	// Output:
	// true <nil>
	// true
}

// A retired name becomes a tombstone with a reason and, if there is one, a successor.
func ExampleRegistrar_Retire() {
	ctx, r := exampleRegistrar()
	out, err := r.Retire(ctx, registrar.Operator(), name.MustParse("urn:example:alb002"), registrar.Retirement{
		Reason: "withdrawn by the publisher", Expected: store.AnyRevision,
	}, "")
	fmt.Println(out.Record.Status, out.Record.Reason, err)
	// Output: retired withdrawn by the publisher <nil>
}

// An active name cannot be deleted: somewhere it is in use.
func ExampleRegistrar_Delete() {
	ctx, r := exampleRegistrar()
	_, err := r.Delete(ctx, registrar.Operator(), name.MustParse("urn:example:alb002"), store.AnyRevision, "")
	var state *store.StateError
	fmt.Println(errors.As(err, &state))
	// Output: true
}

// When a site has moved, the beginning of all its locations is replaced.
func ExampleRegistrar_Relocate() {
	ctx, r := exampleRegistrar()
	_, err := r.Relocate(ctx, registrar.Operator(), registrar.Relocation{
		From: "https://old.example/", To: "https://new.example/archive/",
		Moved: func(n name.Name, from, to string) { fmt.Println(n, from, "->", to) },
	})
	fmt.Println(err)
	// Output:
	// urn:example:alb002 https://old.example/2 -> https://new.example/archive/2
	// <nil>
}

// An actor with a role may change only names that begin with one of its prefixes.
func ExampleActor_Reaches() {
	anna := registrar.Actor{Who: "anna", Grants: []registrar.Grant{{Role: registrar.Editor, Prefixes: []name.Prefix{name.MustParsePrefix("ark:12345/")}}}}
	fmt.Println(anna.Reaches(name.MustParse("ark:12345/x")), anna.Reaches(name.MustParse("ark:99999/x")))
	// Output: true false
}
