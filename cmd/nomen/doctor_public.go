package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/health"
	"github.com/nomen-project/nomen/store"
)

const readyPath = health.ReadyPath

// expirySoon is the fraction of its lifetime after which a certificate should have been renewed.
const expirySoon = 0.8

type publicURL struct {
	*url.URL
	client *http.Client // does not verify certificates, because another check does
}

func (d *doctor) checkPublic(ctx context.Context) {
	const check = "public URL"
	if d.text("public-url") == "" {
		d.checkFileCertificates()
		d.ok(check, "not set; not checked")
		return
	}
	u, err := url.Parse(d.text("public-url"))
	if err != nil || u.Host == "" {
		return // reported as an error of the configuration
	}
	if !d.checkNames(ctx, u.Hostname()) {
		return
	}
	p := publicURL{u, &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // checkCertificate verifies
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if u.Scheme == "https" {
		d.checkCertificate(ctx, u)
	}
	if d.checkInstance(ctx, p) {
		d.checkFront(ctx, p)
		d.checkFields(ctx, p)
	}
}

func (d *doctor) checkNames(ctx context.Context, host string) bool {
	const check = "DNS"
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		d.problem(check, "add A and AAAA records for this host, or correct public-url", "%s: %s", host, err)
		return false
	}
	slices.Sort(addresses)
	d.ok(check, "%s has the addresses %s", host, strings.Join(slices.Compact(addresses), ", "))
	return true
}

// checkInstance checks that the public URL leads to this server. It also checks whether the server
// has received the same request that was sent.
func (d *doctor) checkInstance(ctx context.Context, p publicURL) bool {
	const check = "public URL"
	const query = "?doctor=https://a//b%2Fc%3F"
	begun := clock()
	resp, _, err := p.get(ctx, readyPath+query)
	if err != nil {
		d.problem(check, "check the proxy in front, the firewall and DNS", "%s cannot be reached: %s", p, err)
		return false
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		if off := date.Sub(begun).Abs(); off > clockDoubt && clock().Sub(begun) < clockDoubt {
			d.compareClock("clock", p.Host, date, begun)
		}
	}
	instance, arrived := resp.Header.Get(health.InstanceHeader), resp.Header.Get(health.RequestHeader)
	switch {
	case instance == "":
		d.problem(check, "let the proxy pass all requests, "+readyPath+" too, to the public listener", "no nomen server answers at %s (status %d)", p, resp.StatusCode)
		return false
	case d.version.Instance == "":
		d.ok(check, "a nomen server answers at %s", p)
	case instance != d.version.Instance:
		d.warning(check, "this is normal if several servers share the URL", "another nomen server answers at %s", p)
	default:
		d.ok(check, "this server answers at %s", p)
	}
	d.compareRequest(arrived, readyPath+query)
	return true
}

func (d *doctor) compareRequest(arrived, target string) {
	const check = "proxy"
	_, rest, _ := strings.Cut(arrived, " ")
	got, protocol, _ := strings.Cut(rest, " ")
	if got != target {
		d.problem(check, "let the proxy pass on the target of requests unchanged (nginx: no URI in proxy_pass)", "a proxy changes queries: sent %s, arrived %s", target, got)
	}
	if protocol == "HTTP/1.0" {
		d.problem(check, "let the proxy use HTTP/1.1 (nginx: proxy_http_version 1.1)", "a proxy speaks HTTP/1.0 to the server, so that redirects with status 303, 307 and 308 become 302 and 301")
	}
}

// A frontProbe is a request for detecting a proxy that changes requests. The name in the request is
// malformed, so that the server does not count it as a failed lookup.
type frontProbe struct{ what, target, name string }

func frontProbes() []frontProbe {
	return []frontProbe{
		{"%2F", "/urn:-doctor:a%2Fb", "urn:-doctor:a%2Fb"},
		{"//", "/urn:-doctor:a//b", "urn:-doctor:a//b"},
		{"https://", "/https://[-doctor]//a", "https://[-doctor]//a"},
		{"a space", "/urn:-doctor:a%20b", "urn:-doctor:a%20b"},
		{"./ and ../", "/urn:-doctor:a/./b/../c", "urn:-doctor:a/./b/../c"},
		{"a query", "/urn:-doctor:a?s=I2C", "urn:-doctor:a"},
	}
}

