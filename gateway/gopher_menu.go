package gateway

import (
	"bytes"
	"cmp"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
)

// A menu is the response to a Gopher client, to which items are appended.
type menu struct {
	b          bytes.Buffer
	host, port string
	local      netip.Addr // local address of the connection to the client
	items      int
}

func (g *Gopher) menu(c net.Conn) *menu {
	m := &menu{host: g.host, port: g.port}
	if ap, err := netip.ParseAddrPort(c.LocalAddr().String()); err == nil {
		m.local = ap.Addr().Unmap().WithZone("")
		m.host, m.port = cmp.Or(m.host, m.local.String()), cmp.Or(m.port, strconv.Itoa(int(ap.Port())))
	}
	return m
}

// line writes a line of a menu. The fields contain no TAB and no line break.
func (m *menu) line(kind byte, title, selector, host, port string) {
	if m.items++; m.items > maxItems {
		return
	}
	m.b.WriteByte(kind)
	m.b.WriteString(title + "\t" + selector + "\t" + host + "\t" + port + "\r\n")
}

// item writes an item that leads to this server. Clients would truncate a selector with a control
// character, so item then writes only the title as text.
func (m *menu) item(kind byte, title, selector string) {
	title = short(title)
	if strings.ContainsFunc(selector, unicode.IsControl) || len(selector) > maxSelector-2 {
		m.say(title)
		return
	}
	m.line(kind, title, selector, m.host, m.port)
}

// say writes text as items of type i, one for each line.
func (m *menu) say(text string) {
	const most = 20
	lines := wrap(plainLine(text))
	for _, s := range lines[:min(len(lines), most)] {
		m.line('i', s, "", "error.host", "1")
	}
}

func (m *menu) refuse(why string) {
	m.b.Reset()
	m.b.WriteString(refusalLine(why))
	m.end()
}

func refusalLine(why string) string { return "3" + short(why) + "\t\terror.host\t1\r\n" }

func (m *menu) end() { m.b.WriteString(".\r\n") }

// describe writes the record of a name. Each location is an item.
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

// location writes a location as an item. For a gopher URL, the item leads to the server in the URL
// (draft of 1995, 4: Y95-53).
func (m *menu) location(l nomen.Location) {
	var b bytes.Buffer
	_ = format.GopherMenu(&b, &nomen.Answer{Locations: []nomen.Location{l}}) // no error, because b is a buffer
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

// plainLine returns s as one line, with control characters escaped.
func plainLine(s string) string { return strings.TrimRight(shown.Inline(s), " ") }

func short(s string) string {
	r := []rune(plainLine(s))
	return string(r[:min(len(r), width)])
}

// wrap breaks a long line into several lines, at spaces if possible.
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

// maxItems is the maximum number of items in a menu. Answers from other servers may have more.
const maxItems = 1000

// width is the maximum length of a title in characters. Clients may truncate longer titles (RFC
// 1436, 3.9).
const width = 70
