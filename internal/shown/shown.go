// Package shown makes text of unknown origin safe to print: in messages, on
// terminals, in logs and in pages.
package shown

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Most bounds the result of [Line], in bytes: nobody reads more.
const Most = 1000

// Line returns s as one short line: white space as spaces, without control
// characters, characters that change the direction of text, and bytes that are not
// UTF-8.
func Line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s[:min(len(s), Most)], ""))
	return strings.TrimSpace(s)
}

// Text returns s with its lines and tabs as they are, and safe otherwise: control
// characters and those that change the direction or order of the text around them
// become their code point in brackets, such as [U+202E]; bytes that are not UTF-8
// become U+FFFD. Every line end becomes LF.
func Text(s string) string {
	s = strings.ToValidUTF8(Lines(s), "\uFFFD")
	if strings.IndexFunc(s, Odd) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Odd(r) {
			fmt.Fprintf(&b, "[U+%04X]", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Inline returns s like [Text], but on one line: line ends and tabs become spaces.
func Inline(s string) string {
	return Text(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " "))
}

// Lines returns s with LF for every line end.
func Lines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// Odd reports whether r is a character that a reader does not see but that a
// terminal or a browser obeys. LF and tab are not odd.
func Odd(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', '\x7F' <= r && r < '\u00A0', unicode.Is(unicode.Bidi_Control, r):
		return true
	}
	return r == '\u2028' || r == '\u2029' || r == '\uFEFF'
}

// JSON returns JSON text with the characters that [Odd] reports escaped as \uXXXX,
// which means the same. The text must come from an encoder, which escapes those
// below U+0020 itself.
func JSON(text []byte) []byte {
	if isASCII(text) || bytes.IndexFunc(text, Odd) < 0 {
		return text
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		if Odd(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.Bytes()
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= '\x7F' {
			return false
		}
	}
	return true
}

// NewWriter returns a writer that passes text on to w as [Text] shows it. A
// character that is split between two writes is held back until the second; Close
// writes what is held back, and does not close w.
func NewWriter(w io.Writer) io.WriteCloser { return &writer{w: w} }

type writer struct {
	w    io.Writer
	held []byte // the beginning of a character, or a CR
}

// Write implements [io.Writer].
func (w *writer) Write(p []byte) (int, error) {
	text := append(w.held, p...)
	end := len(text)
	for i := 1; i <= min(utf8.UTFMax-1, len(text)); i++ {
		if utf8.RuneStart(text[len(text)-i]) {
			if !utf8.FullRune(text[len(text)-i:]) {
				end -= i
			}
			break
		}
	}
	if end > 0 && end == len(text) && text[end-1] == '\r' {
		end--
	}
	w.held = bytes.Clone(text[end:])
	if _, err := io.WriteString(w.w, Text(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close implements [io.Closer].
func (w *writer) Close() error {
	text := Text(string(w.held))
	w.held = nil
	_, err := io.WriteString(w.w, text)
	return err
}
