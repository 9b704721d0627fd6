package problempage

import (
	"net/http"
	"slices"
	"sync"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
)

// Kinds of problems on the public listener for which there is no [nomen.Kind].
const (
	KindHost     = "unknown-host"
	KindProtocol = "wrong-protocol"
	KindLoop     = "resolver-loop"
	KindFormat   = "no-format"
	KindUpstream = "upstream-failed"
	KindAway     = "temporarily-unavailable"
	KindBusy     = "busy"
	KindFailed   = "resolver-failed"
)

func find(name string) (adminapi.Kind, bool) {
	for _, k := range kinds() {
		if k.Name == name {
			return k, name != ""
		}
	}
	return adminapi.Kind{}, false
}

// New returns a problem of a kind on the public listener.
func New(kind, detail string) *format.Problem {
	k, _ := find(kind)
	return &format.Problem{Type: format.ProblemPath + kind, Title: k.Title, Status: k.Statuses[0], Detail: detail}
}

// TitleOf returns the title of plain text responses with a status.
func TitleOf(status int) string {
	for _, k := range kinds() {
		if k.Name == "" && slices.Contains(k.Statuses, status) {
			return k.Title
		}
	}
	return http.StatusText(status)
}

// Kinds returns the kinds of error responses of the public listener and the gateway. A kind with a
// name is a problem type, whose page is below [format.ProblemPath]. A kind without a name is a
// plain text response.
func Kinds() []adminapi.Kind { return slices.Clone(kinds()) }

