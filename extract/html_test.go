package extract

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nomen-project/nomen/uri"
)

// collect returns the findings of a document, and checks their spans.
func collect(t *testing.T, doc string, o Options) (found []Finding, errs []error) {
	t.Helper()
	for f, err := range HTML(strings.NewReader(doc), o) {
		if err != nil {
			errs = append(errs, err)
		}
		if err == nil || f.Text != "" {
			checkSpan(t, doc, f)
			found = append(found, f)
		}
	}
	return found, errs
}

func checkSpan(t *testing.T, doc string, f Finding) {
	t.Helper()
	if f.Start < 0 || f.End < f.Start || f.End > int64(len(doc)) {
		t.Fatalf("%q: span %d to %d", f.Spelling, f.Start, f.End)
	}
	if got := doc[f.Start:f.End]; got != f.Text {
		t.Errorf("octets %d to %d are %q, want %q", f.Start, f.End, got, f.Text)
	}
}

// show formats findings as lines of the form "where: spelling -> target".
func show(found []Finding) string {
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.Where + ": " + f.Spelling)
		if f.Target.String() != f.Spelling {
			b.WriteString(" -> " + f.Target.String())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestHTMLAttributes(t *testing.T) {
	o := Options{Base: uri.MustParse("http://a.example/b/c")}
	for _, tt := range []struct{ name, doc, want string }{
		{"anchor", `<a href="x y">`, "a href: x y -> http://a.example/b/x%20y\n"},
		{"case and no quotes", `<A HREF=x.html CLASS=y>`, "a href: x.html -> http://a.example/b/x.html\n"},
		{"single quotes", `<a href='x"y'>`, "a href: x\"y -> http://a.example/b/x%22y\n"},
		{"reference", `<a href="x?a=1&amp;b=2&copy=3">`, "a href: x?a=1&b=2&copy=3 -> http://a.example/b/x?a=1&b=2&copy=3\n"},
		{"numeric reference", `<a href="&#x68;ttp&#58;//e.example/">`, "a href: http://e.example/\n"},
		{"space around and line ends within", "<a href=' \n http://e.example/\n\ta '>", "a href: http://e.example/a\n"},
		{"two of one name", `<a href=one href=two>`, "a href: one -> http://a.example/b/one\n"},
		{"without a value first", `<a href href=two>`, ""},
		{"empty", `<a href=""><img src=' '>`, ""},
		{"value missing", `<a href=>x</a><a href>`, ""},
		{"slash before the name", `<img/src=x/>`, "img src: x/ -> http://a.example/b/x/\n"},
		{
			"srcset", `<img srcset="a.png, b.png 2x,c,d.png 100w, e(,).png (1,2) x, f.png">`,
			"img srcset: a.png -> http://a.example/b/a.png\nimg srcset: b.png -> http://a.example/b/b.png\n" +
				"img srcset: c,d.png -> http://a.example/b/c,d.png\nimg srcset: e(,).png -> http://a.example/b/e(,).png\n" +
				"img srcset: f.png -> http://a.example/b/f.png\n",
		},
		{"ping", `<a ping="/p  http://q.example/">`, "a ping: /p -> http://a.example/p\na ping: http://q.example/\n"},
		{ // one separator, and white space
			"refresh with signs", `<meta http-equiv=refresh content="0;;url=x"><meta http-equiv=refresh content="0 , url = y"><meta http-equiv=refresh content="0 z"><meta http-equiv=refresh content="0 ;">`,
			"meta content: ;url=x -> http://a.example/b/;url=x\nmeta content: y -> http://a.example/b/y\nmeta content: z -> http://a.example/b/z\n",
		},
		{"refresh", `<meta http-equiv=Refresh content="5; URL='/n'">`, "meta content: /n -> http://a.example/n\n"},
		{
			"refresh without url", `<meta http-equiv=refresh content="0,next.html"><meta http-equiv=refresh content=300>`,
			"meta content: next.html -> http://a.example/b/next.html\n",
		},
		{
			"meta", `<meta property="og:url" content="https://e.example/p"><meta name=viewport content="width=device-width">`,
			"meta content: https://e.example/p\n",
		},
		{"meta with text", `<meta name=description content="see http://e.example/q for more">`, "meta content: http://e.example/q\n"},
		{"form", `<form action=/s><button formaction=/t>`, "form action: /s -> http://a.example/s\nbutton formaction: /t -> http://a.example/t\n"},
		{
			"style attribute", `<p style="background: URL( 'i.png' ) , url(&quot;j.png&quot;)">`,
			"p style url(): i.png -> http://a.example/b/i.png\np style url(): j.png -> http://a.example/b/j.png\n",
		},
		{
			"svg", `<svg><use xlink:href="#a"/><image href=i.png /><rect fill="url(#g)"/></svg>`,
			"use xlink:href: #a -> http://a.example/b/c#a\nimage href: i.png -> http://a.example/b/i.png\nrect fill url(): #g -> http://a.example/b/c#g\n",
		},
		{
			"object", `<object codebase="/code/" data="x" archive="y z">`,
			"object codebase: /code/ -> http://a.example/code/\nobject data: x -> http://a.example/code/x\n" +
				"object archive: y -> http://a.example/code/y\nobject archive: z -> http://a.example/code/z\n",
		},
		{"applet", `<applet archive="a.jar, b.jar">`, "applet archive: a.jar -> http://a.example/b/a.jar\napplet archive: b.jar -> http://a.example/b/b.jar\n"},
		{"param", `<param name=movie value=m.swf><param name=loop value=true>`, "param value: m.swf -> http://a.example/b/m.swf\n"},
		{"urn", `<link rel=cite-as href="urn:isbn:0451450523">`, "link href: urn:isbn:0451450523\n"},
		{"backslashes", `<a href="\x\y?a\b">`, "a href: \\x\\y?a\\b -> http://a.example/x/y?a%5Cb\n"},
		{
			"international", `<a href="http://bücher.example/ü?ü">`,
			"a href: http://bücher.example/ü?ü -> http://xn--bcher-kva.example/%C3%BC?%C3%BC\n",
		},
		{"colon without scheme", `<a href="1 a:b">`, "a href: 1 a:b -> http://a.example/b/1%20a:b\n"},
		{"bad escape and brackets", `<a href="http://[::1]/100%[x]#a#b">`, "a href: http://[::1]/100%[x]#a#b -> http://[::1]/100%25%5Bx%5D#a%23b\n"},
		{"rdfa", `<p about="/t" resource="[ex:a]" vocab="http://schema.example/">`, "p about: /t -> http://a.example/t\np vocab: http://schema.example/\n"},
		{
			"data of others", `<p data-src=x data-note="at http://n.example/" data="y" action=z>`,
			"p data-src: x -> http://a.example/b/x\np data-note: http://n.example/\n",
		},
		{"in a comment", `<!-- <a href=x> --><a href=y>`, "a href: y -> http://a.example/b/y\n"},
		{
			"short comments", `<!--><a href=x><!---><a href=y><!-- - --!><a href=z>`,
			"a href: x -> http://a.example/b/x\na href: y -> http://a.example/b/y\na href: z -> http://a.example/b/z\n",
		},
		{"in a script", `<script>"<a href=x>"</script><a href=y>`, "a href: y -> http://a.example/b/y\n"},
		{"hidden end of a script", `<script><!-- <script> </script> <a href=x> --></script><a href=y>`, "a href: y -> http://a.example/b/y\n"},
		{"in a title", `<title><a href=x></title><textarea><a href=y></textarea>`, ""},
		{"noscript", `<noscript><img src=n.gif></noscript>`, "img src: n.gif -> http://a.example/b/n.gif\n"},
		{"cdata", `<![CDATA[<a href=x>]]><svg><![CDATA[<a href=y>]]></svg>`, ""},
		{"unquoted with a slash", `<a href=/x/>y`, "a href: /x/ -> http://a.example/x/\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, errs := collect(t, tt.doc, o)
			if got := show(found); got != tt.want {
				t.Errorf("%s\ngot:\n%swant:\n%s", tt.doc, got, tt.want)
			}
			for _, err := range errs {
				t.Error(err)
			}
		})
	}
}

