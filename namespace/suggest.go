package namespace

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// MaxSuggestions bounds the answer of [Suggest].
const MaxSuggestions = 5

// maxGuessed is the longest text that is guessed at.
const maxGuessed = 2048

// A Suggestion is a valid name that was probably meant.
type Suggestion struct {
	Name string // a URN
	Why  string // what was wrong, for people
}

// Suggest is like the function [Suggest].
func (c Catalogue) Suggest(s string) []Suggestion {
	if s == "" || len(s) > maxGuessed {
		return nil
	}
	g := guess{catalogue: c, input: s}
	text, why := unwrap(s)
	g.why = why
	g.name(text)
	if len(g.found) == 0 {
		g.bare(text)
	}
	return g.found
}

// A guess collects suggestions.
type guess struct {
	catalogue Catalogue
	input     string
	why       string // what unwrap took away
	found     []Suggestion
}

// offer adds a name if it is valid and new, and reports whether it is valid.
func (g *guess) offer(name, why string) bool {
	u, err := urn.Parse(name)
	if err != nil {
		return false
	}
	n, ok := g.catalogue.Lookup(u.NID())
	if !ok || n.Check(u.NSS()) != nil {
		return false
	}
	if name == g.input || len(g.found) == MaxSuggestions {
		return true
	}
	for _, f := range g.found {
		if f.Name == name {
			return true
		}
	}
	if g.why != "" && why != "" {
		why = g.why + "; " + why
	} else if why == "" {
		why = g.why
	}
	g.found = append(g.found, Suggestion{name, why})
	return true
}

// name guesses at a text that begins with "urn:".
func (g *guess) name(text string) {
	rest, ok := cutFold(text, "urn:")
	if !ok {
		return
	}
	for {
		again, ok := cutFold(rest, "urn:")
		if !ok {
			break
		}
		rest, g.why = again, joinWhy(g.why, `"urn:" came twice`)
	}
	if g.address(rest) {
		return
	}
	if g.offer("urn:"+rest, "") {
		g.betterForm("urn:" + rest)
		return
	}
	nid, nss, ok := strings.Cut(rest, ":")
	if !ok {
		g.bare(rest)
		return
	}
	if n, known := g.catalogue.Lookup(nid); known {
		g.repair(n, nid, nss)
		return
	}
	g.nearNIDs(nid, nss)
}

// address tries a DOI name given with the address of its resolver.
func (g *guess) address(rest string) bool {
	nss, ok := cutFold(rest, "doi:")
	for _, a := range [...]string{"https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/"} {
		if name, found := cutFold(nss, a); ok && found {
			return g.offer("urn:doi:"+name, "an address is no part of a DOI name")
		}
	}
	return false
}

