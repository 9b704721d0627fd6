package extract

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// found compares the spellings found in a text, separated by spaces.
func found(t *testing.T, o Options, text, want string) {
	t.Helper()
	required(t, "text", o)(text, want)
}

// required returns a function like found that names a draft's requirement in
// its failures.
func required(t *testing.T, ids string, o Options) func(text, want string) {
	return func(text, want string) {
		t.Helper()
		if got := spellings(text, o); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: in %q: found %q, want %q", ids, text, got, strings.Fields(want))
		}
	}
}

func TestDelimiters(t *testing.T) {
	// Quotation marks, angle brackets, white space; the fragment is included.
	f := required(t, "U97-71, U03-70", Options{})
	f(`"http://test.com/"`, "http://test.com/")
	f("<http://test.com/>", "http://test.com/")
	f(" http://test.com/ ", "http://test.com/")
	f("\thttp://test.com/\n", "http://test.com/")
	f(`"http://test.com/#a", <http://test.com/#b>`, "http://test.com/#a http://test.com/#b")
	f(`<http://test.com/.>`, "http://test.com/.")
	f(`"http://test.com/a;b,"`, "http://test.com/a;b,")
	f(`<http://test.com/a(>`, "http://test.com/a(")
	f(`URL=<http://test.com/>. a`, "http://test.com/")

	// White space inside, of every kind.
	f = required(t, "U97-72, U03-71", Options{})
	f("<ftp://ds.internic.\nnet/rfc/>", "ftp://ds.internic.net/rfc/")
	f("<ftp://ds.internic.\r\n\t net/rfc/\r\n>", "ftp://ds.internic.net/rfc/")
	f("<http://te st.com/ a b>", "http://test.com/ab")
	f("< http://test.com/ >", "http://test.com/")
	f("<http\n://test.com/>", "")
	f("\"http://test.com/a\n   b\"", "http://test.com/ab")
	f(`"http://test.com/ is a site"`, "http://test.com/")

	// The prefix, with or without a space, in any case.
	f = required(t, "U97-75, U03-72", Options{})
	f("<URL:http://test.com/>", "http://test.com/")
	f("<URL: http://test.com/>", "http://test.com/")
	f("<url:\n http://test.com/>", "http://test.com/")
	f("<Url: http://te st.com/>", "http://test.com/")
	f("URL:http://test.com/.", "http://test.com/")
	f(`"URL:http://test.com/."`, "http://test.com/.")
	f("<URL:mailto:a@b.com>, <URL:urn:isbn:1>", "mailto:a@b.com urn:isbn:1")

	// User input is stripped in the same way.
	f = required(t, "U97-76, U03-73", Options{})
	f(" <http://te st.com/> ", "http://test.com/")

	// The end of a paragraph ends an unclosed delimiter.
	f = required(t, "text", Options{})
	f("<http://test.com/a\n\nb>", "http://test.com/a")
	f("<http://test.com/a b", "http://test.com/a")
	f("\"http://test.com/a\n\nb\"", "http://test.com/a")

	// Brackets that are not delimiters.
	f(`<a href="http://test.com/">x</a>`, "http://test.com/")
	f("<http://test.com|text>", "http://test.com")
	f("<made-up://foo,bar>", "made-up://foo,bar")
}

func TestHyphens(t *testing.T) {
	// A hyphen before a line break may or may not belong to the URL.
	for text, want := range map[string][2]string{
		"<http://a.example/x-\ny>":               {"http://a.example/x-y", "http://a.example/xy"},
		"<http://a.example/x- y>":                {"http://a.example/x-y", ""},
		"<http://a.example/x-y\n>":               {"http://a.example/x-y", ""},
		"<http://a.example/x-\n  y-\n  z>":       {"http://a.example/x-y-z", "http://a.example/xyz"},
		"at (http://a.example/x-\ny) more":       {"http://a.example/x-y", "http://a.example/xy"},
		"\"http://a.example/x-\\\n  y\"":         {"http://a.example/x-y", ""},
		"some words http://a.example/x--\nwords": {"http://a.example/x--", ""},
	} {
		var got [2]string
		for f := range Bytes([]byte(text), Options{}) {
			got = [2]string{f.Spelling, f.Other}
		}
		if got != want {
			t.Errorf("U97-74, U03-71: in %q: %q, want %q", text, got, want)
		}
	}
}

