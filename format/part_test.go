package format

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nomen-project/nomen"
)

// onlyStated ignores the fields that WritePart ignores.
var onlyStated = cmpopts.IgnoreFields(Part{}, "Raw", "Undecoded")

// A vector is a case in the specification's test data.
type vector struct {
	ID, Op, Body, Meta, Charset string
	Names, URLs, Menu           []string
	Parts                       []struct{ Charset, Language, URL, Meta string }
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "docs", "spec", "vectors", "urn-resolution-1995.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	run := map[string]func(*testing.T, vector){
		"list": vectorList, "urc0-parse": vectorParse, "urc0-write-error": vectorWriteError, "gopher-menu": vectorMenu,
	}
	seen := map[string]int{}
	for _, v := range file.Vectors {
		if f := run[v.Op]; f != nil {
			seen[v.Op]++
			t.Run(v.ID, func(t *testing.T) { f(t, v) })
		}
	}
	if len(seen) != len(run) {
		t.Errorf("the file has only %v", seen)
	}
}

func vectorList(t *testing.T, v vector) {
	var b strings.Builder
	if err := WriteList(&b, Each(v.Names...)); err != nil || b.String() != v.Body {
		t.Errorf("Y95-57, Y95-58, Y95-59: WriteList(%q) = %q, %v, want %q", v.Names, b.String(), err, v.Body)
	}
	if got := readList(t, v.Body); !slices.Equal(got, v.Names) {
		t.Errorf("Y95-57, Y95-58, Y95-59: ReadList(%q) = %q, want %q", v.Body, got, v.Names)
	}
}

func vectorParse(t *testing.T, v vector) {
	got, err := ReadParts(strings.NewReader(v.Body))
	if err != nil {
		t.Fatal(err)
	}
	var want []Part
	for _, p := range v.Parts {
		want = append(want, Part{Charset: p.Charset, Language: p.Language, URL: p.URL, Meta: p.Meta})
	}
	if d := cmp.Diff(got, want, onlyStated); d != "" {
		t.Errorf("Y95-48, Y95-50: got -, want +:\n%s", d)
	}
}

func vectorWriteError(t *testing.T, v vector) {
	var b strings.Builder
	err := WritePart(&b, Part{URL: "https://example.org/", Charset: v.Charset, Meta: v.Meta})
	if _, ok := err.(*Error); !ok || b.Len() > 0 {
		t.Errorf("Y95-46, Y95-49: WritePart(%q, %q) = %v and wrote %q", v.Charset, v.Meta, err, b.String())
	}
}

func vectorMenu(t *testing.T, v vector) {
	a := &nomen.Answer{}
	for _, u := range v.URLs {
		a.Locations = append(a.Locations, nomen.Location{URL: u})
	}
	lines := strings.Split(written(t, GopherMenu, a), crlf)
	if got := len(lines) - len([]string{".", ""}); got != len(v.Menu) {
		t.Fatalf("got %d items, want %d: %q", got, len(v.Menu), lines)
	}
	for i, u := range v.Menu {
		if !strings.Contains(lines[i], u) {
			t.Errorf("Y95-53: item %d is %q, want %q", i, lines[i], u)
		}
	}
}

