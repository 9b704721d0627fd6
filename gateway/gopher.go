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

// GopherPort is that of Gopher servers (RFC 1436, 3.2).
const GopherPort = 70

// GopherOptions configure a [Gopher]. The first three are needed; a zero number is
// the default.
type GopherOptions struct {
	Resolver    nomen.Resolver // best a [World]
	Store       store.Reader   // holds the lists of names
	Authorities *store.Table   // of the Store

	Host string // HOST or HOST:PORT as menus have it; "" for where a connection arrived

	Connections int           // open at once; 200
	PerAddress  int           // of them from one address; 8
	Timeout     time.Duration // for a selector to come, for an answer, and for each piece to go; 20 s
	Page        int           // items of a list; 100
	Look        int           // records that are looked at for a page of it; 10,000

	Log *slog.Logger // of failures; discards if nil
}

// A Gopher answers Gopher clients (RFC 1436) with menus: of the authorities, of
// their names where they list them, and of the locations of a name (1995, 4:
// Y95-53). It is safe for concurrent use.
//
// A selector is a name, perhaps with a slash before it; the empty one is the root.
// Locations of gopher URLs are items of their own type, others those of the type
// h with a selector that begins with "URL:".
type Gopher struct {
	o    GopherOptions
	host string
	port string

	places cipher.AEAD // seals where a page ended at what is not for everybody

	mu    sync.Mutex
	on    map[net.Listener]bool
	conns map[net.Conn]netip.Addr
	ended bool
	busy  sync.WaitGroup

	running context.Context // of all that is asked
	end     context.CancelFunc
}

// NewGopher returns a server. The error says what is wrong with an option.
func NewGopher(o GopherOptions) (*Gopher, error) {
	if o.Resolver == nil || o.Store == nil || o.Authorities == nil {
		return nil, errors.New("gateway: gopher: a resolver, a store and its authorities are needed")
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
			return nil, fmt.Errorf("gateway: gopher: %q is no HOST or HOST:PORT", o.Host)
		}
	}
	return g, nil
}

// Serve answers who comes to a listener, until Shutdown, when it returns nil.
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
		default: // too many open files, and the like
			g.o.Log.Warn("gopher: no connection", "err", err)
			time.Sleep(pause)
			pause = min(2*pause, time.Second)
		}
	}
}

// Shutdown closes the listeners and waits until who is there is answered, or ctx
// ends; then it cuts off the rest.
func (g *Gopher) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	g.ended = true
	for l := range g.on {
		_ = l.Close() // it ends in any case
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

// accept answers a connection in the background, if there is room for it.
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
		_, _ = io.WriteString(c, refusalLine("too many are here; please try again later"))
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

// The bounds of what a client sends.
const (
	maxSelector = 4 << 10
	maxRest     = 64 << 10
)

// leastRate is how many bytes of an answer a client must read a second, after a grace
// period of [GopherOptions].Timeout.
const leastRate = 4 << 10

// answer reads a selector and answers it.
func (g *Gopher) answer(c net.Conn, from netip.Addr) {
	_ = c.SetReadDeadline(time.Now().Add(g.o.Timeout))
	line, ok := readSelector(c)
	m := g.menu(c)
	if ok {
		left, stop := watch(c)
		ctx, cancel := context.WithTimeout(WithAsker(g.running, &Asker{Addr: from, Gone: left, Grace: LeaveGrace}), g.o.Timeout)
		g.serve(ctx, m, line)
		cancel()
		stop()
	} else {
		m.refuse("a selector is a line of at most " + strconv.Itoa(maxSelector) + " bytes")
	}
	out := m.b.Bytes()
	_ = c.SetWriteDeadline(time.Now().Add(g.o.Timeout + time.Duration(len(out)/leastRate)*time.Second))
	if _, err := c.Write(out); err != nil {
		return
	}
	// What the client sent beyond its line must not reset the connection before the
	// answer is read.
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c, maxRest)
	}
}

// watch returns a context that ends when the client closes its side of the connection.
// Until stop is called, what comes from it is read and forgotten.
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

// readSelector reads up to CR LF, or LF alone.
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

// The selectors that are no names.
const (
	selectSearch      = "/-/name"
	selectAuthorities = "/-/authorities"
	selectList        = "/-/list/" // PREFIX, and what the last page ended with
	selectText        = "/-/text/" // NAME
	selectURL         = "URL:"
)

