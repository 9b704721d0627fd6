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

// The suffixes of the partial file and of the file with its note.
const (
	partSuffix = ".part"
	noteSuffix = ".part.json"
)

// noteVersion is the version of the format of notes:
//
//	1  {"version","location","validator","size","type"}
const noteVersion = 1

// A note describes the object to which a partial file belongs.
type note struct {
	Version   int    `json:"version"`
	Location  string `json:"location"`  // as requested
	Validator string `json:"validator"` // "" if the partial file cannot be continued
	Size      int64  `json:"size"`      // of the whole object; -1 if unknown
	Type      string `json:"type"`
}

// SaveOptions configure [Fetcher.Save].
type SaveOptions struct {
	Continue bool // continue a partial file if the object has not changed
	Replace  bool // replace an existing file

	// Progress is called with the number of bytes received and the total number, which is -1 if
	// unknown. It may be nil.
	Progress func(done, total int64)
}

// A Saved is the result of [Fetcher.Save].
type Saved struct {
	Object
	Resumed int64 // bytes that an earlier call had received
	Bytes   int64 // bytes of the file
}

// A PartError means that only a part of a resource was received. The received part stays in a
// partial file.
type PartError struct {
	File   string // name of the partial file
	Bytes  int64  // its length
	Usable bool   // a later call of Save can continue it
	Err    error
}

func (e *PartError) Error() string { return e.Err.Error() }

func (e *PartError) Unwrap() error { return e.Err }

// Save fetches a resource into a file. Until the data is complete, it is in a partial file in the
// same directory. A second file next to the partial file describes the object, so that a later call
// with the option Continue can detect whether the object has changed.
//
// If only a part was received, the error is a [*PartError]. If the file exists and the option
// Replace is not set, the error wraps [fs.ErrExist]. The error also wraps fs.ErrExist if a partial
// file exists and neither Continue nor Replace is set. It wraps [ErrNoFile] if the path is not a
// regular file, such as a directory. All other errors are errors of [Fetcher.Open]. If two
// concurrent calls save to the same file, the later call returns an error.
func (f *Fetcher) Save(ctx context.Context, location uri.URI, r Request, path string, o SaveOptions) (*Saved, error) {
	if r.Offset != 0 || r.Length != 0 {
		return nil, errors.New("fetch: cannot save a range: the file would look like the whole resource")
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
		return nil, &PartError{File: path + partSuffix, Bytes: s.Bytes, Usable: object.Validator != "", Err: errors.Join(err, part.Close())}
	}
	defer part.Close()                                  // releases the lock after the file was renamed
	if err := mayReplace(path, o.Replace); err != nil { // the file may exist by now
		return nil, &PartError{File: path + partSuffix, Bytes: s.Bytes, Usable: object.Validator != "", Err: err}
	}
	return s, finishPart(path)
}

// mayWrite returns an error if Save could not write the file, or if the options do not permit an
// existing file to be overwritten. Save calls it before sending a request.
func mayWrite(path string, o SaveOptions) error {
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return fmt.Errorf("fetch: %s: directory not found", filepath.Dir(path))
	}
	if err := mayReplace(path, o.Replace); err != nil {
		return err
	}
	part, err := os.Lstat(path + partSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("fetch: %w", err)
	case !part.Mode().IsRegular():
		return fmt.Errorf("fetch: %s%s is not a regular file: %w", path, partSuffix, ErrNoFile)
	case o.Continue || o.Replace || part.Size() == 0 || isOfNoUse(path):
		return nil
	}
	return existError(fmt.Sprintf("fetch: %s%s already has %d bytes", path, partSuffix, part.Size()))
}

// An existError means that a file already exists. It matches [fs.ErrExist].
type existError string

func (e existError) Error() string        { return string(e) }
func (e existError) Is(target error) bool { return target == fs.ErrExist }

// ErrNoFile means that a path exists and is not a regular file, but for example a directory or a
// device.
var ErrNoFile = errors.New("cannot save there")

func mayReplace(path string, replace bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("fetch: %w", err)
	case !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink:
		return fmt.Errorf("fetch: %s is not a regular file: %w", path, ErrNoFile)
	case !replace:
		return existError("fetch: " + path + " already exists")
	}
	return nil
}

// isOfNoUse reports whether a partial file has a note without a validator, so that Save cannot
// continue it.
func isOfNoUse(path string) bool {
	var n note
	text, err := os.ReadFile(path + noteSuffix)
	return err == nil && json.Unmarshal(text, &n) == nil && n.Version == noteVersion && n.Validator == ""
}

// partOf returns the length and the validator of the partial file. It returns 0 and "" if the file
// cannot be continued or belongs to another location.
func partOf(path string, location uri.URI) (int64, string) {
	text, err := os.ReadFile(path + noteSuffix)
	if err != nil {
		return 0, ""
	}
	n, err := readNote(text)
	info, err2 := os.Lstat(path + partSuffix)
	if err != nil || err2 != nil || !info.Mode().IsRegular() || n.Location != location.WithoutFragment().Redacted() || info.Size() == 0 {
		return 0, ""
	}
	return info.Size(), n.Validator
}

func readNote(text []byte) (note, error) {
	var n note
	if err := json.Unmarshal(text, &n); err != nil {
		return note{}, err
	}
	if n.Version != noteVersion || n.Validator == "" || !isField(n.Validator) {
		return note{}, fmt.Errorf("fetch: unusable note: version %d, validator %q", n.Version, n.Validator)
	}
	return n, nil
}

// openPart opens the partial file, truncates it to the offset of the object, and writes the note.
// It truncates the file first, so that data of another version never remains with the new note.
func openPart(path string, location uri.URI, o *Object) (*os.File, error) {
	part, err := os.OpenFile(path+partSuffix, os.O_WRONLY|os.O_CREATE, durable.Shared)
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
		err = writeNote(path, note{noteVersion, location.WithoutFragment().Redacted(), o.Validator, o.Size, o.Type})
	}
	if err != nil {
		part.Close()
		return nil, err
	}
	return part, nil
}

// stillThere returns an error if part no longer has its name or has become shorter. This happens if
// another process has completed the file before this process locked it.
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
	return durable.WriteFile(path+noteSuffix, string(text)+"\n")
}

// fill writes the body to the partial file and syncs it.
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

func finishPart(path string) error {
	if err := durable.Move(durable.Disk{}, path+partSuffix, path); err != nil {
		return err
	}
	return os.Remove(path + noteSuffix)
}
