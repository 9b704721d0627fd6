package fetch

import (
	"bufio"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/uri"
)

const (
	maxHead   = 64 << 10 // bytes of a response head
	maxRatio  = 200      // maximum ratio of the decompressed to the compressed size
	freeBytes = 10 << 20 // bytes before maxRatio applies
)

type policyKey struct{}

// newTransport returns a transport. If open is true, the context of each request has the policy for
// connections. Such a transport closes connections after one request, because a request with a
// stricter policy could reuse them.
func (f *Fetcher) newTransport(open bool) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			p := policy{guarded: !f.o.AllowPrivate}
			if open {
				p, _ = ctx.Value(policyKey{}).(policy)
			}
			return f.dial(ctx, host, port, p)
		},
		TLSClientConfig:        f.o.TLS,
		DisableCompression:     true,
		DisableKeepAlives:      open,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHead,
		ResponseHeaderTimeout:  f.o.Timeout,
		TLSHandshakeTimeout:    f.o.Timeout,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    2,
		MaxIdleConns:           100,
	}
}

// errOther means that the range in a response belongs to another version of the resource than the
// part that the user has.
var errOther = errors.New("the resource has changed")

// web implements [plan.Step] for the schemes http and https. A server without support for If-Range
// sends the requested range even if the resource has changed. If the response shows such a change,
// web requests the whole resource again.
func (j *retrieval) web(ctx context.Context, r plan.Request) (plan.Outcome, error) {
	out, err := j.webGet(ctx, r, j.request.Offset > 0 || j.request.Length > 0)
	if errors.Is(err, errOther) {
		j.fetcher.tracef("%s: %v: fetching it from the beginning", r.URI.Redacted(), errOther)
		return j.webGet(ctx, r, false)
	}
	return out, err
}

func (j *retrieval) webGet(ctx context.Context, r plan.Request, part bool) (plan.Outcome, error) {
	req, err := j.webRequest(ctx, r)
	if err != nil {
		return plan.Outcome{}, err
	}
	if !part {
		req.Header.Del("Range")
		req.Header.Del("If-Range")
	}
	transport := j.fetcher.guarded
	if p := j.policy(); !j.fetcher.o.AllowPrivate && (!p.guarded || p.own.IsValid()) {
		transport = j.fetcher.open
		req = req.WithContext(context.WithValue(ctx, policyKey{}, p))
	}
	j.fetcher.tracef("GET %s", r.URI.Redacted())
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return plan.Outcome{}, j.failed(err)
	}
	out, err := j.webAnswer(r, resp, part)
	if err != nil || out.Resource == nil {
		resp.Body.Close()
	}
	return out, err
}

