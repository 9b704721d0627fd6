package certificates

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/nomen-project/nomen/store"
)

// The types of challenges (RFC 8555, section 8.3, and RFC 8737).
const (
	typeHTTP = "http-01"
	typeTLS  = "tls-alpn-01"
)

const maxCommonName = 64 // RFC 5280, appendix A.1

func (m *Manager) order(ctx context.Context, name string) ([]byte, error) {
	client, err := m.client(ctx)
	if err != nil {
		return nil, err
	}
	challenges, err := m.challenges(ctx, client, name)
	if err != nil {
		return nil, err
	}
	if err := m.register(ctx, client); err != nil {
		return nil, err
	}
	o, err := client.AuthorizeOrder(ctx, acme.DomainIDs(name))
	if err != nil {
		return nil, err
	}
	for _, url := range o.AuthzURLs {
		if err := m.authorize(ctx, client, url, name, challenges); err != nil {
			return nil, err
		}
	}
	if o, err = client.WaitOrder(ctx, o.URI); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	request := &x509.CertificateRequest{DNSNames: []string{name}}
	if len(name) <= maxCommonName {
		request.Subject = pkix.Name{CommonName: name}
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, request, key)
	if err != nil {
		return nil, err
	}
	chain, _, err := client.CreateCertFromOrder(ctx, o, csr, true)
	if err != nil {
		return nil, err
	}
	return encode(key, chain)
}

// client returns a client of the certificate authority with the key of the account. The first call
// generates the key.
func (m *Manager) client(ctx context.Context) (*acme.Client, error) {
	key, err := m.accountKey(ctx)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: m.o.Roots, MinVersion: tls.VersionTLS12}
	transport.DisableKeepAlives = true // requests are rare
	return &acme.Client{
		Key: key, DirectoryURL: m.o.Directory, UserAgent: m.o.UserAgent, RetryBackoff: retryBackoff,
		HTTPClient: &http.Client{Transport: transport, Timeout: 30 * time.Second},
	}, nil
}

// retryBackoff returns how long to wait before retry n of a request. A request whose nonce was
// rejected is retried at once. After failures of the certificate authority, the waits get longer.
// After a rate limit the order fails without a retry.
func retryBackoff(n int, _ *http.Request, resp *http.Response) time.Duration {
	switch {
	case resp.StatusCode == http.StatusBadRequest && n <= 10:
		return 10 * time.Millisecond
	case resp.StatusCode >= http.StatusInternalServerError && n <= 3:
		return time.Duration(n*n) * 500 * time.Millisecond
	}
	return 0
}

// accountName returns the key of the account in the vault. Each external account has its own key.
func (m *Manager) accountName() string {
	name := m.prefix + "account"
	if m.o.AccountID != "" {
		name += "-" + digest(m.o.AccountID)
	}
	return name
}

func (m *Manager) accountKey(ctx context.Context) (crypto.Signer, error) {
	name := m.accountName()
	text, err := m.o.Vault.Secret(ctx, name)
	if err == nil {
		key, err := parseKey(text)
		if err != nil {
			return nil, fmt.Errorf("the stored key of the account is invalid: %w", err)
		}
		return key, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if text, err = encode(key, nil); err != nil {
		return nil, err
	}
	return key, m.o.Vault.PutSecret(ctx, name, text)
}

var errExternal = errors.New("the authority needs an external account: configure the ID and the key that it has assigned")

// register makes sure that the certificate authority has an account with the current email address.
func (m *Manager) register(ctx context.Context, c *acme.Client) error {
	a := &acme.Account{}
	if m.o.Email != "" {
		a.Contact = []string{"mailto:" + m.o.Email}
	}
	if m.o.AccountID != "" {
		a.ExternalAccountBinding = &acme.ExternalAccountBinding{KID: m.o.AccountID, Key: m.o.AccountKey}
	}
	dir, err := c.Discover(ctx)
	if err != nil {
		return fmt.Errorf("the directory %s cannot be read: %w", m.o.Directory, err)
	}
	if dir.ExternalAccountRequired && m.o.AccountID == "" {
		return errExternal
	}
	_, err = c.Register(ctx, a, acme.AcceptTOS)
	if !errors.Is(err, acme.ErrAccountAlreadyExists) {
		return err
	}
	if m.o.Email == "" {
		return nil
	}
	_, err = c.UpdateReg(ctx, &acme.Account{Contact: a.Contact})
	return err
}

func (m *Manager) authorize(ctx context.Context, c *acme.Client, url, name string, challenges []string) error {
	z, err := c.GetAuthorization(ctx, url)
	if err != nil || z.Status == acme.StatusValid {
		return err
	}
	if z.Status != acme.StatusPending {
		return fmt.Errorf("the authorization is %s", z.Status)
	}
	for _, kind := range challenges {
		for _, challenge := range z.Challenges {
			if challenge.Type != kind {
				continue
			}
			key, err := m.prepare(ctx, c, challenge.Type, challenge.Token, name)
			defer m.forget(ctx, key)
			if err != nil {
				return err
			}
			if _, err := c.Accept(ctx, challenge); err != nil {
				return err
			}
			_, err = c.WaitAuthorization(ctx, z.URI)
			return err
		}
	}
	return fmt.Errorf("the authority offers none of the challenges %v", challenges)
}

// prepare puts the answer to a challenge into the vault, where all nodes find it. It returns the
// key of the answer.
func (m *Manager) prepare(ctx context.Context, c *acme.Client, kind, token, name string) (key string, err error) {
	if kind == typeHTTP {
		key = m.httpKey(token)
		response, err := c.HTTP01ChallengeResponse(token)
		if err != nil {
			return key, err
		}
		return key, m.o.Vault.PutSecret(ctx, key, []byte(response))
	}
	key = m.tlsKey(name)
	cert, err := c.TLSALPN01ChallengeCert(token, name)
	if err != nil {
		return key, err
	}
	text, err := encode(cert.PrivateKey, cert.Certificate)
	if err != nil {
		return key, err
	}
	return key, m.o.Vault.PutSecret(ctx, key, text)
}

func (m *Manager) forget(ctx context.Context, key string) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLeaseTime)
	defer cancel()
	if err := m.o.Vault.PutSecret(last, key, nil); err != nil {
		m.o.Log.Warn("cannot remove the answer to a challenge", "err", err)
	}
}

// The types of PEM blocks.
const (
	blockKey         = "PRIVATE KEY" // PKCS #8
	blockCertificate = "CERTIFICATE"
)

func encode(key any, chain [][]byte) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = pem.Encode(&b, &pem.Block{Type: blockKey, Bytes: der})
	for _, der := range chain {
		err = errors.Join(err, pem.Encode(&b, &pem.Block{Type: blockCertificate, Bytes: der}))
	}
	return b.Bytes(), err
}

// parseKey parses a private key that encode has written without a certificate chain.
func parseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != blockKey {
		return nil, errors.New("no PEM block with a private key")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a key of type %T cannot sign", key)
	}
	return signer, nil
}

// parse parses a result of encode, and checks that the certificate is for the host.
func parse(text []byte, name string) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, err
	}
	return &pair, pair.Leaf.VerifyHostname(name)
}
