package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/internal/race"
	"github.com/nomen-project/nomen/internal/retryafter"
)

// ForwardOptions configures a [Forward]. A number of zero means the default.
type ForwardOptions struct {
	Access  *AccessControl // decides which clients may use the proxy; nil permits no client
	Connect []uint16       // ports to which tunnels (CONNECT) are allowed; none by default

	Timeout     time.Duration // maximum time until the response begins; default AskTimeout
	Whole       time.Duration // maximum time for a whole request or tunnel; default 10 min
	Idle        time.Duration // maximum time without data in a response body or a tunnel; default 2 min
	MaxRequest  int64         // maximum size of a request body in bytes; default 32 MiB
	MaxResponse int64         // maximum size of a response body, and of the data in each direction of a tunnel, in bytes; default 1 GiB

	DNS         Lookup                                                               // finds the addresses of hosts; nil for [net.DefaultResolver]
	DialContext func(ctx context.Context, network, address string) (net.Conn, error) // connects to an address; nil for [net.Dialer]
	Reach       func(netip.Addr) error                                               // returns an error if the proxy must not connect to an address; nil permits only public addresses
	Log         *slog.Logger                                                         // receives failures; may be nil
}

// A Lookup finds the addresses of hosts; [net.Resolver] implements it.
type Lookup interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

const maxAddresses = 16

// A Forward is a forward proxy for http and https URLs (RFC 9110, 3.7 and 7). It serves the clients
// that its access control permits. It connects only to public addresses, which it checks after DNS.
// Requests may go only to the ports 80, 443 and from 1024 on, and tunnels (CONNECT) only to the
// ports in the options. A Forward uses each connection for one request, and does not follow
// redirects. It recognizes its own name in Via fields, and so ends loops. The caller must call
// Close.
type Forward struct {
	o       ForwardOptions
	name    string // the name of this proxy in Via fields
	proxy   *httputil.ReverseProxy
	running context.Context // context of the tunnels
	end     context.CancelFunc
}

// maxVia limits the number of proxies that have forwarded a request before this proxy.
const maxVia = 16

// NewForward returns a proxy.
func NewForward(o ForwardOptions) *Forward {
	const kib, mib = 1 << 10, 1 << 20
	o.Timeout, o.Whole = cmp.Or(o.Timeout, AskTimeout), cmp.Or(o.Whole, 10*time.Minute)
	o.Idle = cmp.Or(o.Idle, 2*time.Minute)
	o.MaxRequest, o.MaxResponse = cmp.Or(o.MaxRequest, 32*mib), cmp.Or(o.MaxResponse, 1024*mib)
	if o.DNS == nil {
		o.DNS = net.DefaultResolver
	}
	if o.DialContext == nil {
		o.DialContext = (&net.Dialer{Timeout: o.Timeout}).DialContext
	}
	if o.Reach == nil {
		o.Reach = guard.Check
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f := &Forward{o: o, name: pseudonym()}
	f.running, f.end = context.WithCancel(context.Background())
	f.proxy = &httputil.ReverseProxy{
		Rewrite:        f.rewrite,
		ModifyResponse: f.received,
		ErrorHandler:   f.failed,
		ErrorLog:       slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		FlushInterval:  -1, // pass on data as soon as it arrives
		Transport: begins{&http.Transport{
			DialContext:            f.dial,
			DisableCompression:     true, // the client decides about compression
			DisableKeepAlives:      true, // some servers authenticate connections, so clients must not share one
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    o.Timeout,
			ResponseHeaderTimeout:  o.Timeout,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: 64 * kib,
		}, o.Timeout, o.Idle},
	}
	return f
}

// begins wraps a transport and adds two time limits. The first limits the time from the last byte
// of the request to the header of the response, including DNS and connecting. The second limits
// each wait for data in the body.
type begins struct {
	http.RoundTripper
	timeout, idle time.Duration
}

func (b begins) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	var begun atomic.Bool // the response can begin while the request body is still being sent
	late := time.AfterFunc(b.timeout, func() {
		if !begun.Load() {
			cancel(context.DeadlineExceeded)
		}
	})
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &heard{r.Body, func() { late.Reset(b.timeout) }}
	}
	resp, err := b.RoundTripper.RoundTrip(r)
	begun.Store(true)
	late.Stop()
	if err != nil {
		cancel(nil)
		return nil, Late(ctx, err)
	}
	silent := time.AfterFunc(b.idle, func() { cancel(context.DeadlineExceeded) })
	silent.Stop()
	resp.Body = &waiting{resp.Body, silent, b.idle}
	return resp, nil // ctx ends with the context of the request
}

