package main

import (
	"bufio"
	"io"
	"net"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// bareAnswers are what a minimal resolver of 1995 says about ElementIDs.
var bareAnswers = map[string]string{
	"alb002": "Content-Type: text/urc-0\r\n\r\n=====\r\nhttps://bare.example/2\r\n",
	"phones": "Content-Type: text/plain\r\n\r\nThis is the phone list.\r\nAsk Cheryl\u202e.\r\n",
	"latin":  "Content-Type: text/plain; charset=iso-8859-1\r\n\r\ngr\xf6\xdfe\r\n",
	"page":   "Content-Type: text/html\r\n\r\n<html><script>alert(1)</script>A page</html>",
	"blob":   "Content-Type: image/svg+xml\r\n\r\n<svg/>",
	"odd":    "Content-Type: application/x-foo\r\n\r\n\x00\xff",
	"dead":   "",
	"urn+m":  "Content-Type: text/plain\r\n\r\nThe URNs on this server mostly point to movies.\r\nWe use something old.\r\n",
	"urn+c":  "Content-Type: text/plain\r\n\r\nchild.example\r\n",
	"urn+p":  "Content-Type: text/plain\r\n\r\n",
	"urn+a":  "Content-Type: text/urc-0\r\n\r\n=====\r\nhttp://bare.example/all\r\nThis file is about 50K.\r\n",
}

// bare starts a minimal resolver of 1995, which knows ElementIDs and nothing else, and
// puts its address into a variable: bare VARIABLE.
func bare(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], l.Addr().String())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerBare(conn)
		}
	}()
}

func answerBare(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	line, _ := in.ReadString('\n')
	for field := line; strings.TrimSpace(field) != ""; {
		var err error
		if field, err = in.ReadString('\n'); err != nil {
			return
		}
	}
	element := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "GET "), " HTTP/1.0")
	if path, ok := strings.CutSuffix(element, " HTTP/1.1"); ok { // a redirection on the web leads here
		element = strings.TrimPrefix(path, "/")
	}
	answer, ok := bareAnswers[element]
	switch {
	case !ok:
		answer = "HTTP/1.0 404 Not Found\r\nContent-Type: text/html\r\n\r\n<h1>Not found</h1>\r\n"
	case answer == "":
		answer = "HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/x\r\n\r\n"
	default:
		answer = "HTTP/1.0 200 OK\r\nConnection: close\r\n" + answer
	}
	_, _ = io.WriteString(conn, answer)
}
