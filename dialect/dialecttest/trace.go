// Package dialecttest sends recorded requests to a server, and compares the responses with the
// recorded responses.
package dialecttest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// A message is a request or a response.
type message struct {
	line   int // number of its first line
	first  string
	fields [][2]string
	body   string
}

type exchange struct{ request, response message }

// A Runner sends the requests of traces.
//
// In a trace, lines that begin with ">" belong to a request, and lines that begin with "<" to its
// response. All other lines are comments. The first line of a request has the method and the
// target. The first line of a response has the status. The header fields follow, then an empty line
// (">" or "<" alone), and then the body. The last line of a body has no line break, unless the line
// "<\" follows.
//
// A header field without value must be absent from the response. In fields and bodies, $NAME is
// replaced by a variable. A line of a response can contain "$*", which matches any text. In the
// rest of the trace, the variable "$1" has this text.
type Runner struct {
	Client    *http.Client
	Bases     []string          // URLs of servers, without a final slash; the requests are sent to them in rotation
	Variables map[string]string // variables by name, without the dollar sign

	sent int
}

// Run sends the requests in a file, and compares the responses. It stops at the first difference.
func (r *Runner) Run(t testing.TB, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parse(string(text))
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d exchanges, %v", file, len(all), err)
	}
	for _, x := range all {
		if faults := r.exchange(x); len(faults) > 0 {
			t.Fatalf("%s:%d: %s\n%s", file, x.request.line, x.request.first, strings.Join(faults, "\n"))
		}
	}
}

func parse(text string) (all []exchange, err error) {
	var last byte
	inBody, ended := false, false
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] != '>' && line[0] != '<' {
			continue
		}
		if line[0] == '>' && last != '>' {
			all = append(all, exchange{})
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("line %d: a response without a request", i+1)
		}
		m := &all[len(all)-1].request
		if line[0] == '<' {
			m = &all[len(all)-1].response
		}
		content := strings.TrimPrefix(line[1:], " ")
		switch {
		case line[0] != last:
			m.line, m.first, inBody, ended = i+1, content, false, false
		case inBody && line[1:] == `\`:
			m.body, ended = m.body+"\n", true
		case inBody && m.body != "" && !ended:
			m.body += "\n" + content
		case inBody:
			m.body += content
		case content == "":
			inBody = true
		default:
			name, value, _ := strings.Cut(content, ":")
			m.fields = append(m.fields, [2]string{name, strings.TrimSpace(value)})
		}
		last = line[0]
	}
	return all, nil
}

func (r *Runner) expand(s string) string {
	for name, value := range r.Variables {
		s = strings.ReplaceAll(s, "$"+name, value)
	}
	return s
}

// exchange sends a request, and returns the differences between the response and the expected one.
func (r *Runner) exchange(x exchange) (faults []string) {
	method, target, _ := strings.Cut(r.expand(x.request.first), " ")
	base := r.Bases[r.sent%len(r.Bases)]
	r.sent++
	req, err := http.NewRequest(method, base+target, strings.NewReader(r.expand(x.request.body)))
	if err != nil {
		return []string{err.Error()}
	}
	if _, query, ok := strings.Cut(target, "?"); ok && query == "" {
		req.URL.ForceQuery = true
	}
	for _, f := range x.request.fields {
		req.Header.Set(f[0], r.expand(f[1]))
	}
	res, err := r.Client.Do(req)
	if err != nil {
		return []string{err.Error()}
	}
	defer res.Body.Close()
	var body bytes.Buffer
	if _, err := io.Copy(&body, res.Body); err != nil {
		return []string{err.Error()}
	}
	return r.compare(x.response, res, body.String())
}

func (r *Runner) compare(want message, res *http.Response, body string) (faults []string) {
	check := func(what, got, want string) {
		if any, ok := matches(got, r.expand(want)); !ok {
			faults = append(faults, fmt.Sprintf("%s: got %q, want %q", what, got, r.expand(want)))
		} else if any != "" {
			r.Variables["1"] = any
		}
	}
	check("status", fmt.Sprint(res.StatusCode), want.first)
	for _, f := range want.fields {
		check(f[0], res.Header.Get(f[0]), f[1])
	}
	check("body", body, want.body)
	return faults
}

// matches compares a text with a pattern, in which "$*" matches any text. It returns the text that
// "$*" matched.
func matches(got, pattern string) (any string, ok bool) {
	before, after, wild := strings.Cut(pattern, "$*")
	if !wild {
		return "", got == pattern
	}
	rest, ok := strings.CutPrefix(got, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, after)
}
