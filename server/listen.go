package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen/internal/wire"
)

// A Listening is a server that accepts connections.
type Listening struct {
	server  *Server
	Public  net.Addr // address of the public listener; nil if there is none
	Admin   net.Addr // address of the admin listener; nil if there is none
	servers []*http.Server
	done    chan error

	endWork context.CancelFunc // of the admin API in the background
	work    sync.WaitGroup
}

// Listen opens the listeners and serves in the background. An empty address opens no listener.
// An address without a port gets the default port, and port 0 means any free port. If t is not
// nil, it is the TLS configuration of the public listener.
func (s *Server) Listen(public, admin string, t *tls.Config) (*Listening, error) {
	var lc net.ListenConfig
	open := func(which, address string, port int) (net.Listener, error) {
		l, err := lc.Listen(context.Background(), "tcp", withPort(address, port))
		if err != nil {
			return nil, fmt.Errorf("server: %s listener: %w", which, err)
		}
		return l, nil
	}
	var publicListener, adminListener net.Listener
	var err error
	if public != "" {
		if publicListener, err = open("public", public, defaultPort); err != nil {
			return nil, err
		}
	}
	if admin != "" {
		if adminListener, err = open("admin", admin, defaultAdminPort); err != nil {
			if publicListener != nil {
				publicListener.Close()
			}
			return nil, err
		}
	}
	return s.Serve(publicListener, adminListener, t), nil
}

// Serve serves on listeners of the caller in the background: HTTP and the protocol of
// 1995 on the public one, the admin API on the other. Either can be nil. It takes over
// the listeners, which Shutdown closes, and applies the limits of the server to their
// connections. t is as in Listen.
//
// The listeners can be TLS listeners whose connections are of type [*tls.Conn], such as those
// of [tls.NewListener] and of ACME clients; t must be nil then. Such listeners serve HTTP/2 to
// clients that negotiate "h2". Clients of HTTP/1.0 and of the protocol of 1995 need not
// negotiate a protocol.
func (s *Server) Serve(public, admin net.Listener, t *tls.Config) *Listening {
	l := &Listening{server: s, done: make(chan error, 2)}
	limited := func(l net.Listener) *limitedListener {
		return newLimitedListener(l, s.limits.Connections, s.limits.PerAddress, s.isShared, s.metrics.Refused)
	}
	if public != nil {
		l.Public = public.Addr()
		of := limited(public)
		l.serve(s.publicServer(), of, s.onWire(of, t))
	}
	if admin != nil {
		l.Admin = admin.Addr()
		of := limited(admin)
		l.serve(s.adminServer(), of, bareListener{of})
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.endWork = cancel
	if s.admin != nil {
		l.work.Go(func() { s.admin.Run(ctx) })
	}
	return l
}

// withPort adds the port to an address that has none.
func withPort(address string, port int) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), strconv.Itoa(port))
}

// onWire wraps a listener in TLS, if configured, and in the listener of package wire.
func (s *Server) onWire(l net.Listener, t *tls.Config) net.Listener {
	if t != nil {
		t = t.Clone()
		t.NextProtos = []string{"h2", "http/1.1", "http/1.0"}
		l = tls.NewListener(l, t)
	}
	return wire.NewListener(l, wire.Config{
		HeadTimeout: s.limits.HeadTimeout, IdleTimeout: s.limits.IdleTimeout, WriteTimeout: s.limits.Timeout,
		Short: s.short, Now: s.now, Log: s.log,
	})
}

// maxStreams limits the concurrent requests on an HTTP/2 connection.
const maxStreams = 64

func (s *Server) publicServer() *http.Server {
	h := s.limitedServer(s.wrap(s.Public()))
	h.ConnContext = wire.ConnContext
	h.DisableGeneralOptionsHandler = true // its response to "OPTIONS *" is empty
	h.Protocols = new(http.Protocols)
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetHTTP2(true) // only over TLS
	h.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	return h
}

func (s *Server) adminServer() *http.Server {
	if s.admin == nil {
		return s.limitedServer(http.NotFoundHandler())
	}
	return s.limitedServer(s.admin)
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
	l.servers = append(l.servers, h)
	go func() {
		err := h.Serve(on)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		l.done <- err
	}()
}

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

// Shutdown interrupts the jobs, closes the listeners and waits until pending requests are
// answered or ctx ends; then it closes the remaining connections.
func (l *Listening) Shutdown(ctx context.Context) error {
	l.server.drain()
	l.endWork()
	defer l.work.Wait()
	if a := l.server.admin; a != nil {
		a.Shutdown(ctx) // first, so that the requests of its jobs are answered
	}
	errs := make([]error, len(l.servers))
	var wg sync.WaitGroup
	for i, h := range l.servers {
		wg.Go(func() {
			if errs[i] = h.Shutdown(ctx); errs[i] != nil {
				errs[i] = errors.Join(errs[i], h.Close())
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
