package site

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen/internal/messages/messagestest"
)

// TestTextsAreComplete compares the keys of the catalogues with their uses in all packages with
// public pages.
func TestTextsAreComplete(t *testing.T) {
	set, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, pattern := range []string{"layout.html", "view.go", "../format/html*.go", "../format/past.go", "../server/*.html", "../server/site.go", "../gateway/*.html", "../gateway/page.go", "../registry/*.html"} {
		found, _ := filepath.Glob(pattern)
		if len(found) == 0 {
			t.Errorf("no file %s", pattern)
		}
		sources = append(sources, found...)
	}
	// The keys of fields and of kinds of problems are composed in package format, which falls back
	// to English texts if a text is missing.
	var made []string
	for _, key := range set.All()[0].Keys() {
		if section, _, _ := strings.Cut(key, "."); section == "field" || section == "problem" || section == "status" {
			made = append(made, key)
		}
	}
	messagestest.Check(t, set, messagestest.Options{Prefix: "messages/", Sources: sources, Made: made, Same: map[string]string{
		"field.date": "fr", "field.description": "fr", "field.format": "de fr", "field.relation": "fr", "field.source": "fr", "field.status": "de",
		"field.type": "fr", "home.contact": "fr", "part.fragment": "fr", "problem.status": "de", "site.contact": "fr",
	}})
}

// faultsOf returns the keys and messages of the errors of New.
func faultsOf(s Settings) (all []string) {
	_, err := New(s)
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, e.Error())
	}
	return all
}

func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    Settings
		want string // the beginning of the only error; "" for none
	}{
		{"none", Settings{}, ""},
		{"all", Settings{
			Name: "Bibliothèque <& \"x\">", Footer: "À bientôt", Contact: "mailto:names@example.org",
			Links: []Link{{"Privacy", "https://example.org/privacy"}, {"Write", "mailto:a@example.org?subject=x"}},
			Light: Colours{"#00f", "#FFFFFF"}, Dark: Colours{"#9cf", "#000"},
		}, ""},
		{"name with a line break", Settings{Name: "a\nb"}, "name \"a\\nb\": must be one line"},
		{"name that turns the text", Settings{Name: "a\u202eb"}, "name "},
		{"long name", Settings{Name: strings.Repeat("ä", 101)}, "name "},
		{"name that is just short enough", Settings{Name: strings.Repeat("ä", 100)}, ""},
		{"invalid UTF-8", Settings{Footer: "\xff"}, "footer "},
		{"script as link", Settings{Links: []Link{{"x", "javascript:alert(1)"}}}, "links \"x javascript:alert(1)\": the URL must begin with"},
		{"data as link", Settings{Links: []Link{{"x", "data:text/html,x"}}}, "links "},
		{"relative link", Settings{Links: []Link{{"x", "/privacy"}}}, "links "},
		{"link without scheme", Settings{Links: []Link{{"x", "//evil.example/"}}}, "links "},
		{"link with a password", Settings{Links: []Link{{"x", "https://a:b@example.org/"}}}, "links "},
		{"link with a space", Settings{Links: []Link{{"x", "https://example.org/ a"}}}, "links "},
		{"link with a quotation mark is escaped", Settings{Links: []Link{{"x", "https://example.org/\">"}}}, ""},
		{"many links", Settings{Links: slices.Repeat([]Link{{"x", "https://example.org/"}}, 11)}, "links: must be at most 10"},
		{"contact without a scheme", Settings{Contact: "names@example.org"}, "contact "},
		{"contact without an address", Settings{Contact: "mailto:names"}, "contact "},
		{"no colour", Settings{Light: Colours{Accent: "red"}}, "accent \"red\": must be a colour such as"},
		{"signed colour", Settings{Light: Colours{Accent: "#+12345"}}, "accent "},
		{"short colour", Settings{Dark: Colours{Background: "#12"}}, "background-dark "},
		{"pale accent", Settings{Light: Colours{Accent: "#777777"}}, "accent \"#777777\": the contrast with #ffffff is 4.47:1, and must be at least 4.5:1"},
		{"white accent", Settings{Light: Colours{Accent: "#fff"}}, "accent \"#fff\": the contrast with #ffffff is 1.00:1"},
		{"dark accent on dark", Settings{Dark: Colours{Accent: "#333"}}, "accent-dark "},
		{"background that does not suit the accent", Settings{Light: Colours{Background: "#3a5f8f"}}, "background "},
		{"background on which no text is readable", Settings{Light: Colours{"#000000", "#808080"}}, "background \"#808080\": the contrast with the text is"},
		{"dark page by day", Settings{Light: Colours{"#ffd75e", "#101010"}}, ""},
	} {
		faults := faultsOf(tt.s)
		if tt.want == "" && len(faults) > 0 || tt.want != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0], tt.want)) {
			t.Errorf("%s: got %q, want %q", tt.name, faults, tt.want)
		}
	}
	if got := faultsOf(Settings{Name: "a\nb", Contact: "x", Light: Colours{Accent: "x"}, Dark: Colours{Accent: "x"}}); len(got) != 4 {
		t.Errorf("not all errors: %q", got)
	}
}

