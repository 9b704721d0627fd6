package namespace

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// MaxSuggestions is the maximum number of suggestions that [Suggest] returns.
const MaxSuggestions = 5

// Limits on the work of Suggest.
const (
	maxGuessed    = 2048 // maximum length of a text in bytes; longer texts have no suggestions
	maxFixes      = 20   // maximum number of mistakes in a text that are corrected
	maxTransposed = 64   // maximum length in bytes of a string in which transpositions are tried
)

// A Suggestion is a valid name that was probably meant.
type Suggestion struct {
	Name string // the URN
	Why  string // describes the mistake in the text; never empty
}

// Suggest is the function [Suggest] for c.
func (c Catalogue) Suggest(s string) []Suggestion {
	if s == "" || len(s) > maxGuessed {
		return nil
	}
	g := guess{catalogue: c, input: s}
	text := g.unwrap(s)
	if inner, ok := unescapeURN(text); ok {
		text = inner
		g.because("the colons were escaped")
	}
	if g.name(text) || len(g.found) > 0 {
		return g.found
	}
	if g.respelled(text); len(g.found) == 0 {
		g.bare(text)
	}
	return g.found
}

// A guess collects suggestions.
type guess struct {
	catalogue Catalogue
	input     string
	cut       bool   // the text comes from a URL, whose end may not belong to the name
	why       string // describes the changes to the input so far
	found     []Suggestion
}

// because records a change of the input, which is then part of the reason for all later
// suggestions.
func (g *guess) because(why string) { g.why = joinWhy(g.why, why) }

func joinWhy(a, b string) string {
	switch {
	case a == "" || b == "":
		return a + b
	case strings.HasSuffix(a, b):
		return a
	}
	return a + "; " + b
}

func (g *guess) valid(name string) bool {
	u, err := urn.Parse(name)
	if err != nil {
		return false
	}
	i, ok := g.catalogue.find(u.NID())
	return ok && g.catalogue.list[i].Check(u.NSS()) == nil
}

// offer adds a name to the suggestions if the name is valid and new, and reports whether the name
// is valid. A name without a reason is not added, because it differs from the input only in the
// case of "URN".
func (g *guess) offer(name, why string) bool {
	if !g.valid(name) {
		return false
	}
	why = joinWhy(g.why, why)
	if name == g.input || why == "" || len(g.found) == MaxSuggestions {
		return true
	}
	for _, f := range g.found {
		if f.Name == name {
			return true
		}
	}
	g.found = append(g.found, Suggestion{name, why})
	return true
}

func (g *guess) name(text string) bool {
	rest, ok := ascii.CutPrefix(text, "urn:")
	for again := ok; again; {
		var inner string
		if inner, again = ascii.CutPrefix(rest, "urn:"); again {
			rest = inner
			g.because(`"urn:" was repeated`)
		}
	}
	if !ok || g.resolver(rest) {
		return ok
	}
	if g.offer("urn:"+rest, "") {
		g.betterForm("urn:" + rest)
		return true
	}
	if end := strings.IndexAny(rest, "?#&"); g.cut && end > 0 {
		rest = rest[:end]
	}
	if rest = trimAddress(rest, g.cut); g.offer("urn:"+rest, "") {
		return true
	}
	nid, nss, _ := strings.Cut(rest, ":")
	if i, known := g.catalogue.find(nid); known && nss != "" {
		g.repair(&g.catalogue.list[i], nid, nss)
	} else if nss != "" {
		g.nearNIDs(nid, nss)
	}
	return false
}

func trimAddress(s string, cut bool) string {
	if cut {
		return strings.TrimRight(s, "/")
	}
	return s
}

// resolver tries to remove the address of a resolver from a DOI.
func (g *guess) resolver(rest string) bool {
	nss, ok := ascii.CutPrefix(rest, "doi:")
	for _, a := range [...]string{"https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/"} {
		if name, found := ascii.CutPrefix(nss, a); ok && found {
			return g.offer("urn:doi:"+name, "a URL is not part of a DOI name")
		}
	}
	return false
}

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

// nearNIDs tries the namespaces whose identifiers are one typo away from nid. It skips namespaces
// without rules whose identifiers have at most three letters, because too many of them are similar.
func (g *guess) nearNIDs(nid, nss string) {
	nid = strings.ToLower(nid)
	for i := range g.catalogue.list {
		n := &g.catalogue.list[i]
		if slip(n.NID, nid) && (len(n.NID) > 3 || n.Rules.Check != nil) {
			g.offer("urn:"+n.NID+":"+nss, fmt.Sprintf("unknown namespace %q; similar to %q: %s", nid, n.NID, n.Name))
		}
	}
	if rest, ok := strings.CutPrefix(nid, "x-"); ok {
		g.offer("urn:"+rest+":"+nss, "experimental form of a registered namespace")
	}
}