// webRequest returns a request with the path and the query of the URL, without any normalisation.
func (j *retrieval) webRequest(ctx context.Context, r plan.Request) (*http.Request, error) {
	name, _ := r.URI.Scheme()
	name = strings.ToLower(name)
	host, err := toASCII(r.Host)
	if err != nil {
		return nil, err
	}
	hostPort := net.JoinHostPort(host, r.Port)
	if r.Port == map[string]string{"http": "80", "https": "443"}[name] {
		hostPort = strings.TrimSuffix(hostPort, ":"+r.Port)
	}
	u := &url.URL{Scheme: name, Host: hostPort, Opaque: r.Send}
	if strings.HasPrefix(r.Send, "//") { // without the host, such a path would be parsed as a host
		u.Opaque = "//" + hostPort + r.Send
	}
	req := (&http.Request{Method: http.MethodGet, URL: u, Host: hostPort, Header: j.webHeader(), ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	if l := j.loginAt(r.URI, name+"://"+hostPort); l.origin != "" {
		req.SetBasicAuth(l.user, l.password)
	}
	return req, nil
}

func (j *retrieval) webHeader() http.Header {
	q := j.request
	h := http.Header{"User-Agent": {j.fetcher.o.UserAgent}, "Accept-Encoding": {"identity"}} // an empty field is not sent
	for _, field := range [...][2]string{{"Accept", q.Accept}, {"Accept-Language", q.Languages}} {
		if field[1] != "" {
			h.Set(field[0], field[1])
		}
	}
	if q.Offset > 0 || q.Length > 0 {
		to := ""
		if q.Length > 0 {
			to = strconv.FormatInt(q.Offset+q.Length-1, 10)
		}
		h.Set("Range", fmt.Sprintf("bytes=%d-%s", q.Offset, to))
		if q.Validator != "" {
			h.Set("If-Range", q.Validator)
		}
	}
	return h
}

func (j *retrieval) loginAt(u uri.URI, origin string) login {
	if info, ok := u.Userinfo(); ok && j.hop.trusted {
		user, password, _ := strings.Cut(info, ":")
		user, _ = uri.Unescape(user)
		password, _ = uri.Unescape(password)
		j.login = login{origin: origin, user: user, password: password}
	}
	if j.login.origin == origin {
		return j.login
	}
	return login{}
}

func (j *retrieval) webAnswer(r plan.Request, resp *http.Response, part bool) (plan.Outcome, error) {
	j.fetcher.tracef("%s: %s, %s", r.URI.Redacted(), shown.Line(resp.Status), shown.Line(resp.Header.Get("Content-Type")))
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return j.webRedirect(r, resp)
	case http.StatusOK, http.StatusNonAuthoritativeInfo, http.StatusNoContent, http.StatusResetContent:
		o := &Object{Resource: nomen.Resource{Type: webType(resp), Size: resp.ContentLength, Body: resp.Body}}
		return j.webObject(r, resp, o)
	case http.StatusPartialContent:
		return j.webPart(r, resp, part)
	case http.StatusRequestedRangeNotSatisfiable:
		size, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes */")
		switch {
		case !part:
		case j.contradicts(resp.Header), ok && j.request.Validator != "" && size != strconv.FormatInt(j.request.Offset, 10):
			return plan.Outcome{}, errOther
		case ok && size == strconv.FormatInt(j.request.Offset, 10): // the user has all of it
			resp.Body.Close()
			o := &Object{Resource: nomen.Resource{Type: webType(resp), Size: j.request.Offset, Body: http.NoBody}, Offset: j.request.Offset, Validator: j.request.Validator}
			return j.found(o)
		}
	}
	return plan.Outcome{}, &StatusError{
		URL: r.URI.Redacted(), Protocol: "HTTP", Code: resp.StatusCode, Reason: webReason(resp),
		Missing: resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone,
	}
}

func webReason(resp *http.Response) string {
	_, reason, _ := strings.Cut(resp.Status, " ")
	return cmp.Or(shown.Line(reason), http.StatusText(resp.StatusCode))
}

func (j *retrieval) webRedirect(r plan.Request, resp *http.Response) (plan.Outcome, error) {
	location := resp.Header.Get("Location")
	ref, err := uri.ParseReference(escaped(location))
	if location == "" || err != nil {
		return plan.Outcome{}, &FormatError{
			URL: r.URI.Redacted(), Protocol: "HTTP", Err: err,
			Message: fmt.Sprintf("status %d with an invalid Location: %.200q", resp.StatusCode, location),
		}
	}
	base := r.URI // the URLs of redirects must not inherit the credentials
	if authority, ok := base.Authority(); ok {
		if base, err = uri.Parse(strings.Replace(base.String(), authority, authority[strings.LastIndexByte(authority, '@')+1:], 1)); err != nil {
			return plan.Outcome{}, err
		}
	}
	target, err := base.Resolve(ref)
	if err != nil {
		return plan.Outcome{}, &FormatError{URL: r.URI.Redacted(), Protocol: "HTTP", Err: err, Message: err.Error()}
	}
	return plan.Outcome{Locators: []uri.URI{target}}, nil
}

// escaped percent-encodes spaces and non-ASCII characters in a Location field, except in the host.
// Some servers send them unescaped, and browsers accept them.
func escaped(location string) string {
	begin := 0
	if before, rest, ok := strings.Cut(location, "//"); ok && !strings.ContainsAny(before, "/?# ") {
		begin = len(location) - len(rest)
		if n := strings.IndexAny(rest, "/?#"); n >= 0 {
			begin += n
		} else {
			begin = len(location)
		}
	}
	var b strings.Builder
	b.WriteString(location[:begin])
	for _, c := range []byte(location[begin:]) {
		if c == ' ' || c >= 0x80 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func webType(resp *http.Response) string {
	t := resp.Header.Get("Content-Type")
	if _, _, err := mime.ParseMediaType(t); err != nil || !isField(t) {
		return ""
	}
	return t
}

func (j *retrieval) webPart(r plan.Request, resp *http.Response, asked bool) (plan.Outcome, error) {
	from, size, err := contentRange(resp.Header.Get("Content-Range"))
	if err != nil || from != j.request.Offset || !asked {
		return plan.Outcome{}, &FormatError{
			URL: r.URI.Redacted(), Protocol: "HTTP", Err: err,
			Message: fmt.Sprintf("got range %.80q, which was not requested", resp.Header.Get("Content-Range")),
		}
	}
	if j.contradicts(resp.Header) {
		return plan.Outcome{}, errOther
	}
	o := &Object{Resource: nomen.Resource{Type: webType(resp), Size: size, Body: resp.Body}, Offset: from}
	return j.webObject(r, resp, o)
}

// contradicts reports whether a response shows that the resource has changed since the user
// received the first part. A missing field does not show a change, because a response with an
// entity tag can omit Last-Modified (RFC 9110, section 15.3.7).
func (j *retrieval) contradicts(h http.Header) bool {
	have := j.request.Validator
	if have == "" {
		return false
	}
	field := "Last-Modified"
	if have[0] == '"' {
		field = "ETag"
	}
	now := h.Get(field)
	return now != "" && now != have
}

// contentRange parses a Content-Range field (RFC 9110, section 14.4). It returns the offset of the
// range, and the size of the whole resource or -1.
//
//	Content-Range = "bytes" SP first-pos "-" last-pos "/" ( complete-length / "*" )
func contentRange(field string) (from, size int64, err error) {
	text, ok := strings.CutPrefix(strings.ToLower(field), "bytes ")
	span, whole, ok2 := strings.Cut(text, "/")
	first, last, ok3 := strings.Cut(span, "-")
	if !ok || !ok2 || !ok3 {
		return 0, 0, fmt.Errorf("invalid Content-Range %.80q", field)
	}
	from, err = strconv.ParseInt(first, 10, 63)
	if err != nil {
		return 0, 0, err
	}
	to, err := strconv.ParseInt(last, 10, 63)
	if err != nil || to < from {
		return 0, 0, fmt.Errorf("invalid Content-Range %.80q: end", field)
	}
	if whole == "*" {
		return from, -1, nil
	}
	size, err = strconv.ParseInt(whole, 10, 63)
	if err != nil || size <= to {
		return 0, 0, fmt.Errorf("invalid Content-Range %.80q: size", field)
	}
	return from, size, nil
}

func (j *retrieval) webObject(r plan.Request, resp *http.Response, o *Object) (plan.Outcome, error) {
	o.Validator = webValidator(resp.Header)
	o.Modified, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(resp.Header.Values("Content-Encoding"), ",")))
	if encoding == "" || encoding == "identity" {
		return j.found(o)
	}
	if o.Offset > 0 {
		return plan.Outcome{}, &FormatError{URL: r.URI.Redacted(), Protocol: "HTTP", Message: "part of an encoded body"}
	}
	decoded, err := decode(encoding, resp.Body, r.URI.Redacted())
	if err != nil {
		return plan.Outcome{}, &FormatError{URL: r.URI.Redacted(), Protocol: "HTTP", Err: err, Message: err.Error()}
	}
	o.Body, o.Size, o.Validator = decoded, -1, "" // the original values are about the encoded body
	return j.found(o)
}

func webValidator(h http.Header) string {
	if tag := h.Get("ETag"); len(tag) > 2 && tag[0] == '"' && isField(tag) {
		return tag
	}
	modified := h.Get("Last-Modified")
	then, err := http.ParseTime(modified)
	now, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil || now.Sub(then) < time.Minute {
		return ""
	}
	return modified
}

func decode(encoding string, in io.ReadCloser, url string) (io.ReadCloser, error) {
	d := &decoder{in: in, url: url}
	counted := bufio.NewReader(counter{in, &d.read})
	var err error
	switch encoding {
	case "gzip", "x-gzip":
		d.out, err = gzip.NewReader(counted)
	case "deflate": // with a zlib header (RFC 9110), or without
		if head, _ := counted.Peek(2); len(head) == 2 && head[0]&15 == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			d.out, err = zlib.NewReader(counted)
		} else {
			d.out = flate.NewReader(counted)
		}
	default:
		return nil, fmt.Errorf("unsupported content encoding %.80q", encoding)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// A decoder reads decompressed data. It returns a [*SizeError] if the ratio of decompressed to
// compressed data is too large.
type decoder struct {
	in            io.ReadCloser
	out           io.Reader
	url           string
	read, written int64
}

func (d *decoder) Read(p []byte) (int, error) {
	n, err := d.out.Read(p)
	d.written += int64(n)
	if d.written > freeBytes && d.written/maxRatio > d.read {
		return 0, &SizeError{URL: d.url, Limit: d.read * maxRatio, Why: fmt.Sprintf(", the limit for %d compressed bytes", d.read)}
	}
	return n, err
}

func (d *decoder) Close() error { return d.in.Close() }

type counter struct {
	io.Reader
	n *int64
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += int64(n)
	return n, err
}
