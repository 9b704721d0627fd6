package namespace

import "github.com/nomen-project/nomen/urn"

// National Archive Numbers (the registration of 2023).
var nan = Namespace{
	NID: "nan", Name: "National Archive Numbers", Kind: urn.KindFormal,
	Reference:   "urn-formal/nan (2023)",
	Example:     "urn:nan:fi:ka:a-123",
	Note:        "each national archive sets the form of its own strings",
	Security:    "the string identifies the archive",
	Equivalence: "the prefix in either case",
	Rules:       Rules{Check: checkNAN, Lint: lintNAN, Parts: partsNAN, Canonical: foldPrefix},
}

func checkNAN(nss string) *Finding {
	_, f := prefixed(nss, "nan")
	return f
}

func lintNAN(nss string) []Finding {
	if isCountry(nss[0], nss[1]) {
		return nil
	}
	return []Finding{remark(CodeUnassigned, 0, 2, "iso-cc", "is not a country code of ISO 3166-1")}
}

func partsNAN(nss string) []Part { return partsPrefixed(nss, "nan-string") }
