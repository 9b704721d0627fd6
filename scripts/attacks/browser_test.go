//go:build attack

package attacks

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen/internal/browsertest"
)

// secret is part of an answer of another resolver that only the server's own users may see.
const secret = "intranet.example/secret"

// A lure has a server that queries another resolver for its own users, which are all users on
// loopback. It also has that other resolver, and the web server of a stranger.
type lure struct {
	near *server
	evil string // host:port of the stranger's page
	port string // port of the server near
}

func newLure(t *testing.T) lure {
	t.Helper()
	far := start(t)
	far.nomen(t, "authority", "put", "urn:dns:there.example", "--owner", "a", "--owner", "b")
	far.nomen(t, "put", "urn:dns:there.example:x", "https://"+secret)
	near := start(t, "--ask-others", "own", "--own-users", "127.0.0.0/8", "--default-resolver", "http://"+far.public,
		"--allow-private", "--host", "names.example")
	near.nomen(t, "authority", "put", "urn:dns:here.example", "--owner", "a", "--owner", "b")
	near.nomen(t, "put", "urn:dns:here.example:y", "https://here.example/public")
	_, port, err := net.SplitHostPort(near.public)
	if err != nil {
		t.Fatal(err)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!DOCTYPE html><title>evil</title><a id="link" href="http://names.example:%s/urn:dns:there.example:x?s=I2C">a link</a>`, port)
	}))
	t.Cleanup(page.Close)
	return lure{near, page.Listener.Addr().String(), port}
}

// browse returns a context of a browser for which every host is loopback, as after a
// rebinding.
func browse(t *testing.T) context.Context {
	t.Helper()
	return browsertest.Start(t, chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1"))
}

// open goes to a page.
func open(t *testing.T, ctx context.Context, url string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}

// read returns what a script of the page reads from a URL: the status and the text, or
// the error. It tries fetch with and without CORS, XMLHttpRequest, and the options given.
func read(t *testing.T, ctx context.Context, url, options string) string {
	t.Helper()
	where, err := json.Marshal(url)
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`(async () => {
	const url = %s, options = %s;
	const ways = [
		async () => { const r = await fetch(url, options); return r.status + " " + await r.text(); },
		async () => { const r = await fetch(url, {...options, mode: "no-cors"}); return r.type + " " + r.status + " " + await r.text(); },
		() => new Promise(done => {
			const x = new XMLHttpRequest();
			x.onloadend = () => done(x.status + " " + x.responseText);
			x.open(options.method || "GET", url);
			for (const h in options.headers || {}) x.setRequestHeader(h, options.headers[h]);
			x.send(options.body);
		}),
		() => new Promise(done => {
			const f = document.createElement("iframe");
			f.onload = () => { try { done(f.contentDocument.body.textContent); } catch (e) { done(String(e)); } };
			f.src = url;
			document.body.append(f);
			setTimeout(() => done("no frame"), 1000);
		}),
	];
	const all = await Promise.all(ways.map(async way => { try { return await way(); } catch (e) { return String(e); } }));
	return all.join("\n---\n");
})()`, where, options)
	told, err := chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// targets returns the requests for which the server queries another resolver: the path, and the
// options with which a script sends the request.
func targets() [][2]string {
	const x = "urn:dns:there.example:x"
	return [][2]string{
		{"/" + x + "?s=I2C", `{}`},
		{"/" + x, `{redirect: "manual"}`},
		{"/" + x + "?s=I2L&format=json", `{}`},
		{"/" + x + "?s=I2C", `{headers: {Accept: "text/urc-0"}}`},
		{"/" + x + "?s=I2C", `{headers: {Accept: "application/json"}}`},
		{"/uri-res/N2C?" + x, `{}`},
		{"/urn:dns:there.example:urn+m", `{}`},
		{"/?name=" + x, `{headers: {Accept: "text/plain"}}`},
		{"/-/handler?uri=" + x, `{redirect: "manual"}`},
		{"/-/resolve", `{method: "POST", headers: {"Content-Type": "text/uri-list"}, body: "` + x + `\r\n"}`},
		{"/-/resolve", `{method: "POST", headers: {"Content-Type": "application/jsonl"}, body: '{"name":"` + x + `","service":"I2C"}\n'}`},
	}
}

// TestAttackCrossSiteReads checks that a page of another site can read nothing through the browser
// of one of the server's own users. The server's own pages, and links to the server, must work.
func TestAttackCrossSiteReads(t *testing.T) {
	l := newLure(t)
	ctx := browse(t)
	own := "http://names.example:" + l.port

	open(t, ctx, own+"/robots.txt")
	if got := read(t, ctx, own+"/urn:dns:there.example:x?s=I2C", `{headers: {Accept: "application/json"}}`); !strings.Contains(got, secret) {
		t.Fatalf("a page of the server itself is not answered, so this attack shows nothing:\n%s", got)
	}
	for _, page := range []string{"http://evil.example:" + port(t, l.evil), "http://evil.names.example:" + port(t, l.evil), "http://localhost:" + port(t, l.evil)} {
		open(t, ctx, page+"/")
		for _, base := range []string{own, "http://127.0.0.1:" + l.port, "http://localhost:" + l.port} {
			for _, target := range targets() {
				if got := read(t, ctx, base+target[0], target[1]); strings.Contains(got, secret) || strings.Contains(got, "another resolver, which is responsible for") || strings.Contains(got, "path here") {
					t.Errorf("a script of %s reads from %s%s %s:\n%s", page, base, target[0], target[1], got)
				}
			}
			if got := read(t, ctx, base+"/urn:dns:here.example:y?s=I2C", `{}`); !strings.Contains(got, "here.example/public") {
				t.Errorf("a script of %s cannot read what is served for everybody at %s:\n%s", page, base, got)
			}
		}
	}
	open(t, ctx, "http://evil.example:"+port(t, l.evil)+"/")
	if err := chromedp.Do(ctx, chromedp.Click("#link"), chromedp.WaitVisible("dl, table, pre, main")); err != nil {
		t.Fatalf("a link of another site is not followed: %v", err)
	}
	if text, err := chromedp.Run(ctx, chromedp.Text("body")); err != nil || !strings.Contains(text, "intranet.example") {
		t.Errorf("a link of another site leads to %q, %v", text, err)
	}
}

// TestAttackRebinding uses a host name of a stranger that now leads to the server in DNS. A page of
// this host must have no rights: neither for answers of other resolvers, nor on the admin listener.
func TestAttackRebinding(t *testing.T) {
	l := newLure(t)
	ctx := browse(t)
	page := "http://evil.example:" + l.port
	open(t, ctx, page+"/robots.txt") // the page that the browser has loaded from the stranger before
	for _, target := range targets() {
		if got := read(t, ctx, page+target[0], target[1]); strings.Contains(got, secret) || strings.Contains(got, "another resolver, which is responsible for") || strings.Contains(got, "path here") {
			t.Errorf("after a rebinding a script reads %s %s:\n%s", target[0], target[1], got)
		}
	}
	if got := read(t, ctx, page+"/urn:dns:there.example:x?s=I2C", `{}`); !strings.Contains(got, "403 ") || !strings.Contains(got, "add it to the hosts") {
		t.Errorf("the answer does not say why:\n%s", got)
	}
	admin := "http://evil.example:" + port(t, l.near.admin)
	open(t, ctx, admin+"/-/healthz")
	for _, target := range []string{"/-/healthz", "/-/openapi.json", "/api/v1/version", "/api/v1/names"} {
		if got := read(t, ctx, admin+target, `{}`); !strings.Contains(got, "421 ") || strings.Contains(got, "200 ") {
			t.Errorf("after a rebinding the admin listener answers %s:\n%s", target, got)
		}
	}
}

func port(t *testing.T, address string) string {
	t.Helper()
	_, p, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
