// Package noid imports the databases of NOID minters: the Berkeley DB files of Noid and Nog (N2T,
// EZID), and their dumps as text.
//
// # Databases
//
// A database has one key for each value. A key "ID TAB ELEMENT" has an element that was bound to an
// identifier. Keys that begin with ":/" are the settings and the state of the minter. The package
// reads Berkeley DB files of the type btree (version 2 of Berkeley DB and later) itself, page by
// page, without the library. A file is untrusted, so all offsets, lengths and links are checked,
// and links cannot form a loop. Files of other types, and encrypted or compressed ones, are
// rejected.
//
// The dump is the text that db_dump writes, with or without -p.
//
// # Records
//
// Each identifier becomes a record. Its name is the identifier after a base, which is "ark:" by
// default. Its fields are:
//
//   - the elements _t, location, url, target and where, if they are URLs: locations;
//   - who, what, when and how: creator, title, date and type;
//   - the other names of the Dublin Core elements: these elements;
//   - the status: reserved if there is no location or if there is a hold, otherwise active.
//
// All other elements are reported as not imported.
//
// # The minter
//
// The minter becomes a template of the authority, provided that its counters have the values that a
// NOID minter has after this number of identifiers. The template continues with the identifier that
// the old minter would have made next (see package mint).
package noid
