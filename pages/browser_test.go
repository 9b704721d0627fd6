package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestInBrowser opens some pages in Chromium if it is installed. make test-clients opens all, and
// looks for more.
func TestInBrowser(t *testing.T) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed; make test-clients installs it")
	}
	script, err := os.ReadFile("../internal/browsertest/layout.js")
	if err != nil {
		t.Fatal(err)
	}
	g := newStage(t)
	for _, r := range []row{
		{state: "full", path: nameAt(alb) + "/edit"},
		{state: "hostile", path: nameAt(longName())},
	} {
		page := g.answer(r)
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			switch q.URL.Path {
			case "/page":
				w.Header().Set("Content-Security-Policy", page.Header().Get("Content-Security-Policy"))
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, strings.Replace(page.Body.String(), "</body>", `<script src="/check"></script></body>`, 1))
			case "/check":
				fmt.Fprintf(w, "document.body.innerText = 'faults: ' + JSON.stringify(%s)", strings.TrimSpace(string(script)))
			default:
				g.full.pages.ServeHTTP(w, q) // the style sheet
			}
		}))
		t.Cleanup(srv.Close)
		out, err := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(), "--dump-dom", srv.URL+"/page").Output()
		if err != nil || !strings.Contains(string(out), "faults: []") {
			_, faults, _ := strings.Cut(string(out), "faults: ")
			t.Errorf("%s: %v\n%s", r, err, faults)
		}
	}
}
