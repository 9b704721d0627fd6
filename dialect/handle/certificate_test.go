package handle

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
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

// A certificate authenticates a session, at its beginning or later. Requests in the session need no
// certificate, as scripts for ePIC expect.
func TestSessionByCertificate(t *testing.T) {
	h := newHarness(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h.server.identities = dialect.NewIdentities(actors(), []dialect.Identity{{ID: "300:20.500.9999/ADMIN", Token: "editor", PublicKey: &key.PublicKey}}, time.Now)
	secure, _, _, client := h.listen()
	transport := client.Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.Certificates = []tls.Certificate{selfSigned(t, key, pkix.Name{CommonName: "300:20.500.9999/ADMIN"})}
	defer transport.CloseIdleConnections()
	signed := &http.Client{Transport: transport}
	do := func(client *http.Client, method, path, authorization, body string) (status int, s shownSession) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, secure+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", authorization)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_ = json.NewDecoder(resp.Body).Decode(&s)
		return resp.StatusCode, s
	}
	status, s := do(signed, "POST", "/api/sessions", `Handle clientCert="true"`, "")
	if status != 201 || !s.Authenticated || s.Identity != "300:20.500.9999/ADMIN" {
		t.Fatalf("got %d with %+v", status, s)
	}
	if status, _ := do(client, "PUT", base+"20.500.9999/a", `Handle sessionId="`+s.ID+`"`, created); status != 201 {
		t.Errorf("a request in the session: got %d, want 201", status)
	}
	if status, s = do(client, "POST", "/api/sessions", `Handle clientCert="true"`, ""); status != 201 || s.Authenticated {
		t.Errorf("without a certificate: got %d with %+v", status, s)
	}
	in := `Handle sessionId="` + s.ID + `", clientCert="true"`
	if status, s := do(client, "PUT", "/api/sessions/this", in, ""); status != 401 || s.Authenticated {
		t.Errorf("PUT without a certificate: got %d with %+v", status, s)
	}
	if status, s := do(signed, "PUT", "/api/sessions/this", in, ""); status != 200 || !s.Authenticated {
		t.Errorf("PUT with a certificate: got %d with %+v", status, s)
	}
}
