package fetch

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nomen-project/nomen/fetch/fetchtest"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/uri"
)

const menu = "iWelcome\tfake\t(NULL)\t0\r\n" +
	"0About\t0/About\tgopher.example\t70\r\n" +
	"hHome\tURL:http://www.example/\tgopher.example\t70\r\n" +
	"8Library\tguest\tlib.example\t23\r\n" +
	"no item\r\n.\r\n"

func gopherSpace(line string) string {
	switch line {
	case "":
		return menu
	case "0/About":
		return "about\r\n..dot\r\n.\r\nafter the end\r\n"
	case "find\tcats dogs":
		return "0Found\t0/cat\th.example\t70\r\n.\r\n"
	case "bin":
		return "\x00\r\n.\r\n\xff"
	case "plus\t\t+":
		return "+5\r\nhellomore"
	case "plusdot\t\t+":
		return "+-1\r\nhello\r\n.\r\n"
	case "plusopen\t\t+":
		return "+-2\r\nhello"
	case "plusshort\t\t+":
		return "+9\r\nhello"
	case "plusnone\t\t+":
		return "--1\r\n1 No such item\r\n.\r\n"
	case "plusbad\t\t+":
		return "hello"
	}
	return "3'" + line + "' does not exist\t\terror.host\t1\r\n.\r\n"
}

func TestGopher(t *testing.T) {
	s := started(t)(fetchtest.Line(gopherSpace))
	f := newFetcher(t, Options{})
	base := "gopher://" + s.Addr
	for _, tt := range []struct{ path, text, mediatype string }{
		{"", strings.ReplaceAll(strings.TrimSuffix(menu, ".\r\n"), "\r\n", "\n"), TypeMenu}, // U93-57
		{"/00/About", "about\n.dot\n", "text/plain"},                                        // U93-56
		{"/7find%09cats%20dogs", "0Found\t0/cat\th.example\t70\n", TypeMenu},
		{"/9bin", "\x00\r\n.\r\n\xff", "application/octet-stream"},
		{"/9plus%09%09+", "hello", "application/octet-stream"},
		{"/0plusdot%09%09+", "hello\n", "text/plain"},
		{"/9plusopen%09%09+", "hello", "application/octet-stream"},
	} {
		if o := want(t, f, base+tt.path, own, tt.text); o.Type != tt.mediatype {
			t.Errorf("%s: type %q, want %q", tt.path, o.Type, tt.mediatype)
		}
	}
	for _, path := range []string{"/0none", "/1none", "/7none", "/9plusnone%09%09+"} {
		if _, _, err := read(t, f, base+path, own); !errors.Is(err, plan.ErrNotAvailable) || strings.Contains(err.Error(), "\t") {
			t.Errorf("%s: %v, want not available", path, err)
		}
	}
	if _, got, err := read(t, f, base+"/9plusshort%09%09+", own); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("truncated: %q, %v", got, err)
	}
	var bad *FormatError
	if _, _, err := read(t, f, base+"/9plusbad%09%09+", own); !errors.As(err, &bad) {
		t.Errorf("no Gopher+: %v", err)
	}
	before := len(s.Said())
	for _, path := range []string{"/0a%0D%0Ab", "/0a%0Ab", "/7a%09b%0D%0Ac", "/2x", "/3x", "/ix"} {
		if _, _, err := read(t, f, base+path, own); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
	if said := s.Said()[before:]; len(said) > 0 {
		t.Errorf("said %q", said)
	}
}

// U93-58: items that refer to other protocols lead to their locators.
func TestGopherLeadsOn(t *testing.T) {
	page := serve(t, site)
	f := newFetcher(t, Options{AllowPrivate: true})
	want(t, f, "gopher://h.example/hURL:http://"+page+"/plain", own, "plain text")
	var session *SessionError
	_, _, err := read(t, f, "gopher://lib.example:23/8guest", own)
	if !errors.As(err, &session) || session.Session.Host != "lib.example" || session.Session.User != "guest" || session.Trusted {
		t.Errorf("type 8: %v, %+v", err, session)
	}
	var refused *RefusedError
	if _, _, err := read(t, f, "gopher://h.example/hURL:file:///etc/passwd", own); !errors.As(err, &refused) {
		t.Errorf("a file through a selector: %v", err)
	}
}

