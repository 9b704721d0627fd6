package replay

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A Request is a request to send.
type Request struct {
	Method string `json:"method"` // GET or HEAD
	Target string `json:"target"` // path and query; printable ASCII that begins with a slash
	Accept string `json:"accept,omitempty"`
}

// An Entry is the content of a line of an access log: a request and the response to it.
type Entry struct {
	Request
	Status   int    // 0 if unknown
	Location string // "" if unknown
}

// Errors of [ParseLine]. They do not quote the line, because a line contains the address of a
// client.
var (
	ErrLine   = errors.New("not a line of an access log in the common, combined or JSON format")
	ErrMethod = errors.New("the method is neither GET nor HEAD")
)

// ParseLine parses a line of an access log. The line may be in the common or combined format of
// Apache httpd and nginx, with any fields before the time and after the status. It may also be a
// JSON object as nomen, Caddy, Traefik and nginx write it.
func ParseLine(line string) (Entry, error) {
	if strings.HasPrefix(strings.TrimLeft(line, " \t"), "{") {
		return parseJSON(line)
	}
	_, rest, ok := strings.Cut(line, `] "`) // the end of the time; a user name cannot contain an unescaped quotation mark
	request, rest, closed := cutQuoted(rest)
	status, _, _ := strings.Cut(strings.TrimPrefix(rest, " "), " ")
	n, valid := parseStatus(status)
	if !ok || !closed || !valid {
		return Entry{}, ErrLine
	}
	method, target, _ := strings.Cut(request, " ")
	if i := strings.LastIndex(target, " HTTP/"); i >= 0 {
		target = target[:i]
	}
	return newEntry(Request{Method: method, Target: target}, n, "")
}

// cutQuoted returns the text before the next unescaped quotation mark, with its escapes decoded,
// and the text after it.
func cutQuoted(s string) (text, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			c, n := unescape(s[i+1:])
			b.WriteByte(c)
			i += n
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// unescape decodes the escape after a backslash, and returns its length. Servers escape control
// characters as \n or \x0a.
func unescape(s string) (c byte, n int) {
	if len(s) >= 3 && s[0] == 'x' && ascii.IsHex(s[1]) && ascii.IsHex(s[2]) {
		return ascii.Unhex(s[1])<<4 | ascii.Unhex(s[2]), 3
	}
	if i := strings.IndexByte("nrtbvf", s[0]); i >= 0 {
		return "\n\r\t\b\v\f"[i], 1
	}
	return s[0], 1
}

// parseStatus parses a status, where "-" or 0 means that there was no response.
func parseStatus(s string) (int, bool) {
	if s == "-" || s == "0" || s == "000" {
		return 0, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && len(s) == 3 && n >= 100
}

func newEntry(r Request, status int, location string) (Entry, error) {
	if r.Method != "GET" && r.Method != "HEAD" {
		if ascii.All(r.Method, ascii.IsLetter) {
			return Entry{}, ErrMethod
		}
		return Entry{}, ErrLine
	}
	target, ok := cleanTarget(r.Target)
	if !ok || !isPrintable(r.Accept) {
		return Entry{}, ErrLine
	}
	r.Target = target
	return Entry{r, status, location}, nil
}

// cleanTarget returns the path and query of a request target, with non-ASCII bytes escaped.
func cleanTarget(target string) (string, bool) {
	for _, scheme := range []string{"http://", "https://"} {
		if rest, ok := ascii.CutPrefix(target, scheme); ok {
			target = "/"
			if i := strings.IndexAny(rest, "/?"); i >= 0 {
				target = "/" + strings.TrimPrefix(rest[i:], "/")
			}
		}
	}
	if !strings.HasPrefix(target, "/") || strings.Contains(target, " ") {
		return "", false
	}
	target = ascii.EscapeUnless(target, func(c byte) bool { return c < 0x80 })
	return target, isPrintable(target)
}

func isPrintable(s string) bool {
	return s == "" || ascii.All(s, func(c byte) bool { return ' ' <= c && c <= '~' })
}

// parseJSON parses an object. The names of its members differ between servers, so case and hyphens
// are ignored.
func parseJSON(line string) (Entry, error) {
	all, ok := members([]byte(line))
	if !ok {
		return Entry{}, ErrLine
	}
	request := all
	if inner, ok := members(all["request"]); ok { // Caddy
		request = inner
	}
	r := Request{
		Method: text(request, "method", "request_method", "requestmethod"),
		Target: text(request, "uri", "request_uri", "target", "requestpath", "path", "url"),
		Accept: text(request, "accept", "http_accept", "request_accept"),
	}
	if r.Method == "" { // nginx: the whole request line
		r.Method, r.Target, _ = strings.Cut(text(all, "request"), " ")
		r.Target, _, _ = strings.Cut(r.Target, " HTTP/")
	}
	if query := text(request, "args", "query", "query_string"); query != "" && !strings.Contains(r.Target, "?") {
		r.Target += "?" + strings.TrimPrefix(query, "?")
	}
	if headers, ok := members(request["headers"]); ok && r.Accept == "" {
		r.Accept = text(headers, "accept")
	}
	location := text(all, "location", "sent_http_location", "downstream_location")
	if headers, ok := members(all["resp_headers"]); ok && location == "" {
		location = text(headers, "location")
	}
	status, ok := parseStatus(text(all, "status", "status_code", "downstreamstatus", "response"))
	if !ok {
		return Entry{}, ErrLine
	}
	return newEntry(r, status, location)
}

// members returns the members of an object by name, in lower case and with "_" for "-".
func members(object []byte) (map[string]json.RawMessage, bool) {
	var raw map[string]json.RawMessage
	if len(object) == 0 || json.Unmarshal(object, &raw) != nil || raw == nil {
		return nil, false
	}
	all := make(map[string]json.RawMessage, len(raw))
	for name, value := range raw {
		all[strings.ReplaceAll(strings.ToLower(name), "-", "_")] = value
	}
	return all, true
}

// text returns the value of the first member in names that is a string, a number, or an array that
// begins with a string. The string "-" means that there is no value.
func text(all map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		var list []string
		var number json.Number
		var s string
		switch raw := all[name]; {
		case raw == nil:
		case json.Unmarshal(raw, &s) == nil:
		case json.Unmarshal(raw, &number) == nil:
			s = number.String()
		case json.Unmarshal(raw, &list) == nil && len(list) > 0:
			s = list[0]
		}
		if s != "" && s != "-" {
			return s
		}
	}
	return ""
}
