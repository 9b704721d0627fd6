// Package signintest provides an identity provider of OpenID Connect for tests.
package signintest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The registration of the client.
const (
	ClientID     = "nomen"
	ClientSecret = "swordfish:&%+ " // must be escaped in the Authorization field
)

// A Provider is an identity provider at which everybody is signed in already. Its fields must not
// be changed during a request.
type Provider struct {
	URL    string
	Claims map[string]any          // about the person, at least sub
	Info   map[string]any          // from the UserInfo endpoint
	Now    func() time.Time        // the clock
	Change func(id map[string]any) // changes an ID token before it is signed; may be nil
	Away   bool                    // every response is an error
	Logout string                  // the end_session_endpoint; "" for none
	Answer url.Values              // sent instead of the code, unless nil

	mu       sync.Mutex
	key      *ecdsa.PrivateKey
	keyID    string
	codes    map[string]url.Values // queries of the requests for codes that are not yet used
	requests map[string]int        // by path
}

// New starts a provider.
func New(t testing.TB) *Provider {
	p := &Provider{Now: time.Now, codes: map[string]url.Values{}, requests: map[string]int{}, Claims: map[string]any{"sub": "17"}}
	p.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("/keys", p.keys)
	mux.HandleFunc("/authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("/info", p.info)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.requests[r.URL.Path]++
		if p.Away {
			http.Error(w, "closed for maintenance", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	p.URL = s.URL
	return p
}

// Rotate replaces the key that signs ID tokens.
func (p *Provider) Rotate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // cannot fail
	p.keyID = rand.Text()
}

// Requests returns the number of requests for a path.
func (p *Provider) Requests(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[path]
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	found := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"jwks_uri": p.URL + "/keys", "userinfo_endpoint": p.URL + "/info", "id_token_signing_alg_values_supported": []string{"ES256"},
	}
	if p.Logout != "" {
		found["end_session_endpoint"] = p.Logout
	}
	reply(w, found)
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	reply(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: p.keyID, Algorithm: "ES256", Use: "sig"}}})
}

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	back := p.Answer
	if back == nil {
		code := rand.Text()
		p.codes[code] = q
		back = url.Values{"code": {code}}
	}
	back = maps.Clone(back)
	back.Set("state", q.Get("state"))
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token exchanges a code, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	q := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case id != ClientID || secret != ClientSecret:
		fail(w, "invalid_client")
	case q == nil, r.PostFormValue("redirect_uri") != q.Get("redirect_uri"), base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge"):
		fail(w, "invalid_grant")
	default:
		reply(w, map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": 60, "id_token": p.sign(q.Get("nonce"))})
	}
}

func (p *Provider) sign(nonce string) string {
	now := p.Now()
	id := map[string]any{"iss": p.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "nonce": nonce}
	maps.Copy(id, p.Claims)
	if p.Change != nil {
		p.Change(id)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: p.keyID}}, nil)
	if err != nil {
		return err.Error()
	}
	text, _ := json.Marshal(id)
	signed, err := signer.Sign(text)
	if err != nil {
		return err.Error()
	}
	token, _ := signed.CompactSerialize()
	return token
}

func (p *Provider) info(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer access" || p.Info == nil {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	reply(w, p.Info)
}

func fail(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write([]byte(`{"error":"` + code + `"}`))
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // after an error, the client is gone
}
