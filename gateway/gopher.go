package gateway

import (
	"bytes"
	"cmp"
	"context"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// GopherPort is the port of Gopher servers (RFC 1436, 3.2).
const GopherPort = 70

// GopherOptions configures a [Gopher]. Resolver, Store and Authorities are required. A number of
// zero means the default.
type GopherOptions struct {
	Resolver    nomen.Resolver // usually a [ForeignResolver]
	Store       store.Reader   // contains the lists of names
	Authorities *store.Table   // the authorities in Store

	Host string // HOST or HOST:PORT in menus; if "", the local address of each connection

	Connections int           // maximum number of open connections; default 200
	PerAddress  int           // maximum number of open connections from one address; default 8
	Timeout     time.Duration // maximum time for receiving a selector, for resolving, and for sending each part
	Page        int           // maximum number of items on a page of a list; default 100
	Look        int           // maximum number of records to read for a page; default 10,000

	// Counted is called with the name of each record whose description is sent, or whose lookup
	// failed with an error. It may be nil.
	Counted func(from netip.Addr, n name.Name, err error)

	Log *slog.Logger // receives failures; may be nil
}

// A Gopher serves menus to Gopher clients (RFC 1436): the authorities, the names of an authority
// that lists its names, and the locations of a name (draft of 1995, 4: Y95-53). It is safe for
// concurrent use.
//
// A selector is a name, with or without a slash before it; the empty selector is the root. If a
// location is a gopher URL, its menu item has the item type in this URL. The item of any other
// location has the type h and a selector that begins with "URL:".
type Gopher struct {
	o    GopherOptions
	host string
	port string

	places cipher.AEAD // encrypts keys in selectors that are not public

	mu    sync.Mutex
	on    map[net.Listener]bool
	conns map[net.Conn]netip.Addr
	ended bool
	busy  sync.WaitGroup

	running context.Context // context of all requests
	end     context.CancelFunc
}

// NewGopher returns a server, or an error if the options are invalid.
func NewGopher(o GopherOptions) (*Gopher, error) {
	if o.Resolver == nil || o.Store == nil || o.Authorities == nil {
		return nil, errors.New("gateway: gopher: Resolver, Store and Authorities are required")
	}
	o.Connections, o.PerAddress = cmp.Or(o.Connections, 200), cmp.Or(o.PerAddress, 8)
	o.Timeout, o.Page = cmp.Or(o.Timeout, 20*time.Second), cmp.Or(o.Page, 100)
	o.Look = cmp.Or(o.Look, 10_000)
	if o.Counted == nil {
		o.Counted = func(netip.Addr, name.Name, error) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gopher{o: o, places: newSeal(), on: map[net.Listener]bool{}, conns: map[net.Conn]netip.Addr{}}
	g.running, g.end = context.WithCancel(context.Background())
	if err := g.setHost(o.Host); err != nil {
		return nil, err
	}
	return g, nil
}

// CheckGopherHost returns an error if [GopherOptions].Host must not have this value.
func CheckGopherHost(text string) error { return new(Gopher).setHost(text) }

// setHost sets the host and the port in menus. The text "" means the local address of each
// connection.
func (g *Gopher) setHost(text string) error {
	if text == "" {
		return nil
	}
	g.host, g.port = text, ""
	if h, p, err := net.SplitHostPort(text); err == nil {
		g.host, g.port = h, p
	}
	if g.host = strings.Trim(g.host, "[]"); !isHost(strings.ToLower(g.host)) {
		return fmt.Errorf("gateway: gopher: invalid host %q: must be HOST or HOST:PORT", text)
	}
	return nil
}

// Serve serves the clients of a listener. It returns nil after Shutdown.
func (g *Gopher) Serve(l net.Listener) error {
	g.mu.Lock()
	g.on[l] = true
	ended := g.ended
	g.mu.Unlock()
	if ended {
		return l.Close()
	}
	for pause := time.Millisecond; ; {
		c, err := l.Accept()
		g.mu.Lock()
		ended = g.ended
		g.mu.Unlock()
		switch {
		case err == nil:
			pause = time.Millisecond
			g.accept(c)
		case ended:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("gateway: gopher: %w", err)
		default: // for example because too many files are open
			g.o.Log.Warn("gopher: cannot accept a connection", "err", err)
			time.Sleep(pause)
			pause = min(2*pause, time.Second)
		}
	}
}

// Shutdown closes the listeners and waits until all connections are served. When ctx ends, it
// closes the remaining connections.
func (g *Gopher) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	g.ended = true
	for l := range g.on {
		_ = l.Close() // the listener is closed even after an error
	}
	g.mu.Unlock()
	done := make(chan struct{})
	go func() {
		g.busy.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	g.end()
	g.mu.Lock()
	for c := range g.conns {
		_ = c.Close()
	}
	g.mu.Unlock()
	<-done
	return ctx.Err()
}

// Connections returns the number of open connections.
func (g *Gopher) Connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.conns)
}

// accept serves a connection in the background, or closes it if too many are open.
func (g *Gopher) accept(c net.Conn) {
	from := remote(c)
	g.mu.Lock()
	same := 0
	for _, other := range g.conns {
		if Guest(other) == Guest(from) {
			same++
		}
	}
	room := !g.ended && len(g.conns) < g.o.Connections && same < g.o.PerAddress
	if room {
		g.conns[c] = from
		g.busy.Add(1)
	}
	g.mu.Unlock()
	if !room {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(c, refusalLine("too many connections; please try again later"))
		_ = c.Close()
		return
	}
	go func() {
		defer func() {
			if v := recover(); v != nil {
				g.o.Log.Error("gopher: panic", "value", v)
			}
			_ = c.Close()
			g.mu.Lock()
			delete(g.conns, c)
			g.mu.Unlock()
			g.busy.Done()
		}()
		g.answer(c, from)
	}()
}

