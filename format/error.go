package format

import (
	"fmt"
	"io"
)

// An Error reports invalid input, or a value that [WritePart] or [WriteList] cannot write.
type Error struct {
	Format  string // the media type of the format
	Offset  int    // in bytes from the start of the input, or of the text to write
	Rule    string // the violated production or field
	Message string // an explanation for people
	Err     error  // the cause, or nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("format: %s: offset %d: %s: %s", e.Format, e.Offset, e.Rule, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// Limits on the input of readers.
const (
	maxSize  = 8 << 20  // bytes of a body
	maxItems = 100_000  // locations, names or parts in a body
	maxURL   = 8 << 10  // bytes of a folded URL in text/urc-0
	maxLine  = 64 << 10 // bytes of a line of a list
)

func readAll(r io.Reader, format string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("format: %s: %w", format, err)
	case len(b) > maxSize:
		return nil, &Error{Format: format, Offset: maxSize, Rule: "size", Message: fmt.Sprintf("longer than %d bytes", maxSize)}
	}
	return b, nil
}

func tooMany(format string, offset int) *Error {
	return &Error{Format: format, Offset: offset, Rule: "count", Message: fmt.Sprintf("more than %d", maxItems)}
}
