package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/format"
)

// The media types that the client asks for by itself.
const (
	richest = "application/json, text/urc-0;q=0.5" // what carries a description best
	details = format.TypeProblem                   // RFC 9457
)

// A site is a resolver on the web, with names below its URL.
type site struct{ base string } // http or https, with a slash at the end

func (s site) key(about subject) string { return s.base + about.name.Key() }

func (s site) locates(service nomen.Service) bool {
	return service == nomen.I2L || service == nomen.I2Ls || !service.Known()
}

func (s site) asked(service nomen.Service) nomen.Service {
	if service.Known() && service != nomen.I2L {
		return service
	}
	return nomen.I2C
}

func (s site) ask(ctx context.Context, c *Client, at stop, q nomen.Question) (*reply, error) {
	query, err := directives(q)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(s.base + namePath(at.spelling) + query)
	if err != nil {
		return nil, err
	}
	transport := c.web
	if at.guarded {
		transport = c.guarded
	}
	return c.get(ctx, transport, target, c.webAccept(q), q.Languages)
}

// namePath returns a name as a path. One that has a query of its own is escaped
// as a whole, its colons too, by which servers know it.
func namePath(spelling string) string {
	if strings.Contains(spelling, "?") {
		return url.QueryEscape(spelling)
	}
	return spelling
}

// pathName reverses namePath.
func pathName(path string) string {
	scheme, _, ok := strings.Cut(strings.ToUpper(path), "%3A")
	if !ok || strings.Contains(scheme, ":") {
		return path
	}
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}

// directives returns the query that tells service and component (2012, 2.3),
// or the r- and q-component (RFC 8141, 2.3), which leave no room for them.
func directives(q nomen.Question) (string, error) {
	if rq := components(q); rq != "" {
		if q.Component != "" {
			return "", errComponents
		}
		return rq, nil
	}
	var parts []string
	if q.Service != "" {
		parts = append(parts, "s="+url.QueryEscape(string(q.Service)))
	}
	if q.Component != "" {
		parts = append(parts, "c="+url.QueryEscape(q.Component))
	}
	if parts == nil {
		return "", nil
	}
	return "?" + strings.Join(parts, "&"), nil
}

// webAccept returns the Accept field. Where a location may be asked for it ranks
// the locations, and must not prefer a description; but if the default of the
// name is one, JSON is as good as any format, and named.
func (c *Client) webAccept(q nomen.Question) string {
	switch {
	case q.Service != nomen.I2L && q.Service.Known() && c.o.Accept != "":
		return c.o.Accept + ", " + details
	case q.Service != nomen.I2L && q.Service.Known():
		return richest + ", " + details
	case q.Accept != "":
		return q.Accept + ", " + details
	}
	return "application/json;q=0.1, */*;q=0.1, " + details
}

// A page is a URL to which a redirection led, and which is read in place of the
// resolver.
type page struct{ url string }

func (p page) key(subject) string { return p.url }

func (p page) locates(service nomen.Service) bool {
	return service == nomen.I2L || service == nomen.I2Ls
}

func (p page) asked(nomen.Service) nomen.Service { return nomen.I2C }

func (p page) ask(ctx context.Context, c *Client, at stop, q nomen.Question) (*reply, error) {
	target, err := url.Parse(p.url)
	if err != nil {
		return nil, err
	}
	transport := c.own
	if at.guarded {
		transport = c.guarded
	}
	return c.get(ctx, transport, target, richest, q.Languages)
}

// get asks for one URL, follows nothing and reads the whole answer.
func (c *Client) get(ctx context.Context, transport http.RoundTripper, u *url.URL, accept, languages string) (*reply, error) {
	c.tracef("GET %s%s", u, encrypted(u))
	r, err := c.roundTrip(ctx, transport, u, accept, languages)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, c.webError(u, err)
	}
	c.tracef("%s: %s", u.Host, r)
	if r.status >= http.StatusInternalServerError {
		return nil, c.webError(u, &StatusError{Code: r.status, Reason: r.reason})
	}
	return r, nil
}

// webError tells which server gave no answer, and which addresses were tried.
func (c *Client) webError(u *url.URL, err error) error {
	var size *SizeError
	var tried *UnreachableError
	if errors.As(err, &size) || errors.As(err, &tried) {
		return err
	}
	return &UnreachableError{Host: u.Host, Tried: []Attempt{{Err: err}}}
}

func encrypted(u *url.URL) string {
	if u.Scheme == "https" {
		return ""
	}
	return ", unencrypted"
}

func (c *Client) roundTrip(ctx context.Context, transport http.RoundTripper, u *url.URL, accept, languages string) (*reply, error) {
	if !validHeader(accept + languages) {
		return nil, errControl
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	peer := true // public, unless it is known not to be
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(g httptrace.GotConnInfo) {
		if ap, err := netip.ParseAddrPort(g.Conn.RemoteAddr().String()); err == nil {
			peer = public(ap.Addr())
		}
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{"Accept": {accept}, "User-Agent": {c.o.UserAgent}} // "" suppresses the field
	if languages != "" {
		req.Header.Set("Accept-Language", languages)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	r, err := replyOf(resp, c.o.MaxBody)
	if err != nil {
		return nil, err
	}
	r.public, r.url = peer, u.String()
	return r, nil
}

// newTransport returns a transport that looks hosts up and connects as the
// client does, and adds nothing to requests.
func (c *Client) newTransport(guarded bool) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return c.dialHost(ctx, address, guarded)
		},
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHead,
		ResponseHeaderTimeout:  c.o.Timeout,
		TLSHandshakeTimeout:    c.o.Timeout,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    16,
	}
}

// dialHost connects to the first address of a host that lets it, all within the
// time of one attempt.
func (c *Client) dialHost(ctx context.Context, address string, guarded bool) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := discover.HostAddresses(ctx, c.o.DNS, host)
	if err != nil {
		return nil, err
	}
	failed := &UnreachableError{Host: address}
	share := c.o.Timeout / time.Duration(len(addrs))
	for _, a := range c.inTurn(addrs) {
		ap, err := netip.ParseAddrPort(net.JoinHostPort(a.String(), port))
		if err != nil {
			return nil, err
		}
		conn, err := c.dialWithin(ctx, share, ap, guarded)
		if err == nil {
			return conn, nil
		}
		failed.Tried = append(failed.Tried, Attempt{ap, err})
	}
	return nil, failed
}

func (c *Client) dialWithin(ctx context.Context, limit time.Duration, ap netip.AddrPort, guarded bool) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return c.dial(ctx, ap, guarded)
}

// redirects reports whether the reply sends elsewhere.
func (r *reply) redirects() bool {
	return slices.Contains([]int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	}, r.status)
}
