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

// A way is a resolver and the form of requests that it understands.
type way interface {
	// ask sends a question and returns the reply. It returns an error for a status such as 503.
	ask(ctx context.Context, c *Client, s hop, q inquiry) (*reply, error)

	// key returns a string that is the same for all subjects for which the resolver gives the same
	// answer. The client uses the string to detect loops.
	key(subject) string

	// locates reports whether a redirect to a URL is the answer for this service. Otherwise, the
	// client reads the answer from the URL.
	locates(nomen.Service) bool

	// asked returns the service that the resolver performs when this service is requested.
	asked(nomen.Service) nomen.Service
}

// An inquiry is a question, with the validators of the answer that the caller already has.
type inquiry struct {
	nomen.Question
	have Validators
}

func (c *Client) parseVia(via string) (way, error) {
	if via == "" {
		return nil, nil
	}
	switch {
	case strings.HasPrefix(via, dspaceLabel):
		return parseDSpace(via)
	case strings.Contains(via, "://"):
		return parseURL(via)
	}
	at, spelling, told := strings.Cut(via, "/")
	if told && spelling != discover.FormFull && spelling != discover.FormElement {
		return nil, fmt.Errorf("client: invalid resolver %q: the form after HOST:PORT/ must be %s or %s", via, discover.FormFull, discover.FormElement)
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
		return nil, fmt.Errorf("client: invalid resolver %q: must be HOST:PORT, an http or https URL, or %shttps://HOST/PATH", via, dspaceLabel)
	}
	return proxy{host: host, port: uint16(n), form: spelling}, nil
}

// placeholder marks the place of the name in a template. The name is escaped as the path or the
// query requires. The form {+name} of RFC 6570, which escapes fewer characters, therefore has the
// same meaning.
const (
	placeholder = "{name}"
	reserved    = "{+name}"
)

// parseURL parses the URL of a resolver. The URL may be a template, a resolver for RFC 2169, or a
// base below which names are paths.
func parseURL(via string) (way, error) {
	via = strings.ReplaceAll(via, reserved, placeholder)
	plain := strings.ReplaceAll(via, placeholder, "")
	u, err := url.Parse(plain)
	switch {
	case err != nil:
		return nil, fmt.Errorf("client: %w", err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("client: invalid resolver URL %q: must begin with http or https", via)
	case u.Host == "", u.User != nil, u.Fragment != "":
		return nil, fmt.Errorf("client: invalid resolver URL %q: must be a host with an optional path", via)
	case plain != via:
		return parseTemplate(via)
	case u.RawQuery != "", u.ForceQuery:
		return nil, fmt.Errorf("client: invalid resolver URL %q: must be a host with an optional path; a query needs %s where the name goes", via, placeholder)
	}
	base := u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimSuffix(u.EscapedPath(), "/") + "/"
	if n := len(base) - len(thttpPath); strings.EqualFold(base[n:], thttpPath) {
		return thttp{base}, nil
	}
	return site{base}, nil
}

func (c *Client) directTo(s subject, q nomen.Question) (way, error) {
	if s.name.Scheme() != "urn" {
		return nil, &RouteError{Name: s.spelling, Reason: "the name is not of the form urn:dns:HOST:ELEMENT"}
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

// An authority is a resolver for the names of its own authority (1995, 3).
type authority struct {
	id      string
	host    string // the host to ask, which is id unless discovery found a different host
	port    uint16
	element string // ElementID as spelled, without white space
}

func (a authority) key(s subject) string { return s.name.Key() }

func (a authority) locates(s nomen.Service) bool { return s == nomen.I2L || s == nomen.I2Ls }

func (a authority) asked(nomen.Service) nomen.Service { return nomen.I2C }

func (a authority) ask(ctx context.Context, c *Client, s hop, q inquiry) (*reply, error) {
	e, err := a.endpoint(ctx, c, s)
	if err != nil {
		return nil, err
	}
	return c.exchangeAbout(ctx, e, a.message(c, q), s)
}

func (a authority) endpoint(ctx context.Context, c *Client, s hop) (endpoint, error) {
	addrs, err := discover.Addresses(ctx, c.o.DNS, a.host)
	if err != nil {
		return endpoint{}, &UnreachableError{Host: hostPort(a.host, a.port), Tried: []Attempt{{Err: err}}}
	}
	return endpoint{a.host, a.port, addrs, s.guarded}, nil
}

// message returns the request for the element. If the question is about another time, the request
// has a query. A resolver that does not support times rejects such a request, because "?" is
// reserved (Y95-08), and so does not send the current state.
func (a authority) message(c *Client, q inquiry) message {
	m := c.message(a.element, spelled(directive{"at", timeOf(q.At)}), q, c.preference(q.Question))
	m.host = a.id
	return m
}

func (c *Client) message(target, suffix string, q inquiry, accept string) message {
	return message{
		target: target + suffix, suffix: suffix, simple: c.o.Simple, have: q.have,
		header: fields(
			field{"Accept", accept}, field{"Accept-Language", q.Languages}, field{"User-Agent", c.o.UserAgent}, field{"Via", viaField(q.Hops)},
		),
	}
}

func (c *Client) exchangeAbout(ctx context.Context, e endpoint, m message, s hop) (*reply, error) {
	from := identity("1995 "+hostPort(strings.ToLower(e.host), e.port), s.name.Key()+m.suffix, m.header)
	m.conditions = m.have.conditions(from)
	r, err := c.exchange(ctx, e, m)
	if r != nil {
		r.from = from
	}
	return r, err
}

// asksAuthorities reports whether a question is a reserved request for a list of naming
// authorities. The best format for the answer is a list with a line for each authority (1995, 3.5.3
// and 3.5.4). A description has no field for them, because they are not other names of the subject.
func asksAuthorities(q nomen.Question) bool {
	key := q.Name.Key()
	return (q.Service == nomen.I2N || q.Service == nomen.I2Ns) && (strings.HasSuffix(key, urn.ReservedPrefix+"c") || strings.HasSuffix(key, urn.ReservedPrefix+"p"))
}

// preference returns the value of the Accept field for a question. This is the preference of the
// user if there is one. Otherwise, it is a format that can represent names if the question is about
// names, and "" if not (Y95-33).
func (c *Client) preference(q nomen.Question) string {
	if c.o.Accept == "" && asksAuthorities(q) {
		return lines
	}
	if c.o.Accept == "" && (q.Service == nomen.I2N || q.Service == nomen.I2Ns) {
		return richest
	}
	return c.o.Accept
}

// An endpoint is a host and its addresses.
type endpoint struct {
	host    string
	port    uint16
	addrs   []netip.Addr
	guarded bool // connect only to public addresses
}

func hostPort(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
