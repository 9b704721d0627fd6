package client

import (
	"context"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen"
)

// thttpPath ends the URL of a resolver for RFC 2169.
const thttpPath = "/uri-res/"

// A thttp resolver takes requests for SERVICE "?" URI below its URL (RFC 2169, 2.0).
type thttp struct{ base string } // ends in thttpPath

func (t thttp) key(about subject) string { return t.base + about.name.Key() }

func (t thttp) locates(service nomen.Service) bool { return wantsLocations(service) }

// asked returns the service of RFC 2169 to send: the list where it has no service for one item.
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
	service := thttpService(q.Service)
	return c.getAbout(ctx, at, q, t.target(service, at.spelling, suffix, q.Question), t.target(service, at.name.Key(), suffix, q.Question))
}

// target returns the URL of a request. The URI is unchanged; for I=I a second one follows after
// an ampersand.
func (t thttp) target(service, spelling, suffix string, q nomen.Question) string {
	if strings.ContainsAny(spelling, "?&") {
		spelling = url.QueryEscape(spelling)
	}
	if q.Service == nomen.IisI {
		return t.base + service + "?" + spelling + "&" + url.QueryEscape(q.Other.String())
	}
	return t.base + service + "?" + spelling + suffix
}

// thttpService returns the name of a service in RFC 2169, 3, or in RFC 2483 if it has none
// there. The default is a location.
func thttpService(s nomen.Service) string {
	switch s {
	case nomen.I2Ls:
		return "N2Ls"
	case nomen.I2R:
		return "N2R"
	case nomen.I2Rs:
		return "N2Rs"
	case nomen.I2C, nomen.I2Cs:
		return "N2C"
	case nomen.I2N, nomen.I2Ns:
		return "N2Ns"
	case nomen.IisI:
		return "I=I"
	}
	return "N2L"
}
