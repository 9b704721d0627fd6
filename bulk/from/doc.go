// Package from has what the importers of files of other programs share. Each importer is a
// package below this one, with a [Format].
//
// An importer converts a file to records and to changes of authorities. It does not use a store.
// The records are written as JSON Lines, which package bulk imports like any other file. So
// conflicts, dry runs, jobs, undo and resuming work in the same way for all formats, and a server
// never parses a file of another program.
//
// Nothing is left out silently: an importer counts each directive of the file as handled, or
// reports it with its line, its text and the reason. A directive is a line, a key with its value,
// or an entry, depending on the format.
package from
