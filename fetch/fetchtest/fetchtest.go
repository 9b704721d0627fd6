// Package fetchtest provides FTP, Gopher, WHOIS and news servers for tests. The servers listen on
// loopback.
package fetchtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// A Server listens on loopback until it is closed.
type Server struct {
	Addr string // host:port

	listener net.Listener
	mu       sync.Mutex
	said     []string
	conns    []net.Conn
}

func listen(f func(*Server, net.Conn)) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: l.Addr().String(), listener: l}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.mu.Unlock()
			go func() {
				defer conn.Close()
				f(s, conn)
			}()
		}
	}()
	return s, nil
}

// Close closes the server and its connections.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
	return s.listener.Close()
}

// Said returns the lines that the server has received so far.
func (s *Server) Said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.said...)
}

// hear reads and records the next line of a client.
func (s *Server) hear(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	s.mu.Lock()
	s.said = append(s.said, line)
	s.mu.Unlock()
	return line, nil
}

// Line starts a server that answers a single line and closes the connection, like Gopher and WHOIS
// servers.
func Line(answer func(line string) string) (*Server, error) {
	return listen(func(s *Server, conn net.Conn) {
		if line, err := s.hear(bufio.NewReader(conn)); err == nil {
			_, _ = io.WriteString(conn, answer(line))
		}
	})
}

// News starts a news server (RFC 3977) that answers each command from a table. The reply to all
// other commands has the code 500. Multi-line answers must include the final dot. The greeting is
// the answer to the empty command, or 200.
func News(answers map[string]string) (*Server, error) {
	return listen(func(s *Server, conn net.Conn) {
		in := bufio.NewReader(conn)
		answer, ok := answers[""]
		if !ok {
			answer = "200 welcome"
		}
		for {
			if _, err := io.WriteString(conn, strings.ReplaceAll(answer, "\n", "\r\n")+"\r\n"); err != nil {
				return
			}
			line, err := s.hear(in)
			if err != nil {
				return
			}
			if answer, ok = answers[line]; !ok {
				answer = fmt.Sprintf("500 what is %q?", line)
			}
		}
	})
}
