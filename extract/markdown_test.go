package extract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/uri"
)

// inMarkdown returns where each finding is, its text and its target.
func inMarkdown(t *testing.T, text string, o Options) (list []string) {
	t.Helper()
	for f, err := range Markdown(strings.NewReader(text), o) {
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if got := text[f.Start:f.End]; got != f.Text {
			t.Errorf("%q: the text is %q, the document has %q there", text, f.Text, got)
		}
		target := f.Target.String()
		if !f.Target.IsValid() {
			target = f.URI.String()
		}
		list = append(list, strings.TrimSpace(f.Where+" "+fmt.Sprintf("%q", f.Text)+" "+target))
	}
	return list
}

func TestMarkdown(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		// Links and images (CommonMark 0.31, 6.3 and 6.4).
		{"[a](http://a.example/b_(c) \"title\") and ![i](<d e.png>)", []string{`link "http://a.example/b_(c)" http://a.example/b_(c)`, `image "d e.png" d%20e.png`}},
		{`[a](b\(c) [d](e&amp;f) [g]() [h](<>) [i](j k)`, []string{`link "b\\(c" b(c`, `link "e&amp;f" e&f`}},
		{"[![i](a.png)](b) [c [d](e)](f) ![g [h](k)](l)", []string{`image "a.png" a.png`, `link "b" b`, `link "e" e`, `link "k" k`, `image "l" l`}},
		{"[a](\n  b\n  'c\nd') \\[e](f) [g](h", []string{`link "b" b`}},
		{"[a](((((b))))) [c](d(e f)", []string{`link "((((b))))" ((((b))))`}},

		// Definitions (4.7); the reference has no destination of its own.
		{"[a][b] [b] ![c][b]\n\n[b]: /url \"x\n y\"\n[c]: <u v> z\n[^1]: note\n  [d]:\n  e\n", []string{`definition "/url" /url`}},
		{"[d]:\n  e\n[f]: g 'h'\ntext\n[i]: j\n", []string{`definition "e" e`, `definition "g" g`}},
		{"> [a]: b\n> c\n\n- [d]: e\n", []string{`definition "b" b`, `definition "e" e`}},

		// Autolinks (6.5), text, and characters around.
		{"<http://a.example/?q=1&r> **http://b.example/** _http://c.example/d_ <a.b> <made-up:x>", []string{
			`autolink "http://a.example/?q=1&r" http://a.example/?q=1&r`, `"http://b.example/" http://b.example/`, `"http://c.example/d" http://c.example/d`, `autolink "made-up:x" made-up:x`,
		}},
		{"[http://a.example/](http://b.example/)http://c.example/", []string{`"http://a.example/" http://a.example/`, `link "http://b.example/" http://b.example/`, `"http://c.example/" http://c.example/`}},

		// Code is left out (4.4, 4.5, 6.1).
		{"`http://a.example/` ``[b](c) ` d`` ` [e](f)", []string{`link "f" f`}},
		{"a\n\n    http://a.example/\n\n```\nhttp://b.example/\n``\n~~~\n```\n~~~~ x\n[c](d)\n~~~~\n[e](f)\n    [g](h)\n", []string{`link "f" f`, `link "h" h`}},
		{"- a\n\n      code http://a.example/\n\n  [b](c)\n\n1.  ```\n    [d](e)\n    ```\n2. [f](g)\n", []string{`link "c" c`, `link "g" g`}},
		{"> ```\n> [a](b)\n[c](d)\n", []string{`link "d" d`}},
		{"> a\n[b](c)\n===\n# [d](e) #\n", []string{`link "c" c`, `link "e" e`}},

		// HTML blocks and tags (4.6, 6.6).
		{"<p><a href=\"b\">c</a>\n[d](e)\n\n[f](g) <img src='h'> <!-- http://a.example/ -->i\n", []string{`a href "b" b`, `link "g" g`, `img src "h" h`}},
		{"<script>\n[a](b)\n\nhttp://a.example/\n</script>\n[c](d)\n", []string{`link "d" d`}},
		{"<div>\n\n[a](b)\n\n</div>\n", []string{`link "b" b`}},
	} {
		if got := inMarkdown(t, tt.text, Options{}); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got\n%s\nwant\n%s", tt.text, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// A relative destination is resolved, and identifiers without a scheme are found.
func TestMarkdownOptions(t *testing.T) {
	o := Options{Base: uri.MustParse("https://a.example/b/"), Bare: BareKinds, Mail: true}
	want := []string{`link "c" https://a.example/b/c`, `"10.1000/182" doi:10.1000/182`, `"x@a.example" mailto:x@a.example`}
	if got := inMarkdown(t, "[x](c) 10.1000/182 <x@a.example>", o); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMarkdownExamples compares the destinations found in the examples of the
// CommonMark specification with the references in the HTML that it says they
// become.
func TestMarkdownExamples(t *testing.T) {
	data, ok := testrun.Beside(t, "data/text/commonmark/spec-examples.json")
	if !ok {
		return // TestMarkdown has examples of its own
	}
	var examples []struct {
		Markdown, HTML, Section string
		Example                 int
	}
	if err := json.Unmarshal(data, &examples); err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, e := range examples {
		want, got := map[string]bool{}, map[string]bool{}
		for f := range HTML(strings.NewReader(e.HTML), Options{}) {
			if f.Where == "a href" || f.Where == "img src" {
				want[f.URI.String()] = true
			}
		}
		for f := range Markdown(strings.NewReader(e.Markdown), Options{}) {
			if f.Where != "" && f.Where != "definition" || want[f.URI.String()] {
				got[f.URI.String()] = true
			}
		}
		same := len(got) == len(want)
		for u := range want {
			same = same && got[u]
		}
		if same {
			right++
		} else {
			t.Logf("example %d (%s): %q: got %v, want %v", e.Example, e.Section, e.Markdown, got, want)
		}
	}
	t.Logf("examples: %s", share(right, len(examples)))
	if 100*right < 98*len(examples) {
		t.Errorf("examples: %s, want 98 %%", share(right, len(examples)))
	}
}

// TestMarkdownHostile reads text that costs much time. With an algorithm of quadratic time, the
// test would not finish.
func TestMarkdownHostile(t *testing.T) {
	for _, unit := range []string{
		"[", "![", "[a](", "[a](<b", "*", "`", "<", "<a ", "<a b='", "> ", "- ", "]", "[a][", "[a]: b\n", "[a]: <", "\\", "&", "(", "[a](b)", "[a](b \"",
		"* a\n ", "<!--", "<?", "```\n", "1. ", "\n> - ", "`a``", "a <!", "a <?", "a <!--", "<div>\n", "\t", "[a\\",
	} {
		text := strings.Repeat(unit, (1<<18)/len(unit))
		n := 0
		for range Markdown(strings.NewReader(text), Options{}) {
			n++
		}
		if n > len(text)/len(unit)+1 {
			t.Errorf("%q: %d findings", unit, n)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"[a](b \"c\") ![d](<e>)\n\n[f]: g\n", "> - `a` <b c='d'>\n```\nx\n```\n", "    a\n<p>\n[b](c)\n", "1. [a](b\\(c&amp;d)\n\n   # x\n***\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var whole []Finding
		last := int64(0)
		for g, err := range Markdown(strings.NewReader(text), Options{Bare: BareKinds}) {
			if err != nil {
				continue
			}
			if got := text[g.Start:g.End]; got != g.Text {
				t.Fatalf("the text is %q, the document has %q there", g.Text, got)
			}
			if g.Start < last {
				t.Fatalf("%q is at %d, before %d", g.Text, g.Start, last)
			}
			last = g.Start
			whole = append(whole, g)
		}
		var split []Finding
		for g, err := range Markdown(iotest.OneByteReader(strings.NewReader(text)), Options{Bare: BareKinds}) {
			if err == nil {
				split = append(split, g)
			}
		}
		if !slices.Equal(split, whole) {
			t.Fatalf("in pieces: got %+v, in the whole %+v", split, whole)
		}
	})
}
