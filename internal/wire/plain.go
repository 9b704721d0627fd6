package wire

import (
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A Plain is a request that has only these fields: a GET or HEAD of a path in HTTP/1.1, without a
// body.
type Plain struct {
	Method, Target            string
	Host                      string
	Accept, Languages, Coding string // values of Accept, Accept-Language and Accept-Encoding; "" if absent
	Agent                     string // value of User-Agent
}

// An Answerer answers the requests of one connection, in order, in place of net/http. It
// appends the complete response to out, or returns out unchanged and false to leave the request
// to net/http.
type Answerer func(out []byte, q Plain) ([]byte, bool)

// maxHeldAnswers is how many bytes of answers to pipelined requests are collected before they are
// written.
const maxHeldAnswers = 32 << 10

// answerPlain answers the plain requests at the beginning of p, and returns how many bytes they
// have.
//
// It must be called where net/http waits for a request other than the first of a connection. At
// that point all earlier responses are written, and net/http counts the connection as idle; see
// [conn.Close].
func (c *conn) answerPlain(p []byte) (k int, err error) {
	room := c.listener.rooms.Get().(*[]byte)
	defer c.listener.rooms.Put(room)
	out := (*room)[:0]
	for k < len(p) {
		var h head
		if h.scan(p[k:], &c.listener.config) != good {
			break
		}
		q, ok := readPlain(string(p[k : k+h.end]))
		if !ok {
			break
		}
		if out, ok = c.answer(out, q); !ok {
			break
		}
		k += h.end
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
		*room = out
	}
	return k, err
}

// sendAnswers writes the answers that are ready.
func (c *conn) sendAnswers(out []byte) error {
	c.setTimes()
	_, err := c.Conn.Write(out)
	return err
}

// setTimes sets the deadlines that net/http would set for each request. Because setting deadlines
// is slow, it sets them only if they are wrong by more than a sixty-fourth.
func (c *conn) setTimes() {
	idle, write := c.listener.config.IdleTimeout, c.listener.config.WriteTimeout
	now := time.Now()
	if now.Sub(c.timed) < min(idle, write)/64 {
		return
	}
	c.timed = now
	c.deadline.set(c.Conn, now.Add(idle))
	c.Conn.SetWriteDeadline(now.Add(write))
}

// readPlain parses a good head. If the head has anything for which Plain has no field, or an
// unusual spelling, ok is false.
func readPlain(head string) (q Plain, ok bool) {
	line, rest, _ := strings.Cut(head, "\r\n")
	method, line, _ := strings.Cut(line, " ")
	target, proto, _ := strings.Cut(line, " ")
	if proto != "HTTP/1.1" || target == "" || target[0] != '/' || method != http.MethodGet && method != http.MethodHead {
		return q, false
	}
	q.Method, q.Target = method, target
	for {
		if line, rest, ok = strings.Cut(rest, "\r\n"); !ok {
			return q, false
		}
		if line == "" {
			return q, rest == "" && isPlainHost(q.Host)
		}
		name, value, _ := strings.Cut(line, ":")
		if value = strings.Trim(value, " \t"); !q.take(name, value) {
			return q, false
		}
	}
}

// take stores the value of a field. If the field is unknown or repeated, it returns false.
func (q *Plain) take(name, value string) bool {
	into := &q.Host
	switch {
	case strings.EqualFold(name, "Host"):
	case strings.EqualFold(name, "Accept"):
		into = &q.Accept
	case strings.EqualFold(name, "Accept-Language"):
		into = &q.Languages
	case strings.EqualFold(name, "Accept-Encoding"):
		into = &q.Coding
	case strings.EqualFold(name, "User-Agent"):
		into = &q.Agent
	case strings.EqualFold(name, "Connection"):
		return strings.EqualFold(value, "keep-alive")
	default:
		return false
	}
	if *into != "" || value == "" {
		return false
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c >= 0x7f {
			return false
		}
	}
	*into = value
	return true
}

// isPlainHost reports whether h is a host name or address, with or without a port.
func isPlainHost(h string) bool {
	for _, c := range []byte(h) {
		if !ascii.IsAlnum(c) && c != '-' && c != '.' && c != ':' && c != '[' && c != ']' {
			return false
		}
	}
	return h != ""
}