func TestAppendixE(t *testing.T) {
	const text = `Yes, Jim, I found it under "http://www.w3.org/Addressing/",
   but you can probably pick it up from <ftp://ds.internic.
   net/rfc/>.  Note the warning in <http://www.ics.uci.edu/pub/
   ietf/uri/historical.html#WARNING>.`
	required(t, "U03-74", Options{})(text, `http://www.w3.org/Addressing/
		ftp://ds.internic.net/rfc/
		http://www.ics.uci.edu/pub/ietf/uri/historical.html#WARNING`)
}

func TestPunctuation(t *testing.T) {
	f := func(text, want string) { t.Helper(); found(t, Options{}, text, want) }

	f("See http://a.example/b.", "http://a.example/b")
	f("See http://a.example/b, c", "http://a.example/b")
	f("http://a.example/b... c", "http://a.example/b")
	f("http://a.example/b?!", "http://a.example/b")
	f("http://a.example/b: c", "http://a.example/b")
	f("http://a.example/b.c;d,e", "http://a.example/b.c;d,e")
	f("http://a.example/-", "http://a.example/-")
	f("(http://a.example/b)", "http://a.example/b")
	f("(see http://a.example/b).", "http://a.example/b")
	f("http://a.example/b_(c)", "http://a.example/b_(c)")
	f("(http://a.example/b_(c))", "http://a.example/b_(c)")
	f("(http://a.example/b_(c)_d).", "http://a.example/b_(c)_d")
	f("http://a.example/b(see below)", "http://a.example/b")
	f("[http://a.example/b]", "http://a.example/b")
	f("[a](http://a.example/b)", "http://a.example/b")
	f("{http://a.example/b}", "http://a.example/b")
	f(`\url{http://a.example/b}`, "http://a.example/b")
	f("**http://a.example/b**", "http://a.example/b")
	f("_http://a.example/b_c_", "http://a.example/b_c")
	f("'http://a.example/b','http://a.example/c'", "http://a.example/b http://a.example/c")
	f("http://a.example/b's owner", "http://a.example/b")
	f("http://a.example/'b'", "http://a.example/'b'")
	f("http://a.example/&lt;b", "http://a.example/")
	f("&quot;http://a.example/&quot;", "http://a.example/")
	f("&#34;http://a.example/&#34; &#039;http://b.example/&#039; &#x3c;http://c.example/&#X3E;", "http://a.example/ http://b.example/ http://c.example/")
	f("http://a.example/&apos; http://b.example/&nbsp;c http://d.example/&#xA0;e", "http://a.example/ http://b.example/ http://d.example/")
	f("http://a.example/?a=b&amp;c=d", "http://a.example/?a=b&amp;c=d")
	f("http://a.example/?a&#38;c http://b.example/&#1234567; http://c.example/?a&quota=b", "http://a.example/?a&#38;c http://b.example/&#1234567 http://c.example/?a&quota=b")
	f("http://a.example/,http://b.example/;https://c.example/", "http://a.example/ http://b.example/ https://c.example/")
	f("http://a.example/?u=http://b.example/", "http://a.example/?u=http://b.example/")
	f("http://a.example/\u201d \u201chttp://b.example/\u201d\u2014c", "http://a.example/ http://b.example/")
	f("http://a.example/100%", "http://a.example/100")
	f("http://a.example/%zz", "http://a.example/")
	f("http://a.example/a#b#c", "http://a.example/a#b")
	f("...http://a.example/", "http://a.example/")
	f("1.http://a.example/ 2-https://b.example/", "http://a.example/ https://b.example/")
	f("git+https://a.example/b view-source:http://a.example/", "git+https://a.example/b view-source:http://a.example/")
}

