package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"time"

	"github.com/jlaffaye/ftp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/shown"
)

const (
	maxConversation = 1 << 20          // bytes that the server may send on the control connection
	maxListing      = 16 << 20         // bytes of a directory listing
	maxFarewell     = 10 * time.Second // how long to wait for the last reply after a transfer
)

// ftp implements [plan.Step] for the scheme ftp, in passive mode. It opens data connections only to
// the host of the control connection, even if the server announces another address.
func (j *retrieval) ftp(ctx context.Context, r plan.Request) (plan.Outcome, error) {
	s := &ftpSession{retrieval: j, request: r, url: r.URI.Redacted(), limit: maxConversation}
	if err := s.open(ctx); err != nil {
		return plan.Outcome{}, s.explain(err)
	}
	o, err := s.perform()
	if err != nil {
		s.close()
		return plan.Outcome{}, s.explain(err)
	}
	return j.found(o)
}

type ftpSession struct {
	retrieval *retrieval
	request   plan.Request
	url       string
	server    *ftp.ServerConn
	limit     int64 // bytes that the server may send on the next connection
}

func (s *ftpSession) open(ctx context.Context) (err error) {
	dial := func(_, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		conn, err := s.retrieval.connect(ctx, host, port)
		if err != nil {
			return nil, err
		}
		return &shortConn{conn, s.limit}, nil
	}
	address := net.JoinHostPort(s.request.Host, s.request.Port)
	if s.server, err = ftp.Dial(address, ftp.DialWithDialFunc(dial), ftp.DialWithShutTimeout(maxFarewell)); err != nil {
		return err
	}
	l := s.request.Login
	s.retrieval.fetcher.tracef("%s: USER %s", address, shown.Line(l.User))
	return s.server.Login(l.User, l.Password)
}

func (s *ftpSession) close() {
	if s.server != nil {
		_ = s.server.Quit()
	}
}

// perform executes the commands of the scheme, and returns the object.
func (s *ftpSession) perform() (*Object, error) {
	for _, line := range s.request.Commands {
		verb, arg, _ := strings.Cut(line, " ")
		if verb != "USER" && verb != "PASS" {
			s.retrieval.fetcher.tracef("%s: %s", s.request.Host, shown.Line(line))
		}
		var err error
		switch verb {
		case "USER", "PASS": // open has already logged in
		case "TYPE":
			err = s.server.Type(ftp.TransferType(arg))
		case "CWD":
			err = s.server.ChangeDir(arg)
		case "NLST":
			return s.list(arg)
		case "RETR":
			if arg == "" { // an empty name is the directory itself
				return s.list("")
			}
			return s.retrieve(arg)
		default:
			err = fmt.Errorf("fetch: unsupported FTP command %q", verb)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("fetch: %s: no command returns data", s.url)
}

// list returns an object with the names in a directory, one per line.
func (s *ftpSession) list(dir string) (*Object, error) {
	s.limit = maxListing
	names, err := s.server.NameList(dir)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, name := range names {
		b.WriteString(shown.Line(name) + "\n")
	}
	s.close()
	return &Object{Resource: nomen.Resource{Type: typeText, Size: int64(b.Len()), Body: io.NopCloser(strings.NewReader(b.String()))}}, nil
}

// retrieve returns a file as an object. In text mode, line endings are converted to the line ending
// of this machine. The size is then unknown, and the object cannot be read from an offset.
func (s *ftpSession) retrieve(name string) (*Object, error) {
	o := &Object{Resource: nomen.Resource{Type: s.request.Format, Size: -1}}
	if modified, err := s.server.GetTime(name); err == nil {
		o.Modified = modified
	}
	if size, err := s.server.FileSize(name); err == nil && size >= 0 && !s.request.Text {
		o.Size = size
		if !o.Modified.IsZero() {
			o.Validator = fmt.Sprintf("ftp:%d:%d", size, o.Modified.Unix())
		}
	}
	from := int64(0)
	if !s.request.Text && s.retrieval.canResume(o.Validator) {
		from = s.retrieval.request.Offset
	}
	s.limit = -1
	data, err := s.server.RetrFrom(name, uint64(from))
	var reply *textproto.Error
	if from > 0 && errors.As(err, &reply) && reply.Code >= ftp.StatusBadCommand && reply.Code != ftp.StatusFileUnavailable {
		from = 0 // the server does not support REST
		data, err = s.server.Retr(name)
	}
	if err != nil {
		return nil, err
	}
	o.Offset = from
	in := &ftpData{session: s, data: data}
	o.Body = in
	if s.request.Text {
		o.Body = closing{newLines(in, false), in.Close}
	}
	return o, nil
}

// An ftpData is the transfer of a file. At the end of the data, it reads the reply by which the
// server confirms that the file is complete.
type ftpData struct {
	session *ftpSession
	data    *ftp.Response
	whole   bool
}

func (d *ftpData) Read(p []byte) (int, error) {
	n, err := d.data.Read(p)
	if err == io.EOF && !d.whole {
		if err := d.data.Close(); err != nil {
			return n, d.session.explain(fmt.Errorf("transfer incomplete: %w", noEOF(err)))
		}
		d.whole = true
	}
	return n, err
}

// Close ends the session, even during the transfer.
func (d *ftpData) Close() error {
	if d.whole {
		d.session.close()
		return nil
	}
	d.session.close() // first, so that nothing blocks
	_ = d.data.Close()
	return nil
}

// explain converts a reply of the server to an error of this package.
func (s *ftpSession) explain(err error) error {
	var reply *textproto.Error
	if errors.As(err, &reply) {
		missing := reply.Code == ftp.StatusFileUnavailable || reply.Code == ftp.StatusFileActionIgnored
		return &StatusError{URL: s.url, Protocol: "FTP", Code: reply.Code, Reason: shown.Line(reply.Msg), Missing: missing}
	}
	return s.retrieval.failed(noEOF(err))
}

// A shortConn limits the number of bytes that the server may send. If left is negative, the number
// is not limited.
type shortConn struct {
	net.Conn
	left int64
}

func (c *shortConn) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errTooLong
	}
	if c.left > 0 {
		p = p[:min(int64(len(p)), c.left)]
	}
	n, err := c.Conn.Read(p)
	if c.left > 0 {
		c.left -= int64(n)
	}
	return n, err
}

var errTooLong = errors.New("response too long")
