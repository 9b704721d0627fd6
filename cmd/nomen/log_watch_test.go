package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/watch"
)

// TestWatchContinuously runs nomen log watch as a service: it reports a log that does not grow and goes on,
// and then reports a rollback and ends. Each alert arrives at the webhook, once.
func TestWatchContinuously(t *testing.T) {
	t.Parallel()
	const origin = "names.example/-/log"
	skey, vkey, err := tlog.GenerateKey(rand.Reader, origin, false)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := tlog.NewSigner(skey, nil)
	if err != nil {
		t.Fatal(err)
	}
	var size atomic.Uint64
	size.Store(2)
	log := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/checkpoint") {
			http.NotFound(w, r)
			return
		}
		msg, err := tlog.Checkpoint{Origin: origin, Size: size.Load(), Root: tlog.EntryHash([]byte("x"))}.Sign(signer)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(msg)
	}))
	t.Cleanup(log.Close)
	alerts := make(chan watch.Alert, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var a watch.Alert
		if err == nil {
			err = json.Unmarshal(body, &a)
		}
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s to the webhook: %q, %v", r.Method, body, err)
		}
		if a.Kind == watch.Stale {
			size.Store(1) // an older backup is restored
		}
		alerts <- a
	}))
	t.Cleanup(hook.Close)
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	status := run(ctx, []string{
		"log", "watch", "--key", vkey, "--state", filepath.Join(t.TempDir(), "state"), "--interval", "1s", "--max-age", "1s",
		"--webhook", hook.URL, "--data", t.TempDir(), log.URL + "/-/log",
	}, streams{in: strings.NewReader(""), out: &out, err: &out})
	if status != exitNo {
		t.Errorf("status %d, want 1: %s", status, &out)
	}
	close(alerts)
	var kinds []watch.Kind
	for a := range alerts {
		if a.Origin != origin || a.Text == "" {
			t.Errorf("alert %+v, want the origin and the reason", a)
		}
		kinds = append(kinds, a.Kind)
	}
	if len(kinds) != 2 || kinds[0] != watch.Stale || kinds[1] != watch.Rollback {
		t.Errorf("the webhook got the alerts %v, want stale and rollback\n%s", kinds, &out)
	}
}

// TestPublishedDoors has a server below a path, behind a proxy, and reaches its log and receipts through
// each door: the proxy, the server itself, the admin API and the page of a name.
func TestPublishedDoors(t *testing.T) {
	t.Parallel()
	target := make(chan *url.URL, 1)
	var to atomic.Pointer[url.URL]
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		if to.Load() == nil {
			to.Store(<-target)
		}
		r.SetURL(to.Load())
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}})
	t.Cleanup(proxy.Close)
	public := proxy.URL + "/ids"
	dir := t.TempDir()
	l := &library{name: "a", data: filepath.Join(dir, "data"), key: filepath.Join(dir, "log.key")}
	l.vkey = strings.TrimSpace(l.must(t, "log", "key", "new", "--public-url", public, l.key))
	l.must(t, "authority", "put", "urn:x-a", "--owner", "anna", "--list")
	l.put(t, "urn:x-a:before", "https://example.org/before")
	l.server = start(t, l.data, "--public-url", public, "--log.key", l.key, "--log.entries", "--trusted-proxy", "127.0.0.1/32")
	target <- &url.URL{Scheme: "http", Host: l.server.public}
	direct := "http://" + l.server.public + "/ids"
	l.grown(t, direct, 2)
	l.must(t, "put", "urn:x-a:n", "https://example.org/n", "--why", "a-private-reason")
	l.grown(t, direct, 3)

	for _, base := range []string{public, direct} {
		file := writeText(t, "n.tlog-proof", l.must(t, "proof", "get", "--via", base, "urn:x-a:n"))
		got := l.must(t, "proof", "check", "--key", l.vkey, file)
		if !strings.Contains(got, "location https://example.org/n") || !strings.Contains(got, "does not say who") {
			t.Errorf("receipt from %s: %s", base, got)
		}
		if got := l.must(t, "audit", "--key", l.vkey, "--prefix", "urn:x-a", base+"/-/log"); !strings.Contains(got, "2 names compared") {
			t.Errorf("audit of %s: %s", base, got)
		}
		if got := l.must(t, "log", "export", "--entries", "--via", base+"/-/log", "--key", l.vkey, filepath.Join(t.TempDir(), "mirror")); !strings.Contains(got, "3 changes") {
			t.Errorf("mirror of %s: %s", base, got)
		}
	}
	own := writeText(t, "own.tlog-proof", l.must(t, "proof", "get", "urn:x-a:n")) // by the admin API
	if got := l.must(t, "proof", "check", "--json", "--key", l.vkey, own); strings.Contains(got, `"public":true`) || !strings.Contains(got, `"content":true`) || !strings.Contains(got, "a-private-reason") {
		t.Errorf("own receipt: %s", got)
	}
	req, err := http.NewRequest(http.MethodGet, public+"/urn:x-a:n?s=I2C", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(page, []byte(`href="/ids/-/proof/urn:x-a:n"`)) || !bytes.Contains(page, []byte("/ids/-/proof/urn:x-a:n?format=qr")) {
		t.Errorf("the page does not link to the receipt and its QR code: %v\n%s", err, page)
	}
	lines, _ := examined(t, "--data", l.data, "--public-url", public, "--log.key", l.key)
	expect(t, lines, "warning backups: no backups are scheduled")
	inside := filepath.Join(l.data, "log.key")
	text, err := os.ReadFile(l.key)
	if err == nil {
		err = os.WriteFile(inside, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, _ = examined(t, "--data", l.data, "--public-url", public, "--log.key", inside)
	expect(t, lines, "warning backups", "problem published log: "+inside+" is in the data directory")
	lines, _ = examined(t, "--data", l.data, "--public-url", proxy.URL, "--log.key", l.key)
	if !strings.Contains(strings.Join(lines, "\n"), "the key is for the log") {
		t.Errorf("doctor with another public URL: %q", lines)
	}
}
