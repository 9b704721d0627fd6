package server

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
)

// RFC 9110, 12.5.1: Accept is read in the same way for descriptions, redirects and
// problems.
func TestAcceptIsReadOnce(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, tt := range []struct{ target, accept, want string }{
		{"/urn:ietf:rfc:2648?s=I2C", `application/ld+json; profile="http://www.w3.org/ns/json-ld#compacted"`, "application/ld+json"},
		{"/urn:ietf:rfc:2648", `application/ld+json; profile="http://www.w3.org/ns/json-ld#flattened http://www.w3.org/ns/json-ld#compacted";q=0.9, */*;q=0.1`, "application/ld+json"},
		{"/urn:ietf:rfc:2648", `application/linkset+json; profile="https://signposting.org/profile"`, "application/linkset+json"},
		{"/urn:ietf:rfc:2648?s=I2Cs", `application/linkset; profile="a,b", text/urc-0;q=0.5`, "application/linkset"},
		{"/urn:ietf:rfc:2648", "application/json;q=1.5", ""},                                               // as if absent
		{"/urn:ietf:rfc:2648", "application/json;q=1.5, application/ld+json;q=0.5", "application/ld+json"}, // malformed elements are ignored
		{"/urn:ietf:rfc:2648", `text/plain;x="a,application/json;b"`, ""},
		{"/urn:ietf:rfc:2648?s=I2C", `text/plain;x="a,application/json;b"`, "text/urc-0"},
		{"/urn:ietf:rfc:2648?s=I2C", `text/html;x="a,text/plain;q=0.1", application/json`, "application/json"},
		{"/urn:ietf:rfc:none", `application/ld+json; profile="x"`, "application/problem+json"},
		{"/urn:ietf:rfc:none", `text/x;y=",text/html,"`, "text/plain"},
		{"/uri-res/N2L?urn:ietf:rfc:2648", `text/plain, application/json;x="a,b";q=0`, "text/plain"},
		{"/", `text/x;y=",text/html,"`, "text/plain"},
	} {
		p := ask(s, tt.target, accepting(tt.accept))
		kind, _, _ := strings.Cut(p.get("Content-Type"), ";")
		if tt.want == "" && p.status != 303 || tt.want != "" && kind != tt.want {
			t.Errorf("%s, Accept: %s: %d %s, want %s", tt.target, tt.accept, p.status, kind, tt.want)
		}
	}
	resources := []*nomen.Resource{{Type: "text/html; charset=utf-8"}, {Type: "image/png"}, {}}
	for field, want := range map[string]int{"": 3, "image/*;q=1.5": 3, `text/html;x=",image/png,"`: 2, "text/*;q=0, */*": 2} {
		if got := len(acceptedOf(field, resources)); got != want {
			t.Errorf("%s: %d resources, want %d", field, got, want)
		}
	}
}