func remote(c net.Conn) netip.Addr {
	ap, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// Limits for input from a client.
const (
	maxSelector = 4 << 10
	maxRest     = 64 << 10
)

// leastRate is the minimum average speed at which a client must read a response, in bytes per
// second. The time limit for a response is [GopherOptions].Timeout, plus the length of the response
// divided by leastRate.
const leastRate = 4 << 10

func (g *Gopher) answer(c net.Conn, from netip.Addr) {
	_ = c.SetReadDeadline(time.Now().Add(g.o.Timeout))
	line, ok := readSelector(c)
	m := g.menu(c)
	if ok {
		left, stop := watch(c)
		ctx, cancel := context.WithTimeout(WithClient(g.running, &Client{Addr: from, Gone: left, Grace: LeaveGrace}), g.o.Timeout)
		g.serve(ctx, m, line)
		cancel()
		stop()
	} else {
		m.refuse("invalid selector: must be one line, at most " + strconv.Itoa(maxSelector) + " bytes")
	}
	out := m.b.Bytes()
	_ = c.SetWriteDeadline(time.Now().Add(g.o.Timeout + time.Duration(len(out)/leastRate)*time.Second))
	if _, err := c.Write(out); err != nil {
		return
	}
	// Closing a connection with unread input would reset it, and the client could lose the
	// response.
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c, maxRest)
	}
}

// watch discards what the client sends until stop is called. The context left ends when the client
// closes its side of the connection.
func watch(c net.Conn) (left context.Context, stop func()) {
	left, cancel := context.WithCancel(context.Background())
	_ = c.SetReadDeadline(time.Time{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.CopyN(io.Discard, c, maxRest)
		cancel()
	}()
	return left, func() {
		_ = c.SetReadDeadline(time.Now())
		<-done
	}
}

func readSelector(r io.Reader) (string, bool) {
	b := make([]byte, 0, 256)
	for len(b) < maxSelector {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):min(cap(b), maxSelector)])
		if i := bytes.IndexByte(b[len(b):len(b)+n], '\n'); i >= 0 {
			return strings.TrimSuffix(string(b[:len(b)+i]), "\r"), true
		}
		if b = b[:len(b)+n]; err != nil {
			return "", false
		}
	}
	return "", false
}

// The selectors that are not names.
const (
	selectSearch      = "/-/name"
	selectAuthorities = "/-/authorities"
	selectList        = "/-/list/" // followed by PREFIX, and the end of the previous page
	selectText        = "/-/text/" // followed by NAME
	selectURL         = "URL:"
)

// serve writes the response to a selector. In line, a TAB and a text that the user has entered may
// follow the selector.
func (g *Gopher) serve(ctx context.Context, m *menu, line string) {
	ctx = store.WithStaleness(ctx)
	selector, entered, _ := strings.Cut(line, "\t")
	entered, _, _ = strings.Cut(entered, "\t") // Gopher+ clients add another TAB and more text
	if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		m.refuse("invalid selector: control character")
		return
	}
	set, err := g.o.Authorities.Set(ctx, time.Time{})
	if err != nil {
		g.fail(m, line, err)
		return
	}
	after := ""
	list, isList := strings.CutPrefix(selector, selectList)
	if isList || strings.HasPrefix(selector, selectAuthorities) {
		selector, after, _ = strings.Cut(selector, " ")
		list, _, _ = strings.Cut(list, " ")
	}
	text, isText := strings.CutPrefix(selector, selectText)
	url, isURL := strings.CutPrefix(selector, selectURL)
	switch {
	case selector == "", selector == "/":
		g.root(m, set)
	case selector == selectAuthorities:
		g.authorities(m, set, after)
	case isList:
		g.list(ctx, m, set, list, after)
	case selector == selectSearch:
		g.name(ctx, m, set, entered)
	case isText:
		g.text(ctx, m, text)
	case isURL:
		m.b.Reset()
		m.b.WriteString(elsewherePage(url))
	default:
		g.name(ctx, m, set, strings.TrimPrefix(selector, "/"))
	}
}

// fail writes an error about a failure of this server and logs the cause. If the store is
// unavailable, fail logs nothing, because the store logs this itself.
func (g *Gopher) fail(m *menu, what string, err error) {
	var away *store.AwayError
	if errors.As(err, &away) {
		m.refuse("the storage is unavailable; please try again in " + away.RetryAfter() + " s")
		return
	}
	g.o.Log.Error("gopher: request failed", "selector", what, "err", err)
	m.refuse("the resolver failed; please try again later")
}

func (g *Gopher) root(m *menu, set *store.AuthoritySet) {
	m.say("This server resolves persistent names.")
	m.item('7', "Enter a name, such as urn:ietf:rfc:2648", selectSearch)
	m.say("")
	m.say("The naming authorities here:")
	g.authorities(m, set, "")
}

// authorities writes a menu of the authorities whose prefixes sort after last.
func (g *Gopher) authorities(m *menu, set *store.AuthoritySet, last string) {
	n := 0
	for _, a := range set.All() {
		prefix := a.Prefix.String()
		if prefix <= last {
			continue
		}
		if n++; n > g.o.Page {
			m.item('1', "More", selectAuthorities+" "+last)
			break
		}
		title := prefix
		if a.Description != "" {
			title += ": " + a.Description
		}
		if lists(a) {
			m.item('1', title, selectList+prefix)
		} else {
			m.say(title)
		}
		last = prefix
	}
	m.end()
}
