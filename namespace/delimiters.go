package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
)

// Delimiters returns the characters that divide the names of a namespace hierarchically. All
// names with the same beginning, followed by one of these characters, can be delegated
// together. The first is the usual one. The result is "" if names are single numbers, such as
// ISBN and UUID, and ":" if nothing else is known. The identifier must be in lower case.
//
// [Namespace.Delimiters] has every character that separates parts of a name. Some of these
// characters do not divide a hierarchy from left to right, such as the periods of a domain name.
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
	case "cts", "epc", "urn-3": // cts: a work after its group; epc: an item class after its company; urn-3: an authority after the one above it
		return ":."
	case "s1000d": // RFC 4688: a project after its kind of document
		return "-_"
	case "dev": // RFC 9039, 3.2 and 4
		return ":-_"
	case "3gpp2", "gsma": // the rest of a name after a type of equipment
		return ":-"
	case "lex", "nir": // lex, nir: units of a jurisdiction, versions and parts of an act
		return ":;@$~!"
	}
	return ":"
}

// FoldPrefix returns the common beginning of the canonical spellings of all names that begin
// with prefix, whether or not these names are valid. prefix is the beginning of a
// namespace-specific string in the canonical spelling of the general syntax, and ends before
// one of the [Delimiters].
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

// lowerUntil converts letters before end to lower case, but the hex digits of
// escapes to upper case.
func lowerUntil(s string, end int) string {
	if head := foldCase(s[:end]); head != s[:end] {
		return head + s[end:]
	}
	return s
}

// foldField converts the text before the first colon to lower case.
func foldField(s string) string { return lowerUntil(s, until(s, 0, ':')) }

// secondColon returns the offset of the second colon, or the end.
func secondColon(s string) int {
	return until(s, min(until(s, 0, ':')+1, len(s)), ':')
}