func TestAuthorities(t *testing.T) {
	f := func(text, want string) { t.Helper(); found(t, Options{}, text, want) }
	for _, good := range []string{
		"http://localhost:8080/", "http://[2001:db8::1]:80/a", "http://u:p@[::1]/", "ftp://u@a.example", "http://a_b.example/", "http://192.0.2.1/",
		"file:///etc/passwd", "ldap:///o=a?b", "ni:///sha-256;f4Ox", "http://a.example./", "HTTP://A.EXAMPLE/",
	} {
		f(good, good)
	}
	for _, bad := range []string{
		"http://", "http://.", "http://..", "http://...", "http://#", "http://?", "http:///a", "http://$host/", "http://${host}/", "http://%s/", "http://*.example.com",
		"http://{host}/", "http://a.example:port/", "http://a.example:99999/", "http://-a.example/", "http://a..b/", "http://a-.b/", "http://<host>/", "://a.example",
		"http://a.example:%d/", "http://a.example:<port>/", "http://u:p@a.example:%s", "^https://a\\.example/", "http://www.\u4f8b.example/",
		"https?://a.example", "http(s)://a.example", "^http://[^/]+", "1://a.example", "http://[zz", "http://a.example/{id}", "http://a.example/{?q}", "http://a.example/?a[]=b",
	} {
		f(bad, "")
	}
	f("<mongodb://a.example,b.example>", "mongodb://a.example,b.example")
	f("http://a.example/b:<br> http://a.example/b:%d http://a.example\u4f8b", "http://a.example/b http://a.example/b http://a.example")
}

func TestCode(t *testing.T) {
	f := func(text, want string) { t.Helper(); found(t, Options{}, text, want) }
	f("std::string a; x ? b:c; a:b 10:30 C:\\windows D:/x key: value foo:bar label:", "")
	f("import urn:foo; urn::bar(); data:x tel:me tag:a news:today info:x sip:y mid:foo doi:x geo:x", "")
	f("{\"data\":\"x\",\"tel\":1} data: text/plain info: see below", "")
	f("my_urn:isbn:1 $urn:isbn:1 @urn:isbn:1", "")
	f("javascript:alert(1) DAV:href xs:string ni:name if:name", "")
	f("12:34:56 aa:bb:cc:dd:ee:ff ::1 fe80::1", "")
	f(`curl "http://a.example/$x" + 'http://a.example/b' // http://a.example/c`, "http://a.example/$x http://a.example/b http://a.example/c")
	f(`x = "http://a.example/\n"`, "http://a.example/")

	// Escapes in string literals, above all in JSON.
	f(`{"a":"see:\nhttp://a.example/\r\nhttps://b.example/\tftp://c.example/"}`, "http://a.example/ https://b.example/ ftp://c.example/")
	f(`"\u003chttp://a.example/\u003e \x3chttps://b.example/\x3e \nmailto:a@b.example\nurn:isbn:1"`, "http://a.example/ https://b.example/ mailto:a@b.example urn:isbn:1")
	f(`see \fIhttp://a.example/b\fR and \fBmailto:c@d.example\fP, \ftp://e.example/ \fx://f.example/`, "http://a.example/b mailto:c@d.example ftp://e.example/ fx://f.example/")
	f(`\nfs://a.example/b \rtsp://c.example/d \nmsnim:x \unhttp://e.example/ \nhxxp://f.example/`, "nfs://a.example/b rtsp://c.example/d unhttp://e.example/ hxxp://f.example/")
	f(`{"a":"http://a.example/?b=1\u0026c\u003D2"}`, "http://a.example/?b=1&c=2")
	f(`{"a":"http:\/\/a.example\/b\u002fc","b":"https:\u002F\u002Fb.example\u002f\u003Fq\u003d"}`, "http://a.example/b/c https://b.example/?q=")
	f(`{"a":"see http://a.example/\u0028b\u0029\u0029 and http://b.example/\u0023c\u0023 or http://c.example/\u0026quot;"}`,
		"http://a.example/(b) http://b.example/#c http://c.example/")
	f(`{"a":"http://a.example/\u00e9\ud83d\ude00/b","b":"http://b.example/\ud83d","c":"http://c.example/\u00","d":"http://d.example/b\u`, "http://a.example/ http://b.example/ http://c.example/ http://d.example/b")
	f(`http://a.example/?b=1\u0026c`, "http://a.example/?b=1")
	f(`{"a":"urn:isbn:1\u002f2"}`, "urn:isbn:1")
	found(t, Options{IRI: true}, `{"a":"http://a.example/\u00e9\ud83d\ude00/b\u201d","b":"see http://b.example/\u00E9."}`, "http://a.example/é😀/b http://b.example/é")

	// The offsets are those of the text.
	text := `{"a":"http:\u002f\u002fa.example\/?b\u0026c"}`
	for x := range Bytes([]byte(text), Options{}) {
		if x.Text != text[6:len(text)-2] || x.Start != 6 || x.End != int64(len(text)-2) || x.URI.String() != "http://a.example/?b&c" {
			t.Errorf("in %s: found %q from %d to %d, %s", text, x.Text, x.Start, x.End, x.URI)
		}
	}
}

