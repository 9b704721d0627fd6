// Package format writes answers as bytes and reads them back. The server uses the writers, and
// the client uses the readers. Writers and readers do not depend on each other.
//
// # Formats
//
// [Formats] lists the formats, each with its writer and reader, in the server's order of
// preference:
//
//   - text/urc-0 (1995, 3.4.2); see also [WritePart] and [ReadParts];
//   - text/html (1995, 3.4.3), with the list of locations of RFC 2169;
//   - text/uri-list (RFC 2483, 5);
//   - application/json, all data of an answer: [WriteJSON], [ReadJSON];
//   - application/linkset+json and application/linkset (RFC 9264);
//   - application/ld+json, for search engines and catalogues;
//   - application/cbor, the same data as the JSON. Equal answers have equal octets, as signatures
//     and hashes require (1995, 3.1.1);
//   - text/turtle, the same statements as the JSON-LD, as RDF;
//   - text/plain, for people and without structure (1995, 3.4.4).
//
// [Citations] are the formats of reference managers (CSL-JSON, BibTeX and RIS) and the JSON-LD of
// schema.org. A [Page] has the
// URLs of the page on which people read the answer, for links and citations (FAIR Signposting).
//
// A [Problem] describes an error. It is written as application/problem+json (RFC 9457), or as a
// page or text for people; [ProblemFormat] chooses between these formats. [Negotiate] chooses a
// format for an answer by an Accept field (RFC 9110, 12.5.1). The answers to urn+a, urn+c and
// urn+p are lists of lines: [WriteList], [ReadList]. [GopherMenu] writes the locations that a
// Gopher client can follow.
//
// # Content and safety
//
// For the services I2N and I2Ns, a list contains the Names of the answer. For all other services
// it contains the URLs of the Locations. Readers return nil for an empty list, and times in UTC.
//
// The content of records is not trusted. Control characters are escaped or removed in every
// output. A location is an active link only if its scheme is known to be harmless. A URL that is
// not an absolute URI is shown to people, but not written where programs expect one.
//
// # text/urc-0
//
// A header has two fields, charset and language. The draft of 1995 does not show their layout, so
// this layout is a reconstruction:
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
// Each location is a part: its URL, and its note as metainformation. The language in the header
// is the language of the location. The charset of a part is chosen in this order:
//
//  1. the charset of the location, if that charset contains all characters of the note;
//  2. the one of US-ASCII and ISO-8859-1 to -9 that contains most characters of the note.
//
// If several charsets of step 2 contain equally many characters of the note, the writer chooses
// that with most characters of the description (see below), then the first.
//
// Characters outside the charset, and control characters, are escaped as character references of
// HTML, such as "&#x20AC;". An ampersand that could be mistaken for the start of a reference is
// escaped too. A line of a note that begins with "=====", possibly after spaces, is written with
// one more space. The reader undoes the escapes and removes that space. So a reader returns the
// note unchanged, except that line endings become LF.
//
// An answer to I2L or I2Ls that has locations has no description. Every other answer has a
// description at the end of the metainformation of its first part. If there is a note before the
// description, an empty line separates them. A line of a description is a field name, a colon, a
// space and a value. A value continues on lines that begin with a space. The first field is name.
// The fields are:
//
//   - name, and key: the canonical form, if it differs from the name;
//   - status, same, redirect, max-age (in seconds), stale-since, reason and successor;
//   - the elements of the metadata, with the prefix "dc:" if they are not of Dublin Core;
//   - same-as, modified and revision.
//
// An answer without locations has a single part, which has text but no URL.
//
// A header field is omitted if it has its default: US-ASCII for charset, x-unspecified for
// language. The reader accepts any plausible layout. A URL of more than 76 bytes is folded, up to 8
// KiB. Readers need not join the lines of longer URLs.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package format
