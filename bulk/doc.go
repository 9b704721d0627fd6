// Package bulk imports and exports records as files: JSON Lines, CSV and TSV, plain or compressed
// with gzip or zstd. It also exports maps for other servers and text/uri-list.
// docs/reference/record.md describes the files for users.
//
// # Files
//
// A file is UTF-8 with or without a byte order mark. Lines end in LF or CRLF, which may be missing
// after the last line, and blank lines are skipped. A line has at most 4 MiB, and so have the lines
// of a quoted cell together. An error names line, column and byte offset. An invalid record is
// rejected, and all other records are imported.
//
// # JSON Lines
//
// One object per line, with the fields of [store.Record] under their JSON names; only "name" is
// required. Unknown and repeated fields, wrong types, invalid escapes and anything after the object
// are errors.
//
// # CSV and TSV
//
// A header line names the columns: name, status, reason, show_locations, successors, same_as, the
// members of a location, and dc:ELEMENT for metadata. Each line has at most one location;
// consecutive lines with the same name are one record. Two spellings count as the same name if they
// have one key and differ only in letter case; any other spelling begins another record. A value of
// the whole record, such as the status, can be in any line of the record, but not with different
// values.
//
// Successors, same_as and metadata may have several values, separated by bars. An empty cell means
// no value. An invalid line makes its record invalid.
//
// CSV follows RFC 4180. In lists, \| is a bar and \\ a backslash. An invalid cell affects only its
// line: if a superfluous quote makes several lines one cell, these lines are read again one by one.
// In TSV, quotes have no meaning, and \t \n \r \\ are escapes in all cells. CSV and TSV can
// represent all of a record except "modified" and "revision".
//
// # Import
//
// A [Conflict] determines how existing names are handled. By default an import merges (see
// [registrar.Request], Add): it changes only fields that the record in the file has, and removes
// nothing.
//
// The import ignores "modified". It uses "revision" as the revision on which a record in the file
// is based:
//
//   - If the record would change nothing, the name is unchanged, whatever the revision is.
//   - If the record would change an existing name, and the name has another revision, the record is
//     rejected.
//   - If the name does not exist, it is created, whatever the revision is.
//
// To resume an interrupted import, start it again: records that were already imported change
// nothing. If a file has several records of one name, they are applied one after the other.
//
// # Export
//
// An export is a snapshot in the order of names. If the file is imported into an empty store,
// another export gives the same bytes, except for "modified" and "revision", which the store sets.
// The file contains no authorities, so an authority that folds case must exist before the import. A
// record that a format cannot represent is rejected, never written in part.
//
// A map contains a location for each active name: the one to which the server redirects a client
// without preferences. A location cannot inject directives into the configuration of a web server:
// the export rejects URLs with anything but visible ASCII, and quotes words by the rules of the web
// server.
package bulk
