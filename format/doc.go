// Package format writes answers as bytes and reads them back. The server uses the writers, and
// the client uses the readers. Writers and readers do not depend on each other.
//
// # Formats
//
// [Formats] lists the formats, each with its writer and reader, in the server's order of
// preference:
//
//   - text/urc-0 (draft-ietf-uri-yaurn-00, 3.4.2); single parts: [WritePart], [ReadParts];
//   - text/html (3.4.3 there; the list is that of RFC 2169);
//   - text/uri-list (RFC 2483, 5);
//   - application/json, without loss: [WriteJSON], [ReadJSON];
//   - application/linkset+json and application/linkset (RFC 9264);
//   - application/ld+json, for search engines and catalogues;
//   - application/cbor, the data of the JSON without loss; equal answers are equal octets, for
//     signatures and hashes (3.1.1 of the draft);
//   - text/turtle, the statements of JSON-LD as RDF;
//   - text/plain, for people and without structure (3.4.4 of the draft).
//
// [Citations] are the formats of reference managers: CSL-JSON, BibTeX and RIS. A [Page] says
// where an answer is read, so that links and citations can refer to it (FAIR Signposting).
//
// A [Problem] is written instead of an answer, as application/problem+json (RFC 9457), or as a
// page or text for people; [ProblemFormat] chooses. [Negotiate] chooses a format by an Accept
// field (RFC 9110, 12.5.1). The answers to urn+a, urn+c and urn+p are lists of lines:
// [WriteList], [ReadList]. [GopherMenu] writes the locations that a Gopher client can follow.
//
// # Content and safety
//
// Lists contain the Names of an answer about names (I2N, I2Ns), and otherwise the URLs of its
// Locations, in order. Readers return nil for an empty list, and times in UTC.
//
// The content of records is not trusted. Control characters are escaped or removed in every
// output. A location is an active link only if its scheme is known to be harmless. A URL that is
// not an absolute URI is shown to people, but not written where programs expect one.
//
// # text/urc-0
//
// The layout of the header's two fields was lost from the 1995 document, so ours is a
// reconstruction:
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
// is that of the location. The charset of a part is chosen in this order:
//
//  1. the charset of the location, if that charset contains all characters of the note;
//  2. the charset of US-ASCII and ISO-8859-1 to -9 that contains most characters of the note;
//  3. of several such charsets, the one that contains most characters of the description (see
//     below), and of those the first.
//
// Characters outside the charset, and control characters, are written as "&#x", hexadecimal digits
// and ";", like a character reference of HTML. An ampersand that could be mistaken for the start
// of such a reference is escaped as well. A line of a note that begins with "=====", possibly
// after spaces, is written with one more space. The reader undoes the escapes and removes that
// space. A note therefore comes back unchanged, except that line endings become LF.
//
// An answer that has no locations, or is for a service other than I2L and I2Ls, has a description
// at the end of the metainformation of its first part. If there is a note before the description,
// an empty line separates them. A line of a description is a field name, a colon, a space and a
// value; the first field is "name". A value continues on lines that begin with a space. The fields
// are name, key (the canonical form, if it differs from the name), status, same, redirect, max-age
// (in seconds), reason, successor, the elements of the metadata (with the prefix "dc:" if they are
// not of Dublin Core), same-as, modified and revision. A part without a location has no URL, but
// always readable text.
//
// Header fields are written as "charset=" and "language=", and omitted if they have the defaults,
// US-ASCII and x-unspecified. The reader accepts any plausible layout. A URL of more than 76 bytes
// is folded. A URL of more than 8 KiB is not, because readers need not join the lines of such a
// URL.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package format
