package wire

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

const (
	// MaxReason is the greatest length of a reason phrase in bytes.
	MaxReason = 4096
	// maxResponseHead bounds what a filter holds back of a response.
	maxResponseHead = 1 << 20
)

var errResponseHead = errors.New("wire: head of the response is too large")

// filter edits the head of one response as net/http writes it, and goes out of
// the way with its last byte: no body is ever looked at.
//
// For a mended request it is put in place between two responses, so that the
// first byte it meets begins a head. [SetReason], which may be called at any time,
// puts the phrase into a header line with a name that nobody else knows and that
// sorts before all others: net/http writes it right after the status line, and
// what does not go on like that is not the head in question.
type filter struct {
	reasonHeader string // the name of the header line that carries the reason phrase
	closes       bool   // the response to a mended request: the last one
	bare         bool   // the response to a Simple-Request: the body alone
	held         []byte // the beginning of a head whose end has not come
}

// take takes what net/http writes and returns what is to be sent. When done is
// true, what follows passes as it is.
func (f *filter) take(p []byte) (out []byte, done bool, err error) {
	f.held = append(f.held, p...)
	for f.owns(f.held) {
		head, rest, found := cutHead(f.held)
		if !found || len(head) > maxResponseHead {
			return out, false, f.checkHeld()
		}
		out = f.appendEdited(out, head)
		f.held = rest
		if !isInterim(head) {
			return append(out, rest...), true, nil
		}
	}
	rest := f.held
	f.held = nil
	return append(out, rest...), len(rest) > 0 && string(rest) != goAhead, nil
}

// goAhead is what net/http writes before the response proper, without any header
// lines, when a handler asks for the body that a client is holding back.
const goAhead = "HTTP/1.1 100 Continue\r\n\r\n"

// owns reports whether b begins with a head that f is meant for.
func (f *filter) owns(b []byte) bool {
	_, fields, _ := bytes.Cut(b, crlf)
	return len(b) > 0 && (f.closes || bytes.HasPrefix(fields, []byte(f.reasonHeader+": ")))
}

func (f *filter) checkHeld() error {
	if len(f.held) > maxResponseHead {
		return errResponseHead
	}
	return nil
}

// appendEdited appends to out what becomes of head.
func (f *filter) appendEdited(out, head []byte) []byte {
	if f.bare || f.closes && isInterim(head) {
		return out // HTTP/0.9 has no heads, and HTTP/1.0 no interim responses
	}
	line, fields, _ := bytes.Cut(head, crlf)
	phrase, fields := f.sift(fields)
	if phrase != nil && !isInterim(head) {
		line = slices.Concat(line[:codeEnd], space, phrase)
	}
	return slices.Concat(out, line, crlf, fields)
}

// sift takes the reason phrase out of the lines of a head, and sees to it that a
// last response says so.
func (f *filter) sift(fields []byte) (phrase, rest []byte) {
	for line := range bytes.Lines(fields) {
		if p, ok := bytes.CutPrefix(line, []byte(f.reasonHeader+": ")); ok {
			phrase = bytes.TrimSuffix(p, crlf)
			continue
		}
		if f.closes && bytes.HasPrefix(line, []byte("Connection: ")) {
			continue
		}
		if f.closes && bytes.Equal(line, crlf) {
			rest = append(rest, "Connection: close\r\n"...)
		}
		rest = append(rest, line...)
	}
	return phrase, rest
}

var crlf = []byte("\r\n")

// codeEnd is where the status code of "HTTP/1.1 200 OK" ends.
const codeEnd = len("HTTP/1.1 200")

func cutHead(b []byte) (head, rest []byte, found bool) {
	i := bytes.Index(b, []byte("\r\n\r\n"))
	if i < 0 {
		return nil, nil, false
	}
	return b[:i+4], b[i+4:], true
}

// isInterim reports whether head is of a response that another one follows.
func isInterim(head []byte) bool {
	return head[codeEnd-3] == '1' && string(head[codeEnd-3:codeEnd]) != "101"
}

// cleanReason makes a phrase fit for a status line (RFC 9112, 4): controls become
// spaces. A phrase that is too long becomes empty and is not cut, for half a name
// is another name.
//
//	reason-phrase = 1*( HTAB / SP / VCHAR / obs-text )
func cleanReason(phrase string) string {
	if len(phrase) > MaxReason {
		return ""
	}
	clean := []byte(phrase)
	for i, b := range clean {
		if isControl(b) {
			clean[i] = ' '
		}
	}
	return strings.TrimSpace(string(clean))
}
