// Package trace reads, passes on and creates the header fields traceparent and tracestate (W3C
// Trace Context, level 1).
//
// A server that does not create spans passes on both fields unchanged. The requests that such a
// server sends on behalf of a client then belong to the trace of the client.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"
)

// The names of the fields, as net/http spells them.
const (
	Header      = "Traceparent"
	StateHeader = "Tracestate"
)

// A Parent is a valid value of traceparent, together with tracestate. The zero Parent means that
// the request has no valid traceparent.
type Parent struct {
	text  string
	state string // value of tracestate, or ""
}

// A traceparent consists of version, trace ID, parent ID and flags, all of lower-case hexadecimal
// digits and separated by hyphens.
const (
	versionEnd = 2
	traceEnd   = versionEnd + 1 + 32
	parentEnd  = traceEnd + 1 + 16
	length     = parentEnd + 1 + 2
)

// Limits on values of later versions, which can be longer.
const (
	maxLength = 256     // length of a traceparent, which can have more parts
	maxState  = 2 << 10 // length of a tracestate; a longer tracestate is dropped
)

// Parse parses a value of traceparent. It returns false if the value has wrong digits, the version
// ff, an ID of zeros, or a wrong length. A value of a later version may have more parts.
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

// Of returns the Parent in a header. It returns false if traceparent is missing, invalid or
// repeated. If only tracestate is invalid, tracestate is dropped.
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

// isState reports whether s can be passed on as tracestate, because it has only visible ASCII
// characters, spaces and tabs.
func isState(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return len(s) <= maxState
}

// New returns a Parent for a new trace with random IDs, which is marked as sampled.
func New() Parent {
	var b [24]byte
	_, _ = rand.Read(b[:]) // Read never fails
	b[0], b[16] = b[0]|1, b[16]|1
	return Parent{text: "00-" + hex.EncodeToString(b[:16]) + "-" + hex.EncodeToString(b[16:]) + "-01"}
}

// String returns the value of traceparent, or "" for the zero Parent.
func (p Parent) String() string { return p.text }

// State returns the value of tracestate, or "".
func (p Parent) State() string { return p.state }

// ID returns the trace ID, which has 32 hexadecimal digits, or "" for the zero Parent.
func (p Parent) ID() string {
	if p.text == "" {
		return ""
	}
	return p.text[versionEnd+1 : traceEnd]
}

type contextKey struct{}

// With returns a context whose requests belong to the trace of p. For the zero Parent, it returns
// ctx.
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