func TestHTMLContent(t *testing.T) {
	o := Options{Base: uri.MustParse("http://a.example/b/c")}
	for _, tt := range []struct{ name, doc, want string }{
		{"text", "<p>See http://e.example/a?b=1&amp;c=2 and more", ": http://e.example/a?b=1&c=2\n"},
		{"text across elements", "<p>http://<b>e</b>.example/<wbr>long", ": http://e.example/long\n"},
		{"text ends with an element", "<p>http://e.example/a<a>b</a>", ": http://e.example/a\n"},
		{
			"line ends are spaces", "<p>(http://e.example/a-\nb) http://e.example/c-\n<pre>(http://e.example/d-\ne)</pre>(http://e.example/f-\ng)",
			": http://e.example/a-\n: http://e.example/c-\n: http://e.example/d-e\n: http://e.example/f-\n",
		},
		{"lines in brackets", "<p>&lt;http://e.example/a<br>b&gt; &lt;URL:http://e.example/c\n d&gt;", ": http://e.example/ab\n: http://e.example/cd\n"},
		{"superscript", "<p>http://e.example/a<sup>1</sup>", ": http://e.example/a\n"},
		{"title", "<title>http://e.example/t&amp;u</title>", ": http://e.example/t&u\n"},
		{"xmp", "<xmp>http://e.example/<b></xmp>", ": http://e.example/\n"},
		{
			"style", `<style>@import "a.css"; @import url(b.css); @namespace "http://n.example/"; p{x:url( c\29 .png )} /* url(d) */ "url(e)"</style>`,
			"style @import: a.css -> http://a.example/b/a.css\nstyle url(): b.css -> http://a.example/b/b.css\nstyle url(): c).png -> http://a.example/b/c).png\n",
		},
		{
			"image-set", `<style>a{b:image-set("a.png" 1x type("image/png"), url(b.png) 2x)}</style>`,
			"style image-set(): a.png -> http://a.example/b/a.png\nstyle url(): b.png -> http://a.example/b/b.png\n",
		},
		{ // CSS Syntax Level 3, 4.3.6 and 4.3.7
			"bad and escaped urls", "<style>a{b:url(c d)}a{b:url(e(f)}a{b:url(g\"h)}a{b:url(i\\\nj)}a{b:\\75 r\\6c(k)}a{b:url(l\n)}a{b:\"m\nurl(n)}a{b:url(\"o\\\r\np\")}a{b:url(q\\0 )}@\\69mport 'r';",
			"style url(): k -> http://a.example/b/k\nstyle url(): l -> http://a.example/b/l\nstyle url(): n -> http://a.example/b/n\nstyle url(): op -> http://a.example/b/op\n" +
				"style url(): q\uFFFD -> http://a.example/b/q%EF%BF%BD\nstyle @import: r -> http://a.example/b/r\n",
		},
		{"other styles", `<style type="text/x">url(a)</style>`, ""},
		{
			"json-ld, the scopes of bases", `<script type="application/ld+json">[{"@context":[{"@base":"http://x.example/"}],"@id":"c","d":{"@context":{"@base":"http://y.example/"},"@id":"e"},"f":{"@id":"g"}},{"@id":"h"}]</script>`,
			"script @base: http://x.example/\nscript @id: c -> http://x.example/c\nscript @base: http://y.example/\nscript @id: e -> http://y.example/e\n" +
				"script @id: g -> http://x.example/g\nscript @id: h -> http://a.example/b/h\n",
		},
		{
			"json-ld, the types of terms", `<script type="application/ld+json">{"@context":["https://schema.org/",{"t":{"@id":"http://t.example/","@type":"@id"},"n":{"@type":"xsd:int"}}],"t":["c","p:d"],"n":"e","url":"/f","image":["g.png","h i.png"],"logo":"j","name":"k.png"}</script>` +
				`<script type="application/ld+json">{"url":"/l","t":"m"}</script>`,
			"script @context: https://schema.org/\nscript @id: http://t.example/\nscript t: c -> http://a.example/b/c\nscript url: /f -> http://a.example/f\nscript image: g.png -> http://a.example/b/g.png\n",
		},
		{
			"json-ld", `<script type="application/ld+json">{"@context":{"@base":"http:\/\/j.example\/d\/"},"@id":"e","http://k.example/":"","s":["https://l.example/\u0061","no"],"d":"x http://m.example/ y","@type":"ex:T"}</script>`,
			"script @base: http://j.example/d/\nscript @id: e -> http://j.example/d/e\nscript http://k.example/: http://k.example/\nscript s: https://l.example/a\nscript d: http://m.example/\n",
		},
		{
			"srcdoc", `<iframe srcdoc="<base href='/i/'><a href=&quot;x&amp;amp;y&quot;>">`,
			"iframe srcdoc base href: /i/ -> http://a.example/i/\niframe srcdoc a href: x&y -> http://a.example/i/x&y\n",
		},
		{
			"no BASE of the document", `<template><base href="http://t.example/"></template><svg><base href="http://s.example/" /></svg><a href=x>`,
			"base href: http://t.example/\nbase href: http://s.example/\na href: x -> http://a.example/b/x\n",
		},
		{
			"srcdoc with the base of the page", `<iframe srcdoc="<a href=x>"></iframe><base href=/z/>`,
			"iframe srcdoc a href: x -> http://a.example/z/x\nbase href: /z/ -> http://a.example/z/\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, errs := collect(t, tt.doc, o)
			if got := show(found); got != tt.want {
				t.Errorf("%s\ngot:\n%swant:\n%s", tt.doc, got, tt.want)
			}
			for _, err := range errs {
				t.Error(err)
			}
		})
	}
}

