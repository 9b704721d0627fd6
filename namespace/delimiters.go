package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
)

// Delimiters returns the characters that divide the names of a namespace into a hierarchy, with the
// most common delimiter first. Names that share the text before a delimiter can be delegated
// together. For example, the delimiters of nbn divide names by country. The result is "" for
// namespaces whose names are single numbers, such as isbn and uuid. It is ":" if the hierarchy of
// the namespace is unknown. The namespace identifier must be in lower case.
//
// By contrast, [Namespace.Delimiters] has all characters that separate parts of a name. Some of
// these characters do not divide a hierarchy from left to right. An example is the period in domain
// names.
func Delimiters(nid string) string {
	switch nid {
	case "adid", "aich", "btih", "clei", "ed2k", "eic", "isan", "isbn", "ismn", "isni", "issn", "lei", "md5", "said", "sha1", "sha256", "uuid":
		return ""
	case "oid", "service", "bitprint", "urn-4", "urn-7": // RFC 3061; RFC 5031, section 4.3; the registrations
		return "."
	case "cdx", "doi", "gvat":
		return "/"
	case "meta", "nan", "nbn", "uci": // RFC 8458, section 4.2; RFC 4179
		return "-:"
	case "cts", "epc", "urn-3": // In cts a work follows its group, in epc an item class its company, in urn-3 an authority its parent.
		return ":."
	case "s1000d": // RFC 4688: projects by kind of document
		return "-_"
	case "dev": // RFC 9039, sections 3.2 and 4
		return ":-_"
	case "3gpp2", "gsma": // the rest of a name, by type of equipment
		return ":-"
	case "lex", "nir": // lex, nir: units of a jurisdiction, versions and parts of an act
		return ":;@$~!"
	}
	return ":"
}

// FoldPrefix returns the canonical spelling of a prefix. The canonical spellings of all names with
// the prefix begin with the result, even if the names are invalid. The prefix is the start of a
// namespace-specific string up to one of the [Delimiters]. It must have the canonical spelling of
// the general syntax.
func FoldPrefix(nid, prefix string) string {
	switch nid {
	case "alert", "cdx", "dvb", "etsi", "gdst", "gsma", "ietf", "iso", "newsml", "onem2m", "onf", "pin", "service", "stalwart", "trivore", "urn-3", "urn-7":
		return foldCase(prefix)
	case "doi":
		return pid.FoldDOI(prefix)
	case "bitprint", "eidr":
		return strings.ToUpper(prefix)
	case "meta", "nan", "nbn", "uci":
		return lowerUntil(prefix, until(prefix, 0, '-'))
	case "ccsds", "fdc", "mpeg", "tree", "tva":
		return foldField(prefix)
	case "pwid":
		return foldPWID(prefix)
	case "mrn":
		return lowerUntil(prefix, secondColon(prefix))
	case "gs1":
		if _, ok := ascii.CutPrefix(prefix, "gdd:"); ok {
			return lowerUntil(prefix, secondColon(prefix))
		}
		return lowerUntil(prefix, until(prefix, 0, ':'))
	case "3gpp2":
		if colon := until(prefix, 0, ':'); strings.EqualFold(prefix[:colon], "meid") {
			return "meid" + strings.ToUpper(prefix[colon:])
		}
	}
	return prefix
}

// lowerUntil converts the letters of s before the offset end to lower case. It converts hexadecimal
// digits in percent-encodings to upper case.
func lowerUntil(s string, end int) string {
	if head := foldCase(s[:end]); head != s[:end] {
		return head + s[end:]
	}
	return s
}

func foldField(s string) string { return lowerUntil(s, until(s, 0, ':')) }

// secondColon returns the offset of the second colon, or len(s).
func secondColon(s string) int {
	return until(s, min(until(s, 0, ':')+1, len(s)), ':')
}
