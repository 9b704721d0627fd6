package uri_test

import (
	"errors"
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

var http = uri.SchemeRules{Scheme: "http", DefaultPort: "80", RootPath: true}

func reference(s string) uri.URI {
	u, err := uri.ParseReference(s)
	if err != nil {
		panic(err)
	}
	return u
}

func Example() {
	u, err := uri.Parse("http://user@example.com:8080/a/b?c=d#e")
	if err != nil {
		fmt.Println(err)
		return
	}
	host, _ := u.Host()
	port, _ := u.Port()
	fmt.Println(host, port, u.Path())
	// Output: example.com 8080 /a/b
}

func ExampleParse() {
	_, err := uri.Parse("http://example.com/a b")
	fmt.Println(err)
	_, err = uri.Parse("a/b")
	fmt.Println(err)
	// Output:
	// uri: "http://example.com/a b": offset 20: pchar: unexpected ' '; percent-encode it as %20 (rfc3986)
	// uri: "a/b": offset 1: scheme: missing scheme, such as https: (rfc3986)
}

func ExampleParseReference() {
	u, err := uri.ParseReference("../a?b")
	fmt.Println(u, u.IsReference(), err)
	// Output: ../a?b true <nil>
}

func ExampleMustParse() {
	fmt.Println(uri.MustParse("urn:isbn:0451450523"))
	// Output: urn:isbn:0451450523
}

func ExampleError() {
	_, err := uri.Parse("http://[::1")
	var e *uri.Error
	if errors.As(err, &e) {
		fmt.Println(e.Offset, e.Rule, e.Code)
	}
	// Output: 7 IP-literal invalid IP literal
}

func ExampleError_Error() {
	_, err := uri.Parse("x:%2")
	fmt.Println(err)
	// Output: uri: "x:%2": offset 2: pct-encoded: found '%': a percent sign must be followed by two hexadecimal digits (rfc3986)
}

func ExampleError_Violation() {
	_, err := uri.Parse("http://example.com/a b")
	var bad uri.InputError
	if errors.As(err, &bad) {
		v := bad.Violation()
		fmt.Printf("%s\n%*s^ %s\n", v.Input, v.Offset, "", v.Message)
	}
	// Output:
	// http://example.com/a b
	//                     ^ unexpected ' '; percent-encode it as %20
}

func ExampleFinding_Error() {
	for _, f := range uri.RFC3986.Inspect("http://example.com/a b") {
		if f.Severity == uri.SeverityError {
			fmt.Println(f.Error())
		}
	}
	// Output: offset 20: pchar: unexpected ' '; percent-encode it as %20
}

func ExampleFinding_Violation() {
	for _, f := range uri.RFC3986.Inspect("http://example.com/%zz") {
		if f.Severity == uri.SeverityError {
			fmt.Println(f.Violation().Offset, f.Violation().Rule)
		}
	}
	// Output: 19 pct-encoded
}

func ExampleCode_String() {
	fmt.Println(uri.CodePort)
	// Output: a port must be decimal digits
}

func ExampleDialect() {
	for _, d := range []uri.Dialect{uri.Draft1993, uri.Draft1997, uri.Draft2003, uri.RFC3986} {
		_, tilde := d.Check("http://example.com/~x")
		_, brackets := d.Check("foo:[x]")
		fmt.Println(d, tilde == uri.CodeNone, brackets == uri.CodeNone)
	}
	// Output:
	// 1993 false false
	// 1997 true false
	// 2003 true true
	// rfc3986 true false
}

func ExampleDialect_String() {
	fmt.Println(uri.Draft1997, uri.Latest)
	// Output: 1997 rfc3986
}

func ExampleDialect_IsValid() {
	fmt.Println(uri.Latest.IsValid(), uri.Dialect(0).IsValid())
	// Output: true false
}

func ExampleParseDialect() {
	fmt.Println(uri.ParseDialect("2003"))
	// Output: 2003 true
}

func ExampleDialect_Parse() {
	u, err := uri.Draft1997.Parse("1a:b")
	fmt.Println(u, err)
	// Output: 1a:b <nil>
}

func ExampleDialect_ParseReference() {
	u, err := uri.Draft2003.ParseReference("//a:b:c/d")
	fmt.Println(u.HostKind(), err)
	// Output: registry <nil>
}

func ExampleCheck() {
	fmt.Println(uri.Check("http://a/%zz"))
	// Output: 9 a percent sign must be followed by two hexadecimal digits
}

func ExampleDialect_Check() {
	offset, code := uri.Latest.Check("http://a/<b>")
	fmt.Println(offset, code)
	// Output: 9 unexpected character
}

func ExampleDialect_CheckRule() {
	fmt.Println(uri.Draft1997.CheckRule("hostname", "3com.com"))
	fmt.Println(uri.Draft1997.CheckRule("hostname", "example.com."))
	// Output:
	// <nil>
	// uri: "example.com.": offset 12: hostname: found the end: does not match the rule (1997)
}

func ExampleDialect_Rules() {
	n := 0
	for range uri.RFC3986.Rules() {
		n++
	}
	fmt.Println(n)
	// Output: 39
}

func ExampleDialect_Escape() {
	fmt.Println(uri.RFC3986.Escape(uri.ComponentSegment, "a/b;c"))
	fmt.Println(uri.Draft1997.Escape(uri.ComponentSegment, "a/b;c"))
	// Output:
	// a%2Fb;c
	// a%2Fb%3Bc
}

func ExampleUndelimit() {
	fmt.Println(uri.Undelimit("<URL: http://example.org/a-\n  b>"))
	fmt.Println(uri.Undelimit("http://example.org/"))
	// Output:
	// http://example.org/a-b true
	// http://example.org/ false
}

func ExampleDelimitedOffset() {
	const s = "<urn:example:\n %zz>"
	inner, _ := uri.Undelimit(s)
	_, err := uri.Parse(inner)
	var bad *uri.Error
	if errors.As(err, &bad) {
		fmt.Println(bad.Offset, uri.DelimitedOffset(s, bad.Offset))
	}
	// Output:
	// 12 15
}

func ExampleDialect_EscapeText() {
	fmt.Println(uri.RFC3986.EscapeText(uri.ComponentSegment, "é"))
	fmt.Println(uri.Draft1993.EscapeText(uri.ComponentSegment, "é"))
	_, err := uri.Draft1997.EscapeText(uri.ComponentSegment, "é")
	fmt.Println(errors.Is(err, uri.ErrCharset))
	// Output:
	// %C3%A9 <nil>
	// %E9 <nil>
	// true
}

func ExampleDialect_Build() {
	u, err := uri.Latest.Build().
		Set(uri.ComponentScheme, "https").
		Set(uri.ComponentHost, "example.com").
		SetData(uri.ComponentPath, "/a b/ç").
		URI()
	fmt.Println(u, err)
	// Output: https://example.com/a%20b/%C3%A7 <nil>
}

func ExampleDialect_Inspect() {
	for _, f := range uri.Latest.Inspect(`http://good.example\@evil.example/`) {
		fmt.Println(f.Severity, f.Code, f.Offset)
	}
	// Output:
	// warning reader-host 5
	// warning reader-host 5
	// error invalid 19
	// warning backslash 19
}

func ExampleURI_IsValid() {
	fmt.Println(uri.URI{}.IsValid(), reference("").IsValid())
	// Output: false true
}

func ExampleURI_IsReference() {
	fmt.Println(reference("a/b").IsReference(), reference("a:b").IsReference())
	// Output: true false
}

func ExampleURI_String() {
	fmt.Println(uri.MustParse("HTTP://Example.COM").String())
	// Output: HTTP://Example.COM
}

func ExampleURI_Dialect() {
	fmt.Println(uri.MustParse("x:").Dialect())
	// Output: rfc3986
}

func ExampleURI_Clone() {
	text := "see http://example.com/ for more"
	u := uri.MustParse(text[4:23]).Clone() // text can now be garbage collected
	fmt.Println(u)
	// Output: http://example.com/
}

func ExampleURI_Scheme() {
	fmt.Println(uri.MustParse("mailto:a@b").Scheme())
	// Output: mailto true
}

func ExampleURI_Authority() {
	fmt.Println(uri.MustParse("http://u@h:80/").Authority())
	fmt.Println(uri.MustParse("urn:a:b").Authority())
	// Output:
	// u@h:80 true
	//  false
}

func ExampleURI_Userinfo() {
	fmt.Println(uri.MustParse("ftp://user:pw@h/").Userinfo())
	// Output: user:pw true
}

func ExampleURI_Host() {
	fmt.Println(uri.MustParse("http://[::1]:80/").Host())
	// Output: [::1] true
}

func ExampleURI_HostKind() {
	fmt.Println(uri.MustParse("http://127.0.0.1/").HostKind(), uri.MustParse("http://127.1/").HostKind())
	// Output: ipv4 name
}

func ExampleHostKind_String() {
	fmt.Println(uri.HostIPv6)
	// Output: ipv6
}

func ExampleURI_Port() {
	fmt.Printf("%q\n", first(uri.MustParse("http://h:/").Port()))
	// Output: ""
}

func first(s string, _ bool) string { return s }

func ExampleURI_Path() {
	fmt.Println(uri.MustParse("http://h/a%2Fb").Path())
	// Output: /a%2Fb
}

func ExampleURI_Opaque() {
	fmt.Println(uri.MustParse("mailto:a@b").Opaque(), uri.MustParse("foo:/a").Opaque())
	// Output: true false
}

func ExampleURI_Query() {
	fmt.Println(uri.MustParse("http://h/?a=b").Query())
	// Output: a=b true
}

func ExampleURI_Fragment() {
	fmt.Println(uri.MustParse("http://h/#top").Fragment())
	// Output: top true
}

func ExampleURI_WithoutFragment() {
	fmt.Println(uri.MustParse("http://h/#top").WithoutFragment())
	// Output: http://h/
}

func ExampleURI_Addr() {
	fmt.Println(uri.MustParse("http://[0:0::1]/").Addr())
	// Output: ::1 true
}

func ExampleURI_Get() {
	fmt.Println(uri.MustParse("http://h/a").Get(uri.ComponentHost))
	// Output: h true
}

func ExampleURI_Data() {
	fmt.Println(uri.MustParse("http://h/?a%20b").Data(uri.ComponentQuery))
	// Output: a b true
}

func ExampleURI_Parts() {
	for c, piece := range uri.MustParse("http://www.good.example@evil.example/").Parts() {
		fmt.Println(c, piece)
	}
	// Output:
	// scheme http:
	// authority //
	// userinfo www.good.example@
	// host evil.example
	// path /
}

func ExampleComponent_String() {
	fmt.Println(uri.ComponentUserinfo)
	// Output: userinfo
}

func ExampleURI_Segments() {
	for s := range uri.MustParse("http://h/a%2Fb/c").Segments() {
		fmt.Println(s, s.Data())
	}
	// Output:
	// a%2Fb a/b
	// c c
}

func ExampleSegment_Params() {
	u, err := uri.Draft1997.Parse("http://h/a;x=1;y")
	if err != nil {
		fmt.Println(err)
	}
	for s := range u.Segments() {
		fmt.Println(s.Name())
		for p := range s.Params() {
			fmt.Println("-", p)
		}
	}
	// Output:
	// a
	// - x=1
	// - y
}

func ExampleSegment_String() {
	for s := range reference("a;b").Segments() {
		fmt.Println(s.String())
	}
	// Output: a;b
}

func ExampleSegment_Name() {
	for s := range reference("a;b").Segments() {
		fmt.Println(s.Name()) // a semicolon has no meaning in RFC 3986
	}
	// Output: a;b
}

func ExampleSegment_Data() {
	for s := range reference("%41").Segments() {
		fmt.Println(s.Data())
	}
	// Output: A
}

func ExampleURI_Words() {
	u, err := uri.Draft1993.Parse("wais://h/db?cats+and+dogs")
	if err != nil {
		fmt.Println(err)
	}
	for w := range u.Words() {
		fmt.Println(w)
	}
	// Output:
	// cats
	// and
	// dogs
}

func ExampleURI_Resolve() {
	base := uri.MustParse("http://a/b/c/d;p?q")
	for _, s := range []string{"g", "../g", "//h", "?y", "#s", "../../../g"} {
		u, err := base.Resolve(reference(s))
		fmt.Println(u, err)
	}
	// Output:
	// http://a/b/c/g <nil>
	// http://a/b/g <nil>
	// http://h <nil>
	// http://a/b/c/d;p?y <nil>
	// http://a/b/c/d;p?q#s <nil>
	// http://a/g <nil>
}

func ExampleResolver_Resolve() {
	base, _ := uri.Draft2003.Parse("http://a/b/c")
	ref, _ := uri.Draft2003.ParseReference("#s")
	t, err := uri.Resolver{}.Resolve(base, ref)
	fmt.Println(t.SameDocument, t.URI.IsValid(), t.Fragment, err)

	ref, _ = uri.Draft2003.ParseReference("../../g")
	for _, r := range []uri.Resolver{{}, {Excess: uri.ExcessDrop}, {Excess: uri.ExcessRefuse}} {
		t, err := r.Resolve(base, ref)
		fmt.Println(t.URI, err)
	}
	// Output:
	// true false s <nil>
	// http://a/../g <nil>
	// http://a/g <nil>
	//  uri: resolve "../../g" against "http://a/b/c": the reference goes above the root
}

func ExampleURI_Relativize() {
	base := uri.MustParse("http://a/b/c/d")
	for _, s := range []string{"http://a/b/c/e", "http://a/b/c/x:y", "http://h/", "http://a/b/c/d?q"} {
		fmt.Println(base.Relativize(uri.MustParse(s)))
	}
	// Output:
	// e true
	// ./x:y true
	// //h/ true
	// ?q true
}

func ExampleURI_Normalize() {
	u := uri.MustParse("HTTP://Example.COM:80/%7euser/a/../b")
	for l := uri.LevelString; l <= uri.LevelScheme; l++ {
		fmt.Println(l, u.Normalize(l, http))
	}
	// Output:
	// string HTTP://Example.COM:80/%7euser/a/../b
	// case http://example.com:80/%7Euser/a/../b
	// percent http://example.com:80/~user/a/../b
	// path http://example.com:80/~user/b
	// scheme http://example.com/~user/b
}

func ExampleURI_AppendNormal() {
	fmt.Printf("%s\n", uri.MustParse("HTTP://A/").AppendNormal(nil, uri.LevelCase))
	// Output: http://a/
}

func ExampleURI_Changes() {
	changes := uri.MustParse("HTTP://A/").Changes()
	fmt.Println(changes.Has(uri.LevelCase), changes.Has(uri.LevelPath))
	// Output: true false
}

func ExampleLevels_Has() {
	fmt.Println(uri.MustParse("http://a/./").Changes().Has(uri.LevelPath))
	// Output: true
}

func ExampleLevel_String() {
	fmt.Println(uri.LevelPercent)
	// Output: percent
}

func ExampleParseLevel() {
	fmt.Println(uri.ParseLevel("path"))
	// Output: path true
}

func ExampleEquivalent() {
	a, b := uri.MustParse("http://example.com"), uri.MustParse("http://EXAMPLE.com:80/")
	fmt.Println(uri.Equivalent(a, b, uri.LevelPath), uri.Equivalent(a, b, uri.LevelScheme, http))
	// Output: false true
}

func ExampleCompare() {
	fmt.Println(uri.Compare(uri.MustParse("x:/%7Ea"), uri.MustParse("X:/~a")))
	// Output: percent true
}

func ExampleComparer_Equivalent() {
	c := uri.Comparer{NoFragment: true}
	fmt.Println(c.Equivalent(uri.MustParse("http://a/b#c"), uri.MustParse("http://a/b#d"), uri.LevelString))
	// Output: true
}

func ExampleComparer_Compare() {
	seen := map[uri.URI]uri.URI{uri.MustParse("http://a/data"): uri.MustParse("http://a/data/")}
	c := uri.Comparer{Redirects: func(u uri.URI) (uri.URI, bool) { v, ok := seen[u]; return v, ok }}
	fmt.Println(c.Compare(uri.MustParse("http://a/data"), uri.MustParse("http://a/data/")))
	// Output: protocol true
}

func ExampleURI_Inspect() {
	for _, f := range uri.MustParse("http://www.good.example&x=1@0x7f.1/").Inspect() {
		fmt.Println(f.Severity, f.Code, f.Message)
	}
	// Output:
	// warning reader-host browser parses the host as "127.0.0.1"
	// warning reader-host curl parses the host as "127.0.0.1"
	// info userinfo "www.good.example&x=1" is user information, not part of the host
	// warning userinfo-lookalike the host is "0x7f.1"; the part before the @ only looks like a host and is user information
	// warning rare-ipv4 many programs parse "0x7f.1" as the address 127.0.0.1
}

func ExampleSeverity_String() {
	fmt.Println(uri.SeverityWarning)
	// Output: warning
}

func ExampleReader_Read() {
	got, ok := uri.ReaderBrowser.Read(`http:\\a.example`)
	fmt.Println(got.Host, ok)
	// Output: a.example true
}

func ExampleReader_String() {
	fmt.Println(uri.ReaderCurl)
	// Output: curl
}

func ExampleParseNumericHost() {
	fmt.Println(uri.ParseNumericHost("0177.0.0.1"))
	fmt.Println(uri.ParseNumericHost("2130706433"))
	// Output:
	// 127.0.0.1 true
	// 127.0.0.1 true
}

func ExampleURI_Redacted() {
	fmt.Println(uri.MustParse("ftp://user:secret@h/").Redacted())
	// Output: ftp://user:***@h/
}

func ExampleURI_LogValue() {
	fmt.Println(uri.MustParse("ftp://user:secret@h/").LogValue())
	// Output: ftp://user:***@h/
}

func ExampleURI_With() {
	u := uri.MustParse("http://example.com/a")
	fmt.Println(u.With(uri.ComponentQuery, "b=c"))
	_, err := u.With(uri.ComponentHost, "evil.example/x")
	fmt.Println(err)
	// Output:
	// http://example.com/a?b=c <nil>
	// uri: the result would be parsed as different components
}

func ExampleURI_Without() {
	fmt.Println(uri.MustParse("http://example.com/a?b").Without(uri.ComponentQuery))
	// Output: http://example.com/a <nil>
}

func ExampleURI_Builder() {
	u, err := uri.MustParse("http://a/b?c").Builder().Set(uri.ComponentScheme, "https").Clear(uri.ComponentQuery).URI()
	fmt.Println(u, err)
	// Output: https://a/b <nil>
}

func ExampleBuilder_Set() {
	fmt.Println(uri.Latest.Build().Set(uri.ComponentPath, "a%20b").URI())
	// Output: a%20b <nil>
}

func ExampleBuilder_SetData() {
	fmt.Println(uri.Latest.Build().SetData(uri.ComponentPath, "a b").URI())
	// Output: a%20b <nil>
}

func ExampleBuilder_Clear() {
	fmt.Println(uri.MustParse("http://a/b").Builder().Clear(uri.ComponentScheme).URI())
	// Output: //a/b <nil>
}

func ExampleBuilder_URI() {
	_, err := uri.Latest.Build().Set(uri.ComponentPath, "//evil.example").URI()
	fmt.Println(err)
	// Output: uri: the result would be parsed as different components
}

func ExampleDecode() {
	data, err := uri.Decode("a%2Fb+c")
	fmt.Println(data, err)
	// Output: a/b+c <nil>
}

func ExampleUnescape() {
	fmt.Println(uri.Unescape("%2541"))
	// Output: %41 <nil>
}

func ExampleDecodeLatin1() {
	fmt.Println(uri.DecodeLatin1("caf%E9"))
	// Output: café <nil>
}

func ExampleMakeSafer() {
	fmt.Println(uri.MakeSafer("http://a/x%20y'z", "'"))
	// Output: http://a/x%20y%27z
}

func ExampleEscapePathSegment() {
	fmt.Println(uri.EscapePathSegment("a/b c"))
	// Output: a%2Fb%20c
}

func ExampleEscapePath() {
	fmt.Println(uri.EscapePath("a/b c?"))
	// Output: a/b%20c%3F
}

func ExampleEscapeQuery() {
	fmt.Println(uri.EscapeQuery("a=b c#"))
	// Output: a=b%20c%23
}

func ExampleEscapeQueryPart() {
	fmt.Println(uri.EscapeQueryPart("a=b&c+d"))
	// Output: a%3Db%26c%2Bd
}

func ExampleEscapeFragment() {
	fmt.Println(uri.EscapeFragment("a#b"))
	// Output: a%23b
}

func ExampleEscapeUserinfo() {
	fmt.Println(uri.EscapeUserinfo("a:b@c"))
	// Output: a%3Ab%40c
}

func ExampleEscapeHost() {
	fmt.Println(uri.EscapeHost("bücher.example"))
	// Output: b%C3%BCcher.example
}

func ExampleURI_AppendTo() {
	fmt.Printf("%s\n", uri.MustParse("x:y").AppendTo([]byte("see ")))
	// Output: see x:y
}

func ExampleURI_AppendText() {
	b, err := uri.MustParse("x:y").AppendText(nil)
	fmt.Printf("%s %v\n", b, err)
	// Output: x:y <nil>
}

func ExampleURI_MarshalText() {
	b, err := uri.MustParse("x:y").MarshalText()
	fmt.Printf("%s %v\n", b, err)
	// Output: x:y <nil>
}

func ExampleURI_UnmarshalText() {
	var u uri.URI
	err := u.UnmarshalText([]byte("x:y"))
	fmt.Println(u, err)
	// Output: x:y <nil>
}

func ExampleURI_AppendBinary() {
	b, err := uri.MustParse("x:y").AppendBinary(nil)
	fmt.Printf("%q %v\n", b, err)
	// Output: "\x04x:y" <nil>
}

func ExampleURI_MarshalBinary() {
	b, err := uri.MustParse("x:y").MarshalBinary()
	fmt.Printf("%q %v\n", b, err)
	// Output: "\x04x:y" <nil>
}

func ExampleURI_UnmarshalBinary() {
	var u uri.URI
	err := u.UnmarshalBinary([]byte("\x021a:b"))
	fmt.Println(u, u.Dialect(), err)
	// Output: 1a:b 1997 <nil>
}

func ExampleURI_Value() {
	fmt.Println(uri.MustParse("x:y").Value())
	// Output: x:y <nil>
}

func ExampleURI_Scan() {
	var u uri.URI
	err := u.Scan("x:y")
	fmt.Println(u, err)
	// Output: x:y <nil>
}

func ExampleNewCutter() {
	fmt.Println(uri.NewCutter("").Cut("http://example.com/a_(b)"))
	fmt.Println(uri.NewCutter("()").Cut("http://example.com/a_(b)"))
	// Output:
	// http://example.com/a_(b) true
	// http://example.com/a_ true
}

func ExampleCutter_Cut() {
	text := "http://example.com:8080/a?b and more"
	u, ok := uri.NewCutter("").Cut(text)
	fmt.Println(u, ok, text[len(u.String()):])
	// Output: http://example.com:8080/a?b true  and more
}

func ExampleLineBreak() {
	const long = "http://a.example/a-long-name"
	n := uri.LineBreak(long, len("http://a.example/a-long-"))
	fmt.Println(long[:n])
	fmt.Println(long[n:])
	// Output:
	// http://a.example/a-long
	// -name
}
