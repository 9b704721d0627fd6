package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/uri"
)

// thttpPath is where the services of RFC 2169 are, in any case.
const thttpPath = "uri-res/"

// A thttpService is what a service of THTTP means.
type thttpService struct {
	service   nomen.Service
	locations bool // it asks about a URL: which names lead there
}

// readTHTTP reads SERVICE "?" URI (RFC 2169, 2.0), and of I=I two URIs with "&"
// between them. The path has the last word on the service.
func (p place) readTHTTP(name, subject string, hasSubject bool) (asked, error) {
	a := asked{form: formTHTTP}
	if !hasSubject || subject == "" {
		return a, &nomen.Error{
			Kind: nomen.Malformed, Name: name, Offset: len(name), Rule: "uri-res",
			Message: "wants the form /uri-res/SERVICE?URI",
		}
	}
	wanted, ok := thttpServiceOf(name)
	if !ok {
		a, err := p.subjectOf(adminapi.UnescapeName(subject), wanted)
		a.nowhere = nomen.Service(name)
		return a, err
	}
	other := ""
	if wanted.service == nomen.IisI {
		var both bool
		if subject, other, both = strings.Cut(subject, "&"); !both || other == "" || subject == "" {
			return a, &nomen.Error{
				Kind: nomen.Malformed, Name: subject, Offset: len(subject), Rule: "uri-res", Service: wanted.service,
				Message: "wants the form /uri-res/I=I?URI&URI; a URI with an ampersand of its own is escaped as a whole",
			}
		}
	}
	a, err := p.subjectOf(adminapi.UnescapeName(subject), wanted)
	a.query.service, a.query.other = wanted.service, adminapi.UnescapeName(other)
	return a, err
}

// subjectOf reads the URI that a service of THTTP is about: a name, perhaps with a
// query, or else any URI as it is.
func (p place) subjectOf(s string, wanted thttpService) (asked, error) {
	a := asked{form: formTHTTP, byLocation: wanted.locations}
	if wanted.locations {
		var err error
		a.subject, err = subjectURI(s, wanted.service)
		return a, err
	}
	spelling, q, _ := strings.Cut(s, "?")
	full, ok, err := p.fullName(spelling, false, false)
	switch {
	case ok && err == nil:
		full.takeQuery(q)
		if full.reserved == "" {
			full.form = formTHTTP
		}
		full.subject, _ = uri.Parse(s)
		return full, nil
	case ok && !strings.Contains(spelling, "://"):
		full.form = formTHTTP
		return full, err
	}
	a.subject, err = subjectURI(s, wanted.service)
	return a, err
}

// subjectURI parses a URI that is no name.
func subjectURI(s string, service nomen.Service) (uri.URI, error) {
	u, err := uri.Parse(escapeExcluded(s))
	if err == nil {
		return u, nil
	}
	e := &nomen.Error{
		Kind: nomen.Malformed, Name: s, Rule: "URI", Service: service, Err: err,
		Message: "wants a URI, which begins with its scheme, as in urn: or https:",
	}
	return uri.URI{}, e
}

// notOffered tells a client of THTTP that a service is not to be had, here or for the
// name.
func notOffered(a asked) error {
	e := &nomen.Error{Kind: nomen.NoResult, Name: a.spelled(), Service: a.query.service, Message: "this service is not offered for the name"}
	if a.nowhere != "" {
		e.Service = a.nowhere
		e.Message = fmt.Sprintf("the service %.20q is not offered here; there are N2L N2Ls N2R N2Rs N2C N2Ns for names, L2Ns L2Ls L2C for URLs, and I2L I2Ls I2R I2Rs I2C I2Cs I2N I2Ns I=I", string(a.nowhere))
	}
	return e
}

// withoutService answers a client of THTTP that asks for a service that does not
// exist, after a look at the name: that it is unknown or retired, or may not be asked
// about, are errors of their own (RFC 2483, 4).
func (s *Server) withoutService(ctx context.Context, r *request, a asked) *reply {
	ans, err := s.resolver.Resolve(ctx, a.another(r, nomen.I2C))
	if err == nil {
		closeResources(ans)
	}
	if err == nil || errors.Is(err, &nomen.Error{Kind: nomen.NoResult}) {
		err = notOffered(a)
	}
	return s.problem(r, a, err)
}

// thttpServiceOf returns what a service means, whatever the case of its name.
func thttpServiceOf(s string) (thttpService, bool) {
	service, locations := nomen.Service(""), false
	switch strings.ToUpper(s) {
	case "N2L", "I2L":
		service = nomen.I2L
	case "N2LS", "I2LS":
		service = nomen.I2Ls
	case "N2R", "I2R":
		service = nomen.I2R
	case "N2RS", "I2RS":
		service = nomen.I2Rs
	case "N2C", "I2C":
		service = nomen.I2C
	case "I2CS":
		service = nomen.I2Cs
	case "I2N":
		service = nomen.I2N
	case "N2NS", "I2NS":
		service = nomen.I2Ns
	case "L2NS":
		service, locations = nomen.I2Ns, true
	case "L2LS":
		service, locations = nomen.I2Ls, true
	case "L2C":
		service, locations = nomen.I2C, true
	case "I=I":
		service = nomen.IisI
	}
	return thttpService{service, locations}, service != ""
}

// isRootTHTTP reports whether a path is a service and its query a URN: the form
// /N2L?urn:... of resolvers that leave out the first part of the path.
func isRootTHTTP(path, q string) bool {
	if _, ok := thttpServiceOf(path); !ok || len(q) < len("urn:") {
		return false
	}
	return strings.EqualFold(q[:4], "urn:") || len(q) >= 6 && strings.EqualFold(q[:6], "urn%3A")
}
