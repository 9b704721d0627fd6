package fetch

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/fetch/fetchtest"
	"github.com/nomen-project/nomen/fetch/plan"
)

var shelf = map[string]string{
	"/pub/readme.txt": "one\ntwo\n",
	"/pub/a b.bin":    "\x00\x01\r\n\xff",
	"/etc/motd":       "hello",
	"/pub/sub/x":      "x",
}

func TestFTP(t *testing.T) {
	s := started(t)(fetchtest.FTP(fetchtest.Files{Texts: shelf}))
	f := newFetcher(t, Options{Client: plan.Client{Mail: "joe@example.org"}})
	for _, tt := range []struct{ path, text, mediatype string }{
		{"pub/readme.txt", "one\ntwo\n", "text/plain"}, // U93-46: transferred as text
		{"pub/readme.txt;type=i", "one\ntwo\n", "text/plain"},
		{"pub/a%20b.bin", "\x00\x01\r\n\xff", "application/octet-stream"},
		{"%2Fetc/motd", "hello", "application/octet-stream"},
		{"pub/;type=d", "a b.bin\nreadme.txt\nsub\n", "text/plain"},
		{"pub/", "a b.bin\nreadme.txt\nsub\n", "text/plain"},
		{"", "etc\npub\n", "text/plain"},
	} {
		o := want(t, f, "ftp://"+s.Addr+"/"+tt.path, own, tt.text) // U93-43: with the port of the locator
		if o.Type != tt.mediatype {
			t.Errorf("%s: type %q, want %q", tt.path, o.Type, tt.mediatype)
		}
	}
	said := s.Said()
	for _, line := range []string{"USER anonymous", "PASS joe@example.org", "TYPE A", "CWD pub", "RETR readme.txt", "RETR a b.bin", "CWD /etc", "NLST"} { // U93-42
		if !slices.Contains(said, line) {
			t.Errorf("%q was not sent: %q", line, said)
		}
	}
	o := want(t, f, "ftp://joe:pw@"+s.Addr+"/etc/motd", own, "hello")
	if o.URL != "ftp://joe:***@"+s.Addr+"/etc/motd" && strings.Contains(o.URL, "pw") {
		t.Errorf("the password is shown: %q", o.URL)
	}
	if o.Size != 5 || !o.Modified.Equal(time.Date(1993, 7, 14, 12, 0, 0, 0, time.UTC)) || o.Validator == "" {
		t.Errorf("size %d, modified %v, validator %q", o.Size, o.Modified, o.Validator)
	}
}

func TestFTPParts(t *testing.T) {
	s := started(t)(fetchtest.FTP(fetchtest.Files{Texts: shelf}))
	f := newFetcher(t, Options{})
	at := "ftp://" + s.Addr + "/etc/motd"
	validator := want(t, f, at, own, "hello").Validator
	if o := want(t, f, at, Request{Trusted: true, Offset: 2, Validator: validator}, "llo"); o.Offset != 2 {
		t.Errorf("offset %d, want 2", o.Offset)
	}
	if o := want(t, f, at, Request{Trusted: true, Offset: 2, Validator: "ftp:5:0"}, "hello"); o.Offset != 0 {
		t.Errorf("of another file: offset %d, want 0", o.Offset)
	}
	want(t, f, at, Request{Trusted: true, Offset: 1, Length: 3}, "ell")
	want(t, f, "ftp://"+s.Addr+"/pub/readme.txt", Request{Trusted: true, Offset: 4}, "two\n") // lines: counted after conversion

	old := started(t)(fetchtest.FTP(fetchtest.Files{Texts: shelf, NoRestart: true, NoFacts: true}))
	want(t, f, "ftp://"+old.Addr+"/etc/motd", Request{Trusted: true, Offset: 2}, "llo")
}

func TestFTPRefuses(t *testing.T) {
	s := started(t)(fetchtest.FTP(fetchtest.Files{Texts: shelf}))
	f := newFetcher(t, Options{})
	for _, path := range []string{"/etc/none", "/none/x"} {
		var status *StatusError
		if _, _, err := read(t, f, "ftp://"+s.Addr+path, own); !errors.Is(err, plan.ErrNotAvailable) || !errors.As(err, &status) || status.Code != 550 {
			t.Errorf("%s: %v, want 550, not available", path, err)
		}
	}
	var status *StatusError
	if _, _, err := read(t, f, "ftp://joe:no@"+s.Addr+"/etc/motd", own); !errors.As(err, &status) || status.Code != 530 || strings.Contains(err.Error(), ":no@") {
		t.Errorf("a wrong password: %v", err)
	}
	cut := started(t)(fetchtest.FTP(fetchtest.Files{Texts: shelf, CutAt: 2}))
	for _, at := range []string{"/etc/motd", "/pub/readme.txt"} {
		if _, got, err := read(t, f, "ftp://"+cut.Addr+at, own); !errors.Is(err, io.ErrUnexpectedEOF) || len(got) > 2 {
			t.Errorf("%s, cut off: %q, %v", at, got, err)
		}
	}
	if _, _, err := read(t, f, "ftp://127.0.0.1:1/", own); err == nil || strings.Count(err.Error(), "fetch: ") != 1 {
		t.Errorf("nothing listens: %v", err)
	}
	strict := started(t)(fetchtest.FTP(fetchtest.Files{Texts: shelf}))
	if _, _, err := read(t, f, "ftp://"+strict.Addr+"/a%0D%0ADELE%20b", own); err == nil || len(strict.Said()) != 0 {
		t.Errorf("a line break in a name: %v, sent %q", err, strict.Said())
	}
}

// If a server announces another address for the data, the connection still goes to the server
// itself.
func TestFTPBounce(t *testing.T) {
	s := started(t)(fetchtest.FTP(fetchtest.Files{Texts: shelf, Tells: "10.0.0.1"}))
	w := newWorld()
	w.host("files.example", publicOne)
	w.routes[publicOne] = "127.0.0.1"
	f := w.fetcher(t, Options{})
	_, port, _ := strings.Cut(s.Addr, ":")
	want(t, f, "ftp://files.example:"+port+"/etc/motd", Request{}, "hello")
	for _, a := range w.dialed {
		if !strings.HasPrefix(a, publicOne+":") {
			t.Errorf("dialled %s", a)
		}
	}
	if len(w.dialed) != 2 {
		t.Errorf("dialled %q, want two connections", w.dialed)
	}
}
