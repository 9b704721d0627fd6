package handle

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/dialect"
)

// golden is an answer to the nonce 00 01 … 0f, without its signature, of a client whose secret is
// "correct horse". OpenSSL and Python have made the signatures.
func golden(kind, alg, signature string) answer {
	return answer{
		paramID: "300:20.500.9999/ADMIN", paramType: kind, paramAlg: alg, paramSignature: signature,
		paramCnonce: "EBESExQVFhcYGRobHB0eHw==", "salt": "ZGVmZ2hpamtsbW5vcHFycw==", "iterations": "10000", "length": "160",
	}
}

// goldenNonce is the nonce of [golden].
var goldenNonce = []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// Signatures of golden answers.
const (
	goldenSHA1   = "B6ePq3L36tawM6cbahg4kIJBRr8="
	goldenSHA256 = "RZY4U9C7ZTqpyfT/Ra7j7I1SrDnR7Eqd/2kOAvbAR2Q="
	goldenHMAC1  = "Ku5G7du5mz24RTTJUmW9Xkg7f9w="
	goldenHMAC2  = "foYOkaZGzYQBKq053PNqtyaniIgdA9K8CaR7h2W9E2c="
	goldenPBKDF2 = "9O2g9YOH1uqGNf/uhFHSQlCdSFg="
	goldenRSA    = "K21aYQiz146qCAU0naW2AsEY3txhYk1IjDK0eHPjT+Dsulkuf2nZAiM6NLxlmqg8s9z4m+ngSgE4ZhwjgPbAXiC9MfSgge2ZlQaX5UDLSPWp76T4QqKXEj+/xhX0QVOtLj7BgMEogFCRAc6KMZ5kvMlEbqMxphZqCbN2+LaXO3VwUSK0IFLVXBKYzC5+B7uBoCgvYMyJ+ZMy4uD26RlhZHsavYFaVMRUzBgvb3H3xa9lzIs2w3sOI7UZQvgbEWWrr/ROwHVAUYIm8XYbVmjKTV9+0rg0cBcC3VjDwm9W7yUdF2A2c+X4AdRLbQ35d8T3QVk+0g4uaS1V6BqCQx7eyg=="
	goldenDSA    = "MD0CHQCuWSH0lj7W1M2rFSwXARa9BusGFNs8gk+GZ/zzAhx8mujYYz0sYe1Dm1p6C0Z+fylmLQ42hcK/n0wI"
)

