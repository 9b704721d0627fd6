package main

import (
	"testing"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// TestReadmeLibrary holds the README's Go lines to what they say.
func TestReadmeLibrary(t *testing.T) {
	u, err := uri.Parse("https://example.org/a%2Fb?q#f")
	if q, ok := u.Query(); err != nil || !ok || q != "q" {
		t.Errorf("got %q, %v", q, err)
	}
	n, err := name.Parse("URN:DNS:Example.ORG:alb%2D002")
	if want := "urn:dns:example.org:alb-002"; err != nil || n.Key() != want {
		t.Errorf("got %q, %v; want %q", n, err, want)
	}
}
