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
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store/memstore"
)

// exampleClient returns a client of a resolver that sends one response, and a function
// that closes both.
func exampleClient(status int, mediaType, body string) (*client.Client, func()) {
	resolver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	c, err := client.New(client.Options{Via: resolver.URL})
	if err != nil {
		log.Fatal(err)
	}
	return c, func() { c.Close(); resolver.Close() }
}

func exampleQuestion() nomen.Question {
	return nomen.Question{Name: name.MustParse("urn:example:alb002"), Service: nomen.I2Ls}
}

// A question as people enter it: a name with its components.
func ExampleParse() {
	q, err := client.Parse("urn:example:alb002?=lang=en")
	fmt.Println(q.Name, q.Q, err)
	// Output: urn:example:alb002 lang=en <nil>
}

// What is not a name is an error that says where.
func ExampleParse_malformed() {
	_, err := client.Parse("urn:x:a b")
	var no *nomen.Error
	if errors.As(err, &no) {
		fmt.Println(no.Kind)
	}
	// Output: malformed
}

// A response of 404 says that the name is unknown.
func ExampleClient_Resolve_unknown() {
	c, done := exampleClient(http.StatusNotFound, "text/plain", "")
	defer done()
	_, err := c.Resolve(context.Background(), exampleQuestion())
	fmt.Println(errors.Is(err, &nomen.Error{Kind: nomen.Unknown}))
	// Output: true
}

// Any other error says nothing about the name: the resolver failed.
func ExampleStatusError() {
	c, done := exampleClient(http.StatusBadGateway, "text/plain", "")
	defer done()
	_, err := c.Resolve(context.Background(), exampleQuestion())
	var status *client.StatusError
	if errors.As(err, &status) {
		fmt.Println(status.Code)
	}
	// Output: 502
}

// A chain asks the next resolver if the one before does not know the name.
func ExampleNewChain() {
	c, done := exampleClient(http.StatusOK, "text/uri-list", "https://example.org/2\r\n")
	defer done()
	own := resolve.New(memstore.New(), resolve.Options{}) // knows no names
	a, err := client.NewChain(client.OnUnknown, own, c).Resolve(context.Background(), exampleQuestion())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Locations[0].URL)
	// Output: https://example.org/2
}
