// Package extract finds identifiers in documents: in running text, in HTML and
// in mail, as a careful human would.
//
// [Text], [HTML] and [MIME] read a document of the type as a stream; [Bytes] reads
// a text that is in memory. Each [Finding] tells what it is, where it stands to
// the octet, how it is spelled without what the document put into it, and what
// it leads to.
//
// # Documents
//
// Where text delimits identifiers, appendix E of draft-fielding-url-syntax-05
// and draft-fielding-uri-rfc2396bis-01 counts; what a URN in a text is, says
// draft-ietf-urnbis-rfc2141bis-urn-03, 2.5.3, and for white space in it
// draft-ietf-uri-yaurn-00, 2; abbreviated references are those of appendix F of
// 2003. Which base holds in a document, says section 5.1; see [Establish].
//
// # Running text
//
// An identifier in angle brackets or quotation marks, with or without "URL:", is
// what stands between them, without white space. Others end where no character
// of a URI stands, before the punctuation of the sentence and before a
// parenthesis that was not opened in them. They go on in the next line if the
// text has been wrapped there, or folded by a backslash. What is broken after a
// hyphen has two readings, and both are told.
//
// With "://" every scheme is taken, if there is an authority behind it that
// somebody may have: no variable, no pattern, no dots. Without the slashes only
// schemes with a rule are: "std::string", "10:30" and "key:value" have the colon,
// too. Everything that is found with a scheme is a URI in the syntax of RFC 3986,
// or an IRI if they are asked for.
//
// The file docs/reference/extract.md has the rules one by one, with what they cost and
// what other programs do.
//
// # Speed
//
// A text is searched for the octets that an identifier must have, and looked at
// only around them. The time is linear in the text, whatever it is; memory is
// constant; and it does not matter how a stream is cut into reads.
package extract
