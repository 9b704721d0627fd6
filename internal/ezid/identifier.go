package ezid

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
)

// The prefixes of identifiers.
const (
	arkLabel  = "ark:"
	doiLabel  = "doi:"
	uuidLabel = "uuid:"
	urnUUID   = "urn:uuid:"
)

// maxID is the maximum length of an identifier in bytes.
const maxID = 255

// ParseID returns the name for an identifier. It returns false if EZID would reject the identifier.
// The first slash of an ARK may be missing.
func ParseID(s string) (name.Name, bool) {
	if len(s) > maxID || !isPrintable(s) {
		return name.Name{}, false
	}
	label, rest, _ := strings.Cut(s, ":")
	switch label += ":"; label {
	case arkLabel:
		rest = arkRest(strings.TrimPrefix(rest, "/"))
	case doiLabel:
		rest = doiRest(rest)
	case uuidLabel:
		if label = urnUUID; !ascii.IsUUID(rest) {
			rest = ""
		}
	default:
		return name.Name{}, false
	}
	if rest == "" {
		return name.Name{}, false
	}
	n, err := name.Parse(label + rest)
	return n, err == nil
}

func isPrintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// arkRest returns the part of an ARK after the label, or "" if the ARK is invalid. It removes all
// hyphens, and structural characters at both ends. Of several adjacent structural characters, it
// keeps the first. It percent-encodes characters that an ARK cannot contain.
func arkRest(s string) string {
	naan, rest, ok := strings.Cut(s, "/")
	if !ok || !isNAAN(naan) {
		return ""
	}
	rest = strings.ReplaceAll(rest, "-", "")
	if strings.Contains(rest, "./") || strings.Contains(rest, "/.") {
		return ""
	}
	rest = strings.Trim(collapsed(rest), "./")
	escaped, ok := escapedARK(rest)
	if !ok || rest == "" || len(naan)+1+len(escaped) > maxID-len("ark:/") {
		return ""
	}
	return naan + "/" + escaped
}

// isNAAN reports whether s is a name assigning authority number, which is five or nine digits, or a
// betanumeric letter and four digits.
func isNAAN(s string) bool {
	if len(s) == 5 && strings.IndexByte("bcdfghjkmnpqrstvwxz", s[0]) >= 0 {
		return ascii.All(s[1:], ascii.IsDigit)
	}
	return (len(s) == 5 || len(s) == 9) && ascii.All(s, ascii.IsDigit)
}

// collapsed replaces each run of structural characters by the first of them.
func collapsed(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if i > 0 && isStructure(s[i]) && isStructure(s[i-1]) {
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isStructure(c byte) bool { return c == '.' || c == '/' }

func isPlain(c byte) bool {
	return ascii.IsAlnum(c) || isStructure(c) || strings.IndexByte("=*+@_$~", c) >= 0
}

// escapedARK percent-encodes the characters that an ARK cannot contain, and decodes all other
// percent-encodings. It returns false if a percent sign is not part of an escape.
func escapedARK(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, escape := s[i], ascii.IsEscape(s, i)
		if c == '%' && !escape {
			return "", false
		}
		if escape {
			c = ascii.Unhex(s[i+1])<<4 | ascii.Unhex(s[i+2])
			i += 2
		}
		if isPlain(c) && !(escape && isStructure(c)) {
			b.WriteByte(c)
		} else {
			b.WriteString(ascii.Escape(c))
		}
	}
	return b.String(), true
}

// doiRest returns the part of a DOI after the label. It percent-encodes characters that a URI
// cannot contain. It returns "" if EZID would reject the DOI.
func doiRest(s string) string {
	prefix, rest, _ := strings.Cut(s, "/")
	digits, ok := strings.CutPrefix(prefix, "10.")
	switch {
	case !ok || len(digits) < 4 || len(digits) > 5 || digits[0] == '0' || !ascii.All(digits, ascii.IsDigit):
	case rest == "" || strings.ContainsAny(rest, "#?") || strings.Contains(s, "//") || strings.HasSuffix(rest, "/"):
	default:
		return prefix + "/" + ascii.EscapeUnless(rest, func(c byte) bool { return ascii.IsPchar(c) || c == '/' })
	}
	return ""
}

// ID returns the identifier of a name. An ARK has a slash after its label, a DOI is in upper case,
// and a UUID begins with "uuid:". For all other names, the identifier is the key.
func ID(n name.Name) string {
	key := n.Key()
	if rest, ok := strings.CutPrefix(key, arkLabel); ok {
		return arkLabel + "/" + rest
	}
	if rest, ok := strings.CutPrefix(key, doiLabel); ok {
		if plain, err := url.PathUnescape(rest); err == nil && isPrintable(plain) {
			rest = plain // EZID does not percent-encode DOIs
		}
		return doiLabel + strings.ToUpper(rest)
	}
	if rest, ok := strings.CutPrefix(key, urnUUID); ok {
		return uuidLabel + rest
	}
	return key
}

// Shadow returns the ARK that EZID also assigns to a DOI, such as ark:/b5072/fk2x for
// doi:10.5072/FK2X. It returns "" for other identifiers, and for a DOI whose prefix has more digits
// than EZID supports.
func Shadow(id string) string {
	rest, ok := strings.CutPrefix(id, doiLabel+"10.")
	digits, suffix, cut := strings.Cut(rest, "/")
	if !ok || !cut || len(digits) < 4 || len(digits) > 5 || !ascii.All(digits, ascii.IsDigit) {
		return ""
	}
	const letters = "bcdfghjkmnpqrstvwxz"
	first := 0 // the number formed by all digits but the last four
	if len(digits) == 5 {
		first, digits = int(digits[0]-'0'), digits[1:]
	}
	return fmt.Sprintf("ark:/%c%s/%s", letters[first], digits, shadowSuffix(suffix))
}

// shadowSuffix percent-encodes the characters that normalization of an ARK would remove, and the
// characters that an ARK cannot contain. The hexadecimal digits are in lower case, which EZID uses
// only here.
func shadowSuffix(s string) string {
	s = strings.ToLower(s)
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		edge := isStructure(c) && (i == 0 || i == len(s)-1 || isStructure(s[i-1]))
		if isPlain(c) && !edge {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}