func TestSchemes(t *testing.T) {
	for _, good := range []string{
		"urn:isbn:0451450523", "mailto:jim@example.org", "mailto:?subject=a", "sip:alice@example.com;transport=tcp", "sips:example.com:5061", "stun:example.org",
		"xmpp:a@b.example/c", "tel:+1-201-555-0123", "tel:7042;phone-context=example.com", "sms:+15105550101?body=a", "news:comp.lang.go", "news:1@example.org",
		"doi:10.1000/182", "DOI:10.1000/a(b)c", "hdl:2027/x", "ark:/12345/x8", "ark:12345/x8", "info:lccn/2002022641", "tag:example.com,2005:a", "did:web:example.com",
		"nih:sha-256-32;53269057;b", "data:text/plain,a", "data:,a", "data:image/png;base64,AA==", "geo:13.4125,103.8667", "geo:-1,2,3;u=4", "magnet:?xt=urn:btih:a",
		"about:blank", "file:/etc/passwd", "uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", "pkcs11:token=a", "bitcoin:175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W",
		"spotify:track:6rqhFgbbKwnb9MLmUQDhG6", "jdbc:postgresql://a.example/b", "cid:a@b.example", "view-source:http://a.example/",
	} {
		found(t, Options{}, "a "+good+", b", good)
	}
	for _, bad := range []string{
		"urn:a", "urn:a:", "urn:-a:b", "urn:x:.", "mailto:jim", "mailto:@", "sip:alice", "tel:12", "tel:x", "news:comp", "news:Comp.lang", "doi:11.1/2", "doi:10.1000/", "hdl:x/y",
		"ark:/1/x", "info:x", "tag:example.com:a", "did:WEB:a", "data:text", "data:text/plain", "geo:1", "magnet:x", "about:us", "file:x", "uuid:6e8bc430", "bitcoin:1", "jdbc:x", "spotify:a:b",
		"pkcs11:x", "nih:a", "stun:a", "xmpp:a", "turn:[::1]", "DNS:a.example.com",
	} {
		found(t, Options{}, "a "+bad+" b", "")
	}
}

func TestURNs(t *testing.T) {
	f := func(ids string, d urn.Dialect, text, want string) {
		t.Helper()
		required(t, ids, Options{URN: d})(text, want)
	}

	// "urn:" in any case, and the colons.
	f("Y95-14", 0, "urn:isbn:1 URN:isbn:2 Urn:ISBN:3 (urn:isbn:4)", "urn:isbn:1 URN:isbn:2 Urn:ISBN:3 urn:isbn:4")
	// Brackets around white space.
	f("Y95-06", urn.Draft1995, "see <urn:dns:example.com:alb\n  002>.", "urn:dns:example.com:alb002")
	f("Y95-06", 0, "<URN:DNS:example.com:a b\tc>", "URN:DNS:example.com:abc")
	// The name ends before a character that it cannot contain.
	f("N12-22", urn.Draft2012, "<urn:foo:a123,456> urn:foo:a|b urn:foo:a\\b urn:foo:a/b", "urn:foo:a123,456 urn:foo:a urn:foo:a urn:foo:a")
	f("N12-22", 0, "urn:foo:a/b urn:foo:a%2Cb%zz urn:foo:caf\u00e9", "urn:foo:a/b urn:foo:a%2Cb urn:foo:caf")
	f("RFC 8141", 0, "urn:foo:a?+r?=q#f urn:foo:a?x", "urn:foo:a?+r?=q#f urn:foo:a")
	// Delimited text is kept whole, whatever its kind.
	f("RFC 8141", 0, `<urn:foo:a?x=y>`, "urn:foo:a?x=y")
	for g := range Bytes([]byte("<urn:foo:a?x=y> urn:foo:a"), Options{}) {
		if want := map[bool]Kind{true: URN, false: URI}[g.Spelling == "urn:foo:a"]; g.Kind != want {
			t.Errorf("%q is of kind %v, want %v", g.Spelling, g.Kind, want)
		}
	}
}

