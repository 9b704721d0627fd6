package scheme

import "testing"

// Most valid examples follow RFC 6068, 6.
func TestMailto(t *testing.T) {
	for _, tt := range []sample{
		{"mailto:chris@example.com", "to=chris@example.com", "", ""},
		{"mailto:infobot@example.com?subject=current-issue", "to=infobot@example.com subject=current-issue", "", ""},
		{"mailto:infobot@example.com?body=send%20current-issue%0D%0Asend%20index", "to=infobot@example.com body=send%20current-issue%0D%0Asend%20index", "", ""},
		{"mailto:list@example.org?In-Reply-To=%3C3469A91.D10AF4C@example.com%3E", "to=list@example.org in-reply-to=%3C3469A91.D10AF4C@example.com%3E", "", ""},
		{"mailto:joe@example.com?cc=bob@example.com&body=hello", "to=joe@example.com cc=bob@example.com body=hello", "", "23 RFC 6068, 4: unsafe headers"},
		{"mailto:gorby%25kremvax@example.com", "to=gorby%25kremvax@example.com", "", ""},
		{"mailto:%22not%40me%22@example.org", "to=%22not%40me%22@example.org", "", ""},
		{"mailto:user@example.org?subject=caf%C3%A9", "to=user@example.org subject=caf%C3%A9", "", ""},
		{"mailto:user@%E7%B4%8D%E8%B1%86.example.org?subject=Test", "to=user@%E7%B4%8D%E8%B1%86.example.org subject=Test", "", ""},
		{"mailto:a@b.example,c@d.example", "to=a@b.example to=c@d.example", "", ""},
		{"mailto:?to=joe@example.com,a@b.example", "to=joe@example.com,a@b.example", "", ""},
		{"mailto:a@%5B10.0.0.1%5D", "to=a@%5B10.0.0.1%5D", "", ""},
		{"mailto:a@b.example?attach=x", "to=a@b.example attach=x", "", "19 RFC 6068, 4: unsafe headers"},
		{"mailto:a@b.example#x", "to=a@b.example fragment=x", "", ""},
		{"mailto:%22oh%5C%5Cno%22@example.org", "to=%22oh%5C%5Cno%22@example.org", "", ""},
		{"mailto:%22%5C%5C%5C%22it's%5C%20ugly%5C%5C%5C%22%22@example.org", "to=%22%5C%5C%5C%22it's%5C%20ugly%5C%5C%5C%22%22@example.org", "", ""},
		{"mailto:%22a:b%20@%2C%22@c.example", "to=%22a:b%20@%2C%22@c.example", "", ""},
		{"mailto:a.%C3%A9%23%2F%3F%7B%7D!$'*+-_~@c.example", "to=a.%C3%A9%23%2F%3F%7B%7D!$'*+-_~@c.example", "", ""},
		{"mailto:a..b@c.example", "", "", "9 RFC 6068, 2: local-part"},
		{"mailto:.a@c.example", "", "", "7 RFC 6068, 2: local-part"},
		{"mailto:a.@c.example", "", "", "8 RFC 6068, 2: local-part"},
		{"mailto:a@b@c.example", "", "", "8 RFC 6068, 2: local-part"},
		{"mailto:a%40b@c.example", "", "", "8 RFC 6068, 2: local-part"},
		{"mailto:a@b.example%2Cc@d.example", "", "", "8 RFC 6068, 2: local-part"},
		{"mailto:a:b@c.example", "", "", "8 RFC 6068, 2: local-part"},
		{"mailto:a(b)@c.example", "", "", "8 RFC 6068, 2: local-part"},
		{"mailto:a%20b@c.example", "", "", "8 RFC 6068, 2: local-part"},
		{"mailto:%22a@c.example", "", "", "7 RFC 6068, 2: local-part"},
		{"mailto:%22a%22b@c.example", "", "", "14 RFC 6068, 2: local-part"},
		{"mailto:?to=a..b@c.example", "", "", "13 RFC 6068, 2: local-part"},
		{"mailto:a@b.example?x%0D%0ABcc=c", "", "", "20 RFC 6068, 2: hfname"},
		{"mailto:a@b.example?%00=c", "", "", "19 RFC 6068, 2: hfname"},
		{"mailto:a@b.example?x:=c", "", "", "20 RFC 5322, 3.6.8: field-name"},
		{"mailto:a@b.example?x%20y=c", "", "", "20 RFC 5322, 3.6.8: field-name"},
		{"mailto:a@b.example?%C3%A9=c", "", "", "19 RFC 5322, 3.6.8: field-name"},
		{"mailto:joe", "", "", "10 RFC 6068, 2: addr-spec"},
		{"mailto:@example.com", "", "", "7 RFC 6068, 2: addr-spec"},
		{"mailto:joe@", "", "", "11 RFC 6068, 2: addr-spec"},
		{"mailto:joe@a_b.example", "", "", "12 RFC 6068, 2: domain"},
		{"mailto:a@b.example,", "", "", "19 RFC 6068, 2: addr-spec"},
		{"mailto:,a@b.example", "", "", "7 RFC 6068, 2: addr-spec"},
		{"mailto:a&b@c.example", "", "", "8 RFC 6068, 2: addr-spec"},
		{"mailto:a/b@c.example", "", "", "8 RFC 6068, 2: addr-spec"},
		{"mailto://a@b.example", "", "", "7 RFC 6068, 2: mailtoURI"},
		{"mailto:a%0D%0ABcc:x@b.example", "", "", "8 RFC 6068, 2: addr-spec"},
		{"mailto:a@b.example?subject", "", "", "19 RFC 6068, 2: hfields"},
		{"mailto:a@b.example?=x", "", "", "19 RFC 6068, 2: hfields"},
		{"mailto:a@b.example?a/b=x", "", "", "20 RFC 6068, 2: hfname"},
		{"mailto:a@b.example?subject=a=b", "", "", "28 RFC 6068, 2: hfvalue"},
		{"mailto:a@b.example?subject=x&", "", "", "29 RFC 6068, 2: hfields"},
		{"mailto:a@b.example?subject=x%0d%0aBcc:%20evil@c.example", "", "", "28 RFC 6068, 2: hfvalue"},
		{"mailto:?cc=joe", "", "", "14 RFC 6068, 2: addr-spec"},
	} {
		tt.check(t)
	}
}

