package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Names derived from digests (RFC 6920).

var ni = Scheme{
	Name: "ni", Title: "Named Information", Kind: KindName,
	Reference:  "RFC 6920, 3",
	Example:    "ni:///sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk?ct=text/plain",
	Note:       "the authority is a hint where to ask and not part of the name's identity; a truncated digest does not protect against forgery",
	Security:   "the digest proves the content only if it is long enough and the URI comes from a trusted source",
	Special:    []Special{{uri.ComponentPath, ";", "separates the algorithm and the value"}, {uri.ComponentQuery, "&", "separates attributes"}},
	Properties: "identifies octets by their digest; globally unique, without an assigning authority",
	Rules:      RuleSet{Check: withFragment(checkNI, ruleNI), Parts: partsNI},
}

var nih = Scheme{
	Name: "nih", Title: "Named Information for humans", Kind: KindName,
	Reference:  "RFC 6920, 7",
	Example:    "nih:sha-256-32;53269057;b",
	Note:       "for reading aloud: hyphens are ignored, a number may stand for the algorithm, and the check digit detects errors",
	Security:   ni.Security,
	Special:    []Special{{uri.ComponentPath, ";", "separates the algorithm, value and check digit"}, {uri.ComponentPath, "-", "groups digits"}},
	Properties: ni.Properties,
	Rules:      RuleSet{Check: withFragment(checkNIH, ruleNIH), Parts: partsNIH, Canonical: canonicalNIH},
}

// The grammar rules of named information.
const (
	ruleNI        = "RFC 6920, 3: NI-URI"
	ruleNIValue   = "RFC 6920, 3: val"
	ruleNIH       = "RFC 6920, 7: humanname"
	ruleNIHValue  = "RFC 6920, 7: sepval"
	ruleAlgorithm = "RFC 6920, 9.4: hash algorithms"
	ruleLuhn      = "RFC 6920, 7: checkdigit"
)

// algorithms lists the hash algorithms of the registry created by RFC 6920,
// 9.4, indexed by suite identifier, with the lengths of their values in bits.
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

// algorithm returns the suite identifier of the named algorithm, or 0 if it is
// unknown.
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
func checkNI(u uri.URI) []Finding {
	l := layoutOf(u)
	from := l.path + 1
	semicolon := l.pathEnd
	if from <= l.pathEnd {
		semicolon = until(l.s, from, l.pathEnd, ';')
	}
	switch {
	case !l.authority:
		return []Finding{instead(broken(l.rest, l.rest, ruleNI, "missing // after the colon; a further slash precedes the algorithm"), "//")}
	case !l.hasPath():
		return refuse(l.path, l.path, ruleNI, "a slash must precede the algorithm")
	case semicolon == l.pathEnd:
		return refuse(l.pathEnd, l.pathEnd, ruleNI, "a semicolon and the digest must follow the algorithm")
	case semicolon == from:
		return refuse(from, from, ruleNI, "missing algorithm")
	case semicolon+1 == l.pathEnd:
		return refuse(l.pathEnd, l.pathEnd, ruleNIValue, "missing digest")
	}
	if i := firstNot(l.s, from, semicolon, isUnreserved); i >= 0 {
		return refuse(i, i+1, "RFC 6920, 3: alg", "the algorithm must consist of letters, digits and - . _ ~")
	}
	if i := firstNot(l.s, semicolon+1, l.pathEnd, isBase64URL); i >= 0 {
		return refuse(i, i+1, ruleNIValue, "invalid base64url character; padding must be omitted")
	}
	for at := l.query; l.query >= 0 && at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, '&')
		if f.value < 0 || f.name == f.nameEnd {
			return refuse(f.name, f.end, "RFC 6920, 3: query parameters", "an attribute must have the form name=value")
		}
		at = f.end + 1
	}
	return l.checkDigest(from, semicolon)
}

// checkDigest checks that the digest has the length that the algorithm
// requires.
func (l *layout) checkDigest(from, semicolon int) []Finding {
	const bitsEach = 6
	id := algorithm(l.s[from:semicolon])
	if id == 0 {
		return []Finding{remark(CodeUndefined, from, semicolon, ruleAlgorithm, "unknown hash algorithm")}
	}
	bits, length := algorithms[id].bits, l.pathEnd-semicolon-1
	if length != (bits+bitsEach-1)/bitsEach {
		f := broken(semicolon+1, l.pathEnd, ruleAlgorithm, "the digest has the wrong length for its algorithm")
		f.Code = CodeValue
		return []Finding{f}
	}
	if spare := length*bitsEach - bits; base64URLValue(l.s[l.pathEnd-1])&(1<<spare-1) != 0 {
		return []Finding{warn(CodeForm, l.pathEnd-1, l.pathEnd, "RFC 4648, 3.5", "unused bits of the last character must be zero")}
	}
	return nil
}

