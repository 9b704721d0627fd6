package links

import (
	"bytes"
	"hash/fnv"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A page is the part of an HTML page that a check evaluates.
type page struct {
	title string   // the titles in the head and in the metadata
	words []string // words of the visible text, in lower case
}

// Limits of a page.
const (
	maxWords = 20_000
	maxTitle = 2_000
	maxDepth = 1_000 // maximum depth of nested hidden elements
)

// readPage parses an HTML page, which may be truncated.
func readPage(body []byte) page {
	var p page
	z := html.NewTokenizer(bytes.NewReader(body))
	hidden, inTitle := 0, false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return p
		case html.StartTagToken:
			tag, attributes := z.TagName()
			switch a := atom.Lookup(tag); {
			case a == atom.Title:
				inTitle = true
			case a == atom.Meta && attributes:
				p.meta(z)
			case isHidden(a) && hidden < maxDepth:
				hidden++
			}
		case html.SelfClosingTagToken:
			if tag, attributes := z.TagName(); atom.Lookup(tag) == atom.Meta && attributes {
				p.meta(z)
			}
		case html.EndTagToken:
			tag, _ := z.TagName()
			switch a := atom.Lookup(tag); {
			case a == atom.Title:
				inTitle = false
			case isHidden(a) && hidden > 0:
				hidden--
			}
		case html.TextToken:
			switch {
			case inTitle:
				p.addTitle(string(z.Text()))
			case hidden == 0:
				p.addText(string(z.Text()))
			}
		}
	}
}

// isHidden reports whether the text in an element is not part of the content of the page.
func isHidden(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Nav, atom.Header, atom.Footer, atom.Noscript, atom.Template:
		return true
	}
	return false
}

// meta evaluates a meta element. Metadata with titles and identifiers count as titles.
func (p *page) meta(z *html.Tokenizer) {
	var name, content string
	for {
		key, value, more := z.TagAttr()
		switch string(key) {
		case "name", "property":
			name = strings.ToLower(string(value))
		case "content":
			content = string(value)
		}
		if !more {
			break
		}
	}
	if strings.HasPrefix(name, "citation_") || strings.HasPrefix(name, "dc.") || strings.HasPrefix(name, "dcterms.") || name == "og:title" {
		p.addTitle(content)
	}
}

func (p *page) addTitle(text string) {
	if len(p.title)+len(text) < maxTitle {
		p.title += " " + text
	}
}

func (p *page) addText(text string) {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(p.words) == maxWords {
			return
		}
		p.words = append(p.words, strings.ToLower(w))
	}
}

// drop removes the words of a URL from the text, because pages for missing resources often repeat
// the URL.
func (p *page) drop(u *url.URL) {
	own := map[string]bool{}
	for w := range strings.FieldsFuncSeq(u.Path+" "+u.RawQuery, func(r rune) bool { return !unicode.IsLetter(r) }) {
		own[strings.ToLower(w)] = true
	}
	p.words = slices.DeleteFunc(p.words, func(w string) bool { return own[w] })
}

const (
	shingle   = 3  // number of words in a shingle
	leastText = 12 // minimum number of words for a fingerprint
)

// fingerprint returns the simhash of the text: similar texts have similar fingerprints. It returns 0
// if there is too little text.
func (p *page) fingerprint() uint64 {
	if len(p.words) < leastText {
		return 0
	}
	var sums [64]int
	for i := 0; i+shingle <= len(p.words); i++ {
		h := fnv.New64a()
		for _, w := range p.words[i : i+shingle] {
			h.Write([]byte(w))
			h.Write([]byte{0})
		}
		sum := mix(h.Sum64())
		for bit := range sums {
			if sum>>bit&1 != 0 {
				sums[bit]++
			} else {
				sums[bit]--
			}
		}
	}
	var f uint64
	for bit, n := range sums {
		if n > 0 {
			f |= 1 << bit
		}
	}
	return max(f, 1)
}

// mix spreads the bits of a hash, because the high bits of FNV depend little on the last octets.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return h
}

// confirms reports whether a page is about a resource. The page must contain one of the names, or
// most words of one of the titles.
func confirms(body []byte, p *page, names, titles []string) bool {
	lower := bytes.ToLower(body)
	for _, n := range names {
		if n = strings.ToLower(n); len(n) >= leastName && bytes.Contains(lower, []byte(n)) {
			return true
		}
	}
	if p == nil {
		return false
	}
	var words map[string]bool
	for _, title := range titles {
		wanted := longWords(title)
		if len(wanted) == 0 {
			continue
		}
		if words == nil {
			words = longWords(p.title)
			for _, w := range p.words {
				words[w] = true
			}
		}
		found := 0
		for w := range wanted {
			if words[w] {
				found++
			}
		}
		if found*5 >= len(wanted)*3 {
			return true
		}
	}
	return false
}

const (
	leastName = 6 // minimum number of characters of a name
	leastWord = 4 // minimum number of characters of a word of a title
)

func longWords(title string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(w) >= leastWord {
			words[strings.ToLower(w)] = true
		}
	}
	return words
}

func isChallenge(p *page) bool {
	title := strings.ToLower(strings.TrimSpace(p.title))
	for _, t := range [...]string{"just a moment", "attention required", "are you a robot", "verify you are human", "captcha"} {
		if strings.HasPrefix(title, t) {
			return true
		}
	}
	return false
}

// softTarget reports whether a redirect leads to a page that is not specific to the resource. Such
// pages are the home page, a page for signing in, and a page that reports that something was not
// found.
func softTarget(from, to *url.URL) bool {
	if from.Host == to.Host && from.Path == to.Path {
		return false
	}
	end := strings.ToLower(to.Path)
	if isHome(end) && !isHome(from.Path) && to.RawQuery == "" {
		return true
	}
	for part := range strings.SplitSeq(strings.Trim(end, "/"), "/") {
		part, _, _ = strings.Cut(part, ".")
		switch part {
		case "404", "notfound", "not-found", "not_found", "error404", "login", "signin", "sign-in", "sso", "shibboleth":
			return true
		}
	}
	return false
}

func isHome(path string) bool { return strings.Trim(path, "/") == "" }

// sameSite reports whether two hosts belong to the same site. They are equal, or one of them is a
// subdomain of the other.
func sameSite(a, b string) bool {
	a, b = strings.TrimPrefix(strings.ToLower(a), "www."), strings.TrimPrefix(strings.ToLower(b), "www.")
	return a == b || strings.HasSuffix(a, "."+b) || strings.HasSuffix(b, "."+a)
}
