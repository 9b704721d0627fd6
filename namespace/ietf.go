package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// Documents and protocol parameters of the IETF (RFC 2648 and RFC 3553).
var ietf = Namespace{
	NID: "ietf", Name: "IETF documents and protocol parameters", Kind: urn.KindFormal,
	Reference:   "RFC 2648, RFC 3553",
	Example:     "urn:ietf:rfc:2648",
	Security:    "none beyond those of names in general",
	Equivalence: "letters in either case, throughout",
	Rules:       Rules{Check: checkIETF, Lint: lintIETF, Parts: partsColon("series", "id"), Canonical: foldCase, Always: true, Display: displayIETF},
}

func isSeries(s string) bool {
	return strings.EqualFold(s, "rfc") || strings.EqualFold(s, "fyi") || strings.EqualFold(s, "std") || strings.EqualFold(s, "bcp")
}

func checkIETF(nss string) *Finding {
	end := until(nss, 0, ':')
	series := nss[:end]
	switch {
	case end == len(nss):
		return checkIETFOther(nss)
	case end+1 == len(nss):
		return broken(end+1, end+1, "NSS", "nothing follows the colon")
	case isSeries(series):
		if i := digits(nss, end+1); i < len(nss) {
			return wrongByte(nss, i, strings.ToLower(series)+"-nss", "digits")
		}
	case strings.EqualFold(series, "params"):
		if i := emptyField(nss, ':'); i >= 0 {
			return broken(i, i, "params (RFC 3553)", "empty field")
		}
	}
	return nil
}

// checkIETFOther checks a name without a colon. RFC 2648 permits such names for future expansion,
// so checkIETFOther only rejects the name of a document series without a number, such as
// urn:ietf:rfc.
func checkIETFOther(nss string) *Finding {
	if isSeries(nss) || strings.EqualFold(nss, "params") || strings.EqualFold(nss, "id") || strings.EqualFold(nss, "mtg") {
		return broken(len(nss), len(nss), "NSS", "nothing follows the name of the series")
	}
	return nil
}

func lintIETF(nss string) []Finding {
	series, rest, ok := strings.Cut(nss, ":")
	switch {
	case isSeries(series) && rest[0] == '0':
		number := strings.TrimLeft(rest[:len(rest)-1], "0") + rest[len(rest)-1:]
		return []Finding{{
			Code: CodeForm, Severity: uri.SeverityWarning, Offset: len(series) + 1, End: len(nss),
			Rule: strings.ToLower(series) + "-nss", Message: "numbers are assigned without leading zeros", Right: number,
		}}
	case strings.EqualFold(series, "id") || strings.EqualFold(series, "mtg"):
		if i := ascii.Run(rest, 0, isLDH); i < len(rest) {
			at := len(series) + 1 + i
			return []Finding{remark(CodeForm, at, at+1, "string", "RFC 2648 defines only letters, digits and hyphens")}
		}
	case strings.EqualFold(series, "params"):
		return lintSCIM(nss)
	case !ok && numberIETF(nss) > 0:
		f := remark(CodeForm, 0, len(nss), "NSS", "a series and its number must be separated by a colon")
		f.Right = nss[:3] + ":" + nss[numberIETF(nss):]
		return []Finding{f}
	case !ok || !isSeries(series):
		return []Finding{remark(CodeUnassigned, 0, len(series), "other-nss", "is not a series of RFC 2648")}
	}
	return nil
}

// lintSCIM reports SCIM names that have an unregistered type, or that end after the type (RFC 7643,
// section 10.2):
//
//	"urn:ietf:params:scim:" type ":" name [":" other]
func lintSCIM(nss string) []Finding {
	const prefix, rule = "params:scim:", "urn:ietf:params:scim (RFC 7643, 10.2)"
	if len(nss) < len(prefix) || !strings.EqualFold(nss[:len(prefix)], prefix) {
		return nil
	}
	kind, _, ok := strings.Cut(nss[len(prefix):], ":")
	end := len(prefix) + len(kind)
	switch {
	case !strings.EqualFold(kind, "schemas") && !strings.EqualFold(kind, "api") && !strings.EqualFold(kind, "event"):
		return []Finding{remark(CodeUnassigned, len(prefix), end, rule, "is not a type of SCIM names: schemas, api or event")}
	case !ok:
		return []Finding{remark(CodeForm, end, end, rule, "a colon and a name must follow the type")}
	}
	return nil
}

// numberIETF returns the offset of the number in names such as rfc2648 and rfc-2648. It returns 0
// for names of any other form.
func numberIETF(nss string) int {
	if len(nss) < 4 || !isSeries(nss[:3]) {
		return 0
	}
	at := 3
	if nss[at] == '-' {
		at++
	}
	if at == len(nss) || digits(nss, at) < len(nss) {
		return 0
	}
	return at
}

func displayIETF(nss string) string {
	series, number, _ := strings.Cut(nss, ":")
	if isSeries(series) {
		return strings.ToUpper(series) + " " + number
	}
	return foldCase(nss)
}
