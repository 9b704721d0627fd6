package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/messages"
	"github.com/nomen-project/nomen/internal/paced"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/internal/trace"
	"github.com/nomen-project/nomen/internal/wire"
)

// serve converts a request of net/http, passes it to decide, and sends the reply.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	defer requestlog.Panic(s.log)
	start := s.now()
	if !wire.Watched(r) || s.health.Closing() {
		w.Header().Set("Connection", "close")
	}
	client := s.clientOf(r)
	target, mount := targetBelow(r)
	if mount == "" {
		target, mount = s.belowPublic(target)
	}
	in := newRequest(r, target, mount, client)
	served := in.servedHere()
	if served && s.forwardRequest(w, r, in, client) {
		return
	}
	if served && s.speak(w, r, in, client, start) {
		return
	}
	switch {
	case r.Method == http.MethodPost && isBatch(target):
		in.body = paced.NewBody(r.Body, w, s.limits.Timeout)
	case hasBody(r):
		refuseBody(w)
	}
	ctx := gateway.WithClient(requestLifetime(r), s.gatewayClient(r, target, client))
	if parent, ok := trace.Of(r.Header); ok {
		ctx = trace.With(ctx, parent)
	}
	var p *reply
	if served && s.shown && strings.HasPrefix(target, metricsPath) && isMetrics(r.Method, target) {
		if p = s.checkRate(ctx); p == nil {
			s.metrics.ServeHTTP(w, r)
			return
		}
		s.finish(p, start)
	} else {
		p = s.decide(ctx, in)
	}
	sent := s.send(ctx, w, r, p)
	if wire.Own(r) {
		return
	}
	took := s.now().Sub(start)
	s.metrics.Observe(p.form.String(), p.status, took)
	requestlog.Of(r, target, client.addr).Log(ctx, s.access, p.status, sent, took)
}

// targetBelow returns the target of a request, and as mount the prefix that http.StripPrefix has
// removed from the path, if any. A target in absolute form is returned with its prefix.
func targetBelow(r *http.Request) (target, mount string) {
	target = wire.Target(r)
	_, path, absolute := absoluteForm(target)
	switch {
	case target != r.RequestURI:
		return target, ""
	case !absolute:
		path = target
	}
	path, q, hasQuery := strings.Cut(path, "?")
	below := r.URL.EscapedPath()
	mount, ok := strings.CutSuffix(path, below)
	if !ok || mount == "" || !strings.HasPrefix(mount, "/") || below != "" && below[0] != '/' {
		return target, ""
	}
	mount = strings.TrimRight(mount, "/")
	switch {
	case absolute:
		return target, mount
	case below == "": // the mount itself is the home page
		below = "/"
	}
	if hasQuery {
		below += "?" + q
	}
	return below, mount
}

// belowPublic removes the path of the public URL from a target, and returns this path as mount. If
// a proxy has already removed the path, belowPublic returns the target unchanged and an empty
// mount.
func (s *Server) belowPublic(target string) (below, mount string) {
	if s.publicPath == "" {
		return target, ""
	}
	below, ok := strings.CutPrefix(target, s.publicPath)
	switch {
	case ok && strings.HasPrefix(below, "/"):
		return below, s.publicPath
	case ok && (below == "" || below[0] == '?'):
		return "/" + below, s.publicPath
	}
	return target, ""
}

// requestLifetime returns the context for answering a request. In HTTP/1 this context is never
// cancelled: net/http would cancel it when the client closes its side of the connection, although
// clients such as netcat still expect the response. If the client has gone, writing the response
// fails. In HTTP/2, clients cancel a request explicitly, so requestLifetime returns the context of
// the request.
func requestLifetime(r *http.Request) context.Context {
	if r.ProtoMajor >= 2 {
		return r.Context()
	}
	return context.WithoutCancel(r.Context())
}

const metricsPath = "/-/metrics"

func isMetrics(method, target string) bool {
	path, _, _ := strings.Cut(target, "?")
	return path == metricsPath && (method == http.MethodGet || method == http.MethodHead)
}

// refuseBody limits the time for reading a body that is ignored. The connection is closed after
// this request, because internal/wire cannot parse a request that follows a body.
func refuseBody(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(paced.Grace)) // fails only in tests without a connection
}

func hasBody(r *http.Request) bool {
	return r.ProtoMajor == 1 && (r.ContentLength != 0 || r.TransferEncoding != nil)
}

