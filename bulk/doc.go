// Package bulk brings records in and out of files: JSON Lines, CSV and TSV, plain
// or compressed with gzip or zstd, and out alone as maps for other servers and as
// text/uri-list. docs/reference/record.md describes the files for people.
//
// # Files
//
// A file is UTF-8 with or without a byte order mark; lines end in LF or CRLF, the
// last one perhaps in nothing; blank lines are skipped; a line, or the lines of a
// quoted cell, have at most [MaxLine] bytes. What is wrong is told with line,
// column and byte offset, and the other records go in.
//
// # JSON Lines
//
// One object a line, with the fields of [store.Record] under their JSON names;
// only "name" is needed. Unknown and repeated fields, wrong types, broken escapes
// and anything after the object are errors.
//
// # CSV and TSV
//
// A header line names the columns: name, status, reason, successors, same_as, the
// members of a location, and dc:ELEMENT for metadata. Each line is a location;
// lines of one name that stand together are one record. What is about the record
// stands in one of its lines, or is the same in all. Successors, same_as and
// metadata hold several values with a bar between them. An empty cell says
// nothing. A line that is not well formed spoils the record that it belongs to.
//
// CSV is that of RFC 4180. In lists \| is a bar and \\ a backslash. A cell that is
// not well formed costs its own line: what a quote too many has swallowed is read
// again, line by line. TSV has no quotes; \t \n \r \\ are escapes in all of its
// cells. Both hold all of a record but "modified" and "revision".
//
// # Import
//
// What becomes of names that are there is a [Conflict]; by default an import
// merges (see [registrar.Request], Add): it touches only the fields a record has
// and removes nothing.
//
// "modified" is read and ignored. "revision" is the revision that the line was
// made from: where the name has another one and the line would change it, the
// line is refused; a name that does not exist is created whatever the line says.
// A record that asks for what is there already is unchanged, so importing a file
// again does nothing, and an import that broke off is resumed by starting it
// again. Records of one name build on each other, unless they contradict each
// other by their revisions.
//
// # Export
//
// An export is a snapshot in the order of names. Imported into an empty store and
// exported again it is the same bytes, unless it was asked for what belongs to
// the store, "modified" and "revision". Authorities are not in the file: where one
// folds the case of its names, it has to be there first. A record that a format
// cannot hold is refused, never written in part.
//
// Maps hold the location to which a client without wishes is redirected, for
// active names. Nothing in a location can end the word that it stands in: URLs
// with anything but visible ASCII are refused, and words are quoted by the rules
// of the server.
package bulk
