// Package bulk brings records in and out of files: JSON Lines, plain or
// compressed with gzip or zstd.
//
// # JSON Lines
//
// One object a line, with the fields of [store.Record] under their JSON names;
// only "name" is needed. UTF-8 with or without a byte order mark; lines end in
// LF or CRLF, the last one perhaps in nothing; blank lines are skipped; a line
// has at most [MaxLine] bytes. Unknown and repeated fields, wrong types, broken
// escapes and anything after the object are errors that name line, column and
// field; a bad line is refused and the others go in.
//
// # Import
//
// By default an import merges (see [registrar.Request], Add): it touches only
// the fields a line has and removes nothing; with Replace the lists of a line
// stand for those that are there.
//
// "modified" is read and ignored. "revision" is the revision that the line
// was made from: where the name has another one and the line would change it,
// the line is refused; a name that does not exist is created whatever the line
// says, so that an export goes into an empty store. A line that asks for what
// is there already is unchanged, so importing a file again does nothing, and an
// import that broke off is resumed by starting it again. Lines of one name build
// on each other, unless they contradict each other by their revisions.
//
// # Export
//
// An export is a snapshot in the order of names. Imported into an empty store
// and exported again it is the same bytes, except "modified" and "revision",
// which are of the store and not of the content. Authorities are not in the
// file: where one folds the case of its names, it has to be there first.
package bulk
