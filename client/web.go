package client

import (
	"cmp"
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
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/race"
)

// The media types that the client prefers by default.
const (
	richest = "application/json, text/urc-0;q=0.5" // for a description
	lines   = "text/uri-list, text/plain;q=0.9, application/json;q=0.5"
	details = format.TypeProblem // for an error (RFC 9457)
)

var errComponents = errors.New("client: a request with an r- or q-component cannot also have a resource component, a time or a query")

// A site is a resolver on the web. The path of a name begins with the path of the base URL.
type site struct{ base string } // base is an http or https URL that ends in a slash

func (s site) key(about subject) string { return s.base + about.name.Key() }

func (s site) locates(service nomen.Service) bool { return wantsLocations(service) }

func (s site) asked(service nomen.Service) nomen.Service {
	if service.Known() && service != nomen.I2L {
		return service
	}
	return nomen.I2C
}

func (s site) ask(ctx context.Context, c *Client, at hop, q inquiry) (*reply, error) {
	suffix, err := webSuffix(q.Question)
	if err != nil {
		return nil, err
	}
	return c.getAbout(ctx, at, q, s.base+namePath(at.spelling)+suffix, s.base+at.name.Key()+suffix)
}

// wantsLocations reports whether a redirect to a URL is the answer for a service on the web.
// Unknown services are included, because by default a resolver redirects to the resource.
func wantsLocations(service nomen.Service) bool {
	return service == nomen.I2L || service == nomen.I2Ls || service == nomen.I2R || service == nomen.I2Rs || !service.Known()
}

// namePath returns the path for a name. If the name has a query, namePath escapes the whole name,
// including the colons. The escaped colons tell the server that the whole name is escaped.
func namePath(spelling string) string {
	if strings.Contains(spelling, "?") {
		return url.QueryEscape(spelling)
	}
	return spelling
}

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

type directive struct{ keyword, value string }

func spelled(all ...directive) string {
	var b strings.Builder
	for _, d := range all {
		if d.value == "" {
			continue
		}
		b.WriteByte("?&"[min(b.Len(), 1)])
		b.WriteString(d.keyword + "=")
		if d.keyword == "s" && nomen.Service(d.value).Known() {
			b.WriteString(d.value) // the equals sign in I=I is not escaped (N12-27)
		} else {
			b.WriteString(url.QueryEscape(d.value))
		}
	}
	return b.String()
}

// suffixOf returns the text that follows the name in a request. This is either the directives, or
// the r- and q-component (RFC 8141, 2.3).
func suffixOf(q nomen.Question, all ...directive) (string, error) {
	directives, rq := spelled(all...), components(q)
	if directives != "" && rq != "" {
		return "", errComponents
	}
	return rq + directives, nil
}

// webSuffix returns the text that follows the name in a web request. If the question has an r- or
// q-component (RFC 8141), the text does not contain the service.
func webSuffix(q nomen.Question) (string, error) {
	service := string(q.Service)
	if components(q) != "" {
		service = ""
	}
	return withQuery(q, directive{"s", service}, directive{"c", q.Component}, directive{"with", otherOf(q)}, directive{"at", timeOf(q.At)})
}

func withQuery(q nomen.Question, all ...directive) (string, error) {
	suffix, err := suffixOf(q, all...)
	switch {
	case err != nil || q.Query == "":
		return suffix, err
	case components(q) != "":
		return "", errComponents
	case suffix != "":
		return suffix + "&" + q.Query, nil
	}
	return "?" + q.Query, nil
}

func otherOf(q nomen.Question) string {
	if q.Service != nomen.IisI {
		return ""
	}
	return q.Other.String()
}

