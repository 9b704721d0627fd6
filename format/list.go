package format

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
)

// WriteList writes each name on a line that ends in CRLF. This is the format of the answers to
// urn+a, urn+c and urn+p (draft of 1995, sections 3.5.2 to 3.5.4). WriteList writes while it reads,
// so that long lists can be streamed. It returns the first error of names or w. It returns an
// [*Error] for a name that is empty, has more than maxLine bytes, or has a control character, which
// a reader could take for a line break.
func WriteList(w io.Writer, names iter.Seq2[string, error]) error {
	b := bufio.NewWriter(w)
	for s, err := range names {
		if err == nil {
			err = checkLine(s)
		}
		if err != nil {
			return errors.Join(err, b.Flush())
		}
		b.WriteString(s) // the error is returned by the next call
		if _, err := b.WriteString(crlf); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Each returns an iterator over names for [WriteList].
func Each(names ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, s := range names {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func checkLine(s string) error {
	i := strings.IndexFunc(s, isControl)
	switch {
	case s == "":
		return &Error{Format: TypeText, Rule: "list", Message: "empty name"}
	case i >= 0:
		return &Error{Format: TypeText, Offset: i, Rule: "list", Message: fmt.Sprintf("control character in %.80q", s)}
	case len(s) > maxLine:
		return &Error{Format: TypeText, Offset: maxLine, Rule: "list", Message: fmt.Sprintf("name longer than %d bytes", maxLine)}
	}
	return nil
}

// ReadList returns an iterator over the lines of r, without their endings (CRLF, LF or CR) and
// white space around them. It skips empty lines, and yields each line as soon as it is read. A line
// can have up to maxLine bytes, and there can be any number of lines. The iterator yields an error
// with an empty line, and then ends.
func ReadList(r io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(nil, maxLine+len(crlf))
		s.Split(splitLine)
		for s.Scan() {
			line := strings.TrimSpace(s.Text())
			if line != "" && !yield(line, nil) {
				return
			}
		}
		if err := s.Err(); err != nil {
			yield("", fmt.Errorf("format: list: %w", err))
		}
	}
}

// splitLine is a [bufio.SplitFunc]. It returns an extra empty line for CRLF.
func splitLine(data []byte, atEOF bool) (int, []byte, error) {
	i := slices.IndexFunc(data, func(c byte) bool { return c == '\r' || c == '\n' })
	switch {
	case i >= 0:
		return i + 1, data[:i], nil
	case atEOF && len(data) > 0:
		return len(data), data, nil
	}
	return 0, nil, nil
}
