package server

import (
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/internal/wire"
)

// maxDialectBody is the maximum length of the body of a request to a dialect, in bytes.
const maxDialectBody = 4 << 20

// speak answers a request in a dialect of its listener. It returns false if the request belongs to
// none of these dialects.
func (s *Server) speak(w http.ResponseWriter, r *http.Request, in *request, c client, start time.Time) bool {
	names := listenerOf(r.Context()).Dialects
	if len(names) == 0 || len(in.target) > maxTarget || wire.Own(r) {
		return false
	}
	target, ok := s.spokenTarget(r, in)
	if !ok {
		return false
	}
	counted := &countedWriter{ResponseWriter: w}
	own := r.WithContext(requestLifetime(r))
	own.Body = http.MaxBytesReader(counted, r.Body, maxDialectBody)
	call := &dialect.Call{
		Target: target, Base: s.base(in), Client: c.addr, Country: c.country,
		Private: c.secure || c.addr.IsLoopback() && !c.proxied && !isForwarded(r),
		Count:   s.counting(r.Method, in),
	}
	for _, name := range names {
		if d := s.dialects[name]; d != nil && d.Serve(counted, own, call) {
			took := s.now().Sub(start)
			s.metrics.Observe(formDialect.String(), counted.status, took)
			requestlog.Of(r, in.target, c.addr).Log(r.Context(), s.access, counted.status, counted.n, took)
			return true
		}
	}
	return false
}

// isForwarded reports whether a proxy has forwarded the request, according to its header. Requests
// through a proxy on this machine that is not trusted must not count as local.
func isForwarded(r *http.Request) bool {
	for _, field := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if len(r.Header[field]) > 0 {
			return true
		}
	}
	return false
}

// spokenTarget returns the target for a dialect, which is always a path: a URL of this server
// becomes its path (RFC 9112, 3.2.2). For other targets, spokenTarget returns false.
func (s *Server) spokenTarget(r *http.Request, in *request) (string, bool) {
	host, path, ok := absoluteForm(in.target)
	if !ok {
		return in.target, strings.HasPrefix(in.target, "/")
	}
	set, err := s.authorities.Set(r.Context(), time.Time{})
	if err != nil {
		return "", false // the server itself reports failures of the store
	}
	return s.contextOf(in, set).ownPath(in.target, host, path)
}

// A countedWriter records the status of a response and the number of bytes sent.
type countedWriter struct {
	http.ResponseWriter
	status int
	n      int64
}

func (w *countedWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countedWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.n += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
