// Package extract finds URIs, URNs and other identifiers in documents, as a careful human reader
// would. It can tell that the final full stop in "see http://example.org/." does not belong to the
// URL, and that "std::string" is not a URI.
//
// Use [Text], [HTML], [Markdown] and [MIME] to read a document as a stream, and [Bytes] for text in
// memory. They return each identifier as a [Finding]. A Finding has the kind of the identifier, its
// exact range in the document, its spelling without line breaks, and the URI that it refers to.
//
// # Documents
//
// These Internet drafts define how documents contain identifiers. Comments refer to a draft by its
// year, as in "the draft of 2003".
//
//   - 1997 (draft-fielding-url-syntax-05) and 2003 (draft-fielding-uri-rfc2396bis-01): in both
//     drafts, appendix E defines how identifiers are delimited in text, and section 5.1 defines the
//     base of a document (see [Establish]). Appendix F of the draft of 2003 defines references
//     without a scheme, such as www.example.org.
//   - 2012 (draft-ietf-urnbis-rfc2141bis-urn-03): section 2.5.3 defines where a URN in
//     text ends.
//   - 1995 (draft-ietf-uri-yaurn-00): section 2 covers white space in a URN.
//
// # Running text
//
// If an identifier is enclosed in angle brackets or quotation marks, it consists of all the text
// between these delimiters, without white space. The label "URL:" may precede the identifier.
//
// Other identifiers end at the first character that a URI cannot contain. Sentence punctuation at
// the end does not belong to an identifier, nor does a closing parenthesis that was opened before
// it. If a line was wrapped, or folded with a backslash, the identifier continues on the next line.
// When a line ends with a hyphen, the hyphen may or may not belong to the identifier, so the
// Finding has both spellings.
//
// A colon alone does not make a URI, because "std::string", "10:30" and "key:value" also contain
// one. If "//" follows the colon, any scheme is accepted, provided that a plausible authority
// follows, and not a variable or an ellipsis, for example. Without "//", only the schemes that the
// package knows are accepted. Every identifier with a scheme is a valid URI by RFC 3986, or a valid
// IRI if the options permit IRIs.
//
// The file docs/reference/extract.md lists the rules and their known errors, and compares the
// results with those of other programs.
//
// # Speed
//
// The search looks for octets that every identifier contains, such as the colon, and examines only
// the text around them. It takes linear time and constant memory for any text. The result does not
// depend on how a stream is split into reads.
package extract