// A95-1: the layout of the header's fields is lost, so any layout is accepted.
func TestHeaderLayouts(t *testing.T) {
	for _, tt := range []struct{ header, charset, language string }{
		{"=====", defaultCharset, defaultLanguage},
		{"==========", defaultCharset, defaultLanguage},
		{"=====;charset=ISO-8859-1;language=fr", "ISO-8859-1", "fr"},
		{"=====; charset = iso-8859-1 ; language = fr", "ISO-8859-1", "fr"},
		{"===== language=fr charset=ISO-8859-1 =====", "ISO-8859-1", "fr"},
		{"=====charset:ISO-8859-1,language:fr", "ISO-8859-1", "fr"},
		{"===== Charset: ISO-8859-1; Language: fr", "ISO-8859-1", "fr"},
		{"===== Charset ISO-8859-1 Language fr", "ISO-8859-1", "fr"},
		{"===== ISO-8859-1 fr", "ISO-8859-1", "fr"},
		{"=====fr/ISO-8859-9", "ISO-8859-9", "fr"},
		{"=====fr:ISO-8859-9", "ISO-8859-9", "fr"},
		{"=====ISO-8859-1", "ISO-8859-1", defaultLanguage},
		{"=====(ISO-8859-1|en-GB)", "ISO-8859-1", "en-GB"},
		{"=====en-GB", defaultCharset, "en-GB"},
		{`=====;charset="ISO-8859-2";lang='pl'`, "ISO-8859-2", "pl"},
		{"=====;Content-Language=de", defaultCharset, "de"},
		{"=====;charset=;language=fr", defaultCharset, "fr"},
		{"=====;charset=UTF-8", "UTF-8", defaultLanguage},
		{"=====;charset=ISO-8859-10", "ISO-8859-10", defaultLanguage},
		{"=====;foo=bar;language=fr", defaultCharset, "fr"},
		{"=====;charset=US-ASCII;charset=ISO-8859-1", "US-ASCII", defaultLanguage},
		{"=====ISO-8859-1 ISO-8859-2 fr de", "ISO-8859-1", "fr"},
		{"===== 12345 ** fr", defaultCharset, "fr"},
		{"=====;charset", defaultCharset, defaultLanguage},
		{"=====;language=x-unspecified", defaultCharset, defaultLanguage},
	} {
		parts, err := ReadParts(strings.NewReader(tt.header + "\nhttps://example.org/\n"))
		if err != nil || len(parts) != 1 {
			t.Errorf("%q: %v, %v", tt.header, parts, err)
			continue
		}
		if p := parts[0]; p.Charset != tt.charset || p.Language != tt.language || p.URL != "https://example.org/" {
			t.Errorf("%q: got %q, %q, %q, want %q, %q", tt.header, p.Charset, p.Language, p.URL, tt.charset, tt.language)
		}
	}
}

func TestReadParts(t *testing.T) {
	const u = "https://example.org/"
	part := func(url, meta string) Part {
		return Part{Charset: defaultCharset, Language: defaultLanguage, URL: url, Meta: meta}
	}
	for _, tt := range []struct {
		name, body string
		want       []Part
	}{
		{"lines before the first header", "hello\n= x\n====\n=====\n" + u, []Part{part(u, "")}},
		{"CR alone", "=====\r" + u + "\rmeta\r\r=====\r", []Part{part(u, "meta\n"), part("", "")}},
		{"no last line end", "=====\n" + u + "\nmeta", []Part{part(u, "meta")}},
		{"blank lines before the URL", "=====\n\n \n" + u + "\n\nmeta", []Part{part(u, "\nmeta")}},
		{"white space around the URL", "=====\n \t" + u + " \nmeta", []Part{part(u, "meta")}},
		{"no URL", "=====\n\nThe URNs on this server\nmailto:x@example.org", []Part{part("", "\nThe URNs on this server\nmailto:x@example.org")}}, // Y95-55
		{"two URLs", "=====\n" + u + "\n" + u, []Part{part(u, u)}},
		{"a URL and more on its line", "=====\n" + u + " x", []Part{part("", u+" x")}},
		{"a relative reference", "=====\n/a/b", []Part{part("", "/a/b")}},
		{"folded on one line", "=====\n<URL:" + u + ">\nmeta", []Part{part(u, "meta")}},
		{"folded, small letters", "=====\n <url: " + u + " >\nmeta", []Part{part(u, "meta")}},
		{"folded with indentation", "=====\n<URL:https://ex\n\t ample.org\n\n  / >\nmeta", []Part{part(u, "meta")}},
		{"folded and more on its line", "=====\n<URL:https://ex\nample.org/> see\nmeta", []Part{part(u, "see\nmeta")}},
		{"folded up to a header", "=====\n<URL:https://ex\nample.org/\n=====\n", []Part{part(u, ""), part("", "")}},
		{"folded up to the end", "=====\n<URL:https://ex\nample.org/", []Part{part(u, "")}},
		{"folded nonsense", "=====\n<URL:%%%\n>\nmeta", []Part{part("", "<URL:%%%\n>\nmeta")}},
		{"folded nothing", "=====\n<URL:>\nmeta", []Part{part("", "<URL:>\nmeta")}},
		{"header at once", "==========\n===== fr\n", []Part{part("", ""), {Charset: defaultCharset, Language: "fr"}}},
		{"indented mark", "=====\n" + u + "\n =====\n", []Part{part(u, " =====")}},
	} {
		got, err := ReadParts(strings.NewReader(tt.body))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if d := cmp.Diff(got, tt.want, onlyStated); d != "" {
			t.Errorf("%s (got -, want +):\n%s", tt.name, d)
		}
	}
}

