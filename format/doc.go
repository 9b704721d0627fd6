// Package format writes answers about names as text, HTML, JSON and other formats, and reads these
// formats. The server uses the writers and the client uses the readers.
//
// # Formats
//
// [Formats] returns these formats, in the server's order of preference:
//
//   - text/urc-0 (1995, 3.4.2); see also [WritePart] and [ReadParts];
//   - text/html (1995, 3.4.3), with the list of locations of RFC 2169;
//   - text/uri-list (RFC 2483, 5);
//   - application/json, with all data of an answer: [WriteJSON], [ReadJSON];
//   - application/linkset+json and application/linkset (RFC 9264);
//   - application/ld+json, for search engines and catalogues;
//   - application/cbor, with the same data as the JSON. Equal answers have equal octets, as
//     signatures and hashes require (1995, 3.1.1);
//   - text/turtle, with the same statements as the JSON-LD, as RDF;
//   - text/plain, for people, without a defined structure (1995, 3.4.4).
//
// [Citations] returns the formats of reference managers (CSL-JSON, BibTeX and RIS), and the JSON-LD
// of schema.org. [Negotiate] chooses a format by an Accept field (RFC 9110, 12.5.1). A [Page] has
// the URLs of the page about a name, which the formats need for links and citations (FAIR
// Signposting).
//
// A [Problem] describes an error. It is written as application/problem+json (RFC 9457), or as a
// page or text for people; [ProblemFormat] chooses between these.
//
// The answers to urn+a, urn+c and urn+p are lists of lines, which [WriteList] writes and [ReadList]
// reads. [GopherMenu] writes the locations that a Gopher client can follow.
//
// # Content and safety
//
// If the service is I2N or I2Ns, a list contains the Names of the answer. For all other services it
// contains the URLs of the Locations. Readers return nil for an empty list, and times in UTC.
//
// The content of records is not trusted. In every format, control characters are escaped or
// removed. A page only links to a location if the scheme is known to be harmless. A location that
// is not an absolute URI is shown to people, but is omitted where programs expect a URI.
//
// # text/urc-0
//
// The draft of 1995 says that the header of a part has a charset and a language, but not how they
// are written. So this layout is a reconstruction:
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
// Each location is a part, with its URL, and its note as metainformation. The language in the
// header is that of the location. The charset of a part is
//
//  1. the charset of the location, if it contains all characters of the note;
//  2. otherwise the charset that contains the most characters of the note, out of US-ASCII and
//     ISO-8859-1 to -9.
//
// If several charsets contain equally many characters of the note, the writer chooses the one with
// the most characters of the description (see below), or else the first.
//
// Control characters, and characters outside the charset, are written as character references of
// HTML, such as "&#x20AC;". An ampersand that could be mistaken for the start of a reference is
// escaped too. If a line of a note begins with "=====", or with spaces and "=====", the writer adds
// a space before it. The reader reverses both, so it returns the note unchanged, except that line
// endings become LF.
//
// An answer to I2L or I2Ls that has locations has no description. All other answers have one, at
// the end of the metainformation of the first part. An empty line separates it from a note before
// it. Each line of a description is a field name, a colon, a space and a value. A value continues
// on lines that begin with a space. The fields, of which name is the first, are:
//
//   - name, and key: the canonical form, if it differs from the name;
//   - status, same, redirect, max-age (in seconds), stale-since, reason and successor;
//   - the elements of the metadata, with the prefix "dc:" if they are not of Dublin Core;
//   - same-as, modified and revision.
//
// An answer without locations has a single part, which has text but no URL.
//
// A header field is omitted if its value is US-ASCII for charset or x-unspecified for language. The
// reader accepts any plausible layout. A URL of more than 76 bytes is folded. Readers need not join
// the lines of a URL of more than 8 KiB.
//
// Comments cite drafts by their year and section, as in "1995, 3.1"; docs/glossary.md lists the
// drafts.
package format
