package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// exampleEngine resolves one name with two locations, and a retired one.
func exampleEngine() *resolve.Engine {
	ctx, st := context.Background(), memstore.New()
	r := registrar.New(st, registrar.Options{})
	_, err := r.Apply(ctx, registrar.Operator(), []registrar.Request{
		{Expected: store.AnyRevision, Record: &store.Record{
			Spelling:  "urn:isbn:0-395-36341-1",
			Locations: []nomen.Location{{URL: "https://example.org/book", Lang: "en"}, {URL: "https://example.org/buch", Lang: "de"}},
			Metadata:  nomen.Metadata{"title": {"A book"}},
		}},
		{Expected: store.AnyRevision, Record: &store.Record{Spelling: "urn:example:old"}},
	}, "")
	if err == nil {
		_, err = r.Retire(ctx, registrar.Operator(), name.MustParse("urn:example:old"), registrar.Retirement{
			Reason: "replaced", Successors: []string{"urn:isbn:9780395363416"}, Expected: store.AnyRevision,
		}, "")
	}
	if err != nil {
		log.Fatal(err)
	}
	return resolve.New(st, resolve.Options{Pick: func(int) int { return 0 }}) // equal locations in order
}

// The best location of a name, in whatever spelling it is given.
func ExampleEngine_Resolve() {
	a, err := exampleEngine().Resolve(context.Background(), nomen.Question{Name: name.MustParse("URN:ISBN:978-0-395-36341-6"), Service: nomen.I2L})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Locations[0].URL)
	// Output: https://example.org/book
}

// All locations, those in the preferred language first.
func ExampleEngine_Resolve_languages() {
	a, err := exampleEngine().Resolve(context.Background(), nomen.Question{
		Name: name.MustParse("urn:isbn:0395363411"), Service: nomen.I2Ls, Languages: "de, en;q=0.5",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range a.Locations {
		fmt.Println(l.URL)
	}
	// Output:
	// https://example.org/buch
	// https://example.org/book
}

// The description of a resource.
func ExampleEngine_Resolve_description() {
	a, err := exampleEngine().Resolve(context.Background(), nomen.Question{Name: name.MustParse("urn:isbn:0395363411"), Service: nomen.I2C})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Metadata["title"], a.Revision)
	// Output: [A book] 1
}

// A retired name is an error with its tombstone.
func ExampleEngine_Resolve_retired() {
	_, err := exampleEngine().Resolve(context.Background(), nomen.Question{Name: name.MustParse("urn:example:old"), Service: nomen.I2C})
	var no *nomen.Error
	if errors.As(err, &no) && no.Kind == nomen.Gone {
		fmt.Println(no.Answer.Reason, no.Answer.Successors)
	}
	// Output: replaced [urn:isbn:9780395363416]
}

// A mistyped name is unknown, and the error suggests what was meant.
func ExampleEngine_Resolve_unknown() {
	_, err := exampleEngine().Resolve(context.Background(), nomen.Question{Name: name.MustParse("urn:isbn:0395363412"), Service: nomen.I2L})
	var no *nomen.Error
	if errors.As(err, &no) {
		fmt.Println(no.Kind, no.Suggestions[0])
	}
	// Output: unknown-name urn:isbn:0395363411
}

// A name as of an earlier time, at which it did not exist.
func ExampleEngine_Resolve_earlier() {
	_, err := exampleEngine().Resolve(context.Background(), nomen.Question{
		Name: name.MustParse("urn:isbn:0395363411"), Service: nomen.I2L, At: time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	fmt.Println(errors.Is(err, &nomen.Error{Kind: nomen.Unknown}))
	// Output: true
}
