package pgtest

import (
	"errors"
	"net"
	"strings"
	"sync"
	"time"
)

// A Proxy simulates a slow or interrupted network between clients and a server. It is made by
// [NewProxy], and is safe for concurrent use.
type Proxy struct {
	l  net.Listener
	to string

	mu    sync.Mutex
	delay time.Duration
	whole chan struct{} // closed while the network is whole
	conns map[net.Conn]bool
	ended bool
	busy  sync.WaitGroup
}

// NewProxy starts a proxy for s on a free port of the loopback interface.
func NewProxy(s *Server) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{l: l, to: s.Addr(), whole: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.whole)
	p.busy.Go(p.serve)
	return p, nil
}

// URL returns the connection string of a server through the proxy.
func (p *Proxy) URL(s *Server) string {
	return strings.Replace(s.URL(), s.Addr(), p.l.Addr().String(), 1)
}

// Delay delays all data in both directions by d.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Cut blocks all traffic until [Proxy.Mend] is called. Connections stay open and new connections
// are accepted, but no data is passed on.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = make(chan struct{})
}

// Mend ends the effect of [Proxy.Cut], and passes the blocked data on.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.whole:
	default:
		close(p.whole)
	}
}

// Close closes the proxy and its connections.
func (p *Proxy) Close() error {
	err := p.l.Close()
	p.mu.Lock()
	p.ended = true
	for c := range p.conns {
		err = errors.Join(err, c.Close())
	}
	p.mu.Unlock()
	p.Mend()
	p.busy.Wait()
	return err
}

func (p *Proxy) serve() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return
		}
		p.busy.Go(func() { p.pass(c) })
	}
}

// pass connects a client to the server until either ends.
func (p *Proxy) pass(c net.Conn) {
	if !p.keep(c) {
		return
	}
	defer p.drop(c)
	p.pause()
	server, err := net.Dial("tcp", p.to)
	if err != nil || !p.keep(server) {
		return
	}
	defer p.drop(server)
	var ways sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, server}, {server, c}} {
		ways.Go(func() {
			defer func() { _, _ = way[0].Close(), way[1].Close() }()
			b := make([]byte, 64<<10)
			for {
				n, err := way[0].Read(b)
				p.pause()
				if _, werr := way[1].Write(b[:n]); err != nil || werr != nil {
					return
				}
			}
		})
	}
	ways.Wait()
}

// pause waits for the delay, and after a Cut until Mend is called.
func (p *Proxy) pause() {
	p.mu.Lock()
	delay, whole := p.delay, p.whole
	p.mu.Unlock()
	time.Sleep(delay)
	<-whole
}

// keep registers a connection, or closes it if the proxy is closed.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		_ = c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	_ = c.Close() // it may be closed already
}
