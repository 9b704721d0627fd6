package handle

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/dialect"
)

// selfSigned returns a certificate for a key.
func selfSigned(t *testing.T, key *ecdsa.PrivateKey, subject pkix.Name) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), Subject: subject}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// A client certificate is accepted only if its key is that of the identity that it names.
func TestClientCertificates(t *testing.T) {
	h := newHarness(t)
	var keys [2]*ecdsa.PrivateKey
	for i := range keys {
		var err error
		if keys[i], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	accounts := testAccounts{"editor": h.actor("editor")}
	h.server.identities = dialect.NewIdentities(accounts, []dialect.Identity{
		{ID: "300:20.500.9999/ADMIN", Token: "editor", PublicKey: &keys[0].PublicKey},
		{ID: "301:20.500.9999/ADMIN", Token: "editor", Secret: []byte("correct horse")},
	}, time.Now)
	secure, _, _, client := h.listen()
	uid := pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}, Value: "300:20.500.9999/ADMIN"}
	for i, tt := range []struct {
		name    string
		key     *ecdsa.PrivateKey
		subject pkix.Name
		status  int
	}{
		{"CN", keys[0], pkix.Name{CommonName: "300:20.500.9999/ADMIN"}, 201},
		{"UID", keys[0], pkix.Name{CommonName: "someone", ExtraNames: []pkix.AttributeTypeAndValue{uid}}, 201},
		{"another key", keys[1], pkix.Name{CommonName: "300:20.500.9999/ADMIN"}, 403},
		{"identity without key", keys[0], pkix.Name{CommonName: "301:20.500.9999/ADMIN"}, 403},
		{"unknown identity", keys[0], pkix.Name{CommonName: "302:20.500.9999/ADMIN"}, 401},
	} {
		transport := client.Transport.(*http.Transport).Clone()
		transport.TLSClientConfig.Certificates = []tls.Certificate{selfSigned(t, tt.key, tt.subject)}
		r, err := http.NewRequestWithContext(t.Context(), "PUT", secure+base+"20.500.9999/cert"+string(rune('a'+i)), strings.NewReader(created))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", `Handle clientCert="true"`)
		resp, err := (&http.Client{Transport: transport}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		transport.CloseIdleConnections()
		if resp.StatusCode != tt.status {
			t.Errorf("%s: got %d %s, want %d", tt.name, resp.StatusCode, body, tt.status)
		}
	}
}
