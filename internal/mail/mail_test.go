package mail

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/netip"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/internal/guard"
)

func sample() *Message {
	return &Message{
		From: "Names <names@example.org>", To: "library@example.net", Subject: "Report of 2026-11", Text: "Grüße\n.\n.two\n",
		Date: time.Date(2026, 11, 24, 6, 0, 0, 0, time.UTC), ID: "month-2026-11",
	}
}

// read decodes a message as a mail program does: its text, and its attachments by name.
func read(t *testing.T, raw []byte) (head mail.Header, text string, files map[string]string) {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	media, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	if media != "multipart/mixed" {
		text, err := io.ReadAll(decoded(m.Body, m.Header.Get("Content-Transfer-Encoding")))
		if err != nil {
			t.Fatal(err)
		}
		return m.Header, string(text), files
	}
	r := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return m.Header, text, files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(decoded(p, p.Header.Get("Content-Transfer-Encoding")))
		if err != nil {
			t.Fatal(err)
		}
		if p.FileName() == "" {
			text = string(content)
		} else {
			files[p.FileName()] = string(content)
		}
	}
}

func decoded(r io.Reader, encoding string) io.Reader {
	if encoding == "base64" {
		return base64.NewDecoder(base64.StdEncoding, r)
	}
	return quotedprintable.NewReader(r)
}

// TestMessage checks that mail programs get what was sent.
func TestMessage(t *testing.T) {
	m := sample()
	m.Subject = "Bericht für 2026-11: " + strings.Repeat("ö", 120)
	m.Files = []File{{"résumé 2026-11.csv", "text/csv; charset=utf-8", []byte(strings.Repeat("a,ü\r\n", 1000))}}
	e, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(e.text), "\r\n") {
		if len(line) > 200 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("line of %d bytes %.100q, want shorter lines that end with CR LF", len(line), line)
		}
	}
	head, text, files := read(t, e.text)
	subject, err := new(mime.WordDecoder).DecodeHeader(head.Get("Subject"))
	if err != nil || subject != m.Subject {
		t.Errorf("got subject %q, %v, want %q", subject, err, m.Subject)
	}
	if got, want := strings.ReplaceAll(text, "\r\n", "\n"), m.Text; got != want {
		t.Errorf("got text %q, want %q", got, want)
	}
	if diff := cmp.Diff(files, map[string]string{"résumé 2026-11.csv": string(m.Files[0].Content)}); diff != "" {
		t.Errorf("attachments, -got +want:\n%s", diff)
	}
	if got, want := head.Get("Message-ID"), "<month-2026-11.library.example.net@example.org>"; got != want {
		t.Errorf("got Message-ID %s, want %s", got, want)
	}
}

// TestInjection checks that no value can add a field or a recipient.
func TestInjection(t *testing.T) {
	const evil = "x\r\nBcc: victim@example.com\r\n\r\nbody\x00\u2028\x1b"
	m := sample()
	m.Subject, m.ID, m.Files = evil, evil, []File{{evil, "text/csv", nil}}
	e, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	head, _, files := read(t, e.text)
	if head.Get("Bcc") != "" || len(head) != 8 || len(files) != 1 {
		t.Errorf("got fields %v and attachments %q", head, files)
	}
	for _, address := range []string{
		"", "x", evil, "a@example.org, b@example.org", "a@example.org\r\nBcc: b@example.org", `"a b"@example.org`, `"a\r\nRCPT TO:<b@example.org>"@example.org`,
		"-oQ/tmp@example.org", "a@" + strings.Repeat("x", 400), `"<a>"@example.org`, "a@example.org\x00",
	} {
		m := sample()
		m.To = address
		if e, err := m.encode(); err == nil {
			t.Errorf("recipient %q: got %q, want an error", address, e.to)
		}
	}
}

