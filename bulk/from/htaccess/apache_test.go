//go:build clients

package htaccess

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

const (
	exportedFiles    = 600
	comparedRequests = 60_000
	perFile          = 400 // at most
	differencesMax   = 0.005
)

const unexplained = "unexplained"

var (
	usualAccepts = []string{
		"", "*/*", "text/html", "text/turtle", "application/rdf+xml", "application/ld+json, */*;q=0.1", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
		"application/json", "text/plain", "application/n-triples", "text/turtle;q=0.9, application/rdf+xml, text/html;q=0.2",
	}
	usualAgents = []string{"", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "curl/8.5.0", "Java/17"}
)

// A comparedRequest is a request that both servers get.
type comparedRequest struct{ file, target, accept, agent, languages string }

// TestClientApache compares the redirects of nomen with those of Apache httpd with the same files.
func TestClientApache(t *testing.T) {
	kept := sampleFiles(t)
	texts := make(map[string]string, len(kept))
	for _, c := range kept {
		texts[c.report.File] = c.text
	}
	compareServers(t, kept, serveRules(t, kept), texts)
}

// TestClientApacheExport compares the redirects of nomen with those of Apache httpd with exported
// files.
func TestClientApacheExport(t *testing.T) {
	files := sampleFiles(t)
	files = files[:min(len(files), exportedFiles)]
	st := serveRules(t, files)
	var kept []convertedFile
	texts, reasons := make(map[string]string), make(map[string]int)
	for _, c := range files {
		var text strings.Builder
		refused := 0
		_, err := bulk.Export(t.Context(), st, &text, bulk.ExportOptions{
			Format: bulk.Htaccess, Prefix: c.prefix.String(),
			Refused: func(r bulk.Refusal) { refused++; reasons[r.Reason]++ },
		})
		if err != nil {
			t.Fatal(err)
		}
		if refused == 0 {
			kept, texts[c.report.File] = append(kept, c), text.String()
		}
	}
	for reason, n := range reasons {
		t.Logf("%d rules not exported: %s", n, reason)
	}
	if len(kept) < len(files)*3/4 {
		t.Errorf("all rules of %d of %d files were exported, want three quarters", len(kept), len(files))
	}
	compareServers(t, kept, st, texts)
}

// sampleFiles returns files of which all directives are converted.
func sampleFiles(t *testing.T) (kept []convertedFile) {
	t.Helper()
	files := w3id(t)
	for _, p := range slices.Sorted(maps.Keys(files)) {
		c := convertFile(t, p, files[p])
		if len(c.report.Refused) == 0 && len(c.set()) > 0 {
			kept = append(kept, c)
		}
	}
	draw := rand.New(rand.NewPCG(1, 1))
	draw.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
	return kept
}

// serveRules returns a store with the rules of files.
func serveRules(t *testing.T, files []convertedFile) store.Store {
	t.Helper()
	st := memstore.New()
	for _, c := range files {
		a := &store.Authority{Prefix: c.prefix}
		a.Rules = c.set()
		if _, err := st.Apply(t.Context(), []store.Change{{Authority: a, Time: time.Now()}}); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

// compareServers compares the answers of nomen with the rules of a store with those of Apache httpd
// with texts, which are .htaccess files by their paths.
func compareServers(t *testing.T, kept []convertedFile, st store.Store, texts map[string]string) {
	t.Helper()
	apache := startApache(t, texts)
	nomen, err := server.New(server.Options{Resolver: resolve.New(st, resolve.Options{}), Store: st})
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(2, 1))
	different := map[string]int{}
	total, redirects := 0, 0
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	requests := min(comparedRequests, perFile*len(kept))
	for total < requests {
		c := &kept[total%len(kept)]
		r := c.draw(draw)
		if total/len(kept)%2 == 1 {
			r = c.drawFromText(draw)
		}
		want, ok := askApache(t, client, apache, r)
		if !ok {
			continue
		}
		total++
		if strings.HasPrefix(want, "3") {
			redirects++
		}
		if got := askNomen(nomen, r); asRead(got) != asRead(want) {
			why := explain(r, got, want)
			if different[why]++; different[why] <= 25 {
				t.Logf("%s: %+v:\n  nomen  %s\n  Apache %s", why, r, got, want)
			}
		}
	}
	n := 0
	for why, count := range different {
		t.Logf("%d: %s", count, why)
		n += count
	}
	t.Logf("%d requests (%d redirects) over %d files: %d different", total, redirects, len(kept), n)
	if different[unexplained] > 0 {
		t.Errorf("%d differences are unexplained", different[unexplained])
	}
	if len(kept) > 400 && float64(n) > differencesMax*float64(total) {
		t.Errorf("%d of %d differ, want at most %v", n, total, differencesMax)
	}
}

// altered returns an element changed in one of six ways, or as it is if way is more than 5.
func altered(element string, way int) string {
	switch way {
	case 0:
		return element + "x"
	case 1:
		return element + "/"
	case 2:
		return strings.ToUpper(element)
	case 3:
		return ""
	case 4:
		return element + " é"
	case 5:
		return "x" + element
	}
	return element
}

// draw returns a request for a path below the directory of a file.
func (c *convertedFile) draw(draw *rand.Rand) comparedRequest {
	all := c.entries()
	e := &all[draw.IntN(len(all))]
	candidate, _ := c.candidate(e, draw.IntN(48))
	element := candidate.Element
	element = altered(element, draw.IntN(12))
	one := func(all ...string) string { return all[draw.IntN(len(all))] }
	r := comparedRequest{file: c.report.File, target: c.dir + escapeTarget(element), accept: candidate.Accept, agent: candidate.UserAgent, languages: candidate.Languages}
	if candidate.Query != "" {
		r.target += "?" + strings.ReplaceAll(candidate.Query, " ", "%20")
	} else if draw.IntN(8) == 0 {
		r.target += one("?x=1", "?a&b=2", "?x=1&y=z")
	}
	if draw.IntN(2) == 0 {
		r.accept, r.agent = one(usualAccepts...), one(usualAgents...)
	}
	return r
}

func escapeTarget(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^{|}%?#[]`+"`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (r *comparedRequest) header(h http.Header) {
	for name, value := range map[string]string{"Accept": r.accept, "User-Agent": r.agent, "Accept-Language": r.languages} {
		if value != "" || name == "User-Agent" {
			h.Set(name, value)
		}
	}
}

func askNomen(s *server.Server, r comparedRequest) string {
	req := httptest.NewRequest(http.MethodGet, r.target, nil)
	req.Host = "w3id.org"
	r.header(req.Header)
	w := httptest.NewRecorder()
	s.Public().ServeHTTP(w, req)
	return strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Header().Get("Location")))
}