// The findings do not depend on how the document is split into reads.
func TestHTMLSplits(t *testing.T) {
	doc := `<!doctype html><!-- c --><title>T&amp;U</title><base href="http://a&period;example/"><a href="x?&amp;y">http://e.exam<b>p</b>le/&amp;z</a>` +
		"<script><!-- <script></script> --></script><style>a{b:url(c)}</style><img srcset='a 1x, b'>end"
	want, _ := collect(t, doc, Options{})
	if len(want) != 6 {
		t.Fatalf("got %d findings, want 6:\n%s", len(want), show(want))
	}
	for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(doc)), iotest.DataErrReader(strings.NewReader(doc))} {
		var got []Finding
		for f, err := range HTML(r, Options{}) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, f)
		}
		if show(got) != show(want) {
			t.Errorf("got:\n%swant:\n%s", show(got), show(want))
		}
	}
}

// Errors are reported with their offset, and valid references are kept.
func TestHTMLErrors(t *testing.T) {
	long := strings.Repeat("x", maxValue)
	for _, tt := range []struct{ name, doc, found, err string }{
		{"no reference", `<a href=x><a href="http://[x">`, "a href: x\n", `offset 19: invalid reference: uri: "http://[x": offset 7: IP-literal`},
		{"no base for it", `<base href="data:x"><a href=y>`, "base href: data:x\na href: y\n", ""},
		{"end in a tag", `<a href=x><img src="y" class=z`, "a href: x\nimg src: y\n", "offset 10: unexpected end of document in a tag"},
		{"end in a value", `<a href=x><img src="y`, "a href: x\n", "offset 10: unexpected end of document in a tag"},
		{"long value", "<a href='" + long + "x' ping=y><a href=z>", "a ping: y\na href: z\n", "offset 9: attributes of a tag too long: this attribute is skipped"},
		{"long values", "<a title='" + long[1:] + "' cite=yy><a href=z>", "a href: z\n", "offset 16777232: attributes of a tag too long: this attribute is skipped"},
		{"long style", "<style>a{b:url(x)}" + long + "</style><a href=z>", "style url(): x\na href: z\n", "style element too long: the rest of it is skipped"},
		{"deep documents", deepSrcdoc(5), "a href: x\niframe srcdoc a href: x\niframe srcdoc iframe srcdoc a href: x\n" +
			"iframe srcdoc iframe srcdoc iframe srcdoc a href: x\niframe srcdoc iframe srcdoc iframe srcdoc iframe srcdoc a href: x\n", "too many nested documents: this one is skipped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var found []Finding
			var errs []string
			for f, err := range HTML(strings.NewReader(tt.doc), Options{}) {
				if err != nil {
					errs = append(errs, err.Error())
				} else {
					found = append(found, f)
				}
			}
			if got := show(found); strings.ReplaceAll(got, " -> ", "") != tt.found {
				t.Errorf("got:\n%swant:\n%s", got, tt.found)
			}
			if tt.err == "" && len(errs) > 0 || tt.err != "" && (len(errs) != 1 || !strings.Contains(errs[0], tt.err)) {
				t.Errorf("got errors %q, want %q", errs, tt.err)
			}
		})
	}
}

