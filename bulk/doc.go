// Package bulk imports and exports records as files: JSON Lines, CSV and TSV, plain or compressed
// with gzip or zstd. It also exports maps for other servers and text/uri-list.
// docs/reference/record.md describes the files for users.
//
// # Files
//
// A file is UTF-8 with or without a byte order mark. Lines end in LF or CRLF, which may be missing
// after the last line, and blank lines are skipped. A line may have up to 4 MiB. The same limit
// applies to the total length of a row with line breaks in quoted cells. An error gives the line,
// the column and the byte offset. An invalid record is rejected, and all other records are
// imported.
//
// # JSON Lines
//
// Each line is a JSON object with the fields of [store.Record] under their JSON names. Only "name"
// is required. Unknown and repeated fields, wrong types, invalid escapes and anything after the
// object are errors.
//
// # CSV and TSV
//
// The first line is a header with the titles of the columns: name, status, reason, show_locations,
// successors, same_as, the members of a location, and dc:ELEMENT for metadata. Each line has at
// most one location. Consecutive lines with the same name form one record. Two spellings count as
// the same name if they have the same canonical key and differ only in letter case. Any other
// spelling begins a new record. A value that applies to the whole record, such as the status, may
// appear in any of its lines. If several lines have the value, they must agree.
//
// A cell for successors, same_as or metadata may have several values, separated by vertical bars.
// An empty cell means no value. An invalid line makes the whole record invalid.
//
// CSV follows RFC 4180. In a cell with several values, \| is a vertical bar and \\ a backslash. An
// invalid cell affects only its own line. If a superfluous quote joins several lines into one cell,
// the reader splits these lines again. In TSV, quotes have no meaning, and \t \n \r \\ are escapes
// in all cells. CSV and TSV represent all fields of a record except "modified" and "revision".
//
// # Import
//
// A [Conflict] determines what the import does if a name exists already. By default, the import
// merges: it adds locations, aliases and successors, and replaces the other fields that are present
// in the file. A field that is absent from the file remains unchanged.
//
// The import ignores "modified". A "revision" in the file is the revision that the user has edited:
//
//   - If the record would change nothing, the import accepts any revision.
//   - If the record would change an existing name, the store must have the same revision of the
//     name. Otherwise the record is rejected.
//   - If the name does not exist, the import creates it, whatever the revision is.
//
// To resume an interrupted import, start it again: records that were already imported change
// nothing. If a file has several records of one name, the import applies them in order.
//
// # Export
//
// An export is a consistent snapshot of the records, sorted by name. If the file is imported into
// an empty store, another export gives the same bytes, except for "modified" and "revision", which
// the store sets. The file does not contain naming authorities. If an authority ignores letter
// case, create it before the import. An export in JSON Lines, CSV or TSV never writes a record in
// part. It leaves out a record that the format cannot represent.
//
// A map contains one location for each active name. This is the location to which the server
// redirects a client without preferences. A location cannot inject directives into the
// configuration of a web server, because the export rejects URLs with anything but visible ASCII
// and quotes words by the rules of the web server.
package bulk
