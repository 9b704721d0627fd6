package wire

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"

	"github.com/nomen-project/nomen/internal/ascii"
)

const maxVersionDigits = 8

// A requestLine is a request line as the client sent it, split into its parts.
type requestLine struct {
	method, target, proto string // proto is empty in a Simple-Request
}

func (l requestLine) simple() bool { return l.proto == "" }

// accepted reports whether net/http accepts a request line, which is passed without its line
// ending. It also returns the method.
func accepted(line []byte) (method []byte, ok bool) {
	method, rest, ok1 := bytes.Cut(line, space)
	target, proto, ok2 := bytes.Cut(rest, space)
	ok = ok1 && ok2 && isToken(method) && acceptedProto(proto) && acceptedTarget(method, target)
	return method, ok
}

var space = []byte(" ")

func acceptedProto(proto []byte) bool {
	_, _, ok := http.ParseHTTPVersion(string(proto))
	return ok
}

// acceptedTarget reports whether net/http accepts a target. It is fast for paths without escapes.
func acceptedTarget(method, target []byte) bool {
	if len(target) > 0 && target[0] == '/' && bytes.IndexByte(target, '%') < 0 && !hasControl(target) {
		return true
	}
	s := string(target)
	if string(method) == http.MethodConnect && s != "" && s[0] != '/' {
		s = "http://" + s
	}
	_, err := url.ParseRequestURI(s)
	return err == nil
}

// mendable splits a line that net/http rejects into its parts. It returns false if the line cannot
// be mended. A Simple-Request must be the first request of its connection.
//
//	Simple-Request = "GET" SP Request-URI CRLF                  (RFC 1945, 5)
//
//	request-line   = method SP request-target SP HTTP-version   (RFC 9112, 3)
func mendable(line []byte, first bool) (requestLine, bool) {
	words, n := splitWords(line)
	l := requestLine{string(words[0]), string(words[1]), string(words[2])}
	switch n {
	case 2: // "GET HTTP/1.0" is a Full-Request without a target
		_, versioned := majorVersion(words[1])
		return l, first && l.method == http.MethodGet && !versioned && !hasControl(words[1])
	case 3: // the target of CONNECT is a host and a port, which are not mended
		major, ok := majorVersion(words[2])
		return l, ok && major == 1 && isToken(words[0]) && l.method != http.MethodConnect && !hasControl(words[1])
	}
	return requestLine{}, false
}

// splitWords returns the first three words of a line, and the number of words, where 4 means more
// than three. Spaces and tabs separate words.
func splitWords(line []byte) (words [3][]byte, n int) {
	for i := 0; i < len(line); {
		if isSpace(line[i]) {
			i++
			continue
		}
		start := i
		for i < len(line) && !isSpace(line[i]) {
			i++
		}
		if n == len(words) {
			return words, n + 1
		}
		words[n] = line[start:i]
		n++
	}
	return words, n
}

// majorVersion parses a version as leniently as RFC 1945, 3.1 requires: numbers may have leading
// zeros and several digits, and case does not matter.
//
//	HTTP-Version = "HTTP" "/" 1*DIGIT "." 1*DIGIT
func majorVersion(word []byte) (major int, ok bool) {
	const name = "HTTP/"
	if len(word) < len(name) || !ascii.EqualFold(word[:len(name)], name) {
		return 0, false
	}
	before, after, _ := bytes.Cut(word[len(name):], []byte("."))
	major, ok = number(before)
	_, ok2 := number(after)
	return major, ok && ok2
}

func number(digits []byte) (n int, ok bool) {
	if len(digits) == 0 || len(digits) > maxVersionDigits {
		return 0, false
	}
	for _, d := range digits {
		if !ascii.IsDigit(d) {
			return 0, false
		}
		n = n*10 + int(d-'0')
	}
	return n, true
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' }

func isControl(b byte) bool { return b < ' ' || b == 0x7f }

func hasControl(s []byte) bool { return slices.ContainsFunc(s, isControl) }

// isToken reports whether s is a token (RFC 9110, 5.6.2).
func isToken(s []byte) bool {
	return len(s) > 0 && !slices.ContainsFunc(s, func(b byte) bool { return !ascii.IsToken(b) })
}
