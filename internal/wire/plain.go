package wire

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A Plain is a GET or HEAD request without a body, whose answer depends only on the fields of the
// Plain.
type Plain struct {
	Method, Target            string
	Old                       bool   // the version is HTTP/1.0 instead of HTTP/1.1
	Final                     bool   // the client has requested that the connection be closed after the response
	Host                      string // "" is possible only in HTTP/1.0
	Accept, Languages, Coding string // Accept, Accept-Language and Accept-Encoding; "" if absent
	Agent                     string // User-Agent
}

// An Answerer answers the requests of a connection without net/http, in order. It appends the
// complete response to out and returns true. The response has the version of the request, and the
// response to a final request in HTTP/1.1 has "Connection: close". If net/http must answer, the
// Answerer returns out unchanged and false.
type Answerer func(out []byte, q Plain) ([]byte, bool)

// maxHeldAnswers is how many bytes of answers to pipelined requests are held before they are
// written.
const maxHeldAnswers = 32 << 10

// answerPlain answers the plain requests at the start of p, and returns the length of these
// requests.
//
// It must be called while the pool or net/http waits for a request. At that time all earlier
// responses have been written, and net/http considers the connection idle; see [conn.Close]. Only
// the pool can close the connection, so only the pool answers the last request of a connection.
func (c *conn) answerPlain(p []byte) (k int, err error) {
	room := c.listener.rooms.Get().(*room)
	defer c.listener.rooms.Put(room)
	out := room.out[:0]
	for k < len(p) && !c.final {
		q, end, ok := room.last.read(p[k:], &c.listener.config)
		if !ok || q.Final && !c.alone {
			break
		}
		if out, ok = c.answer(out, q); !ok {
			break
		}
		k += end
		c.final, c.head.first = q.Final, false
		if len(out) > maxHeldAnswers {
			if err := c.sendAnswers(out); err != nil {
				return k, err
			}
			out = out[:0]
		}
	}
	if len(out) > 0 {
		err = c.sendAnswers(out)
	}
	if cap(out) <= 2*maxHeldAnswers {
		room.out = out
	}
	return k, err
}

// A room contains the buffers for answering the plain requests of a connection. Rooms are reused
// for other connections.
type room struct {
	out  []byte
	last lastPlain
}

// A lastPlain is the last plain request. Many requests on a connection have the same header block,
// so it is often sufficient to compare the next header block with the block of the last request.
type lastPlain struct {
	block []byte // the lines after the request line, with the empty line; nil if there is no request
	q     Plain
}

// read reads the head at the start of p, and returns its length. It returns false if the head is
// incomplete or the request is not plain.
func (l *lastPlain) read(p []byte, limits *Config) (q Plain, end int, ok bool) {
	if q, end, ok = l.readEqual(p, limits); ok {
		return q, end, true
	}
	var h head
	if h.scan(p, limits) != good {
		return q, 0, false
	}
	if q, ok = readPlain(string(p[:h.end])); ok {
		l.block, l.q = append(l.block[:0], p[h.block:h.end]...), q
	}
	return q, h.end, ok
}

// readEqual reads a head that has the same header block as the last plain request.
func (l *lastPlain) readEqual(p []byte, limits *Config) (q Plain, end int, ok bool) {
	i := bytes.IndexByte(p, '\n')
	if i < 1 || p[i-1] != '\r' || i-1 > limits.MaxLine || l.block == nil || !bytes.HasPrefix(p[i+1:], l.block) {
		return q, 0, false
	}
	line, ok := readPlainLine(string(p[:i-1]))
	if !ok || line.Old != l.q.Old || !acceptedTarget(nil, p[len(line.Method)+1:][:len(line.Target)]) {
		return q, 0, false
	}
	q = l.q
	q.Method, q.Target = line.Method, line.Target
	return q, i + 1 + len(l.block), true
}

