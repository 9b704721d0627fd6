package format

import (
	"fmt"
	"io"
)

// An Error tells where and why bytes are not what their format wants or, from
// [WritePart] and [WriteList], why something cannot be written.
type Error struct {
	Format  string // the media type
	Offset  int    // in bytes, into what was read or into the text to be written
	Rule    string // the production or field that was broken
	Message string // in words
	Err     error  // the cause, if any
}

func (e *Error) Error() string {
	return fmt.Sprintf("format: %s: offset %d: %s: %s", e.Format, e.Offset, e.Rule, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// The bounds of what the readers take.
const (
	MaxSize  = 8 << 20  // bytes of a body
	MaxItems = 100_000  // locations, names or parts of a body
	MaxURL   = 8 << 10  // bytes of a URL that text/urc-0 folds over lines
	MaxLine  = 64 << 10 // bytes of a line of a list
)

// readAll returns the body of a format.
func readAll(r io.Reader, format string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("format: %s: %w", format, err)
	case len(b) > MaxSize:
		return nil, &Error{Format: format, Offset: MaxSize, Rule: "size", Message: fmt.Sprintf("longer than %d bytes", MaxSize)}
	}
	return b, nil
}

func tooMany(format string, offset int) *Error {
	return &Error{Format: format, Offset: offset, Rule: "count", Message: fmt.Sprintf("more than %d", MaxItems)}
}
