package conform_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The names of the test server.
const (
	testHost      = "names.example:4500"
	testBase      = "http://" + testHost
	testAuthority = "urn:dns:names.example"
	known1        = "alb002"
	known2        = "alb003"
	goneName      = "gone"
	oldName       = "old1" // replaced by known1
)

// A little is a small test server that satisfies all cases, except the one
// named in breaks.
type little struct {
	breaks  string // the ID of a case, or ""
	below   string // the path below which names are paths, such as "/names"
	gateway bool   // does not know bare ElementIDs, and follows redirects
	server  string // its Server field, or ""
	twins   bool   // its TimeMap has two mementos for each second

	answered atomic.Uint32

	mu   sync.Mutex
	last string // the previous request
}

func (s *little) wrong(id string) bool { return s.breaks == id }

// dial connects to the server in memory.
func (s *little) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go s.serve(server)
	return client, nil
}

// A reply is a response of the server.
type reply struct {
	status int
	reason string
	fields []string
	body   string
	raw    string // after the body
	open   bool   // keep the connection open
}

func (r *reply) field(name, value string) *reply {
	r.fields = append(r.fields, name+": "+value)
	return r
}

// without removes a field.
func (r *reply) without(name string) *reply {
	r.fields = slices.DeleteFunc(r.fields, func(f string) bool { return strings.HasPrefix(f, name+":") })
	return r
}

func text(status int, mediaType, body string) *reply {
	return (&reply{status: status, body: body}).field("Content-Type", mediaType)
}

func problem(status int) *reply { return text(status, "text/plain", http.StatusText(status)+"\r\n") }

// An incoming is a request.
type incoming struct {
	method, target, version string
	fields                  map[string][]string // names in lower case
}

func (q *incoming) get(name string) string {
	return strings.Join(q.fields[strings.ToLower(name)], ", ")
}

func (s *little) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	all := line
	words := strings.Fields(line)
	q := &incoming{method: words[0], target: words[1], fields: map[string][]string{}}
	if len(words) == 3 {
		q.version = words[2]
		for {
			field, err := in.ReadString('\n')
			if err != nil {
				return
			}
			all += field
			name, value, ok := strings.Cut(strings.TrimSpace(field), ":")
			if !ok {
				break
			}
			name = strings.ToLower(name)
			q.fields[name] = append(q.fields[name], strings.TrimSpace(value))
		}
	}
	r := s.answer(q, all)
	s.write(conn, q, r)
	if r.open {
		_, _ = io.Copy(io.Discard, conn)
	}
}

// write sends a response.
func (s *little) write(w io.Writer, q *incoming, r *reply) {
	if q.version == "" && !s.wrong("Y95-32/simple") {
		_, _ = io.WriteString(w, r.body)
		return
	}
	body := r.body
	chunked := slices.Contains(r.fields, "Transfer-Encoding: chunked")
	if chunked {
		body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	} else if r.status != 304 {
		r.field("Content-Length", fmt.Sprint(len(r.body)))
	}
	if q.method == "HEAD" {
		if body = ""; s.wrong("RFC9110-9.3.2/head") && strings.HasPrefix(q.target, "/urn:") {
			body = "An album"
		}
	}
	proto := "HTTP/1.0"
	if q.version == "HTTP/1.1" {
		proto = q.version
	}
	if s.wrong("Y95-28/version") && !strings.HasPrefix(q.target, "/") {
		proto = "HTTP/3"
	}
	reason := r.reason
	if reason == "" {
		reason = http.StatusText(r.status)
	}
	if reason == "-" {
		reason = ""
	}
	_, _ = fmt.Fprintf(w, "%s %d %s\r\n%s\r\n\r\n%s%s", proto, r.status, reason, strings.Join(r.fields, "\r\n"), body, r.raw)
}

// answer handles one request.
func (s *little) answer(q *incoming, all string) *reply {
	s.mu.Lock()
	repeated := s.last == all
	s.last = all
	s.mu.Unlock()
	r := s.route(q)
	if repeated && q.get("Accept") == "" && s.wrong("Y95-27/stateless") {
		r = text(200, "text/plain", "As I said.\r\n")
	}
	if !slices.ContainsFunc(r.fields, func(f string) bool { return strings.HasPrefix(f, "Date:") }) {
		r.field("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	if s.server != "" {
		r.field("Server", s.server)
	}
	if s.wrong("RFC9110-6.6.1/date") && r.status == 404 && strings.HasPrefix(q.target, "/") {
		r.without("Date")
	}
	return r
}

func (s *little) route(q *incoming) *reply {
	if s.below != "" {
		q.target = strings.TrimPrefix(q.target, s.below)
		if element, ok := strings.CutPrefix(q.target, "/"); ok && !strings.ContainsAny(element, "/:?") && element != "list" && element != "linkset" && element != "signs" && element != "timemap" && element != "status" && element != "login" {
			q.target = element
		}
	}
	hosts := len(q.fields["host"])
	path := strings.HasPrefix(q.target, "/")
	if q.version == "HTTP/1.1" && path && (hosts == 0 && !s.wrong("RFC9112-3.2/host") || hosts > 1 && !s.wrong("RFC9112-3.2/hosts")) {
		return problem(400)
	}
	if isARK(q) {
		return s.ark(q)
	}
	if isEZID(q) {
		return s.ezid(q)
	}
	if isHandle(q) {
		return s.handle(q)
	}
	if q.method != "GET" && q.method != "HEAD" {
		switch {
		case !path && s.wrong("Y95-31/method"):
		case path && s.wrong("RFC9110-9.1/method"):
			return problem(400)
		case path && s.wrong("RFC9110-15.5.6/allow"):
			return problem(405)
		default:
			return problem(405).field("Allow", "GET, HEAD")
		}
	}
	switch {
	case !path:
		return s.yaurn(q)
	case strings.HasPrefix(q.target, "/uri-res/"):
		service, operand, _ := strings.Cut(strings.TrimPrefix(q.target, "/uri-res/"), "?")
		return s.thttp(q, service, operand)
	case q.target == "/list":
		return s.list()
	case strings.HasPrefix(q.target, "/meta/"):
		return s.meta(q)
	case strings.HasPrefix(q.target, "/timegate/"):
		return s.timeGate(q)
	case q.target == "/timemap":
		return s.timeMap()
	case strings.HasPrefix(q.target, "/at/"):
		return s.memento(q)
	case q.target == "/linkset":
		return s.linkset(q)
	case q.target == "/signs":
		return s.signs()
	}
	return s.web(q)
}

// cutAuthority returns the element of a full name on the server.
func cutAuthority(name string) (string, bool) {
	n := len(testAuthority) + 1
	if len(name) <= n || !strings.EqualFold(name[:n], testAuthority+":") {
		return "", false
	}
	return name[n:], true
}

// urls are the locations of known1.
func urls() []string {
	return []string{"http://www.names.example/2?a=1&b=2", "ftp://ftp.names.example/2"}
}