func TestReadMenu(t *testing.T) {
	var types []byte
	bad := 0
	for item, err := range ReadMenu(strings.NewReader(menu + "0after\ta\tb\t70\r\n")) {
		if err != nil {
			bad++
			if !errors.Is(err, plan.ErrGopherItem) {
				t.Errorf("got %v", err)
			}
			continue
		}
		types = append(types, item.Type)
	}
	if string(types) != "i0h8" || bad != 1 {
		t.Errorf("types %q and %d bad, want i0h8 and 1", types, bad)
	}
	for _, err := range ReadMenu(strings.NewReader(strings.Repeat("x", 2*maxTextLine))) {
		if err == nil || errors.Is(err, plan.ErrGopherItem) {
			t.Errorf("an endless line: %v", err)
		}
	}
	for _, err := range ReadMenu(iotest.ErrReader(io.ErrUnexpectedEOF)) {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a broken connection: %v", err)
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 40<<10)
	for _, tt := range []struct{ in, dotted, plain string }{
		{"", "", ""},
		{"a\r\nb\n", "a\nb\n", "a\nb\n"},
		{"a\r\n.\r\nb\r\n", "a\n", "a\n.\nb\n"},
		{"..a\r\n.b", ".a\nb", "..a\n.b"},
		{"a\r", "a\r", "a\r"},
		{"a.\r\n.\n", "a.\n", "a.\n.\n"},
		{long + "\r\n.\r\n", long + "\n", long + "\n.\n"},
		{strings.Repeat("x", 32<<10-1) + "\r\ny", strings.Repeat("x", 32<<10-1) + "\ny", strings.Repeat("x", 32<<10-1) + "\ny"},
		{strings.Repeat("x", 32<<10) + ".\r\n", strings.Repeat("x", 32<<10) + ".\n", strings.Repeat("x", 32<<10) + ".\n"},
	} {
		for _, in := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in)), iotest.DataErrReader(strings.NewReader(tt.in))} {
			if got, err := io.ReadAll(newLines(in, true)); err != nil || string(got) != tt.dotted {
				t.Errorf("with dots, %.20q: got %.20q, %v, want %.20q", tt.in, got, err, tt.dotted)
			}
		}
		if got, err := io.ReadAll(newLines(strings.NewReader(tt.in), false)); err != nil || string(got) != tt.plain {
			t.Errorf("%.20q: got %.20q, %v, want %.20q", tt.in, got, err, tt.plain)
		}
	}
	strict := newLines(strings.NewReader("a\r\nb"), true)
	strict.strict = true
	if got, err := io.ReadAll(strict); err != io.ErrUnexpectedEOF || string(got) != "a\nb" {
		t.Errorf("without its end: %q, %v", got, err)
	}
}

// U93-61: what follows the slash is sent unchanged.
func TestWhois(t *testing.T) {
	s := started(t)(fetchtest.Line(func(line string) string { return "about " + line + "\r\n" }))
	f := newFetcher(t, Options{})
	if o := want(t, f, "whois://"+s.Addr+"/joe%20smith", own, "about joe smith\n"); o.Type != "text/plain" {
		t.Errorf("type %q", o.Type)
	}
	want(t, f, "whois://"+s.Addr+"/joe", Request{Trusted: true, Offset: 6, Length: 3}, "joe")
	before := len(s.Said())
	if _, _, err := read(t, f, "whois://"+s.Addr+"/a%0D%0Ab", own); err == nil || len(s.Said()) != before {
		t.Errorf("two lines: %v", err)
	}
}

const article = "Subject: x\r\n\r\nfirst\r\n..\r\nlast\r\n"

