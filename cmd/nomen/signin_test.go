package main

import (
	"context"
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
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/signin/signintest"
	"github.com/nomen-project/nomen/store"
)

// A guest is a client that keeps cookies and does not follow redirects.
type guest struct {
	*testing.T
	client  *http.Client
	base    string
	cookies map[string]string
}

// visit returns a guest of a listener: HOST:PORT, or the path of a Unix socket.
func visit(t *testing.T, at string) *guest {
	v := &guest{T: t, base: "http://" + at, cookies: map[string]string{}}
	transport := &http.Transport{}
	if filepath.IsAbs(at) {
		v.base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", at)
		}
	}
	t.Cleanup(transport.CloseIdleConnections)
	v.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return v
}

// do sends a request with fields, and returns the status, the target of a redirect and the body.
func (v *guest) do(method, target string, form url.Values, fields http.Header) (status int, to, body string) {
	v.Helper()
	r, err := http.NewRequest(method, v.base+target, strings.NewReader(form.Encode()))
	if err != nil {
		v.Fatal(err)
	}
	for name, values := range fields {
		r.Header[name] = values
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		if v.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		}
	}
	return resp.StatusCode, resp.Header.Get("Location"), string(text)
}

// want sends a GET request, and checks the status and a part of the target or the body.
func (v *guest) want(target string, fields http.Header, status int, part string) {
	v.Helper()
	got, to, body := v.do(http.MethodGet, target, nil, fields)
	if got != status || !strings.Contains(to+body, part) {
		v.Errorf("%s%s %v: got %d to %q, want %d with %q:\n%s", v.base, target, fields, got, to, status, part, body)
	}
}

// newUser adds a user through the server of a data directory.
func newUser(t *testing.T, data string, u *store.User) (api *adminapi.Client, id string) {
	t.Helper()
	c := &cli{data: data}
	api, err := c.server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := api.PutUser(t.Context(), u, store.AnyRevision, "joins")
	if err != nil {
		t.Fatal(err)
	}
	return api, out.User.ID
}

// socketDir returns a directory for Unix sockets, whose paths must be short.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "nomen")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestSignInByHeader: only requests at the named socket may name a user in a field. At every other
// listener, pages reject the field, and nothing else takes notice of it.
func TestSignInByHeader(t *testing.T) {
	t.Parallel()
	data, sockets := t.TempDir(), socketDir(t)
	trusted, other := filepath.Join(sockets, "pages.sock"), filepath.Join(sockets, "other.sock")
	p := start(t, data, "--admin", "unix:"+trusted, "--admin", "unix:"+other, "--sign-in.header", "X-Remote-User", "--sign-in.proxies", "unix:"+trusted)
	newUser(t, data, &store.User{Name: "Zoe Zhang", Subjects: []string{"header zoe"}, Grants: []store.UserGrant{{Role: "administrator"}}})
	zoe, both := http.Header{"X-Remote-User": {"zoe"}}, http.Header{"X-Remote-User": {"anna", "zoe"}}
	v := visit(t, trusted)
	v.want("/-/ui/", zoe, 200, "Zoe Zhang")
	v.want("/-/ui/", nil, 303, "/-/ui/sign-in?next=")
	v.want("/-/ui/", http.Header{"X-Remote-User": {"stranger"}}, 303, "/-/ui/sign-in?next=")
	v.want("/-/ui/sign-in", http.Header{"X-Remote-User": {"stranger"}}, 403, "header stranger")
	v.want("/-/ui/", both, 403, "only the web server of your institution may send")
	tcp := regexp.MustCompile(`admin listener at (127[.\d:]+)`).FindStringSubmatch(p.output())[1]
	for _, at := range []string{tcp, other} {
		v := visit(t, at)
		for _, target := range []string{"/-/ui/", "/-/ui/sign-in", "/-/ui/names", "/-/ui/sign-in/sessions"} {
			v.want(target, zoe, 403, "only the web server of your institution may send")
			v.want(target, http.Header{"x-remote-user": {"zoe"}}, 403, "only the web server")
		}
		v.want("/-/ui/", nil, 303, "/-/ui/sign-in?next=")
	}
	for _, at := range []string{tcp, other, trusted} {
		visit(t, at).want("/api/v1/users", zoe, 401, "")
	}
	visit(t, p.public).want("/-/ui/", zoe, 404, "")
	visit(t, p.public).want("/-/ui/sign-in", zoe, 404, "")
}

