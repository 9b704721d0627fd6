// Package shown makes text from strangers safe to print in messages, on terminals, in logs and on
// pages.
package shown

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Most is the maximum length in bytes of the result of [Line].
const Most = 1000

// Line returns s as a short line. White space becomes spaces. Control characters, characters that
// change the direction of text, and invalid UTF-8 are removed.
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

// Text makes s safe to print, but keeps line breaks and tabs. Control characters, and characters
// that change the direction or order of text, become their code points in brackets, such as
// [U+202E]. Invalid UTF-8 becomes U+FFFD, and line endings become LF.
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

// Inline is like [Text], but converts line breaks and tabs to spaces.
func Inline(s string) string {
	return Text(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " "))
}

// Lines converts all line endings of s to LF.
func Lines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// Odd reports whether r is an invisible character that a terminal or browser interprets, or a
// character that XML forbids. LF and tab are not odd.
func Odd(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', '\x7F' <= r && r < '\u00A0', unicode.Is(unicode.Bidi_Control, r):
		return true
	}
	return r == '\u2028' || r == '\u2029' || r == '\uFEFF' || r == '\uFFFE' || r == '\uFFFF'
}

// JSON escapes, as \uXXXX, the characters in JSON for which [Odd] is true. The encoder must already
// have escaped characters below U+0020.
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

// NewWriter returns a writer that writes text to w as [Text] converts it. The writer keeps an
// incomplete UTF-8 sequence, or a CR at the end of a write, until the next write. Close writes what
// is left. It does not close w.
func NewWriter(w io.Writer) io.WriteCloser { return &writer{w: w} }

type writer struct {
	w    io.Writer
	held []byte // the start of a character, or a CR that may be the first half of a line ending
}

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

func (w *writer) Close() error {
	text := Text(string(w.held))
	w.held = nil
	_, err := io.WriteString(w.w, text)
	return err
}