func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// webAccept returns the value of the Accept field. It begins with
//
//   - for a resource: the formats that the user accepts;
//   - for a location, or an unknown service: a field that ranks the locations. It must not prefer a
//     description, but accepts JSON, because the default of the name may be a description;
//   - for any other service: the formats that the user accepts, or else the formats from which the
//     client reads answers without loss.
//
// The value always ends with the format of errors.
func (c *Client) webAccept(q nomen.Question) string {
	switch {
	case q.Service == nomen.I2R || q.Service == nomen.I2Rs:
		return cmp.Or(q.Accept, c.o.Accept, "*/*") + ", " + details
	case q.Service != nomen.I2L && q.Service.Known() && c.o.Accept != "":
		return c.o.Accept + ", " + details
	case asksAuthorities(q):
		return lines + ", " + details
	case q.Service != nomen.I2L && q.Service.Known():
		return richest + ", " + details
	case q.Accept != "":
		return q.Accept + ", " + details
	}
	return "application/json;q=0.1, */*;q=0.1, " + details
}

// A page is a URL to which a resolver redirected. The client reads the answer from this URL.
type page struct{ url string }

func (p page) key(subject) string { return p.url }

func (p page) locates(service nomen.Service) bool {
	return service == nomen.I2L || service == nomen.I2Ls
}

func (p page) asked(nomen.Service) nomen.Service { return nomen.I2C }

func (p page) ask(ctx context.Context, c *Client, at hop, q inquiry) (*reply, error) {
	target, err := url.Parse(p.url)
	if err != nil {
		return nil, err
	}
	g := get{url: target, accept: richest, languages: q.Languages}
	g.from = identity("GET", p.url, g.fields(c))
	g.conditions = q.have.conditions(g.from)
	return c.get(ctx, c.transport(at), g)
}

// transport returns the transport for a hop. In a guarded hop, the client can connect to a private
// network only to reach the resolver that the user has chosen.
func (c *Client) transport(at hop) http.RoundTripper {
	switch {
	case at.guarded && (at.way != c.via || c.via == nil):
		return c.guarded
	case at.way == c.via:
		return c.web
	}
	return c.own
}

// getAbout requests a URL that concerns the name of a hop. The identity of the request does not
// depend on the spelling of the name.
func (c *Client) getAbout(ctx context.Context, at hop, q inquiry, target, about string) (*reply, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	g := get{url: u, accept: c.webAccept(q.Question), languages: q.Languages, hops: q.Hops, at: q.At}
	g.stream = q.Service == nomen.I2R
	g.from = identity("GET", about, g.fields(c))
	g.conditions = q.have.conditions(g.from)
	return c.get(ctx, c.transport(at), g)
}

type get struct {
	url        *url.URL
	accept     string
	languages  string
	hops       int
	at         time.Time
	from       string // identity of the request
	conditions []field
	stream     bool // do not read the body of a successful response
}

func (g *get) fields(c *Client) []field {
	datetime := ""
	if !g.at.IsZero() {
		datetime = g.at.UTC().Format(http.TimeFormat) // RFC 7089, 2.1.1
	}
	return fields(
		field{"Accept", g.accept}, field{"Accept-Language", g.languages}, field{"Accept-Datetime", datetime},
		field{"User-Agent", c.o.UserAgent}, field{"Via", viaField(g.hops)},
	)
}

// get sends a GET request without following redirects, and reads the whole response.
func (c *Client) get(ctx context.Context, transport http.RoundTripper, g get) (*reply, error) {
	leave, err := c.hosts.enter(ctx, g.url.Host)
	if err != nil {
		return nil, err
	}
	defer leave()
	if c.o.Trace != nil {
		c.tracef("GET %s%s", g.url, encrypted(g.url))
	}
	r, err := c.roundTrip(ctx, transport, g)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, c.webError(g.url, err)
	}
	if c.o.Trace != nil {
		c.tracef("%s: %s", g.url.Host, r)
	}
	if err := r.notNow(c.o.Now()); err != nil {
		return nil, c.webError(g.url, err)
	}
	r.from = g.from
	return r, nil
}

