//go:build clients

package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen/internal/browsertest"
)

// TestClientAttacks: the page of another site, in the browser of a person who is signed in, can
// neither show nor read pages, nor send forms.
func TestClientAttacks(t *testing.T) {
	ctx := browsertest.Start(t)
	watch := browsertest.NewWatch(t, ctx)
	p := &person{newWhole(t, nil), ctx}
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!DOCTYPE html><title>evil</title>`+map[string]string{
			"/frame": `<iframe id="frame" src="%[1]s"></iframe>`,
			"/form":  `<form method="post" action="%[1]sname/%[2]s/retire"><input name="revision" value="1"><input name="reason" value="stolen"><button>win</button></form>`,
			"/read":  `<p>read</p>`,
		}[r.URL.Path], p.url+Root, strings.TrimPrefix(nameAt(alb), "name/"))
	}))
	t.Cleanup(evil.Close)
	site := strings.Replace(evil.URL, "127.0.0.1", "localhost", 1) // another site than that of the pages
	p.signIn("editor")
	if got := watch.Take(); len(got) > 0 {
		t.Errorf("reported while signing in: %q", got)
	}

	p.open(site + "/frame")
	if got := strings.Join(watch.Take(), "\n"); !strings.Contains(got, "frame-ancestors") {
		t.Errorf("the page is shown in a frame of another site: %s", got)
	}
	p.open(site + "/form").click("win").sees("page of another site")
	p.stored("https://example.org/albums/2", 1)
	p.open(site + "/read")
	for _, script := range []string{
		`fetch(%q, {credentials: "include"}).then(r => r.text())`,
		`fetch(%q, {credentials: "include", mode: "no-cors"}).then(r => r.text().then(text => text))`,
		`new Promise((done, fail) => { const e = document.createElement("script"); e.src = %q; e.onload = () => done("it is a script"); e.onerror = fail; document.body.append(e); })`,
		`new Promise((done, fail) => { const e = document.createElement("link"); e.rel = "stylesheet"; e.href = %q; e.onload = () => done("it is a style sheet"); e.onerror = fail; document.head.append(e); })`,
	} {
		for _, path := range []string{"", "static/" + styleName()} {
			script := fmt.Sprintf(script, p.url+Root+path)
			got := browsertest.See(t, ctx, chromedp.Evaluate[string](`(`+script+`).catch(e => "")`, chromedp.EvalAwaitPromise))
			if got != "" {
				t.Errorf("%s reads %q", script, got)
			}
		}
	}
	p.open("names").sees("Zoe Zhang")
}

// TestClientRedirects: a target that the server accepts is a page of this site for a browser too.
func TestClientRedirects(t *testing.T) {
	ctx := browsertest.Start(t)
	tricks := redirectTricks()
	for c := range 128 { // characters that browsers drop or replace
		for _, form := range []string{"/-/ui/%[1]s/evil.example", "/%[1]s/evil.example/-/ui/", "/-/ui/%[1]s..%[1]s/%[1]s..%[1]s/x", "%[1]s//evil.example/-/ui/", "/-/ui/.%[1]s./.%[1]s./x"} {
			tricks = append(tricks, fmt.Sprintf(form, string(rune(c))), fmt.Sprintf(form, url.PathEscape(string(rune(c)))))
		}
	}
	var accepted []string
	for _, trick := range tricks {
		if IsLocal(trick) {
			accepted = append(accepted, trick)
		}
	}
	list, err := json.Marshal(accepted)
	if err != nil || len(accepted) < 100 {
		t.Fatalf("%d accepted: %v", len(accepted), err)
	}
	const outside = `.filter(at => { const u = new URL(at, "https://pages.example/-/ui/sign-in"); return u.origin != "https://pages.example" || !u.pathname.startsWith("/-/ui/"); })`
	if got := browsertest.See(t, ctx, chromedp.Evaluate[[]string](string(list)+outside)); len(got) > 0 {
		t.Errorf("accepted, and outside of the pages: %q", got)
	}
}
