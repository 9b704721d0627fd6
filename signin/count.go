package signin

import (
	"errors"
	"net/http"
	"strings"
)

// The ways to sign in.
const (
	wayProvider = "provider" // sign-in at an identity provider
	wayLink     = "link"
	wayProxy    = "proxy" // sign-in by the header field of a proxy
)

// The results of sign-ins.
const (
	resultSuccess  = "success"
	resultUnknown  = "unknown"  // the person is not a user
	resultDisabled = "disabled" // the user may not sign in
	resultDenied   = "denied"   // the person or the provider stopped the sign-in
	resultInvalid  = "invalid"  // invalid response of a provider, link or field
	resultAway     = "away"     // the provider does not answer
	resultError    = "error"    // the server failed
)

func (m *Manager) countFailure(r *http.Request, err error) {
	if way := wayOf(r, err); way != "" && !errors.Is(err, errPath) {
		m.o.Count(way, resultOf(err))
	}
}

func wayOf(r *http.Request, err error) string {
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, providerPath):
		return wayProvider
	case path == linkPath:
		return wayLink
	case path == Path && errors.As(err, new(*unknownError)):
		return wayProxy
	}
	return ""
}

func resultOf(err error) string {
	var unknown *unknownError
	var flow *flowError
	switch {
	case errors.As(err, &unknown) && unknown.disabled:
		return resultDisabled
	case errors.As(err, &unknown):
		return resultUnknown
	case errors.As(err, &flow) && flow.key == FaultDenied:
		return resultDenied
	case errors.As(err, &flow), errors.Is(err, errLink):
		return resultInvalid
	case errors.As(err, new(*AwayError)):
		return resultAway
	}
	return resultError
}