func newRequest(r *http.Request, target, mount string, c client) *request {
	return &request{
		method:  r.Method,
		target:  target,
		mount:   mount,
		version: protocol(r),
		from:    c.addr,
		host:    c.host,
		secure:  c.secure,
		proxied: c.proxied,
		local:   localAddr(r),
		country: c.country,
		hops:    hops(r.Header["Via"]),

		protocols: listenerOf(r.Context()).Protocols,

		accept:    joined(r.Header["Accept"]),
		languages: joined(r.Header["Accept-Language"]),
		agent:     joined(r.Header["User-Agent"]),
		language:  messages.Chosen(r),
		encodings: joined(r.Header["Accept-Encoding"]),
		charsets:  joined(r.Header["Accept-Charset"]),
		datetime:  joined(r.Header["Accept-Datetime"]),

		byteRange: joined(r.Header["Range"]),
		ifRange:   joined(r.Header["If-Range"]),

		ifMatch:           joined(r.Header["If-Match"]),
		ifUnmodifiedSince: joined(r.Header["If-Unmodified-Since"]),
		ifNoneMatch:       joined(r.Header["If-None-Match"]),
		ifModifiedSince:   joined(r.Header["If-Modified-Since"]),

		contentType:   joined(r.Header["Content-Type"]),
		contentCoding: joined(r.Header["Content-Encoding"]),
	}
}

func joined(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return strings.Join(values, ", ")
}

// hops counts the entries in the Via fields of a request (RFC 9110, 7.6.3).
func hops(via []string) int {
	n := 0
	for _, field := range via {
		for entry := range strings.SplitSeq(field, ",") {
			if strings.Trim(entry, " \t") != "" {
				n++
			}
		}
	}
	return n
}

func protocol(r *http.Request) version {
	if r.ProtoMajor >= 2 {
		return version{r.ProtoMajor, r.ProtoMinor}
	}
	return parseVersion(wire.Proto(r))
}

func localAddr(r *http.Request) netip.AddrPort {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return addrOf(local)
}

func addrOf(a net.Addr) netip.AddrPort {
	switch addr := a.(type) {
	case *net.TCPAddr:
		ap := addr.AddrPort()
		return netip.AddrPortFrom(plainAddr(ap.Addr()), ap.Port())
	case net.Addr:
		if ap, err := netip.ParseAddrPort(addr.String()); err == nil {
			return netip.AddrPortFrom(plainAddr(ap.Addr()), ap.Port())
		}
	}
	return netip.AddrPort{}
}

// ownLength is the body size in bytes from which send sets Content-Length. For shorter bodies,
// net/http sets it. The map of header fields then has at most eight entries, which is cheaper.
const ownLength = 2 << 10

// send writes a reply, and returns how many bytes of the body it has sent. While it sends a stream,
// other servers may be asked on behalf of the client in ctx.
func (s *Server) send(ctx context.Context, w http.ResponseWriter, r *http.Request, p *reply) int64 {
	defer p.drop()
	h := w.Header()
	values := make([]string, len(p.fields))
	for i := range p.fields {
		f := &p.fields[i]
		if f.name == "Content-Length" && len(p.body) > 0 && len(p.body) < ownLength && r.Method != http.MethodHead {
			continue
		}
		values[i] = f.value
		if old := h[f.name]; old != nil {
			h[f.name] = append(old, f.value) // h.Add would change the letter case of the name
		} else {
			h[f.name] = values[i : i+1 : i+1]
		}
	}
	if p.reason != "" {
		wire.SetReason(w, r, p.reason)
	}
	w.WriteHeader(p.status)
	switch {
	case r.Method == http.MethodHead || p.status == http.StatusNotModified:
		return 0
	case p.stream == nil:
		n, _ := w.Write(p.body) // after an error, the client is gone
		return int64(n)
	}
	out := paced.NewWriter(w, s.limits.Timeout)
	if p.pool != nil {
		defer p.pool.add(out)()
	}
	if err := p.stream(ctx, out); err != nil {
		if errors.Is(err, paced.ErrTooSlow) {
			s.metrics.Refused(refusedSlow)
		}
		s.log.Info("response aborted", "target", requestlog.Printable(r.RequestURI), "err", err)
		panic(http.ErrAbortHandler) // lets the client notice that the response is truncated
	}
	return out.Written()
}
