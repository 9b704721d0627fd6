package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/flock"
	"github.com/nomen-project/nomen/uri"
)

// What [Fetcher.Save] puts after the name of a file for the part that has come,
// and for the note about it.
const (
	PartSuffix = ".part"
	NoteSuffix = ".part.json"
)

// NoteVersion is the version of the notes about parts.
//
//	1  {"version","location","validator","size","type"}
const NoteVersion = 1

// A note says of what a part is a part.
type note struct {
	Version   int    `json:"version"`
	Location  string `json:"location"`  // as asked
	Validator string `json:"validator"` // "" if a part is of no use
	Size      int64  `json:"size"`      // of the whole; -1 if it is not known
	Type      string `json:"type"`
}

// SaveOptions say how a resource becomes a file.
type SaveOptions struct {
	Continue bool // go on with the part that is there, if it is of the same object
	Replace  bool // a file of this name may be replaced

	// Progress, if not nil, is told how many bytes are there, and how many there
	// will be, which is -1 if it is not known.
	Progress func(done, total int64)
}

// A Saved is a resource that has become a file.
type Saved struct {
	Object
	Resumed int64 // bytes that were there before
	Bytes   int64 // all
}

// A PartError is returned when a resource came only in part, which is kept.
type PartError struct {
	File   string // the part
	Bytes  int64  // in it
	Usable bool   // going on from there is possible
	Err    error
}

func (e *PartError) Error() string { return e.Err.Error() }

func (e *PartError) Unwrap() error { return e.Err }

// Save fetches to a file. The file is there only when all of it is; until then
// what has come is beside it, with a note by which a later Save that continues
// knows whether the object is still the same. The error is a [*PartError] when
// something has come, wraps [fs.ErrExist] when the file is there already, or the
// part of another Save and nobody said what to do with it, [ErrNoFile] for what
// cannot be a file, or is one of [Fetcher.Open]. Two that save to one file at a
// time do not mix: the later one ends with an error.
func (f *Fetcher) Save(ctx context.Context, location uri.URI, r Request, path string, o SaveOptions) (*Saved, error) {
	if r.Offset != 0 || r.Length != 0 {
		return nil, errors.New("fetch: a range is not saved: the file would look like the whole")
	}
	if err := mayWrite(path, o); err != nil {
		return nil, err
	}
	if o.Continue {
		r.Offset, r.Validator = partOf(path, location)
	}
	object, err := f.Open(ctx, location, r)
	if err != nil {
		return nil, err
	}
	defer object.Body.Close()
	s := &Saved{Object: *object, Resumed: object.Offset, Bytes: object.Offset}
	part, err := openPart(path, location, object)
	if err != nil {
		return nil, err
	}
	if err := s.fill(part, o.Progress); err != nil {
		return nil, &PartError{File: path + PartSuffix, Bytes: s.Bytes, Usable: object.Validator != "", Err: errors.Join(err, part.Close())}
	}
	defer part.Close()                                  // the lock ends when the file has its name
	if err := mayReplace(path, o.Replace); err != nil { // since somebody may have made it
		return nil, &PartError{File: path + PartSuffix, Bytes: s.Bytes, Usable: object.Validator != "", Err: err}
	}
	return s, finishPart(path)
}

// mayWrite reports before anybody is asked why there will be no file of this
// name: nothing that is there is lost unless that is allowed.
func mayWrite(path string, o SaveOptions) error {
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return fmt.Errorf("fetch: %s: there is no such directory", filepath.Dir(path))
	}
	if err := mayReplace(path, o.Replace); err != nil {
		return err
	}
	part, err := os.Lstat(path + PartSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("fetch: %w", err)
	case !part.Mode().IsRegular():
		return fmt.Errorf("fetch: %s%s is no regular file: %w", path, PartSuffix, ErrNoFile)
	case o.Continue || o.Replace || part.Size() == 0 || isOfNoUse(path):
		return nil
	}
	return existError(fmt.Sprintf("fetch: %s%s holds %d bytes already", path, PartSuffix, part.Size()))
}

// An existError says in its own words that there is something already.
type existError string