// slip reports whether a and b differ by a single typo. A typo adds, removes or replaces a
// character, or swaps two neighbouring characters. It returns false for texts of fewer than three
// characters.
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

func (g *guess) repair(n *Namespace, nid, nss string) {
	prefix := "urn:" + nid + ":"
	if rest, ok := ascii.CutPrefix(nss, nid); ok {
		g.offer(prefix+strings.TrimLeft(rest, " :"), "the namespace was repeated")
	}
	clean := plain(nss)
	if clean != nss {
		g.offer(prefix+clean, "spaces, or dashes other than the hyphen")
	}
	if len(g.found) == 0 {
		g.mend(n, prefix, nss, clean)
	}
	g.digits(n, prefix, clean)
	g.fix(n, prefix, clean)
	g.transpose(n, prefix, clean)
	g.elsewhere(n, clean)
}

// mend tries the function Mend of the namespace, and the first word of nss without the rest.
func (g *guess) mend(n *Namespace, prefix, nss, clean string) {
	if n.Rules.Mend != nil {
		mended, why := n.Rules.Mend(clean)
		g.offer(prefix+mended, why)
	}
	nss = strings.TrimLeft(nss, " ")
	if end := strings.IndexAny(nss, " (&"); end > 0 && len(g.found) == 0 {
		g.offer(prefix+trimMarks(plain(nss[:end]), marks+":"), "the rest is not part of the name")
	}
}

// digits tries to correct a wrong check digit by replacing letters with the digits that look like
// them.
func (g *guess) digits(n *Namespace, prefix, nss string) {
	if f := n.Check(nss); f == nil || f.Code != CodeCheckDigit {
		return
	}
	b, changed := []byte(nss), false
	for i := max(1, ownPart(n, nss)); i < len(b); i++ {
		if d := digitLike(b[i]); d != "" && ascii.IsDigit(b[i-1]) {
			b[i], changed = d[0], true
		}
	}
	if changed {
		g.offer(prefix+string(b), "letters that look like digits")
	}
}

