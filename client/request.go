package client

import (
	"errors"
	"slices"
	"strings"
)

// A message is a request of HTTP/1.0 or HTTP/0.9 as resolvers of 1995 want it:
// its target is no path, so that net/http cannot send it.
type message struct {
	target     string  // Request-URI
	suffix     string  // what of it follows the name
	host       string  // Host: which of the authorities at an address is meant (A95-3); "" for none
	header     []field // without Host, in order
	conditions []field // that make it conditional
	simple     bool    // a Simple-Request: the line alone
	have       Validators
}

// A field is one of a head.
type field struct{ name, value string }

// fields returns those that have a value.
func fields(all ...field) []field {
	return slices.DeleteFunc(all, func(f field) bool { return f.value == "" })
}

// viaField returns what tells how many resolvers passed a question on, the
// client's own included (RFC 9110, 7.6.3); "" for none.
func viaField(hops int) string {
	if hops <= 0 {
		return ""
	}
	return strings.TrimSuffix(strings.Repeat("1.1 nomen, ", min(hops, maxVia)), ", ")
}

// maxVia bounds the entries of Via that are sent.
const maxVia = 100

// identity tells a request from those that may be answered otherwise: where it
// goes, what it is about, and its fields.
func identity(where, about string, header []field) string {
	var b strings.Builder
	b.WriteString(where + " " + about)
	for _, f := range header {
		b.WriteString("\n" + f.name + ": " + f.value)
	}
	return b.String()
}

// line returns the Request-Line without its end.
func (m message) line() string {
	if m.simple {
		return "GET " + m.target
	}
	return "GET " + m.target + " HTTP/1.0"
}

// bytes returns what is sent. Nothing in it can end a line but its own line
// ends (Y95-72).
func (m message) bytes() ([]byte, error) {
	if !validTarget(m.target) || !validHeader(m.host) {
		return nil, errControl
	}
	var b strings.Builder
	b.WriteString(m.line() + "\r\n")
	if m.simple {
		return []byte(b.String()), nil
	}
	for _, f := range slices.Concat(fields(field{"Host", m.host}), m.header, m.conditions) {
		if !validHeader(f.value) {
			return nil, errControl
		}
		b.WriteString(f.name + ": " + f.value + "\r\n")
	}
	b.WriteString("\r\n")
	return []byte(b.String()), nil
}

var errControl = errors.New("client: white space or control characters in what was to be sent")

// validTarget reports whether s is of visible ASCII characters.
func validTarget(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return s != ""
}

// validHeader reports whether s can be the value of a header field.
func validHeader(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}
