// Package noid imports the databases of NOID minters. It reads the Berkeley DB files of Noid and
// Nog, which N2T and EZID use, and text dumps of these files.
//
// # Databases
//
// A database is a list of key-value pairs. A key of the form "ID TAB ELEMENT" belongs to an element
// that was bound to an identifier. Keys that begin with ":/" belong to the settings and the state
// of the minter. The package reads Berkeley DB files with the access method btree page by page,
// without the Berkeley DB library. It supports version 2 of Berkeley DB and later. Files are
// untrusted, so all offsets, lengths and page numbers are checked, and loops between pages are
// detected. Files with other access methods are rejected, and so are encrypted and compressed
// files.
//
// A dump is the output of db_dump, with or without the option -p.
//
// # Records
//
// Each identifier becomes a record. The name of the record is a base followed by the identifier.
// The default base is "ark:". The fields of the record are:
//
//   - the elements _t, location, url, target and where, if they are URLs: locations;
//   - who, what, when and how: creator, title, date and type;
//   - elements with the name of a Dublin Core element: this element;
//   - the status: reserved if the identifier has no location or a hold, and otherwise active.
//
// All other elements are reported as not imported.
//
// # The minter
//
// The minter becomes a minting template of the naming authority (see package mint). This requires
// that the counters in the database are consistent with the number of identifiers that the minter
// has created. The first identifier from the template is the one that the old minter would have
// created next.
package noid
