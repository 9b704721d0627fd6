package pebblestore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"path"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// checkManifest checks Pebble's manifest, which lists the tables, before the database in dir is
// opened. Without this check, a damaged manifest would lose data. Pebble ignores the first invalid
// record and everything after it, and removes the tables that these records list. If no file names
// a manifest, Pebble makes a new database. In these cases checkManifest returns a [*ManifestError].
// The caller must hold the lock of the directory, because a database that is being created has no
// manifest yet.
//
// After a crash, the last record can be invalid. Pebble syncs each record before it writes the next
// record or removes a file. If only the last record is invalid, torn is true, and the caller must
// check that the database is complete without this record.
func checkManifest(files vfs.FS, dir string) (torn bool, err error) {
	desc, err := pebble.Peek(dir, files)
	if err != nil {
		return false, nil // the engine creates the directory, or returns this error
	}
	if !desc.Exists {
		return false, checkNew(files, dir)
	}
	text, err := readFile(files, desc.ManifestFilename)
	if err != nil {
		return false, nil // as above
	}
	size, whole := validRecords(text)
	damage := func(problem string) error {
		return &ManifestError{desc.ManifestFilename, fmt.Sprintf("damaged: the record at byte %d of %d is invalid%s", size, len(text), problem)}
	}
	switch {
	case size == 0:
		return false, damage("")
	case !whole && hasRecord(text, size+1):
		return false, damage(", but a later one is valid")
	}
	return !whole, nil
}

// checkNew returns an error if Pebble would make a new database in dir although dir has files of
// another database.
func checkNew(files vfs.FS, dir string) error {
	names, err := files.List(dir)
	if err != nil {
		return nil // the engine creates the directory, or returns this error
	}
	slices.Sort(names)
	missing := files.PathJoin(dir, "marker.manifest.*")
	for _, name := range names {
		for _, pattern := range []string{"*.blob", "*.log", "*.sst"} {
			if ok, _ := path.Match(pattern, name); ok {
				return &ManifestError{missing, "the file is missing, but " + name + " exists"}
			}
		}
	}
	mark, err := readMark(files, dir)
	if err == nil && mark.Size > 0 {
		err = &ManifestError{missing, fmt.Sprintf("the file is missing, but %s has the head of a log of %d changes", markFile, mark.Size)}
	}
	return err
}

func readFile(files vfs.FS, name string) ([]byte, error) {
	f, err := files.Open(name, vfs.SequentialReadsOption)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	return text, errors.Join(err, f.Close())
}

func validRecords(text []byte) (size int, whole bool) {
	r := record.NewReader(bytes.NewReader(text), 0)
	for {
		next, err := r.Next()
		if err == nil {
			_, err = io.Copy(io.Discard, next)
		}
		if err != nil {
			return size, err == io.EOF
		}
		size = int(r.Offset())
	}
}

// The format of a manifest. A record consists of chunks, which do not cross the boundaries of
// blocks. A chunk begins with a checksum (4 bytes), the length of its content (2) and its kind (1).
const (
	recordBlock  = 32 << 10
	recordHeader = 7
	recordFull   = 1 // kind of a chunk with a whole record
	recordFirst  = 2 // kind of the first chunk of a record
)

func hasRecord(text []byte, from int) bool {
	table := crc32.MakeTable(crc32.Castagnoli)
	for at := from; at+recordHeader < len(text); at++ {
		if kind := text[at+6]; kind != recordFull && kind != recordFirst {
			continue
		}
		end := at + recordHeader + int(binary.LittleEndian.Uint16(text[at+4:]))
		if end > min(len(text), (at/recordBlock+1)*recordBlock) {
			continue
		}
		sum := bits.RotateLeft32(crc32.Checksum(text[at+6:end], table), -15) + 0xa282ead8
		if sum == binary.LittleEndian.Uint32(text[at:]) {
			return true
		}
	}
	return false
}

// checkTorn checks a database whose manifest ends with an invalid record. If the database without
// this record lacks a change up to the mark, checkTorn returns an error. It opens the database
// read-only, because Pebble would otherwise remove the tables that the invalid record lists.
func checkTorn(o Options, lock *dirLock) error {
	mark, err := readMark(o.FS, o.Dir)
	if err != nil || mark.Size == 0 {
		return err
	}
	o.ReadOnly = true
	db, err := openWith(o, lock, nil, nil)
	if err != nil {
		return err
	}
	log, err := logOf(db.DB)
	if size := log.Size(); err == nil && size < mark.Size {
		err = &ManifestError{o.FS.PathJoin(o.Dir, "MANIFEST-*"), fmt.Sprintf("damaged: the last record is invalid, and without it the log has %d changes but had %d", size, mark.Size)}
	}
	return errors.Join(err, db.Close())
}
