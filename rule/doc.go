// Package rule derives locations from names, so that they need no records. A rule extracts parts
// of a name with a pattern and inserts them into URI templates.
//
// # Templates
//
// A [Template] is a URI template of RFC 6570, with all four levels. For any values its expansion
// is bounded, and consists of characters that are valid in a URI.
//
// # Patterns
//
// A [Pattern] says which elements of an authority's names a rule is for. It is literal text with
// parts in braces,
//
//	rfc{number:d1-5}
//	{series:a}/{year:d4}-{rest:*}
//
// or, for complex cases, a regular expression with named groups in the syntax of package regexp,
// which takes linear time for any input.
//
// # Rules
//
// A [Set] is a list of rules. The first rule whose pattern matches applies. Each rule has
// tests: names with their expected locations, and names that must not match. [Set.Compile]
// returns an error for a rule without tests, and for the first failed test, so that an editor
// sees which name a change would break.
//
// The scheme and host of a template are literal. Values of a name can only fill the part after
// them, or single labels of the host. So whatever the name, the location is at a host that the
// author of the rule wrote.
package rule
