package client

import (
	"errors"
	"slices"
	"strings"
)

// A message is a request of the 1995 protocol, in HTTP/1.0 or HTTP/0.9. The target of such a
// request is not a path, so net/http cannot send it.
type message struct {
	target     string  // Request-URI
	suffix     string  // the part of target after the name
	host       string  // Host field, which selects one of several authorities at an address (A95-3); may be ""
	header     []field // other fields, in order
	conditions []field
	traced     []field // traceparent and tracestate
	simple     bool    // a Simple-Request, which is only a request line
	have       Validators
}

type field struct{ name, value string }

func fields(all ...field) []field {
	return slices.DeleteFunc(all, func(f field) bool { return f.value == "" })
}

// viaField returns the Via field for a question that has passed through the given number of
// resolvers, including this client (RFC 9110, 7.6.3). It returns "" if hops is 0.
func viaField(hops int) string {
	if hops <= 0 {
		return ""
	}
	return strings.TrimSuffix(strings.Repeat("1.1 nomen, ", min(hops, maxVia)), ", ")
}

const maxVia = 100

// identity returns a string that is the same for requests with the same response. The string
// consists of the target, the subject and the header fields.
func identity(where, about string, header []field) string {
	var b strings.Builder
	b.WriteString(where + " " + about)
	for _, f := range header {
		b.WriteString("\n" + f.name + ": " + f.value)
	}
	return b.String()
}

func (m message) line() string {
	if m.simple {
		return "GET " + m.target
	}
	return "GET " + m.target + " HTTP/1.0"
}

// bytes returns the encoded message. It returns an error if a field or the target has characters
// that could end its line (Y95-72).
func (m message) bytes() ([]byte, error) {
	if !validTarget(m.target) || !validHeader(m.host) {
		return nil, errControl
	}
	var b strings.Builder
	b.WriteString(m.line() + "\r\n")
	if m.simple {
		return []byte(b.String()), nil
	}
	for _, f := range slices.Concat(fields(field{"Host", m.host}), m.header, m.conditions, m.traced) {
		if !validHeader(f.value) {
			return nil, errControl
		}
		b.WriteString(f.name + ": " + f.value + "\r\n")
	}
	b.WriteString("\r\n")
	return []byte(b.String()), nil
}

var errControl = errors.New("client: white space or control character in request")

func validTarget(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return s != ""
}

func validHeader(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}
