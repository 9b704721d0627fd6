package server

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
)

// thttpPath is where the services of RFC 2169 are, in any case.
const thttpPath = "uri-res/"

// readTHTTP reads SERVICE "?" URI (RFC 2169, 2.1). A query of the URI is its own;
// the path has the last word on the service.
func (p place) readTHTTP(service, uri string, hasURI bool) (asked, error) {
	a := asked{form: formTHTTP}
	if !hasURI || uri == "" {
		return a, &nomen.Error{
			Kind: nomen.Malformed, Name: service, Offset: len(service), Rule: "uri-res",
			Message: "wants the form /uri-res/SERVICE?URI",
		}
	}
	wanted, ok := thttpService(service)
	if !ok {
		return a, &nomen.Error{
			Kind: nomen.NoResult, Name: uri, Service: nomen.Service(service),
			Message: fmt.Sprintf("the service %.20q is not offered here; those for names are N2L N2Ls N2C N2Ns and I2L I2Ls I2C I2Cs I2N I2Ns", service),
		}
	}
	spelling, q, _ := strings.Cut(adminapi.UnescapeName(uri), "?")
	full, ok, err := p.fullName(spelling, false, false)
	if !ok {
		return a, &nomen.Error{
			Kind: nomen.Malformed, Name: uri, Rule: "URI", Service: wanted,
			Message: "wants a name that begins with its scheme, as in urn:",
		}
	}
	full.query, _ = readQuery(q)
	full.query.service = wanted
	if full.reserved == "" {
		full.form = formTHTTP
	}
	return full, err
}

// thttpService returns the service of RFC 2483 for one of RFC 2169, whatever the
// case.
func thttpService(s string) (nomen.Service, bool) {
	switch strings.ToUpper(s) {
	case "N2L", "I2L":
		return nomen.I2L, true
	case "N2LS", "I2LS":
		return nomen.I2Ls, true
	case "N2C", "I2C":
		return nomen.I2C, true
	case "I2CS":
		return nomen.I2Cs, true
	case "I2N":
		return nomen.I2N, true
	case "N2NS", "I2NS":
		return nomen.I2Ns, true
	}
	return "", false
}
