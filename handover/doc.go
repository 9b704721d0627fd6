// Package handover reads and writes archives with which another organisation takes over a store: all
// records, naming authorities, users and rights of tokens with their histories, in the order of the
// log, and the signed note that names the new key of the log. An archive has no secrets.
//
// An archive is a text without compression and without names of files: JSON Lines with a header, a
// line for each change, and a last line with the hash of all lines before it. docs/reference/files.md
// describes the format. Archives are read line by line, and each line has a limit. So reading
// an archive needs the same amount of memory, whatever its size.
package handover