// fix applies the corrections that Check suggests, until there is no error or no new correction.
func (g *guess) fix(n *Namespace, prefix, nss string) {
	why := ""
	for range maxFixes {
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

// transpose tries to correct a wrong check digit by swapping neighbouring characters.
func (g *guess) transpose(n *Namespace, prefix, nss string) {
	if len(nss) > maxTransposed {
		return
	}
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
		if n.Check(string(b)) == nil {
			g.offer(prefix+string(b), fmt.Sprintf("%q and %q were swapped", nss[i:i+1], nss[j:j+1]))
		}
		b[i], b[j] = b[j], b[i]
	}
}

// ownPart returns the offset of the identifier in nss, after the last colon or the prefix of an
// NBN.
func ownPart(n *Namespace, nss string) int {
	if n.NID == nbn.NID {
		return strings.IndexByte(nss, '-') + 1
	}
	return strings.LastIndexByte(nss, ':') + 1
}

const selfChecking = " isbn ismn issn isni lei eic "

// elsewhere tries the string in other namespaces with check digits.
func (g *guess) elsewhere(n *Namespace, nss string) {
	for nid := range strings.FieldsSeq(selfChecking) {
		if other, ok := g.catalogue.Lookup(nid); ok && nid != n.NID {
			g.offer("urn:"+nid+":"+nss, "is not a valid "+n.NID+"; it is valid as "+other.Name)
		}
	}
}

// separators are characters that users write instead of a colon.
const separators = ":;,/. _"

// respelled interprets a text in which "urn" or a colon is misspelled.
func (g *guess) respelled(text string) {
	first, rest := text, ""
	if end := strings.IndexAny(text, separators); end >= 0 {
		first, rest = text[:end], text[end:]
	}
	word := strings.ToLower(first)
	rest = strings.TrimLeft(rest, separators)
	switch {
	case word == "urn":
	case word == "um", rest != "" && slip("urn", word):
		g.because(fmt.Sprintf(`"urn" for %q`, first))
	case strings.HasPrefix(word, "urn"):
		rest = text[len("urn"):]
	default:
		return
	}
	if nid, nss := g.cutKnown(rest); nss != "" {
		if _, colons := ascii.CutPrefix(text, first+":"+nid+":"); !colons {
			g.because("a character other than a colon, or none")
		}
		g.name("urn:" + nid + ":" + nss)
	}
}

// cutKnown splits s into the identifier of a namespace with rules and the text after the separator.
// If s has no separator, a digit must follow the identifier, and the namespace must have check
// digits.
func (g *guess) cutKnown(s string) (nid, nss string) {
	end := strings.IndexAny(s, separators)
	if end < 0 {
		end = len(s)
	}
	if i, ok := g.catalogue.find(s[:end]); ok && g.catalogue.list[i].Rules.Check != nil {
		return strings.ToLower(s[:end]), strings.TrimLeft(s[end:], separators)
	}
	end = ascii.Run(s, 0, ascii.IsLetter)
	if end < len(s) && ascii.IsDigit(s[end]) && among(selfChecking, s[:end]) {
		return strings.ToLower(s[:end]), s[end:]
	}
	return "", ""
}

// bare interprets a text without "urn:".
func (g *guess) bare(text string) {
	if nid, nss := g.cutLabel(text); nss != "" {
		g.because(`"urn:" was missing`)
		g.name("urn:" + nid + ":" + nss)
		return
	}
	g.series(text)
	if strings.HasPrefix(text, "10.") && strings.Contains(text, "/") {
		g.offer("urn:doi:"+escape(text), "a DOI name")
	}
	text = plain(text)
	for nid := range strings.FieldsSeq(selfChecking) {
		g.offer("urn:"+nid+":"+text, "a bare "+strings.ToUpper(nid))
	}
	if len(g.found) > 0 {
		return
	}
	if looksISBN(text) {
		i, _ := g.catalogue.find(isbn.NID)
		g.because("an ISBN without its prefix")
		g.repair(&g.catalogue.list[i], isbn.NID, text)
		return
	}
	if id, _ := mendUUID(text); id != "" {
		g.offer("urn:uuid:"+id, "a UUID without its prefix")
	}
	if strings.Count(text, ".") >= 3 && !strings.Contains(text, "/") && !isAddress(text) {
		g.offer("urn:oid:"+text, "an object identifier without its prefix")
	}
}

// cutLabel removes a label such as "ISBN-13: ", "e-ISSN " or "ISSN (online): ".
func (g *guess) cutLabel(s string) (nid, nss string) {
	end := strings.IndexAny(s, ": ")
	if end < 0 {
		return g.cutKnown(s)
	}
	rest := strings.TrimLeft(s[end:], " :")
	if close := strings.IndexByte(rest, ')'); close > 0 && rest[0] == '(' {
		rest = strings.TrimLeft(rest[close+1:], " :")
	}
	label := strings.ToLower(s[:end])
	if _, ok := g.catalogue.find(label); ok {
		return label, rest
	}
	for _, variant := range [...]string{"-13", "-10", "-l"} {
		label = strings.TrimSuffix(label, variant)
	}
	label = strings.TrimPrefix(strings.TrimLeft(label, "ep"), "-")
	if among(selfChecking, label) {
		return label, rest
	}
	return g.cutKnown(s)
}

// series tries a text such as "RFC 2648" as the name of an IETF document.
func (g *guess) series(text string) {
	for _, s := range [...]string{"rfc", "bcp", "std", "fyi"} {
		rest, ok := ascii.CutPrefix(text, s)
		number := strings.TrimLeft(rest, " -:")
		if ok && number != "" && digits(number, 0) == len(number) {
			g.offer("urn:ietf:"+s+":"+strings.TrimLeft(number, "0"), "the name of an "+strings.ToUpper(s))
		}
	}
}

func looksISBN(s string) bool {
	hyphens := strings.Count(s, "-")
	switch len(s) - hyphens {
	case 13:
		return ascii.Run(s, 0, isLDH) == len(s) && (strings.HasPrefix(s, "978") || strings.HasPrefix(s, "979"))
	case 10:
		return ascii.Run(s, 0, isLDH) == len(s) && hyphens == 3 && ascii.IsDigit(s[0])
	}
	return false
}

func isAddress(s string) bool {
	return strings.Count(s, ".") == 3 && len(s) <= len("255.255.255.255")
}

// escape percent-encodes the characters of s that a URN cannot contain. It does not change existing
// percent-encodings.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; ascii.IsPchar(c) || c == '/' || c == '%' {
			b.WriteByte(c)
		} else {
			b.WriteString(ascii.Escape(c))
		}
	}
	return b.String()
}
