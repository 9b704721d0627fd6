package registrar_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// An invalid request is rejected with the field and the reason. One that would change nothing
// makes no new revision.
func ExampleRegistrar_Put() {
	ctx, r := context.Background(), registrar.New(memstore.New(), registrar.Options{})
	for _, url := range []string{"https://example.org/2", "https://example.org/2", "javascript:alert(1)"} {
		out, err := r.Put(ctx, registrar.Operator(), registrar.Request{
			Record:   &store.Record{Spelling: "urn:example:alb002", Locations: []nomen.Location{{URL: url}}},
			Expected: store.AnyRevision,
		}, "the catalogue says so")
		var refused *registrar.RefusalError
		if errors.As(err, &refused) {
			fmt.Println("refused:", refused.Field, refused.Rule)
			continue
		}
		if err != nil {
			log.Fatal(err) // the store failed
		}
		fmt.Println("revision", out.Result.Revision, "changed:", out.Result.Changed)
	}
	// Output:
	// revision 1 changed: true
	// revision 1 changed: false
	// refused: locations[0].url scheme
}
