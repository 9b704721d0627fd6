package gateway

import (
	"bytes"
	"cmp"
	"context"
	"crypto/cipher"
	"errors"
	"fmt"
	"html"
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
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/urn"
)

// GopherPort is the port of Gopher servers (RFC 1436, 3.2).
const GopherPort = 70

// GopherOptions configures a [Gopher]. The first three are required. Zero numbers select
// the defaults.
type GopherOptions struct {
	Resolver    nomen.Resolver // usually a [ForeignResolver]
	Store       store.Reader   // for lists of names
	Authorities *store.Table   // of the Store

	Host string // HOST or HOST:PORT in menus; "" for the local address of each connection

	Connections int           // open connections; default 200
	PerAddress  int           // open connections of one address; default 8
	Timeout     time.Duration // for receiving a selector, for resolving, and for sending each piece; default 20 s
	Page        int           // items of a page of a list; default 100
	Look        int           // records that are read for a page; default 10,000

	Log *slog.Logger // of failures; may be nil
}

// A Gopher serves Gopher clients (RFC 1436) menus: of the authorities, of their names if
// they list them, and of the locations of a name (1995, 4: Y95-53). It is safe for
// concurrent use.
//
// A selector is a name, optionally after a slash; the empty selector is the root. Locations
// with gopher URLs are items of their own type; other locations are items of type h with a
// selector that begins with "URL:".
type Gopher struct {
	o    GopherOptions
	host string
	port string

	places cipher.AEAD // encrypts the ends of pages that are not public

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
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gopher{o: o, places: newSeal(), on: map[net.Listener]bool{}, conns: map[net.Conn]netip.Addr{}}
	g.running, g.end = context.WithCancel(context.Background())
	if o.Host != "" {
		g.host, g.port = o.Host, ""
		if h, p, err := net.SplitHostPort(o.Host); err == nil {
			g.host, g.port = h, p
		}
		g.host = strings.Trim(g.host, "[]")
		if !isHost(strings.ToLower(g.host)) {
			return nil, fmt.Errorf("gateway: gopher: invalid host %q: must be HOST or HOST:PORT", o.Host)
		}
	}
	return g, nil
}

// Serve serves the clients of a listener until Shutdown, after which it returns nil.
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
		default: // for example too many open files
			g.o.Log.Warn("gopher: cannot accept a connection", "err", err)
			time.Sleep(pause)
			pause = min(2*pause, time.Second)
		}
	}
}

// Shutdown closes the listeners and waits until all connections are served. If ctx ends
// before, it closes the rest.
func (g *Gopher) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	g.ended = true
	for l := range g.on {
		_ = l.Close() // closed in any case
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

// accept serves a connection in the background, unless there are too many.
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

// The limits of what a client sends.
const (
	maxSelector = 4 << 10
	maxRest     = 64 << 10
)

// leastRate is how many bytes of a response a client must read per second, after a grace
// period of [GopherOptions].Timeout.
const leastRate = 4 << 10

// answer reads a selector and answers it.
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
	// Unread input of the client must not reset the connection before it has read the
	// response.
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c, maxRest)
	}
}

// watch returns a context that ends when the client closes its side of the connection. It
// discards the client's input until stop is called.
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

// readSelector reads up to CR LF or a bare LF.
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
	selectList        = "/-/list/" // PREFIX, and the end of the last page
	selectText        = "/-/text/" // NAME
	selectURL         = "URL:"
)