// waiting wraps a body, and runs a timer during each read.
type waiting struct {
	io.ReadCloser
	silent *time.Timer
	idle   time.Duration
}

func (w *waiting) Read(b []byte) (int, error) {
	w.silent.Reset(w.idle)
	defer w.silent.Stop()
	return w.ReadCloser.Read(b)
}

// heard wraps a body, and calls the function read after each read.
type heard struct {
	io.ReadCloser
	read func()
}

func (h *heard) Read(b []byte) (int, error) {
	n, err := h.ReadCloser.Read(b)
	h.read()
	return n, err
}

// pseudonym returns a random name, by which a proxy identifies itself in Via fields (RFC 9110,
// 7.6.3).
func pseudonym() string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return "nomen-" + hex.EncodeToString(b[:])
}

// Close ends all tunnels.
func (f *Forward) Close() error {
	f.end()
	return nil
}

// Admits reports whether a client may use this proxy for a request with the given method. If not,
// the server answers the request itself or rejects it. A nil Forward permits no client.
func (f *Forward) Admits(a *Client, method string) bool {
	return f != nil && f.o.Access.Admits(a) && (method != http.MethodConnect || len(f.o.Connect) > 0)
}

// ServeHTTP forwards a request in absolute form, or opens a tunnel. The context must carry the
// client (see [WithClient]).
func (f *Forward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	leave, err := f.o.Access.enter(ClientOf(r.Context()))
	if err == nil {
		defer leave()
		err = f.check(r)
	}
	if err != nil {
		f.failed(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), f.o.Whole)
	defer cancel()
	switch {
	case r.Method == http.MethodConnect:
		f.tunnel(ctx, w, r)
	case r.Method == http.MethodOptions && r.Header.Get("Max-Forwards") == "0": // the proxy itself answers (RFC 9110, 7.6.2)
		w.Header().Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
	default:
		if r.Body != nil {
			r.Body = http.MaxBytesReader(w, r.Body, f.o.MaxRequest)
		}
		f.proxy.ServeHTTP(w, r.WithContext(ctx))
	}
}

// A refusal is an error to which the proxy responds itself, without a response from another server.
type refusal struct {
	status int
	why    string
}

func (e *refusal) Error() string { return e.why }

func refusef(status int, layout string, args ...any) error {
	return &refusal{status, fmt.Sprintf(layout, args...)}
}

func (f *Forward) check(r *http.Request) error {
	seen := 0
	for entry := range strings.SplitSeq(strings.Join(r.Header.Values("Via"), ","), ",") {
		fields := strings.Fields(entry)
		if len(fields) == 0 {
			continue
		}
		if seen++; seen > maxVia || len(fields) > 1 && fields[1] == f.name {
			return refusef(http.StatusLoopDetected, "proxy loop detected")
		}
	}
	switch u := r.URL; {
	case r.Method == http.MethodConnect:
		return nil
	case r.Method == http.MethodTrace:
		return refusef(http.StatusMethodNotAllowed, "TRACE is not supported")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.Hostname() == "":
		return refusef(http.StatusBadRequest, "unsupported URL: must begin with http://HOST or https://HOST")
	case u.User != nil:
		return refusef(http.StatusBadRequest, "URLs with a user name or password are not supported")
	case r.ContentLength > f.o.MaxRequest:
		return refusef(http.StatusRequestEntityTooLarge, "request body too large: the limit is %d bytes", f.o.MaxRequest)
	case !usualPort(u.Port()):
		return refusef(http.StatusForbidden, "port not allowed: must be 80, 443 or at least 1024")
	}
	return nil
}

