package format

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/site"
)

// The policy allows the style sheet of the page and nothing else.
func TestContentSecurityPolicy(t *testing.T) {
	_, after, _ := strings.Cut(written(t, alone(writeHTML), rich()), "<style>")
	style, _, _ := strings.Cut(after, "</style>")
	sum := sha256.Sum256([]byte(style))
	if want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action"; !strings.Contains(ContentSecurityPolicy(), want) {
		t.Errorf("the policy is %q, want %q", ContentSecurityPolicy(), want)
	}
}

// The list is that of RFC 2169, 3.2: URLs are shown as active links.
func TestHTMLList(t *testing.T) {
	body := written(t, alone(writeHTML), rich())
	for _, want := range []string{
		`<UL><LI><A HREF="https://example.org/one">https://example.org/one</A>`,
		`<LI><A HREF="ftp://ftp.example.org/kept">ftp://ftp.example.org/kept</A>`,
		`</UL>`,
		`<link rel="cite-as" href="/urn:dns:example.org:Alb-002">`,
		`<link rel="item" href="https://example.org/one" type="text/html" hreflang="fr">`,
		`<link rel="describedby" href="ftp://ftp.example.org/kept">`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("Y95-51: no %s", want)
		}
	}
	names := written(t, alone(writeHTML), shapes()["names"])
	if want := `<UL><LI><A HREF="/urn:isbn:0451450523">urn:isbn:0451450523</A></LI>` + "\n" + `<LI><A HREF="https://example.org/y">`; !strings.Contains(names, want) {
		t.Errorf("no %s in %s", want, names)
	}
	for label, want := range map[string]string{"none": "No location is known.", "no names": "No other name is known.", "tombstone": "This name was retired.", "redirect": "It redirects to:", "same": "TRUE", "not same": "FALSE"} {
		if body := written(t, alone(writeHTML), shapes()[label]); !strings.Contains(body, want) {
			t.Errorf("%s: no %q in %s", label, want, body)
		}
	}
}

// hostile has text in every field that tries to break out of it.
func hostile() *nomen.Answer {
	evil := "\"><script>alert(1)</script><img src=x onerror=alert(2)>' \u202Egnp.exe\u2066\x00\x1b[31m\r\n%s%!d(x)"
	a := &nomen.Answer{
		Service: nomen.I2C, Name: name.MustParse("urn:x-y:'%3Cscript%3E"), Spelling: evil, Status: nomen.Status(evil),
		Metadata: nomen.Metadata{"title": {evil, evil}, evil: {evil}, "status": {evil}},
		Names:    []string{evil, "javascript:alert(3)", "data:text/html,x", "//evil.example/"},
		Reason:   evil, Redirect: "javascript:alert(4)", Why: []string{evil},
		Successors: []name.Name{name.MustParse("javascript:alert(5)")},
	}
	for _, u := range []string{
		evil, "javascript:alert(6)", "JavaScript:alert(7)", "java\tscript:alert(8)", " javascript:alert(9)", "data:text/html;base64,PHNjcmlwdD4=",
		"vbscript:x", "file:///etc/passwd", "blob:https://evil.example/x", "view-source:https://evil.example/", "//evil.example/", "/relative", "", "https://evil.example/\"onclick=",
	} {
		a.Locations = append(a.Locations, nomen.Location{URL: u, Type: evil, Lang: evil, Rel: evil, Note: evil, Country: evil, Component: evil, Charset: evil, ValidFrom: evil})
	}
	for _, rel := range []string{"stylesheet", "icon", "Preload", "prefetch", "dns-prefetch", "manifest", "alternate stylesheet", "https://evil.example/rel"} {
		a.Locations = append(a.Locations, nomen.Location{URL: "https://example.org/asset", Rel: rel})
	}
	return a
}

// Content of a record never becomes markup, a script or an asset, and only harmless URLs become
// links.
func TestHTMLHostile(t *testing.T) {
	problem := NewProblem(&nomen.Error{
		Kind: nomen.Malformed, Name: "urn:x:<script>\u202E\xff", Offset: 6, Rule: "<b>", Message: "<script>alert(1)</script>",
		Suggestions: []string{"javascript:alert(1)", "<script>"}, Answer: hostile(),
	}, 400)
	problem.Title, problem.Available = "<script>", []string{"<script>"}
	bare := *problem
	bare.Answer = nil
	for label, body := range map[string]string{
		"answer":  written(t, alone(writeHTML), hostile()),
		"problem": written(t, WriteProblemHTML, problem),
		"bare":    written(t, WriteProblemHTML, &bare),
	} {
		for _, fault := range faults(t, body) {
			t.Errorf("%s: %s", label, fault)
		}
	}
}

// faults returns what a page must not contain.
func faults(t *testing.T, body string) []string {
	t.Helper()
	all, err := pageFaults(body)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func pageFaults(body string) ([]string, error) {
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	allowed := strings.Fields("html head meta title link style body main h1 h2 p ul li a small div strong span bdi br code mark dl dt dd time ol footer header form input label button")
	var all []string
	styles := 0
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.ElementNode && n.Data == "script":
			all = append(all, scriptFaults(n)...)
			continue
		case n.Type == html.ElementNode && n.Data == "style":
			if styles++; styles > 1 || template.CSS(n.FirstChild.Data) != site.Default().Page("").Style() {
				all = append(all, "another style")
			}
		case n.Type == html.CommentNode:
			all = append(all, "comment "+n.Data)
		}
		switch {
		case n.Type == html.TextNode && n.Parent.Data != "style" && strings.ContainsFunc(n.Data, shown.Odd):
			all = append(all, "odd characters in "+n.Data)
		case n.Type != html.ElementNode:
			continue
		case !slices.Contains(allowed, n.Data):
			all = append(all, "element "+n.Data)
		}
		for _, a := range n.Attr {
			if fault := attributeFault(n.Data, a); fault != "" {
				all = append(all, fault)
			}
		}
	}
	return all, nil
}

