package server

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/store"
)

// gatewayClient returns the client on whose behalf this server asks other servers. The address of
// an own user does not prove that the user intended the request: a page of another site may have
// made the browser send it, or a page whose host name an attacker has pointed at this server (DNS
// rebinding). gatewayClient records such a reason in the client.
func (s *Server) gatewayClient(r *http.Request, target string, c client) *gateway.Client {
	a := &gateway.Client{Addr: c.addr, Many: s.isShared(c.addr), Until: time.Now().Add(s.limits.Ask), Gone: r.Context()}
	if r.ProtoMajor < 2 { // a client may close its side of the connection and still read the response
		a.Grace = gateway.LeaveGrace
	}
	if s.asksOthers() {
		a.Misled = s.crossSiteReason(r, target, c)
	}
	return a
}

// crossSiteReason returns why another site may have caused a request, or "". It always accepts a
// target without a leading slash. Browsers never send such a target, and proxies of the protocol of
// 1995 may send it with any Host field.
func (s *Server) crossSiteReason(r *http.Request, target string, c client) string {
	host, _, absolute := absoluteForm(target)
	switch {
	case !absolute && !strings.HasPrefix(target, "/"):
		return ""
	case !absolute:
		host = c.host
	}
	set, err := s.authorities.Set(store.WithStaleness(r.Context()), time.Time{})
	if err != nil || s.hostOwner(set, host, localAddr(r).Addr()) == hostOther {
		return "the Host field names neither this server nor a naming authority here. If the host is this server, add it to the hosts of the server or to its public URL"
	}
	if s.isCrossSite(r.Header, host) {
		return "a page of another site sent this request. Follow a link to the name, or enter it on the home page of this server"
	}
	return ""
}

// isCrossSite reports whether a page of another origin made a browser send a request (Fetch
// Metadata; RFC 6454). A link that the user follows does not count, because the other page learns
// nothing from it.
func (s *Server) isCrossSite(h http.Header, host string) bool {
	if site := h.Get("Sec-Fetch-Site"); site != "" {
		leads := h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document"
		return site != "same-origin" && site != "none" && !leads
	}
	origin, ok := h["Origin"]
	if !ok { // the sender is neither a script nor a form in a current browser
		return false
	}
	u, err := url.Parse(joined(origin))
	_, public, _ := strings.Cut(s.publicOrigin, "://")
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, host) && !strings.EqualFold(u.Host, public)
}

// asksOthers reports whether this server asks other servers about names without an authority here.
func (s *Server) asksOthers() bool { return s.explainer.Access.Policy() != gateway.Off }