// publicKey reads the public key in a file.
func publicKey(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAnswers(t *testing.T) {
	secret := &dialect.Identity{Secret: []byte("correct horse")}
	other := &dialect.Identity{Secret: []byte("wrong horse")}
	rsa, dsa := &dialect.Identity{PublicKey: publicKey(t, "testdata/rsa.pem")}, &dialect.Identity{PublicKey: publicKey(t, "testdata/dsa.pem")}
	for _, tt := range []struct {
		identity             *dialect.Identity
		kind, alg, signature string
		want                 bool
	}{
		{secret, "HS_SECKEY", "SHA1", goldenSHA1, true},
		{secret, "HS_SECKEY", "sha-1", goldenSHA1, true},
		{secret, "HS_SECKEY", "SHA256", goldenSHA256, true},
		{secret, "HS_SECKEY", "HMAC-SHA1", goldenHMAC1, true},
		{secret, "HS_SECKEY", "HMAC-SHA256", goldenHMAC2, true},
		{secret, "HS_SECKEY", "HmacSHA256", strings.TrimRight(goldenHMAC2, "="), true},
		{secret, "HS_SECKEY", "PBKDF2-HMAC-SHA1", goldenPBKDF2, true},
		{secret, "HS_SECKEY", "PBKDF2WithHmacSHA1", goldenPBKDF2, true},
		{secret, "HS_SECKEY", "MD5", goldenSHA1, false},
		{secret, "HS_SECKEY", "SHA1", goldenSHA256, false},
		{secret, "HS_SECKEY", "SHA256", "", false},
		{secret, "HS_SECKEY", "SHA256", "?", false},
		{secret, "HS_PUBKEY", "SHA256", goldenRSA, false},
		{other, "HS_SECKEY", "SHA256", goldenSHA256, false},
		{nil, "HS_SECKEY", "SHA256", goldenSHA256, false},
		{&dialect.Identity{}, "HS_SECKEY", "SHA256", goldenSHA256, false},
		{rsa, "HS_PUBKEY", "SHA256", goldenRSA, true},
		{rsa, "HS_PUBKEY", "SHA1", goldenRSA, false},
		{rsa, "HS_PUBKEY", "SHA256", goldenDSA, false},
		{rsa, "HS_SECKEY", "SHA256", goldenRSA, false},
		{dsa, "HS_PUBKEY", "SHA256", goldenDSA, true},
		{dsa, "HS_PUBKEY", "SHA256", goldenRSA, false},
		{nil, "HS_PUBKEY", "SHA256", goldenRSA, false},
		{secret, "HS_PUBKEY", "SHA256", goldenSHA256, false},
	} {
		a := golden(tt.kind, tt.alg, tt.signature)
		if got := a.proves(tt.identity, goldenNonce); got != tt.want {
			t.Errorf("%s %s %.20s: got %v, want %v", tt.kind, tt.alg, tt.signature, got, tt.want)
		}
		if a.proves(tt.identity, append([]byte{1}, goldenNonce[1:]...)) {
			t.Errorf("%s %s: also proved for another nonce", tt.kind, tt.alg)
		}
		if a[paramCnonce] = "AAAA"; a.proves(tt.identity, goldenNonce) {
			t.Errorf("%s %s: also proved for another cnonce", tt.kind, tt.alg)
		}
	}
	for key, values := range map[string][]string{"iterations": {"999", "100001", "x", ""}, "length": {"0", "120", "161", "520", ""}, "salt": {"?", strings.Repeat("AAAA", 30)}} {
		for _, v := range values {
			a := golden("HS_SECKEY", "PBKDF2-HMAC-SHA1", goldenPBKDF2)
			if a[key] = v; a.mac([]byte("correct horse"), nil) != nil {
				t.Errorf("%s %q is accepted", key, v)
			}
		}
	}
}

func TestParseAnswer(t *testing.T) {
	for text, want := range map[string]answer{
		``:                             {},
		` clientCert="true"`:           {"clientcert": "true"},
		`A=b, c="d, e\"\\" ,f="g"`:     {"a": "b", "c": `d, e"\`, "f": "g"},
		`signature=a/b+c==, version=0`: {"signature": "a/b+c==", "version": "0"},
		`a = "b"`:                      {"a": "b"},
		`a`:                            nil,
		`a=`:                           nil,
		`a="b`:                         nil,
		`a="b\`:                        nil,
		`a="b"c`:                       nil,
		`a=b"c"`:                       nil,
		`a=b c=d`:                      nil,
		`a=b, A=c`:                     nil,
		`="b"`:                         nil,
		`a b=c`:                        nil,
		`é=c`:                          nil,
		strings.Repeat("a", 9) + "=b," + strings.Join(strings.Split(strings.Repeat("x", 30), ""), "=1,"): nil,
	} {
		got, ok := parseAnswer(text)
		if ok != (want != nil) || !maps.Equal(got, want) {
			t.Errorf("%q: got %v, %v; want %v", text, got, ok, want)
		}
	}
	a := answer{"version": "0"}
	if !a.addJSON([]byte(`{"sessionId":"x","iterations":10000,"version":"0","clientCert":true}`)) || a[paramSession] != "x" || a["iterations"] != "10000" || a[paramCert] != "true" {
		t.Errorf("got %v", a)
	}
	for _, body := range []string{`[]`, `{"version":"1"}`, `{"a":null}`, `{"a":{}}`, `{`} {
		if a.addJSON([]byte(body)) {
			t.Errorf("%s is accepted", body)
		}
	}
}

// A challenge is a session with its nonce.
type challenge struct{ session, nonce string }

// challenged sends a request without rights, and returns the challenge.
func (h *harness) challenged(authorization string) (c challenge, problem string) {
	h.Helper()
	resp := h.do("PUT", base+"20.500.9999/abc", authorization, created)
	for _, field := range resp.Header.Values("WWW-Authenticate") {
		rest, ok := strings.CutPrefix(field, "Handle ")
		a, parsed := parseAnswer(rest)
		if ok && parsed && resp.StatusCode == 401 {
			return challenge{a[paramSession], a["nonce"]}, a["error"]
		}
	}
	h.Errorf("got %d, %q, want a challenge", resp.StatusCode, resp.Header.Values("WWW-Authenticate"))
	return c, ""
}

// answered returns the Authorization field with the answer of a client that has a secret.
func (c challenge) answered(secret string) string {
	nonce, _ := base64.StdEncoding.DecodeString(c.nonce)
	m := hmac.New(sha256.New, []byte(secret))
	m.Write(nonce)
	m.Write(goldenNonce)
	return `Handle version="0", sessionId="` + c.session + `", id="300%3A20.500.9999/ADMIN", type="HS_SECKEY", cnonce="` +
		base64.StdEncoding.EncodeToString(goldenNonce) + `", alg="HMAC-SHA256", signature="` + base64.StdEncoding.EncodeToString(m.Sum(nil)) + `"`
}

// status returns the status of a request that changes a handle.
func (h *harness) status(authorization string) int {
	h.Helper()
	return h.do("PUT", base+"20.500.9999/abc", authorization, created).StatusCode
}

const right, wrong = "correct horse", "wrong horse"

// A client answers the challenge to its request, and then uses the session.
func TestChallenge(t *testing.T) {
	h := newHarness(t)
	resp := h.do("PUT", base+"20.500.9999/abc", "", created)
	if got := resp.Header.Values("WWW-Authenticate"); resp.StatusCode != 401 || len(got) != 2 || got[0] != `Basic realm="handle"` || !strings.HasPrefix(got[1], `Handle sessionId="`) {
		t.Fatalf("got %d with %q", resp.StatusCode, got)
	}
	c, problem := h.challenged("")
	if raw, err := base64.StdEncoding.DecodeString(c.nonce); err != nil || len(raw) != 16 || problem != "" {
		t.Fatalf("got nonce %q, error %q", c.nonce, problem)
	}
	answer := c.answered(right)
	if got := h.status(answer); got != 201 {
		t.Fatalf("the right answer: got %d, want 201", got)
	}
	if a, b := h.status(answer), h.status(`Handle sessionId="`+c.session+`"`); a != 200 || b != 200 {
		t.Errorf("the same answer and the session: got %d and %d, want 200", a, b)
	}
	if got := h.record("20.500.9999/abc"); got.Revision == 0 {
		t.Errorf("got %+v", got)
	}
	if next, problem := h.challenged(c.answered("another secret")); next.session != c.session || next.nonce == c.nonce || problem != "Identity not verified" {
		t.Errorf("got %v after %v, error %q", next, c, problem)
	}
	r, _ := http.NewRequest("PUT", "/", strings.NewReader(created))
	r.Header.Set("X-Requested-With", "XMLHttpRequest")
	r.Header.Set("Content-Type", "application/json")
	if got := h.send(r, base+"20.500.9999/abc").Header.Values("WWW-Authenticate"); len(got) != 1 || !strings.HasPrefix(got[0], "Handle ") {
		t.Errorf("a script: got %q", got)
	}
	h.server.identities = dialect.NewIdentities(actors(), nil, time.Now)
	if got := h.do("PUT", base+"20.500.9999/abc", "", created).Header.Values("WWW-Authenticate"); len(got) != 1 {
		t.Errorf("a server without secrets: got %q", got)
	}
}

// An answer is good for one nonce, one session and one client, and for a limited time.
func TestReplay(t *testing.T) {
	here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for name, attack := range map[string]func(h *harness, c challenge) (authorization string){
		"a nonce that a wrong answer has used up": func(h *harness, c challenge) string {
			h.status(c.answered(wrong))
			return c.answered(right)
		},
		"another client": func(h *harness, c challenge) string {
			h.client = there
			return c.answered(right)
		},
		"an authenticated session of another client": func(h *harness, c challenge) string {
			h.status(c.answered(right))
			h.client = there
			return c.answered(right)
		},
		"the ID of an authenticated session of another client": func(h *harness, c challenge) string {
			h.status(c.answered(right))
			h.client = there
			return `Handle sessionId="` + c.session + `"`
		},
		"the nonce of another session": func(h *harness, c challenge) string {
			other, _ := h.challenged("")
			return challenge{other.session, c.nonce}.answered(right)
		},
		"a session that has ended": func(h *harness, c challenge) string {
			h.status(c.answered(right))
			h.do("DELETE", "/api/sessions/this", `Handle sessionId="`+c.session+`"`, "")
			return c.answered(right)
		},
		"a session that the client has not authenticated": func(_ *harness, c challenge) string {
			return `Handle sessionId="` + c.session + `"`
		},
		"an old nonce": func(h *harness, c challenge) string {
			h.clock = h.clock.Add(nonceLife)
			return c.answered(right)
		},
		"an old nonce of an authenticated session": func(h *harness, c challenge) string {
			h.status(c.answered(right))
			s, _ := h.server.sessions.get(c.session, here)
			h.clock = h.clock.Add(nonceLife)
			return challenge{c.session, base64.StdEncoding.EncodeToString(s.nonce)}.answered(right)
		},
		"an idle session": func(h *harness, c challenge) string {
			h.status(c.answered(right))
			h.clock = h.clock.Add(idleLife)
			return `Handle sessionId="` + c.session + `"`
		},
		"a session that is too old": func(h *harness, c challenge) string {
			h.status(c.answered(right))
			for range wholeLife / (idleLife / 2) {
				h.clock = h.clock.Add(idleLife / 2)
				h.do("GET", "/api/sessions/this", `Handle sessionId="`+c.session+`"`, "")
			}
			return `Handle sessionId="` + c.session + `"`
		},
		"no cnonce": func(_ *harness, c challenge) string {
			return strings.Replace(c.answered(right), "cnonce", "xnonce", 1)
		},
		"another version": func(_ *harness, c challenge) string {
			return strings.Replace(c.answered(right), `version="0"`, `version="1"`, 1)
		},
		"no session": func(_ *harness, c challenge) string {
			return strings.Replace(c.answered(right), "sessionId", "sessionX", 1)
		},
		"garbage": func(_ *harness, c challenge) string { return c.answered(right) + `"` },
		"a plain connection": func(h *harness, c challenge) string {
			h.private = false
			return c.answered(right)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.client = here
			c, _ := h.challenged("")
			if got := h.status(attack(h, c)); got != 401 && (h.private || got != 403) {
				t.Errorf("got %d, want 401", got)
			}
		})
	}
}

// A session ends at once when the account of its identity is revoked. Requests keep it alive.
func TestLifeOfSession(t *testing.T) {
	h := newHarness(t)
	accounts := actors()
	h.server.identities = dialect.NewIdentities(accounts, []dialect.Identity{{ID: "300:20.500.9999/ADMIN", Token: "editor", Secret: []byte(right)}}, time.Now)
	c, _ := h.challenged("")
	h.status(c.answered(right))
	use := `Handle sessionId="` + c.session + `"`
	for range 5 {
		h.clock = h.clock.Add(idleLife - time.Second)
		if got := h.status(use); got != 200 {
			t.Fatalf("got %d, want 200", got)
		}
	}
	delete(accounts, "editor")
	if got := h.status(use); got != 403 {
		t.Errorf("a revoked account: got %d, want 403", got)
	}
}

// The nonce of an authenticated session is replaced before it is too old, so a client can always
// authenticate again.
func TestAnotherAnswer(t *testing.T) {
	h := newHarness(t)
	c, _ := h.challenged("")
	h.status(c.answered(right))
	use := `Handle sessionId="` + c.session + `"`
	shown := func() (s shownSession) {
		if err := json.NewDecoder(h.do("GET", "/api/sessions/this", use, "").Body).Decode(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := shown().Nonce
	h.clock = h.clock.Add(nonceLife)
	second := shown().Nonce
	if first == second {
		t.Errorf("the nonce is still %s", first)
	}
	h.clock = h.clock.Add(nonceLife - time.Second)
	third, _ := h.challenged(challenge{c.session, second}.answered(wrong))
	h.clock = h.clock.Add(nonceLife - time.Second)
	if got := h.status(third.answered(right)); got != 200 {
		t.Errorf("got %d, want 200", got)
	}
}

// Wrong answers count like wrong passwords.
func TestTooManyAnswers(t *testing.T) {
	h := newHarness(t)
	for range 10 {
		c, _ := h.challenged("")
		h.status(c.answered(wrong))
	}
	c, _ := h.challenged("")
	if got := h.status(c.answered(right)); got != 503 {
		t.Errorf("got %d, want 503", got)
	}
}

func TestSessionLimits(t *testing.T) {
	now := testNow
	k := newSessions(func() time.Time { return now })
	client := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }
	first, i := k.begin(client(0)), &dialect.Identity{ID: "a"}
	for range maxPerClient {
		k.begin(client(0))
	}
	if _, ok := k.get(first.id, client(0)); ok || k.pending.Len() != maxPerClient {
		t.Errorf("one client has %d sessions, the oldest among them: %v", k.pending.Len(), ok)
	}
	kept := k.begin(client(1))
	k.admit(kept.id, client(1), i, [32]byte{})
	for n := range 2 * maxPending {
		k.begin(client(n + 2))
	}
	if _, ok := k.get(kept.id, client(1)); !ok || k.pending.Len() != maxPending {
		t.Errorf("%d sessions; the authenticated one among them: %v", k.pending.Len(), ok)
	}
	for n := range 2 * maxOpen {
		s := k.begin(client(n))
		k.admit(s.id, client(n), i, [32]byte{})
		if _, ok := k.get(kept.id, client(1)); !ok {
			t.Fatalf("session %d ends one that is in use", n)
		}
	}
	if k.open.Len() != maxOpen || len(k.all) != k.open.Len()+k.pending.Len() {
		t.Errorf("%d authenticated and %d other sessions, %d in all", k.open.Len(), k.pending.Len(), len(k.all))
	}
	now = now.Add(wholeLife)
	k.begin(client(0))
	if len(k.all) != 1 {
		t.Errorf("%d sessions are left", len(k.all))
	}
}

// The requests for sessions, as scripts send them.
func TestSessionRequests(t *testing.T) {
	h := newHarness(t)
	var s shownSession
	do := func(method, target, authorization, body string, status int) *http.Response {
		t.Helper()
		resp := h.do(method, target, authorization, body)
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if s = (shownSession{}); resp.StatusCode != status || len(text) > 0 && json.Unmarshal(text, &s) != nil {
			t.Errorf("%s %s with %s: got %d %s, want %d", method, target, authorization, resp.StatusCode, text, status)
		}
		return resp
	}
	const at, this = "/api/sessions", "/api/sessions/this"
	if resp := do("POST", at, "", "", 201); resp.Header.Get("Location") != this || resp.Header.Get("Cache-Control") != "no-store" || s.ID == "" || s.Authenticated {
		t.Fatalf("got %v with %+v", resp.Header, s)
	}
	c := challenge{s.ID, s.Nonce}
	use := `Handle sessionId="` + c.session + `"`
	do("GET", this, use, "", 200)
	if s.Nonce != c.nonce || s.Authenticated {
		t.Errorf("got %+v, want %+v", s, c)
	}
	do("PUT", this, c.answered(wrong), "", 401)
	if s.ID != c.session || s.Nonce == c.nonce || s.Error != "Identity not verified" {
		t.Errorf("got %+v after %+v", s, c)
	}
	c.nonce = s.Nonce
	do("PUT", this, use, "", 401)
	if s.Error != "Missing fields in authentication data" {
		t.Errorf("got %+v", s)
	}
	answer, _ := parseAnswer(strings.TrimPrefix(c.answered(right), "Handle "))
	body, _ := json.Marshal(answer)
	do("PUT", this, use, string(body), 200)
	if !s.Authenticated || s.Identity != "300:20.500.9999/ADMIN" || s.Nonce == c.nonce {
		t.Errorf("got %+v", s)
	}
	do("GET", this, use, "", 200)
	if got := h.status(use); !s.Authenticated || got != 201 {
		t.Errorf("got %+v and %d, want 201", s, got)
	}
	do("POST", at, use, "", 400)
	do("DELETE", this, use, "", 204)
	do("GET", this, use, "", 403)
	do("DELETE", this, use, "", 403)
	do("GET", this, "", "", 403)
	do("GET", at+"/"+c.session, "", "", 403)
	if got := do("GET", at, "", "", 405).Header.Get("Allow"); got != "POST, TRACE, OPTIONS" {
		t.Errorf("got Allow %q", got)
	}
	do("POST", at, "Handle x", "", 400)
	do("POST", at, "", `{"a":`, 400)
	do("POST", at, "", `{"a":"`+strings.Repeat("a", maxSessionBody)+`"}`, 400)
	h.private = false
	do("POST", at, "", "", 403)
}