func (e existError) Error() string        { return string(e) }
func (e existError) Is(target error) bool { return target == fs.ErrExist }

// ErrNoFile is wrapped by the error of [Fetcher.Save] for a name at which there is
// something else than a file, such as a directory or a device.
var ErrNoFile = errors.New("nothing is saved there")

// mayReplace reports why a file cannot take its name.
func mayReplace(path string, replace bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("fetch: %w", err)
	case !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink:
		return fmt.Errorf("fetch: %s is no regular file: %w", path, ErrNoFile)
	case !replace:
		return existError("fetch: " + path + " is there already")
	}
	return nil
}

// isOfNoUse reports whether the note about a part says that nobody can go on from
// it.
func isOfNoUse(path string) bool {
	var n note
	text, err := os.ReadFile(path + NoteSuffix)
	return err == nil && json.Unmarshal(text, &n) == nil && n.Version == NoteVersion && n.Validator == ""
}

// partOf returns the length and the validator of a part of this location that is
// of use, or nothing.
func partOf(path string, location uri.URI) (int64, string) {
	text, err := os.ReadFile(path + NoteSuffix)
	if err != nil {
		return 0, ""
	}
	n, err := readNote(text)
	info, err2 := os.Lstat(path + PartSuffix)
	if err != nil || err2 != nil || !info.Mode().IsRegular() || n.Location != location.WithoutFragment().Redacted() || info.Size() == 0 {
		return 0, ""
	}
	return info.Size(), n.Validator
}

// readNote reads a note that can be used.
func readNote(text []byte) (note, error) {
	var n note
	if err := json.Unmarshal(text, &n); err != nil {
		return note{}, err
	}
	if n.Version != NoteVersion || n.Validator == "" || !isField(n.Validator) {
		return note{}, fmt.Errorf("fetch: a note of version %d with the validator %q", n.Version, n.Validator)
	}
	return n, nil
}

// openPart opens the part at its end, or anew, and writes the note. The part is
// cut before the note changes, so that the two never disagree.
func openPart(path string, location uri.URI, o *Object) (*os.File, error) {
	part, err := os.OpenFile(path+PartSuffix, os.O_WRONLY|os.O_CREATE, durable.Shared)
	if err != nil {
		return nil, err
	}
	if err = flock.Try(part); err != nil {
		err = fmt.Errorf("fetch: %s: %w", part.Name(), err)
	}
	if err == nil {
		err = stillThere(part, o.Offset)
	}
	if err == nil {
		err = part.Truncate(o.Offset)
	}
	if err == nil {
		_, err = part.Seek(o.Offset, io.SeekStart)
	}
	if err == nil {
		err = writeNote(path, note{NoteVersion, location.WithoutFragment().Redacted(), o.Validator, o.Size, o.Type})
	}
	if err != nil {
		part.Close()
		return nil, err
	}
	return part, nil
}

// stillThere reports whether a part that has been locked is the one that was
// looked at: whoever had the lock before may have made a file of it.
func stillThere(part *os.File, offset int64) error {
	now, err := os.Lstat(part.Name())
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	info, err := part.Stat()
	if err == nil && (!os.SameFile(now, info) || info.Size() < offset) {
		err = fmt.Errorf("fetch: %s: %w", part.Name(), flock.ErrLocked)
	}
	return err
}

func writeNote(path string, n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return durable.WriteFile(path+NoteSuffix, string(text)+"\n")
}

// fill writes the body to the part, down to the disk.
func (s *Saved) fill(part *os.File, progress func(done, total int64)) (err error) {
	defer func() { err = errors.Join(err, part.Sync()) }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.Body.Read(buffer)
		written, werr := part.Write(buffer[:n])
		s.Bytes += int64(written)
		if progress != nil && n > 0 {
			progress(s.Bytes, s.Size)
		}
		switch {
		case werr != nil:
			return werr
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// finishPart makes the part the file.
func finishPart(path string) error {
	if err := durable.Move(durable.Disk{}, path+PartSuffix, path); err != nil {
		return err
	}
	return os.Remove(path + NoteSuffix)
}
