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

// WriteList writes each name followed by CRLF, as in the answers to urn+a's list, urn+c and urn+p
// (1995, 3.5.2 to 3.5.4). Without names the body is empty. It writes while it reads names, so that
// long lists stream, and returns the first error of names or w. It returns an [*Error] for an empty
// name, a name of more than maxLine bytes, and a name with a control character, which a reader
// could take for a line break.
func WriteList(w io.Writer, names iter.Seq2[string, error]) error {
	b := bufio.NewWriter(w)
	for s, err := range names {
		if err == nil {
			err = checkLine(s)
		}
		if err != nil {
			return errors.Join(err, b.Flush())
		}
		b.WriteString(s) // b keeps the error
		if _, err := b.WriteString(crlf); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Each returns a sequence of names for [WriteList].
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

// ReadList yields the lines of r without their endings (CRLF, LF or CR) and without surrounding
// white space. It skips empty lines. It reads while it yields. A line is limited to maxLine
// bytes; the number of lines is not limited. ReadList yields the first error with an empty name
// and then ends.
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

// splitLine is a bufio.SplitFunc for lines. CRLF yields an extra empty line.
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
