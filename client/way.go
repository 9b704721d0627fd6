package client

import (
	"context"
	"errors"
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
	// ask sends one question and returns what came back, whatever its status
	// below 500; a 5xx is an error.
	ask(ctx context.Context, c *Client, s stop, q nomen.Question) (*reply, error)

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

// parseVia reads [Options.Via].
func (c *Client) parseVia(via string) (way, error) {
	if via == "" {
		return nil, nil
	}
	if strings.Contains(via, "://") {
		return parseSite(via)
	}
	host, port := via, strconv.Itoa(discover.Port)
	if h, p, err := net.SplitHostPort(via); err == nil {
		host, port = h, p
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || host == "" || strings.ContainsAny(host, "/?#@ []") {
		return nil, fmt.Errorf("client: %q is neither HOST:PORT nor an http or https URL", via)
	}
	return proxy{host, uint16(n)}, nil
}

func parseSite(via string) (way, error) {
	u, err := url.Parse(via)
	switch {
	case err != nil:
		return nil, fmt.Errorf("client: %w", err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("client: %q: a resolver's URL begins with http or https", via)
	case u.Host == "", u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return nil, fmt.Errorf("client: %q: a resolver's URL has a host, perhaps a path, and nothing more", via)
	}
	return site{u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimSuffix(u.EscapedPath(), "/") + "/"}, nil
}

// wayTo returns where to ask about s.
func (c *Client) wayTo(s subject, q nomen.Question) (way, error) {
	if c.via != nil {
		return c.via, nil
	}
	return c.directTo(s, q)
}

// directTo returns the authority of s, which has to be a name of 1995.
func (c *Client) directTo(s subject, q nomen.Question) (way, error) {
	if s.name.Scheme() != "urn" {
		return nil, &RouteError{Name: s.spelling, Reason: "no name of the kind urn:dns:HOST:ELEMENT"}
	}
	if nid := s.name.NID(); nid != "dns" { // Y95-18
		return nil, &RouteError{Name: s.spelling, Reason: fmt.Sprintf("unknown SchemeID %q", nid)}
	}
	u, err := urn.Draft1995.Parse(s.spelling)
	if err != nil { // a tilde, which RFC 8141 allows
		u, err = urn.Draft1995.Parse(strings.ReplaceAll(s.spelling, "~", "%7E"))
	}
	switch {
	case err != nil:
		return nil, withService(malformed(s.spelling, err), q.Service)
	case q.R != "" || q.Q != "": // Y95-08
		return nil, &nomen.Error{
			Kind: nomen.Malformed, Name: s.spelling + components(q), Service: q.Service,
			Offset: len(s.spelling), Rule: "ElementID", Message: `reserved character "?"`,
		}
	}
	return authority{strings.ToLower(u.AuthorityID()), c.o.Port, u.ElementID()}, nil
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
	host    string // AuthorityID
	port    uint16
	element string // ElementID as spelled: it has no white space
}

func (a authority) key(s subject) string { return s.name.Key() }

func (a authority) locates(s nomen.Service) bool { return s == nomen.I2L || s == nomen.I2Ls }

func (a authority) asked(nomen.Service) nomen.Service { return nomen.I2C }

func (a authority) ask(ctx context.Context, c *Client, s stop, q nomen.Question) (*reply, error) {
	addrs, err := discover.Addresses(ctx, c.o.DNS, a.host)
	if err != nil {
		return nil, &UnreachableError{Host: hostPort(a.host, a.port), Tried: []Attempt{{Err: err}}}
	}
	m := c.message(a.element, q)
	m.host, m.accept = a.host, c.preference(q)
	return c.exchange(ctx, endpoint{a.host, a.port, addrs, s.guarded}, m)
}

// A proxy answers for names of any kind, or asks on (1995, 3.2: Y95-38).
type proxy struct {
	host string
	port uint16
}

func (p proxy) key(s subject) string { return s.name.Key() }

func (p proxy) locates(s nomen.Service) bool { return s == nomen.I2L || s == nomen.I2Ls || !s.Known() }

func (p proxy) asked(nomen.Service) nomen.Service { return nomen.I2C }

func (p proxy) ask(ctx context.Context, c *Client, s stop, q nomen.Question) (*reply, error) {
	addrs, err := discover.HostAddresses(ctx, c.o.DNS, p.host)
	if err != nil {
		return nil, &UnreachableError{Host: hostPort(p.host, p.port), Tried: []Attempt{{Err: err}}}
	}
	target := s.spelling + components(q)
	if q.Component != "" {
		if target != s.spelling {
			return nil, errComponents
		}
		target += "?c=" + url.QueryEscape(q.Component)
	}
	m := c.message(target, q)
	if m.accept == "" && q.Service.Known() {
		m.accept = richest // a description: what a proxy answers by default is its choice
	}
	return c.exchange(ctx, endpoint{p.host, p.port, addrs, false}, m)
}

var errComponents = errors.New("client: a component of a resource and an r- or q-component cannot be asked for in one request")

func (c *Client) message(target string, q nomen.Question) message {
	return message{target: target, accept: c.o.Accept, languages: q.Languages, agent: c.o.UserAgent, simple: c.o.Simple}
}

// preference returns what the Accept field has to say: the user's preference,
// none if he has none (Y95-33), but a format that carries names where names are
// wanted.
func (c *Client) preference(q nomen.Question) string {
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