func TestLines(t *testing.T) {
	f := func(text, want string) { t.Helper(); found(t, Options{}, text, want) }

	// A piece after a character at which lines are broken.
	f("Code is available at https://github.com/\n   a/608_Implementation.  More of\n", "https://github.com/a/608_Implementation")
	f("In the registry (https://www.iana.org/assignments/character-\n   sets), such as", "https://www.iana.org/assignments/character-sets")
	f("specification (https://github.com/whatwg/fetch/\n   issues/784).", "https://github.com/whatwg/fetch/issues/784")
	f("at https://a.example/?p=b&a=search\n  &h=c", "https://a.example/?p=b&a=search&h=c")
	f("at https://a.example/x%2\n  0y and", "https://a.example/x%20y")
	f("> at https://a.example/one/\n> two/three.html", "https://a.example/one/two/three.html")
	f("# at https://a.example/one/\n# two/three.html", "https://a.example/one/two/three.html")
	f("* at https://a.example/one/\n  two/three.html", "https://a.example/one/two/three.html")

	// Not what looks like a word, is independent, or would have fitted on the
	// line.
	f("at http://a.example/\nfor details", "http://a.example/")
	f("at http://a.example/\nand/or", "http://a.example/")
	f("at http://a.example/\n\nb/c/d", "http://a.example/")
	f("http://a.example/\nhttp://b.example/\nurn:isbn:1\n", "http://a.example/ http://b.example/ urn:isbn:1")
	f("http://a.example/\nVcs-Git: b", "http://a.example/")
	f("url=http://a.example/\nuser_name=b", "http://a.example/")
	f("http://a.example/\n- b/c/d", "http://a.example/")
	f("> http://a.example/one/\ntwo/three.html", "http://a.example/one/")
	f("a line that is much longer than the next of them is\nhttp://a.example/\nb/c/d\n", "http://a.example/")
	f(strings.Repeat("a", 200)+" http://a.example/\nb/c/d", "http://a.example/")
	found(t, Options{OneLine: true}, "(http://a.example/a-\nb)", "http://a.example/a-")

	f("at http://a.example/\n 2014 J. Doe", "http://a.example/")
	f("at http://a.example/\n 1992-1993 J. Doe", "http://a.example/")
	f("at http://a.example/\n 20141130 J. Doe", "http://a.example/20141130")
	f("#At http://a.example/b/\n#\n#Me", "http://a.example/b/")
	f("#At http://a.example/b/\n#c.html", "http://a.example/b/c.html")
	f("//At http://a.example/b/\n//c.html", "http://a.example/b/c.html")
	f("\"http://a.example/b/'\n  'c.dtd\"", "http://a.example/b/")

	f("- http://a.example/b/\n- c.html", "http://a.example/b/")
	f("  - http://a.example/b/\n  - c.html\n", "http://a.example/b/")
	f("- http://a.example/b/\n  c.html\n", "http://a.example/b/c.html")
	f("/* http://a.example/b/\n * c.html\n", "http://a.example/b/")
	f(" * http://a.example/b/\n * c.html\n", "http://a.example/b/c.html")

	// A backslash that escapes a character.
	f(`see https://a.example/util\-linux/b\_c\%20d\#e\-f.`, "https://a.example/util-linux/b_c%20d#e-f")
	f(`\fBhttp://www\&.a\&.example/b\&.c\&.\fP http://b.example\&. c`, "http://www.a.example/b.c http://b.example")
	f(`.UR https://my\-host.example:80/b`, "https://my-host.example:80/b")
	f(`<http://a.example/b\-c d> "http://a.example/b\_c"`, "http://a.example/b-cd http://a.example/b_c")
	f(`http://a.example/b\- http://a.example/b\& http://a.example/b\%zz http://a.example/\-\-b`, "http://a.example/b http://a.example/b http://a.example/b http://a.example/--b")
	f(`urn:foo:a\-b ^https://a\-b\.example/`, "urn:foo:a")

	// Not dividing lines, and not the beginning of something else.
	f("list at\nhttp://a.example/\n_______________________________________________\nmailing list", "http://a.example/")
	f("http://a.example/b_\n______\nx", "http://a.example/b_")
	f("http://a.example/b?c=\n=====\n", "http://a.example/b?c=")
	f("http://a.example/\n-----Original-Message-----\n", "http://a.example/")
	f("http://a.example/\n--all-of-it\n", "http://a.example/")
	f("http://a.example/\n== b_c ==\n", "http://a.example/")
	f("http://a.example/\n= b.c\n", "http://a.example/")
	f("http://a.example/\n+1-201-555-0123\n", "http://a.example/")
	f("http://a.example/\n@b_c\n", "http://a.example/")
	f("http://a.example/\n$HOME/b/c\n", "http://a.example/")
	f("http://a.example/\n.SH b\n", "http://a.example/")
	f("http://a.example/\nb.example.org/c/d\n", "http://a.example/")
	f("url = http://a.example/\nuser_name = b", "http://a.example/")
	f("at http://a.example/b#\nIt is", "http://a.example/b#")
	f("at http://a.example/b/\n  c.d.example.com/e.mp4", "http://a.example/b/c.d.example.com/e.mp4")
	f("at http://a.example/b/\n__init__.py", "http://a.example/b/__init__.py")
	f("at http://a.example/\n@b/c-d-1\n", "http://a.example/@b/c-d-1")
	f("at http://a.example/b#\nsection-1.2\n", "http://a.example/b#section-1.2")

	// RFC 8792, 7.1 and 8.1.
	f("\"urn:ietf:params:xml:ns:yang:ietf-ipv4-unicas\\\n      t-routing\"", "urn:ietf:params:xml:ns:yang:ietf-ipv4-unicast-routing")
	f("http://a.example/b\\\n   \\c/d", "http://a.example/bc/d")
	f("http://a.example/\\\n   http://b.example/", "http://a.example/ http://b.example/")
}

