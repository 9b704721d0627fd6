package wire

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

const (
	// MaxReason is the maximum length in bytes of a reason phrase.
	MaxReason       = 4096
	maxResponseHead = 1 << 20
)

var errResponseHead = errors.New("wire: head of the response is too large")

// A filter edits the head of one response while net/http writes it. After the head the filter
// removes itself, so it never inspects a body.
//
// For a mended request, the filter is installed between two responses, so that the first byte that
// it sees is the first byte of a head. But [SetReason] may install it at any time. For this case,
// SetReason adds a header field with a secret name to the response, which carries the phrase.
// Because the name sorts before the names of all other fields, net/http writes the field
// immediately after the status line. A head without this field belongs to another response, and is
// not edited.
type filter struct {
	reasonHeader string // name of the field that carries the reason phrase
	closes       bool   // responds to a mended request, so the connection ends
	bare         bool   // responds to a Simple-Request, so only the body is sent
	held         []byte // the start of an incomplete head
}

// take processes output of net/http, and returns what to send. If done is true, later output is
// sent unchanged.
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

// goAhead is a response without header lines. net/http writes it before the actual response, when a
// handler reads the body of a request with Expect.
const goAhead = "HTTP/1.1 100 Continue\r\n\r\n"

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

func (f *filter) appendEdited(dst, head []byte) []byte {
	if f.bare || f.closes && isInterim(head) {
		return dst // HTTP/0.9 has no heads, and HTTP/1.0 has no interim responses
	}
	line, fields, _ := bytes.Cut(head, crlf)
	phrase, fields := f.sift(fields)
	if phrase != nil && !isInterim(head) {
		line = slices.Concat(line[:codeEnd], space, phrase)
	}
	return slices.Concat(dst, line, crlf, fields)
}

// sift removes the field with the reason phrase from the lines of a head. It also makes sure that
// the last response on a connection has "Connection: close".
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

const codeEnd = len("HTTP/1.1 200")

func cutHead(b []byte) (head, rest []byte, found bool) {
	i := bytes.Index(b, []byte("\r\n\r\n"))
	if i < 0 {
		return nil, nil, false
	}
	return b[:i+4], b[i+4:], true
}

func isInterim(head []byte) bool {
	return head[codeEnd-3] == '1' && string(head[codeEnd-3:codeEnd]) != "101"
}

// Reason returns a phrase as it is written in a status line (RFC 9112, 4). Control characters
// become spaces. A phrase of more than [MaxReason] bytes becomes "". A longer phrase is not
// truncated, because it can contain a name, and a truncated name could be a different name.
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
