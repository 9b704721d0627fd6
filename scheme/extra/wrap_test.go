package extra

import (
	"testing"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

func TestWrapped(t *testing.T) {
	for _, tt := range []sample{
		{"javascript:alert('a')#b", "script=alert('a')#b", "", "0 RFC 7595, 3.7"},
		{"JavaScript:void(0)?x", "script=void(0)?x", "javascript:void(0)?x", "0 RFC 7595, 3.7"},
		{"javascript://example.org/%0Aalert(1)", "script=//example.org/%0Aalert(1)", "", "0 RFC 7595, 3.7"},
		{"vbscript:MsgBox(1)", "script=MsgBox(1)", "", "0 RFC 7595, 3.7"},

		{"view-source:https://example.org/a?b#c", "uri=https://example.org/a?b#c", "", ""},
		{"view-source:javascript:x", "uri=javascript:x", "", "12 RFC 7595, 3.7"},
		{"view-source:example", "", "", "19 Mozilla and Chromium, view-source"},
		{"view-source:", "", "", "12 Mozilla and Chromium, view-source"},
		{"view-source:http://", "", "", "19 RFC 9110, 4.2.1: http-URI"},

		{"feed:https://example.org/a.xml", "uri=https://example.org/a.xml", "", ""},
		{"feed://example.org/a.xml?b", "host=example.org path=/a.xml query=b", "", ""},
		{"feed:mailto:a@b.example", "", "", "5 draft-obasanjo-feed-URI-scheme, 2"},
		{"feed:example.org/a", "", "", "16 draft-obasanjo-feed-URI-scheme, 2"},
		{"feed:///a", "", "", "7 draft-obasanjo-feed-URI-scheme, 2"},
		{"webcal://example.org/a.ics", "host=example.org path=/a.ics", "", ""},
		{"webcal:example.org/a.ics", "", "", "7 IANA registration of webcal"},

		{"blob:https://example.org/9115d58c-bcda-ff47-86e5-083e9a215304", "origin=https://example.org uuid=9115d58c-bcda-ff47-86e5-083e9a215304", "", ""},
		{"blob:null/9115d58c-bcda-ff47-86e5-083e9a215304#t=1", "origin=null uuid=9115d58c-bcda-ff47-86e5-083e9a215304 fragment=t=1", "", ""},
		{"blob:https://example.org/1234", "origin=https://example.org uuid=1234", "", "25 W3C File API, 8.2: blob URL"},
		{"blob:1234", "", "", "9 W3C File API, 8.2: blob URL"},
		{"blob:/9115d58c-bcda-ff47-86e5-083e9a215304", "", "", "5 W3C File API, 8.2: blob URL"},
		{"blob:https://example.org/", "", "", "25 W3C File API, 8.2: blob URL"},
		{"blob:example/9115d58c-bcda-ff47-86e5-083e9a215304", "", "", "12 W3C File API, 8.2: blob URL"},

		{"filesystem:https://example.org/temporary/a/b.png", "origin=https://example.org type=temporary path=/a/b.png", "", ""},
		{"filesystem:http://localhost:88/persistent/", "origin=http://localhost:88 type=persistent path=/", "", ""},
		{"filesystem:file:///external/x", "origin=file:// type=external path=/x", "", "19 W3C File API: Directories and System, 7.3"},
		{"filesystem:https://h/isolated/x", "origin=https://h type=isolated path=/x", "", "21 W3C File API: Directories and System, 7.3"},
		{"filesystem:x", "", "", "11 W3C File API: Directories and System, 7.3"},
		{"filesystem:https://h", "", "", "20 W3C File API: Directories and System, 7.3"},
		{"filesystem:https://h/mine/a", "", "", "21 W3C File API: Directories and System, 7.3"},
		{"filesystem:https://h/temporary", "", "", "30 W3C File API: Directories and System, 7.3"},

		{"jar:http://www.example.org/bar.jar!/com/quux.class", "archive=http://www.example.org/bar.jar entry=com/quux.class", "", ""},
		{"jar:file:///base/bar.jar!/", "archive=file:///base/bar.jar entry=", "", ""},
		{"jar:jar:https://h/a.zip!/b.jar!/c?d", "archive=jar:https://h/a.zip!/b.jar entry=c?d", "", ""},
		{"jar:http://h/a.jar", "", "", "18 java.net.JarURLConnection: jar:<url>!/{entry}"},
		{"jar:!/a", "", "", "4 java.net.JarURLConnection: jar:<url>!/{entry}"},
		{"jar:a.jar!/b", "", "", "9 java.net.JarURLConnection: jar:<url>!/{entry}"},

		{"about:blank", "token=blank", "", ""},
		{"about:", "token=", "", ""},
		{"about:legacy-compat?a#b", "token=legacy-compat query=a fragment=b", "", ""},
		{"about:a/b", "", "", "7 RFC 6694, 2.1: about-token"},
		{"about://blank", "", "", "6 RFC 6694, 2.1: about-token"},
	} {
		tt.check(t)
	}
}

// A comment in a script is not taken for a host, and an inner URI is checked by
// its own rules, with offsets in the whole text.
func TestFindingsInside(t *testing.T) {
	found := Catalogue().Check(uri.MustParse("view-source:javascript://h/%0Ax"))
	if len(found) != 2 || found[0].Code != scheme.CodeDanger || found[0].Offset != 12 || found[1].Code != scheme.CodeHidden || found[1].Offset != 23 {
		t.Errorf("Check: %v", found)
	}
	found = Catalogue().Check(uri.MustParse("jar:http://a:b@h/x!/y"))
	if len(found) != 1 || found[0].Code != scheme.CodeCredentials || found[0].Offset != 11 {
		t.Errorf("Check: %v", found)
	}
}
