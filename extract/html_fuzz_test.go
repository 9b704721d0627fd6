package extract

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen/uri"

	"github.com/nomen-project/nomen/extract/internal/source"
)

// checkFinding checks what must hold for every finding.
func checkFinding(t *testing.T, doc []byte, f Finding) {
	t.Helper()
	if f.Start < 0 || f.End <= f.Start || f.End > int64(len(doc)) {
		t.Fatalf("%q: octets %d to %d of %d", f.Spelling, f.Start, f.End, len(doc))
	}
	if got := string(doc[f.Start:f.End]); got != f.Text {
		t.Fatalf("octets %d to %d are %q, want %q", f.Start, f.End, got, f.Text)
	}
	if _, err := uri.ParseReference(f.URI.String()); err != nil || !f.URI.IsValid() {
		t.Fatalf("%q (%s): %v", f.Spelling, f.URI, err)
	}
	if f.Target.IsValid() {
		if _, err := uri.Parse(f.Target.String()); err != nil {
			t.Fatalf("target of %q: %v", f.Spelling, err)
		}
	}
	if f.Spelling == "" {
		t.Fatalf("octets %d to %d have no spelling", f.Start, f.End)
	}
}

var fuzzOptions = []Options{{}, {Base: uri.MustParse("http://a.example/b/c?d"), Mail: true, Abbreviated: true, IRI: true}}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{
		`<base href=/x><a href="y&amp;z">http://e.exa<b>mple</b>/&#97;</a><img srcset="a 1x, b (,) 2x,c">`,
		`<style>@import "a"; b{c:url( d\29 )} e{f:image-set("g" 1x)}</style><p style="a:url('b')">`,
		`<script type="application/ld+json">{"@id":"a\u0062","b":["http://c.example/\ud83d\ude00"]}</script>`,
		`<iframe srcdoc="<base href='/i'><a href=&quot;x&amp;amp;y&quot;>"></iframe><svg><![CDATA[x]]><a xlink:href="#y"/></svg>`,
		`<meta http-equiv=refresh content="5; url='x'"><meta charset=shift_jis><a href=` + "\x83\\>",
		"<!-- --!><!doctype html><title>http://a.example/&amp;</title><plaintext>http://b.example/",
		"\xff\xfe<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00x\x00>\x00",
		`<object codebase=/c/ data=d archive="e f"><param name=movie value=g><template><base href=h></template>`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, o := range fuzzOptions {
			for f, err := range HTML(bytes.NewReader(doc), o) {
				if err == nil {
					checkFinding(t, doc, f)
				}
			}
		}
	})
}

// lexed returns the tags that the lexer reads, with their references, as "tag
// attr=value".
type lexed struct{ tags []string }

func (x *lexed) wants(_, attr []byte) attrKind {
	return only(attrURL, string(attr) == "href" || string(attr) == "src")
}
func (x *lexed) chars(int, bool)                {}
func (x *lexed) endTag(name []byte)             { x.tags = append(x.tags, "/"+string(name)) }
func (x *lexed) rawText(string, *source.Mapped) {}
func (x *lexed) readsRaw(*htmlTag) bool         { return false }
func (x *lexed) holds() int64                   { return noHold }
func (x *lexed) startTag(t *htmlTag) {
	tag := string(t.name)
	for i := range t.attrs {
		if value := string(t.attrs[i].value.Text); value != "" {
			tag += " " + string(t.attrs[i].name) + "=" + value
		}
	}
	if t.complete {
		x.tags = append(x.tags, tag)
	}
}

// tokenized returns the same as read by golang.org/x/net/html.
func tokenized(doc []byte) (tags []string) {
	z := html.NewTokenizer(bytes.NewReader(doc))
	foreign := 0
	for {
		z.AllowCDATA(foreign > 0)
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return tags
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
		default:
			continue
		}
		token := z.Token()
		name := token.Data
		if len(name) > maxName {
			name = ""
		}
		isForeign := name == "svg" || name == "math"
		if kind == html.EndTagToken {
			if isForeign && foreign > 0 {
				foreign--
			}
			tags = append(tags, "/"+name)
			continue
		}
		if isForeign && kind == html.StartTagToken {
			foreign++
		}
		raw := rawElement(name) && (foreign == 0 || kind == html.StartTagToken && (name == "script" || name == "style"))
		if !raw {
			z.NextIsNotRawText()
		}
		tag := name
		for _, a := range token.Attr {
			if (a.Key == "href" || a.Key == "src") && a.Val != "" {
				tag += " " + a.Key + "=" + a.Val
			}
		}
		tags = append(tags, tag)
	}
}

// The lexer reads the same tags and values as the tokenizer of
// golang.org/x/net.
func FuzzHTMLTokens(f *testing.F) {
	for _, s := range []string{
		`<a href="x&amp;y&notit;&copy=z&#x31g">`, `<a/b/href=x/><a href = 'y' src>`, `<!--a--!><a href=x><!--->--><b>`,
		`<script><!--<script></script>--></script><a href=x>`, `<title><a></title ><textarea></textareaa></textarea>`,
		`<svg><title><a href=x></title><![CDATA[<b>]]></svg>`, `</ a><?b><!c><//d></e f=g>`, `<a href=x`, `<xmp></xmp/><plaintext><a>`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if bytes.ContainsAny(doc, "\x00\r") {
			return // handled at another level here
		}
		x := &lexed{}
		tape := source.NewTape(bytes.NewReader(doc))
		l := htmlLexer{Window: source.Window{Feed: tape.Feed()}, tape: tape, hold: noHold, to: x, err: func(int64, string) {}}
		l.lex()
		if want := tokenized(doc); !slices.Equal(x.tags, want) {
			t.Errorf("%q\ngot  %q\nwant %q", doc, x.tags, want)
		}
	})
}

// The links of a document keep their targets when a base is embedded.
func FuzzEmbedBase(f *testing.F) {
	for _, s := range []string{
		"<!doctype html><html><head><title>t</title><a href=x>", "<html", "x<a href=x>", "<base href='x'><a href=y>", "<a href=x><base href=/z>",
		"\ufeff <svg><base href=a></svg><template><base href=b></template><a href=c>", "\xff\xfe<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00x\x00>\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		base := uri.MustParse("http://a.example/b/c?d&e")
		var b bytes.Buffer
		if err := EmbedBase(&b, bytes.NewReader(doc), base); err != nil {
			t.Fatal(err)
		}
		if source.HTMLCharset(doc[:min(len(doc), source.SniffLength)], "") != source.HTMLCharset(b.Bytes()[:min(b.Len(), source.SniffLength)], "") {
			return // the location has moved
		}
		links := func(doc []byte, o Options) string {
			var b strings.Builder
			for f := range HTML(bytes.NewReader(doc), o) {
				if f.Where != "base href" && f.URI.IsValid() {
					b.WriteString(f.Target.String() + "\n")
				}
			}
			return b.String()
		}
		if got, want := links(b.Bytes(), Options{}), links(doc, Options{Base: base}); got != want {
			t.Errorf("%q\n%q\ngot:\n%swant:\n%s", doc, b.Bytes(), got, want)
		}
	})
}
