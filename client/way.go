package client

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/urn"
)

// A way is a place to ask about names, and the form of request that it
// understands.
type way interface {
	// ask sends one question and returns what came back, whatever its status,
	// unless that says "not now".
	ask(ctx context.Context, c *Client, s stop, q inquiry) (*reply, error)

	// key is the same for questions that are answered alike, in the search for
	// loops.
	key(subject) string

	// locates reports whether a redirection to a URL answers a question for
	// this service there: the location was wanted, not the URL's content.
	locates(nomen.Service) bool

	// asked returns the service that a body answers there when the question is
	// for this one.
	asked(nomen.Service) nomen.Service
}

// An inquiry is a question, and what the asker has of an earlier answer.
type inquiry struct {
	nomen.Question
	have Validators
}

// parseVia reads [Options.Via].
func (c *Client) parseVia(via string) (way, error) {
	if via == "" {
		return nil, nil
	}
	if strings.Contains(via, "://") {
		return parseURL(via)
	}
	at, spelling, told := strings.Cut(via, "/")
	if told && spelling != discover.FormFull && spelling != discover.FormElement {
		return nil, fmt.Errorf("client: %q: after HOST:PORT/ want %s or %s", via, discover.FormFull, discover.FormElement)
	}
	host, port := at, strconv.Itoa(discover.Port)
	if h, p, err := net.SplitHostPort(at); err == nil {
		host, port = h, p
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || host == "" || strings.ContainsAny(host, "/?#@ []") {
		return nil, fmt.Errorf("client: %q is neither HOST:PORT nor an http or https URL", via)
	}
	return proxy{host: host, port: uint16(n), form: spelling}, nil
}

// placeholder is where the name goes in a template. It is spelled as a path or a
// query wants it, so that the form of RFC 6570 that escapes less means the same.
const (
	placeholder = "{name}"
	reserved    = "{+name}"
)

// parseURL reads the URL of a resolver: a template, that of the services of RFC
// 2169, or one below which names are paths.
func parseURL(via string) (way, error) {
	via = strings.ReplaceAll(via, reserved, placeholder)
	plain := strings.ReplaceAll(via, placeholder, "")
	u, err := url.Parse(plain)
	switch {
	case err != nil:
		return nil, fmt.Errorf("client: %w", err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("client: %q: a resolver's URL begins with http or https", via)
	case u.Host == "", u.User != nil, u.Fragment != "":
		return nil, fmt.Errorf("client: %q: a resolver's URL has a host, perhaps a path, and nothing more", via)
	case plain != via:
		return parseTemplate(via)
	case u.RawQuery != "", u.ForceQuery:
		return nil, fmt.Errorf("client: %q: a resolver's URL has a host, perhaps a path, and nothing more; in a query, %s says where the name goes", via, placeholder)
	}
	base := u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimSuffix(u.EscapedPath(), "/") + "/"
	if n := len(base) - len(thttpPath); strings.EqualFold(base[n:], thttpPath) {
		return thttp{base}, nil
	}
	return site{base}, nil
}

// directTo returns the authority of s, which has to be a name of 1995.
func (c *Client) directTo(s subject, q nomen.Question) (way, error) {
	if s.name.Scheme() != "urn" {
		return nil, &RouteError{Name: s.spelling, Reason: "no name of the kind urn:dns:HOST:ELEMENT"}
	}
	if nid := s.name.NID(); nid != "dns" { // Y95-18
		return nil, &RouteError{Name: s.spelling, Reason: fmt.Sprintf("unknown SchemeID %q", nid)}
	}
	u, err := parse1995(s.spelling)
	switch {
	case err != nil:
		return nil, withService(malformed(s.spelling, err), q.Service)
	case q.R != "" || q.Q != "": // Y95-08
		return nil, &nomen.Error{
			Kind: nomen.Malformed, Name: s.spelling + components(q), Service: q.Service,
			Offset: len(s.spelling), Rule: "ElementID", Message: `reserved character "?"`,
		}
	}
	host := strings.ToLower(u.AuthorityID())
	return authority{id: host, host: host, port: c.o.Port, element: u.ElementID()}, nil
}

// components returns the r- and q-component of q as they follow a name.
func components(q nomen.Question) string {
	var s string
	if q.R != "" {
		s += "?+" + q.R
	}
	if q.Q != "" {
		s += "?=" + q.Q
	}
	return s
}

// An authority answers for its names itself (1995, 3).
type authority struct {
	id      string // AuthorityID
	host    string // where it is asked, which is the same unless somebody said otherwise
	port    uint16
	element string // ElementID as spelled: it has no white space
}

func (a authority) key(s subject) string { return s.name.Key() }

func (a authority) locates(s nomen.Service) bool { return s == nomen.I2L || s == nomen.I2Ls }

func (a authority) asked(nomen.Service) nomen.Service { return nomen.I2C }

func (a authority) ask(ctx context.Context, c *Client, s stop, q inquiry) (*reply, error) {
	e, err := a.endpoint(ctx, c, s)
	if err != nil {
		return nil, err
	}
	return c.exchangeAbout(ctx, e, a.message(c, q), s)
}

func (a authority) endpoint(ctx context.Context, c *Client, s stop) (endpoint, error) {
	addrs, err := discover.Addresses(ctx, c.o.DNS, a.host)
	if err != nil {
		return endpoint{}, &UnreachableError{Host: hostPort(a.host, a.port), Tried: []Attempt{{Err: err}}}
	}
	return endpoint{a.host, a.port, addrs, s.guarded}, nil
}

// message asks for the element as of a time if one is given. A resolver that
// knows no times refuses that, as a reserved character (Y95-08), in place of
// answering as of now.
func (a authority) message(c *Client, q inquiry) message {
	m := c.message(a.element, spelled(directive{"at", timeOf(q.At)}), q, c.preference(q.Question))
	m.host = a.id
	return m
}

// message makes the request for a target.
func (c *Client) message(target, suffix string, q inquiry, accept string) message {
	return message{
		target: target + suffix, suffix: suffix, simple: c.o.Simple, have: q.have,
		header: fields(
			field{"Accept", accept}, field{"Accept-Language", q.Languages}, field{"User-Agent", c.o.UserAgent}, field{"Via", viaField(q.Hops)},
		),
	}
}

// exchangeAbout sends a message about the subject of s, with the conditions that
// belong to it.
func (c *Client) exchangeAbout(ctx context.Context, e endpoint, m message, s stop) (*reply, error) {
	from := identity("1995 "+hostPort(strings.ToLower(e.host), e.port), s.name.Key()+m.suffix, m.header)
	m.conditions = m.have.conditions(from)
	r, err := c.exchange(ctx, e, m)
	if r != nil {
		r.from = from
	}
	return r, err
}

// asksAuthorities reports whether a question is a reserved request for naming
// authorities. These are no other names of what is asked about, so that formats for
// descriptions have no place for them but as links: the list has a line for each (1995,
// 3.5.3 and 3.5.4).
func asksAuthorities(q nomen.Question) bool {
	key := q.Name.Key()
	return (q.Service == nomen.I2N || q.Service == nomen.I2Ns) && (strings.HasSuffix(key, urn.ReservedPrefix+"c") || strings.HasSuffix(key, urn.ReservedPrefix+"p"))
}

// preference returns what the Accept field has to say: the user's preference,
// none if he has none (Y95-33), but a format that carries names where names are
// wanted.
func (c *Client) preference(q nomen.Question) string {
	if c.o.Accept == "" && asksAuthorities(q) {
		return lines
	}
	if c.o.Accept == "" && (q.Service == nomen.I2N || q.Service == nomen.I2Ns) {
		return richest
	}
	return c.o.Accept
}

// An endpoint is a host with the addresses at which it can be asked.
type endpoint struct {
	host    string
	port    uint16
	addrs   []netip.Addr
	guarded bool // only public addresses
}

func hostPort(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