// serve responds to a selector, and to the text entered with it after a TAB.
func (g *Gopher) serve(ctx context.Context, m *menu, line string) {
	ctx = store.WithStaleness(ctx)
	selector, entered, _ := strings.Cut(line, "\t")
	entered, _, _ = strings.Cut(entered, "\t") // added by clients of Gopher+
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

// fail writes an error for a failure of this server and logs the cause. The store itself
// logs when it becomes unavailable.
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

// authorities lists the authorities with prefixes after the given one.
func (g *Gopher) authorities(m *menu, set *store.AuthoritySet, after string) {
	n := 0
	for _, a := range set.All() {
		prefix := a.Prefix.String()
		if prefix <= after {
			continue
		}
		if n++; n > g.o.Page {
			m.item('1', "More", selectAuthorities+" "+after)
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
		after = prefix
	}
	m.end()
}

// lists reports whether the names of an authority are listed publicly.
func lists(a *store.Authority) bool { return a.List && a.Access == "" }

// name writes the menu of a name, or of an element of the authority at the local address.
func (g *Gopher) name(ctx context.Context, m *menu, set *store.AuthoritySet, entered string) {
	s := Plain(entered)
	if s == "" {
		m.refuse("please enter a name")
		return
	}
	n, err := name.Parse(s)
	if a := set.At("", m.local); err != nil && a != nil && !strings.HasPrefix(strings.ToLower(s), "urn:") {
		if joined, second := a.Prefix.Join(s); second == nil {
			n, err = joined, nil
		}
	}
	var bad *name.Error
	if errors.As(err, &bad) {
		m.refuse(fmt.Sprintf("invalid name: offset %d: %s: %s", bad.Offset, bad.Rule, bad.Message))
		return
	}
	if own := set.Of(n); own != nil && own.Delegation == nil {
		if request := own.Prefix.Element(n); strings.HasPrefix(request, urn.ReservedPrefix) {
			g.reserved(ctx, m, set, own, request)
			return
		}
	}
	a, err := g.o.Resolver.Resolve(ctx, nomen.Question{Name: n, Service: nomen.I2C})
	if err != nil {
		g.problem(m, n, err)
		return
	}
	m.describe(n, a)
	m.end()
}

// reserved responds to a reserved request about an authority that is served here (1995, 3.5:
// Y95-55 to Y95-59).
func (g *Gopher) reserved(ctx context.Context, m *menu, set *store.AuthoritySet, a *store.Authority, request string) {
	prefix := a.Prefix.String()
	if no := a.Refuses(prefix); no != nil {
		m.refuse(prefix + ": " + no.Message)
		return
	}
	switch request {
	case "urn+m":
		m.say("This is the resolver of the naming authority " + prefix + ".")
		for _, line := range []struct{ what, text string }{{"", a.Description}, {"contact: ", a.Contact}, {"owners: ", strings.Join(a.Owners, ", ")}} {
			if line.text != "" {
				m.say(line.what + line.text)
			}
		}
		if lists(a) {
			m.item('1', "Its names", selectList+prefix)
		}
	case "urn+a":
		if !lists(a) {
			m.refuse(prefix + ": this naming authority does not list its names")
			return
		}
		g.list(ctx, m, set, prefix, "")
		return
	case "urn+c":
		m.authorities(set, "No child authorities are known.", a.Children)
	case "urn+p":
		m.authorities(set, "No parent authorities are known.", a.Parents)
	default:
		m.refuse(request + ": unknown reserved request")
		return
	}
	m.end()
}

// authorities writes an item for each naming authority. It leads to the description of the
// authority if that is served here.
func (m *menu) authorities(set *store.AuthoritySet, none string, all []string) {
	if len(all) == 0 {
		m.say(none)
	}
	for _, s := range all {
		if p, err := name.ParsePrefix(s); err == nil && set.Exactly(p) != nil {
			m.item('1', s, p.Spell("urn+m"))
			continue
		}
		m.say(s)
	}
}

// problem writes why a name cannot be resolved.
func (g *Gopher) problem(m *menu, n name.Name, err error) {
	var e *nomen.Error
	ok := errors.As(err, &e)
	var limit *LimitError
	limited := errors.As(err, &limit)
	switch {
	case ok && e.Kind == nomen.Gone && e.Answer != nil:
		m.say("This name was retired.")
		m.describe(n, e.Answer)
		m.end()
	case ok:
		m.refuse(fmt.Sprintf("%s: %s: %s", n, e.Kind, e.Message))
		for _, s := range e.Suggestions {
			m.item('1', "Perhaps "+s, s)
		}
	case limited:
		m.refuse("too many requests; please try again in " + RetryAfter(limit) + " s")
	case errors.Is(err, nomen.ErrLoop):
		m.refuse("the resolvers of the name redirect in a loop")
	case errors.Is(err, nomen.ErrUpstream):
		m.refuse("the resolver of the name cannot be reached; please try again later")
	default:
		g.fail(m, n.Key(), err)
	}
}

// text writes the description of a name.
func (g *Gopher) text(ctx context.Context, m *menu, s string) {
	n, err := name.Parse(Plain(s))
	if err != nil {
		m.refuse("invalid name")
		return
	}
	a, err := g.o.Resolver.Resolve(ctx, nomen.Question{Name: n, Service: nomen.I2C})
	var e *nomen.Error
	if errors.As(err, &e) && e.Answer != nil {
		a, err = e.Answer, nil
	}
	if err != nil {
		g.problem(m, n, err)
		return
	}
	var b bytes.Buffer
	if err := format.WriteText(&b, a); err != nil {
		g.fail(m, n.Key(), err)
		return
	}
	m.b.Reset()
	for line := range strings.Lines(b.String()) {
		line = plainLine(strings.TrimRight(line, "\r\n"))
		if strings.HasPrefix(line, ".") {
			line = "." + line // RFC 1436, 3.8
		}
		m.b.WriteString(line + "\r\n")
	}
	m.end()
}

// elsewherePage returns a page with a link, for clients that do not understand selectors
// with a URL.
func elsewherePage(url string) string {
	const layout = "<!DOCTYPE html>\r\n<html lang=\"en\">\r\n<head><meta charset=\"utf-8\"><title>Elsewhere</title></head>\r\n<body>\r\n<p>%s</p>\r\n</body>\r\n</html>\r\n"
	if !location.IsLink(url) {
		return fmt.Sprintf(layout, "This is not a link that is safe to follow.")
	}
	to := html.EscapeString(url)
	return fmt.Sprintf(layout, `This leads to another site: <A HREF="`+to+`" rel="noreferrer">`+to+`</A>`)
}

// A menu is a menu being written.
type menu struct {
	b          bytes.Buffer
	host, port string
	local      netip.Addr // local address of the connection
	items      int
}

// menu returns an empty menu for a connection.
func (g *Gopher) menu(c net.Conn) *menu {
	m := &menu{host: g.host, port: g.port}
	if ap, err := netip.ParseAddrPort(c.LocalAddr().String()); err == nil {
		m.local = ap.Addr().Unmap().WithZone("")
		m.host, m.port = cmp.Or(m.host, m.local.String()), cmp.Or(m.port, strconv.Itoa(int(ap.Port())))
	}
	return m
}

// maxItems bounds a menu, because answers of other servers may be long.
const maxItems = 1000

// line writes one line of a menu. The fields must not contain a TAB or a line break.
func (m *menu) line(kind byte, title, selector, host, port string) {
	if m.items++; m.items > maxItems {
		return
	}
	m.b.WriteByte(kind)
	m.b.WriteString(title + "\t" + selector + "\t" + host + "\t" + port + "\r\n")
}

// item writes an item on this server. A selector with a control character would be
// truncated, so it becomes plain text.
func (m *menu) item(kind byte, title, selector string) {
	title = short(title)
	if strings.ContainsFunc(selector, unicode.IsControl) || len(selector) > maxSelector-2 {
		m.say(title)
		return
	}
	m.line(kind, title, selector, m.host, m.port)
}

// say writes lines of text.
func (m *menu) say(text string) {
	const most = 20
	lines := wrap(plainLine(text))
	for _, s := range lines[:min(len(lines), most)] {
		m.line('i', s, "", "error.host", "1")
	}
}

// refuse replaces the menu by an error.
func (m *menu) refuse(why string) {
	m.b.Reset()
	m.b.WriteString(refusalLine(why))
	m.end()
}

func refusalLine(why string) string { return "3" + short(why) + "\t\terror.host\t1\r\n" }

// end writes the last line.
func (m *menu) end() { m.b.WriteString(".\r\n") }

// describe writes the record of a name, with its locations as items.
func (m *menu) describe(n name.Name, a *nomen.Answer) {
	m.say(n.Key())
	if !a.StaleSince.IsZero() {
		m.say("The storage is unavailable: this was current at " + a.StaleSince.UTC().Format(time.RFC3339))
	}
	for _, element := range []string{"title", "creator", "publisher", "date"} {
		for _, value := range a.Metadata[element] {
			m.say(element + ": " + value)
		}
	}
	if a.Reason != "" {
		m.say("reason: " + a.Reason)
	}
	for _, why := range a.Why {
		m.say(why)
	}
	m.item('0', "Complete record", selectText+n.Key())
	for _, s := range a.Successors {
		m.item('1', "Use instead: "+s.Key(), s.Key())
	}
	if len(a.Locations) > 0 {
		m.say("Where it is:")
	}
	for _, l := range a.Locations {
		m.location(l)
	}
	for _, s := range a.Names {
		if other, err := name.Parse(s); err == nil && isForeign(other) {
			m.item('1', "Also named "+s, s)
		}
	}
}

// location writes the item of a location. For a gopher URL it is the item of its server
// (1995, 4: Y95-53).
func (m *menu) location(l nomen.Location) {
	var b bytes.Buffer
	_ = format.GopherMenu(&b, &nomen.Answer{Locations: []nomen.Location{l}}) // cannot fail for a buffer
	if item := strings.TrimSuffix(b.String(), ".\r\n"); item != "" {
		if m.items++; m.items <= maxItems {
			m.b.WriteString(item)
		}
		return
	}
	note, _, _ := strings.Cut(strings.TrimSpace(l.Note), "\n")
	title := cmp.Or(note, l.URL)
	if l.Type != "" {
		title += " (" + l.Type + ")"
	}
	if !location.IsLink(l.URL) {
		m.say(l.URL)
		return
	}
	m.item('h', title, selectURL+l.URL)
}

// plainLine returns s on one line, with control characters escaped.
func plainLine(s string) string { return strings.TrimRight(shown.Inline(s), " ") }

// width is how many characters of a title clients show (RFC 1436, 3.9).
const width = 70

// short truncates a title to the length that clients show.
func short(s string) string {
	r := []rune(plainLine(s))
	return string(r[:min(len(r), width)])
}

// wrap breaks a long line, at a space if possible.
func wrap(s string) []string {
	var lines []string
	r := []rune(s)
	for len(r) > width {
		at := width
		for i := width; i > width/2; i-- {
			if r[i] == ' ' {
				at = i
				break
			}
		}
		lines = append(lines, strings.TrimRight(string(r[:at]), " "))
		r = []rune(strings.TrimLeft(string(r[at:]), " "))
	}
	return append(lines, string(r))
}