// deepSrcdoc returns nested documents with a link in each.
func deepSrcdoc(n int) string {
	doc := "<a href=x>"
	for range n {
		doc = "<a href=x><iframe srcdoc=\"" + strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(doc) + "\">"
	}
	return doc
}

// A BASE applies to earlier references too, unless there are too many.
func TestHTMLLateBase(t *testing.T) {
	links := func(n int) string { return strings.Repeat("<a href=x>", n) }
	o := Options{Base: uri.MustParse("http://a.example/")}
	found, errs := collect(t, links(maxHeld-1)+"<base href=/b/><base href=/c/>"+links(1), o)
	for _, f := range found {
		if f.Where == "a href" && f.Target.String() != "http://a.example/b/x" {
			t.Fatalf("offset %d: got %s", f.Start, f.Target)
		}
	}
	if len(errs) > 0 {
		t.Errorf("got errors %v", errs)
	}
	found, errs = collect(t, links(maxHeld+1)+"<base href=/b/><base href=/c/>"+links(1), o)
	for i, f := range found {
		want := "http://a.example/x"
		if i > maxHeld+2 {
			want = "http://a.example/b/x"
		}
		if f.Where == "a href" && f.Target.String() != want {
			t.Fatalf("finding %d: got %s, want %s", i, f.Target, want)
		}
	}
	if want := fmt.Sprintf("offset %d: BASE too late", 10*(maxHeld+1)); len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), want) {
		t.Errorf("got errors %v, want %q", errs, want)
	}
}

