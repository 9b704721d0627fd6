// Package handover reads and writes archives for the transfer of a store to another organisation.
// An archive has all records, naming authorities, users and rights of tokens with their histories,
// in the order of the log. It also has a signed note with the new key of the log. It does not
// contain secrets.
//
// An archive is an uncompressed text in the format JSON Lines. It consists of a header, a line for
// each change, and a last line with the hash of all earlier lines. docs/reference/files.md
// describes the format. Archives are read line by line, and the length of a line is limited. The
// memory for reading an archive therefore does not depend on its size.
package handover