func TestPages(t *testing.T) {
	const foot = "\n\n\nBradner                      Informational                    [Page 3]\n\fRFC 9999                         Title                    December 2018\n\n\n"
	found(t, Options{}, "<https://a.example/draft-"+foot+"   b>", "https://a.example/draft-b")
	found(t, Options{}, "(https://a.example/draft-"+foot+"   b) and", "https://a.example/draft-b")
	found(t, Options{}, "<https://a.example/draft-\n\n\n   b>", "https://a.example/draft-")
	found(t, Options{}, "<https://a.example/draft-\n\n\n\f\nfoot\nhead\n b>", "https://a.example/draft-")
}

func TestAbbreviated(t *testing.T) {
	o := Options{Abbreviated: true}
	f := func(text, want string) { t.Helper(); found(t, o, text, want) }
	f("See www.w3.org/Addressing/, example.com.", "www.w3.org/Addressing/ example.com")
	f("(example.com/a_(b)) <example.org> \"example.net\" [www.example.com]", "example.com/a_(b) example.org example.net www.example.com")
	f("example.com:80/a 192.0.2.1/a example.co.uk?a#b", "example.com:80/a 192.0.2.1/a example.co.uk?a#b")
	f("GOOGLE.COM. url=www.example.com", "GOOGLE.COM www.example.com")
	f("node.js and io.js README.md a.py 1.2.3.4 example.coma foo.123 a@example.com /a.com a.com(", "")
	f("the end.It is a_b.com x.y.z -a.invalid a..com .com com. example.com_ $a.com a.com=b", "")
	f("range tt.in { s.ch <- r.to; commitLock.mu.Lock() } ins.as t.id commitLock.mu", "")
	f("gopkg.in MLB.tv t.co tt.in/x who.is x.com Xiph.org HONNEF.CO", "gopkg.in MLB.tv t.co tt.in/x who.is x.com Xiph.org HONNEF.CO")
	f("list.next test.data x.call 192.0.2.0/24 0.0.0.0/0 item.Com", "")
	f("blog.example.dev/a example.dev example.cloud/ президент.рф", "blog.example.dev/a example.dev example.cloud/")
	f("http://a.example/www.example.com", "http://a.example/www.example.com")

	// A heuristic completes it if there is no base.
	base := uri.MustParse("http://a/b/")
	for text, want := range map[string][2]string{
		"www.w3.org/Addressing/": {"http://www.w3.org/Addressing/", "http://a/b/www.w3.org/Addressing/"},
		"ftp.example.com/a":      {"ftp://ftp.example.com/a", "http://a/b/ftp.example.com/a"},
		"example.com":            {"http://example.com", "http://a/b/example.com"},
	} {
		for i, o := range []Options{{Abbreviated: true}, {Abbreviated: true, Base: base}} {
			for g := range Bytes([]byte(text), o) {
				if g.Target.String() != want[i] || g.Kind != Abbreviated || g.Text != text {
					t.Errorf("U03-75: %s with base %v: %v, %q leads to %v, want %s", text, o.Base, g.Kind, g.Text, g.Target, want[i])
				}
			}
		}
	}
	required(t, "U03-75: without the option", Options{})("www.w3.org/Addressing/ example.com", "")
}

