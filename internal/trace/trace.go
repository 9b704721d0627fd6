// Package trace reads, passes on and creates values of the header fields traceparent and tracestate
// (W3C Trace Context, level 1).
//
// A server that creates no spans passes both fields on unchanged. Then the requests that the server
// sends on behalf of a client belong to the client's trace.
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

// A Parent is a valid value of the field traceparent. The zero Parent stands for a missing value.
type Parent struct {
	text  string
	state string // value of tracestate in the same header; "" if there is none
}

// The field traceparent has four parts, separated by hyphens: version, trace ID, parent ID and
// flags. All parts have lower-case hexadecimal digits.
const (
	versionEnd = 2
	traceEnd   = versionEnd + 1 + 32
	parentEnd  = traceEnd + 1 + 16
	length     = parentEnd + 1 + 2
)

// Limits for values of later versions, which can be longer than values of this version.
const (
	maxLength = 256     // length of a value of a later version, which can have more parts
	maxState  = 2 << 10 // length of tracestate; a longer value is dropped
)

// Parse parses a value of traceparent. It returns false if the value is invalid: wrong digits, the
// version ff, an ID of zeros, or a wrong length. A value of a later version may have further parts.
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

// Of returns the values of traceparent and tracestate in a header. If traceparent is missing,
// invalid or repeated, Of returns false. If only tracestate is invalid, it is dropped.
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

// isState reports whether s can be passed on as tracestate: it has only visible ASCII characters,
// spaces and tabs.
func isState(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return len(s) <= maxState
}

// New returns a Parent for a new trace with random IDs. The trace is marked as sampled.
func New() Parent {
	var b [24]byte
	_, _ = rand.Read(b[:]) // Read never fails
	b[0], b[16] = b[0]|1, b[16]|1
	return Parent{text: "00-" + hex.EncodeToString(b[:16]) + "-" + hex.EncodeToString(b[16:]) + "-01"}
}

// String returns the value of traceparent. It is "" for the zero Parent.
func (p Parent) String() string { return p.text }

// State returns the value of tracestate, or "" if there is none.
func (p Parent) State() string { return p.state }

// ID returns the trace ID: 32 hexadecimal digits, or "" for the zero Parent.
func (p Parent) ID() string {
	if p.text == "" {
		return ""
	}
	return p.text[versionEnd+1 : traceEnd]
}

type contextKey struct{}

// With returns a context with p. Requests that use the context belong to the trace of p. For the
// zero Parent, With returns ctx.
func With(ctx context.Context, p Parent) context.Context {
	if p == (Parent{}) {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, p)
}

// From returns the Parent that a context has, or the zero Parent.
func From(ctx context.Context) Parent {
	p, _ := ctx.Value(contextKey{}).(Parent)
	return p
}
