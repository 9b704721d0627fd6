// Package trace reads, passes on and makes values of the header fields traceparent and tracestate
// (W3C Trace Context, level 1).
//
// A server that makes no spans of its own passes the fields on unchanged, so that the requests it
// sends for a request belong to the same trace.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"
)

// The names of the fields, in the spelling of net/http.
const (
	Header      = "Traceparent"
	StateHeader = "Tracestate"
)

// A Parent is a valid value of the field. The zero Parent stands for a missing value.
type Parent struct {
	text  string
	state string // the value of tracestate that came with it; "" for none
}

// The field has four parts, separated by hyphens: version, trace ID, parent ID and flags, in
// lower-case hexadecimal digits.
const (
	versionEnd = 2
	traceEnd   = versionEnd + 1 + 32
	parentEnd  = traceEnd + 1 + 16
	length     = parentEnd + 1 + 2
)

// Limits of longer values.
const (
	maxLength = 256     // of a later version, which may have more parts
	maxState  = 2 << 10 // of tracestate; longer ones are dropped
)

// Parse parses a value. It returns false for an invalid one: wrong digits, the version ff, an ID
// of zeros, or a wrong length. A value of a later version may have further parts.
func Parse(s string) (Parent, bool) {
	if len(s) < length || len(s) > maxLength || s[versionEnd] != '-' || s[traceEnd] != '-' || s[parentEnd] != '-' {
		return Parent{}, false
	}
	version, id, parent, flags, rest := s[:versionEnd], s[versionEnd+1:traceEnd], s[traceEnd+1:parentEnd], s[parentEnd+1:length], s[length:]
	switch {
	case !isHex(version), version == "ff", !isHex(id), !isHex(parent), !isHex(flags):
		return Parent{}, false
	case isZero(id), isZero(parent):
		return Parent{}, false
	case rest != "" && (version == "00" || rest[0] != '-'):
		return Parent{}, false
	}
	for _, c := range []byte(rest) {
		if c <= ' ' || c >= 0x7f {
			return Parent{}, false
		}
	}
	return Parent{text: s}, true
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

func isZero(s string) bool { return strings.Trim(s, "0") == "" }

// Of returns the value in a header, with its tracestate. It returns false if the header has
// none, if it is invalid, or if there are several. It drops an invalid tracestate.
func Of(h http.Header) (Parent, bool) {
	values := h[Header]
	if len(values) != 1 {
		return Parent{}, false
	}
	p, ok := Parse(values[0])
	if state := strings.Join(h[StateHeader], ","); ok && isState(state) {
		p.state = state
	}
	return p, ok
}

// isState reports whether s may be passed on: visible ASCII, spaces and tabs.
func isState(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return len(s) <= maxState
}

// New returns the value for a new, sampled trace with random IDs.
func New() Parent {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails
	b[0], b[16] = b[0]|1, b[16]|1
	return Parent{text: "00-" + hex.EncodeToString(b[:16]) + "-" + hex.EncodeToString(b[16:]) + "-01"}
}

// String returns the value as it is sent, "" for the zero Parent.
func (p Parent) String() string { return p.text }

// State returns the value of tracestate, "" if none.
func (p Parent) State() string { return p.state }

// ID returns the trace ID: 32 hexadecimal digits, or "" for the zero Parent.
func (p Parent) ID() string {
	if p.text == "" {
		return ""
	}
	return p.text[versionEnd+1 : traceEnd]
}

type contextKey struct{}

// With returns a context whose requests belong to the trace of p. For the zero Parent it is ctx.
func With(ctx context.Context, p Parent) context.Context {
	if p == (Parent{}) {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, p)
}

// From returns the Parent of a context, or the zero Parent.
func From(ctx context.Context) Parent {
	p, _ := ctx.Value(contextKey{}).(Parent)
	return p
}
