package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// Schemes for names that are derived from digests (RFC 6920).

var ni = scheme.Scheme{
	Name: "ni", Title: "Named Information", Kind: scheme.KindName,
	Reference:  "RFC 6920, 3",
	Example:    "ni:///sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk?ct=text/plain",
	Note:       "the authority is a hint where to ask and not part of the name's identity; a truncated digest does not protect against forgery",
	Security:   "the digest proves the content only if it is long enough and the URI comes from a trusted source",
	Special:    []scheme.Special{inPath(";", "separates the algorithm and the value"), inQuery("&", "separates attributes")},
	Properties: "identifies octets by their digest; globally unique, without an assigning authority",
	Rules:      scheme.RuleSet{Check: withFragment(checkNI, ruleNI), Parts: partsNI},
}

var nih = scheme.Scheme{
	Name: "nih", Title: "Named Information for humans", Kind: scheme.KindName,
	Reference:  "RFC 6920, 7",
	Example:    "nih:sha-256-32;53269057;b",
	Note:       "for reading aloud: hyphens are ignored, a number may stand for the algorithm, and the check digit detects errors",
	Security:   ni.Security,
	Special:    []scheme.Special{inPath(";", "separates the algorithm, value and check digit"), inPath("-", "groups digits")},
	Properties: ni.Properties,
	Rules:      scheme.RuleSet{Check: withFragment(checkNIH, ruleNIH), Parts: partsNIH, Canonical: canonicalNIH},
}

const (
	ruleNI        = "RFC 6920, 3: NI-URI"
	ruleNIValue   = "RFC 6920, 3: val"
	ruleNIH       = "RFC 6920, 7: humanname"
	ruleNIHValue  = "RFC 6920, 7: sepval"
	ruleAlgorithm = "RFC 6920, 9.4: hash algorithms"
	ruleLuhn      = "RFC 6920, 7: checkdigit"
)

// algorithms are the hash algorithms in the registry that RFC 6920, section 9.4 created, with the
// lengths of their digests in bits. The index is the suite identifier.
var algorithms = [...]struct {
	name string
	bits int
}{
	1: {"sha-256", 256},
	2: {"sha-256-128", 128},
	3: {"sha-256-120", 120},
	4: {"sha-256-96", 96},
	5: {"sha-256-64", 64},
	6: {"sha-256-32", 32},

	7:  {"sha-384", 384},
	8:  {"sha-512", 512},
	9:  {"sha3-224", 224},
	10: {"sha3-256", 256},
	11: {"sha3-384", 384},
	12: {"sha3-512", 512},
}

func algorithm(name string) int {
	for id := range algorithms {
		if algorithms[id].bits > 0 && algorithms[id].name == name {
			return id
		}
	}
	return 0
}

// checkNI checks an ni URI.
//
//	NI-URI       = ni-scheme ":" ni-hier-part [ "?" query ]
//	ni-hier-part = "//" [ authority ] "/" alg-val
//	alg-val      = alg ";" val
func checkNI(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	from := l.Path + 1
	semicolon := l.PathEnd
	if from <= l.PathEnd {
		semicolon = ascii.Until(l.Text, from, l.PathEnd, ';')
	}
	switch {
	case !l.Authority:
		return []scheme.Finding{layout.Instead(layout.Broken(l.Rest, l.Rest, ruleNI, "missing // after the colon; a further slash precedes the algorithm"), "//")}
	case !l.HasPath():
		return layout.Refuse(l.Path, l.Path, ruleNI, "a slash must precede the algorithm")
	case semicolon == l.PathEnd:
		return layout.Refuse(l.PathEnd, l.PathEnd, ruleNI, "a semicolon and the digest must follow the algorithm")
	case semicolon == from:
		return layout.Refuse(from, from, ruleNI, "missing algorithm")
	case semicolon+1 == l.PathEnd:
		return layout.Refuse(l.PathEnd, l.PathEnd, ruleNIValue, "missing digest")
	}
	if i := firstNot(l.Text, from, semicolon, isUnreserved); i >= 0 {
		return layout.Refuse(i, i+1, "RFC 6920, 3: alg", "the algorithm must consist of letters, digits and - . _ ~")
	}
	if i := firstNot(l.Text, semicolon+1, l.PathEnd, isBase64URL); i >= 0 {
		return layout.Refuse(i, i+1, ruleNIValue, "invalid base64url character; padding must be omitted")
	}
	attributes := fieldGrammar{rule: "RFC 6920, 3: query parameters", form: "an attribute must have the form name=value"}
	for f := range queryFields(&l, '&') {
		if bad := attributes.check(l.Text, f); bad != nil {
			return bad
		}
	}
	return checkNIDigest(&l, from, semicolon)
}

func checkNIDigest(l *layout.Layout, from, semicolon int) []scheme.Finding {
	const bitsEach = 6
	id := algorithm(l.Text[from:semicolon])
	if id == 0 {
		return []scheme.Finding{layout.Remark(scheme.CodeUndefined, from, semicolon, ruleAlgorithm, "unknown hash algorithm")}
	}
	bits, length := algorithms[id].bits, l.PathEnd-semicolon-1
	if length != (bits+bitsEach-1)/bitsEach {
		return layout.RefuseAs(scheme.CodeValue, semicolon+1, l.PathEnd, ruleAlgorithm, "the digest has the wrong length for its algorithm")
	}
	if spare := length*bitsEach - bits; base64URLValue(l.Text[l.PathEnd-1])&(1<<spare-1) != 0 {
		return []scheme.Finding{layout.Warn(scheme.CodeForm, l.PathEnd-1, l.PathEnd, "RFC 4648, 3.5", "unused bits of the last character must be zero")}
	}
	return nil
}

