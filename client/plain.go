package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A plain sends requests without a body to http URLs, over persistent connections. It works in the
// goroutine of the caller, so it takes half as much CPU time as the transport of net/http, which
// passes requests and responses between goroutines. A plain passes all other requests to net/http.
type plain struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	other   *http.Transport
	maxIdle int // idle connections to a host

	mu      sync.Mutex
	idle    map[string][]*kept // by host and port; the most recently used last
	count   int                // number of idle connections
	watched bool               // a sweep is scheduled
}

// A kept is a persistent connection, for one request at a time.
type kept struct {
	net.Conn
	in   *bufio.Reader
	head io.LimitedReader // limits the head of a response, but not its body
	out  *bufio.Writer
	used time.Time // when it became idle
	old  bool      // it was used for a request before

	quiet func() bool // reports whether nothing arrived while the connection was idle

	public  bool // the remote address is public or unknown
	limited bool // the connection has a deadline
}

// maxIdleTime is how long a connection may be idle. Servers close idle connections after a minute
// or two.
const maxIdleTime = 30 * time.Second

// maxIdleAll is the maximum number of idle connections to all hosts together, unless the limit for
// a single host is higher.
const maxIdleAll = 256

func newPlain(dial func(ctx context.Context, network, address string) (net.Conn, error), other *http.Transport, maxIdle int) *plain {
	return &plain{dial: dial, other: other, maxIdle: maxIdle, idle: map[string][]*kept{}}
}

func (p *plain) RoundTrip(req *http.Request) (*http.Response, error) {
	if !p.carries(req.URL) || req.Body != nil {
		return p.other.RoundTrip(req)
	}
	resp, _, err := p.roundTrip(req, time.Time{})
	return resp, err
}

// carries reports whether this transport can send requests to a URL. Internationalized host names
// need net/http, which converts them to ASCII.
func (p *plain) carries(u *url.URL) bool {
	return u.Scheme == "http" && strings.IndexFunc(u.Host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// roundTrip sends a request, and reports whether the response came from a public address. The
// request and the body of the response are canceled when the context ends, or at the deadline if it
// is not zero.
func (p *plain) roundTrip(req *http.Request, deadline time.Time) (_ *http.Response, public bool, _ error) {
	if !validTarget(req.URL.Host) || !validTarget(req.URL.RequestURI()) {
		return nil, true, errControl
	}
	address := req.URL.Host
	if req.URL.Port() == "" {
		address = net.JoinHostPort(req.URL.Hostname(), "80")
	}
	for {
		c, err := p.connection(req.Context(), address, deadline)
		if err != nil {
			return nil, true, err
		}
		resp, err := p.exchange(c, address, req, deadline)
		if err == nil {
			return resp, c.public, nil
		}
		c.Close()
		// The server may have closed the idle connection. Because there was no response, the
		// request can be repeated safely (RFC 9110, section 9.2.2).
		if !c.old || !errors.Is(err, errNoAnswer) || req.Context().Err() != nil || over(deadline) {
			return nil, c.public, err
		}
	}
}

var errNoAnswer = errors.New("connection closed before a response")

func over(deadline time.Time) bool { return !deadline.IsZero() && !time.Now().Before(deadline) }

func (p *plain) connection(ctx context.Context, address string, deadline time.Time) (*kept, error) {
	for c := p.take(address); c != nil; c = p.take(address) {
		if time.Since(c.used) < maxIdleTime {
			return c, nil
		}
		c.Close()
	}
	if !deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	conn, err := p.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &kept{Conn: conn, out: bufio.NewWriterSize(conn, 2<<10), public: isPublic(conn), quiet: quiet(conn)}
	c.head.R = conn
	c.in = bufio.NewReaderSize(&c.head, 4<<10)
	return c, nil
}

// isPublic reports whether the remote address is public. An unknown address counts as public.
func isPublic(conn net.Conn) bool {
	ap, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	return err != nil || public(ap.Addr())
}

func (p *plain) take(address string) *kept {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.idle[address]
	if len(all) == 0 {
		return nil
	}
	c := all[len(all)-1]
	p.remove(address, len(all)-1, len(all))
	return c
}

func (p *plain) remove(address string, i, j int) {
	p.count -= j - i
	p.idle[address] = slices.Delete(p.idle[address], i, j)
	if len(p.idle[address]) == 0 {
		delete(p.idle, address)
	}
}

// give makes a connection available for the next request.
func (p *plain) give(address string, c *kept) {
	c.used, c.old = time.Now(), true
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle[address]) >= p.maxIdle {
		c.Close()
		return
	}
	if p.count >= max(p.maxIdle, maxIdleAll) {
		p.closeOldest()
	}
	p.idle[address] = append(p.idle[address], c)
	p.count++
	p.watch()
}

func (p *plain) closeOldest() {
	oldest := ""
	for address, all := range p.idle {
		if oldest == "" || all[0].used.Before(p.idle[oldest][0].used) {
			oldest = address
		}
	}
	p.idle[oldest][0].Close()
	p.remove(oldest, 0, 1)
}

// watch schedules a sweep, unless a sweep is scheduled.
func (p *plain) watch() {
	if !p.watched && p.count > 0 {
		p.watched = true
		time.AfterFunc(maxIdleTime, p.sweep)
	}
}

// sweep closes connections that have been idle for too long.
func (p *plain) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for address, all := range p.idle {
		n := 0
		for n < len(all) && time.Since(all[n].used) >= maxIdleTime {
			all[n].Close()
			n++
		}
		p.remove(address, 0, n)
	}
	p.watched = false
	p.watch()
}