func isBase64URL(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }

// base64URLValue returns the six bits that a base64url character stands for.
func base64URLValue(c byte) int {
	return strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", c)
}

func partsNI(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if authority, ok := u.Authority(); ok && authority != "" {
		t.part("authority", t.rest+2, t.path)
	}
	from := min(t.path+1, t.pathEnd)
	semicolon := until(t.s, from, t.pathEnd, ';')
	t.part("algorithm", from, semicolon)
	if semicolon < t.pathEnd {
		t.part("value", semicolon+1, t.pathEnd)
	}
	if t.query >= 0 {
		t.fields(t.query, t.queryEnd, '&')
	}
	t.fragment()
	return t.parts
}

// nihValue returns the range of the value, or -1 if it is absent.
func (l *layout) nihValue() (value, valueEnd int) {
	semicolon := until(l.s, l.path, l.pathEnd, ';')
	if semicolon == l.pathEnd {
		return -1, -1
	}
	return semicolon + 1, until(l.s, semicolon+1, l.pathEnd, ';')
}

// suite returns the suite identifier of the algorithm, given by name or number,
// or 0 if it is unknown.
func (l *layout) suite(value int) int {
	const digits = 2
	name := l.s[l.path : value-1]
	if id := algorithm(name); id > 0 {
		return id
	}
	if len(name) > digits || !all(name, isDigit) || name[0] == '0' {
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
func checkNIH(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleNIH, "the algorithm"); bad != nil {
		return bad
	}
	value, end := l.nihValue()
	switch {
	case value < 0:
		return refuse(l.pathEnd, l.pathEnd, ruleNIH, "a semicolon and the digest must follow the algorithm")
	case value-1 == l.path:
		return refuse(l.path, l.path, ruleNIH, "missing algorithm")
	}
	if i := firstNot(l.s, l.path, value-1, isUnreserved); i >= 0 {
		return refuse(i, i+1, ruleNIH, "the algorithm must be a number, or consist of letters, digits and - . _ ~")
	}
	digits := 0
	for i := value; i < end; i++ {
		switch c := l.s[i]; {
		case isHex(c) && lower(c) == c:
			digits++
		case c != '-':
			return refuse(i, i+1, ruleNIHValue, "the digest must consist of lower-case hexadecimal digits and hyphens")
		}
	}
	if digits == 0 {
		return refuse(value, end, ruleNIHValue, "missing digest")
	}
	if bad := l.refuseQuery(ruleNIH); bad != nil {
		return bad
	}
	if end < l.pathEnd {
		if right := luhn(l.s[value:end]); l.s[end+1:l.pathEnd] != right {
			f := instead(broken(end+1, l.pathEnd, ruleLuhn, "wrong check digit; check the other digits for typing errors"), right)
			f.Code = CodeValue
			return []Finding{f}
		}
	}
	id := l.suite(value)
	const bitsEach = 4
	switch {
	case id == 0:
		return []Finding{remark(CodeUndefined, l.path, value-1, ruleAlgorithm, "unknown hash algorithm")}
	case digits*bitsEach != algorithms[id].bits:
		f := broken(value, end, ruleAlgorithm, "the digest has the wrong length for its algorithm")
		f.Code = CodeValue
		return []Finding{f}
	}
	return nil
}

// luhn returns the check digit of hexadecimal digits, computed with the Luhn
// algorithm modulo 16. It skips hyphens.
func luhn(digits string) string {
	const base = 16
	sum, factor := 0, 2
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] == '-' {
			continue
		}
		n := factor * int(unhex(digits[i]))
		sum += n/base + n%base
		factor = 3 - factor
	}
	digit := (base - sum%base) % base
	return "0123456789abcdef"[digit : digit+1]
}

func partsNIH(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	value, end := t.nihValue()
	if value < 0 {
		t.part("algorithm", t.path, t.pathEnd)
		return t.parts
	}
	t.part("algorithm", t.path, value-1)
	t.part("value", value, end)
	if end < t.pathEnd {
		t.part("checkdigit", end+1, t.pathEnd)
	}
	t.fragment()
	return t.parts
}

// canonicalNIH writes the algorithm by name, removes hyphens and adds the check
// digit.
func canonicalNIH(u uri.URI) string {
	l := layoutOf(u)
	value, end := l.nihValue()
	name := l.s[l.path : value-1]
	if id := l.suite(value); id > 0 {
		name = algorithms[id].name
	}
	digits := strings.ReplaceAll(l.s[value:end], "-", "")
	return "nih:" + name + ";" + digits + ";" + luhn(digits) + l.s[l.end():]
}
