package extra

import (
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// constrained returns the schemes of the Constrained Application Protocol. It runs over UDP and
// DTLS (RFC 7252, section 6), or over TCP, TLS and WebSockets (RFC 8323, section 8).
func constrained() []scheme.Scheme {
	list := []scheme.Scheme{
		{Name: "coap", Title: "Constrained Application Protocol", Reference: "RFC 7252, 6.1", DefaultPort: "5683", Transport: "udp"},
		{Name: "coaps", Title: "Constrained Application Protocol over DTLS", Reference: "RFC 7252, 6.2", DefaultPort: "5684", Transport: "udp"},
		{Name: "coap+tcp", Title: "Constrained Application Protocol over TCP", Reference: "RFC 8323, 8.1", DefaultPort: "5683", Transport: "tcp"},
		{Name: "coaps+tcp", Title: "Constrained Application Protocol over TLS", Reference: "RFC 8323, 8.2", DefaultPort: "5684", Transport: "tcp"},
		{Name: "coap+ws", Title: "Constrained Application Protocol over WebSockets", Reference: "RFC 8323, 8.3", DefaultPort: "80", Transport: "tcp"},
		{Name: "coaps+ws", Title: "Constrained Application Protocol over secure WebSockets", Reference: "RFC 8323, 8.4", DefaultPort: "443", Transport: "tcp"},
	}
	for i := range list {
		s := &list[i]
		s.Kind, s.Hierarchical, s.RootPath = scheme.KindLocator, true, true
		s.Example = s.Name + "://example.org/sensors/temperature?u=C"
		s.Note = "path segments and query arguments are sent separately, decoded, with at most 255 octets each"
		s.Security = "small devices can be abused for amplification: a forged source address receives a response much larger than the request"
		s.Special = []scheme.Special{inPath("/", "separates path segments"), inQuery("&", "separates arguments")}
		s.Retrieval = "send a GET request with the path segments and query arguments as options"
		s.Rules = scheme.RuleSet{Check: checkCoAP, Parts: partsCoAP}
	}
	return list
}

const (
	ruleCoAP       = "RFC 7252, 6.1: coap-URI"
	ruleCoAPOption = "RFC 7252, 5.10"
)

const maxCoAPOption = 255

// checkCoAP checks that there is a host and that no option is too long.
//
//	coap-URI = "coap:" "//" host [ ":" port ] path-abempty [ "?" query ]
func checkCoAP(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := l.NeedHostOnly(ruleCoAP); bad != nil {
		return bad
	}
	if octets(l.Text, l.Host, l.HostEnd) > maxCoAPOption {
		return layout.Refuse(l.Host, l.HostEnd, ruleCoAPOption+": Uri-Host", "the host must not exceed 255 octets")
	}
	if bad := checkCoAPPieces(l.Text, l.Path, l.PathEnd, '/', ruleCoAPOption+": Uri-Path"); bad != nil || l.Query < 0 {
		return bad
	}
	return checkCoAPPieces(l.Text, l.Query, l.QueryEnd, '&', ruleCoAPOption+": Uri-Query")
}

func checkCoAPPieces(s string, from, to int, sep byte, rule string) []scheme.Finding {
	for at := from; at <= to; {
		end := ascii.Until(s, at, to, sep)
		if octets(s, at, end) > maxCoAPOption {
			return layout.Refuse(at, end, rule, "a path segment or query argument must not exceed 255 octets")
		}
		at = end + 1
	}
	return nil
}

func partsCoAP(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Server()
	if t.Path+1 < t.PathEnd {
		t.Each("uri_path", t.Path+1, t.PathEnd, '/')
	}
	if t.Query >= 0 {
		t.Each("uri_query", t.Query, t.QueryEnd, '&')
	}
	t.Fragment()
	return t.Parts
}
