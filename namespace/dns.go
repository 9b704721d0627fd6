package namespace

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen/urn"
)

// Names that begin with a domain name (draft-ietf-uri-yaurn-00 of 1995, with the host names of RFC
// 1123).
var dns = Namespace{
	NID: "dns", Name: "Names under domain names", Kind: urn.KindUnregistered,
	Reference:   "draft-ietf-uri-yaurn-00 (1995), RFC 1123",
	Example:     "urn:dns:example.com:alb002",
	Note:        "no registration at IANA; the rules of 1995 apply in every dialect",
	Security:    "the current owner of the domain name also serves names that former owners assigned",
	Fragment:    UseNone,
	Equivalence: "host names in either case; an escape is equivalent to its character unless RFC 1738 reserves it",
	Rules:       Rules{Check: checkDNS, Parts: partsDNS, Canonical: canonicalDNS},
}

const dnsPrefix = "urn:dns:"

// read1995 parses a URN in the dialect of 1995, in which a tilde must be percent-encoded.
func read1995(nss string) (urn.URN, error) {
	return urn.Draft1995.Parse(dnsPrefix + strings.ReplaceAll(nss, "~", "%7E"))
}

func checkDNS(nss string) *Finding {
	_, err := read1995(nss)
	if err == nil {
		return nil
	}
	f := broken(0, len(nss), "urn95", err.Error())
	var e *urn.Error
	if errors.As(err, &e) {
		at := e.Offset - len(dnsPrefix)
		for i := 0; i < at && i < len(nss); i++ {
			if nss[i] == '~' {
				at -= len("%7E") - len("~")
			}
		}
		at = max(0, min(at, len(nss)))
		f = broken(at, min(at+1, len(nss)), e.Rule, e.Message)
	}
	return f
}

func canonicalDNS(nss string) string {
	u, err := read1995(nss)
	if err != nil {
		return nss
	}
	return u.Canonical()[len(dnsPrefix):]
}

func partsDNS(nss string) []Part { return partsColon("AuthorityID", "ElementID")(nss) }
