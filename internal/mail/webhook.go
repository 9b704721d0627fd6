package mail

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/nomen-project/nomen/internal/guard"
)

// A Webhook sends JSON to a URL. It does not follow redirects. URL is required.
type Webhook struct {
	URL    string
	Agent  string      // value of User-Agent
	Secret string      // if not "", requests are signed with it; see [Webhook.Post]
	TLS    *tls.Config // nil for the defaults

	// Allow returns an error for an address to which Post must not connect. If Allow is nil, Post
	// connects only to public addresses.
	Allow func(netip.Addr) error
}

const hookTime = 30 * time.Second // timeout of a request, including its response

// SignatureField is the header field with the signature of a request.
const SignatureField = "X-Nomen-Signature"

// A StatusError reports a response with a status other than 2xx.
type StatusError struct{ Code int }

func (e *StatusError) Error() string { return fmt.Sprintf("status %d", e.Code) }

// Check returns an error if the settings are invalid.
func (h *Webhook) Check() error {
	u, err := url.Parse(h.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" {
		return errors.New("must be a URL with the scheme http or https")
	}
	return nil
}

// Post sends a JSON object. If a secret is set, the request has the header field [SignatureField],
// whose value is "sha256=" followed by the HMAC-SHA256 of the body in hexadecimal digits. The field
// Idempotency-Key has the ID, which is the same if the request is sent again.
func (h *Webhook) Post(ctx context.Context, id string, object []byte) error {
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(object))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", h.Agent)
	r.Header.Set("Idempotency-Key", `"`+oneLine(id)+`"`)
	if h.Secret != "" {
		sum := hmac.New(sha256.New, []byte(h.Secret))
		sum.Write(object)
		r.Header.Set(SignatureField, "sha256="+hex.EncodeToString(sum.Sum(nil)))
	}
	transport := h.transport()
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return withoutURL(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxSaid) // the content of the response is not used
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("mail: webhook: %w", &StatusError{resp.StatusCode})
	}
	return nil
}

// withoutURL removes the URL of a webhook from an error, because the URL may contain a secret.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("mail: webhook: %w", err)
}

// transport returns a transport that connects only to allowed addresses. It checks addresses after
// the DNS lookup.
func (h *Webhook) transport() *http.Transport {
	allow := h.Allow
	if allow == nil {
		allow = guard.Check
	}
	d := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return allow(ap.Addr())
	}}
	return &http.Transport{DialContext: d.DialContext, TLSClientConfig: h.TLS, DisableKeepAlives: true, MaxResponseHeaderBytes: 16 << 10}
}
