package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

type textError struct {
	error
	line, column int
	message      string
}

func (e *textError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.line, e.column, e.message)
}

func (e *textError) Unwrap() error { return e.error }

// DecodeText decodes a hand-written JSON text into v. It rejects unknown members, and any text
// after the value. The errors contain the line and the column in bytes.
func DecodeText(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		offset, message := faultOf(err, d.InputOffset())
		return newTextError(text, offset, message, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return newTextError(text, d.InputOffset(), "unexpected text after the value", err)
	}
	return nil
}

// faultOf returns the message of err, and the offset of the fault in the text. The parameter end is
// the offset for errors that have none.
func faultOf(err error, end int64) (offset int64, message string) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		end = syntax.Offset
	case errors.As(err, &kind):
		return kind.Offset, cmp.Or(strings.TrimPrefix(kind.Field, "Policy."), "the value") + " cannot be " + withArticle(kind.Value)
	}
	return end, strings.TrimPrefix(err.Error(), "json: ")
}

func newTextError(text []byte, offset int64, message string, err error) error {
	before := text[:max(0, min(int(offset)-1, len(text)))]
	return &textError{err, 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n'), message}
}

// withArticle adds "a" or "an" to the description of a JSON value in an error of encoding/json.
func withArticle(value string) string {
	switch value {
	case "bool":
		return "true or false"
	case "object", "array":
		return "an " + value
	}
	return "a " + value
}
