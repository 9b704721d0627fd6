package extract

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nomen-project/nomen/uri"
)

// collectMIME returns the findings of a message, and checks their spans.
func collectMIME(t *testing.T, doc string, o Options) (found []Finding, errs []string) {
	t.Helper()
	for f, err := range MIME(strings.NewReader(doc), o) {
		if err != nil {
			errs = append(errs, err.Error())
		}
		if err == nil || f.Text != "" {
			checkSpan(t, doc, f)
			found = append(found, f)
		}
	}
	return found, errs
}

// crlf ends lines as in messages.
func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func TestMIME(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{
			"plain", "Subject: about http://s.example/\nX-Url:\n http://x.example/\n\nsee http://b.example/a.\n",
			"header Subject: http://s.example/\nheader X-Url: http://x.example/\n: http://b.example/a\n",
		},
		{"no body", "Subject: http://s.example/", "header Subject: http://s.example/\n"},
		{
			"quoted-printable", "Content-Transfer-Encoding: Quoted-Printable\n\nhttp://b.example/x?a=3D1&=\nb=3d2=20  \nend\n",
			": http://b.example/x?a=1&b=2\n",
		},
		{
			"base64", "Content-Transfer-Encoding: base64\n\nc2VlIGh0dHA6Ly9iLmV4YW1wbGUvYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4\neXovPw\n==\n",
			": http://b.example/abcdefghijklmnopqrstuvwxyz/\n",
		},
		{
			"encoded words", "Subject: =?utf-8?q?see_http:/?= =?UTF-8?B?L3cuZXhhbXBsZS8=?=\n =?us-ascii*en?Q?x=3Dy?= and =?bad\n\n",
			"header Subject: http://w.example/x=y\n",
		},
		{
			"charsets", "Content-Type: text/plain; charset=utf-16le\nContent-Transfer-Encoding: base64\n\naAB0AHQAcAA6AC8ALwB1AC4AZQB4AGEAbQBwAGwAZQAvAA==\n",
			": http://u.example/\n",
		},
		{
			"comments", "Content-Type: text/html (see http://c.example/); charset=utf-8\nContent-Transfer-Encoding: base64 (of \\) course)\n\nPGEgaHJlZj14Pg==\n",
			"header Content-Type: http://c.example/\na href: x -> \n",
		},
		{"8-bit", "Content-Transfer-Encoding: 8-bit\n\nhttp://b.example/\n", ": http://b.example/\n"},
		{ // RFC 5545, 3.1
			"calendar", "Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nURL:http://c.exam\n ple/a\n\t/b\nX:http://d.example/\nY:z\nDESCRIPTION:at\\nhttp://e.example/f\n -g\\n\nEND:VCALENDAR\n",
			": http://c.example/a/b\n: http://d.example/\n: http://e.example/f-g\n",
		},
		{ // RFC 2017, 3.1: the lines of a URL are joined
			"external body", "Content-Type: Message/External-Body; access-type=URL;\n URL=\"ftp://e.example/1/\n  2/ 3.html\"\n\n",
			"header Content-Type: ftp://e.example/1/2/3.html\n",
		},
		{"boundary without quotes", "Content-Type: multipart/mixed; boundary=----=_Part_1.2 \n\n------=_Part_1.2\n\nhttp://b.example/\n------=_Part_1.2--\n", "part 1: http://b.example/\n"},
		{"boundary with space", "Content-Type: Multipart/Mixed ; Boundary = a b; x\n\n--a b\n\nhttp://b.example/\n--a b--\n", "part 1: http://b.example/\n"},
		{"boundary with parenthesis", "Content-Type: multipart/mixed; boundary=\"b(c\" (d)\n\n--b(c\n\nhttp://b.example/\n--b(c--\n", "part 1: http://b.example/\n"},
		{"boundary twice", "Content-Type: multipart/mixed; boundary=\"b\\\"c\"; boundary=d\n\n--b\"c\n\nhttp://b.example/\n--b\"c--\n", "part 1: http://b.example/\n"},
		{"parameters without names", "Content-Type: text/html;; =x; charset=utf-8; charset=utf-16\n\n<a href=x>", "a href: x -> \n"},
		{"iso-2022-jp", "Content-Type: text/plain; charset=ISO-2022-JP\n\n\x1b$B$\"\x1b(Bhttp://j.example/\x1b$B$$\x1b(B\n", ": http://j.example/\n"},
		{
			"flowed", "Content-Type: text/plain; format=flowed; delsp=yes\n\n> http://f.exam \n> ple/a/ \n> b\n>> c\nhttp://g.example/x\ny\n",
			": http://f.example/a/b\n: http://g.example/x\n",
		},
		{"multipart", `Content-Type: multipart/mixed; boundary="b 1"

http://preamble.example/
--b 1

http://one.example/
--b 1  
Content-Type: multipart/alternative; boundary=c
X: http://h.example/

--c
Content-Type: text/html

<a href="http://two.example/?a&amp;b">
--c
Content-Type: image/png

http://image.example/
--c--
http://epilogue.example/
--b 1
Content-Type: message/rfc822

Subject: http://inner.example/

http://three.example/
--b 1--
http://end.example/
`, "part 1: http://one.example/\npart 2 header X: http://h.example/\npart 2.1 a href: http://two.example/?a&b\n" +
			"part 3 header Subject: http://inner.example/\npart 3: http://three.example/\n"},
		{
			"digest", "Content-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: http://d.example/\n\nhttp://e.example/\n--d--\n",
			"part 1 header Subject: http://d.example/\npart 1: http://e.example/\n",
		},
		{
			"link", "Link: <x>; rel=next; title=\"<no>\", </y>; anchor=\"z\"\nContent-Location: http://l.example/a/b\n\n",
			"header Link: x -> http://l.example/a/x\nheader Link: /y -> http://l.example/y\nheader Content-Location: http://l.example/a/b\n",
		},
		{
			"folded base", "content-base:\n http://www.ics.uci.edu/\n Test/a/b/c\nContent-Type: text/html\n\n<a href='../x'>",
			"header Content-Base: http://www.ics.uci.edu/Test/a/b/c\na href: ../x -> http://www.ics.uci.edu/Test/a/x\n",
		},
		{"signature", "DKIM-Signature: v=1; d=http://d.example/\n\n", ""},
		{"list", "List-Unsubscribe: <http://l.example/u>,\n <mailto:u@l.example>\n\n", "header List-Unsubscribe: http://l.example/u\nheader List-Unsubscribe: mailto:u@l.example\n"},
		{"html in unsupported utf-7", "Content-Type: text/html; charset=none\n\n<a href=http://n.example/>", "a href: http://n.example/\n"},
		{"html with its own charset", "Content-Type: text/html\n\n<meta charset=iso-8859-1><a href=http://n.example/\xE9>", "a href: http://n.example/\u00E9 -> http://n.example/%C3%A9\n"},
		{
			"mbox", "From a@b Sat Jan  3 01:05:34 1996\nSubject: one\n\nhttp://one.example/\n>From here http://from.example/\n\nFrom a@b Sat Jan  3 01:06:34 1996\nSubject: two\n\nFrom nowhere http://two.example/\n",
			"message 1: http://one.example/\nmessage 1: http://from.example/\nmessage 2: http://two.example/\n",
		},
	} {
		for _, ends := range []struct {
			name string
			of   func(string) string
		}{{"LF", strings.Clone}, {"CRLF", crlf}} {
			t.Run(tt.name+"/"+ends.name, func(t *testing.T) {
				doc := ends.of(tt.doc)
				found, errs := collectMIME(t, doc, Options{})
				if got := show(found); got != tt.want {
					t.Errorf("%s\ngot:\n%swant:\n%s", doc, got, tt.want)
				}
				for _, err := range errs {
					t.Error(err)
				}
				var split []Finding
				for f, err := range MIME(iotest.OneByteReader(strings.NewReader(doc)), Options{}) {
					if err != nil {
						t.Error(err)
					}
					split = append(split, f)
				}
				if show(split) != show(found) {
					t.Errorf("offset by octet:\n%swant:\n%s", show(split), show(found))
				}
			})
		}
	}
}