func joinWhy(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// cutFold cuts a prefix in any case.
func cutFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

// betterForm tries what the remarks about a valid name say is right.
func (g *guess) betterForm(name string) {
	u, err := urn.Parse(name)
	if err != nil {
		return
	}
	for _, f := range g.catalogue.Check(u) {
		if f.Severity == uri.SeverityWarning && f.Right != "" {
			g.offer(name[:f.Offset]+f.Right+name[f.End:], f.Rule+": "+f.Message)
		}
	}
}

// nearNIDs tries the namespaces whose identifiers are one slip away.
func (g *guess) nearNIDs(nid, nss string) {
	for n := range g.catalogue.All() {
		if slip(n.NID, strings.ToLower(nid)) {
			g.offer("urn:"+n.NID+":"+nss, fmt.Sprintf("there is no namespace %q, but %q: %s", nid, n.NID, n.Name))
		}
	}
	if rest, ok := cutFold(nid, "x-"); ok {
		g.offer("urn:"+rest+":"+nss, "experimental form of a registered namespace")
	}
}

// slip reports whether a becomes b by one letter added, dropped or changed, or by
// two neighbours that change places. A single letter is no ground to guess.
func slip(a, b string) bool {
	if len(a) < 3 || len(b) < 3 || a == b {
		return false
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	x, y := a[i:], b[i:]
	switch len(x) - len(y) {
	case 1:
		return x[1:] == y
	case -1:
		return x == y[1:]
	case 0:
		return x[1:] == y[1:] || len(x) > 1 && x[0] == y[1] && x[1] == y[0] && x[2:] == y[2:]
	}
	return false
}

// repair tries to mend the namespace-specific string of a known namespace.
func (g *guess) repair(n Namespace, nid, nss string) {
	prefix := "urn:" + nid + ":"
	if rest, ok := cutFold(nss, nid); ok {
		g.offer(prefix+strings.TrimLeft(rest, " :"), "the namespace was said twice")
	}
	clean := plain(nss)
	if clean != nss {
		g.offer(prefix+clean, "spaces or other dashes than the hyphen")
	}
	g.fix(n, prefix, clean)
	g.transpose(n, prefix, clean)
	g.elsewhere(n, clean)
}

// fix follows what the check says is right, as often as it says something new.
func (g *guess) fix(n Namespace, prefix, nss string) {
	why := ""
	for range len(nss) {
		f := n.Check(nss)
		if f == nil {
			g.offer(prefix+nss, why)
			return
		}
		if f.Right == "" || f.Right == nss[f.Offset:f.End] {
			return
		}
		step := fmt.Sprintf("%s: %q for %q", f.Rule, f.Right, nss[f.Offset:f.End])
		if f.Code == CodeCheckDigit {
			step = fmt.Sprintf("%s: %s", f.Rule, f.Message)
		}
		why = joinWhy(why, step)
		nss = nss[:f.Offset] + f.Right + nss[f.End:]
	}
}

// transpose tries neighbours that changed places, where the check digit tells.
func (g *guess) transpose(n Namespace, prefix, nss string) {
	if f := n.Check(nss); f == nil || f.Code != CodeCheckDigit {
		return
	}
	b := []byte(nss)
	for i := ownPart(n, nss); i < len(b); i++ {
		j := i + 1
		for j < len(b) && b[j] == '-' {
			j++
		}
		if j >= len(b) || b[i] == b[j] || b[i] == '-' {
			continue
		}
		b[i], b[j] = b[j], b[i]
		g.offer(prefix+string(b), fmt.Sprintf("%q and %q changed places", nss[i:i+1], nss[j:j+1]))
		b[i], b[j] = b[j], b[i]
	}
}

// ownPart returns where the part of a name begins that is typed anew for each:
// after its last colon, and after the prefix of an NBN.
func ownPart(n Namespace, nss string) int {
	if n.NID == nbn.NID {
		return strings.IndexByte(nss, '-') + 1
	}
	return strings.LastIndexByte(nss, ':') + 1
}

// selfChecking are the namespaces whose strings can be told by their check
// digits.
var selfChecking = [...]string{"isbn", "ismn", "issn", "isni", "lei", "eic"}

// elsewhere tries the string in the namespaces that can tell.
func (g *guess) elsewhere(n Namespace, nss string) {
	for _, nid := range selfChecking {
		if other, ok := g.catalogue.Lookup(nid); ok && nid != n.NID {
			g.offer("urn:"+nid+":"+nss, "is no "+n.NID+": it is valid as "+other.Name)
		}
	}
}

// bare guesses at a text without "urn:".
func (g *guess) bare(text string) {
	if text == "" {
		return
	}
	if nid, nss, ok := cutLabel(text); ok {
		if n, known := g.catalogue.Lookup(nid); known {
			g.why = joinWhy(g.why, `"urn:" was missing`)
			if nss = plain(strings.TrimLeft(nss, " :")); nss == "" {
				return
			}
			if !g.offer("urn:"+n.NID+":"+nss, "") {
				g.repair(n, n.NID, nss)
			}
			return
		}
	}
	if number, ok := cutFold(text, "rfc"); ok {
		number = strings.TrimLeft(number, " -:")
		if digits(number, 0) == len(number) && number != "" {
			g.offer("urn:ietf:rfc:"+strings.TrimLeft(number, "0"), "the name of an RFC")
		}
	}
	if strings.HasPrefix(text, "10.") && strings.Contains(text, "/") {
		g.offer("urn:doi:"+escape(text), "a DOI name")
	}
	text = plain(text)
	for _, nid := range selfChecking {
		g.offer("urn:"+nid+":"+text, "a bare "+strings.ToUpper(nid))
	}
	if len(g.found) > 0 {
		return
	}
	g.offer("urn:uuid:"+strings.Trim(text, "{}"), "a bare UUID")
	if strings.Count(text, ".") >= 3 && !strings.Contains(text, "/") && !isAddress(text) {
		g.offer("urn:oid:"+text, "a bare object identifier")
	}
}

// cutLabel cuts what stands before the first colon or space.
func cutLabel(s string) (label, rest string, ok bool) {
	i := strings.IndexAny(s, ": ")
	if i <= 0 {
		return "", "", false
	}
	label = strings.TrimSuffix(strings.TrimSuffix(s[:i], "-13"), "-10")
	return label, s[i+1:], true
}

// isAddress reports whether s looks like an IPv4 address.
func isAddress(s string) bool {
	return strings.Count(s, ".") == 3 && len(s) <= len("255.255.255.255")
}

// unwrap takes away what people put around names, and says so.
func unwrap(s string) (text, why string) {
	text = strings.TrimSpace(s)
	text = strings.TrimPrefix(text, "\ufeff")
	if t, ok := cutFold(text, "url:"); ok {
		text = t
	}
	text = trimMarks(text)
	if text != s {
		why = "marks around the name"
	}
	rest, ok := cutFold(text, "https://")
	if !ok {
		rest, ok = cutFold(text, "http://")
	}
	if !ok {
		return text, why
	}
	host, path, ok := strings.Cut(rest, "/")
	if !ok || path == "" {
		return text, why
	}
	if inner := findURN(path); inner != "" {
		return inner, joinWhy(why, "an address with the name inside")
	}
	switch strings.ToLower(host) {
	case "doi.org", "dx.doi.org", "www.doi.org":
		return "doi:" + path, joinWhy(why, "the address of a DOI name")
	case "portal.issn.org":
		if number, ok := cutFold(path, "resource/issn/"); ok {
			return "issn:" + number, joinWhy(why, "the address of an ISSN")
		}
	case "isni.org", "www.isni.org":
		if number, ok := cutFold(path, "isni/"); ok {
			return "isni:" + number, joinWhy(why, "the address of an ISNI")
		}
	}
	return text, why
}

// findURN returns the URN in a path or query, or "".
func findURN(path string) string {
	for i := range len(path) {
		if i > 0 && isAlnum(path[i-1]) {
			continue
		}
		if _, ok := cutFold(path[i:], "urn:"); ok {
			return path[i:]
		}
		if rest, ok := cutFold(path[i:], "urn%3a"); ok {
			end := strings.IndexAny(rest, "&#/")
			if end < 0 {
				end = len(rest)
			}
			return "urn:" + unescapeColons(rest[:end])
		}
	}
	return ""
}

func unescapeColons(s string) string {
	return strings.NewReplacer("%3A", ":", "%3a", ":", "%2F", "/", "%2f", "/").Replace(s)
}

// trimMarks takes away brackets, quotation marks and the punctuation of a
// sentence. A closing bracket that has its partner inside stays.
func trimMarks(s string) string {
	for {
		t := strings.TrimLeft(s, "<([{\"'“”„«»‘’ ")
		for t != "" {
			r, n := utf8.DecodeLastRuneInString(t)
			open := map[rune]string{')': "(", ']': "[", '}': "{"}[r]
			if !strings.ContainsRune(">)]}\"'“”„«»‘’ .,;:!?…", r) || open != "" && strings.Count(t, open) >= strings.Count(t, string(r)) {
				break
			}
			t = t[:len(t)-n]
		}
		if t == s {
			return s
		}
		s = t
	}
}

// plain writes the dashes of typesetters as hyphens and leaves out white space
// and what cannot be seen.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212', '\u00ad', '\ufe58', '\ufe63', '\uff0d':
			return '-'
		case ' ', '\t', '\n', '\r', '\u00a0', '\u2009', '\u202f', '\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\ufeff', '\u2060':
			return -1
		}
		return r
	}, s)
}

// escape writes in escapes what cannot stand in a URN; escapes stay.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; isPchar(c) || c == '/' || c == '%' {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	return b.String()
}