// Reading stops when the caller stops the iteration.
func TestStopInDocuments(t *testing.T) {
	for _, tt := range []struct {
		text string
		read func(io.Reader, Options) iter.Seq2[Finding, error]
	}{
		{"<a href=x>", HTML},
		{"<title>http://a.example/</title>", HTML},
		{"<a srcset='x 1x,y 2x'><style>@import 'z'</style>", HTML},
		{"\nhttp://a.example/ ", MIME},
		{"X: http://a.example/\n", MIME},
		{"From a 10:10:10\nContent-Type: text/html\n\n<a href=x>\n\n", MIME},
	} {
		r := &repeated{text: strings.Repeat(tt.text, 1000), n: 1 << 30}
		n := 0
		for range tt.read(r, Options{}) {
			if n++; n == 3 {
				break
			}
		}
		if n != 3 {
			t.Errorf("%q: got %d findings, want 3", tt.text, n)
		}
	}
}

// An error of the reader comes last, after the findings before it.
func TestReaderErrorInDocuments(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		text string
		read func(io.Reader, Options) iter.Seq2[Finding, error]
	}{{"<a href=x>http://a.example/ ", HTML}, {"X: http://a.example/\n\nhttp://a.example/ ", MIME}} {
		n := 0
		var last error
		for _, err := range tt.read(io.MultiReader(strings.NewReader(tt.text), iotest.ErrReader(broken)), Options{}) {
			if last = err; err == nil {
				n++
			}
		}
		if n != 2 || !errors.Is(last, broken) {
			t.Errorf("%q: got %d findings, then %v", tt.text, n, last)
		}
	}
}
