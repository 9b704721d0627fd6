package misses

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/nomen-project/nomen/internal/durable"
)

// version is the version of the file format. Files of version 1, which do not have the fields bots
// and months, are also supported.
const version = 2

const formatName = "nomen-misses"

// Limits on a file.
const (
	maxFileNames = 1 << 20
	maxLine      = 256 << 10 // bytes; the line of a miss is never longer
)

type fileError struct {
	Line    int // from 1
	Message string
	Err     error // the cause, or nil
}

func (e *fileError) Error() string { return fmt.Sprintf("misses: line %d: %s", e.Line, e.Message) }

func (e *fileError) Unwrap() error { return e.Err }

// A head is the first line of a file.
type head struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Names   int    `json:"names"` // number of lines that follow, each with a name
	Totals
}

func write(w io.Writer, list []Miss, t Totals) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	err := e.Encode(head{formatName, version, len(list), t})
	for i := 0; i < len(list) && err == nil; i++ {
		err = e.Encode(list[i])
	}
	return errors.Join(err, b.Flush())
}

type reader struct {
	in   *bufio.Scanner
	line int // number of the last line
}

func (r *reader) next(v any) error {
	r.line++
	if !r.in.Scan() {
		return errors.Join(r.in.Err(), io.ErrUnexpectedEOF)
	}
	return json.Unmarshal(r.in.Bytes(), v)
}

func (r *reader) fault(cause error, format string, args ...any) error {
	if err := r.in.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("misses: %w", err)
	}
	return &fileError{Line: r.line, Message: fmt.Sprintf(format, args...), Err: cause}
}

func (r *reader) head() (head, error) {
	var h head
	err := r.next(&h)
	switch {
	case err != nil || h.Format != formatName:
		return h, r.fault(err, "not a file of failed lookups")
	case h.Version != version && h.Version != 1:
		return h, r.fault(nil, "format version %d is not supported; this program supports version %d", h.Version, version)
	case h.Since.IsZero():
		return h, r.fault(nil, "missing time at which counting began")
	case h.Names < 0 || h.Names > maxFileNames:
		return h, r.fault(nil, "%d names, more than %d", h.Names, maxFileNames)
	}
	return h, nil
}

// read parses a file. The misses may be in any order. If the file has another format or a later
// version, is damaged or is incomplete, the error is a [*fileError]. Other errors are those of the
// reader.
func read(in io.Reader) ([]Miss, Totals, error) {
	r := &reader{in: bufio.NewScanner(in)}
	r.in.Buffer(nil, maxLine)
	h, err := r.head()
	if err != nil {
		return nil, Totals{}, err
	}
	var list []Miss
	seen := map[string]bool{}
	for range h.Names {
		var m Miss
		err := r.next(&m)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = r.fault(err, "the file ends after %d of %d names", len(list), h.Names)
		case err != nil:
			err = r.fault(err, "%s", err)
		case !m.isSound():
			err = r.fault(nil, "invalid entry: missing name, count or time, or text too long")
		case seen[m.Name]:
			err = r.fault(nil, "duplicate name %q", m.Name)
		}
		if err != nil {
			return nil, Totals{}, err
		}
		seen[m.Name] = true
		list = append(list, m)
	}
	if r.in.Scan() {
		r.line++
		return nil, Totals{}, r.fault(nil, "more than the %d names that the first line announces", h.Names)
	}
	if err := r.in.Err(); err != nil {
		return nil, Totals{}, r.fault(err, "%s", err)
	}
	return list, h.Totals, nil
}

func (m Miss) isSound() bool {
	isBad := func(s string) bool { return !isText(s) }
	return isText(m.Name) && m.Count > m.Bots && len(m.Suggestions) <= maxSuggestions && !slices.ContainsFunc(m.Suggestions, isBad) &&
		!m.First.IsZero() && !m.Last.Before(m.First)
}

// Load returns the counts in a file. If the file does not exist, Load returns an empty list and
// zero totals.
func Load(file string) ([]Miss, Totals, error) {
	f, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Totals{}, nil
	case err != nil:
		return nil, Totals{}, fmt.Errorf("misses: %w", err)
	}
	defer f.Close()
	list, t, err := read(f)
	if err != nil {
		return nil, Totals{}, fmt.Errorf("%s: %w", file, err)
	}
	return list, t, nil
}

// Save atomically replaces a file. Only the owner can read the new file. If Save returns nil, the
// new file is on disk. Otherwise, the old file is unchanged.
func Save(file string, list []Miss, t Totals) error {
	err := durable.Replace(durable.Disk{Mode: durable.Private}, file, func(w io.Writer) error { return write(w, list, t) })
	if err != nil {
		return fmt.Errorf("misses: %w", err)
	}
	return nil
}

// sweep removes temporary files that are left after a crash.
func sweep(file string) error {
	if err := durable.Sweep(file); err != nil {
		return fmt.Errorf("misses: %w", err)
	}
	return nil
}

// putAside renames a file to the first free name of FILE.unread, FILE.unread2 and so on, and
// returns that name.
func putAside(file string) (string, error) {
	aside := file + ".unread"
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", fmt.Errorf("misses: %w", err)
		}
		aside = file + ".unread" + strconv.Itoa(n)
	}
	if err := durable.Move(durable.Disk{}, file, aside); err != nil {
		return "", fmt.Errorf("misses: %w", err)
	}
	return aside, nil
}
