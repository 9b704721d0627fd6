package client

import (
	"errors"
	"strings"
)

// A message is a request of HTTP/1.0 or HTTP/0.9 as resolvers of 1995 want it:
// its target is no path, so that net/http cannot send it.
type message struct {
	target    string // Request-URI
	host      string // Host: which of the authorities at an address is meant (A95-3); "" for none
	accept    string // Accept, "" for none
	languages string // Accept-Language, "" for none
	agent     string // User-Agent, "" for none
	simple    bool   // a Simple-Request: the line alone
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
	if !validTarget(m.target) || !validHeader(m.host+m.accept+m.languages+m.agent) {
		return nil, errControl
	}
	var b strings.Builder
	b.WriteString(m.line() + "\r\n")
	if m.simple {
		return []byte(b.String()), nil
	}
	for _, field := range []struct{ name, value string }{
		{"Host", m.host}, {"Accept", m.accept}, {"Accept-Language", m.languages}, {"User-Agent", m.agent},
	} {
		if field.value != "" {
			b.WriteString(field.name + ": " + field.value + "\r\n")
		}
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