func (p *plain) CloseIdleConnections() {
	p.other.CloseIdleConnections()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, all := range p.idle {
		for _, c := range all {
			c.Close()
		}
	}
	clear(p.idle)
	p.count = 0
}

func (p *plain) exchange(c *kept, address string, req *http.Request, deadline time.Time) (*http.Response, error) {
	ctx := req.Context()
	if t := httptrace.ContextClientTrace(ctx); t != nil && t.GotConn != nil {
		t.GotConn(httptrace.GotConnInfo{Conn: c.Conn, Reused: c.old})
	}
	if c.limited || !deadline.IsZero() {
		c.SetDeadline(deadline)
		c.limited = !deadline.IsZero()
	}
	if c.old && !c.quiet() { // the server has closed the connection, perhaps with a response such as 408
		return nil, errNoAnswer
	}
	hop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	resp, err := c.ask(req)
	if err != nil {
		hop()
		return nil, err
	}
	resp.Body = &plainBody{ReadCloser: resp.Body, plain: p, address: address, conn: c, hop: hop, keep: !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols}
	return resp, nil
}

func (c *kept) ask(req *http.Request) (*http.Response, error) {
	writeHead(c.out, req)
	if err := c.out.Flush(); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	c.head.N = maxHead
	if _, err := c.in.Peek(1); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, noEOF(err))
	}
	resp, err := readHead(c.in, &c.head, req)
	c.head.N = 1<<63 - 1 // the body has a limit of its own
	return resp, err
}

// writeHead writes the head of an HTTP/1.1 request. It omits fields without a value. The caller
// must have checked the fields.
func writeHead(w *bufio.Writer, req *http.Request) {
	w.WriteString(req.Method + " ")
	w.WriteString(req.URL.RequestURI())
	w.WriteString(" HTTP/1.1\r\nHost: ")
	w.WriteString(hostField(req.URL.Host))
	w.WriteString("\r\n")
	for name, values := range req.Header {
		for _, v := range values {
			if v != "" {
				w.WriteString(name + ": " + v + "\r\n")
			}
		}
	}
	w.WriteString("\r\n")
}

// hostField returns the Host field for a host, without the zone of an IPv6 address (RFC 6874, 3).
func hostField(host string) string {
	address, zone, ok := strings.Cut(host, "%")
	if _, port, end := strings.Cut(zone, "]"); ok && end {
		return address + "]" + port
	}
	return host
}

type plainBody struct {
	io.ReadCloser
	plain   *plain
	address string
	conn    *kept
	hop     func() bool
	keep    bool
	ended   bool
}

func (b *plainBody) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.end(b.keep)
	}
	return n, err
}

func (b *plainBody) Close() error {
	b.end(false)
	return nil
}

// end makes the connection available again. If the request was canceled, end closes the connection,
// which then has a deadline in the past.
func (b *plainBody) end(whole bool) {
	if b.ended {
		return
	}
	b.ended = true
	if b.hop() && whole && b.conn.in.Buffered() == 0 {
		b.plain.give(b.address, b.conn)
		return
	}
	b.conn.Close()
}
