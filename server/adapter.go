package server

import (
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/wire"
)

// serve stands between net/http and decide.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	defer s.logPanic()
	start := s.now()
	client := s.behind(r)
	target := wire.Target(r)
	if hasBody(r) {
		refuseBody(w)
	}
	if path, _, _ := strings.Cut(target, "?"); path == metricsPath && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		s.metrics.handler.ServeHTTP(w, r)
		return
	}
	p := s.decide(r.Context(), newRequest(r, target, client))
	sent := s.send(w, r, p)
	s.metrics.observe(p, s.now().Sub(start))
	s.logAccess(r, target, client.addr, p.status, sent, s.now().Sub(start))
}

// bodyGrace is for how long a body that nobody wants is read and forgotten, so
// that its sender gets to see the answer.
const bodyGrace = time.Second

// refuseBody makes a request the last of its connection: its answer does not wait
// for the body, and nothing that comes after it is taken for a request.
func refuseBody(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyGrace)) // tests have no connection
}

// hasBody reports whether a request of HTTP/1 declares a body.
func hasBody(r *http.Request) bool {
	return r.ProtoMajor == 1 && (r.ContentLength != 0 || r.TransferEncoding != nil)
}

// logPanic logs a mistake of ours and ends the request, not the program.
func (s *Server) logPanic() {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		s.log.Error("panic", "value", v, "stack", string(debug.Stack()))
		panic(http.ErrAbortHandler)
	}
}

// newRequest takes from r what decides the answer.
func newRequest(r *http.Request, target string, c client) *request {
	field := func(name string) string { return strings.Join(r.Header.Values(name), ", ") }
	return &request{
		method:  r.Method,
		target:  target,
		version: protocol(r),
		host:    c.host,
		secure:  c.secure,
		local:   localAddr(r),

		accept:    field("Accept"),
		languages: field("Accept-Language"),
		datetime:  r.Header.Get("Accept-Datetime"),

		ifMatch:           field("If-Match"),
		ifUnmodifiedSince: r.Header.Get("If-Unmodified-Since"),
		ifNoneMatch:       field("If-None-Match"),
		ifModifiedSince:   r.Header.Get("If-Modified-Since"),
	}
}

// protocol returns the version that the client speaks.
func protocol(r *http.Request) version {
	if r.ProtoMajor >= 2 {
		return version{r.ProtoMajor, r.ProtoMinor}
	}
	return parseVersion(wire.Proto(r))
}

func localAddr(r *http.Request) netip.AddrPort {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return netip.AddrPort{}
	}
	ap, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
}

// send writes a reply and returns how many bytes of body were sent.
func (s *Server) send(w http.ResponseWriter, r *http.Request, p *reply) int64 {
	h := w.Header()
	for _, f := range p.fields {
		h[f.name] = append(h[f.name], f.value) // in our spelling
	}
	if p.reason != "" {
		wire.SetReason(w, r, p.reason)
	}
	w.WriteHeader(p.status)
	switch {
	case r.Method == http.MethodHead || p.status == http.StatusNotModified:
		return 0
	case p.stream == nil:
		n, _ := w.Write(p.body) // the client has gone; nothing is left to do
		return int64(n)
	}
	out := newPaced(w, s.limits.Timeout)
	if err := p.stream(r.Context(), out); err != nil {
		s.log.Info("stream broke off", "target", printable(r.RequestURI), "err", err)
		panic(http.ErrAbortHandler) // so that the client sees that it is not whole
	}
	return out.n
}
