package client

import (
	"context"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen"
)

// thttpPath ends the URL of a resolver that speaks RFC 2169.
const thttpPath = "/uri-res/"

// A thttp resolver is asked for SERVICE "?" URI below its URL (RFC 2169, 2.0).
type thttp struct{ base string } // with thttpPath at its end

func (t thttp) key(about subject) string { return t.base + about.name.Key() }

func (t thttp) locates(service nomen.Service) bool { return wantsLocations(service) }

// asked tells that a list is asked for where RFC 2169 has no service for one.
func (t thttp) asked(service nomen.Service) nomen.Service {
	switch service {
	case nomen.I2N:
		return nomen.I2Ns
	case nomen.I2Cs:
		return nomen.I2C
	}
	return site{}.asked(service)
}

func (t thttp) ask(ctx context.Context, c *Client, at stop, q inquiry) (*reply, error) {
	suffix, err := withQuery(q.Question, directive{"c", q.Component}, directive{"at", timeOf(q.At)})
	if err != nil {
		return nil, err
	}
	service := thttpService(q.Service)
	return c.getAbout(ctx, at, q, t.target(service, at.spelling, suffix, q.Question), t.target(service, at.name.Key(), suffix, q.Question))
}

// target returns the URL of a request: the URI as it is, and for I=I a second one
// after an ampersand.
func (t thttp) target(service, spelling, suffix string, q nomen.Question) string {
	if strings.ContainsAny(spelling, "?&") {
		spelling = url.QueryEscape(spelling)
	}
	if q.Service == nomen.IisI {
		return t.base + service + "?" + spelling + "&" + url.QueryEscape(q.Other.String())
	}
	return t.base + service + "?" + spelling + suffix
}

// thttpService returns the name of a service in RFC 2169, 3; that of RFC 2483
// where it has none. A location is what is wanted by default.
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
