package namespace

import "github.com/nomen-project/nomen/urn"

// Names of OASIS (RFC 3121).
var oasis = Namespace{
	NID: "oasis", Name: "OASIS", Kind: urn.KindFormal,
	Reference: "RFC 3121",
	Example:   "urn:oasis:names:tc:SAML:2.0:assertion",
	Note:      "the branches names (specification, tc, technical) and member; what follows is up to the committees",
	Security:  "none beyond those of names in general",
	Rules:     Rules{Check: checkOASIS, Lint: lintOASIS, Parts: partsColon("branch", "class", "committee", "id")},
}

func checkOASIS(nss string) *Finding {
	end := until(nss, 0, ':')
	switch nss[:end] {
	case "member":
		return checkFields("member", "member-id", "string")(nss)
	case "names":
	default:
		return broken(0, end, "NSS", "expected names or member")
	}
	start := min(end+1, len(nss))
	end = until(nss, start, ':')
	switch nss[start:end] {
	case "specification", "tc", "technical":
	default:
		return broken(start, end, "names", "expected specification, tc or technical")
	}
	if end >= len(nss)-1 {
		return broken(len(nss), len(nss), "names", "nothing follows the class")
	}
	return nil
}

func lintOASIS(nss string) []Finding {
	if i := emptyField(nss, ':'); i >= 0 {
		return []Finding{remark(CodeForm, i, i, "NSS", "empty field")}
	}
	return nil
}
