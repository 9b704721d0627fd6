package server

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A reading is what a reader that knows only the media type, and nothing of this module,
// finds in a body.
type reading struct {
	uris   []string // in order: URLs or names
	status string   // of the name, if the type can express it
	text   string   // all text for people
	object map[string]any
	true   bool     // JSON has this value somewhere
	parts  []string // of multipart
}

// readBody reads a body of one of the types in the contract.
func readBody(contentType, body string) (*reading, error) {
	t, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, err
	}
	switch t {
	case "text/urc-0":
		return readURC(body)
	case "text/uri-list":
		return readURIList(body)
	case "text/plain":
		return &reading{uris: plainURI.FindAllString(body, -1), text: body}, nil
	case "text/html":
		return readHTML(body)
	case "application/json", "application/problem+json":
		return readObject(body)
	case "application/linkset+json":
		return readLinksetJSON(body)
	case "application/linkset":
		return readLinkset(body)
	case "multipart/alternative":
		return readMultipart(body, params["boundary"])
	}
	return nil, fmt.Errorf("no reader for %q", t)
}

var plainURI = regexp.MustCompile(`(?:https?|urn):[^\s<>"]+`)

var anyURI = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$`)

// crlfLines splits text into lines that all end in CRLF.
func crlfLines(body string) ([]string, error) {
	if body == "" {
		return nil, nil
	}
	rest, ok := strings.CutSuffix(body, "\r\n")
	lines := strings.Split(rest, "\r\n")
	if !ok || slices.ContainsFunc(lines, func(l string) bool { return strings.ContainsAny(l, "\r\n") }) {
		return nil, fmt.Errorf("lines do not end with CRLF: %q", body)
	}
	return lines, nil
}

// readURC follows spec/1995-yaurn.md, section 5, steps 1 to 5.
func readURC(body string) (*reading, error) {
	lines, err := crlfLines(body)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "=====") { // urc-0 = 1*part
		return nil, fmt.Errorf("no part: %q", body)
	}
	r := &reading{text: body}
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "=====") || i+1 == len(lines) {
			continue
		}
		next := lines[i+1]
		if rest, ok := strings.CutPrefix(next, "<URL:"); ok {
			for i++; !strings.Contains(rest, ">"); i++ {
				if i+1 == len(lines) {
					return nil, fmt.Errorf("no end of %q", rest)
				}
				rest += strings.TrimSpace(lines[i+1])
			}
			next, _, _ = strings.Cut(rest, ">")
		}
		if plainURI.FindString(next) == next && next != "" {
			r.uris = append(r.uris, next)
		}
	}
	return r, nil
}

// readURIList follows RFC 2169, appendix A, and RFC 2483, section 5.
func readURIList(body string) (*reading, error) {
	lines, err := crlfLines(body)
	if err != nil {
		return nil, err
	}
	r := &reading{text: body}
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "#"):
		case !anyURI.MatchString(l):
			return nil, fmt.Errorf("not a URI: %q", l)
		default:
			r.uris = append(r.uris, l)
		}
	}
	return r, nil
}

// readHTML returns the links of list items whose text is a URI, in the form prescribed by
// RFC 2169, 3.2, and rejects scripts and event handlers.
func readHTML(body string) (*reading, error) {
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r := &reading{}
	var text strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
			continue
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") {
				return nil, fmt.Errorf("a handler: <%s %s>", n.Data, a.Key)
			}
			if v := strings.ToLower(strings.TrimSpace(a.Val)); strings.HasPrefix(v, "javascript:") || strings.HasPrefix(v, "data:text/html") {
				return nil, fmt.Errorf("a script in %s", a.Key)
			}
		}
		if n.Data == "script" && attribute(n, "type") != "application/ld+json" {
			return nil, fmt.Errorf("a script of type %q", attribute(n, "type"))
		}
		if n.Data == "a" && hasAncestor(n, "li") {
			shown := strings.TrimSpace(textOf(n))
			href := attribute(n, "href")
			if plainURI.FindString(shown) == shown && shown != "" {
				if href != shown && !strings.HasSuffix(href, "/"+shown) {
					return nil, fmt.Errorf("the link to %q shows %q", href, shown)
				}
				r.uris = append(r.uris, shown)
			}
		}
	}
	r.text = text.String()
	return r, nil
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasAncestor(n *html.Node, element string) bool {
	for a := range n.Ancestors() {
		if a.Data == element {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// readObject reads the members defined in the contract, sections 1 and 2: the locations
// of a description, or else its other names.
func readObject(body string) (*reading, error) {
	r := &reading{text: body}
	if err := json.Unmarshal([]byte(body), &r.object); err != nil {
		return nil, err
	}
	r.status, _ = r.object["status"].(string)
	locations, _ := r.object["locations"].([]any)
	for _, l := range locations {
		o, ok := l.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("a location is %v", l)
		}
		url, ok := o["url"].(string)
		if !ok {
			return nil, fmt.Errorf("no url in %v", o)
		}
		r.uris = append(r.uris, url)
	}
	names, _ := r.object["same_as"].([]any)
	for _, n := range names {
		s, ok := n.(string)
		if !ok {
			return nil, fmt.Errorf("a name is %v", n)
		}
		r.uris = append(r.uris, s)
	}
	// Text for people contains no JSON escapes.
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case bool:
			r.true = r.true || v
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(r.object)
	r.text = b.String()
	return r, nil
}

// readLinksetJSON checks the structure of RFC 9264, section 4.2, and returns all targets.
func readLinksetJSON(body string) (*reading, error) {
	var doc struct {
		Linkset []map[string]json.RawMessage `json:"linkset"`
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		return nil, err
	}
	if doc.Linkset == nil {
		return nil, fmt.Errorf("no linkset: %s", body)
	}
	r := &reading{text: body}
	for _, context := range doc.Linkset {
		for rel, raw := range context {
			if rel == "anchor" {
				var anchor string
				if err := json.Unmarshal(raw, &anchor); err != nil {
					return nil, err
				}
				continue
			}
			var targets []map[string]any
			if err := json.Unmarshal(raw, &targets); err != nil {
				return nil, fmt.Errorf("%s: %w", rel, err)
			}
			for _, target := range targets {
				href, ok := target["href"].(string)
				if !ok {
					return nil, fmt.Errorf("no href in %v", target)
				}
				if lang, ok := target["hreflang"]; ok {
					if _, ok := lang.([]any); !ok { // 4.2.4.1: an array
						return nil, fmt.Errorf("hreflang is %v", lang)
					}
				}
				r.uris = append(r.uris, href)
			}
		}
	}
	return r, nil
}

var linkParameter = regexp.MustCompile(`^;\s*([!#$&+.^_|~0-9A-Za-z-]+\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))\s*`)

// readLinkset reads RFC 9264, section 4.1: the grammar of Link (RFC 8288, 3), with line
// breaks allowed.
func readLinkset(body string) (*reading, error) {
	r := &reading{text: body}
	links, err := readLinks(body)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if l.params["anchor"] == "" {
			return nil, fmt.Errorf("no anchor for %q", l.target)
		}
		r.uris = append(r.uris, l.target)
	}
	return r, nil
}

type link struct {
	target string
	params map[string]string
}

func readLinks(s string) (all []link, err error) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimLeft(s, ", \t\r\n") {
		target, rest, ok := strings.Cut(s, ">")
		if !ok || !strings.HasPrefix(target, "<") {
			return nil, fmt.Errorf("no target: %q", s)
		}
		l := link{target[1:], map[string]string{}}
		s = strings.TrimLeft(rest, " \t\r\n")
		for strings.HasPrefix(s, ";") {
			m := linkParameter.FindStringSubmatch(s)
			if m == nil {
				return nil, fmt.Errorf("no parameter: %q", s)
			}
			l.params[m[1]] = m[2] + m[3]
			s = s[len(m[0]):]
		}
		if s != "" && s[0] != ',' {
			return nil, fmt.Errorf("after a link: %q", s)
		}
		all = append(all, l)
	}
	return all, nil
}

func readMultipart(body, boundary string) (*reading, error) {
	r := &reading{text: body}
	if body == "" {
		return r, nil
	}
	m := multipart.NewReader(strings.NewReader(body), boundary)
	for {
		p, err := m.NextPart()
		if err == io.EOF {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		r.parts = append(r.parts, p.Header.Get("Content-Type")+"\n"+string(b))
	}
}
