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

// A textError is an error of encoding/json with its position in the text.
type textError struct {
	error
	line, column int
	message      string
}

func (e *textError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.line, e.column, e.message)
}

func (e *textError) Unwrap() error { return e.error }

// DecodeText decodes a JSON text that a person has written. It rejects unknown members, and text
// after the value. Errors have the line and the column, which counts bytes.
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

// faultOf returns a message for the error err, and the offset after the fault. If err has no
// offset, faultOf returns end, the offset at which decoding ended.
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

// withArticle puts "a" or "an" before the name that encoding/json uses for a kind of value.
func withArticle(value string) string {
	switch value {
	case "bool":
		return "true or false"
	case "object", "array":
		return "an " + value
	}
	return "a " + value
}