func TestLargeAttachments(t *testing.T) {
	m := sample()
	m.Files = []File{{"a", "text/csv", make([]byte, MaxFiles+1)}}
	if _, err := m.encode(); err == nil {
		t.Error("got no error for attachments above the limit")
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("Names <n@example.org>", "a@example.net", "Subject", "text", "a.csv", "text/csv", "id")
	f.Add("=?utf-8?q?=0d=0aBcc:_x@y.z?= <n@example.org>", "a@example.net", "ü\r\nBcc: x", ".\r\n", "\"\r\n", "text/csv; a=\"\r\n\"", "\n")
	f.Fuzz(func(t *testing.T, from, to, subject, text, name, media, id string) {
		m := sample()
		m.From, m.To, m.Subject, m.Text, m.ID = from, to, subject, text, id
		m.Files = []File{{name, media, []byte(text)}}
		e, err := m.encode()
		if err != nil {
			return
		}
		if strings.ContainsAny(e.from+e.to, "\r\n \t<>\x00") || e.to[0] == '-' {
			t.Errorf("got addresses %q and %q", e.from, e.to)
		}
		r := textproto.NewReader(bufio.NewReader(bytes.NewReader(e.text)))
		head, err := r.ReadMIMEHeader()
		if err != nil || len(head) != 8 {
			t.Errorf("got %d fields, %v, want 8, in %q", len(head), err, e.text)
		}
	})
}

// An smtpServer is a mail server that keeps what it gets.
type smtpServer struct {
	net.Listener
	tls      *tls.Config // offered with STARTTLS, if not nil
	implicit bool        // TLS from the start
	reject   string      // reply to RCPT, if not ""
	silent   bool        // never says anything

	mu  sync.Mutex
	got []string // commands, and messages after "DATA "
}

func (s *smtpServer) commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.got...)
}

// start serves until the test ends.
func (s *smtpServer) start(t *testing.T) *smtpServer {
	t.Helper()
	var err error
	if s.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { s.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := s.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				s.serve(conn)
			})
		}
	})
	return s
}

func (s *smtpServer) serve(conn net.Conn) {
	if s.implicit {
		conn = tls.Server(conn, s.tls)
	}
	if s.silent {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	c := textproto.NewConn(conn)
	_ = c.PrintfLine("220 mail.example.org")
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.got = append(s.got, line)
		s.mu.Unlock()
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "EHLO":
			_ = c.PrintfLine("250-mail.example.org")
			if s.tls != nil && !s.implicit {
				_ = c.PrintfLine("250-STARTTLS")
			}
			_ = c.PrintfLine("250 AUTH PLAIN")
		case "STARTTLS":
			_ = c.PrintfLine("220 go")
			conn = tls.Server(conn, s.tls)
			c = textproto.NewConn(conn)
		case "AUTH":
			_ = c.PrintfLine("235 ok")
		case "RCPT":
			if s.reject != "" {
				_ = c.PrintfLine("%s", s.reject)
				continue
			}
			_ = c.PrintfLine("250 ok")
		case "DATA":
			_ = c.PrintfLine("354 go")
			text, err := io.ReadAll(c.DotReader())
			if err != nil {
				return
			}
			s.mu.Lock()
			s.got = append(s.got, "DATA "+string(text))
			s.mu.Unlock()
			_ = c.PrintfLine("250 ok")
		case "QUIT":
			_ = c.PrintfLine("221 bye")
			return
		default:
			_ = c.PrintfLine("250 ok")
		}
	}
}

// TestSMTP checks sending with TLS from the start, with STARTTLS and without encryption, and what is
// an error that may pass.
func TestSMTP(t *testing.T) {
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	defer certificate.Close()
	serving := &tls.Config{Certificates: certificate.TLS.Certificates}
	trusting := certificate.Client().Transport.(*http.Transport).TLSClientConfig
	for _, tt := range []struct {
		name      string
		server    *smtpServer
		scheme    string
		trusting  *tls.Config
		want      string // a part of the error
		temporary bool
	}{
		{"TLS", &smtpServer{tls: serving, implicit: true}, "smtps", trusting, "", false},
		{"STARTTLS", &smtpServer{tls: serving}, "smtp", trusting, "", false},
		{"loopback without TLS", &smtpServer{}, "smtp", nil, "", false},
		{"untrusted certificate", &smtpServer{tls: serving}, "smtp", nil, "certificate", true},
		{"rejected", &smtpServer{reject: "550 no such user"}, "smtp", nil, "no such user", false},
		{"rejected for now", &smtpServer{reject: "451 later"}, "smtp", nil, "later", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.server.start(t)
			s := &SMTP{URL: tt.scheme + "://" + tt.server.Addr().String(), User: "u", Password: "p", TLS: tt.trusting}
			err := s.Send(t.Context(), sample())
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || IsTemporary(err) != tt.temporary {
					t.Errorf("got %v, temporary %t, want an error with %q, temporary %t", err, IsTemporary(err), tt.want, tt.temporary)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Join(tt.server.commands(), "\n")
			for _, want := range []string{"AUTH PLAIN", "MAIL FROM:<names@example.org>", "RCPT TO:<library@example.net>", "Subject: Report of 2026-11", "\n.\n.two\n"} {
				if !strings.Contains(all, want) {
					t.Errorf("the server did not get %q:\n%s", want, all)
				}
			}
		})
	}
}