// checkFront sends requests with unusual names to the public URL, and a request that the server
// redirects. It reports changes that a proxy makes in the requests and responses.
func (d *doctor) checkFront(ctx context.Context, p publicURL) {
	const check = "proxy"
	const next = "let the proxy pass on paths unchanged (nginx: no URI in proxy_pass; Apache: AllowEncodedSlashes NoDecode, nocanon)"
	before := len(d.all)
	for _, probe := range frontProbes() {
		resp, body, err := p.get(ctx, probe.target)
		var problem struct{ Name string }
		switch {
		case err != nil:
			d.problem(check, next, "names with %s: no response: %s", probe.what, err)
		case json.Unmarshal(body, &problem) != nil || problem.Name == "":
			d.problem(check, next, "names with %s do not arrive: status %d for %s", probe.what, resp.StatusCode, probe.target)
		case problem.Name != probe.name:
			d.problem(check, next, "names with %s are changed: %s arrives as %s", probe.what, probe.name, problem.Name)
		}
	}
	const redirect = "/-/resolve?name=urn:-doctor:a%252Fb"
	resp, _, err := p.get(ctx, redirect)
	want := p.EscapedPath() + "/urn%3A-doctor%3Aa%252Fb"
	switch {
	case err != nil:
		d.problem(check, next, "no response to %s: %s", redirect, err)
	case resp.StatusCode != http.StatusSeeOther || !strings.HasSuffix(resp.Header.Get("Location"), want):
		d.problem(check, "let the proxy pass on redirects unchanged (nginx: proxy_http_version 1.1, proxy_redirect off)", "redirects are changed: status %d to %q, expected %d to %q", resp.StatusCode, resp.Header.Get("Location"), http.StatusSeeOther, want)
	}
	if len(d.all) == before {
		d.ok(check, "names, queries and redirects pass unchanged")
	}
}

// get requests a target below the public URL. It does not normalize the target. The parameter
// fields contains the names and values of header fields, alternately.
func (p publicURL) get(ctx context.Context, target string, fields ...string) (*http.Response, []byte, error) {
	const maxBody = 64 << 10
	path, query, _ := strings.Cut(target, "?")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Scheme+"://"+p.Host, nil)
	if err != nil {
		return nil, nil, err
	}
	req.URL.Opaque, req.URL.RawQuery = strings.TrimRight(p.EscapedPath(), "/")+path, query
	req.Header.Set("Accept", "application/problem+json, */*;q=0.5")
	for field := range slices.Chunk(fields, 2) {
		req.Header.Set(field[0], field[1])
	}
	resp, err := p.client.Do(req)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		return nil, nil, failed.Err // the whole error would show only the path of the URL
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	return resp, body, err
}

func (d *doctor) checkCertificate(ctx context.Context, u *url.URL) {
	const check = "certificate"
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "443")
	}
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, ServerName: u.Hostname()}}).DialContext(ctx, "tcp", address) //nolint:gosec // verified below
	if err != nil {
		d.problem(check, "check the proxy in front and the firewall", "no TLS connection to %s: %s", address, err)
		return
	}
	defer conn.Close()
	chain := conn.(*tls.Conn).ConnectionState().PeerCertificates
	others := x509.NewCertPool()
	for _, c := range chain[1:] {
		others.AddCert(c)
	}
	_, err = chain[0].Verify(x509.VerifyOptions{DNSName: u.Hostname(), Intermediates: others, CurrentTime: clock()})
	if err != nil {
		d.problem(check, "install a certificate for this host with its whole chain", "clients do not accept it: %s", err)
		return
	}
	hosts := slices.DeleteFunc(d.hosts(ctx), func(host string) bool { return hasOwnCertificate(ctx, address, host) })
	d.certificate(check, chain[0], hosts)
}

// hasOwnCertificate reports whether the server at an address presents a valid certificate for the
// given host. A server that uses ACME has a separate certificate for each host.
func hasOwnCertificate(ctx context.Context, address, host string) bool {
	host = store.CanonicalHost(host)
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, ServerName: host}}).DialContext(ctx, "tcp", address) //nolint:gosec // only the names matter
	if err != nil {
		return false
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].VerifyHostname(host) == nil
}

func (d *doctor) hosts(ctx context.Context) (all []string) {
	_ = d.withStore(ctx, reads, func(b backend) error { // the check of the store reports failures
		authorities, err := b.Authorities(ctx)
		for _, a := range authorities {
			all = append(all, a.Hosts...)
		}
		return err
	})
	return all
}

func (d *doctor) certificate(check string, c *x509.Certificate, hosts []string) {
	const renew = "renew the certificate; the server reads certificate files again when they change"
	left, life := c.NotAfter.Sub(clock()), c.NotAfter.Sub(c.NotBefore)
	switch {
	case left <= 0:
		d.problem(check, renew, "expired at %s", c.NotAfter.UTC().Format(time.RFC3339))
	case left < time.Duration((1-expirySoon)*float64(life)):
		d.warning(check, renew, "expires in %s", safe(ageText(left.Seconds())))
	default:
		d.ok(check, "valid for %s more", safe(ageText(left.Seconds())))
	}
	for _, host := range hosts {
		if err := c.VerifyHostname(host); err != nil {
			d.warning(check, "add the host to the certificate, or remove it from the authority", "the certificate lacks %s, the host of an authority", host)
		}
	}
}
