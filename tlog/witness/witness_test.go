package witness_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/note"
	xtlog "golang.org/x/mod/sumdb/tlog"

	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/witness"
)

const origin = "names.example.org/-/log"

// A key is a key pair.
type key struct {
	signer note.Signer
	note.Verifier
	vkey string
}

func newKey(t testing.TB, name string, witness bool) key {
	t.Helper()
	skey, vkey, err := tlog.GenerateKey(rand.Reader, name, witness)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tlog.NewSigner(skey, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tlog.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return key{s, v, vkey}
}

// A history is a log in memory.
type history struct {
	key    key
	hashes []xtlog.Hash
	size   int64
}

// newHistory returns a log of n entries. Logs with the same seed have the same entries up to fork, and
// different ones after it.
func newHistory(t testing.TB, k key, n, fork int, seed string) *history {
	t.Helper()
	h := &history{key: k}
	for i := range n {
		entry := fmt.Sprint(i)
		if i >= fork {
			entry += seed
		}
		hashes, err := xtlog.StoredHashes(h.size, []byte(entry), h.reader())
		if err != nil {
			t.Fatal(err)
		}
		h.hashes, h.size = append(h.hashes, hashes...), h.size+1
	}
	return h
}

func (h *history) reader() xtlog.HashReader {
	return xtlog.HashReaderFunc(func(indexes []int64) ([]xtlog.Hash, error) {
		hashes := make([]xtlog.Hash, len(indexes))
		for i, n := range indexes {
			hashes[i] = h.hashes[n]
		}
		return hashes, nil
	})
}

// at returns the signed checkpoint with n entries.
func (h *history) at(t testing.TB, n int64) []byte {
	t.Helper()
	c := tlog.Checkpoint{Origin: h.key.Name(), Size: uint64(n), Root: tlog.EmptyRoot()}
	if n > 0 {
		root, err := xtlog.TreeHash(n, h.reader())
		if err != nil {
			t.Fatal(err)
		}
		c.Root = root
	}
	msg, err := c.Sign(h.key.signer)
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

// prover returns the function with which the log proves its checkpoint with n entries.
func (h *history) prover(n int64) witness.Prover {
	return func(_ context.Context, older uint64) ([]tlog.Hash, error) {
		if older == 0 || int64(older) == n {
			return nil, nil
		}
		p, err := xtlog.ProveTree(n, int64(older), h.reader())
		hashes := make([]tlog.Hash, len(p))
		for i := range p {
			hashes[i] = p[i]
		}
		return hashes, err
	}
}

func (h *history) request(t testing.TB, older, n int64) string {
	t.Helper()
	var hashes []tlog.Hash
	if older <= n {
		var err error
		if hashes, err = h.prover(n)(t.Context(), uint64(older)); err != nil {
			t.Fatal(err)
		}
	}
	return string((&tlog.WitnessRequest{Old: uint64(older), Hashes: hashes, Checkpoint: h.at(t, n)}).Append(nil))
}

func newServer(t testing.TB, w key, dir string, logs ...note.Verifier) *witness.Server {
	t.Helper()
	s, err := witness.New(witness.Options{Signer: w.signer, Public: w.vkey, Logs: logs, Dir: dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func post(h http.Handler, body string) *httptest.ResponseRecorder {
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequest(http.MethodPost, "/add-checkpoint", strings.NewReader(body)))
	return r
}

// TestAddCheckpoint checks the statuses of C2SP tlog-witness, section "add-checkpoint".
func TestAddCheckpoint(t *testing.T) {
	logKey, other := newKey(t, origin, false), newKey(t, "other.example.org", false)
	w := newKey(t, "w.example.org", true)
	h := newHistory(t, logKey, 300, 300, "")
	fork := newHistory(t, logKey, 300, 50, "fork")
	s := newServer(t, w, t.TempDir(), logKey)

	sameName := newKey(t, origin, false)
	for _, tt := range []struct {
		name, body string
		status     int
		text       string
	}{
		{"old size before anything was cosigned", h.request(t, 5, 10), 409, "0\n"},
		{"first", h.request(t, 0, 100), 200, "— w.example.org "},
		{"again", h.request(t, 100, 100), 200, "— w.example.org "},
		{"old size too small", h.request(t, 0, 200), 409, "100\n"},
		{"grown", h.request(t, 100, 200), 200, "— w.example.org "},
		{"rollback", h.request(t, 100, 150), 409, "200\n"},
		{"old size greater than the checkpoint", h.request(t, 200, 150), 400, "greater"},
		{"fork of the same size", fork.request(t, 200, 200), 409, "200\n"},
		{"fork after 50", fork.request(t, 200, 300), 422, "proof"},
		{"unknown origin", newHistory(t, other, 3, 3, "").request(t, 0, 3), 404, "does not know"},
		{"unknown key", newHistory(t, sameName, 300, 300, "").request(t, 200, 300), 403, "no signature"},
		{"altered", strings.Replace(h.request(t, 200, 300), "\n300\n", "\n299\n", 1), 403, "no signature"},
		{"64 proof lines", strings.Replace(h.request(t, 200, 200), "\n", strings.Repeat("\n"+strings.Repeat("A", 43)+"=", 64)+"\n", 1), 400, "at most 63"},
		{"proof for the same size", strings.Replace(h.request(t, 200, 200), "\n", "\n"+strings.Repeat("A", 43)+"=\n", 1), 422, "proof"},
		{"leading zero", strings.Replace(h.request(t, 200, 300), "old 200", "old 0200", 1), 400, "leading zero"},
		{"CRLF", strings.ReplaceAll(h.request(t, 200, 300), "\n", "\r\n"), 400, "carriage return"},
		{"empty", "", 400, "line feed"},
		{"too long", strings.Repeat("x", tlog.MaxWitnessRequest+1), 400, "too long"},
		{"after all that", h.request(t, 200, 300), 200, "— w.example.org "},
	} {
		r := post(s, tt.body)
		if r.Code != tt.status || !strings.Contains(r.Body.String(), tt.text) {
			t.Errorf("%s: got %d %q, want %d with %q", tt.name, r.Code, r.Body, tt.status, tt.text)
		}
		if kind := r.Header().Get("Content-Type"); (kind == "text/x.tlog.size") != (tt.status == 409) {
			t.Errorf("%s: got the media type %q with status %d", tt.name, kind, tt.status)
		}
		if tt.status == 200 {
			signed := tt.body[strings.Index(tt.body, "\n\n")+2:]
			if _, err := tlog.Open([]byte(signed+r.Body.String()), logKey, w); err != nil {
				t.Errorf("%s: the checkpoint with the cosignature: %v", tt.name, err)
			}
		}
	}
	page := httptest.NewRecorder()
	s.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/", nil))
	if text := page.Body.String(); !strings.Contains(text, w.vkey) || !strings.Contains(text, origin+", cosigned up to entry 300") {
		t.Errorf("the page of the witness is %q", text)
	}
}

// TestSlowBodies checks that clients that send their requests slowly, more than the witness reads at
// the same time, keep no other client from a cosignature.
func TestSlowBodies(t *testing.T) {
	logKey := newKey(t, origin, false)
	h := newHistory(t, logKey, 3, 3, "")
	server := httptest.NewServer(newServer(t, newKey(t, "w.example.org", true), t.TempDir(), logKey))
	t.Cleanup(server.Close)
	const slow = 300 // more than maxBodies
	conns := make([]net.Conn, slow)
	for i := range conns {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[i] = c
		if _, err := io.WriteString(c, "POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: 100\r\n\r\nold"); err != nil {
			t.Fatal(err)
		}
	}
	// The first slow request gets its error as soon as there are too many: then all are being read.
	answer := make([]byte, 12)
	if _, err := io.ReadFull(conns[0], answer); err != nil || string(answer) != "HTTP/1.1 400" {
		t.Errorf("the first slow request: %q, %v", answer, err)
	}
	for n := range int64(3) {
		resp, err := http.Post(server.URL+"/add-checkpoint", "text/plain", strings.NewReader(h.request(t, n, n+1)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("a request while others are slow: %d, want 200", resp.StatusCode)
		}
	}
}

// TestStateIsOnDisk shows that a witness remembers after a restart what it cosigned, that its files
// are private, and that it keeps the evidence of a fork.
func TestStateIsOnDisk(t *testing.T) {
	logKey, w, dir := newKey(t, origin, false), newKey(t, "w.example.org", true), filepath.Join(t.TempDir(), "witness")
	h := newHistory(t, logKey, 20, 20, "")
	s := newServer(t, w, dir, logKey)
	if r := post(s, h.request(t, 0, 10)); r.Code != 200 {
		t.Fatalf("got %d %s", r.Code, r.Body)
	}
	if _, err := witness.New(witness.Options{Signer: w.signer, Logs: []note.Verifier{logKey}, Dir: dir, Now: time.Now}); err == nil {
		t.Error("two witnesses use the same directory")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = newServer(t, w, dir, logKey)
	if r := post(s, h.request(t, 0, 5)); r.Code != 409 || r.Body.String() != "10\n" {
		t.Errorf("after a restart: got %d %q, want 409 with 10", r.Code, r.Body)
	}
	if r := post(s, newHistory(t, logKey, 20, 3, "x").request(t, 10, 10)); r.Code != 409 {
		t.Errorf("a fork: got %d, want 409", r.Code)
	}
	forks, _ := filepath.Glob(filepath.Join(dir, "*.fork"))
	if len(forks) != 1 {
		t.Fatalf("got the evidence %v, want one file", forks)
	}
	if data, err := os.ReadFile(forks[0]); err != nil || strings.Count(string(data), origin+"\n10\n") != 2 {
		t.Errorf("the evidence is %q, %v, want two checkpoints of 10 entries", data, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, want 0600", f, info.Mode())
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	states, _ := filepath.Glob(filepath.Join(dir, "*.checkpoint"))
	for _, content := range []string{"", "nomen-witness 2\n", "nomen-witness 1\nnothing", "nomen-witness 1\n" + strings.Replace(string(h.at(t, 3)), origin, "other", 1)} {
		if err := os.WriteFile(states[0], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := witness.New(witness.Options{Signer: w.signer, Logs: []note.Verifier{logKey}, Dir: dir, Now: time.Now}); err == nil || !strings.Contains(err.Error(), "restore the file") {
			t.Errorf("damaged state %q: got %v, want that the file must be restored", content, err)
		}
	}
}

// TestForgetsNothingIfDiskFails shows that a checkpoint that cannot be stored is not cosigned.
func TestForgetsNothingIfDiskFails(t *testing.T) {
	logKey, w, dir := newKey(t, origin, false), newKey(t, "w.example.org", true), filepath.Join(t.TempDir(), "witness")
	h := newHistory(t, logKey, 20, 20, "")
	s := newServer(t, w, dir, logKey)
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	if r := post(s, h.request(t, 0, 10)); r.Code != 500 || strings.Contains(r.Body.String(), dir) {
		t.Errorf("got %d %q, want 500 without the path", r.Code, r.Body)
	}
	if err := os.Rename(dir+"2", dir); err != nil {
		t.Fatal(err)
	}
	if r := post(s, h.request(t, 0, 10)); r.Code != 200 {
		t.Errorf("got %d %q, want 200", r.Code, r.Body)
	}
}

// TestConcurrent shows that of two histories that are sent at the same time, only one is cosigned.
func TestConcurrent(t *testing.T) {
	logKey, w := newKey(t, origin, false), newKey(t, "w.example.org", true)
	s := newServer(t, w, t.TempDir(), logKey)
	histories := []*history{newHistory(t, logKey, 40, 0, "a"), newHistory(t, logKey, 40, 0, "b")}
	var mu sync.Mutex
	cosigned := map[int]int{}
	var all sync.WaitGroup
	for i, h := range histories {
		for n := range int64(20) {
			body := h.request(t, 0, n+1)
			all.Go(func() {
				if post(s, body).Code == 200 {
					mu.Lock()
					cosigned[i]++
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	if cosigned[0]+cosigned[1] != 1 {
		t.Errorf("got cosignatures %v, want one in all", cosigned)
	}
}

func TestNewRefuses(t *testing.T) {
	w := newKey(t, "w.example.org", true)
	for name, logs := range map[string][]note.Verifier{"no logs": nil, "witness key": {w.Verifier}, "too many": make([]note.Verifier, witness.MaxLogs+1)} {
		if s, err := witness.New(witness.Options{Signer: w.signer, Logs: logs, Dir: t.TempDir(), Now: time.Now}); err == nil {
			t.Errorf("%s: accepted", name)
			s.Close()
		}
	}
}

func TestParse(t *testing.T) {
	w, l := newKey(t, "w.example.org", true), newKey(t, origin, false)
	got, err := witness.Parse(w.vkey + "  https://w.example.org/prefix/ ")
	if err != nil || got.URL != "https://w.example.org/prefix" || got.Key.KeyHash() != w.KeyHash() {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{"", w.vkey, l.vkey + " https://w.example.org", w.vkey + " w.example.org", w.vkey + " ftp://w.example.org", w.vkey + " https://w.example.org/?a", "x https://w.example.org"} {
		if _, err := witness.Parse(text); err == nil {
			t.Errorf("%q: accepted", text)
		}
	}
	a := witness.Witness{URL: "https://a.example", Key: w}
	for name, p := range map[string]witness.Policy{
		"too few":  {Need: 1},
		"negative": {Need: -1},
		"twice":    {Witnesses: []witness.Witness{a, a}},
		"timeout":  {Timeout: -1},
		"too many": {Witnesses: make([]witness.Witness, witness.MaxWitnesses+1)},
	} {
		if p.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// serve runs a handler on loopback and returns the witness for it.
func serve(t testing.TB, k key, h http.Handler) witness.Witness {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return witness.Witness{URL: s.URL, Key: k}
}

// TestGroup has one witness for each way in which witnesses and their servers fail.
func TestGroup(t *testing.T) {
	logKey := newKey(t, origin, false)
	h := newHistory(t, logKey, 300, 300, "")
	fork := newHistory(t, logKey, 300, 50, "fork")
	answer := func(status int, kind, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
	names := []string{"good", "seen", "forked", "ahead", "unknown", "otherkey", "lies", "long", "silent", "redirects", "flips", "down"}
	keys := map[string]key{}
	for _, n := range names {
		keys[n] = newKey(t, n+".example.org", true)
	}
	good := newServer(t, keys["good"], t.TempDir(), logKey)
	seen := newServer(t, keys["seen"], t.TempDir(), logKey)
	forked := newServer(t, keys["forked"], t.TempDir(), logKey)
	ahead := newServer(t, keys["ahead"], t.TempDir(), logKey)
	unknown := newServer(t, keys["unknown"], t.TempDir(), newKey(t, "other.example.org", false))
	otherkey := newServer(t, keys["otherkey"], t.TempDir(), newKey(t, origin, false))
	for _, r := range []*httptest.ResponseRecorder{post(seen, h.request(t, 0, 100)), post(forked, fork.request(t, 0, 100)), post(ahead, h.request(t, 0, 300))} {
		if r.Code != 200 {
			t.Fatal(r.Body)
		}
	}
	_, lie, _ := strings.Cut(string(newHistory(t, logKey, 3, 3, "").at(t, 3)), "\n\n")
	flips := 0
	handlers := map[string]http.Handler{
		"good": good, "seen": seen, "forked": forked, "ahead": ahead, "unknown": unknown, "otherkey": otherkey,
		"lies":      answer(200, "text/plain", strings.ReplaceAll(lie, origin, "lies.example.org")),
		"long":      answer(200, "text/plain", strings.Repeat("x", 100<<10)),
		"silent":    answer(200, "text/plain", ""),
		"redirects": http.RedirectHandler("http://169.254.169.254/", http.StatusTemporaryRedirect),
		"flips": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			flips++
			answer(409, "text/x.tlog.size", tlog.FormatSize(uint64(flips))).ServeHTTP(w, r)
		}),
	}
	policy := witness.Policy{Need: 2}
	for _, n := range names {
		w := witness.Witness{URL: "http://127.0.0.1:1", Key: keys[n]}
		if h, ok := handlers[n]; ok {
			w = serve(t, keys[n], h)
		}
		policy.Witnesses = append(policy.Witnesses, w)
	}
	if err := policy.Check(); err != nil {
		t.Fatal(err)
	}
	g := witness.NewGroup(policy, nil)
	r, err := g.Cosign(t.Context(), h.at(t, 200), h.prover(200))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"good": "", "seen": "", "forked": witness.ErrFork.Error(), "ahead": witness.ErrAhead.Error() + ": it has 300, the log has 200",
		"unknown": "does not know the origin", "otherkey": "another key of the log", "lies": "no cosignature by the key", "long": "longer than", "silent": "no cosignature by the key",
		"redirects": "status 307", "flips": "with each request", "down": "refused",
	}
	for i, o := range r.Outcomes {
		got := ""
		if o.Err != nil {
			got = o.Err.Error()
		}
		if text := want[names[i]]; text == "" && got != "" || !strings.Contains(got, text) {
			t.Errorf("%s: got %q, want %q", names[i], got, text)
		}
		if (o.Err == nil) == o.Time.IsZero() {
			t.Errorf("%s: got the time %v with the error %v", names[i], o.Time, o.Err)
		}
	}
	if r.Cosigned != 2 || !r.Enough {
		t.Errorf("got %d cosignatures, enough: %t, want 2 and true", r.Cosigned, r.Enough)
	}
	s, err := tlog.Open(r.Checkpoint, logKey, keys["good"], keys["seen"])
	if err != nil || len(s.Cosignatures) != 2 {
		t.Errorf("got the checkpoint %q, %v, want one with two cosignatures", r.Checkpoint, err)
	}
	if !errors.Is(r.Outcomes[2].Err, witness.ErrFork) || !errors.Is(r.Outcomes[3].Err, witness.ErrAhead) {
		t.Error("the errors cannot be recognised")
	}
	// The group knows now what the witnesses have, and asks each of them once.
	counted := 0
	g = witness.NewGroup(witness.Policy{Witnesses: []witness.Witness{serve(t, keys["good"], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted++
		good.ServeHTTP(w, r)
	}))}}, nil)
	for _, n := range []int64{201, 202, 203} {
		if r, err := g.Cosign(t.Context(), h.at(t, n), h.prover(n)); err != nil || r.Cosigned != 1 {
			t.Fatal(r, err)
		}
	}
	if counted != 4 {
		t.Errorf("got %d requests for three checkpoints, want 4", counted)
	}
	if _, err := g.Cosign(t.Context(), []byte("nothing"), nil); err == nil {
		t.Error("something that is not a checkpoint was sent to witnesses")
	}
}

// roundTrip is an [http.RoundTripper].
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTimeout shows that a witness that does not answer delays a checkpoint by no more than the timeout,
// and that the other cosignatures are kept.
func TestTimeout(t *testing.T) {
	logKey, fast, slow := newKey(t, origin, false), newKey(t, "fast.example.org", true), newKey(t, "slow.example.org", true)
	h := newHistory(t, logKey, 20, 20, "")
	s := newServer(t, fast, t.TempDir(), logKey)
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "slow.example.org" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			body, _ := io.ReadAll(r.Body)
			return post(s, string(body)).Result(), nil
		})}
		g := witness.NewGroup(witness.Policy{Need: 2, Witnesses: []witness.Witness{{URL: "https://slow.example.org", Key: slow}, {URL: "https://fast.example.org", Key: fast}}}, client)
		start := time.Now()
		r, err := g.Cosign(t.Context(), h.at(t, 20), h.prover(20))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != witness.DefaultTimeout {
			t.Errorf("took %v, want %v", took, witness.DefaultTimeout)
		}
		if r.Cosigned != 1 || r.Enough || r.Outcomes[0].Err == nil || !strings.Contains(r.Outcomes[0].Err.Error(), "no response within 5s") {
			t.Errorf("got %+v, want one cosignature, which is not enough, and that slow gave no response", r)
		}
	})
}

// TestForkIsLogged shows that the operator of a witness sees a fork in the log.
func TestForkIsLogged(t *testing.T) {
	logKey, w := newKey(t, origin, false), newKey(t, "w.example.org", true)
	var lines bytes.Buffer
	s, err := witness.New(witness.Options{Signer: w.signer, Logs: []note.Verifier{logKey}, Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&lines, nil)), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h, fork := newHistory(t, logKey, 20, 20, ""), newHistory(t, logKey, 20, 5, "x")
	post(s, h.request(t, 0, 10))
	for range 50 {
		post(s, fork.request(t, 10, 10))
	}
	if n := strings.Count(lines.String(), "fork: the log has signed two checkpoints"); n == 0 || n > 20 {
		t.Errorf("got %d lines about the fork, want 1 to 20", n)
	}
}
