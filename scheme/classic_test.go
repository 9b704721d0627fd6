package scheme_test

import (
	"testing"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

func TestHTTP(t *testing.T) {
	for _, tt := range []sample{
		{"http://example.org/a/b?q=1", "host=example.org path=/a/b query=q=1", "", ""},
		{"http://example.org", "host=example.org path=", "http://example.org/", ""},
		{"http://[::1]:80/?#x", "host=[::1] port=80 path=/ query= fragment=x", "http://[::1]/?#x", ""},
		{"HTTPS://Example.ORG:443/%7ex", "host=Example.ORG port=443 path=/%7ex", "https://example.org/~x", ""},
		{"https://bank.example@evil.example/", "user=bank.example host=evil.example path=/", "", "8 RFC 9110, 4.2.4: userinfo"},
		{"http://u:p@h.example/", "user=u password=p host=h.example path=/", "", "7 RFC 9110, 4.2.4: userinfo"},
		{"http://example.org/%E2%80%AEtxt", "host=example.org path=/%E2%80%AEtxt", "", "19 RFC 3987, 4.1"},
		{"http://example.org/%E2%82%AC%EF%BB%BF", "host=example.org path=/%E2%82%AC%EF%BB%BF", "", "28 RFC 3987, 4.1"},
		{"http://u@example.org/%EF%BF%BA", "user=u host=example.org path=/%EF%BF%BA", "", "7 RFC 9110, 4.2.4: userinfo"},
		{"http://example.org/%C2%85", "host=example.org path=/%C2%85", "", "19 RFC 3987, 4.1"},
		{"http:g", "", "", "5 RFC 9110, 4.2.1: http-URI"},
		{"http:///x", "", "", "7 RFC 9110, 4.2.1: http-URI"},
		{"https://:80/x", "", "", "8 RFC 9110, 4.2.1: http-URI"},
	} {
		tt.check(t)
	}
	for _, tt := range []sample{ // U93-12, U93-41
		{"http://h.example", "host=h.example", "", ""},
		{"http://h.example?x", "host=h.example search=x word=x", "", ""},
		{"http://h.example:80/a", "host=h.example port=80 path=a", "http://h.example/a", ""},
		{"http://h.example/b#", "host=h.example path=b fragment=", "http://h.example/b", ""},
		{"http://u@h.example/", "user=u host=h.example path=", "", "7 1993, BNF: httpaddress"},
		{"http://h.example/a%ADb", "host=h.example path=a%ADb", "", "18 RFC 3987, 4.1"},
		{"http://h.example/%E2%80%AE", "host=h.example path=%E2%80%AE", "", "20 RFC 3987, 4.1"}, // a control of ISO Latin-1
		{"http://h.example/%E9", "host=h.example path=%E9", "", ""},
		{"http:g", "", "", "5 1993, BNF: httpaddress"},
	} {
		tt.checkIn(t, uri.Draft1993)
	}
}

// The examples of RFC 1738, 3.2.2, and of the draft.
func TestFTP(t *testing.T) {
	for _, tt := range []sample{
		{"ftp://myname@host.dom/%2Fetc/motd", "user=myname host=host.dom cwd=%2Fetc name=motd", "", ""},
		{"ftp://myname@host.dom/etc/motd", "user=myname host=host.dom cwd=etc name=motd", "", ""},
		{"ftp://myname@host.dom//etc/motd", "user=myname host=host.dom cwd= cwd=etc name=motd", "", ""},
		{"ftp://host.dom", "host=host.dom", "ftp://host.dom/", ""},
		{"ftp://host.dom/", "host=host.dom name=", "", ""},
		{"ftp://host.dom:21/a/b.tar.gz;type=i", "host=host.dom port=21 cwd=a name=b.tar.gz type=i suffix=gz", "ftp://host.dom/a/b.tar.gz;type=i", ""},
		{"ftp://host.dom/a/;type=D", "host=host.dom cwd=a name= type=D", "", ""},
		{"ftp://:@host.dom/.rc", "user= password= host=host.dom name=.rc", "", ""},
		{"ftp:///x", "", "", "6 RFC 1738, 5: ftpurl"},
		{"ftp:x", "", "", "4 RFC 1738, 5: ftpurl"},
		{"ftp://h.example/a?b", "", "", "17 RFC 3986, 3.4: query"},
		{"ftp://h.example/a;b/c", "", "", "17 RFC 1738, 3.2.2: url-path"},
		{"ftp://h.example/a;type=x", "", "", "23 RFC 1738, 3.2.2: typecode"},
		{"ftp://h.example/a;type=", "", "", "23 RFC 1738, 3.2.2: typecode"},
		{"ftp://h.example/a;type=ab", "", "", "23 RFC 1738, 3.2.2: typecode"},
		{"ftp://h.example/a%0d%0aDELE%20x", "", "", "17 RFC 959, 5.3.2: string"},
		{"ftp://a%0ab@h.example/", "", "", "7 RFC 959, 5.3.2: string"},
	} {
		tt.check(t)
	}
	for _, tt := range []sample{
		{"ftp://info.cern.ch./pub/www/doc/http-spec.txt", "host=info.cern.ch. path=pub/www/doc/http-spec.txt suffix=txt", "", ""},
		{"ftp://joe:pw@h.example:2121/f", "user=joe password=pw host=h.example port=2121 path=f", "", ""},
		{"ftp://h.example/a;type=a", "", "", ""}, // "=" is not allowed bare
	} {
		if tt.parts == "" {
			if _, err := uri.Draft1993.Parse(tt.in); err == nil {
				t.Errorf("Parse(%q): no error", tt.in)
			}
			continue
		}
		tt.checkIn(t, uri.Draft1993)
	}
}

func TestFile(t *testing.T) {
	for _, tt := range []sample{ // most are from RFC 8089, Appendices B and E
		{"file:///path/to/file", "host= path=/path/to/file", "", ""},
		{"file:/path/to/file", "path=/path/to/file", "file:///path/to/file", ""},
		{"file://localhost/path/to/file.txt", "host=localhost path=/path/to/file.txt suffix=txt", "file:///path/to/file.txt", ""},
		{"file://host.example.com/path/to/file", "host=host.example.com path=/path/to/file", "", "7 RFC 8089, 5"},
		{"file:///c:/path/to/file", "host= drive=c path=/c:/path/to/file", "file:///C:/path/to/file", ""},
		{"file:/", "path=/", "file:///", ""},
		{"file:c:/path/to/file", "", "", "5 RFC 8089, 2: file-URI"},
		{"file:a", "", "", "5 RFC 8089, 2: file-URI"},
		{"file:", "", "", "5 RFC 8089, 2: file-URI"},
		{"file://host", "", "", "11 RFC 8089, 2: file-URI"},
		{"file:////host.example.com/path/to/file", "", "", "7 RFC 8089, 2: file-URI"},
		{"file://c:/x", "", "", "7 RFC 8089, 2: file-URI"},
		{"file://u@h/x", "", "", "7 RFC 8089, 2: file-URI"},
		{"file://h:80/x", "", "", "8 RFC 8089, 2: file-URI"},
		{"file:///x?y", "", "", "9 RFC 8089, 2: file-URI"},
	} {
		tt.check(t)
	}
	for _, d := range []uri.Dialect{uri.Draft1997, uri.Draft2003} {
		sample{"file:///a", "host= path=/a", "", ""}.checkIn(t, d)
		sample{"file:/a", "path=/a", "file:///a", ""}.checkIn(t, d)
	}
	sample{"file://a:b:c/x", "", "", "7 RFC 8089, 2: file-URI"}.checkIn(t, uri.Draft2003) // a registry name
	sample{"news://a:b:c/x", "", "", "7 RFC 5538, 4: newsURL"}.checkIn(t, uri.Draft2003)
	sample{"http://a:b:c/x", "", "", "7 RFC 9110, 4.2.1: http-URI"}.checkIn(t, uri.Draft2003)
	sample{"wais://a:b:c/x", "", "", "7 RFC 1738, 5: waisurl"}.checkIn(t, uri.Draft2003)
	for _, tt := range []sample{ // the former name of ftp
		{"file://h.example/a/b.ps", "host=h.example path=a/b.ps suffix=ps", "ftp://h.example/a/b.ps", "0 1993, BNF: fileaddress"},
		{"file://h.example", "", "", "16 1993, BNF: fileaddress"},
		{"file://h.example/a?b", "", "", "18 1993, BNF: fileaddress"},
		{"file://h.example/a%0Ab", "", "", "18 RFC 959, 5.3.2: string"},
		{"file:/x", "", "", "5 1993, BNF: fileaddress"},
	} {
		tt.checkIn(t, uri.Draft1993)
	}
}

// Malformed file names produce a suggested correction.
func TestFileSaysWhatWasMeant(t *testing.T) {
	for in, want := range map[string]string{
		"file:c:/x": "file:///c:/x", "file://c:/x": "file:///c:/x", "file:////h/x": "file://h/x", "file:///x?y": "file:///x%3Fy",
		"ftp://h/a?b": "ftp://h/a%3Fb", "ftp://h/a;b": "ftp://h/a%3Bb", "wais://h/db/t/a/b": "wais://h/db/t/a%2Fb",
		"news://h": "news://h/", "mid:%3Ca@b": "mid:a@b", "news:%3Ca@b": "news:a@b", "news:a?": "news:a%3F",
	} {
		f := scheme.Standard().Check(uri.MustParse(in))
		if len(f) == 0 {
			t.Errorf("Check(%q): no finding", in)
			continue
		}
		if got := in[:f[0].Offset] + f[0].Right + in[f[0].End:]; got != want {
			t.Errorf("Check(%q) suggests %q, want %q", in, got, want)
		}
	}
}

func TestAFS(t *testing.T) { // U93-63
	for _, d := range []uri.Dialect{uri.Draft1993, uri.Latest} {
		for _, tt := range []sample{
			{"afs://cell.example/usr/x%20y", "cell=cell.example path=usr/x%20y", "", ""},
			{"afs:/usr/x", "", "", "4 1993, BNF: afsaddress"},
		} {
			tt.checkIn(t, d)
		}
	}
	for _, tt := range []sample{
		{"afs://u@cell.example/x", "", "", "6 1993, BNF: afsaddress"},
		{"afs://cell.example:80/x", "", "", "18 1993, BNF: afsaddress"},
		{"afs://10.0.0.1/x", "", "", "6 1993, BNF: cellname"},
		{"afs://cell.example", "", "", "18 1993, BNF: afsaddress"},
		{"afs://cell.example/x?y", "", "", "20 1993, BNF: afsaddress"},
	} {
		tt.check(t)
	}
}

// The examples of RFC 5538, 3 and 4, and of the draft.
func TestNews(t *testing.T) {
	for _, tt := range []sample{
		{"news://news.server.example/*", "host=news.server.example kind=all", "", ""},
		{"news://news.server.example/", "host=news.server.example kind=all", "news://news.server.example/*", ""},
		{"news://wild.server.example/example.group.th%3Fse", "host=wild.server.example kind=pattern pattern=example.group.th%3Fse", "", ""},
		{"news:example.group.*", "kind=pattern pattern=example.group.*", "", ""},
		{"news:example.group.this", "kind=group group=example.group.this", "", ""},
		{"news:%2a", "kind=all", "news:*", ""}, // escapes are decoded before the server is asked
		{"news:a.%2A", "kind=pattern pattern=a.%2A", "", ""},
		{"news:a.%3fb", "kind=pattern pattern=a.%3fb", "news:a.%3Fb", ""},
		{"news:%7Ea", "kind=group group=%7Ea", "", ""}, // a bare tilde is not derived from the grammar
		{"news:comp.lang.c++", "kind=group group=comp.lang.c++", "", ""},
		{"news:*", "kind=all", "", ""},
		{"news://u:p@h.example:119/a", "user=u password=p host=h.example port=119 kind=group group=a", "news://u:p@h.example/a", ""},
		{"news:a%25b@h.example", "kind=article message_id=a%25b@h.example", "", ""},
		{"snews://h.example:563/a.b", "host=h.example port=563 kind=group group=a.b", "snews://h.example/a.b", ""},
		{"news://h.example", "", "", "16 RFC 5538, 4: newsURL"},
		{"news:///a", "", "", "7 RFC 5538, 4: newsURL"},
		{"news:a@b?c", "", "", "8 RFC 5538, 4: newsURL"},
		{"news:a?c", "", "", "6 RFC 5538, 4: newsgroups"},
		{"news:a..b", "", "", "7 RFC 5538, 4: newsgroups"},
		{"news:a.", "", "", "6 RFC 5538, 4: newsgroups"},
		{"news:a/b", "", "", "6 RFC 5538, 4: newsgroups"},
		{"news:a%20b", "", "", "6 RFC 5538, 4: newsgroups"},
		{"news:@h.example", "", "", "5 RFC 5538, 4: msg-id-core"},
		{"news:a@", "", "", "7 RFC 5538, 4: msg-id-core"},
		{"news:a@b@c", "", "", "8 RFC 5538, 4: msg-id-core"},
		{"news:a@b%3E", "", "", "8 RFC 5538, 4: msg-id-core"},
		{"news:a%0D%0Ab@c", "", "", "6 RFC 5538, 4: msg-id-core"},
		{"news:a,b@c", "", "", "6 RFC 5538, 4: msg-id-core"},
	} {
		tt.check(t)
	}
	for _, tt := range []sample{
		{"news:*", "kind=all", "", ""},
		{"news:comp.infosystems", "kind=group group=comp.infosystems", "", ""},
		{"news:alt.2600", "kind=group group=alt.2600", "", ""},
		{"news:comp.lang.c%2B%2B", "kind=group group=comp.lang.c%2B%2B", "", ""},
		{"news:abc123@h.example", "kind=article message_id=abc123@h.example", "", ""},
		{"news:a%3Db%7E@h.example", "kind=article message_id=a%3Db%7E@h.example", "", ""}, // A93-11
		{"news://h.example/a", "", "", "5 1993, BNF: newsaddress"},
		{"news:a?b", "", "", "6 1993, BNF: newsaddress"},
		{"news:1a", "", "", "5 1993, BNF: group (RFC 850)"},
		{"news:", "", "", "5 1993, BNF: group (RFC 850)"},
		{"news:a..b", "", "", "7 1993, BNF: group (RFC 850)"},
		{"news:a.*", "", "", "7 1993, BNF: group (RFC 850)"},
		{"news:a@", "", "", "7 1993, BNF: article (RFC 850)"},
		{"news:a+b@h.example", "", "", "6 1993, BNF: xalpha"}, // U93-06
		{"news:comp.lang.c++", "", "", "16 1993, BNF: xalpha"},
		{"news:%3Ca@b%3E", "", "", "5 1993, BNF: article (RFC 850)"},
	} {
		t.Run("U93-49 "+tt.in, func(t *testing.T) { tt.checkIn(t, uri.Draft1993) })
	}
}

func TestNNTP(t *testing.T) {
	for _, tt := range []sample{
		{"nntp://news.server.example/example.group.this/12345", "host=news.server.example group=example.group.this number=12345", "", ""},
		{"nntp://wild.server.example/example.group.n%2Fa/12345", "host=wild.server.example group=example.group.n%2Fa number=12345", "", ""},
		{"nntp://news.server.example:119/example.group.this", "host=news.server.example port=119 group=example.group.this", "nntp://news.server.example/example.group.this", "0 RFC 5538, 3: nntpURL"},
		{"nntp:a/1", "", "", "5 RFC 5538, 3: nntpURL"},
		{"nntp://h.example", "", "", "16 RFC 5538, 3: group"},
		{"nntp://h.example/", "", "", "16 RFC 5538, 3: group"},
		{"nntp://h.example/a/", "", "", "19 RFC 5538, 3: article-number"},
		{"nntp://h.example/a/1/2", "", "", "19 RFC 5538, 3: article-number"},
		{"nntp://h.example/a/12345678901234567", "", "", "19 RFC 5538, 3: article-number"},
		{"nntp://h.example/a*/1", "", "", "18 RFC 5538, 3: group"},
		{"nntp://h.example/a/1?x", "", "", "20 RFC 5538, 3: nntpURL"},
	} {
		tt.check(t)
	}
	for _, tt := range []sample{
		{"nntp://h.example/abc@x.example", "host=h.example message_id=abc@x.example", "", "0 1993, Current practice"},
		{"nntp://h.example/abc@", "", "", "21 1993, BNF: article (RFC 850)"},
	} {
		tt.checkIn(t, uri.Draft1993)
	}
}

func TestWAIS(t *testing.T) { // U93-48
	for _, tt := range []sample{
		{"wais://h.example/db", "host=h.example kind=index database=db", "", ""},
		{"wais://h.example:210/db?a+b", "host=h.example port=210 kind=index database=db query=a+b", "wais://h.example/db?a+b", ""},
		{"wais://h.example/db/TEXT/doc%2Fid", "host=h.example kind=document database=db type=TEXT local_id=doc%2Fid", "", ""},
		{"wais:db", "", "", "5 RFC 1738, 5: waisurl"},
		{"wais://h.example", "", "", "16 RFC 1738, 5: waisurl"},
		{"wais://h.example//x", "", "", "16 RFC 1738, 5: waisurl"},
		{"wais://u@h.example/db", "", "", "7 RFC 1738, 5: waisurl"},
		{"wais://h.example/db/TEXT", "", "", "24 RFC 1738, 5: wpath"},
		{"wais://h.example/db//x", "", "", "20 RFC 1738, 5: waisurl"},
		{"wais://h.example/db/TEXT/x?y", "", "", "26 RFC 1738, 5: waisurl"},
		{"wais://h.example/db/TEXT/1234/x", "", "", "29 RFC 1738, 5: wpath"},
	} {
		tt.check(t)
	}
	for _, tt := range []sample{
		{"wais://h.example/db?a+b%2Bc", "host=h.example kind=index database=db search=a+b%2Bc word=a word=b%2Bc", "", ""},
		{"wais://h.example/db/TEXT/1234/a/b", "host=h.example kind=document database=db type=TEXT length=1234 local_id=a/b", "", ""},
		{"wais://h.example/db/TEXT/1234/", "host=h.example kind=document database=db type=TEXT length=1234 local_id=", "", ""},
	} {
		tt.checkIn(t, uri.Draft1993)
	}
	for _, in := range []string{
		"wais://h.example/db/TEXT/abc/x", "wais://h.example/db/TEXT", "wais://h.example/db/TEXT/12", "wais://h.example/db/TEXT/12/x?y", "wais://h.example",
	} {
		if u, err := uri.Draft1993.Parse(in); err == nil {
			t.Errorf("Parse(%q): no error, and %v", in, scheme.Standard().Check(u))
		}
	}
}

func TestProspero(t *testing.T) {
	for _, tt := range []sample{
		{"prospero://host.dom//pros/name", "host=host.dom hsoname=/pros/name", "", ""},
		{"prospero://h.example:1525/a;OBJECT-VERSION=2;x=", "host=h.example port=1525 hsoname=a field=OBJECT-VERSION=2 field=x=", "prospero://h.example/a;OBJECT-VERSION=2;x=", ""},
		{"prospero:x", "", "", "9 RFC 1738, 5: prosperourl"},
		{"prospero://h.example", "", "", "20 RFC 1738, 5: prosperourl"},
		{"prospero://u@h.example/x", "", "", "11 RFC 1738, 5: prosperourl"},
		{"prospero://h.example/x?y", "", "", "22 RFC 1738, 5: prosperourl"},
		{"prospero://h.example/x;y", "", "", "23 RFC 1738, 5: fieldspec"},
		{"prospero://h.example/x;=y", "", "", "23 RFC 1738, 5: fieldspec"},
		{"prospero://h.example/x;a=b=c", "", "", "26 RFC 1738, 5: fieldspec"},
		{"prospero://h.example/x;", "", "", "23 RFC 1738, 5: fieldspec"},
	} {
		tt.check(t)
	}
	for _, tt := range []sample{
		{"prospero://h.example/dir/obj", "host=h.example hsoname=dir/obj", "", ""},
		{"prospero://h.example/obj%00", "host=h.example hsoname=obj version=", "", ""},
		{"prospero://h.example/obj%00%00alpha", "host=h.example hsoname=obj version= attribute=alpha", "", ""},
		{"prospero://h.example/o%2500%003%00alpha%00beta", "host=h.example hsoname=o%2500 version=3 attribute=alpha attribute=beta", "", ""},
	} {
		t.Run("U93-52 U93-53 "+tt.in, func(t *testing.T) { tt.checkIn(t, uri.Draft1993) })
	}
	for _, in := range []string{"prospero://h.example/obj%00x", "prospero://h.example/obj%00%00", "prospero://h.example/obj%002%00a-b", "prospero://h.example"} {
		if u, err := uri.Draft1993.Parse(in); err == nil {
			t.Errorf("U93-52, U93-53: Parse(%q): no error, and %v", in, scheme.Standard().Check(u))
		}
	}
}

func TestSessions(t *testing.T) {
	for _, tt := range []sample{ // RFC 4248, 2
		{"telnet://user:password@host.com:23/", "user=user password=password host=host.com port=23", "telnet://user:password@host.com/", ""},
		{"telnet://host.com", "host=host.com", "telnet://host.com/", ""},
		{"rlogin://a@h.example:513", "user=a host=h.example port=513", "rlogin://a@h.example/", ""},
		{"tn3270://h.example:2323/", "host=h.example port=2323", "", ""},
		{"telnet://-oProxyCommand=x/", "host=-oProxyCommand=x", "telnet://-oproxycommand=x/", "9 RFC 1738, 5: telneturl"},
		{"telnet://-l@h.example/", "user=-l host=h.example", "", "9 RFC 1738, 5: telneturl"},
		{"telnet://h.example/#x", "host=h.example", "", "19 RFC 1738, 5: telneturl"},
		{"telnet:h", "", "", "7 RFC 1738, 5: telneturl"},
		{"telnet://h.example/x", "", "", "18 RFC 1738, 5: telneturl"},
		{"telnet://h.example?x", "", "", "18 RFC 1738, 5: telneturl"},
		{"telnet://a%0Ab@h.example", "", "", "10 RFC 1738, 5: telneturl"},
	} {
		tt.check(t)
	}
	for _, tt := range []sample{
		{"telnet://guest@h.example:2323", "user=guest host=h.example port=2323", "", ""},
		{"telnet://a:b@h.example", "user=a:b host=h.example", "", ""},
		{"tn3270://h.example", "host=h.example", "", ""},
	} {
		tt.checkIn(t, uri.Draft1993)
	}
	for _, in := range []string{"telnet://h.example/", "rlogin://h.example/x", "tn3270://h.example?x"} {
		if u, err := uri.Draft1993.Parse(in); err == nil {
			t.Errorf("Parse(%q): no error, and %v", in, scheme.Standard().Check(u))
		}
	}
}

func TestGopher(t *testing.T) {
	for _, tt := range []sample{
		{"gopher://h.example", "host=h.example type=1 selector=", "gopher://h.example/", ""},
		{"gopher://h.example/", "host=h.example type=1 selector=", "", ""},
		{"gopher://h.example:70/1", "host=h.example port=70 type=1 selector=", "gopher://h.example/", ""},
		{"gopher://h.example/00/a%20b", "host=h.example type=0 selector=0/a%20b", "", ""},
		{"gopher://h.example/7find%09cats%20dogs", "host=h.example type=7 selector=find search=cats%20dogs", "", ""},
		{"gopher://h.example/0a%09%09+application/postscript%20Es_ES", "host=h.example type=0 selector=a search= gopher+=+application/postscript%20Es_ES", "", ""},
		{"gopher://h.example/0a%09%09!+ABSTRACT%20+SMELL", "host=h.example type=0 selector=a search= gopher+=!+ABSTRACT%20+SMELL", "", ""},
		{"gopher://h.example/0a%09%09+%091%0D%0A+-1%0D%0Ax%0D%0A.%0D%0A", "host=h.example type=0 selector=a search= gopher+=+%091%0D%0A+-1%0D%0Ax%0D%0A.%0D%0A", "", ""},
		{"gopher://h.example/0a?b", "host=h.example type=0 selector=a?b", "", ""},
		{"gopher://h.example/%30a", "host=h.example type=%30 selector=a", "gopher://h.example/0a", "19 RFC 1436, 3.8: item type"},
		{"gopher://h.example/8x", "host=h.example type=8 selector=x", "", "19 1993, Gopher"},
		{"gopher://h.example/_x", "host=h.example type=_ selector=x", "", "19 RFC 1436, 3.8: item type"},
		{"gopher://h.example?x", "", "", "18 RFC 4266, 2.1: gopher-path"},
		{"gopher:x", "", "", "7 RFC 4266, 2.1: gopher-path"},
		{"gopher://u@h.example/", "", "", "9 RFC 4266, 2.1: gopher-path"},
		{"gopher://127.0.0.1:25/_HELO%0D%0AMAIL", "", "", "27 RFC 4266, 2.1: selector"},
		{"gopher://h.example/0a%00", "", "", "21 RFC 4266, 2.1: selector"},
		{"gopher://h.example/7a%09b%0A", "", "", "25 RFC 4266, 2.1: selector"},
		{"gopher://h.example/0a%09%09x", "", "", "27 RFC 4266, 2.3: gopher+_string"},
		{"gopher://h.example/0a%09%09", "", "", "27 RFC 4266, 2.3: gopher+_string"},
	} {
		t.Run("U93-56 U93-57 "+tt.in, func(t *testing.T) { tt.check(t) })
	}
	for _, tt := range []sample{
		{"gopher://h.example", "host=h.example type=1 selector=", "", ""},
		{"gopher://h.example/1", "host=h.example type=1 selector=", "gopher://h.example", ""},
		{"gopher://h.example/", "host=h.example type=1 selector=", "gopher://h.example", ""}, // A93-9
		{"gopher://h.example/1/sel", "host=h.example type=1 selector=/sel", "", ""},          // A93-8
		{"gopher://h.example:7070/7find?cats+dogs", "host=h.example port=7070 type=7 selector=find search=cats+dogs word=cats word=dogs", "", ""},
		{"gopher://h.example?x", "host=h.example type=1 selector= search=x word=x", "", ""},
		{"gopher://h.example?x%0D%0Ay", "", "", "20 RFC 4266, 2.1: selector"},
		{"gopher://h.example/0a%09b", "", "", "21 RFC 4266, 2.1: selector"},
	} {
		t.Run("U93-56 U93-57 "+tt.in, func(t *testing.T) { tt.checkIn(t, uri.Draft1993) })
	}
}

func TestX500AndWHOIS(t *testing.T) {
	for _, d := range []uri.Dialect{uri.Draft1993, uri.Latest} {
		for _, tt := range []sample{
			{"x500:c/o/cn", "path=c/o/cn", "", "0 1993, x500"},
			{"whois://whois.example.org:43/handle-1", "host=whois.example.org port=43 handle_or_query=handle-1", "whois://whois.example.org/handle-1", ""},
			{"whois://whois.example.org/name%20a%3Bb?c", "host=whois.example.org handle_or_query=name%20a%3Bb?c", "", ""},
			{"whois://whois.example.org/", "", "", "25 1993, WHOIS"},
			{"whois:x", "", "", "6 1993, WHOIS"},
			{"whois://h.example?x", "", "", "17 1993, WHOIS"},
			{"whois://h.example/a%0D%0Ab", "", "", "19 RFC 3912, 2"},
		} {
			t.Run("U93-60 U93-61 "+tt.in, func(t *testing.T) { tt.checkIn(t, d) })
		}
	}
}

func TestContentIDs(t *testing.T) {
	for _, tt := range []sample{
		{"mid:960830.1639@XIson.com/partA.960830.1639@XIson.com", "message_id=960830.1639@XIson.com content_id=partA.960830.1639@XIson.com", "", ""},
		{"mid:a%2Fb@h.example", "message_id=a%2Fb@h.example", "", ""},
		{"mid:%22a%20b%22@h.example", "message_id=%22a%20b%22@h.example", "", ""},
		{"cid:foo4*foo1@bar.net", "content_id=foo4*foo1@bar.net", "", ""},
		{"mid:abc", "", "", "7 RFC 2392, 2: mid-url"},
		{"mid:@x", "", "", "4 RFC 2392, 2: mid-url"},
		{"mid:x@", "", "", "5 RFC 2392, 2: mid-url"},
		{"mid:a@b/c", "", "", "9 RFC 2392, 2: mid-url"},
		{"mid:a@b?c", "", "", "7 RFC 2392, 2: mid-url"},
		{"mid:%3Ca@b%3E", "", "", "4 RFC 2392, 2: mid-url"},
		{"cid://a@b", "", "", "4 RFC 2392, 2: cid-url"},
		{"cid:a%0D%0Ab@c", "", "", "5 RFC 2392, 2: cid-url"},
	} {
		tt.check(t)
	}
}

// U93-64: an unknown scheme has a path and a search; with slashes it has a host
// too (U93-11).
func TestGeneric(t *testing.T) {
	for _, tt := range []sample{
		{"x-foo:bar?baz", "path=bar search=baz word=baz", "", ""},
		{"x-foo://h.example:1/bar", "host=h.example port=1 path=bar", "", ""},
		{"x-foo:", "", "", ""},
	} {
		if tt.parts == "" {
			if got := scheme.Standard().Parts(uri.MustParse(tt.in)); len(got) != 0 {
				t.Errorf("Parts(%q) = %v, want none", tt.in, got)
			}
			continue
		}
		tt.checkIn(t, uri.Draft1993)
	}
	if got := scheme.Standard().Parts(uri.MustParse("x-foo:bar?baz")); got != nil {
		t.Errorf("Parts of an unknown scheme, not in 1993: %v, want none", got)
	}
	if ref, _ := uri.ParseReference("bar"); scheme.Standard().Parts(ref) != nil || scheme.Standard().Check(ref) != nil || scheme.Standard().Canonical(ref) != ref {
		t.Error("a relative reference has parts or findings")
	}
}

// Parts also returns the parts of an invalid URI, as far as it can determine
// them.
func TestPartsOfTheBroken(t *testing.T) {
	for in, want := range map[string]int{
		"ftp:;type=a": 0, "ftp:a/b": 0, "wais:db": 0, "prospero:x": 0, "nntp:a/1": 0, "afs:x": 0, "whois:x": 0,
		"gopher:x": 2, "http:g": 1, "telnet:x": 0, "news://h": 2, "mid:x": 1, "file:c:/x": 2, "wais://h/db/T": 4,
	} {
		u := uri.MustParse(in)
		if got := scheme.Standard().Parts(u); len(got) != want || !scheme.HasError(scheme.Standard().Check(u)) {
			t.Errorf("Parts(%q) = %v, want %d; Check = %v", in, got, want, scheme.Standard().Check(u))
		}
	}
}
