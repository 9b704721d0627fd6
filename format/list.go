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

// WriteList writes each name followed by CRLF, as the answers to urn+a's list,
// urn+c and urn+p are (1995, 3.5.2 to 3.5.4); no name makes an empty body. It
// writes as it goes, so that long lists stream, and ends with the first error of
// names or of w. A name that is empty or holds a control character, which would
// be another line for a reader, is an [*Error].
func WriteList(w io.Writer, names iter.Seq2[string, error]) error {
	b := bufio.NewWriter(w)
	for s, err := range names {
		if err == nil {
			err = checkLine(s)
		}
		if err != nil {
			return errors.Join(err, b.Flush())
		}
		b.WriteString(s) // the error stays in b
		if _, err := b.WriteString(crlf); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Each makes a sequence for [WriteList] of what is at hand.
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
		return &Error{Format: TypeText, Rule: "list", Message: "an empty name"}
	case i >= 0:
		return &Error{Format: TypeText, Offset: i, Rule: "list", Message: fmt.Sprintf("a control character in %.80q", s)}
	case len(s) > MaxLine:
		return &Error{Format: TypeText, Offset: MaxLine, Rule: "list", Message: fmt.Sprintf("a name of more than %d bytes", MaxLine)}
	}
	return nil
}

// ReadList yields the lines of r without their ends, which may be CRLF, LF or
// CR, and without white space around them. Empty lines are skipped. It reads as
// it goes and bounds a line to MaxLine, not the list. After an error, which comes
// with "", it ends.
func ReadList(r io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(nil, MaxLine+len(crlf))
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

// splitLine is a bufio.SplitFunc for lines, of which CRLF makes an empty one
// more.
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
