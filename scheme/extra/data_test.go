package extra

import "testing"

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