// The ratios are examples of the documents of WCAG, and of its definition: 21 is the maximum.
func TestContrast(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"#000", "#fff", "21.00:1"},
		{"#fff", "#000", "21.00:1"},
		{"#fff", "#ffffff", "1.00:1"},
		{"#777777", "#fff", "4.47:1"},
		{"#767676", "#fff", "4.54:1"},
		{"#949494", "#ffffff", "3.03:1"},
	} {
		a, _ := parseColour(tt.a)
		b, _ := parseColour(tt.b)
		if got := ratioText(contrast(a, b)); got != tt.want {
			t.Errorf("%s on %s: got %s, want %s", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestParseLink(t *testing.T) {
	if got, err := ParseLink("About us https://example.org/"); err != nil || got != (Link{"About us", "https://example.org/"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{"", "https://example.org/", " https://example.org/"} {
		if got, err := ParseLink(text); err == nil {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}

// pngOf returns a picture of this size.
func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const svgStart = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">`

func TestLogo(t *testing.T) {
	damaged := pngOf(t, 9, 9)
	damaged[len(damaged)-20] ^= 1
	for _, tt := range []struct{ name, content, want string }{
		{"PNG", string(pngOf(t, 9, 9)), "image/png"},
		{"large PNG", string(pngOf(t, 2001, 1)), "the picture has 2001 x 1 pixels"},
		{"damaged PNG", string(damaged), "damaged PNG"},
		{"cut PNG", string(pngOf(t, 9, 9)[:20]), "damaged PNG"},
		{"JPEG", "\xff\xd8\xff\xe0 JFIF", "neither a PNG nor"},
		{"long file", svgStart + strings.Repeat(" ", maxLogo) + "</svg>", "must have at most 262144"},
		{"text", "hello", "neither a PNG nor"},
		{"HTML", "<html><script>alert(1)</script></html>", "the first element is not svg"},
		{"HTML as svg", `<svg xmlns="http://www.w3.org/1999/xhtml"/>`, "the first element is not svg"},
		{"text before", "x" + svgStart + "</svg>", "does not begin with an element"},
		{"not closed", svgStart, "neither a PNG nor"},
		{"UTF-16", `<?xml version="1.0" encoding="utf-16"?>` + svgStart + "</svg>", "UTF-8"},
		{"plain", svgStart + `<title>x</title><path d="M0 0h9" fill="#00f" style="stroke:none"/></svg>`, "image/svg+xml"},
		{"with a declaration", `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><!-- x -->` + svgStart + "</svg>", "image/svg+xml"},
		{"gradient", svgStart + `<defs><linearGradient id="a"><stop offset="0"/></linearGradient></defs><rect fill="url(#a)" width="9" height="9"/><use xlink:href="#a"/><use href="#a"/></svg>`, "image/svg+xml"},
		{"style", svgStart + `<style>.a{fill:url(#a)} /* x */</style></svg>`, "image/svg+xml"},
		{"data of a drawing program", `<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" inkscape:version="1.2 (a, 2022)"><metadata><rdf:RDF><rdf:li rdf:resource="http://purl.org/dc/"/></rdf:RDF></metadata></svg>`, "image/svg+xml"},

		{"script", svgStart + `<script>alert(1)</script></svg>`, "the element script is not allowed"},
		{"script of another prefix", `<x:svg xmlns:x="http://www.w3.org/2000/svg"><x:script/></x:svg>`, "the element script"},
		{"script of XHTML", svgStart + `<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script></svg>`, "the element script"},
		{"script in metadata", svgStart + `<metadata><h:script xmlns:h="http://www.w3.org/1999/xhtml"/></metadata></svg>`, "the element script"},
		{"event", svgStart + `<path onclick="alert(1)"/></svg>`, "the event attribute onclick"},
		{"event in capitals", strings.Replace(svgStart, "viewBox", "OnLoad", 1) + `</svg>`, "the event attribute OnLoad"},
		{"foreign object", svgStart + `<foreignObject/></svg>`, "the element foreignObject"},
		{"link", svgStart + `<a href="#x"/></svg>`, "the element a "},
		{"image", svgStart + `<image href="https://evil.example/"/></svg>`, "the element image"},
		{"animation", svgStart + `<set attributeName="href" to="javascript:alert(1)"/></svg>`, "the element set"},
		{"animation of a value", svgStart + `<animate/></svg>`, "the element animate"},
		{"foreign reference", svgStart + `<use href="https://evil.example/#a"/></svg>`, "a reference to another file"},
		{"foreign reference, old", svgStart + `<use xlink:href="data:image/svg+xml,x#a"/></svg>`, "a reference to another file"},
		{"relative reference", svgStart + `<use href="other.svg#a"/></svg>`, "a reference to another file"},
		{"foreign fill", svgStart + `<path fill="url(https://evil.example/#a)"/></svg>`, "a reference to another file"},
		{"foreign fill in a style", svgStart + `<path style="fill: URL( 'https://evil.example/' )"/></svg>`, "a reference to another file"},
		{"style sheet", svgStart + `<style>@import "https://evil.example/"</style></svg>`, "are not allowed in styles"},
		{"style with data", svgStart + `<style><![CDATA[a{background:url(data:x)}]]></style></svg>`, "a reference to another file"},
		{"hidden by an escape", svgStart + `<style>a{b:u\72l(//evil.example/)}</style></svg>`, "are not allowed in styles"},
		{"hidden by a reference", svgStart + `<style>a{b:u&#114;l(//evil.example/)}</style></svg>`, "a reference to another file"},
		{"divided by a comment", svgStart + `<style>a{b:u<!-- -->rl(//evil.example/)}</style></svg>`, "a reference to another file"},
		{"divided by a section", svgStart + `<style>a{b:u<![CDATA[rl(//evil.example/)}]]></style></svg>`, "a reference to another file"},
		{"after an element", svgStart + `<style><g/>a{b:url(//evil.example/)}</style></svg>`, "must have only text"},
		{"instruction", `<?xml-stylesheet href="https://evil.example/"?>` + svgStart + "</svg>", "the instruction xml-stylesheet"},
		{"entities", `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>` + svgStart + "</svg>", "definitions of entities"},
		{"base", strings.Replace(svgStart, "viewBox", `xml:base="https://evil.example/" viewBox`, 1) + "</svg>", "the attribute base"},
		{"deep", svgStart + strings.Repeat("<g>", 200) + strings.Repeat("</g>", 200) + "</svg>", "nested too deeply"},
	} {
		s, err := New(Settings{Logo: []byte(tt.content)})
		var setting *SettingError
		switch {
		case err == nil && s.Logo().Type != tt.want:
			t.Errorf("%s: got %s, want %s", tt.name, s.Logo().Type, tt.want)
		case err != nil && (!strings.Contains(err.Error(), tt.want) || !errors.As(err, &setting) || setting.Key != "logo"):
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

// The path of a logo depends on its content, so caches may keep it.
func TestLogoPath(t *testing.T) {
	paths := map[string]bool{}
	for _, content := range []string{string(pngOf(t, 9, 9)), string(pngOf(t, 8, 9)), svgStart + "</svg>", svgStart + "<g/></svg>"} {
		s, err := New(Settings{Logo: []byte(content)})
		if err != nil {
			t.Fatal(err)
		}
		path := s.Page("/names").LogoURL()
		name, below := strings.CutPrefix(path, "/names"+LogoPath)
		if paths[path] = true; !below || !s.Logo().Is(name) || s.Logo().Is(name+"x") || s.Logo().Is("") {
			t.Errorf("got %s", path)
		}
		if !strings.Contains(s.Policy(), "; img-src 'self';") || s.Page("").WithoutLogo().LogoURL() != "" {
			t.Errorf("got %s", s.Policy())
		}
	}
	if len(paths) != 4 || Default().Page("").LogoURL() != "" || Default().Logo().Is("") || strings.Contains(Default().Policy(), "img") {
		t.Errorf("got %v", paths)
	}
}

func TestPolicy(t *testing.T) {
	const start, end = "default-src 'none'; style-src 'sha256-", "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	if got := Default().Policy(); !strings.HasPrefix(got, start) || !strings.HasSuffix(got, end) || len(got) != len(start)+len(end)+base64.StdEncoding.EncodedLen(32) {
		t.Errorf("got %s", got)
	}
	if got := Default().Policy("alert(1)"); !strings.Contains(got, "; script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='; ") {
		t.Errorf("got %s", got)
	}
}

// Settings and titles cannot become markup, and links lead only where they may.
func TestHostilePage(t *testing.T) {
	const evil = `"><script>alert(1)</script></style><img src=x onerror=alert(2)>'`
	s, err := New(Settings{Name: evil, Footer: evil, Contact: "mailto:a@example.org?x=" + `"><script>`, Links: []Link{{evil, "https://example.org/\"><script>"}}})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Page("")
	p.Version = evil
	begin, err := p.Begin(evil+"\u202e\x00", "")
	if err != nil {
		t.Fatal(err)
	}
	end, err := p.End()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(strings.NewReader(string(begin + end)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			seen[n.Data]++
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" {
				t.Errorf("attribute %s=%q", a.Key, a.Val)
			}
			if a.Key == "href" && !slices.Contains([]string{"#main", "/", "https://example.org/%22%3e%3cscript%3e", "mailto:a@example.org?x=%22%3e%3cscript%3e"}, a.Val) {
				t.Errorf("a link to %s", a.Val)
			}
		}
	}
	if seen["script"]+seen["img"] > 0 || seen["style"] != 1 || seen["main"] != 1 || seen["header"] != 1 || seen["footer"] != 1 {
		t.Errorf("got %v", seen)
	}
	if strings.ContainsAny(string(begin), "\u202e\x00") {
		t.Error("an invisible character of the title")
	}
}

func TestContactText(t *testing.T) {
	for contact, want := range map[string]string{
		"mailto:names@example.org": "names@example.org", "mailto:a%2Bb@example.org?subject=x": "a+b@example.org",
		"https://example.org/contact": "https://example.org/contact", "mailto:": "mailto:",
	} {
		if got := ContactText(contact); got != want {
			t.Errorf("%s: got %s, want %s", contact, got, want)
		}
	}
}