// TestSMTPDeadline checks that a silent server does not hold up the sender.
func TestSMTPDeadline(t *testing.T) {
	s := (&smtpServer{silent: true}).start(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := (&SMTP{URL: "smtp://" + s.Addr().String()}).Send(ctx, sample()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestSMTPCheck(t *testing.T) {
	for url, ok := range map[string]bool{
		"smtps://mail.example.org": true, "smtp://mail.example.org:25": true, "smtp://[::1]:25": true,
		"": false, "mail.example.org": false, "http://mail.example.org": false, "smtp://u:p@mail.example.org": false, "smtp://": false, "smtp://a/b": false,
	} {
		if err := (&SMTP{URL: url}).Check(); (err == nil) != ok {
			t.Errorf("%q: got %v, want valid %t", url, err, ok)
		}
	}
}

// TestUnencrypted checks that mail to other machines is never sent without encryption.
func TestUnencrypted(t *testing.T) {
	s := (&smtpServer{}).start(t)
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	e, err := sample().encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := (&SMTP{URL: "smtp://mail.example.org"}).talk(conn, "mail.example.org", e); err == nil || !strings.Contains(err.Error(), "STARTTLS") {
		t.Errorf("got %v, want an error about STARTTLS", err)
	}
	if all := strings.Join(s.commands(), "\n"); strings.Contains(all, "MAIL") {
		t.Errorf("the server got %s", all)
	}
}

// TestSendmail checks what the program gets, and that its messages are in the error.
func TestSendmail(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "sendmail")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + dir + "/args\ncat >" + dir + "/in\ntest -z \"$SECRET\" || exit 3\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SECRET", "x")
	if err := (&Sendmail{program}).Send(t.Context(), sample()); err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if got, want := string(args), "-i\n-f\nnames@example.org\n--\nlibrary@example.net\n"; err != nil || got != want {
		t.Errorf("got arguments %q, %v, want %q", got, err, want)
	}
	in, err := os.ReadFile(filepath.Join(dir, "in"))
	if err != nil || bytes.Contains(in, []byte("\r")) {
		t.Errorf("got %q, %v, want no CR", in, err)
	}
	if _, text, _ := read(t, in); text != sample().Text {
		t.Errorf("got text %q, want %q", text, sample().Text)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no such user >&2\nexit 67\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (&Sendmail{program}).Send(t.Context(), sample()); err == nil || !strings.Contains(err.Error(), "no such user") {
		t.Errorf("got %v, want an error with the message of the program", err)
	}
}

// TestWebhook checks the request, its signature, and the errors.
func TestWebhook(t *testing.T) {
	status := http.StatusNoContent
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	defer srv.Close()
	anywhere := func(netip.Addr) error { return nil }
	h := &Webhook{URL: srv.URL + "/hook?token=secret", Secret: "key", Allow: anywhere}
	if err := h.Post(t.Context(), "month-2026-11", []byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	sum := hmac.New(sha256.New, []byte("key"))
	sum.Write(body)
	signature := "sha256=" + hex.EncodeToString(sum.Sum(nil))
	if s := got.Header.Get(SignatureField); s != signature || string(body) != `{"a":1}` || got.Header.Get("Idempotency-Key") != `"month-2026-11"` {
		t.Errorf("got signature %s, body %s and fields %v", s, body, got.Header)
	}
	for code, temporary := range map[int]bool{301: false, 404: false, 408: true, 429: true, 500: true, 503: true} {
		status = code
		err := h.Post(t.Context(), "x", []byte("{}"))
		if err == nil || IsTemporary(err) != temporary || got.URL.Path != "/hook" {
			t.Errorf("status %d: got %v, temporary %t, path %s, want temporary %t", code, err, IsTemporary(err), got.URL.Path, temporary)
		}
	}
	h.Allow = nil
	var address *guard.AddressError
	if err := h.Post(t.Context(), "x", nil); !errors.As(err, &address) {
		t.Errorf("got %v, want a private address to be rejected", err)
	}
	srv.Close()
	h.Allow = anywhere
	if err := h.Post(t.Context(), "x", nil); err == nil || strings.Contains(err.Error(), "token") {
		t.Errorf("got %v, want an error without the URL", err)
	}
}
