package server

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nomen-project/nomen/gateway"
)

// asker returns on whose behalf a request is. Where others are asked for own users, who
// are known by their addresses, a page of a stranger must not be able to make the browser
// of an own user ask: neither as another site nor under a name that the stranger made
// point here (DNS rebinding).
func (s *Server) asker(r *http.Request, target string, c client) *gateway.Asker {
	a := &gateway.Asker{Addr: c.addr, Many: s.many(c.addr), Until: time.Now().Add(s.limits.Ask), Gone: r.Context()}
	if r.ProtoMajor < 2 { // where a client may close its side and still listen
		a.Grace = gateway.LeaveGrace
	}
	if s.asksOthers() {
		a.Misled = s.misled(r, target, c)
	}
	return a
}

// misled says why another site may have made a browser send a request; "" if none did.
// A browser never sends a bare target, so the Host field of one may be that of whoever a
// proxy of 1995 thinks fit.
func (s *Server) misled(r *http.Request, target string, c client) string {
	host, _, absolute := absoluteForm(target)
	switch {
	case !absolute && !strings.HasPrefix(target, "/"):
		return ""
	case !absolute:
		host = c.host
	}
	set, err := s.authorities.Set(r.Context(), time.Time{})
	if err != nil || s.hostOwner(set, host, localAddr(r).Addr()) == hostOther {
		return "the Host field names neither this server nor a naming authority here. If the host is this server, its operator adds it with --host, or sets --public-url"
	}
	if s.isCrossSite(r.Header, host) {
		return "a page of another site sent this request. Follow a link to the name, or enter it on the home page of this server"
	}
	return ""
}

// isCrossSite reports whether a page of another origin made a browser send a request,
// and does not just lead there as a link does, which tells the page nothing (Fetch
// Metadata; RFC 6454).
func (s *Server) isCrossSite(h http.Header, host string) bool {
	if site := h.Get("Sec-Fetch-Site"); site != "" {
		leads := h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document"
		return site != "same-origin" && site != "none" && !leads
	}
	origin, ok := h["Origin"]
	if !ok { // neither a script nor a form of today
		return false
	}
	u, err := url.Parse(joined(origin))
	_, public, _ := strings.Cut(s.public, "://")
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, host) && !strings.EqualFold(u.Host, public)
}

// asksOthers reports whether a name without an authority may be asked of others, which
// takes its time.
func (s *Server) asksOthers() bool { return s.explainer.Door.Policy() != gateway.Off }
