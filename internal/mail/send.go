package mail

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/smtp"
	"net/textproto"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

// A Sender sends messages.
type Sender interface {
	// Send sends a message. If Send returns nil, a mail server or a program has accepted the
	// message.
	Send(ctx context.Context, m *Message) error
}

const sendTime = 2 * time.Minute // for a message

// IsTemporary reports whether a delivery that failed with err may succeed later. This is not the
// case if the server has rejected the message permanently.
func IsTemporary(err error) bool {
	var reply *textproto.Error
	var status *StatusError
	switch {
	case errors.As(err, &reply):
		return reply.Code < 500
	case errors.As(err, &status):
		return status.Code >= 500 || status.Code == 408 || status.Code == 429
	}
	return true
}

// SMTP is a [Sender] that passes messages to an SMTP server (RFC 5321). URL is required.
type SMTP struct {
	// URL is the server: smtps://HOST for TLS from the start (port 465), or smtp://HOST for STARTTLS
	// (port 587). With smtp, the connection must become encrypted, unless the host is a loopback
	// address or localhost.
	URL string

	User, Password string      // for AUTH PLAIN; no authentication if User is ""
	TLS            *tls.Config // nil for the defaults
	Hello          string      // the name of this host; if "", localhost
}

// Check returns an error if the settings are invalid.
func (s *SMTP) Check() error {
	_, _, err := s.server()
	return err
}

func (s *SMTP) server() (host, port string, err error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", "", errors.New("want for example smtps://mail.example.org or smtp://mail.example.org:587")
	}
	usual := "587"
	if u.Scheme == "smtps" {
		usual = "465"
	}
	return u.Hostname(), cmp.Or(u.Port(), usual), nil
}

// Send implements [Sender].
func (s *SMTP) Send(ctx context.Context, m *Message) error {
	e, err := m.encode()
	if err != nil {
		return err
	}
	host, port, err := s.server()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if err := s.talk(conn, host, e); err != nil {
		return fmt.Errorf("mail: %s: %w", host, cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

// talk sends a message over a connection.
func (s *SMTP) talk(conn net.Conn, host string, e *envelope) error {
	secure := &tls.Config{}
	if s.TLS != nil {
		secure = s.TLS.Clone()
	}
	secure.ServerName = host
	implicit := strings.HasPrefix(s.URL, "smtps:")
	if implicit {
		conn = tls.Client(conn, secure)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Hello(cmp.Or(s.Hello, "localhost")); err != nil {
		return err
	}
	if !implicit {
		if err := startTLS(c, host, secure); err != nil {
			return err
		}
	}
	if s.User != "" {
		if err := c.Auth(smtp.PlainAuth("", s.User, s.Password, host)); err != nil {
			return err
		}
	}
	return deliver(c, e)
}

// startTLS encrypts a connection. Connections to this machine may stay unencrypted.
func startTLS(c *smtp.Client, host string, secure *tls.Config) error {
	if ok, _ := c.Extension("STARTTLS"); ok {
		return c.StartTLS(secure)
	}
	if a, err := netip.ParseAddr(host); host == "localhost" || err == nil && a.IsLoopback() {
		return nil
	}
	return errors.New("the server does not offer STARTTLS, and unencrypted connections are only used on this machine")
}

func deliver(c *smtp.Client, e *envelope) error {
	if err := c.Mail(e.from); err != nil {
		return err
	}
	if err := c.Rcpt(e.to); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(e.text); err != nil {
		return err
	}
	if err := w.Close(); err != nil { // the error of Close is the response of the server to the message
		return err
	}
	_ = c.Quit() // the server has accepted the message, so an error does not matter
	return nil
}

// Sendmail is a [Sender] that runs a program compatible with sendmail. The program reads the
// message from its standard input, and gets the recipient as an argument. It is not run by a shell.
type Sendmail struct {
	Path string // such as /usr/sbin/sendmail
}

const maxSaid = 1000 // maximum number of bytes read from a program or a response

// Send implements [Sender].
func (s *Sendmail) Send(ctx context.Context, m *Message) error {
	e, err := m.encode()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Path, "-i", "-f", e.from, "--", e.to)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"} // without the environment of the server, which may have credentials
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdin = bytes.NewReader(bytes.ReplaceAll(e.text, []byte("\r\n"), []byte("\n")))
	said := &limited{left: maxSaid}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		if text := oneLine(strings.TrimSpace(said.text.String())); text != "" {
			return fmt.Errorf("mail: %s: %w: %s", s.Path, err, text)
		}
		return fmt.Errorf("mail: %s: %w", s.Path, err)
	}
	return nil
}

// limited is a Writer that keeps only the first bytes.
type limited struct {
	text strings.Builder
	left int
}

var _ io.Writer = (*limited)(nil)

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.text.Write(p[:n])
	return len(p), nil
}
