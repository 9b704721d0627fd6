package wire

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

const (
	// MaxReason is the maximum length of a reason phrase in bytes.
	MaxReason = 4096
	// maxResponseHead is the maximum size of the part of a response that a filter holds back.
	maxResponseHead = 1 << 20
)

var errResponseHead = errors.New("wire: head of the response is too large")

// filter edits the head of one response while net/http writes the head. After the last byte of the
// head the filter removes itself, so it never inspects a body.
//
// For a mended request, the filter is installed between two responses. So the first byte that the
// filter sees begins a head. [SetReason] may be called at any time. It puts the phrase into a header
// line with a secret name. This name sorts before all others, so net/http writes the header line
// immediately after the status line. A head without this line belongs to another response, and is not
// edited.
type filter struct {
	reasonHeader string // name of the header field that carries the reason phrase
	closes       bool   // the response is to a mended request, so it is the last one
	bare         bool   // the response is to a Simple-Request, so only its body is sent
	held         []byte // the beginning of an incomplete head
}

// take processes output of net/http and returns what to send. If done is true, all later output
// passes unchanged.
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

// goAhead is a response without header lines. If a handler reads the body of a request with Expect,
// net/http writes goAhead before the actual response.
const goAhead = "HTTP/1.1 100 Continue\r\n\r\n"

// owns reports whether b begins with the head that the filter must edit.
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

// appendEdited edits a head and appends it to dst.
func (f *filter) appendEdited(dst, head []byte) []byte {
	if f.bare || f.closes && isInterim(head) {
		return dst // HTTP/0.9 has no heads, and HTTP/1.0 no interim responses
	}
	line, fields, _ := bytes.Cut(head, crlf)
	phrase, fields := f.sift(fields)
	if phrase != nil && !isInterim(head) {
		line = slices.Concat(line[:codeEnd], space, phrase)
	}
	return slices.Concat(dst, line, crlf, fields)
}

// sift removes the reason phrase from the lines of a head, and ensures that a last response has
// Connection: close.
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

// codeEnd is the offset of the end of the status code in "HTTP/1.1 200 OK".
const codeEnd = len("HTTP/1.1 200")

func cutHead(b []byte) (head, rest []byte, found bool) {
	i := bytes.Index(b, []byte("\r\n\r\n"))
	if i < 0 {
		return nil, nil, false
	}
	return b[:i+4], b[i+4:], true
}

// isInterim reports whether head belongs to an interim response.
func isInterim(head []byte) bool {
	return head[codeEnd-3] == '1' && string(head[codeEnd-3:codeEnd]) != "101"
}

// Reason returns a phrase as written in a status line (RFC 9112, 4): control characters become
// spaces. A phrase longer than [MaxReason] bytes becomes empty. It is not shortened, because a part
// of a name in the phrase could be a different name.
//
//	reason-phrase = 1*( HTAB / SP / VCHAR / obs-text )
func Reason(phrase string) string {
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
