package certificates

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/nomen-project/nomen/store"
)

// challengePath is the path prefix of http-01 challenges (RFC 8555, section 8.3).
const challengePath = "/.well-known/acme-challenge/"

const (
	maxToken      = 128              // in bytes; certificate authorities use at most 86
	challengeWait = 5 * time.Second  // maximum time for reading the vault for a client
	checkWait     = 10 * time.Second // maximum time for each check of a host
)

func (m *Manager) httpKey(token string) string { return m.prefix + "http-" + token }
func (m *Manager) tlsKey(name string) string   { return m.prefix + "tls_" + name } // unique, because host names contain no "_"

// TLS implements [Source]. A handshake without a host name, or for a host without a certificate,
// fails with the alert unrecognized_name.
func (m *Manager) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetCertificate:     m.certificate,
		GetConfigForClient: m.challengeConfig,
	}
}

// certificate returns the certificate for the host in the SNI extension of a handshake, or nil.
func (m *Manager) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return m.host(store.CanonicalHost(hello.ServerName)).cert, nil
}

// challengeConfig returns the TLS configuration for a tls-alpn-01 challenge (RFC 8737). For other
// handshakes it returns nil.
func (m *Manager) challengeConfig(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	if len(hello.SupportedProtos) != 1 || hello.SupportedProtos[0] != acme.ALPNProto {
		return nil, nil
	}
	name := store.CanonicalHost(hello.ServerName)
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{acme.ALPNProto}, SessionTicketsDisabled: true}
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if !m.has(name) {
			return nil, nil
		}
		text, err := m.answer(hello.Context(), m.tlsKey(name))
		if text == nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(text, text)
		return &pair, err
	}
	return config, nil
}

func (m *Manager) has(name string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.hosts[name] != nil
}

// answer reads the answer to a challenge from the vault, or returns nil. It limits the number of
// concurrent reads, which clients could otherwise cause at will.
func (m *Manager) answer(ctx context.Context, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, challengeWait)
	defer cancel()
	select {
	case m.reads <- struct{}{}:
		defer func() { <-m.reads }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	text, err := m.o.Vault.Secret(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return text, err
}

// WellKnown implements [Source]. It answers http-01 challenges in progress, and passes all other
// requests to next.
func (m *Manager) WellKnown(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.RequestURI, challengePath)
		if !ok || !isToken(token) || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		text, err := m.answer(r.Context(), m.httpKey(token))
		if err != nil {
			m.o.Log.Debug("a challenge cannot be answered", "err", err)
		}
		if text == nil {
			next.ServeHTTP(w, r)
			return
		}
		m.o.Log.Info("a challenge was answered", "host", store.CanonicalHost(r.Host))
		h := w.Header()
		h.Set("Content-Type", "text/plain")
		h.Set("Content-Length", strconv.Itoa(len(text)))
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(text)
	})
}

// isToken reports whether a text consists of base64url characters, as the token of a challenge
// does.
func isToken(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
}

// An unreachableError reports that requests to a host do not reach this server.
type unreachableError struct{ http, tls error }

func (e *unreachableError) Error() string {
	return fmt.Sprintf("the host does not lead to this server: http, port 80: %v; https, port 443: %v; check the DNS records, the firewall and the listeners", e.http, e.tls)
}

// challenges returns the types of challenges to try for a host, in order. It returns the first type
// for which the check shows that the host leads to this server. If Unchecked is set, it returns
// both types.
func (m *Manager) challenges(ctx context.Context, c *acme.Client, name string) ([]string, error) {
	if m.o.Unchecked {
		both := []string{typeHTTP, typeTLS}
		if m.host(name).back.Failures%2 == 1 { // the last attempt failed, so try the other type first
			slices.Reverse(both)
		}
		return both, nil
	}
	var errs [2]error
	for i, kind := range []string{typeHTTP, typeTLS} {
		token := rand.Text()
		key, err := m.prepare(ctx, c, kind, token, name)
		if err == nil {
			check, cancel := context.WithTimeout(ctx, checkWait)
			if kind == typeHTTP {
				errs[i] = m.checkHTTP(check, name, token)
			} else {
				errs[i] = m.checkTLS(check, name)
			}
			cancel()
		}
		m.forget(ctx, key)
		if err != nil {
			return nil, err
		}
		if errs[i] == nil {
			return []string{kind}, nil
		}
	}
	return nil, &unreachableError{errs[0], errs[1]}
}

const maxResponse = 1 << 10

// checkHTTP checks that a host leads to this server. It requests the answer to a challenge, as the
// certificate authority would.
func (m *Manager) checkHTTP(ctx context.Context, name, token string) error {
	want, err := m.o.Vault.Secret(ctx, m.httpKey(token))
	if err != nil {
		return err
	}
	client := &http.Client{
		Transport: &http.Transport{
			DialContext: m.o.Dial, DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // after a redirect; certificate authorities do not verify it either
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 3 || r.URL.Hostname() != name {
				return fmt.Errorf("redirected to %s", r.URL.Host)
			}
			return nil
		},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+name+challengePath+token, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(r)
	if err != nil {
		return plain(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("another server answers, with status %d", resp.StatusCode)
	case !bytes.Equal(bytes.TrimSpace(got), want):
		return errors.New("another server answers")
	}
	return nil
}

// checkTLS checks that a host leads to this server. It makes a TLS handshake, as the certificate
// authority would.
func (m *Manager) checkTLS(ctx context.Context, name string) error {
	text, err := m.o.Vault.Secret(ctx, m.tlsKey(name))
	if err != nil {
		return err
	}
	want, err := tls.X509KeyPair(text, text)
	if err != nil {
		return err
	}
	raw, err := m.o.Dial(ctx, "tcp", net.JoinHostPort(name, "443"))
	if err != nil {
		return plain(err)
	}
	defer raw.Close()
	c := tls.Client(raw, &tls.Config{ServerName: name, NextProtos: []string{acme.ALPNProto}, InsecureSkipVerify: true}) // the certificate of a challenge is self-signed
	if err := c.HandshakeContext(ctx); err != nil {
		return err
	}
	state := c.ConnectionState()
	if state.NegotiatedProtocol != acme.ALPNProto || len(state.PeerCertificates) == 0 || !bytes.Equal(state.PeerCertificates[0].Raw, want.Certificate[0]) {
		return errors.New("another server answers")
	}
	return nil
}

// plain removes the URL from an error. The random token in the URL would make each error different.
func plain(err error) error {
	for {
		inner := errors.Unwrap(err)
		var op *net.OpError
		if inner == nil || errors.As(err, &op) && error(op) == err {
			return err
		}
		err = inner
	}
}
