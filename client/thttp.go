package client

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen"
)

// thttpPath is the end of the URL of a resolver for RFC 2169.
const thttpPath = "/uri-res/"

// A thttp is a resolver for RFC 2169. The URL of a request is the base, the service, "?" and the
// URI (RFC 2169, section 2).
type thttp struct{ base string } // base ends in thttpPath

func (t thttp) key(about subject) string { return t.base + about.name.Key() }

func (t thttp) locates(service nomen.Service) bool { return wantsLocations(service) }

// asked returns the service to request. RFC 2169 does not have I2N and I2Cs, so asked replaces them
// by other services.
func (t thttp) asked(service nomen.Service) nomen.Service {
	switch service {
	case nomen.I2N:
		return nomen.I2Ns
	case nomen.I2Cs:
		return nomen.I2C
	}
	return site{}.asked(service)
}

func (t thttp) ask(ctx context.Context, c *Client, at hop, q inquiry) (*reply, error) {
	suffix, err := withQuery(q.Question, directive{"c", q.Component}, directive{"at", timeOf(q.At)})
	if err != nil {
		return nil, err
	}
	service := cmp.Or(thttpServices[q.Service], "N2L")
	return c.getAbout(ctx, at, q, t.target(service, at.spelling, suffix, q.Question), t.target(service, at.name.Key(), suffix, q.Question))
}

// target returns the URL of a request. A URI with "?" or "&" is escaped. For I=I, the second URI
// comes after an ampersand.
func (t thttp) target(service, spelling, suffix string, q nomen.Question) string {
	if strings.ContainsAny(spelling, "?&") {
		spelling = url.QueryEscape(spelling)
	}
	if q.Service == nomen.IisI {
		return t.base + service + "?" + spelling + "&" + url.QueryEscape(q.Other.String())
	}
	return t.base + service + "?" + spelling + suffix
}

// thttpServices maps services to their names in RFC 2169, 3. All other services have their names of
// RFC 2483. The default service is N2L.
var thttpServices = map[nomen.Service]string{
	nomen.I2Ls: "N2Ls", nomen.I2R: "N2R", nomen.I2Rs: "N2Rs", nomen.I2C: "N2C", nomen.I2Cs: "N2C",
	nomen.I2N: "N2Ns", nomen.I2Ns: "N2Ns", nomen.IisI: "I=I",
}
