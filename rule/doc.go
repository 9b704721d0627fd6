// Package rule computes the locations of names that have no records. A rule matches names with a
// pattern, and inserts parts of the name into templates for URLs. For example, a rule can send
// urn:ietf:rfc:2648 to https://www.rfc-editor.org/rfc/rfc2648.
//
// # Patterns
//
// A [Pattern] says to which names a rule applies. It is matched against the element of a name,
// which is the part after the prefix of the authority. A pattern consists of literal text, and of
// parts in braces:
//
//	rfc{number:d1-5}
//	{series:a}/{year:d4}-{rest:*}
//
// For complex cases a pattern can be a regular expression with named groups, in the syntax of
// package regexp, which matches any text in linear time.
//
// # Templates
//
// A template is a URI template of RFC 6570, level 4. The result has a limited length, and only
// characters that are valid in a URI.
//
// # Rules
//
// A [Set] is a list of rules. The first rule that matches a name applies. Each rule has tests:
// names with their expected locations, and names that the rule must not match. [Set.Compile]
// returns an error if a rule has no tests or a test fails.
//
// The scheme and the domain in a template are literal. A part of a name can only be a single label
// before the domain, or come after the host, as in "https://{series}.example.org/{number}". All
// locations are therefore in a domain that the author of the rule has chosen.
//
// Comments refer to Internet drafts by their year. docs/glossary.md lists these drafts.
package rule