// serve answers a selector, and what was entered with it after a TAB.
func (g *Gopher) serve(ctx context.Context, m *menu, line string) {
	ctx = store.WithStaleness(ctx)
	selector, entered, _ := strings.Cut(line, "\t")
	entered, _, _ = strings.Cut(entered, "\t") // what clients of Gopher+ add
	if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		m.refuse("a control character in the selector")
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

// fail tells of a failure of ours, of which the cause is logged. The store logs itself when
// it goes away.
func (g *Gopher) fail(m *menu, what string, err error) {
	var away *store.AwayError
	if errors.As(err, &away) {
		m.refuse("the names cannot be read at the moment; please try again in " + away.RetryAfter() + " s")
		return
	}
	g.o.Log.Error("gopher: no answer", "selector", what, "err", err)
	m.refuse("the resolver failed; please try again later")
}

func (g *Gopher) root(m *menu, set *store.AuthoritySet) {
	m.say("This server resolves persistent names.")
	m.item('7', "Enter a name, such as urn:ietf:rfc:2648", selectSearch)
	m.say("")
	m.say("The naming authorities here:")
	g.authorities(m, set, "")
}

// authorities lists the authorities whose prefixes come after one.
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

// lists reports whether everybody may see the names of an authority.
func lists(a *store.Authority) bool { return a.List && a.Access == "" }

// name is the menu of a name, or of an element of the authority that is asked at
// this address.
func (g *Gopher) name(ctx context.Context, m *menu, set *store.AuthoritySet, entered string) {
	s := Plain(entered)
	if s == "" {
		m.refuse("no name: please enter one")
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
		m.refuse(fmt.Sprintf("no name: at offset %d: %s: %s", bad.Offset, bad.Rule, bad.Message))
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

// reserved answers a reserved request about an authority that is served here (1995, 3.5:
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

// authorities writes an item for each naming authority, which leads to what is told of it
// if it is served here.
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

// problem tells why there is no answer about a name.
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
		m.refuse("too many questions; the next one in " + RetryAfter(limit) + " s")
	case errors.Is(err, nomen.ErrLoop):
		m.refuse("the resolvers of the name lead in a circle")
	case errors.Is(err, nomen.ErrUpstream):
		m.refuse("the resolver of the name could not be asked; please try again later")
	default:
		g.fail(m, n.Key(), err)
	}
}

// text is the description of a name.
func (g *Gopher) text(ctx context.Context, m *menu, s string) {
	n, err := name.Parse(Plain(s))
	if err != nil {
		m.refuse("no name")
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

// elsewherePage is what clients get that do not know selectors with a URL: a page
// with a link that a person may follow.
func elsewherePage(url string) string {
	const layout = "<!DOCTYPE html>\r\n<html lang=\"en\">\r\n<head><meta charset=\"utf-8\"><title>Elsewhere</title></head>\r\n<body>\r\n<p>%s</p>\r\n</body>\r\n</html>\r\n"
	if !location.IsLink(url) {
		return fmt.Sprintf(layout, "This leads nowhere that a page should link to.")
	}
	to := html.EscapeString(url)
	return fmt.Sprintf(layout, `This leads to another site: <A HREF="`+to+`" rel="noreferrer">`+to+`</A>`)
}

// A menu is one that is being written.
type menu struct {
	b          bytes.Buffer
	host, port string
	local      netip.Addr // at which the client arrived
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

// maxItems bounds a menu, whatever a stranger's answer holds.
const maxItems = 1000

// line writes one line of a menu, of which the fields hold no TAB and no line end.
func (m *menu) line(kind byte, title, selector, host, port string) {
	if m.items++; m.items > maxItems {
		return
	}
	m.b.WriteByte(kind)
	m.b.WriteString(title + "\t" + selector + "\t" + host + "\t" + port + "\r\n")
}

// item writes an item that is found here. A selector with a control character
// would be cut off: it is not offered.
func (m *menu) item(kind byte, title, selector string) {
	title = short(title)
	if strings.ContainsFunc(selector, unicode.IsControl) || len(selector) > maxSelector-2 {
		m.say(title)
		return
	}
	m.line(kind, title, selector, m.host, m.port)
}

// say writes lines for people alone.
func (m *menu) say(text string) {
	const most = 20
	lines := wrap(plainLine(text))
	for _, s := range lines[:min(len(lines), most)] {
		m.line('i', s, "", "error.host", "1")
	}
}

// refuse answers with an error, and nothing that was there before.
func (m *menu) refuse(why string) {
	m.b.Reset()
	m.b.WriteString(refusalLine(why))
	m.end()
}

func refusalLine(why string) string { return "3" + short(why) + "\t\terror.host\t1\r\n" }

// end writes the last line, if it is not there.
func (m *menu) end() { m.b.WriteString(".\r\n") }

// describe writes what is known of a name, and its locations as items.
func (m *menu) describe(n name.Name, a *nomen.Answer) {
	m.say(n.Key())
	if !a.StaleSince.IsZero() {
		m.say("The storage of names is away: this was current at " + a.StaleSince.UTC().Format(time.RFC3339))
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
	m.item('0', "All that is known of it", selectText+n.Key())
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

// location writes the item of a location: that of a gopher URL is what its server
// has (1995, 4: Y95-53).
func (m *menu) location(l nomen.Location) {
	var b bytes.Buffer
	_ = format.GopherMenu(&b, &nomen.Answer{Locations: []nomen.Location{l}}) // a buffer takes all
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

// plainLine returns s on one line, without what a terminal would obey.
func plainLine(s string) string { return strings.TrimRight(shown.Inline(s), " ") }

// width is how many characters of a title clients show (RFC 1436, 3.9).
const width = 70

// short returns a title that clients show.
func short(s string) string {
	r := []rune(plainLine(s))
	return string(r[:min(len(r), width)])
}

// wrap breaks a line where it becomes too long, at a space if there is one.
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
