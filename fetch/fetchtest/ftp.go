package fetchtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Files has the files of an [FTP] server and settings for its behaviour.
type Files struct {
	Texts     map[string]string // content by path, from the root
	CutAt     int               // after how many bytes of a file the server fails; 0 means never
	NoRestart bool              // do not support REST
	Tells     string            // address in the reply to PASV; "" means the server's own
	NoFacts   bool              // do not support SIZE and MDTM
}

// FTP starts an FTP server (RFC 959) for the users anonymous and joe. The password of joe is pw.
func FTP(f Files) (*Server, error) {
	return listen(func(s *Server, conn net.Conn) {
		c := &ftpClient{Files: f, conn: conn, dir: "/"}
		defer c.closeData()
		in := bufio.NewReader(conn)
		c.say("220 files")
		for {
			line, err := s.hear(in)
			if err != nil || !c.obey(line) {
				return
			}
		}
	})
}

type ftpClient struct {
	Files
	conn   net.Conn
	user   string
	dir    string
	mode   string
	from   int
	listen net.Listener
}

func (c *ftpClient) say(format string, args ...any) {
	fmt.Fprintf(c.conn, format+"\r\n", args...)
}

func (c *ftpClient) closeData() {
	if c.listen != nil {
		c.listen.Close()
		c.listen = nil
	}
}

func (c *ftpClient) path(arg string) string { return path.Join(c.dir, arg) }

// obey executes a command. It returns false at the end of the session.
func (c *ftpClient) obey(line string) bool {
	verb, arg, _ := strings.Cut(line, " ")
	text, exists := c.Texts[c.path(arg)]
	switch verb {
	case "USER":
		c.user = arg
		c.say("331 and the password?")
	case "PASS":
		if c.user != "anonymous" && (c.user != "joe" || arg != "pw") {
			c.say("530 who are you?")
			return true
		}
		c.say("230 come in")
	case "FEAT":
		c.say("211-these\r\n SIZE\r\n MDTM\r\n EPSV\r\n UTF8\r\n211 end")
	case "OPTS":
		c.say("200 good")
	case "TYPE":
		c.mode = arg
		c.say("200 type %s", arg)
	case "CWD":
		dir := c.path(arg)
		if !slices.ContainsFunc(c.names(), func(n string) bool { return strings.HasPrefix(n, strings.TrimSuffix(dir, "/")+"/") }) {
			c.say("550 no such directory")
			return true
		}
		c.dir = dir
		c.say("250 there")
	case "EPSV", "PASV":
		return c.passive(verb)
	case "SIZE", "MDTM":
		switch {
		case c.NoFacts:
			c.say("502 not here")
		case !exists:
			c.say("550 no such file")
		case verb == "SIZE":
			c.say("213 %d", len(text))
		default:
			c.say("213 19930714120000")
		}
	case "REST":
		if c.NoRestart {
			c.say("502 not here")
			return true
		}
		c.from, _ = strconv.Atoi(arg)
		c.say("350 from there")
	case "RETR":
		if !exists {
			c.say("550 no such file")
			return true
		}
		if c.mode == "A" {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return c.send(text[c.from:])
	case "NLST":
		return c.send(strings.Join(c.below(c.path(arg)), "\r\n") + "\r\n")
	case "QUIT":
		c.say("221 bye")
		return false
	default:
		c.say("500 what is %q?", verb)
	}
	return true
}

func (c *ftpClient) names() (all []string) {
	for name := range c.Texts {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (c *ftpClient) below(dir string) (found []string) {
	for _, name := range c.names() {
		if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/"); ok {
			first, _, _ := strings.Cut(rest, "/")
			found = append(found, first)
		}
	}
	return slices.Compact(found)
}

func (c *ftpClient) passive(verb string) bool {
	c.closeData()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false
	}
	c.listen = l
	port := l.Addr().(*net.TCPAddr).Port
	switch {
	case verb == "EPSV" && c.Tells == "":
		c.say("229 there (|||%d|)", port)
	case verb == "EPSV":
		c.say("502 not here")
	default:
		c.say("227 there (%s,%d,%d)", strings.ReplaceAll(c.Tells, ".", ","), port>>8, port&255)
	}
	return true
}

func (c *ftpClient) send(text string) bool {
	if c.listen == nil {
		c.say("425 where to?")
		return true
	}
	c.say("150 here it comes")
	data, err := c.listen.Accept()
	if err != nil {
		return false
	}
	defer data.Close()
	cut := c.CutAt > 0 && c.from+c.CutAt < c.from+len(text)
	if cut {
		text = text[:c.CutAt]
	}
	c.from = 0
	if _, err := io.WriteString(data, text); err != nil || cut {
		return false
	}
	data.Close()
	c.say("226 that was all")
	return true
}
