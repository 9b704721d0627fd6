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
// These drafts define how identifiers stand in documents. Comments cite a draft by
// its year, as in "2003, 5.1"; docs/glossary.md lists the drafts.
//
//   - 1997 (draft-fielding-url-syntax-05) and 2003 (draft-fielding-uri-rfc2396bis-01):
//     appendix E of both defines how text delimits identifiers, and section 5.1 of
//     both defines the base of a document (see [Establish]). Appendix F of the draft of 2003
//     defines abbreviated references.
//   - 2012 (draft-ietf-urnbis-rfc2141bis-urn-03): section 2.5.3 defines what a URN in
//     text is.
//   - 1995 (draft-ietf-uri-yaurn-00): section 2 covers white space in a URN.
//
// # Running text
//
// An identifier in angle brackets or quotation marks, with or without "URL:", is the text between
// them without white space. Other identifiers end at the first character that is not allowed in a
// URI. They also end before sentence punctuation, and before a closing parenthesis that was opened
// outside the identifier. They continue on the next line if the text is wrapped there or folded
// with a backslash. If the line breaks after a hyphen, the hyphen may or may not belong to the
// identifier: the finding has both spellings.
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
