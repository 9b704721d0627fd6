// Package format writes answers as bytes and reads them back. The server writes
// what the client reads; neither knows the other, both know this package.
//
// # Formats
//
// [Formats] lists them in the order in which a server prefers them:
//
//   - text/urc-0 (draft-ietf-uri-yaurn-00, 3.4.2): [WriteURC], [ReadURC]; the
//     parts by themselves: [WritePart], [ReadParts];
//   - text/html (3.4.3 there; the list is that of RFC 2169): [WriteHTML];
//   - text/uri-list (RFC 2483, 5): [WriteURIList], [ReadURIList];
//   - application/json, which loses nothing: [WriteJSON], [ReadJSON];
//   - application/linkset+json and application/linkset (RFC 9264):
//     [WriteLinksetJSON], [WriteLinkset] and their readers;
//   - application/ld+json, for search engines and catalogues: [WriteJSONLD],
//     [ReadJSONLD];
//   - application/cbor, where equal answers are equal octets, for signatures and
//     hashes (3.1.1 of the draft): [WriteCBOR], [ReadCBOR];
//   - text/turtle, the same statements as RDF: [WriteTurtle];
//   - text/plain, for people and without structure (3.4.4 of the draft):
//     [WriteText].
//
// [Citations] are what reference managers read of a description: CSL-JSON, BibTeX and
// RIS. A [Page] says where an answer is read: links and citations then lead there (FAIR
// Signposting).
//
// That there is no answer is told by a [Problem]: application/problem+json (RFC
// 9457), or a page or text for people; [ProblemFormat] chooses. [Negotiate]
// chooses among formats by an Accept field (RFC 9110, 12.5.1). The answers of
// urn+a, urn+c and urn+p are lists of lines: [WriteList], [ReadList]. And
// [GopherMenu] selects what a Gopher client can follow.
//
// # What is written of an answer
//
// Where an answer is about names (I2N, I2Ns), lists hold its Names, otherwise
// the URLs of its Locations in their order. Readers give lists back as nil where
// there is nothing, and times in UTC.
//
// What comes from a record is never trusted: control characters do not reach
// any output as they are, a location whose scheme is not known to be harmless is
// never an active link, and a URL that is no absolute URI is shown but is not
// written where a program expects one.
//
// # text/urc-0
//
// The 1995 document lost the layout of the header's two fields, so ours is a
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
// Each location is a part: its URL and, as metainformation, its note. Its
// language is that of the header. The charset is the location's own if that can
// hold the note, else the one of US-ASCII and ISO-8859-1 to -9 that can hold
// most of it, the first among equals. What it cannot hold, and control
// characters, are written as "&#x", hexadecimal digits and ";", like a character
// reference of HTML; so is an ampersand that would be mistaken for the start of
// one. A line of a note that begins with "=====", after any number of spaces, is
// written with one space more. [ReadURC] undoes both, so a note comes back as it
// was, with LF for every line end.
//
// An answer that describes (any service but I2L and I2Ls, or no locations) ends
// the metainformation of its first part with a description: after an empty line,
// if a note is before it, lines of a field name, a colon, a space and a value,
// the first of which is the field "name". A value goes on in lines that begin
// with a space. Fields are name, key (the canonical form, if it is not the
// name), status, same, redirect, max-age (in seconds), reason, successor, the
// elements of the metadata (those that are not of Dublin Core with "dc:" before
// them), same-as, modified and revision. Without a location the part has no URL,
// but always readable text.
//
// Header fields are written as "charset=" and "language=", and not at all where
// they are the defaults, US-ASCII and x-unspecified; the reader takes any
// plausible layout. URLs of more than 76 bytes are folded, those of more than 8
// KiB are not, since readers need not collect more.
package format