// scriptFaults checks that scripts are data blocks, which a browser does not run.
func scriptFaults(n *html.Node) []string {
	if len(n.Attr) != 1 || n.Attr[0].Key != "type" || n.Attr[0].Val != TypeJSONLD {
		return []string{"a script that runs"}
	}
	if text := n.FirstChild.Data; !json.Valid([]byte(text)) || strings.ContainsFunc(text, shown.Odd) || strings.ContainsAny(text, "<>&") {
		return []string{"a script that is not JSON-LD: " + text}
	}
	return nil
}

func attributeFault(element string, a html.Attribute) string {
	known := strings.Fields("lang charset name content rel href type hreflang class role datetime id for action method value required pattern autocomplete aria-describedby")
	harmlessRels := strings.Fields("item cite-as describedby successor-version archive archives author collection license type schema.DC schema.DCTERMS")
	switch {
	case !slices.Contains(known, a.Key):
		return "attribute " + a.Key
	case strings.ContainsFunc(a.Val, shown.Odd):
		return "odd characters in " + a.Val
	case element == "meta" && a.Key == "name" && !strings.HasPrefix(a.Val, "DC.") && !strings.HasPrefix(a.Val, "DCTERMS.") && a.Val != "viewport" && a.Val != "referrer" && a.Val != "color-scheme":
		return "metadata " + a.Val
	case a.Key == "rel" && slices.ContainsFunc(strings.Fields(a.Val), func(rel string) bool { return !slices.Contains(harmlessRels, rel) }):
		return "relation " + a.Val
	case a.Key == "action" && (!strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "//")), a.Key == "method" && a.Val != "get":
		return "a form to " + a.Val
	case a.Key == "href" && a.Val == "#main":
	case a.Key == "href" && !location.IsLink(a.Val) && (!strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "//")):
		return "address " + a.Val
	case a.Key == "href" && strings.Contains(a.Val, "evil"):
		return element + " leads to " + a.Val
	}
	return ""
}

// Control characters and bidirectional overrides do not reach a terminal, either.
func TestTextHostile(t *testing.T) {
	problem := NewProblem(&nomen.Error{Kind: nomen.Malformed, Name: "urn:x:\x1b\xff\r\n", Offset: 6, Rule: "\x1b", Message: "\x1b", Suggestions: []string{"\x1b"}, Answer: hostile()}, 400)
	for _, body := range []string{written(t, WriteText, hostile()), written(t, writeProblemText, problem), written(t, GopherMenu, hostile())} {
		if i := strings.IndexFunc(strings.ReplaceAll(body, crlf, "\n"), shown.Odd); i >= 0 {
			t.Errorf("%q", body[max(0, i-20):min(len(body), i+20)])
		}
	}
}

// The mark shows where a name is malformed, at any position.
func TestHTMLMark(t *testing.T) {
	for _, tt := range []struct {
		name   string
		offset int
		want   string
	}{
		{"urn:x:a%2", 7, "urn:x:a<mark>%</mark>2"},
		{"urn:x:", 6, "urn:x:<mark>\u2423</mark>"},
		{"é", 0, "<mark>é</mark>"},
		{"<x", 0, "<mark>&lt;</mark>x"},
		{"a\xffb", 1, "a<mark>\uFFFD</mark>b"},
		{"abc", 4, "<code>abc</code>"},
		{"abc", -1, "<code>abc</code>"},
	} {
		p := NewProblem(&nomen.Error{Kind: nomen.Malformed, Name: tt.name, Offset: tt.offset, Rule: "x"}, 400)
		if body := written(t, WriteProblemHTML, p); !strings.Contains(body, tt.want) {
			t.Errorf("%q at %d: no %s in %s", tt.name, tt.offset, tt.want, body)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "",
		"plain é 雪":           "plain é 雪",
		"a\r\nb\rc\td":        "a\nb\nc\td",
		"\x1b[31m\u0085":      "[U+001B][31m[U+0085]",
		"\u202Ex\u2069\ufeff": "[U+202E]x[U+2069][U+FEFF]",
		"\xff\x00":            "\uFFFD[U+0000]",
		"\xffx":               "\uFFFDx",
		"\u200d":              "\u200d",
	} {
		if got := shown.Text(in); got != want {
			t.Errorf("shown.Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got := shown.Inline(" a\r\n\tb\x00 "); got != " a b[U+0000] " {
		t.Errorf("visibleLine: %q", got)
	}
}

// The page about a name shows the complete URN, so that its namespace is not taken for a
// scheme.
func TestPagesShowTheWholeName(t *testing.T) {
	for label, a := range shapes() {
		if a.Name.IsZero() || a.Name.Scheme() != "urn" {
			continue
		}
		_, body, _ := strings.Cut(written(t, alone(writeHTML), a), "<body>")
		if !strings.Contains(strings.ToLower(body), strings.ToLower(a.Name.Key())) {
			t.Errorf("N12-48: %s: no %s in %s", label, a.Name.Key(), body)
		}
	}
}
