// Package extract finds identifiers in documents: in plain text, HTML, Markdown
// and mail, with the judgement of a careful human reader.
//
// [Text], [HTML], [Markdown] and [MIME] read a document of that type as a
// stream; [Bytes] reads text in memory. Each [Finding] has the kind of the
// identifier, its exact range in the document, its spelling without line breaks
// and other additions, and its target.
//
// # Documents
//
// Appendix E of draft-fielding-url-syntax-05 and
// draft-fielding-uri-rfc2396bis-01 defines how text delimits identifiers.
// draft-ietf-urnbis-rfc2141bis-urn-03, 2.5.3, defines what a URN in text is,
// and draft-ietf-uri-yaurn-00, 2, covers white space in it. Appendix F of 2003
// defines abbreviated references. Section 5.1 defines the base of a document;
// see [Establish].
//
// # Running text
//
// An identifier in angle brackets or quotation marks, with or without "URL:",
// is the text between them without white space. Other identifiers end at the
// first character that is not allowed in a URI, before sentence punctuation, or
// before a closing parenthesis that was opened outside the identifier. They
// continue on the next line if the text is wrapped there or folded with a
// backslash. A break after a hyphen has two possible readings, and the finding
// has both.
//
// With "://", any scheme is accepted if a plausible authority follows: no
// variable, pattern or ellipsis. Without the slashes, only schemes with a rule
// are accepted, because "std::string", "10:30" and "key:value" contain a colon,
// too. Every finding with a scheme is a URI in the syntax of RFC 3986, or an
// IRI if the options ask for them.
//
// The file docs/reference/extract.md lists the rules with their costs and compares other
// programs.
//
// # Speed
//
// The search looks for octets that every identifier contains, and examines only
// the text around them. Time is linear in the length of any text, memory is
// constant, and the result does not depend on how a stream is split into reads.
package extract
