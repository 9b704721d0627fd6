// Package from provides the common parts of importers for files of other programs. Each importer is
// a package in a subdirectory, and describes its files by a [Format].
//
// An importer converts a file to records and to changes of naming authorities. It does not access a
// store. The records are written as JSON Lines, which package bulk imports like any other file.
// Conflicts, dry runs, jobs, undo and resuming therefore work in the same way for all formats, and
// a server never parses a file of another program.
//
// An importer never omits anything silently. It counts each directive of the file as handled, or
// reports the directive with its line, its text and the reason. Depending on the format, a
// directive is a line, a key with its value, or an entry.
package from
