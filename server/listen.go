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

// A Listener describes a listener of a server. Its zero value, with an address, is a public
// listener without TLS that serves all protocols.
type Listener struct {
	// Name identifies the listener in the access log and the metrics; "" means its address.
	Name string

	// Address is the HOST:PORT to listen at. An address without a port gets the default port,
	// and port 0 means any free port. Address is not used if Open is set.
	Address string

	// Open is an open listener to serve on. The server takes it over, and Shutdown closes it.
	// It can be a TLS listener whose connections are of type [*tls.Conn], such as those of
	// [tls.NewListener] and of ACME clients; TLS must be nil then.
	Open net.Listener

	// Admin makes it a listener of the admin API. Otherwise it is public.
	Admin bool

	// Protocols are what a public listener serves; 0 means all of them.
	Protocols Protocols

	// TLS, if not nil, enables TLS. A public listener then serves HTTP/2 too. Clients of
	// HTTP/1.0 and of the protocol of 1995 need not negotiate a protocol.
	TLS *tls.Config

	// WellKnown wraps the handler of requests for paths below /.well-known/, such as those of ACME
	// challenges; nil for none. It does not see other requests.
	WellKnown func(http.Handler) http.Handler
}

// open opens the listener, unless it is open.
func (o *Listener) open(ctx context.Context) error {
	kind, port := "public", defaultPort
	if o.Admin {
		kind, port = "admin", defaultAdminPort
	}
	if o.Open == nil {
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", withPort(o.Address, port))
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
	Public  net.Addr   // address of the first public listener; nil if none
	Admin   net.Addr   // address of the first admin listener; nil if none
	Addrs   []net.Addr // addresses of all listeners, in the order of the call of Listen
	servers []*listenerServer
	public  []net.Listener // of package wire
	done    chan error

	endWork context.CancelFunc // of the admin API in the background
	work    sync.WaitGroup
}

// Listen opens the listeners and serves in the background, with the limits of the server for
// the connections of each listener. If one of them cannot be opened, Listen closes all of them
// and returns an error.
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

// limits returns the limits of each listener of a server.
func (l *Listening) limits(s *Server) Limits { return s.given.withDefaults(l.sharing()) }

// sharing returns the number of listeners that share the open files. Unix sockets have few
// clients, and do not lower the limits of the others.
func (l *Listening) sharing() (n int) {
	for _, at := range l.Addrs {
		if at.Network() != "unix" {
			n++
		}
	}
	return n
}

// add serves on an open listener.
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

// Ask sends a request for [health.LivePath] through the code of each public listener, by a
// connection in memory. It returns an error unless all of them are answered before ctx ends.
// Such requests are neither logged nor counted.
func (l *Listening) Ask(ctx context.Context) error {
	for _, on := range l.public {
		if err := askOver(ctx, on); err != nil {
			return fmt.Errorf("server: listener %v: %w", on.Addr(), err)
		}
	}
	return nil
}

// askOver sends a request over a listener of package wire.
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

// limited applies the limits of connections to a listener.
func (s *Server) limited(l net.Listener, limits Limits, name string) *limitedListener {
	isShared := func(a netip.Addr) bool { return s.current.Load().isShared(a) }
	of := newLimitedListener(l, limits.Connections, limits.PerAddress, isShared, s.metrics.Refused)
	s.listening.add(name, of)
	return of
}

// withPort adds the port to an address that has none.
func withPort(address string, port int) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), strconv.Itoa(port))
}

// onWire wraps a listener in TLS, if configured, and in the listener of package wire.
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

// withProtocols returns a copy of a TLS configuration that negotiates these protocols in
// addition to its own.
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

// listenerKey is the key of the context value with the [*Listener] of a request.
type listenerKey struct{}

// allProtocols describes the listener of a handler that is not served by [Server.Listen].
var allProtocols = new(Listener)

// listenerOf returns the listener at which a request arrived.
func listenerOf(ctx context.Context) *Listener {
	if o, ok := ctx.Value(listenerKey{}).(*Listener); ok {
		return o
	}
	return allProtocols
}

// wellKnownPath begins the paths of RFC 8615.
const wellKnownPath = "/.well-known/"

// withWellKnown wraps a handler for the paths below wellKnownPath alone.
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

// limitedServer returns a server with the limits of both listeners.
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

// serve runs h on the connections that on accepts. The parameter of is the same listener
// without wrappers; it tracks the state of the connections.
func (l *Listening) serve(h *http.Server, of *limitedListener, on net.Listener) {
	h.ConnState = of.state
	s := &listenerServer{Server: h, of: of, on: on, ended: make(chan struct{})}
	l.servers = append(l.servers, s)
	go func() {
		err := h.Serve(on)
		if s.closing.Load() || errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		close(s.ended)
		l.done <- err
	}()
}

// A listenerServer is the server of one listener.
type listenerServer struct {
	*http.Server
	of      *limitedListener
	on      net.Listener
	closing atomic.Bool
	ended   chan struct{} // closed when no more connections arrive
}

// finish closes the listener and answers what clients have sent, until all connections are
// closed or ctx ends. [http.Server.Shutdown] alone would drop every request that it reads after
// the call, even on a connection that the listener accepted before.
func (h *listenerServer) finish(ctx context.Context) {
	h.closing.Store(true)
	_ = h.on.Close()
	select {
	case <-h.ended:
	case <-ctx.Done():
		return
	}
	for pause := time.Millisecond; ; pause = min(2*pause, maxPause) {
		h.SetKeepAlivesEnabled(false) // closes idle connections too
		if h.of.open.Load() == 0 {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// maxPause is the longest time between two looks at the connections of a shutdown.
const maxPause = 20 * time.Millisecond

// Wait returns when a listener has stopped; it returns nil after Shutdown.
func (l *Listening) Wait() error { return <-l.done }

// drain reports from now on that the server is shutting down.
func (s *Server) drain() {
	s.health.Close()
	if s.admin != nil {
		s.admin.Drain()
	}
}

// Drain prepares for Shutdown behind a load balancer. It returns after d, or when ctx ends.
// From now on /-/readyz reports that the server is shutting down. Requests are still answered,
// and each connection is closed after its next response.
func (l *Listening) Drain(ctx context.Context, d time.Duration) {
	l.server.drain()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// silentTime is how long Shutdown waits for the first byte on new connections. Clients open
// connections that they may never use.
const silentTime = time.Second

// Shutdown interrupts the jobs, closes the listeners and waits until pending requests are
// answered or ctx ends; then it closes the remaining connections.
func (l *Listening) Shutdown(ctx context.Context) error {
	l.server.drain()
	l.endWork()
	defer l.work.Wait()
	if a := l.server.admin; a != nil {
		a.Shutdown(ctx) // first, so that the requests of its jobs are answered
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
