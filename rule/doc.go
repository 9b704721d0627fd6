// Package rule gives names their locations without a record for each: a rule
// takes the parts of a name by a pattern and puts them into URI templates.
//
// # Templates
//
// A [Template] is one of RFC 6570, all four levels. Expansion is total: what a
// template can make of any values is bounded and always consists of characters
// that may stand in a URI.
//
// # Patterns
//
// A [Pattern] says which elements of an authority's names a rule is for. It is
// literal text with parts in braces,
//
//	rfc{number:d1-5}
//	{series:a}/{year:d4}-{rest:*}
//
// or, where that is not enough, a regular expression with named groups in the
// syntax of package regexp, which takes linear time whatever it is asked.
//
// # Rules
//
// A [Set] is a list of rules: the first whose pattern matches decides. Each rule
// carries tests, names with the locations that have to come out and names that
// must not match, and [Set.Compile] refuses a set of which one fails, or a rule
// without any: who changes a rule is told which name would lead elsewhere.
//
// A template says itself what its scheme and host are; values of a name can only
// fill what stands after, or single labels of the host. So no name, however it
// is spelled, makes a rule lead to a place that nobody wrote down.
package rule