// webError adds to an error the server that did not answer and the addresses that were tried.
func (c *Client) webError(u *url.URL, err error) error {
	if errors.As(err, new(*SizeError)) || errors.As(err, new(*UnreachableError)) {
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

func (c *Client) roundTrip(ctx context.Context, transport http.RoundTripper, g get) (*reply, error) {
	req, err := g.request(ctx, c)
	if err != nil {
		return nil, err
	}
	if p, ok := transport.(*plain); ok && p.carries(g.url) && !g.stream {
		return c.plainTrip(ctx, p, req, g)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	slow := time.AfterFunc(c.o.Timeout, func() { cancel(c.noAnswer()) })
	peer := true
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(g httptrace.GotConnInfo) { peer = isPublic(g.Conn) }})
	resp, err := transport.RoundTrip(req.WithContext(traced))
	if err != nil {
		defer cancel(nil)
		slow.Stop()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	if g.stream && resp.StatusCode == http.StatusOK {
		r := headOf(resp)
		r.public, r.url = peer, g.url.String()
		slow.Stop() // the first read of the body starts it again
		r.stream, r.length = &timed{resp.Body, slow, c.o.Timeout, cancel}, resp.ContentLength
		return r, nil
	}
	defer cancel(nil)
	defer slow.Stop()
	defer resp.Body.Close()
	r, err := replyOf(resp, c.o.MaxBody)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	r.public, r.url = peer, g.url.String()
	return r, nil
}

func (g *get) request(ctx context.Context, c *Client) (*http.Request, error) {
	header := http.Header{"User-Agent": {""}} // an empty value suppresses the field
	for _, f := range slices.Concat(g.fields(c), g.conditions, traced(ctx)) {
		if !validHeader(f.value) {
			return nil, errControl
		}
		header[f.name] = []string{f.value}
	}
	return &http.Request{
		Method: http.MethodGet, URL: g.url, Host: g.url.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

func (c *Client) noAnswer() error {
	return fmt.Errorf("no answer within %v: %w", c.o.Timeout, context.DeadlineExceeded)
}

// plainTrip is like roundTrip, but uses a deadline on the connection instead of a timer and a
// context.
func (c *Client) plainTrip(ctx context.Context, p *plain, req *http.Request, g get) (*reply, error) {
	deadline := time.Now().Add(c.o.Timeout)
	var r *reply
	resp, peer, err := p.roundTrip(req.WithContext(ctx), deadline)
	if err == nil {
		defer resp.Body.Close()
		r, err = replyOf(resp, c.o.MaxBody)
	}
	switch {
	case err == nil:
		r.public, r.url = peer, g.url.String()
		return r, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !time.Now().Before(deadline):
		return nil, c.noAnswer()
	}
	return nil, err
}

// A timed is a body for which each read may take as long as one attempt.
type timed struct {
	body   io.ReadCloser
	slow   *time.Timer
	limit  time.Duration
	cancel context.CancelCauseFunc
}

func (t *timed) Read(p []byte) (int, error) {
	t.slow.Reset(t.limit)
	n, err := t.body.Read(p)
	t.slow.Stop()
	return n, err
}

func (t *timed) Close() error {
	t.slow.Stop()
	err := t.body.Close()
	t.cancel(nil)
	return err
}

func (c *Client) newTransport(guarded bool) *plain {
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		return c.dialHost(ctx, address, guarded)
	}
	maxIdle := max(c.o.PerHost, DefaultPerHost)
	return newPlain(dial, &http.Transport{
		DialContext:            dial,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHead,
		ResponseHeaderTimeout:  c.o.Timeout,
		TLSHandshakeTimeout:    c.o.Timeout,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    maxIdle,
	}, maxIdle)
}

// dialHost tries the addresses of a host and returns the first connection. The timeout of one
// attempt applies to all addresses together.
func (c *Client) dialHost(ctx context.Context, address string, guarded bool) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	addrs, err := discover.HostAddresses(ctx, c.o.DNS, host)
	if err != nil {
		return nil, err
	}
	aps := c.inTurn(addrs, uint16(n))
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	conn, errs := race.Dial(ctx, c.o.Stagger, aps, func(ctx context.Context, ap netip.AddrPort) (net.Conn, error) {
		return c.dial(ctx, ap, guarded)
	})
	if conn != nil {
		return conn, nil
	}
	return nil, unreachable(address, aps, errs)
}

func (r *reply) redirects() bool {
	return slices.Contains([]int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	}, r.status)
}
