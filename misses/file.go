package misses

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/nomen-project/nomen/internal/durable"
)

// version is the version of the file format.
const version = 1

// formatName begins every file.
const formatName = "nomen-misses"

// Limits of a file.
const (
	maxFileNames = 1 << 20
	maxLine      = 256 << 10 // bytes: all texts of the largest miss, escaped
)

// An Error reports an invalid file.
type Error struct {
	Line    int // from 1
	Message string
	Err     error // the cause, or nil
}

func (e *Error) Error() string { return fmt.Sprintf("misses: line %d: %s", e.Line, e.Message) }

func (e *Error) Unwrap() error { return e.Err }

// A head is the first line of a file.
type head struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Names   int    `json:"names"` // lines that follow
	Totals
}

// write writes a list and its totals in the file format.
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

// read reads a file, in which the misses may be in any order. It returns an [*Error] if the
// file has another format or a later version, is damaged or is incomplete. Other errors are
// those of r.
func read(r io.Reader) ([]Miss, Totals, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	line := 0
	fail := func(message string, cause error) ([]Miss, Totals, error) {
		if err := in.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
			return nil, Totals{}, fmt.Errorf("misses: %w", err)
		}
		return nil, Totals{}, &Error{Line: max(line, 1), Message: message, Err: cause}
	}
	next := func(v any) error {
		line++
		if !in.Scan() {
			return errors.Join(in.Err(), io.ErrUnexpectedEOF)
		}
		return json.Unmarshal(in.Bytes(), v)
	}
	var h head
	if err := next(&h); err != nil || h.Format != formatName {
		return fail("not a file of failed lookups", err)
	}
	switch {
	case h.Version != version:
		return fail(fmt.Sprintf("format version %d is not supported; this program supports version %d", h.Version, version), nil)
	case h.Since.IsZero():
		return fail("missing time at which counting began", nil)
	case h.Names < 0 || h.Names > maxFileNames:
		return fail(fmt.Sprintf("%d names, more than %d", h.Names, maxFileNames), nil)
	}
	var list []Miss
	seen := map[string]bool{}
	for range h.Names {
		var m Miss
		err := next(&m)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fail(fmt.Sprintf("the file ends after %d of %d names", len(list), h.Names), err)
		case err != nil:
			return fail(err.Error(), err)
		case !m.isSound():
			return fail("invalid entry: missing name, count or time, or text too long", nil)
		case seen[m.Name]:
			return fail(fmt.Sprintf("duplicate name %q", m.Name), nil)
		}
		seen[m.Name] = true
		list = append(list, m)
	}
	if in.Scan() {
		line++
		return fail(fmt.Sprintf("more than the %d names that the first line announces", h.Names), nil)
	}
	if err := in.Err(); err != nil {
		return fail(err.Error(), err)
	}
	return list, h.Totals, nil
}

// isSound reports whether a Counter could have written m.
func (m Miss) isSound() bool {
	for _, s := range m.Suggestions {
		if !isText(s) {
			return false
		}
	}
	return isText(m.Name) && m.Count > 0 && len(m.Suggestions) <= maxSuggestions && !m.First.IsZero() && !m.Last.Before(m.First)
}

// Load reads the file with this name. If it does not exist, Load returns an empty list and zero
// totals.
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

// Save replaces a file atomically. Only its owner can read it. When Save returns nil, the new
// file is on disk; otherwise the old file is unchanged.
func Save(file string, list []Miss, t Totals) error {
	err := durable.Replace(durable.Disk{Mode: durable.Private}, file, func(w io.Writer) error { return write(w, list, t) })
	if err != nil {
		return fmt.Errorf("misses: %w", err)
	}
	return nil
}

// sweep removes temporary files left by a crash.
func sweep(file string) error {
	if err := durable.Sweep(file); err != nil {
		return fmt.Errorf("misses: %w", err)
	}
	return nil
}

// putAside renames a file to the first free name of FILE.unread, FILE.unread2 and so on, and
// returns it.
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
