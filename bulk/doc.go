// Package bulk imports and exports records as files: JSON Lines, CSV and TSV, plain
// or compressed with gzip or zstd. It also exports maps for other servers and
// text/uri-list. docs/reference/record.md describes the files for users.
//
// # Files
//
// A file is UTF-8 with or without a byte order mark. Lines end in LF or CRLF. The line ending
// may be missing after the last line; blank lines are skipped. A line has at most 4 MiB. If a
// quoted cell has several lines, they have at most 4 MiB together. An error names line, column
// and byte offset; it affects one record, and the others are imported.
//
// # JSON Lines
//
// One object per line, with the fields of [store.Record] under their JSON names; only
// "name" is required. Unknown and repeated fields, wrong types, invalid escapes and
// anything after the object are errors.
//
// # CSV and TSV
//
// A header line names the columns: name, status, reason, show_locations, successors, same_as, the
// members of a location, and dc:ELEMENT for metadata. Each line has at most one location;
// consecutive lines with the same name are one record. Names that differ only in letter case are
// the same if they have one key; other spellings of a name begin another record. A value of the
// whole record, such as its status, can be in any of its lines. It must not differ between lines.
// Successors, same_as and metadata may have several values, separated by bars. An empty cell
// means no value. An invalid line makes its record invalid.
//
// CSV follows RFC 4180. In lists \| is a bar and \\ a backslash. An invalid cell affects only
// its own line: if a superfluous quote made several lines one cell, these lines are read again
// one by one. TSV has no quotes; \t \n \r \\ are escapes in all of its cells. Both can
// represent a whole record except "modified" and "revision".
//
// # Import
//
// A [Conflict] determines how existing names are handled. By default an import merges
// (see [registrar.Request], Add): it changes only the fields that a record has, and
// removes nothing.
//
// "modified" is ignored. "revision" is the revision on which the line is based. If the name
// now has another revision and the line would change its record, the line is rejected. A name
// that does not exist is created in any case. A record that would change nothing is unchanged,
// so importing a file again does nothing, and an interrupted import can be resumed by starting
// it again. If a file has several records of one name, each builds on the one before, unless
// their revisions contradict each other.
//
// # Export
//
// An export is a snapshot in the order of names. Importing it into an empty store and
// exporting again gives the same bytes. The exception is an export that includes "modified"
// and "revision", because the store sets these fields. Authorities are not in the file: an
// authority that folds case must exist before the import. A record that a format cannot
// represent is rejected, never written in part.
//
// Maps contain, for active names, the location to which a client without preferences is
// redirected. Nothing in a location can break out of its place in the server's configuration:
// URLs with anything but visible ASCII are rejected, and words are quoted by the rules of the
// server.
package bulk
