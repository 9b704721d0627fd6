package server

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/internal/health"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/internal/wire"
)

// A Listener describes a listener of a server. If only Address is set, the listener is public, has
// no TLS, and serves all protocols.
type Listener struct {
	// Name identifies the listener in the access log and the metrics; "" means its address.
	Name string

	// Address is the HOST:PORT to listen at. An address without a port gets the default port; port
	// 0 means any free port. Address is ignored if Open is set.
	Address string

	// Open is an open listener to serve on, which Shutdown closes. It can be a TLS listener whose
	// connections are of type [*tls.Conn], such as one from [tls.NewListener] or an ACME client.
	// TLS must then be nil.
	Open net.Listener

	// Admin makes the listener serve the admin API. Otherwise it is a public listener.
	Admin bool

	// Protocols are the protocols that a public listener serves; 0 means all of them.
	Protocols Protocols

	// Dialects are the names of the dialects that a public listener supports, in the order in which
	// they are tried (see [Options].Dialects).
	Dialects []string

	// TLS enables TLS if it is not nil. A public listener then also serves HTTP/2. Clients of
	// HTTP/1.0 and of the protocol of 1995 (draft-ietf-uri-yaurn-00) need not send ALPN.
	TLS *tls.Config

	// WellKnown wraps the handler of requests for paths below /.well-known/, for example to answer
	// ACME challenges. The wrapped handler gets no other requests. WellKnown may be nil.
	WellKnown func(http.Handler) http.Handler
}

func (o *Listener) open(ctx context.Context) error {
	kind, port := "public", defaultPort
	if o.Admin {
		kind, port = "admin", defaultAdminPort
	}
	if o.Open == nil {
		config := wire.ListenConfig()
		l, err := config.Listen(ctx, "tcp", withPort(o.Address, port))
		if err != nil {
			return fmt.Errorf("server: %s listener: %w", kind, err)
		}
		o.Open = l
	}
	o.Name = cmp.Or(o.Name, o.Open.Addr().String())
	return nil
}

// A Listening is a server that accepts connections.
type Listening struct {
	server  *Server
	Public  net.Addr   // address of the first public listener, or nil
	Admin   net.Addr   // address of the first admin listener, or nil
	Addrs   []net.Addr // addresses of all listeners, in the order in which they were passed to Listen
	servers []*listenerServer
	public  []net.Listener // the public listeners, made by package wire
	done    chan error

	endWork context.CancelFunc // ends the background work of the admin API
	work    sync.WaitGroup
}

// Listen opens the listeners and serves in the background. The limits on connections apply to each
// listener. If a listener cannot be opened, Listen closes all of them and returns an error.
func (s *Server) Listen(listeners ...Listener) (*Listening, error) {
	l := &Listening{server: s, done: make(chan error, len(listeners))}
	all := slices.Clone(listeners)
	for i := range all {
		if err := all[i].open(context.Background()); err != nil {
			for _, o := range all {
				if o.Open != nil {
					o.Open.Close()
				}
			}
			return nil, err
		}
	}
	for _, o := range all {
		l.Addrs = append(l.Addrs, o.Open.Addr())
	}
	limits := l.limits(s)
	for i := range all {
		l.add(&all[i], limits)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.endWork = cancel
	if !s.loadAuthorities(ctx, firstLoad) {
		l.work.Go(func() { s.keepLoading(ctx) })
	}
	if s.admin != nil {
		l.work.Go(func() { s.admin.Run(ctx) })
	}
	return l, nil
}

func (l *Listening) limits(s *Server) Limits { return s.given.withDefaults(l.sharing()) }

// sharing returns how many listeners share the limit of open files. Unix sockets have few clients,
// so they do not count.
func (l *Listening) sharing() (n int) {
	for _, at := range l.Addrs {
		if at.Network() != "unix" {
			n++
		}
	}
	return n
}

func (l *Listening) add(o *Listener, limits Limits) {
	s, at := l.server, o.Open.Addr()
	if o.Admin {
		l.Admin = cmp.Or(l.Admin, at)
		on := o.Open
		if o.TLS != nil {
			on = tls.NewListener(on, withProtocols(o.TLS, "h2", "http/1.1"))
		}
		of := s.limited(on, limits, o.Name)
		l.serve(s.adminServer(o), of, bareListener{of})
		return
	}
	l.Public = cmp.Or(l.Public, at)
	of := s.limited(o.Open, limits, o.Name)
	on := s.onWire(of, o)
	l.public = append(l.public, on)
	l.serve(s.publicServer(o), of, on)
}

// Ask checks that the server answers. It sends a request for [health.LivePath] to each public
// listener, over a connection in memory, and returns an error unless all requests are answered
// before ctx ends. These requests are neither logged nor counted.
func (l *Listening) Ask(ctx context.Context) error {
	for _, on := range l.public {
		if err := askOver(ctx, on); err != nil {
			return fmt.Errorf("server: listener %v: %w", on.Addr(), err)
		}
	}
	return nil
}

func askOver(ctx context.Context, on net.Listener) error {
	c, err := wire.Dial(ctx, on)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(c, "GET "+health.LivePath+" HTTP/1.0\r\n\r\n"); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

func (s *Server) limited(l net.Listener, limits Limits, name string) *limitedListener {
	isShared := func(a netip.Addr) bool { return s.current.Load().isShared(a) }
	of := newLimitedListener(l, limits.Connections, limits.PerAddress, isShared, s.metrics.Refused)
	s.listening.add(name, of)
	return of
}

func withPort(address string, port int) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), strconv.Itoa(port))
}

