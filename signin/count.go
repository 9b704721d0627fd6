package signin

import (
	"errors"
	"net/http"
	"strings"
)

// The ways to sign in, as counted.
const (
	wayProvider = "provider" // at an identity provider
	wayLink     = "link"     // with a one-time link
	wayProxy    = "proxy"    // by the field of a proxy
)

// The results of sign-ins, as counted.
const (
	resultSuccess  = "success"
	resultUnknown  = "unknown"  // the person is not a user
	resultDisabled = "disabled" // the user may not sign in
	resultDenied   = "denied"   // the person or the provider has stopped it
	resultInvalid  = "invalid"  // a response of a provider, a link or a field that is not valid
	resultAway     = "away"     // the provider does not answer
	resultError    = "error"    // the server failed
)

// Ways returns the ways to sign in that are counted.
func Ways() []string { return []string{wayProvider, wayLink, wayProxy} }

// Results returns the results that are counted. A proxy says with each request who the user is, so
// its successes are not counted.
func Results() []string {
	return []string{resultSuccess, resultUnknown, resultDisabled, resultDenied, resultInvalid, resultAway, resultError}
}

// countFailure counts a sign-in that failed. It ignores other requests.
func (m *Manager) countFailure(r *http.Request, err error) {
	if way := wayOf(r, err); way != "" && !errors.Is(err, errPath) {
		m.o.Count(way, resultOf(err))
	}
}

// wayOf returns the way to sign in that a request with an error belongs to, "" for none.
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