func newsroom() map[string]string {
	return map[string]string{
		"ARTICLE <abc@h.example>":  "220 0 <abc@h.example>\n" + strings.ReplaceAll(article, "\r\n", "\n") + ".",
		"ARTICLE <gone@h.example>": "430 no such article",
		"ARTICLE <cut@h.example>":  "220 0 <cut@h.example>\nSubject",
		"GROUP comp.text":          "211 3 5 7 comp.text",
		"GROUP comp.empty":         "211 0 8 7 comp.empty",
		"GROUP comp.none":          "411 no such group",
		"GROUP comp.odd":           "211 many",
		"ARTICLE 6":                "220 6 <six@h.example>\nsix\n.",
		"ARTICLE 9":                "423 no such number",
		"XOVER 5-7":                "224 here\n5\ta\tb\n7\tc\td\n.",
		"LIST ACTIVE":              "215 groups\ncomp.text 7 5 y\n.",
		"LIST ACTIVE comp.*":       "215 groups\ncomp.text 7 5 y\n.",
	}
}

func TestNews(t *testing.T) {
	s := started(t)(fetchtest.News(newsroom()))
	f := newFetcher(t, Options{Client: plan.Client{NewsServer: s.Addr}})
	for _, tt := range []struct{ location, text, mediatype string }{
		{"news:abc@h.example", "Subject: x\r\n\r\nfirst\r\n.\r\nlast\r\n", "message/rfc822"}, // U93-49: the configured server
		{"news://" + s.Addr + "/abc@h.example", "Subject: x\r\n\r\nfirst\r\n.\r\nlast\r\n", "message/rfc822"},
		{"news:comp.text", "5\ta\tb\n7\tc\td\n", "text/tab-separated-values"},
		{"news:comp.empty", "", "text/tab-separated-values"},
		{"news:*", "comp.text 7 5 y\n", "text/plain"},
		{"news:comp.*", "comp.text 7 5 y\n", "text/plain"},
		{"nntp://" + s.Addr + "/comp.text/6", "six\r\n", "message/rfc822"},
	} {
		if o := want(t, f, tt.location, own, tt.text); o.Type != tt.mediatype {
			t.Errorf("%s: type %q, want %q", tt.location, o.Type, tt.mediatype)
		}
	}
	for _, location := range []string{"news:gone@h.example", "news:comp.none", "nntp://" + s.Addr + "/comp.text/9"} { // U93-51
		if _, _, err := read(t, f, location, own); !errors.Is(err, plan.ErrNotAvailable) {
			t.Errorf("%s: %v, want not available", location, err)
		}
	}
	var bad *FormatError
	if _, _, err := read(t, f, "news:comp.odd", own); !errors.As(err, &bad) {
		t.Errorf("a group without numbers: %v", err)
	}
	if !slices.Contains(s.Said(), "MODE READER") {
		t.Error("MODE READER was not sent")
	}
}

func TestNewsRefuses(t *testing.T) {
	for _, greeting := range []string{"502 go away", "hello", "", "20"} {
		s := started(t)(fetchtest.News(map[string]string{"": greeting}))
		f := newFetcher(t, Options{Client: plan.Client{NewsServer: s.Addr}})
		var status *StatusError
		var bad *FormatError
		if _, _, err := read(t, f, "news:a@b.example", own); !errors.As(err, &status) && !errors.As(err, &bad) {
			t.Errorf("%q: %v", greeting, err)
		}
		if said := s.Said(); len(said) > 0 {
			t.Errorf("%q: said %q", greeting, said)
		}
	}
	closing := started(t)(fetchtest.Line(func(string) string { return "" }))
	f := newFetcher(t, Options{})
	for _, location := range []string{"news://" + closing.Addr + "/a@b.example%0D%0AQUIT", "news://" + closing.Addr + "/a%0D%0Ab"} {
		u, err := uri.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Open(t.Context(), u, own); err == nil || len(closing.Said()) > 0 {
			t.Errorf("%s: %v, said %q", location, err, closing.Said())
		}
	}
}

// The last line of a menu may lack its line ending, or half of it.
func TestReadMenuEndsAnyhow(t *testing.T) {
	for _, end := range []string{"", "\r", "\n", "\r\n", "\r\n.", "\r\n.\r\n"} {
		for item, err := range ReadMenu(strings.NewReader("0About\t0/About\tgopher.example\t70" + end)) {
			if at, err2 := item.Locator(); err != nil || err2 != nil || at.String() != "gopher://gopher.example/00/About" {
				t.Errorf("with %q at the end: %+v, %v, %v", end, item, err, err2)
			}
		}
	}
}