// usualPort reports whether a request may go to a port. The port "" means the default of the
// scheme. Most ports below 1024 are excluded, because a mail server, for example, could take an
// HTTP request for commands of its own protocol.
func usualPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	const first = 1024
	return port == "" || err == nil && (n == 80 || n == 443 || n >= first)
}

// rewrite prepares a request to send. Hop-by-hop fields, and fields that identify the client, have
// been removed already.
func (f *Forward) rewrite(p *httputil.ProxyRequest) {
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	p.Out.URL.Fragment, p.Out.URL.RawFragment = "", ""
	p.Out.Host = p.Out.URL.Host
	p.Out.Header.Del("Connection") // this also removes Upgrade, because a tunnel by Upgrade would have no limits
	p.Out.Header.Del("Upgrade")
	p.Out.Header.Add("Via", fmt.Sprintf("%d.%d %s", p.In.ProtoMajor, p.In.ProtoMinor, f.name))
	if p.In.Method == http.MethodOptions {
		if n, err := strconv.Atoi(p.In.Header.Get("Max-Forwards")); err == nil && n > 0 {
			p.Out.Header.Set("Max-Forwards", strconv.Itoa(n-1))
		}
	}
}

func (f *Forward) received(r *http.Response) error {
	switch {
	case r.StatusCode == http.StatusSwitchingProtocols:
		return refusef(http.StatusBadGateway, "the server switched to another protocol")
	case r.ContentLength > f.o.MaxResponse:
		return refusef(http.StatusBadGateway, "the response has more than %d bytes", f.o.MaxResponse)
	}
	r.Body = &bounded{r.Body, f.o.MaxResponse}
	r.Header.Add("Via", fmt.Sprintf("%d.%d %s", r.ProtoMajor, r.ProtoMinor, f.name))
	return nil
}

// bounded limits the length of a body. A read beyond the limit returns an error, so that the client
// does not take the truncated body for a complete body.
type bounded struct {
	io.ReadCloser
	left int64
}

var errTooLong = errors.New("gateway: the response is too long")

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n + int(b.left), errTooLong
	}
	return n, err
}

func (f *Forward) failed(w http.ResponseWriter, r *http.Request, err error) {
	status, why := http.StatusBadGateway, "The server could not be reached, or sent an invalid response."
	var own *refusal
	var limit *LimitError
	var address *guard.AddressError
	var large *http.MaxBytesError
	var timeout net.Error
	switch {
	case errors.As(err, &own):
		status, why = own.status, own.why
	case errors.As(err, &limit):
		w.Header().Set("Retry-After", RetryAfter(limit))
		status, why = limit.Status(), "Too many requests. Please try again later."
	case errors.Is(err, errDenied):
		status, why = http.StatusForbidden, "This proxy is only for its own users."
	case errors.As(err, &address):
		status, why = http.StatusForbidden, "This proxy connects only to public addresses."
	case errors.As(err, &large):
		status, why = http.StatusRequestEntityTooLarge, fmt.Sprintf("Request body too large: the limit is %d bytes.", large.Limit)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		status, why = http.StatusGatewayTimeout, "The server took too long to respond."
	}
	f.o.Log.Info("request not forwarded", "method", r.Method, "host", r.URL.Host, "status", status, "err", err)
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	body := []byte(why + "\r\n")
	if relay, ok := w.(*Relay); ok && relay.Show != nil {
		body = relay.Show(h, status, why)
	}
	h.Set("Proxy-Status", f.name+"; error=http_request_denied")
	if status >= http.StatusInternalServerError {
		h.Set("Proxy-Status", f.name+"; error=destination_unavailable") // RFC 9209, 2.3
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // after an error, the client has disconnected
}

// RetryAfter returns the value of a Retry-After field for an error, in whole seconds.
func RetryAfter(e *LimitError) string {
	return retryafter.Format(e.After)
}

// dial connects to a permitted address of a host. After checking the addresses, it does not look up
// the host again, because a second lookup could return other addresses.
func (f *Forward) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout) // net/http may continue to dial after the request has ended
	defer cancel()
	addrs, err := f.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	var allowed []netip.AddrPort
	var errs []error
	for _, a := range addrs {
		if err := f.o.Reach(a); err != nil {
			errs = append(errs, err)
			continue
		}
		allowed = append(allowed, netip.AddrPortFrom(a, uint16(n)))
	}
	if allowed == nil {
		return nil, errors.Join(errs...)
	}
	conn, failed := race.Dial(ctx, race.Stagger, allowed, func(ctx context.Context, ap netip.AddrPort) (net.Conn, error) {
		return f.o.DialContext(ctx, network, ap.String())
	})
	if conn == nil {
		return nil, errors.Join(append(failed, errs...)...)
	}
	return conn, nil
}