var kinds = sync.OnceValue(func() []adminapi.Kind {
	title := func(k nomen.Kind) string { return format.NewProblem(&nomen.Error{Kind: k}, 0).Title }
	kind := func(name, title, cause, remedy string, statuses ...int) adminapi.Kind {
		return adminapi.Kind{Name: name, Statuses: statuses, Title: title, Cause: cause, Remedy: remedy}
	}
	return []adminapi.Kind{
		kind(nomen.Malformed.String(), title(nomen.Malformed),
			"The name is not valid according to the rules of its scheme. The response contains the offset of the first invalid character and the rule that it violates.",
			"Check the name against its source: a character may be missing or added.",
			http.StatusBadRequest),
		kind(nomen.Unknown.String(), title(nomen.Unknown),
			"The name is not registered on this server.",
			"Check the spelling; another server may resolve it.",
			http.StatusNotFound),
		kind(nomen.NoResult.String(), title(nomen.NoResult),
			"The name is registered, but there is no result for the requested service, for example no location to redirect to.",
			"Request a description with ?s=I2C.",
			http.StatusNotFound),
		kind(nomen.Gone.String(), title(nomen.Gone),
			"The name was assigned and has been retired. It will never be assigned again.",
			"The response says why, and which names replace it.",
			http.StatusGone),
		kind(nomen.Denied.String(), title(nomen.Denied),
			"Access to this name is denied, for everyone or for you (403), or for legal reasons (451).",
			"Contact the publisher of the name.",
			http.StatusForbidden, http.StatusUnavailableForLegalReasons),
		kind(KindHost, "This server does not answer for that host",
			"The Host field or the URL in the request names neither this server nor a naming authority here, and this server is not a proxy.",
			"Use the full name, including its scheme, such as urn:. Operator: add the host to the server (host, public-url in docs/reference/configuration.md) or to the hosts of the authority.",
			http.StatusMisdirectedRequest),
		kind(KindProtocol, "This listener does not serve that protocol",
			"The server has several listeners. This one serves only the web (targets that begin with a slash), or only the resolution protocol of 1995 (targets without a slash).",
			"Use the port of the other protocol. Operator: see the key protocols in docs/reference/configuration.md.",
			http.StatusMisdirectedRequest),
		kind(KindLoop, "Delegation loop",
			"The name is delegated from one resolver to the next until it reaches this server again.",
			"The owners of the naming authorities must correct the delegation (docs/howto/delegate-names.md).",
			http.StatusLoopDetected),
		kind(KindFormat, "No acceptable format",
			"The Accept field of the request excludes every format that is available for this answer. The response lists the available formats.",
			"Accept one of these formats.",
			http.StatusNotAcceptable),
		kind(KindUpstream, "An upstream server failed",
			"The answer depends on another server, which could not be reached, sent an invalid response, or took too long (504).",
			"Try again later. Operator: the cause is in the log.",
			http.StatusBadGateway, http.StatusGatewayTimeout),
		kind(KindAway, "The name service is temporarily unavailable",
			"The server cannot read its disk or database at the moment.",
			"Try again after the time in Retry-After. Operator: see docs/reference/failures.md.",
			http.StatusServiceUnavailable),
		kind(KindBusy, "The resolver is busy or shutting down",
			"Nothing is wrong with the request.",
			"Try again after the time in Retry-After.",
			http.StatusServiceUnavailable),
		kind(KindFailed, "The resolver failed",
			"The server could not process the request; the cause is in its log.",
			"Try again later, or report the failure to the operator.",
			http.StatusInternalServerError),
		kind("", "Too many requests",
			"This client sent too many costly requests, such as lists and batches (429), or all clients together sent too many (503).",
			"Try again after the time in Retry-After. Operator: see the limits in docs/reference/configuration.md.",
			http.StatusTooManyRequests, http.StatusServiceUnavailable),
		kind("", "Malformed request",
			"The request is not valid HTTP, its body ended too early, or the gateway cannot use the URL in the request.",
			"Correct the client. A name in a URL must be percent-encoded where HTTP requires it.",
			http.StatusBadRequest),
		kind("", "Not forwarded",
			"The gateway serves only its own users, and connects only to public addresses and to ports 80, 443 and above 1023.",
			"Ask the operator for access (docs/reference/gateway.md).",
			http.StatusForbidden),
		kind("", "No such page",
			"There is no page at this path below /-/.",
			"Start at the home page of the server.",
			http.StatusNotFound),
		kind("", "Method not allowed",
			"The public listener accepts GET and HEAD, and POST only for lists of names.",
			"Use one of the methods in the field Allow. Change names with the admin API.",
			http.StatusMethodNotAllowed),
		kind("", "Request timeout",
			"The head or the body of the request did not arrive in time.",
			"Send the request again over a faster connection.",
			http.StatusRequestTimeout),
		kind("", "Precondition failed",
			"The resource no longer matches If-Match, or has changed since the time in If-Unmodified-Since.",
			"Request the resource again without these fields.",
			http.StatusPreconditionFailed),
		kind("", "Too large",
			"The list of names has too many bytes or names, or the body is too long for the gateway. The response gives the limit.",
			"Split the list or the body.",
			http.StatusRequestEntityTooLarge),
		kind("", "Request target too long",
			"The URL of the request is too long. The response gives the limit.",
			"No name is that long: check what generated the URL.",
			http.StatusRequestURITooLong),
		kind("", "Unsupported list",
			"A list of names must be text/uri-list or JSON Lines, without Content-Encoding.",
			"Send the list with one of the types in Accept-Post.",
			http.StatusUnsupportedMediaType),
		kind("", "Invalid range",
			"The field Range names a part that the list does not have.",
			"Request the list without Range.",
			http.StatusRequestedRangeNotSatisfiable),
		kind("", "Header too large",
			"The header fields of the request are too long.",
			"Delete the cookies for this server, or send fewer fields.",
			http.StatusRequestHeaderFieldsTooLarge),
		kind("", "Not reached",
			"The gateway could not reach the server of the URL, or got an invalid, too long or late (504) response.",
			"Try again later, or ask that server directly.",
			http.StatusBadGateway, http.StatusGatewayTimeout),
		kind("", "CONNECT over HTTP/1.0",
			"The gateway supports CONNECT only with HTTP/1.1.",
			"Use a client with HTTP/1.1.",
			http.StatusNotImplemented),
		kind("", "Proxy loop",
			"The request passed through this gateway before.",
			"Correct the proxy settings of the servers that the request passed through.",
			http.StatusLoopDetected),
	}
})
