// Package acmetest runs a certificate authority in tests: Pebble, the test authority of Let's
// Encrypt, with a DNS server that gives each host the loopback address.
package acmetest

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"github.com/nomen-project/nomen/discover/dnstest"
)

// Options configure an Authority.
type Options struct {
	Hosts    []string      // hosts to which DNS gives the address 127.0.0.1
	HTTPPort int           // port to which http-01 challenges connect, instead of 80
	TLSPort  int           // port to which tls-alpn-01 challenges connect, instead of 443
	Lifetime time.Duration // lifetime of the certificates; 90 days if 0
	EABID    string        // if not "", accounts need the external account with this ID
	EABKey   string        // key of the external account, base64url
}

// An Authority is a certificate authority that runs in this process.
type Authority struct {
	URL   string // URL of the directory
	Roots []byte // PEM: the certificate of the server of the directory
	Chain []byte // PEM: the root certificate of the certificates that it issues

	// Intercept is called before each request if it is not nil. It returns true if it has answered
	// the request. It must be set before the first request.
	Intercept func(w http.ResponseWriter, r *http.Request) bool

	server *httptest.Server
	dns    *dnstest.Server
	orders atomic.Int64
	once   sync.Once
}

// Start starts an authority.
func Start(o Options) (*Authority, error) {
	// Pebble reads these variables at its start. They disable the pauses before validations, and
	// make Pebble reject a fifth of the valid nonces.
	err := errors.Join(os.Setenv("PEBBLE_VA_NOSLEEP", "1"), os.Setenv("PEBBLE_WFE_NONCEREJECT", "20"))
	if err != nil {
		return nil, err
	}
	var zone strings.Builder
	for _, h := range o.Hosts {
		fmt.Fprintf(&zone, "%s. A 127.0.0.1\n", h)
	}
	a := &Authority{}
	if a.dns, err = dnstest.Start(zone.String(), nil); err != nil {
		return nil, err
	}
	if o.Lifetime == 0 {
		o.Lifetime = 90 * 24 * time.Hour
	}
	quiet, names := log.New(io.Discard, "", 0), db.NewMemoryStore()
	if o.EABID != "" {
		if err := names.AddExternalAccountKeyByID(o.EABID, o.EABKey); err != nil {
			return nil, errors.Join(err, a.dns.Close())
		}
	}
	issuer := ca.New(quiet, names, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: uint64(o.Lifetime.Seconds())}})
	validator := va.New(quiet, o.HTTPPort, o.TLSPort, false, a.dns.Addr, names)
	front := wfe.New(quiet, names, validator, issuer, []string{"pebble.letsencrypt.org"}, false, o.EABID != "", 0, 0)
	handler := front.Handler()
	a.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.serve(handler, w, r) }))
	a.URL = a.server.URL + wfe.DirectoryPath
	a.Roots = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.server.Certificate().Raw})
	a.Chain = issuer.GetRootCert(0).PEM()
	return a, nil
}

// serve answers a request, and counts orders and certificates.
func (a *Authority) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if a.Intercept != nil && a.Intercept(w, r) {
		return
	}
	recorded := httptest.NewRecorder()
	next.ServeHTTP(recorded, r)
	if r.URL.Path == newOrderPath && recorded.Code == http.StatusCreated {
		a.orders.Add(1)
	}
	maps.Copy(w.Header(), recorded.Header())
	var state struct{ Status string }
	if json.Unmarshal(recorded.Body.Bytes(), &state) == nil && (state.Status == "pending" || state.Status == "processing") {
		// Without Retry-After, clients wait for a second.
		time.Sleep(20 * time.Millisecond)
		w.Header().Set("Retry-After", "Mon, 01 Jan 2001 00:00:00 GMT")
	}
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(recorded.Body.Bytes())
}

// newOrderPath is where Pebble accepts new orders.
const newOrderPath = "/order-plz"

// Orders returns how many orders the authority has accepted.
func (a *Authority) Orders() int { return int(a.orders.Load()) }

// Reject answers a request with a problem of ACME. The kind is for example "rateLimited".
func Reject(w http.ResponseWriter, status int, kind, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "urn:ietf:params:acme:error:" + kind, "detail": detail, "status": status})
}

// Close stops the authority. Further calls do nothing.
func (a *Authority) Close() {
	a.once.Do(func() {
		a.server.Close()
		_ = a.dns.Close()
	})
}
