package extract

import (
	"bytes"
	"testing"
)

func FuzzMIME(f *testing.F) {
	for _, s := range []string{
		"Subject: =?utf-8?q?http:=2F/a.example/?= =?utf-8?b?eA==?=\nReferences: <a@b>\nLink: <x>; a=\"<\"\n\nhttp://b.example/",
		"Content-Type: multipart/mixed; boundary=b\nContent-Base: http://a.example/\n\n--b\nContent-Type: text/html\nContent-Location: y\n\n<a href=x>\n--b--\n",
		"Content-Transfer-Encoding: quoted-printable\n\nhttp://a.exam=\nple/=3D\n",
		"Content-Transfer-Encoding: base64\n\naHR0cDovL2IuZXhh\nbXBsZS94IGVuZA==\n",
		"Content-Type: text/plain; format=flowed; delsp=yes; charset=utf-16\n\n>> a \n>> b\n-- \nhttp://x.example/",
		"From a 10:10:10\nContent-Type: message/rfc822\n\nA: http://a.example/\n\n>From b\n\nFrom c 11:11:11\n\nhttp://b.example/",
		"Content-Type: text/html; charset=iso-2022-jp\n\n\x1b$B$\"\x1b(B<a href=x>http://j.example/\x1b$B$$",
		"Content-Type: multipart/digest; boundary=\"a b\"\n\n--a b\n\nS: x\n\ny\n--a b \n--a b--  \nz",
		"Content-Type: multipart/mixed (a\\)b); boundary=--=b c; x; y=\"\\\n\n----=b c\nContent-Type: message/external-body; URL=\"http://a.example/\n b\"\n\n",
		"Content-Type: text/vcard\n\nURL:http://a.exa\n mple/\n\n \n\t\nb\n ",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, o := range fuzzOptions {
			for f, err := range MIME(bytes.NewReader(doc), o) {
				if err == nil {
					checkFinding(t, doc, f)
				}
			}
		}
	})
}