// TestSignInByLink checks that a link works in a browser, and that the session is not accepted by
// the API.
func TestSignInByLink(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	api, id := newUser(t, data, &store.User{Name: "Anna Berg", Grants: []store.UserGrant{{Role: "administrator"}}})
	link, err := api.SignInLink(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	target, ok := strings.CutPrefix(link.URL, "http://"+p.admin)
	if !ok {
		t.Fatalf("link %q, listener %s", link.URL, p.admin)
	}
	v := visit(t, p.admin)
	v.want(target, nil, 200, "Anna Berg")
	_, code, _ := strings.Cut(target, "code=")
	form := url.Values{"code": {code}}
	cross := http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}
	if status, _, _ := v.do(http.MethodPost, "/-/ui/sign-in/link", form, cross); status != 403 || len(v.cookies) > 0 {
		t.Errorf("a form of another site: %d", status)
	}
	if status, to, body := v.do(http.MethodPost, "/-/ui/sign-in/link", form, nil); status != 303 || to != "/-/ui/" || v.cookies["__Host-nomen"] == "" {
		t.Fatalf("got %d to %q:\n%s", status, to, body)
	}
	v.want("/-/ui/", nil, 200, "Anna Berg")
	v.want("/api/v1/users", nil, 401, "")
	v.want("/-/ui/sign-in/sessions", nil, 200, "Where you are signed in")
	u, err := api.User(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	u.Disabled = true
	if _, err := api.PutUser(t.Context(), u, store.AnyRevision, "leaves"); err != nil {
		t.Fatal(err)
	}
	v.want("/-/ui/", nil, 303, "/-/ui/sign-in?next=")
	if got := send(t, "GET", "http://"+p.admin+"/-/metrics", "").body; !strings.Contains(got, `nomen_sign_ins_total{result="success",way="link"} 1`) {
		t.Errorf("the sign-in is not counted:\n%s", got)
	}
	if strings.Contains(p.output(), code) {
		t.Errorf("the log has the secret:\n%s", p.output())
	}
}

// TestEndsOfSessions: sessions end when a user is disabled, through the API or by a command, even if
// there is no request before the user is enabled again, and when an administrator signs the user out.
func TestEndsOfSessions(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	api, id := newUser(t, data, &store.User{Name: "Anna Berg", Grants: []store.UserGrant{{Role: "administrator"}}})
	command := func(args ...string) {
		t.Helper()
		var log strings.Builder
		if status := run(t.Context(), append([]string{"--data", data, "user"}, args...), streams{strings.NewReader(""), io.Discard, &log}); status != exitYes {
			t.Fatalf("%q: status %d: %s", args, status, log.String())
		}
	}
	put := func(disabled bool) {
		t.Helper()
		u, err := api.User(t.Context(), id)
		if err == nil {
			u.Disabled = disabled
			_, err = api.PutUser(t.Context(), u, u.Revision, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for door, end := range map[string]func(){
		"API":      func() { put(true); put(false) },
		"command":  func() { command("disable", id); command("enable", id) },
		"sign-out": func() { command("sign-out", id) },
	} {
		link, err := api.SignInLink(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		v := visit(t, p.admin)
		_, code, _ := strings.Cut(link.URL, "code=")
		v.do(http.MethodPost, "/-/ui/sign-in/link", url.Values{"code": {code}}, nil)
		v.want("/-/ui/", nil, 200, "Anna Berg")
		end()
		if status, _, body := v.do(http.MethodGet, "/-/ui/", nil, nil); status != 303 {
			t.Errorf("%s: got %d, want 303:\n%s", door, status, body)
		}
	}
}

// TestSignInByProvider: a person signs in at a provider. A claim gives rights to people who are not
// users yet, and others learn whom to ask.
func TestSignInByProvider(t *testing.T) {
	t.Parallel()
	provider := signintest.New(t)
	data, dir := t.TempDir(), t.TempDir()
	config := filepath.Join(dir, "nomen.toml")
	files := map[string]string{
		filepath.Join(dir, "secret"): signintest.ClientSecret + "\n",
		config: `
[sign-in]
url = "http://127.0.0.1:1"
contact = "the registrar"
[[oidc]]
id = "uni"
name = "University"
issuer = "` + provider.URL + `"
client-id = "` + signintest.ClientID + `"
client-secret-file = "` + filepath.Join(dir, "secret") + `"
[[oidc.map]]
claim = "groups"
value = "editors"
role = "editor"
prefix = "urn:nbn:fi"
`,
	}
	for file, text := range files {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, data, "--config", config)
	in := func() *guest {
		t.Helper()
		v := visit(t, p.admin)
		v.want("/-/ui/sign-in", nil, 200, "Sign in with University")
		_, to, body := v.do(http.MethodGet, "/-/ui/sign-in/at/uni?next=%2F-%2Fui%2Fnames", nil, nil)
		resp, err := v.client.Get(to)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		resp.Body.Close()
		back := strings.TrimPrefix(resp.Header.Get("Location"), "http://127.0.0.1:1")
		if provider.Claims["groups"] == nil {
			v.want(back, nil, 403, "the registrar")
			v.want("/-/ui/", nil, 303, "/-/ui/sign-in?next=")
		} else {
			v.want(back, nil, 303, "/-/ui/names")
		}
		return v
	}
	in()
	provider.Claims = map[string]any{"sub": "17", "groups": []string{"editors"}, "name": "Zoe Zhang"}
	v := in()
	v.want("/-/ui/", nil, 200, "Zoe Zhang")
	api, err := (&cli{data: data}).server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := api.Users(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "Zoe Zhang" || len(all[0].Grants) != 0 {
		t.Errorf("users %+v, %v", all, err)
	}
	if strings.Contains(p.output(), "swordfish") {
		t.Error("the log has the secret")
	}
}

// issue returns a certificate for a name, signed by another one, or by itself.
func issue(t *testing.T, name string, ca *tls.Certificate) tls.Certificate {
	t.Helper()
	return sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: ca == nil, BasicConstraintsValid: true,
	}, ca)
}

// sign returns the certificate c with a new key, signed by ca, or by itself if ca is nil.
func sign(t *testing.T, c *x509.Certificate, ca *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := c, any(key)
	if ca != nil {
		parent, signer = ca.Leaf, ca.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// TestProxyCertificates: a client of an admin listener is a proxy if it has a certificate for the
// name from the right authority. Clients without one are served too.
func TestProxyCertificates(t *testing.T) {
	ca, foreign := issue(t, "ca", nil), issue(t, "ca", nil)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &serveFlags{signIn: signInFlags{header: "X-Remote-User", proxies: []string{"tls:proxy.example.org"}, ca: file}}
	f.specs = []listenSpec{{admin: true, secure: &tls.Config{}}, {secure: &tls.Config{}}, {admin: true}}
	isProxy, err := (&cli{}).proxyCheck(&f.signIn)
	if err == nil {
		err = f.requestCertificates()
	}
	if err != nil || f.specs[1].secure.ClientAuth != tls.NoClientCert || f.specs[2].secure != nil {
		t.Fatalf("%v, %+v", err, f.specs)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isProxy(r) {
			_, _ = io.WriteString(w, "proxy")
		}
	}))
	s.TLS = f.specs[0].secure
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	good, wrong, strange := issue(t, "proxy.example.org", &ca), issue(t, "www.example.org", &ca), issue(t, "proxy.example.org", &foreign)
	for name, tt := range map[string]struct {
		cert *tls.Certificate
		want string
	}{"the proxy": {&good, "proxy"}, "no certificate": {nil, ""}, "another name": {&wrong, ""}, "another authority": {&strange, "rejected"}} {
		t.Run(name, func(t *testing.T) {
			roots := x509.NewCertPool()
			roots.AddCert(s.Certificate())
			c := &tls.Config{RootCAs: roots}
			if tt.cert != nil {
				c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return tt.cert, nil }
			}
			transport := &http.Transport{TLSClientConfig: c}
			defer transport.CloseIdleConnections()
			got := "rejected"
			if resp, err := (&http.Client{Transport: transport}).Get(s.URL); err == nil {
				body, _ := io.ReadAll(resp.Body)
				got = string(body)
				resp.Body.Close()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
