package server

import (
	"context"
	"strings"
	"sync"

	"github.com/nomen-project/nomen/internal/health"
	"github.com/nomen-project/nomen/internal/problempage"
)

// Protocols is the set of protocols that a public listener serves. The zero value means all of
// them.
type Protocols uint8

// The protocols. A request belongs to the protocol of 1995 (draft-ietf-uri-yaurn-00) if its target
// is an element or a name without a leading slash.
const (
	ProtocolWeb  Protocols = 1 << iota // paths and absolute URLs: browsers, THTTP, proxy requests
	Protocol1995                       // draft-ietf-uri-yaurn-00
)

func (p Protocols) has(one Protocols) bool { return p == 0 || p&one != 0 }

// Web reports whether the set p includes [ProtocolWeb].
func (p Protocols) Web() bool { return p.has(ProtocolWeb) }

func protocolOf(method, target string) Protocols {
	if _, _, absolute := absoluteForm(target); absolute || strings.HasPrefix(target, "/") || method == "CONNECT" || target == "*" {
		return ProtocolWeb
	}
	return Protocol1995
}

// servedHere reports whether the listener of a request serves its protocol. Every listener serves
// the paths for monitoring.
func (r *request) servedHere() bool {
	if r.protocols == 0 || r.protocols.has(protocolOf(r.method, r.target)) {
		return true
	}
	path, _, _ := strings.Cut(r.target, "?")
	return path == health.LivePath || path == health.ReadyPath
}

func (s *Server) wrongProtocol(ctx context.Context, r *request) *reply {
	a, detail := parsedTarget{form: formElement, bare: true}, "This listener does not serve the resolution protocol of 1995. Begin the path with a slash, or use the port at which this server serves that protocol."
	if protocolOf(r.method, r.target) == ProtocolWeb {
		a, detail = parsedTarget{form: formPage}, "This listener serves only the resolution protocol of 1995. Use the port at which this server serves the web."
	}
	p := s.withProblem(ctx, r, a, problempage.New(problempage.KindProtocol, detail))
	p.form = a.form
	return p
}

type openListeners struct {
	mu  sync.Mutex
	all map[string]*limitedListener
}

func (o *openListeners) add(name string, l *limitedListener) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[string]*limitedListener{}
	}
	o.all[name] = l
}

func (o *openListeners) limit(l Limits) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, of := range o.all {
		of.limit(l.Connections, l.PerAddress)
	}
}

func (o *openListeners) closeSilent() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.all {
		l.closeSilent()
	}
}

// Connections returns the number of open connections of each listener, by the name of the
// [Listener]. Before [Server.Listen] the map is empty.
func (s *Server) Connections() map[string]int {
	s.listening.mu.Lock()
	defer s.listening.mu.Unlock()
	open := make(map[string]int, len(s.listening.all))
	for name, l := range s.listening.all {
		l.mu.Lock()
		open[name] = l.n
		l.mu.Unlock()
	}
	return open
}
