package server_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// Browsers are redirected to the best location of a name; the same URL with ?s=I2Ls lists
// all locations.
func ExampleServer_Public() {
	st := memstore.New()
	_, err := registrar.New(st, registrar.Options{}).Put(context.Background(), registrar.Operator(), registrar.Request{
		Record:   &store.Record{Spelling: "urn:example:alb002", Locations: []nomen.Location{{URL: "https://example.org/2"}, {URL: "https://mirror.example/2", Priority: 2}}},
		Expected: store.AnyRevision,
	}, "")
	if err != nil {
		log.Fatal(err)
	}
	srv, err := server.New(server.Options{Resolver: resolve.New(st, resolve.Options{}), Store: st})
	if err != nil {
		log.Fatal(err)
	}
	for _, target := range []string{"/urn:example:alb002", "/urn:example:alb002?s=I2Ls", "/urn:example:alb003"} {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		w := httptest.NewRecorder()
		srv.Public().ServeHTTP(w, r)
		fmt.Printf("%s %d %q\n", target, w.Code, w.Header().Get("Location"))
	}
	// Output:
	// /urn:example:alb002 303 "https://example.org/2"
	// /urn:example:alb002?s=I2Ls 200 ""
	// /urn:example:alb003 404 ""
}
