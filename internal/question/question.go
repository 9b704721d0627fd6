// Package question parses the parts of HTTP requests that become part of a [nomen.Question].
package question

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// EscapeExcluded escapes the octets that no URI can contain (draft of 2012: N12-21), except for the
// percent sign.
func EscapeExcluded(s string) string {
	return ascii.EscapeUnless(s, func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("\"<>\\^`{|}", c) < 0 })
}

// Malformed returns the error for a malformed name in s. The name begins at the offset begin.
func Malformed(s string, begin int, err error) error {
	e := &nomen.Error{Kind: nomen.Malformed, Name: s, Rule: "name", Message: err.Error(), Err: err}
	var bad *name.Error
	if errors.As(err, &bad) {
		e.Offset, e.Rule, e.Message = min(max(bad.Offset-begin, 0), len(s)), bad.Rule, bad.Message
	}
	return e
}

// Subject parses the URI in a request that is not about a name.
func Subject(s string, service nomen.Service) (uri.URI, error) {
	u, err := uri.Parse(EscapeExcluded(s))
	if err == nil {
		return u, nil
	}
	e := &nomen.Error{
		Kind: nomen.Malformed, Name: s, Rule: "URI", Service: service, Err: err,
		Message: "must be a URI including its scheme, such as urn: or https:",
	}
	return uri.URI{}, e
}

// Country converts a country code (ISO 3166-1) to upper case. It returns "" if s is invalid or is
// XX, which proxies send for an unknown country.
func Country(s string) string {
	if len(s) != 2 {
		return ""
	}
	c := [2]byte{s[0] &^ 0x20, s[1] &^ 0x20}
	if c[0] < 'A' || c[0] > 'Z' || c[1] < 'A' || c[1] > 'Z' || c == [2]byte{'X', 'X'} {
		return ""
	}
	return string(c[:])
}

// CloseResources closes the resources of an answer, and reports whether there were any.
func CloseResources(ans *nomen.Answer) bool {
	open := false
	for _, res := range append([]*nomen.Resource{ans.Resource}, ans.Resources...) {
		if res != nil && res.Body != nil {
			_ = res.Body.Close() // the body was only read
			open = true
		}
	}
	return open
}
