package fetch

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/uri"
)

func FuzzReadMenu(f *testing.F) {
	f.Add([]byte(menu))
	f.Add([]byte("0a\tb\tc\t70\t+\n\n.\nx"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		for item, err := range ReadMenu(bytes.NewReader(text)) {
			if n++; n > len(text)+1 {
				t.Fatal("more items than bytes")
			}
			if err != nil {
				continue
			}
			if u, err := item.Locator(); err == nil {
				if _, err := uri.Parse(u.String()); err != nil {
					t.Errorf("%+v: the locator %q is not a URI: %v", item, u, err)
				}
			}
		}
	})
}

// Decoded text has no line with a single dot, and is not longer than the input.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n..b\r\n.\r\n"), true)
	f.Add([]byte(".\n"), false)
	f.Fuzz(func(t *testing.T, text []byte, dots bool) {
		got, err := io.ReadAll(newLines(bytes.NewReader(text), dots))
		if err != nil || len(got) > len(text) {
			t.Fatalf("%q: %d bytes, %v", text, len(got), err)
		}
		slow := slowLines(string(text), dots)
		if string(got) != slow {
			t.Errorf("%q: got %q, want %q", text, got, slow)
		}
	})
}

// slowLines is a simple implementation of lines.
func slowLines(text string, dots bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if dots && strings.TrimRight(line, "\r\n") == "." {
			break
		}
		if dots {
			line = strings.TrimPrefix(line, ".")
		}
		if strings.HasSuffix(line, "\r\n") {
			line = line[:len(line)-2] + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// A piped connection is one on which a server sends the same bytes whatever it receives.
func piped(t *testing.T, says []byte) net.Conn {
	here, there := net.Pipe()
	t.Cleanup(func() { here.Close() })
	_ = here.SetDeadline(time.Now().Add(time.Minute))
	go func() { _, _ = io.Copy(io.Discard, there) }()
	go func() {
		_, _ = there.Write(says)
		there.Close()
	}()
	return here
}

// answered reads all of a response and checks that it ends.
func answered(t *testing.T, step func(j *retrieval, conn net.Conn) (*Object, error), says []byte) {
	j := &retrieval{fetcher: &Fetcher{}}
	o, err := step(j, piped(t, says))
	if err != nil {
		return
	}
	defer o.Body.Close()
	if got, _ := io.ReadAll(o.Body); len(got) > len(says) {
		t.Errorf("%d bytes of %d", len(got), len(says))
	}
}

func FuzzGopherAnswer(f *testing.F) {
	f.Add([]byte(menu), "1", "")
	f.Add([]byte("+5\r\nhello"), "9", "a\t\t+")
	f.Add([]byte("3no\t\terror.host\t1\r\n.\r\n"), "0", "a")
	f.Add([]byte("--1\r\n1 no\r\n"), "0", "a\t\t+")
	f.Fuzz(func(t *testing.T, says []byte, kind, send string) {
		if kind == "" {
			return
		}
		r := plan.Request{Type: kind[:1], Send: send, Text: kind[0] == '0'}
		answered(t, func(_ *retrieval, conn net.Conn) (*Object, error) { return gopherObject(r, conn) }, says)
	})
}

func FuzzNewsAnswer(f *testing.F) {
	f.Add([]byte("200 hi\r\n200 reader\r\n220 0 <a@b>\r\nSubject: x\r\n\r\n..\r\n.\r\n"), "article")
	f.Add([]byte("200 hi\r\n200 reader\r\n211 3 5 7 g\r\n224 x\r\n5\ta\r\n.\r\n"), "group")
	f.Add([]byte("200 hi\r\n500\r\n211 9 -5 7 g\r\n"), "group")
	f.Fuzz(func(t *testing.T, says []byte, kind string) {
		answered(t, func(j *retrieval, conn net.Conn) (*Object, error) {
			return newNewsSession(j, plan.Request{Type: kind, Object: "a@b"}, conn).perform()
		}, says)
	})
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-1/2")
	f.Fuzz(func(t *testing.T, field string) {
		if from, size, err := contentRange(field); err == nil && (from < 0 || size != -1 && size <= from) {
			t.Errorf("contentRange(%q) = %d, %d", field, from, size)
		}
	})
}
