package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/uri"
)

// thttpPath is the path prefix of THTTP services (RFC 2169). Its letter case is ignored.
const thttpPath = "uri-res/"

type thttpService struct {
	service   nomen.Service
	locations bool // the URI is a location, and the service is about the names with this location
}

// readTHTTP parses SERVICE "?" URI (RFC 2169, 2.0). For I=I, there are two URIs, separated by "&".
// A service in the path takes precedence over a service in the query of the name.
func (p requestContext) readTHTTP(name, subject string, hasSubject bool) (parsedTarget, error) {
	a := parsedTarget{form: formTHTTP}
	if !hasSubject || subject == "" {
		return a, &nomen.Error{
			Kind: nomen.Malformed, Name: name, Offset: len(name), Rule: "uri-res",
			Message: "must have the form /uri-res/SERVICE?URI",
		}
	}
	wanted, ok := thttpServices[strings.ToUpper(name)]
	if !ok {
		a, err := p.subjectOf(adminapi.UnescapeName(subject), wanted)
		a.unknownService = nomen.Service(name)
		return a, err
	}
	other := ""
	if wanted.service == nomen.IisI {
		var both bool
		if subject, other, both = strings.Cut(subject, "&"); !both || other == "" || subject == "" {
			return a, &nomen.Error{
				Kind: nomen.Malformed, Name: subject, Offset: len(subject), Rule: "uri-res", Service: wanted.service,
				Message: "must have the form /uri-res/I=I?URI&URI; percent-encode a URI that contains an ampersand",
			}
		}
	}
	a, err := p.subjectOf(adminapi.UnescapeName(subject), wanted)
	a.query.service, a.query.other = wanted.service, adminapi.UnescapeName(other)
	return a, err
}

// subjectOf parses the URI of a THTTP request. If the URI is a name, it may have a query with
// directives. Any other URI remains unchanged.
func (p requestContext) subjectOf(s string, wanted thttpService) (parsedTarget, error) {
	a := parsedTarget{form: formTHTTP, byLocation: wanted.locations}
	if wanted.locations {
		var err error
		a.subject, err = question.Subject(s, wanted.service)
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
	a.subject, err = question.Subject(s, wanted.service)
	return a, err
}

func notOffered(a parsedTarget) error {
	e := &nomen.Error{Kind: nomen.NoResult, Name: a.text(), Service: a.query.service, Message: "this service is not offered for the name"}
	if a.unknownService != "" {
		e.Service = a.unknownService
		e.Message = fmt.Sprintf("unknown service %.20q; supported are N2L N2Ls N2R N2Rs N2C N2Ns for names, L2Ns L2Ls L2C for URLs, and I2L I2Ls I2R I2Rs I2C I2Cs I2N I2Ns I=I", string(a.unknownService))
	}
	return e
}

// withoutService answers a THTTP request for an unknown service. It resolves the name first,
// because an error about the name takes precedence over an error about the service (RFC 2483, 4).
func (s *Server) withoutService(ctx context.Context, r *request, a parsedTarget) *reply {
	ans, err := s.resolver.Resolve(ctx, a.questionFor(r, nomen.I2C))
	if err == nil {
		question.CloseResources(ans)
	}
	if err == nil || errors.Is(err, &nomen.Error{Kind: nomen.NoResult}) {
		err = notOffered(a)
	}
	return s.problem(ctx, r, a, err)
}

var thttpServices = map[string]thttpService{
	"N2L": {service: nomen.I2L}, "N2LS": {service: nomen.I2Ls},
	"N2R": {service: nomen.I2R}, "N2RS": {service: nomen.I2Rs},
	"N2C": {service: nomen.I2C}, "N2NS": {service: nomen.I2Ns},
	"L2NS": {nomen.I2Ns, true}, "L2LS": {nomen.I2Ls, true}, "L2C": {nomen.I2C, true},
	"I2L": {service: nomen.I2L}, "I2LS": {service: nomen.I2Ls},
	"I2R": {service: nomen.I2R}, "I2RS": {service: nomen.I2Rs},
	"I2C": {service: nomen.I2C}, "I2CS": {service: nomen.I2Cs},
	"I2N": {service: nomen.I2N}, "I2NS": {service: nomen.I2Ns},
	"I=I": {service: nomen.IisI},
}

// isRootTHTTP reports whether a path is the name of a service and its query q is a URN, as in
// /N2L?urn:... Resolvers without the prefix /uri-res/ receive such requests.
func isRootTHTTP(path, q string) bool {
	_, ok := thttpServices[strings.ToUpper(path)]
	return ok && (ascii.HasPrefix(q, "urn:") || ascii.HasPrefix(q, "urn%3A"))
}