func TestData(t *testing.T) {
	for _, tt := range []sample{
		{"data:,A%20brief%20note", "data=A%20brief%20note", "", ""},
		{"data:text/plain;charset=iso-8859-7,%BE%FE", "mediatype=text/plain parameter=charset=iso-8859-7 data=%BE%FE", "", ""},
		{"data:application/vnd-xxx-query,select_vcount,fcol_from_fieldtable/local", "mediatype=application/vnd-xxx-query data=select_vcount,fcol_from_fieldtable/local", "", ""},
		{"data:image/gif;base64,R0lGODdhMAAwAPAA", "mediatype=image/gif encoding=base64 data=R0lGODdhMAAwAPAA", "", ""},
		{"data:;base64,YQ==", "encoding=base64 data=YQ==", "", ""},
		{"data:;base64,YQ%3D%3D", "encoding=base64 data=YQ%3D%3D", "", ""},
		{"data:;base64,YQ", "encoding=base64 data=YQ", "", "15 RFC 4648, 3.2"},
		{"data:;base64,Y%0AWI%20", "encoding=base64 data=Y%0AWI%20", "", "22 RFC 4648, 3.2"},
		{"data:,a?b#c", "data=a?b fragment=c", "", ""},
		{"data:;charset=US-ASCII;x=y,", "parameter=charset=US-ASCII parameter=x=y data=", "", ""},
		{"data:text/html,%3Cscript%3E", "mediatype=text/html data=%3Cscript%3E", "", "5 RFC 2397, 6"},
		{"data:image/SVG+xml;base64,YWJj", "mediatype=image/SVG+xml encoding=base64 data=YWJj", "", "5 RFC 2397, 6"},
		{"data:text/plain", "", "", "15 RFC 2397, 3: dataurl"},
		{"data:text,x", "", "", "5 RFC 2397, 3: mediatype"},
		{"data:/plain,x", "", "", "5 RFC 2397, 3: mediatype"},
		{"data:text/,x", "", "", "10 RFC 2397, 3: mediatype"},
		{"data:text/a:b,x", "", "", "10 RFC 2397, 3: mediatype"},
		{"data:text/plain;utf8,x", "", "", "16 RFC 2397, 3: parameter"},
		{"data:;=x,x", "", "", "6 RFC 2397, 3: parameter"},
		{"data:;base64,YQ=", "", "", "16 RFC 2397, 2: base64"},
		{"data:;base64,Y", "", "", "14 RFC 2397, 2: base64"},
		{"data:;base64,YQ==YQ==", "", "", "17 RFC 2397, 2: base64"},
		{"data:;base64,Y-JjYW", "", "", "14 RFC 2397, 2: base64"},
	} {
		tt.check(t)
	}
}