// The range in the file of an identifier in an encoded part.
func TestMIMESpans(t *testing.T) {
	for _, tt := range []struct{ name, doc, text string }{
		{"quoted-printable", "Content-Transfer-Encoding: quoted-printable\n\nat http://b.example/x=3D=\n1 end\n", "http://b.example/x=3D=\n1"},
		{"base64", "Content-Transfer-Encoding: base64\n\nYXQgaHR0cDovL2IuZXhhbXBsZS94IGVuZA==\n", "aHR0cDovL2IuZXhhbXBsZS94"},
		{"base64 on two lines", "Content-Transfer-Encoding: base64\n\nYXQgaHR0cDovL2IuZXhh\nbXBsZS94IGVuZA==\n", "aHR0cDovL2IuZXhh\nbXBsZS94"},
		{"encoded word", "Subject: =?us-ascii?q?at_http:=2F=2Fb.example=2Fx_end?=\n\n", "http:=2F=2Fb.example=2Fx"},
		{"utf-16", "Content-Type: text/plain; charset=utf-16be\n\n\x00x\x00 \x00f\x00t\x00p\x00:\x00/\x00/\x00a\x00.\x00b\x00 ", "\x00f\x00t\x00p\x00:\x00/\x00/\x00a\x00.\x00b"},
		{"shift_jis", "Content-Type: text/plain; charset=shift_jis\n\n\x83\\http://b.example/x\x83\\\n", "http://b.example/x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, errs := collectMIME(t, tt.doc, Options{})
			if len(found) != 1 || len(errs) > 0 {
				t.Fatalf("got %d findings, errors %q, want one", len(found), errs)
			}
			if got := found[0].Text; got != tt.text {
				t.Errorf("got %q, want %q", got, tt.text)
			}
		})
	}
}

