// Package rule derives locations from names, so that these names need no records. A rule extracts
// parts of a name with a pattern, and inserts the parts into URI templates.
//
// # Templates
//
// A template is a URI template of RFC 6570, with all four levels. For any values, the length of an
// expansion is limited, and all its characters are valid in a URI.
//
// # Patterns
//
// A [Pattern] selects the names to which a rule applies. It is matched with the element of a name. The
// element is the part after the prefix of the authority. A pattern is literal text with parts in
// braces:
//
//	rfc{number:d1-5}
//	{series:a}/{year:d4}-{rest:*}
//
// For complex cases, a pattern is a regular expression with named groups, in the syntax of package
// regexp. It takes linear time for any input.
//
// # Rules
//
// A [Set] is a list of rules. The first rule whose pattern matches applies. Each rule has
// tests: names with their expected locations, and names that must not match. [Set.Compile]
// returns an error if a rule has no tests or if a test fails.
//
// The scheme of a template and the domain at the end of its host are literal. Values from a name can
// fill only single labels before this domain, and the text after the host:
// "https://{series}.example.org/{number}". So the host of a location is always in a domain that the
// author of the rule has chosen.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package rule
