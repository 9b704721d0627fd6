//go:build clients

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	acmepebbleca "github.com/letsencrypt/pebble/v2/ca"
	acmepebbledb "github.com/letsencrypt/pebble/v2/db"
	acmepebbleva "github.com/letsencrypt/pebble/v2/va"
	acmepebblewfe "github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// An internet is what a machine reaches at [internetAddr]: DNS, and a certificate authority at
// the URL of Let's Encrypt.
type internet struct {
	root  []byte         // PEM: signed the certificate of the authority's server
	roots *x509.CertPool // sign the certificates that the authority issues
	issue []byte         // the same as PEM
}

const letsEncrypt = "acme-v02.api.letsencrypt.org"

// connectInternet starts the servers. The address belongs to a cable (see [machine.connect]),
// which need not be there yet.
func connectInternet(t *testing.T) *internet {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	for _, network := range []string{"udp", "tcp"} {
		server := &dns.Server{Addr: internetAddr + ":53", Net: network, Handler: dns.HandlerFunc(answerDNS)}
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() {
			if err := server.ListenAndServe(); err != nil {
				t.Errorf("DNS: %v", err)
			}
		}()
		<-started
		t.Cleanup(func() { _ = server.Shutdown() })
	}
	quiet := log.New(io.Discard, "", 0)
	store := acmepebbledb.NewMemoryStore()
	authority := acmepebbleca.New(quiet, store, "", "ecdsa", 0, 1, map[string]acmepebbleca.Profile{"default": {Description: "default"}})
	validator := acmepebbleva.New(quiet, 80, 443, true, internetAddr+":53", store)
	front := acmepebblewfe.New(quiet, store, validator, authority, []string{"letsencrypt.org"}, true, false, 0, 0)
	handler := front.Handler()
	l, err := net.Listen("tcp", internetAddr+":443")
	if err != nil {
		t.Fatal(err)
	}
	n := &internet{roots: x509.NewCertPool()}
	certificate, root := certificateOf(t, letsEncrypt)
	n.root = root
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/directory" {
				r.URL.Path = acmepebblewfe.DirectoryPath
			}
			handler.ServeHTTP(w, r)
		}),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  quiet,
	}
	go func() { _ = server.ServeTLS(l, "", "") }()
	t.Cleanup(func() { _ = server.Close() })
	answer := httptest.NewRecorder()
	front.ManagementHandler().ServeHTTP(answer, httptest.NewRequest("GET", acmepebblewfe.RootCertPath+"0", nil))
	n.issue = answer.Body.Bytes()
	if !n.roots.AppendCertsFromPEM(n.issue) {
		t.Fatalf("the root of the authority: %s", n.issue)
	}
	return n
}

// answerDNS answers with the machine for names of example.edu.
func answerDNS(w dns.ResponseWriter, r *dns.Msg) {
	m := new(dns.Msg).SetReply(r)
	m.RecursionAvailable = true
	if q := r.Question[0]; q.Qtype == dns.TypeA {
		switch name := strings.ToLower(q.Name); {
		case name == letsEncrypt+".":
			m.Answer = append(m.Answer, &dns.A{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1}, A: net.ParseIP(internetAddr)})
		case strings.HasSuffix(name, ".example.edu."):
			m.Answer = append(m.Answer, &dns.A{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1}, A: net.ParseIP(machineAddr)})
		default:
			m.Rcode = dns.RcodeNameError
		}
	}
	_ = w.WriteMsg(m)
}

// certificateOf returns a certificate for a host, which signs itself.
func certificateOf(t *testing.T, host string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