func (s *Server) onWire(l net.Listener, o *Listener) net.Listener {
	if o.TLS != nil {
		l = tls.NewListener(l, withProtocols(o.TLS, "h2", "http/1.1", "http/1.0"))
	}
	return wire.NewListener(l, wire.Config{
		HeadTimeout: s.limits.HeadTimeout, IdleTimeout: s.limits.IdleTimeout, WriteTimeout: s.limits.Timeout,
		Short: func(local, remote net.Addr) wire.Answerer { return s.short(o, local, remote) },
		Now:   s.now, Log: s.log,
	})
}

func withProtocols(t *tls.Config, protocols ...string) *tls.Config {
	t = t.Clone()
	for _, p := range t.NextProtos {
		if !slices.Contains(protocols, p) {
			protocols = append(protocols, p) // such as acme-tls/1
		}
	}
	t.NextProtos = protocols
	return t
}

// maxStreams limits the concurrent requests on an HTTP/2 connection.
const maxStreams = 64

func (s *Server) publicServer(o *Listener) *http.Server {
	var handler http.Handler = http.HandlerFunc(s.serveCurrent)
	if o.WellKnown != nil {
		handler = withWellKnown(o.WellKnown, handler)
	}
	h := s.limitedServer(handler)
	h.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(requestlog.WithListener(context.Background(), o.Name), listenerKey{}, o)
	}
	h.ConnContext = wire.ConnContext
	h.DisableGeneralOptionsHandler = true // its response to "OPTIONS *" is empty
	h.Protocols = new(http.Protocols)
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetHTTP2(true) // only over TLS
	h.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	return h
}

// listenerKey is the key of a context value: the [*Listener] of a request.
type listenerKey struct{}

var allProtocols = new(Listener)

func listenerOf(ctx context.Context) *Listener {
	if o, ok := ctx.Value(listenerKey{}).(*Listener); ok {
		return o
	}
	return allProtocols
}

// wellKnownPath is the path prefix of well-known URIs (RFC 8615).
const wellKnownPath = "/.well-known/"

// withWellKnown returns a handler that calls wrap(next) for paths below wellKnownPath, and next for
// all other paths.
func withWellKnown(wrap func(http.Handler) http.Handler, next http.Handler) http.Handler {
	wrapped := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(wire.Target(r), wellKnownPath) {
			wrapped.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) adminServer(o *Listener) *http.Server {
	h := s.limitedServer(http.NotFoundHandler())
	if s.admin != nil {
		h.Handler = s.admin
	}
	h.BaseContext = func(net.Listener) context.Context {
		return requestlog.WithListener(context.Background(), o.Name)
	}
	return h
}

func (s *Server) limitedServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: s.limits.HeadTimeout,
		ReadTimeout:       s.limits.Timeout,
		WriteTimeout:      s.limits.Timeout,
		IdleTimeout:       s.limits.IdleTimeout,
		MaxHeaderBytes:    wire.DefaultMaxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

// serve runs h for the connections of a listener. The limitedListener inside the listener records
// the state of the connections.
func (l *Listening) serve(h *http.Server, limited *limitedListener, listener net.Listener) {
	h.ConnState = limited.state
	s := &listenerServer{Server: h, limited: limited, listener: listener, ended: make(chan struct{})}
	l.servers = append(l.servers, s)
	go func() {
		err := h.Serve(listener)
		if s.closing.Load() || errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		close(s.ended)
		l.done <- err
	}()
}

type listenerServer struct {
	*http.Server
	limited  *limitedListener
	listener net.Listener
	closing  atomic.Bool
	ended    chan struct{} // closed when the listener accepts no more connections
}

// finish closes the listener and answers the requests that clients have sent. It returns when all
// connections are closed or ctx ends. [http.Server.Shutdown] alone would drop a request that
// arrives after the call, even on a connection accepted before.
func (h *listenerServer) finish(ctx context.Context) {
	h.closing.Store(true)
	_ = h.listener.Close()
	defer wire.Drain(ctx, h.listener)
	select {
	case <-h.ended:
	case <-ctx.Done():
		return
	}
	for pause := time.Millisecond; ; pause = min(2*pause, maxPause) {
		h.SetKeepAlivesEnabled(false) // also closes idle connections
		if h.limited.open.Load() == 0 {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// maxPause bounds the time between two checks whether all connections are closed, while a server
// shuts down.
const maxPause = 20 * time.Millisecond

// Wait waits until a listener stops, and returns its error, or nil after Shutdown.
func (l *Listening) Wait() error { return <-l.done }

// drain makes health checks say that the server is shutting down.
func (s *Server) drain() {
	s.health.Close()
	if s.admin != nil {
		s.admin.Drain()
	}
}

// Drain prepares a Shutdown behind a load balancer. From now on, /-/readyz reports that the server
// is shutting down. The server still answers requests, and closes each connection after its next
// response. Drain returns after d, or when ctx ends.
func (l *Listening) Drain(ctx context.Context, d time.Duration) {
	l.server.drain()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// silentTime is how long Shutdown waits for the first byte on a connection that has received
// nothing. Some clients open connections that they never use.
const silentTime = time.Second

// Shutdown interrupts the jobs, closes the listeners, and waits until all requests are answered or
// ctx ends. Then it closes the connections that are still open.
func (l *Listening) Shutdown(ctx context.Context) error {
	l.server.drain()
	l.endWork()
	defer l.work.Wait()
	if a := l.server.admin; a != nil {
		a.Shutdown(ctx) // first, because the requests of its jobs must be answered
	}
	defer time.AfterFunc(silentTime, l.server.listening.closeSilent).Stop()
	errs := make([]error, len(l.servers))
	var wg sync.WaitGroup
	for i, h := range l.servers {
		wg.Go(func() {
			h.finish(ctx)
			if errs[i] = h.Shutdown(ctx); errs[i] != nil {
				errs[i] = errors.Join(errs[i], h.Close())
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
