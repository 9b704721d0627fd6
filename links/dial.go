package links

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/internal/race"
	"github.com/nomen-project/nomen/uri"
)

const (
	requestTime = 30 * time.Second // timeout of a request, including its response
	maxHead     = 64 << 10         // maximum length of the head of a response in bytes
)

// newTransport returns a transport that connects only to addresses that [Options.Allow] permits. It
// closes each connection after a response, so it has at most one connection to a host at a time.
func (o *Options) newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            o.dial,
		TLSClientConfig:        o.TLS,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHead,
	}
}

// dial connects to a host. It checks the addresses after the DNS lookup, and connects only to an
// address that it has checked.
func (o *Options) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	addrs, err := o.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var allowed []netip.AddrPort
	var refused error
	for _, a := range addrs {
		if err := o.Allow(a); err != nil {
			refused = err
			continue
		}
		allowed = append(allowed, netip.AddrPortFrom(a, uint16(n)))
	}
	if allowed == nil {
		return nil, refused
	}
	conn, errs := race.Dial(ctx, race.Stagger, allowed, func(ctx context.Context, ap netip.AddrPort) (net.Conn, error) {
		return o.Dial(ctx, "tcp", ap.String())
	})
	if conn == nil {
		return nil, errors.Join(errs...)
	}
	return conn, nil
}

func (o *Options) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, ok := uri.ParseNumericHost(strings.TrimSuffix(host, ".")); ok {
		return []netip.Addr{a}, nil
	}
	return discover.HostAddresses(ctx, o.DNS, host)
}

// outcomeOf returns the outcome of a request without a response.
func outcomeOf(err error) Outcome {
	var address *guard.AddressError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, errLater), errors.Is(err, context.Canceled):
		return None
	case errors.As(err, &address):
		return Private
	case errors.As(err, &dns) && dns.IsNotFound:
		return NoHost
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		return BadTLS
	}
	return Trouble
}

// outcomeOfStatus returns the outcome of a response that is not a redirect.
func outcomeOfStatus(status int) Outcome {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests, http.StatusUnavailableForLegalReasons:
		return Refused
	case http.StatusNotFound:
		return Gone
	case http.StatusGone:
		return Removed
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return Trouble
	case http.StatusRequestedRangeNotSatisfiable, http.StatusNotAcceptable: // the resource exists
		return OK
	}
	switch {
	case status < 300 || status == http.StatusNotModified:
		return OK
	case status < 500: // the server did not understand the request, so the state of the resource is unknown
		return Refused
	}
	return Trouble
}
