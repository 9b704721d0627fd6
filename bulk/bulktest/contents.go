package bulktest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// SubAuthorities returns the authorities of the names that [WriteContents] generates. There is one
// authority for each suite and architecture of a Linux distribution.
func SubAuthorities() []string {
	var all []string
	for _, suite := range []string{"bookworm", "trixie", "sid"} {
		for _, arch := range []string{"amd64", "arm64", "riscv64"} {
			all = append(all, arch+"."+suite+".contents.example.org")
		}
	}
	return all
}

// WriteContents writes n records as JSON Lines. Their names are paths of files in a Linux
// distribution. The function open opens a list of these paths. Each line of the list has a path, a
// tab, and a comma-separated list of packages that contain the file. Each package becomes a
// location. WriteContents reads the list once for each of the first subs [SubAuthorities]. If this
// gives fewer than n names, it reads the list again and appends serial numbers to the paths.
func WriteContents(w io.Writer, n uint64, subs int, open func() (io.ReadCloser, error)) error {
	out := bufio.NewWriterSize(w, 256<<10)
	c := contents{out: out, left: n}
	for round := 0; c.left > 0; round++ {
		before := c.left
		c.authority = SubAuthorities()[round%subs]
		c.number = round / subs
		if err := c.pass(open); err != nil {
			return err
		}
		if c.left == before {
			return errors.New("bulktest: the list has no paths")
		}
	}
	return out.Flush()
}

// A contents writes the records for the paths in a list.
type contents struct {
	out       io.Writer
	left      uint64
	authority string
	number    int // number of the pass under this authority
	line      []byte
	element   []byte
}

func (c *contents) pass(open func() (io.ReadCloser, error)) error {
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	paths := bufio.NewScanner(in)
	for c.left > 0 && paths.Scan() {
		path, packages, ok := bytes.Cut(paths.Bytes(), []byte{'\t'})
		if !ok || len(path) == 0 || len(packages) == 0 {
			return fmt.Errorf("bulktest: %q is not a path, a tab and packages", paths.Bytes())
		}
		c.left--
		if _, err := c.out.Write(c.record(path, packages)); err != nil {
			return err
		}
	}
	return paths.Err()
}

// record returns the JSON line for a path. The line is valid until the next call.
func (c *contents) record(path, packages []byte) []byte {
	c.element = escaped(c.element[:0], path)
	if c.number > 0 {
		c.element = append(c.element, '.')
		c.element = strconv.AppendInt(c.element, int64(c.number), 10)
	}
	b := append(c.line[:0], `{"name":"urn:dns:`...)
	b = append(b, c.authority...)
	b = append(b, ':')
	b = append(b, c.element...)
	b = append(b, `","locations":[`...)
	for i, more := 0, true; more; i++ {
		var p []byte
		p, packages, more = bytes.Cut(packages, []byte{','})
		p = p[bytes.LastIndexByte(p, '/')+1:]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"url":"https://packages.example.org/`...)
		b = escaped(b, p)
		b = append(b, `"}`...)
	}
	c.line = append(b, "]}\n"...)
	return c.line
}

// escaped appends s to b, with all bytes escaped except the slash and the unreserved characters of
// RFC 3986.
func escaped(b, s []byte) []byte {
	const hex = "0123456789ABCDEF"
	for _, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~', c == '/':
			b = append(b, c)
		default:
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return b
}
