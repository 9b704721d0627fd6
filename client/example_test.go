package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/name"
)

// A resolver is asked for all locations of two names. A name that it does not know is reported
// with an error of its own kind, unlike a resolver that does not answer.
func ExampleClient_Resolve() {
	resolver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/urn:example:alb002" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/uri-list")
		fmt.Fprint(w, "https://example.org/albums/2\r\nhttps://mirror.example/2\r\n")
	}))
	defer resolver.Close()

	c, err := client.New(client.Options{Via: resolver.URL})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, s := range []string{"urn:example:alb002", "urn:example:alb003"} {
		a, err := c.Resolve(context.Background(), nomen.Question{Name: name.MustParse(s), Service: nomen.I2Ls})
		var no *nomen.Error
		if errors.As(err, &no) {
			fmt.Println(no.Kind, no.Name)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		for _, l := range a.Locations {
			fmt.Println(l.URL)
		}
	}
	// Output:
	// https://example.org/albums/2
	// https://mirror.example/2
	// unknown-name urn:example:alb003
}
