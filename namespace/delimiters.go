package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
)

// Delimiters returns the characters that divide the names of a namespace into a hierarchy, the
// usual one first. All names that begin with the same text before a delimiter can be delegated
// together. For example, the delimiters of nbn divide names by country. The result is "" if names
// are single numbers, as in isbn and uuid, and ":" if nothing else is known. The identifier must be
// in lower case.
//
// By contrast, [Namespace.Delimiters] has all characters that separate parts of a name. Some of
// them do not divide a hierarchy from left to right, such as the periods of a domain name.
func Delimiters(nid string) string {
	switch nid {
	case "adid", "aich", "btih", "clei", "ed2k", "eic", "isan", "isbn", "ismn", "isni", "issn", "lei", "md5", "said", "sha1", "sha256", "uuid":
		return ""
	case "oid", "service", "bitprint", "urn-4", "urn-7": // RFC 3061; RFC 5031, 4.3; the registrations
		return "."
	case "cdx", "doi", "gvat":
		return "/"
	case "meta", "nan", "nbn", "uci": // RFC 8458, 4.2; RFC 4179
		return "-:"
	case "cts", "epc", "urn-3": // In cts a work follows its group, in epc an item class its company, in urn-3 an authority its parent.
		return ":."
	case "s1000d": // RFC 4688: projects by kind of document
		return "-_"
	case "dev": // RFC 9039, 3.2 and 4
		return ":-_"
	case "3gpp2", "gsma": // the rest of a name, by type of equipment
		return ":-"
	case "lex", "nir": // lex, nir: units of a jurisdiction, versions and parts of an act
		return ":;@$~!"
	}
	return ":"
}

// FoldPrefix returns the canonical spelling of a prefix of names. All names that begin with the
// prefix, valid or not, have canonical spellings that begin with the result. The prefix is the
// start of a namespace-specific string, in the canonical spelling of the general syntax, up to one
// of the [Delimiters].
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

// lowerUntil converts the letters before offset end to lower case, except that the digits of
// escapes become upper case.
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