func TestMail(t *testing.T) {
	f := func(text, want string) { t.Helper(); found(t, Options{Mail: true}, text, want) }
	f("Write to jim@example.org, <a.b+c@example.com>; (o'neil@example.co.uk).", "jim@example.org a.b+c@example.com o'neil@example.co.uk")
	f("mailto:jim@example.org", "mailto:jim@example.org")
	f("git@github.com:a/b a@b @a.com a@ a@.com a..b@c.com a.@b.com x@y.notatld a@b.com(c) a@b.c@d.com", "")
	f("http://u@a.example/", "http://u@a.example/")
	found(t, Options{}, "jim@example.org", "")
	for g := range Bytes([]byte("a%b@example.org"), Options{Mail: true}) {
		t.Errorf("found %q", g.Spelling)
	}
	for g := range Bytes([]byte("a/b#c@example.org"), Options{Mail: true}) {
		if want := "mailto:a/b%23c@example.org"; g.URI.String() != want {
			t.Errorf("%q is %v, want %s", g.Spelling, g.URI, want)
		}
	}
}

func TestIRIs(t *testing.T) {
	o := Options{IRI: true}
	f := func(text, want string) { t.Helper(); found(t, o, text, want) }
	f("http://größe.example/ü, a", "http://größe.example/ü")
	f("„http://a.example/ü“ «http://a.example/é»", "http://a.example/ü http://a.example/é")
	f("http://a.example/日本。", "http://a.example/日本")
	f("http://en.example/Hatfield–McCoy – a", "http://en.example/Hatfield–McCoy")
	f("http://a.example/a", "http://a.example/a")
	found(t, Options{}, "http://größe.example/ http://a.example/ü http://a.example/Aho–Corasick", "") // truncated, they would be different identifiers
	found(t, Options{}, "请看http://a.example/a的网页", "http://a.example/a")
	for g := range Bytes([]byte("http://a.example/ü http://a.example/u"), o) {
		if (g.Kind == IRI) == strings.HasSuffix(g.Text, "u") {
			t.Errorf("%q is of kind %v", g.Text, g.Kind)
		}
	}
}

func TestBaseOfText(t *testing.T) {
	retrieved, fallback := uri.MustParse("http://a/b#c"), uri.MustParse("http://d/")
	for _, test := range []struct {
		o          Options
		base, rule string
	}{
		{Options{}, "", ""},
		{Options{Base: retrieved, Default: fallback}, "http://a/b", BaseRetrieval},
		{Options{Default: fallback}, "http://d/", BaseDefault},
	} {
		for g := range Bytes([]byte("http://x.example/"), test.o) {
			if g.Base != test.base || g.BaseRule != test.rule || g.Target != g.URI {
				t.Errorf("base %q by %q, want %q by %q", g.Base, g.BaseRule, test.base, test.rule)
			}
		}
	}
}

func TestTooLong(t *testing.T) {
	long := "http://a.example/" + strings.Repeat("a", MaxLength)
	found(t, Options{}, long+" http://b.example/", "http://b.example/")
	found(t, Options{}, long+"http://c.example/ http://b.example/", "http://b.example/")
	found(t, Options{}, "<"+long+">", "")
	fits := long[:MaxLength-1]
	found(t, Options{}, fits+" http://b.example/", fits+" http://b.example/")
}

func TestPlaces(t *testing.T) {
	const text = "a <http://a.example/x\n y>, (urn:isbn:1) (urn:isbn:2-\n3?x)"
	var got []string
	for g := range Bytes([]byte(text), Options{}) {
		if text[g.Start:g.End] != g.Text {
			t.Errorf("%q is at %d to %d", g.Text, g.Start, g.End)
		}
		got = append(got, g.Text)
	}
	if want := []string{"http://a.example/x\n y", "urn:isbn:1", "urn:isbn:2-\n3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAllocations(t *testing.T) {
	text := []byte(strings.Repeat("Lorem ipsum: dolor a:b 10:30 std::string amet, www and so on. ", 100))
	if n := testing.AllocsPerRun(10, func() {
		for range Bytes(text, everything) {
			t.Error("found")
		}
	}); n > 1 {
		t.Errorf("%v allocations in a text without identifiers", n)
	}
}
