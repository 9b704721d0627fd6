// Package format writes answers about names in formats such as text, HTML and JSON, and reads most
// of these formats. The server uses the writers, and the client uses the readers.
//
// # Formats
//
// [Formats] returns these formats, in the order of the server's preference:
//
//   - text/urc-0 (draft of 1995, section 3.4.2); see also [WritePart] and [ReadParts];
//   - text/html (draft of 1995, section 3.4.3), with the list of locations of RFC 2169;
//   - text/uri-list (RFC 2483, section 5);
//   - application/json, with all data of an answer: [WriteJSON], [ReadJSON];
//   - application/linkset+json and application/linkset (RFC 9264);
//   - application/ld+json, for search engines and catalogues;
//   - application/cbor, with the same data as the JSON. Equal answers have equal octets, as
//     signatures and hashes require (draft of 1995, section 3.1.1);
//   - text/turtle, with the same statements as the JSON-LD, as RDF;
//   - text/plain, for people, without a defined structure (draft of 1995, section 3.4.4).
//
// [Citations] returns the formats of reference managers (CSL-JSON, BibTeX and RIS), and the JSON-LD
// of schema.org. [Negotiate] chooses a format by an Accept field (RFC 9110, section 12.5.1). A
// [Page] has the URLs of the page about a name. The formats need these URLs for links and citations
// (FAIR Signposting).
//
// A [Problem] describes an error. It is written as application/problem+json (RFC 9457), or as a
// page or text for people. [ProblemFormat] chooses the format.
//
// The answers to the reserved requests urn+a, urn+c and urn+p (draft of 1995, section 3.5) are
// lists of lines, which [WriteList] writes and [ReadList] reads. [GopherMenu] writes the locations
// that a Gopher client can follow.
//
// # Content and safety
//
// For the services I2N and I2Ns, lists such as text/uri-list contain the Names of the answer. For
// all other services, they contain the URLs of the Locations. Readers return nil for an empty list,
// and times in UTC.
//
// The content of records is not trusted. In every format, control characters are escaped or
// removed. A page only links to a location if the scheme is known to be harmless. A location that
// is not an absolute URI appears in formats for people, but not where programs expect a URI.
//
// # text/urc-0
//
// In the draft of 1995, the header of a part has a charset and a language. The draft does not
// define their syntax, so this layout is a reconstruction:
//
//	=====;charset=ISO-8859-1;language=fr
//	https://example.org/one
//	free text
//
//	name: urn:dns:example.org:one
//	status: active
//	title: One
//	=====
//	<URL:https://example.org/a-very-long-one/
//	folded>
//
// Each location is a part, which has the URL of the location, and the note of the location as
// metainformation. The language in the header is the language of the location. The charset of a
// part is
//
//  1. the charset of the location, if this charset contains all characters of the note;
//  2. otherwise the charset that contains the most characters of the note, out of US-ASCII and
//     ISO-8859-1 to -9.
//
// If several charsets contain equally many characters of the note, the writer chooses the one with
// the most characters of the description (see below), or else the first.
//
// Control characters, and characters outside the charset, are written as character references of
// HTML, such as "&#x20AC;". An ampersand that could be mistaken for the start of a reference is
// escaped too. If a line of a note begins with "=====", or with spaces and "=====", the writer
// inserts a space before the line. The reader reverses both changes and returns the original note,
// except that line endings become LF.
//
// Most answers have a description, at the end of the metainformation of the first part. The
// exceptions are answers with locations to the services I2L and I2Ls. An empty line separates a
// description from a note before it. Each line of a description is a field name, a colon, a space
// and a value. A value continues on lines that begin with a space. The first field is name. The
// fields are:
//
//   - name, and key if the canonical form of the name differs from name;
//   - status, same, redirect, max-age (in seconds), stale-since, reason and successor;
//   - the elements of the metadata, with the prefix "dc:" if they are not of Dublin Core;
//   - same-as, modified and revision.
//
// An answer without locations has a single part, which has text but no URL.
//
// A header field is omitted if its value is US-ASCII for charset or x-unspecified for language. The
// reader accepts any plausible layout. A URL of more than 76 bytes is folded, unless it has more
// than 8 KiB. Readers need not join the lines of longer URLs.
//
// Comments refer to Internet drafts by their year. docs/glossary.md lists these drafts.
package format