// A folded URL is collected up to 8 KiB; a longer one is metainformation.
func TestFoldedBound(t *testing.T) {
	const start = "https://example.org/"
	for _, n := range []int{maxURL, maxURL + 1} {
		u := start + strings.Repeat("x", n-len(start))
		parts, err := ReadParts(strings.NewReader("=====\n<URL:" + u[:100] + "\n" + u[100:] + ">\n"))
		if err != nil || len(parts) != 1 || (parts[0].URL == u) != (n == maxURL) {
			t.Errorf("%d bytes: %v, %d parts", n, err, len(parts))
		}
	}
}

func TestReadPartsRefuses(t *testing.T) {
	for body, rule := range map[string]string{
		"":                                     "header",
		"hello\n ===== \n":                     "header",
		strings.Repeat("=====\n", maxItems+1):  "count",
		"=====\n" + strings.Repeat("x", 8<<20): "size",
	} {
		parts, err := ReadParts(strings.NewReader(body))
		if !isRule(err, rule) || len(parts) > maxItems {
			t.Errorf("%.20q: %v, want rule %s", body, err, rule)
		}
	}
}

// Text in every charset of the set is decoded; text in others stays as bytes.
func TestDecoding(t *testing.T) {
	for _, tt := range []struct {
		charset, raw, meta string
		undecoded          bool
	}{
		{"US-ASCII", "abc", "abc", false},
		{"US-ASCII", "ab\xe9", "ab\uFFFD", true},
		{"ISO-8859-1", "Num\xe9ro", "Numéro", false},
		{"iso-8859-2", "\xb3\xf3d\xbc", "łódź", false},
		{"ISO-8859-3", "\xa5", "\uFFFD", true}, // not defined
		{"ISO-8859-4", "\xe0", "ā", false},
		{"ISO-8859-5", "\xbc\xd8\xe0", "Мир", false},
		{"ISO-8859-6", "\xd3", "س", false},
		{"ISO-8859-7", "\xeb", "λ", false},
		{"ISO-8859-8", "\xf9", "ש", false},
		{"ISO-8859-9", "\xfd", "ı", false},
		{"ISO-8859-10", "\xfe", "", true},
		{"UTF-8", "\xc3\xa9", "", true},
		{"UTF-8", "", "", false},
	} {
		parts, err := ReadParts(strings.NewReader("=====;charset=" + tt.charset + "\r\nhttps://example.org/\r\n" + tt.raw + "\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		if p := parts[0]; p.Meta != tt.meta || p.Undecoded != tt.undecoded || string(p.Raw) != tt.raw {
			t.Errorf("Y95-46: %s: got %q, %t, %q, want %q, %t, %q", tt.charset, p.Meta, p.Undecoded, p.Raw, tt.meta, tt.undecoded, tt.raw)
		}
	}
}

func TestWritePart(t *testing.T) {
	for _, tt := range []struct {
		part Part
		want string
	}{
		{Part{}, "=====\r\n"},
		{Part{Charset: "us-ascii", Language: "X-Unspecified"}, "=====\r\n"}, // Y95-46, Y95-47
		{Part{URL: "https://example.org/", Charset: "iso-8859-1", Language: "fr"}, "=====;charset=ISO-8859-1;language=fr\r\nhttps://example.org/\r\n"},
		{Part{Charset: "ISO-8859-5", Meta: "Мир\rx\r\ny\n\tz"}, "=====;charset=ISO-8859-5\r\n\xbc\xd8\xe0\r\nx\r\ny\r\n\tz\r\n"},
		{Part{URL: "a:" + strings.Repeat("=", 75)}, "=====\r\n<URL:a:" + strings.Repeat("=", 68) + "\r\n =======>\r\n"},
		{Part{Meta: "\nfree text"}, "=====\r\n\r\nfree text\r\n"},
	} {
		var b strings.Builder
		if err := WritePart(&b, tt.part); err != nil || b.String() != tt.want {
			t.Errorf("WritePart(%+v) = %q, %v, want %q", tt.part, b.String(), err, tt.want)
		}
	}
}

func TestWritePartRefuses(t *testing.T) {
	for _, tt := range []struct {
		id     string
		part   Part
		rule   string
		offset int
	}{
		{"Y95-46", Part{Charset: "UTF-8"}, "charset", 0},
		{"Y95-46", Part{Charset: "ISO-8859-10"}, "charset", 0},
		{"Y95-46", Part{Charset: "ISO-8859-1\r\nX: y"}, "charset", 0},
		{"Y95-47", Part{Language: "fr;x"}, "language", 0},
		{"Y95-47", Part{Language: "-"}, "language", 0},
		{"Y95-47", Part{Language: "1a"}, "language", 0},
		{"Y95-47", Part{Language: "fr\r\n"}, "language", 0},
		{"Y95-47", Part{Language: strings.Repeat("a", 256)}, "language", 0},
		{"Y95-48", Part{URL: "/relative"}, "url", 0},
		{"Y95-48", Part{URL: "https://example.org/\r\n====="}, "url", 0},
		{"Y95-48", Part{URL: "https://example.org/a b"}, "url", 0},
		{"Y95-49", Part{URL: "a:", Meta: "x\n===== x"}, "meta", 2},
		{"Y95-49", Part{URL: "a:", Meta: "x\r====="}, "meta", 2},
		{"Y95-46", Part{URL: "a:", Meta: "xé"}, "meta", 1},
		{"Y95-49", Part{URL: "a:", Meta: "\x1b[31m"}, "meta", 0},
		{"Y95-49", Part{URL: "a:", Meta: "x\ny\u0085", Charset: "ISO-8859-1"}, "meta", 3},
		{"Y95-46", Part{URL: "a:", Meta: "\xff", Charset: "ISO-8859-1"}, "meta", 0},
		{"Y95-46", Part{URL: "a:", Meta: "\uFFFD", Charset: "ISO-8859-3"}, "meta", 0},
		{"Y95-48", Part{Meta: "\n \n https://example.org/ "}, "meta", 3},
		{"Y95-48", Part{Meta: "<URL:x"}, "meta", 0},
	} {
		var b strings.Builder
		err := WritePart(&b, tt.part)
		if !isRule(err, tt.rule) || err.(*Error).Offset != tt.offset || b.Len() > 0 {
			t.Errorf("%s: WritePart(%+v) = %v and wrote %q, want rule %s, offset %d", tt.id, tt.part, err, b.String(), tt.rule, tt.offset)
		}
	}
}

// No line with a URL is longer than 76 bytes, unless it is too long to be folded or has more
// hyphens in a row. Only the last line may end in a hyphen, and each URL comes back. A folded
// URL is in angle brackets.
func TestFolding(t *testing.T) {
	for _, n := range []int{10, 76, 77, 145, 146, 147, 215, 216, 1000, maxURL, maxURL + 1, 60_000} {
		for _, fill := range []string{"x", "=", "%3D", "a-", "-", "ab--"} {
			u := "a:" + strings.Repeat(fill, (n-2)/len(fill))
			body := written(t, WritePart, Part{URL: u, Meta: "meta"})
			for i, line := range strings.Split(body, crlf) {
				if len(line) > maxURLLine && len(u) <= maxURL && fill != "-" {
					t.Errorf("Y95-48: line %d of a URL of %d bytes has %d", i, n, len(line))
				}
				if strings.HasSuffix(line, "-") && line != u {
					t.Errorf("U97-73, U03-71: line %d of a URL of %d bytes is broken after a hyphen: %q", i, n, line)
				}
			}
			if folded := strings.Contains(body, "<URL:"); folded != (strings.Count(body, crlf) > 3) || folded != strings.Contains(body, ">"+crlf) {
				t.Errorf("U97-78: a URL of %d bytes without both brackets: %.200q", n, body)
			}
			parts, err := ReadParts(strings.NewReader(body))
			if err != nil || len(parts) != 1 || parts[0].URL != u || parts[0].Meta != "meta" {
				t.Errorf("Y95-48: a URL of %d bytes does not come back: %v, %v", n, parts, err)
			}
		}
	}
}

// Escaping is exact in every charset.
func TestEscape(t *testing.T) {
	for _, s := range []string{
		"", "plain", "é — 雪 \U0001F600", "&", "&#", "&#x", "&#x;", "&#x41;", "&&#x&#x41;;", "&#x110000;", "&#xD800;", "&#xFFFFFFF;",
		"tab\tline\nend\n", "\x00\x1b\x7f", "\u0085\u009f\u00a0\u2028\u202e", "&#X41;", "&amp;",
	} {
		for _, c := range charsets {
			e := c.escape(s)
			if c.missing(e) != 0 || strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(e), isControl) {
				t.Errorf("%s cannot hold %q", c.name, e)
			}
			if got := unescape(e); got != s {
				t.Errorf("%s: unescape(escape(%q)) = %q via %q", c.name, s, got, e)
			}
		}
	}
	for in, want := range map[string]string{"&#x;": "&#x;", "&#xG;": "&#xG;", "&#x41": "&#x41", "&#x110000;": "&#x110000;", "&#x+1;": "&#x+1;", "&#x41;&#x": "A&#x", "a\xff": "a\xff"} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
	if got := charsets[0].escape("\xff\r\n\r"); got != "&#xFFFD;\n\n" {
		t.Errorf("got %q", got)
	}
}

// Y95-46: the charset is that of the location if possible, otherwise the one that loses least.
func TestBestCharset(t *testing.T) {
	for _, tt := range []struct{ own, note, description, want string }{
		{"", "", "", "US-ASCII"},
		{"", "plain", "plain", "US-ASCII"},
		{"ISO-8859-1", "plain", "plain", "ISO-8859-1"},
		{"iso-8859-1", "é", "", "ISO-8859-1"},
		{"ISO-8859-1", "Łódź", "", "ISO-8859-2"},
		{"UTF-8", "plain", "", "US-ASCII"},
		{"", "é", "", "ISO-8859-1"},
		{"", "Мир — труд", "", "ISO-8859-5"},
		{"", "雪", "", "US-ASCII"},
		{"", "", "İstanbul", "ISO-8859-3"},
		{"", "é", "Łódź", "ISO-8859-2"},
		{"ISO-8859-1", "é", "Łódź", "ISO-8859-1"},
		{"", "à", "Łódź", "ISO-8859-1"},
	} {
		if got := bestCharset(tt.own, tt.note, tt.description, charset{}).name; got != tt.want {
			t.Errorf("bestCharset(%q, %q, %q) = %s, want %s", tt.own, tt.note, tt.description, got, tt.want)
		}
	}
}