// askApache returns false if the request cannot be sent.
func askApache(t *testing.T, client *http.Client, address string, r comparedRequest) (string, bool) {
	req, err := http.NewRequest(http.MethodGet, "http://"+address+r.target, nil)
	if err != nil || req.URL.RequestURI() != r.target {
		return "", false
	}
	req.Host = "w3id.org"
	r.header(req.Header)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	resp.Body.Close()
	return strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Location"))), true
}

// asRead returns an answer as clients read it: they escape characters that a URL cannot contain, which
// Apache sends with the flag NE, and the case of the digits of escapes does not matter (RFC 3986, 2.1).
func asRead(s string) string {
	status, url, _ := strings.Cut(s, " ")
	var b strings.Builder
	for i := 0; i < len(url); i++ {
		switch c := url[i]; {
		case c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>^`{|}", c) >= 0:
			fmt.Fprintf(&b, "%%%02X", c)
		case c == '%' && i+2 < len(url):
			b.WriteString(strings.ToUpper(url[i : i+3]))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return status + " " + b.String()
}

// withB makes characters equal that Apache writes in another way with the flag B.
var withB = strings.NewReplacer("%2D", "-", "%2E", ".", "%5F", "_", "%7E", "~", "%20", "+")

// explain returns why the servers differ, as far as it is known.
func explain(r comparedRequest, got, want string) string {
	path, query, hasQuery := strings.Cut(r.target, "?")
	switch {
	case strings.TrimSuffix(want, "?"+query) == "301 http://w3id.org"+path+"/":
		return "Apache adds the slash of a directory that has rules of its own"
	case want == "404" && strings.Contains(got, "//w3id.org"):
		return "Apache reads a URL of its own host as a path"
	case strings.Contains(want, "/site/"):
		return "without RewriteBase, Apache inserts the path of the file"
	case strings.Contains(want, "/./"), strings.Contains(want, "/../"):
		return "Apache keeps dot segments"
	case strings.Contains(want, "//."):
		return "Apache redirects to a host with an empty label"
	case want == "403":
		return "Apache rejects a space or question mark that the request adds to the target"
	case hasQuery && strings.Contains(want, "#"):
		return "Apache appends the query to the fragment"
	case strings.Contains(r.file, "percent/") && strings.Contains(want, "?q=") && strings.Contains(want, "%25"):
		return "with the flag B, Apache escapes the query twice"
	case got == want+"&":
		return "Apache removes an ampersand at the end of the target"
	case withB.Replace(asRead(got)) == withB.Replace(asRead(want)):
		return "with the flag B, Apache escapes unreserved characters, and writes a space as a plus sign"
	case hasQuery && strings.Contains(query, "%"):
		return "Apache escapes the query again"
	}
	return unexplained
}

// startApache starts Apache httpd with .htaccess files and returns its address.
func startApache(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := os.MkdirTemp("", "apache")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	for d := root; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		_ = os.Chmod(d, 0o755)
	}
	for path, text := range files {
		file := filepath.Join(root, "site", filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	config := fmt.Sprintf("ServerRoot %[1]s\nServerName w3id.org\nPidFile %[1]s/pid\nErrorLog /dev/stderr\nLogLevel crit\nListen %[2]s\nUser daemon\nGroup daemon\nDocumentRoot %[1]s/site\nMaxKeepAliveRequests 0\n", root, address)
	for _, m := range strings.Fields("mpm_event authz_core authz_host access_compat alias dir headers mime rewrite setenvif filter expires deflate") {
		config += fmt.Sprintf("LoadModule %[1]s_module /usr/lib/apache2/modules/mod_%[1]s.so\n", m)
	}
	config += fmt.Sprintf("TypesConfig /dev/null\n<Directory %s/site>\nAllowOverride All\nRequire all granted\nOptions FollowSymLinks\n</Directory>\n", root)
	conf := filepath.Join(root, "httpd.conf")
	if err := os.WriteFile(conf, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("apache2", "-X", "-f", conf)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 200 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("Apache does not listen")
	return ""
}