// addresses returns the addresses of a host. The host may be an address itself.
func (f *Forward) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	addrs, err := race.Lookup(ctx, f.o.DNS, host, maxAddresses)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	return addrs, nil
}

// tunnel passes on bytes between a client and a server (RFC 9110, 9.3.6).
func (f *Forward) tunnel(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	_, text, err := net.SplitHostPort(r.RequestURI)
	port, bad := strconv.ParseUint(text, 10, 16)
	switch {
	case err != nil, bad != nil:
		f.failed(w, r, refusef(http.StatusBadRequest, "invalid CONNECT: must be HOST:PORT"))
		return
	case !slices.Contains(f.o.Connect, uint16(port)):
		f.failed(w, r, refusef(http.StatusForbidden, "CONNECT to this port is not allowed"))
		return
	}
	server, err := f.dial(ctx, "tcp", r.RequestURI)
	if err != nil {
		f.failed(w, r, err)
		return
	}
	defer server.Close()
	client, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		f.failed(w, r, refusef(http.StatusNotImplemented, "CONNECT needs HTTP/1.1"))
		return
	}
	defer client.Close()
	_ = client.SetReadDeadline(time.Time{})
	_ = client.SetWriteDeadline(time.Now().Add(f.o.Timeout))
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	f.pass(client, io.MultiReader(io.LimitReader(early.Reader, int64(early.Reader.Buffered())), client), server)
}

// pass passes on bytes in both directions. It returns when both directions have ended, after the
// maximum time, or when no bytes have arrived for too long.
func (f *Forward) pass(client net.Conn, fromClient io.Reader, server net.Conn) {
	ctx, cancel := context.WithTimeout(f.running, f.o.Whole)
	defer cancel()
	cut := context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})
	defer cut()
	var heard atomic.Int64
	heard.Store(time.Now().UnixNano())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.copy(server, fromClient, client, &heard)
	}()
	f.copy(client, server, server, &heard)
	<-done
}

// copy passes on bytes in one direction, and then the end of the input. After an error, it closes
// both connections. It stores in heard the time of the last bytes in either direction, in
// nanoseconds.
func (f *Forward) copy(to net.Conn, r io.Reader, from net.Conn, heard *atomic.Int64) {
	const piece = 32 << 10
	b := make([]byte, piece)
	for left := f.o.MaxResponse; left > 0; {
		until := time.Unix(0, heard.Load()).Add(f.o.Idle)
		_ = from.SetReadDeadline(until)
		n, err := r.Read(b)
		left -= int64(n)
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Unix(0, heard.Load()).Add(f.o.Idle).After(until) {
			err = nil // bytes have come in the other direction
		}
		if n > 0 {
			heard.Store(time.Now().UnixNano())
			_ = to.SetWriteDeadline(time.Now().Add(f.o.Timeout))
			if _, err := to.Write(b[:n]); err != nil {
				break
			}
		}
		if err == io.EOF {
			if half, ok := to.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
				return
			}
		}
		if err != nil {
			break
		}
	}
	to.Close()
	from.Close()
}
