// Package mail sends reports by mail, through an SMTP server or a sendmail program, and by webhook.
//
// The fields of a [Message] may contain untrusted text, such as names and titles. No such text can
// add a header field or a recipient. Every delivery has a deadline. [IsTemporary] reports whether a
// failed delivery should be repeated.
package mail

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of a message.
const (
	maxAddress = 320      // length in bytes of an address without its display name
	maxSubject = 200      // length in characters; longer subjects are truncated
	MaxFiles   = 16 << 20 // total size in bytes of all attachments
	maxLine    = 76       // length in bytes of a line of base64
)

// A Message is an email to one recipient. The text is plain text in UTF-8.
type Message struct {
	From, To string // addresses, such as "Names <names@example.org>"
	Subject  string
	Text     string
	Files    []File
	Date     time.Time

	// ID identifies the message, such as "month-2026-11". If a message is sent again, it has the
	// same Message-ID field, by which mail programs recognise duplicates.
	ID string
}

// A File is an attachment.
type File struct {
	Name    string
	Type    string // media type
	Content []byte
}

// ParseAddress parses an address with or without a display name. It rejects addresses that an SMTP
// command cannot contain.
func ParseAddress(text string) (*mail.Address, error) {
	a, err := mail.ParseAddress(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("invalid mail address %.100q: want for example names@example.org", text)
	case len(a.Address) > maxAddress || strings.ContainsFunc(a.Address, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || r == '<' || r == '>' }):
		return nil, fmt.Errorf("invalid mail address %.100q: too long, or with a space, control character, < or >", text)
	case a.Address[0] == '-': // a sendmail program would read it as an option
		return nil, fmt.Errorf("invalid mail address %.100q: must not begin with a hyphen", text)
	}
	return a, nil
}

// An envelope is an encoded message with the addresses for the mail server.
type envelope struct {
	from, to string // addresses without display names
	text     []byte // with line endings of CR LF
}

func (m *Message) encode() (*envelope, error) {
	from, err := ParseAddress(m.From)
	if err != nil {
		return nil, err
	}
	to, err := ParseAddress(m.To)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, f := range m.Files {
		size += len(f.Content)
	}
	if size > MaxFiles {
		return nil, fmt.Errorf("mail: attachments of %d bytes exceed the limit of %d", size, MaxFiles)
	}
	var b bytes.Buffer
	field := func(name, value string) { b.WriteString(name + ": " + value + "\r\n") }
	field("From", addressField(from))
	field("To", addressField(to))
	field("Subject", folded(mime.QEncoding.Encode("utf-8", oneLine(m.Subject))))
	field("Date", m.Date.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	field("Message-ID", m.messageID(from.Address, to.Address))
	field("Auto-Submitted", "auto-generated") // prevents automatic replies (RFC 3834)
	field("MIME-Version", "1.0")
	if err := m.encodeBody(&b); err != nil {
		return nil, err
	}
	return &envelope{from.Address, to.Address, b.Bytes()}, nil
}

// addressField returns an address as the value of a header field. It encodes the display name.
func addressField(a *mail.Address) string {
	return folded((&mail.Address{Name: oneLine(a.Name), Address: a.Address}).String())
}

// folded adds a line break between adjacent encoded words (RFC 2047).
func folded(value string) string { return strings.ReplaceAll(value, "?= =?", "?=\r\n =?") }

// messageID returns the value of the Message-ID field. It differs for messages with the same ID to
// different recipients.
func (m *Message) messageID(from, to string) string {
	safe := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-') {
				return r
			}
			return '.'
		}, s)
	}
	domain := strings.Trim(safe(from[strings.LastIndexByte(from, '@')+1:]), ".")
	return "<" + strings.Trim(safe(m.ID+"."+to), ".") + "@" + domain + ">"
}

// oneLine replaces control characters by spaces, and truncates a long text.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if runes := []rune(s); len(runes) > maxSubject {
		return string(runes[:maxSubject-1]) + "…"
	}
	return s
}

func (m *Message) encodeBody(b *bytes.Buffer) error {
	text := textproto.MIMEHeader{"Content-Type": {"text/plain; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"}}
	if len(m.Files) == 0 {
		b.WriteString("Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
		return quote(b, m.Text)
	}
	w := multipart.NewWriter(b)
	b.WriteString("Content-Type: multipart/mixed; boundary=" + w.Boundary() + "\r\n\r\n")
	part, err := w.CreatePart(text)
	if err == nil {
		err = quote(part, m.Text)
	}
	for _, f := range m.Files {
		if err != nil {
			return err
		}
		err = attach(w, f)
	}
	return errors.Join(err, w.Close())
}

func quote(w io.Writer, text string) error {
	q := quotedprintable.NewWriter(w)
	_, err := io.WriteString(q, strings.ToValidUTF8(text, "\uFFFD"))
	return errors.Join(err, q.Close())
}

func attach(w *multipart.Writer, f File) error {
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": oneLine(f.Name)})
	media, params, err := mime.ParseMediaType(f.Type)
	if err != nil {
		return fmt.Errorf("mail: attachment %q: %w", f.Name, err)
	}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Type": {mime.FormatMediaType(media, params)}, "Content-Disposition": {disposition}, "Content-Transfer-Encoding": {"base64"},
	})
	if err != nil {
		return err
	}
	text := base64.StdEncoding.EncodeToString(f.Content)
	for len(text) > 0 {
		n := min(maxLine, len(text))
		if _, err := io.WriteString(part, text[:n]+"\r\n"); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