func isBase64URL(c byte) bool { return ascii.IsAlnum(c) || c == '-' || c == '_' }

func base64URLValue(c byte) int {
	return strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", c)
}

func partsNI(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	if authority, ok := u.Authority(); ok && authority != "" {
		t.Part("authority", t.Rest+2, t.Path)
	}
	from := min(t.Path+1, t.PathEnd)
	semicolon := ascii.Until(t.Text, from, t.PathEnd, ';')
	t.Part("algorithm", from, semicolon)
	t.Part("value", semicolon+1, t.PathEnd)
	appendFields(&t, "attribute", t.Query, t.QueryEnd, '&')
	t.Fragment()
	return t.Parts
}

func nihValue(l *layout.Layout) (value, valueEnd int) {
	semicolon := ascii.Until(l.Text, l.Path, l.PathEnd, ';')
	if semicolon == l.PathEnd {
		return -1, -1
	}
	return semicolon + 1, ascii.Until(l.Text, semicolon+1, l.PathEnd, ';')
}

// suiteOf returns the suite identifier of the algorithm in an nih URI, or 0 if the algorithm is
// unknown. The URI contains the algorithm's name or its suite identifier.
func suiteOf(l *layout.Layout, value int) int {
	const digits = 2
	name := l.Text[l.Path : value-1]
	if id := algorithm(name); id > 0 {
		return id
	}
	if len(name) > digits || !ascii.All(name, ascii.IsDigit) || name[0] == '0' {
		return 0
	}
	id := 0
	for i := range len(name) {
		id = 10*id + int(name[i]-'0')
	}
	if id >= len(algorithms) {
		return 0
	}
	return id
}

// checkNIH checks an nih URI.
//
//	humanname  = "nih:" alg-sepval [ ";" checkdigit ]
//	alg-sepval = alg ";" sepval
//	sepval     = 1*(ahlc / "-")
func checkNIH(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleNIH, "the algorithm"); bad != nil {
		return bad
	}
	value, end := nihValue(&l)
	switch {
	case value < 0:
		return layout.Refuse(l.PathEnd, l.PathEnd, ruleNIH, "a semicolon and the digest must follow the algorithm")
	case value-1 == l.Path:
		return layout.Refuse(l.Path, l.Path, ruleNIH, "missing algorithm")
	}
	if i := firstNot(l.Text, l.Path, value-1, isUnreserved); i >= 0 {
		return layout.Refuse(i, i+1, ruleNIH, "the algorithm must be a number, or consist of letters, digits and - . _ ~")
	}
	digits := 0
	for i := value; i < end; i++ {
		switch c := l.Text[i]; {
		case ascii.IsHex(c) && ascii.Lower(c) == c:
			digits++
		case c != '-':
			return layout.Refuse(i, i+1, ruleNIHValue, "the digest must consist of lower-case hexadecimal digits and hyphens")
		}
	}
	if digits == 0 {
		return layout.Refuse(value, end, ruleNIHValue, "missing digest")
	}
	if bad := refuseQuery(&l, ruleNIH); bad != nil {
		return bad
	}
	return checkNIHDigest(&l, value, end, digits)
}

func checkNIHDigest(l *layout.Layout, value, end, digits int) []scheme.Finding {
	if end < l.PathEnd {
		if right := luhn(l.Text[value:end]); l.Text[end+1:l.PathEnd] != right {
			f := layout.Instead(layout.Broken(end+1, l.PathEnd, ruleLuhn, "wrong check digit; check the other digits for typing errors"), right)
			f.Code = scheme.CodeValue
			return []scheme.Finding{f}
		}
	}
	id := suiteOf(l, value)
	const bitsEach = 4
	switch {
	case id == 0:
		return []scheme.Finding{layout.Remark(scheme.CodeUndefined, l.Path, value-1, ruleAlgorithm, "unknown hash algorithm")}
	case digits*bitsEach != algorithms[id].bits:
		return layout.RefuseAs(scheme.CodeValue, value, end, ruleAlgorithm, "the digest has the wrong length for its algorithm")
	}
	return nil
}

// luhn returns the check digit for hexadecimal digits by the Luhn algorithm modulo 16. It ignores
// hyphens.
func luhn(digits string) string {
	const base = 16
	sum, factor := 0, 2
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] == '-' {
			continue
		}
		n := factor * int(ascii.Unhex(digits[i]))
		sum += n/base + n%base
		factor = 3 - factor
	}
	digit := (base - sum%base) % base
	return "0123456789abcdef"[digit : digit+1]
}

func partsNIH(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	value, end := nihValue(&t.Layout)
	if value < 0 {
		t.Part("algorithm", t.Path, t.PathEnd)
		return t.Parts
	}
	t.Part("algorithm", t.Path, value-1)
	t.Part("value", value, end)
	t.Part("checkdigit", end+1, t.PathEnd)
	t.Fragment()
	return t.Parts
}

// canonicalNIH writes the algorithm as a name, removes hyphens and adds the check digit.
func canonicalNIH(u uri.URI) string {
	l := layout.Of(u)
	value, end := nihValue(&l)
	name := l.Text[l.Path : value-1]
	if id := suiteOf(&l, value); id > 0 {
		name = algorithms[id].name
	}
	digits := strings.ReplaceAll(l.Text[value:end], "-", "")
	return "nih:" + name + ";" + digits + ";" + luhn(digits) + l.Text[l.End():]
}