// TestMIMEBases checks the bases of messages and their parts.
func TestMIMEBases(t *testing.T) {
	part := func(header, link string) string {
		return "--b\nContent-Type: text/html\n" + header + "\n<a href=\"" + link + "\">\n"
	}
	doc := "Content-Type: multipart/related; boundary=b\nContent-Location: http://o.example/d/e\nLink: <of-the-header>\n\n" +
		part("", "of-the-outer") +
		part("Content-Location: in/ner\n", "of-the-location") +
		part("Content-Location: x\nContent-Base: http://cb.example/\n", "of-content-base") +
		part("Content-Base: http://cb.example/\n", "\"><base href=http://html.example/><a href=\"of-html") + "--b--\n"
	found, errs := collectMIME(t, doc, Options{Base: uri.MustParse("http://r.example/"), Default: uri.MustParse("http://d.example/")})
	if len(errs) > 0 {
		t.Errorf("errors: %q", errs)
	}
	got := map[string][3]string{}
	for _, f := range found {
		got[f.Spelling] = [3]string{f.Target.String(), f.Base, f.BaseRule}
	}
	for _, tt := range []struct {
		ids, ref string
		want     [3]string // target, base, rule
	}{
		{"U97-53: references in headers", "of-the-header", [3]string{"http://o.example/d/of-the-header", "http://o.example/d/e", BaseContentLocation}},
		{"U97-53, U97-54, U03-42: the default of enclosed documents", "of-the-outer", [3]string{"http://o.example/d/of-the-outer", "http://o.example/d/e", BaseEncapsulating}},
		{"U97-54: a header of a part", "in/ner", [3]string{"http://o.example/d/in/ner", "http://o.example/d/e", BaseEncapsulating}},
		{"U97-54: the header of the part wins", "of-the-location", [3]string{"http://o.example/d/in/of-the-location", "http://o.example/d/in/ner", BaseContentLocation}},
		{"U97-52: Content-Base wins", "of-content-base", [3]string{"http://cb.example/of-content-base", "http://cb.example/", BaseContentBase}},
		{"U97-54, U03-42: the embedded base wins", "of-html", [3]string{"http://html.example/of-html", "http://html.example/", BaseEmbedded}},
	} {
		if got[tt.ref] != tt.want {
			t.Errorf("%s: %s: got %q, want %q", tt.ids, tt.ref, got[tt.ref], tt.want)
		}
	}
}

// Errors are reported, and valid content is kept.
func TestMIMEErrors(t *testing.T) {
	for _, tt := range []struct {
		name, doc string
		want      string // findings
		err       string
	}{
		{"no last boundary", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhttp://a.example/", "part 1: http://a.example/\n", "offset 0: multipart without a closing boundary"},
		{"no boundary", "Subject: http://s.example/\nContent-Type: multipart/mixed\n\n--b\n\nhttp://a.example/", "header Subject: http://s.example/\n", "offset 0: multipart without a boundary parameter: it is skipped"},
		{"no field", "Subject: http://s.example/\nhttp and more\nhttp://a.example/\n", "header Subject: http://s.example/\n: http://a.example/\n", "offset 27: not a header field: the body is assumed to begin here"},
		{"encoding", "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Transfer-Encoding: x-uue\n\nx\n--b\n\nhttp://a.example/\n--b--", "part 2: http://a.example/\n", "offset 47: unknown transfer encoding \"x-uue\": the part is skipped"},
		{"charset", "Content-Type: text/plain; charset=x-none\n\nhttp://a.example/\n", ": http://a.example/\n", "offset 0: unknown charset \"x-none\": the part is read without conversion"},
		{"inner multipart without an end", "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\nhttp://a.example/\n--b\n\nhttp://z.example/\n--b--", "part 1.1: http://a.example/\npart 2: http://z.example/\n", "offset 47: multipart without a closing boundary"},
		{"long header", "Subject: http://s.example/\n" + strings.Repeat("X: "+strings.Repeat("x", 9996)+"\n", 150) + "\nhttp://a.example/\n", "header Subject: http://s.example/\n: http://a.example/\n", "offset 1040027: header too long: the rest of it is skipped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, errs := collectMIME(t, tt.doc, Options{})
			if got := show(found); got != tt.want {
				t.Errorf("got:\n%swant:\n%s", got, tt.want)
			}
			if len(errs) != 1 || errs[0] != tt.err {
				t.Errorf("got errors %q, want %q", errs, tt.err)
			}
		})
	}
}