func (c *conn) sendAnswers(out []byte) error {
	c.setTimes()
	_, err := c.Conn.Write(out)
	return err
}

// setTimes sets the deadlines that net/http would set for each request. Because setting deadlines
// is slow, setTimes does not correct an error of less than one sixty-fourth.
func (c *conn) setTimes() {
	idle, write := c.listener.config.IdleTimeout, c.listener.config.WriteTimeout
	now := time.Now()
	if now.Sub(c.timed) < min(idle, write)/64 {
		return
	}
	c.timed = now
	if !c.final { // otherwise nothing else is read
		c.deadline.set(c.Conn, now.Add(idle))
	}
	c.Conn.SetWriteDeadline(now.Add(write))
}

// readPlain parses a complete head. It returns false if the head has an unusual spelling, or has
// anything that may influence the answer but does not fit into Plain.
func readPlain(head string) (q Plain, ok bool) {
	line, rest, _ := strings.Cut(head, "\r\n")
	if q, ok = readPlainLine(line); !ok {
		return q, false
	}
	for {
		if line, rest, ok = strings.Cut(rest, "\r\n"); !ok {
			return q, false
		}
		if line == "" {
			return q, rest == "" && (isPlainHost(q.Host) || q.Old && q.Host == "")
		}
		name, value, _ := strings.Cut(line, ":")
		if value = strings.Trim(value, " \t"); !q.take(name, value) {
			return q, false
		}
	}
}

func readPlainLine(line string) (q Plain, ok bool) {
	method, line, _ := strings.Cut(line, " ")
	target, proto, _ := strings.Cut(line, " ")
	old := proto == "HTTP/1.0"
	ok = (old || proto == "HTTP/1.1") && strings.HasPrefix(target, "/") && (method == http.MethodGet || method == http.MethodHead)
	return Plain{Method: method, Target: target, Old: old, Final: old}, ok
}

// take stores the value of a field. It returns false if the field is unknown or repeated.
func (q *Plain) take(name, value string) bool {
	into := &q.Host
	switch {
	case ascii.EqualFold(name, "Host"):
	case ascii.EqualFold(name, "Accept"):
		into = &q.Accept
	case ascii.EqualFold(name, "Accept-Language"):
		into = &q.Languages
	case ascii.EqualFold(name, "Accept-Encoding"):
		into = &q.Coding
	case ascii.EqualFold(name, "User-Agent"):
		into = &q.Agent
	case ascii.EqualFold(name, "Connection"):
		return q.takeConnection(value)
	default:
		return isIdleField(name) && isText(value)
	}
	if *into != "" || value == "" || !isText(value) {
		return false
	}
	*into = value
	return true
}

// takeConnection reads the value of a Connection field. It returns false unless the value is
// "close" or "keep-alive". It also returns false for "keep-alive" in HTTP/1.0, because the response
// would need another field.
func (q *Plain) takeConnection(value string) bool {
	if ascii.EqualFold(value, "close") {
		q.Final = true
		return true
	}
	return !q.Old && ascii.EqualFold(value, "keep-alive")
}

// idleFields are common fields that have no influence on the answer to a plain request.
var idleFields = []string{
	"Cache-Control", "DNT", "Pragma", "Priority", "Referer", "Sec-CH-UA", "Sec-CH-UA-Mobile", "Sec-CH-UA-Platform",
	"Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Sec-GPC", "Upgrade-Insecure-Requests",
}

func isIdleField(name string) bool {
	return slices.ContainsFunc(idleFields, func(idle string) bool { return ascii.EqualFold(name, idle) })
}

// isText reports whether s has only visible ASCII characters and spaces.
func isText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// isPlainHost reports whether h is a host name or an address, with or without a port.
func isPlainHost(h string) bool {
	for _, c := range []byte(h) {
		if !ascii.IsAlnum(c) && c != '-' && c != '.' && c != ':' && c != '[' && c != ']' {
			return false
		}
	}
	return h != ""
}
