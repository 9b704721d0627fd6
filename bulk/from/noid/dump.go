package noid

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A LineError reports an invalid line of a dump.
type LineError struct {
	Line   int // from 1
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// A dump reads the output of db_dump.
type dump struct {
	in    *bufio.Reader
	line  int
	print bool // the items are text with escapes, not hexadecimal digits
}

const maxDumpLine = 3*maxValue + 2

func isDump(head []byte) bool { return bytes.HasPrefix(head, []byte("VERSION=")) }

// next returns the next line without its line break. If the line is too long, it returns an empty
// line, and lost is the reason.
func (d *dump) next() (line []byte, lost string, err error) {
	d.line++
	for {
		part, err := d.in.ReadSlice('\n')
		if lost == "" {
			line = append(line, part...)
		}
		if len(line) > maxDumpLine {
			line, lost = nil, fmt.Sprintf("it is longer than the limit of %d bytes", maxValue)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = &LineError{d.line, "the dump ends without DATA=END: it was not copied completely"}
		}
		return bytes.TrimRight(line, "\r\n"), lost, err
	}
}

func (d *dump) header() error {
	const maxHeader = 100
	for range maxHeader {
		line, _, err := d.next()
		if err != nil {
			return err
		}
		key, value, _ := strings.Cut(string(line), "=")
		switch {
		case key == "HEADER":
			return nil
		case key == "format" && value != "print" && value != "bytevalue":
			return &LineError{d.line, fmt.Sprintf("invalid format %q: want print or bytevalue", value)}
		case key == "format":
			d.print = value == "print"
		case key == "type" && value != "btree":
			return &UnsupportedError{fmt.Sprintf("a dump of a database of type %q", value)}
		}
	}
	return &LineError{d.line, "the header has no end"}
}

func (d *dump) each(f func(pair) error) error {
	if err := d.header(); err != nil {
		return err
	}
	for {
		key, lostKey, err := d.item()
		if err != nil || key == nil && lostKey == "" {
			return err
		}
		p := pair{at: d.line, column: 2, key: key}
		if p.value, p.lost, err = d.item(); err != nil {
			return err
		}
		if p.value == nil && p.lost == "" {
			return &LineError{d.line, "the last key has no value"}
		}
		if lostKey != "" {
			p.lost = "of the key: " + lostKey
		}
		if err := f(p); err != nil {
			return err
		}
	}
}

// item reads a key or a value. After the last item, it returns nil.
func (d *dump) item() (item []byte, lost string, err error) {
	line, lost, err := d.next()
	switch {
	case lost != "" && err == nil:
		return nil, lost, nil
	case string(line) == "DATA=END":
		return nil, "", nil // also if no line break follows
	case err != nil:
		return nil, "", err
	case len(line) == 0 || line[0] != ' ':
		return nil, "", &LineError{d.line, fmt.Sprintf("unexpected %q: want a space and a key or value", shorten(line))}
	}
	item, ok := decode(line[1:], d.print)
	if !ok {
		return nil, "", &LineError{d.line, "invalid escape: want two hexadecimal digits"}
	}
	return item, "", nil
}

func shorten(line []byte) string {
	const most = 40
	return string(line[:min(len(line), most)])
}

// decode decodes an item in place. The result is false if an escape is invalid.
func decode(s []byte, print bool) ([]byte, bool) {
	out := s[:0]
	for i := 0; i < len(s); {
		switch {
		case print && s[i] != '\\':
			out, i = append(out, s[i]), i+1
			continue
		case print && i+1 < len(s) && s[i+1] == '\\':
			out, i = append(out, '\\'), i+2
			continue
		case print:
			i++
		}
		if i+2 > len(s) {
			return nil, false
		}
		if !ascii.IsHex(s[i]) || !ascii.IsHex(s[i+1]) {
			return nil, false
		}
		out, i = append(out, ascii.Unhex(s[i])<<4|ascii.Unhex(s[i+1])), i+2
	}
	return out, true
}
