package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// succeeds runs a command that must succeed, and returns its output.
func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	status, out, log := command(t.Context(), strings.NewReader(""), args...)
	if status != exitYes {
		t.Fatalf("%q: status %d: %s", args, status, log)
	}
	return out
}

// readerAgent and readerAddresses are what the tests of privacy look for on the disk.
const readerAgent = "Mozilla/5.0 (X11; Quuxian) Firefox/140.0 Frobnicator/7.31"

func readerAddresses() []string {
	return []string{"203.0.113.77", "198.51.100.201", "2001:db8:1:2::abcd"}
}

// personalData returns the octets that no file may have: addresses as text and in binary, networks, and
// parts of the User-Agent field.
func personalData() [][]byte {
	secrets := [][]byte{[]byte(readerAgent), []byte("Frobnicator"), []byte("Quuxian"), []byte("20010db8000100020000")}
	for _, text := range readerAddresses() {
		a := netip.MustParseAddr(text)
		raw := a.As16()
		secrets = append(secrets, []byte(text), raw[:])
		if a.Is4() {
			four := a.As4()
			secrets = append(secrets, four[:], []byte(strings.Join(strings.Split(text, ".")[:3], ".")))
		}
	}
	return secrets
}

// findSecrets reports the files below directories that have secrets, and returns the content of all files
// by path.
func findSecrets(t *testing.T, secrets [][]byte, dirs ...string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[path] = b
			for _, s := range secrets {
				if bytes.Contains(b, s) {
					t.Errorf("%s has %q", path, s)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// What /-/privacy says is true: after a run with known addresses and User-Agent fields, no file of the
// data directory has one of them, while the server runs and after it has stopped or was killed. The
// names that were resolved, and the failed lookups, are there.
func TestPrivacyOnDisk(t *testing.T) {
	secrets := personalData()
	data := t.TempDir()
	succeeds(t, "--data", data, "put", "urn:example:known", "https://example.org/known")
	p := start(t, data, "--trusted-proxy", "127.0.0.1/32", "--answer-cache", "4")
	ask := func() {
		for _, from := range readerAddresses() {
			for _, target := range []string{"/urn:example:known", "/urn:example:known?s=I2C", "/urn:example:missing", "/-/privacy", "/uri-res/N2L?urn:example:known"} {
				sendWith(t, "http://"+p.public+target, "X-Forwarded-For", from, "User-Agent", readerAgent)
			}
		}
		succeeds(t, "--data", data, "stats", "") // writes the counts
	}
	scan := func(when string) {
		t.Helper()
		files, known, missing := findSecrets(t, secrets, data), false, false
		for path, b := range files {
			known = known || strings.Contains(path, countsDir) && bytes.Contains(b, []byte("urn:example:known"))
			missing = missing || bytes.Contains(b, []byte("urn:example:missing"))
		}
		if len(files) < 5 || !known {
			t.Errorf("%s: %d files, the counted name is in one: %t", when, len(files), known)
		}
		if when == "stopped" && !missing {
			t.Error("the failed lookup is in no file")
		}
	}
	ask()
	scan("running")
	ask()
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	scan("stopped")
	p, err := startServer(data, "--trusted-proxy", "127.0.0.1/32")
	if err != nil {
		t.Fatal(err)
	}
	ask()
	if err := p.kill(); err == nil {
		t.Error("a killed server ended well")
	}
	scan("killed")
}

// The counts of the nodes of a database add up, and a command without a server reads them.
func TestCountsOfNodes(t *testing.T) {
	db := startDatabase(t, pgtest.Options{})
	var nodes [2]*process
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for i := range nodes {
		nodes[i] = start(t, dirs[i], "--store", db.URL(), "--no-access-log")
	}
	succeeds(t, "--data", dirs[0], "--store", db.URL(), "put", "urn:example:a", "https://example.org/a")
	for i, p := range nodes {
		redirectsTo(t, p, "/urn:example:a", "https://example.org/a")
		sendWith(t, "http://"+p.public+"/urn:example:a", "User-Agent", "Mozilla/5.0 Firefox/140.0")
		if err := p.stop(); err != nil {
			t.Fatalf("node %d: %v", i, err)
		}
	}
	var r adminapi.Resolutions
	if err := json.Unmarshal([]byte(succeeds(t, "--data", dirs[0], "--store", db.URL(), "stats", "urn:example:a", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if r.Total.Regular != 2 {
		t.Errorf("%+v, want 2 resolutions by a browser, one at each node", r.Total)
	}
}

// What /-/privacy says is true for a server with all parts that write files: the published log, the
// checks of links, reports by mail, batch downloads for clients of EZID, Gopher and the search. The
// log of requests has what the page says.
func TestPrivacyOfAllParts(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, d := range []string{"data", "mail", "key"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	data, spool, key := filepath.Join(dir, "data"), filepath.Join(dir, "mail"), filepath.Join(dir, "key", "log.key")
	program := file("sendmail", "#!/bin/sh\ncat >$(mktemp "+spool+"/mail.XXXXXX)\n", 0o700)
	secret := file("secret", "correct-horse\n", 0o600)
	succeeds(t, "--data", data, "log", "key", "new", "--public-url", "http://names.example.org", key)
	succeeds(t, "--data", data, "authority", "put", "ark:99999", "--owner", "a", "--owner", "b", "--mint", "n{noid:sdd}", "--contact", "mailto:library@example.org")
	succeeds(t, "--data", data, "put", "ark:99999/known", "https://example.org/known", "--same-as", "ark:99999/alias")
	id, _, _ := strings.Cut(succeeds(t, "--data", data, "token", "make", "--who", "scripts", "--role", "owner", "--prefix", "ark:99999"), ".")
	setReportState(t, data, `{"done":"2001-01"}`)
	for _, tt := range []struct {
		options []string
		says    string // on the page
		address string // in the log; "" for none
		logs    bool   // requests are logged
	}{
		{[]string{"--no-access-log"}, "keeps no log of requests", "", false},
		{[]string{"--access-log-addresses", "none"}, "logs each request without the address", "", true},
		{[]string{"--access-log-addresses", "truncated"}, "logs each request with a shortened address", "203.0.113.0", true},
		{[]string{"--access-log-addresses", "full"}, "the request, the address, and", "203.0.113.77", true},
	} {
		config := file("nomen.toml", fmt.Sprintf("[[listen]]\naddress = \"127.0.0.1:0\"\ndialects = [\"ezid\", \"ark\"]\n\n[[dialect]]\nname = \"ezid\"\nauthorities = [\"ark:99999\"]\n\n[[dialect.identity]]\nid = \"apitest\"\ntoken = %q\nsecret-file = %q\n\n[[dialect]]\nname = \"ark\"\nauthorities = [\"ark:99999\"]\n", strings.TrimSpace(id), secret), 0o600)
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		p, err := startCommand(exe, append([]string{
			"serve", "--data", data, "--admin", "127.0.0.1:0", "--config", config, "--trusted-proxy", "127.0.0.1/32", "--public-url", "http://names.example.org", "--gopher", "127.0.0.1:0",
			"--log.key", key, "--log.entries", "--links.check", "--reports.to", "all@example.org", "--reports.contacts", "--reports.from", "names@example.org", "--reports.sendmail", program,
		}, tt.options...)...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.stop() })
		var page string
		for _, from := range readerAddresses() {
			for _, target := range []string{"/ark:99999/known", "/ark:99999/known?info", "/ark:99999/alias", "/ark:99999/missing", "/-/log/checkpoint", "/-/log/tile/0/000.p/1", "/-/proof/ark:99999/known", "/id/ark:/99999/known", "/-/privacy"} {
				page = sendWithin(t, time.Minute, http.MethodGet, "http://"+p.public+target, "", "X-Forwarded-For", from, "User-Agent", readerAgent).body
			}
			downloadFromEZID(t, "http://"+p.public, filepath.Join(data, downloadsDir), "X-Forwarded-For", from, "X-Forwarded-Proto", "https", "User-Agent", readerAgent)
		}
		servertest.Exchange(t, gopherAddress(t, p), "ark:99999/known\r\n")
		succeeds(t, "--data", data, "stats", "") // writes the counts
		succeeds(t, "--data", data, "stats", "report", "--test")
		running := findSecrets(t, personalData(), data, spool, filepath.Dir(key))
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		stopped := findSecrets(t, personalData(), data, spool, filepath.Dir(key))
		for _, part := range []string{countsDir, linksDir, downloadsDir, spool, "search"} {
			found := false
			for _, files := range []map[string][]byte{running, stopped} {
				for path := range files {
					found = found || strings.Contains(path, part)
				}
			}
			if !found {
				t.Errorf("%q: no file of %s: the test says little", tt.options, part)
			}
		}
		if !strings.Contains(page, tt.says) {
			t.Errorf("%q: the page does not say %q:\n%s", tt.options, tt.says, page)
		}
		log := p.output()
		if got := strings.Contains(log, "Frobnicator"); got != tt.logs {
			t.Errorf("%q: the User-Agent field is logged: %t, want %t", tt.options, got, tt.logs)
		}
		if full := strings.Contains(log, "203.0.113.77"); full != (tt.address == "203.0.113.77") || tt.address != "" && !strings.Contains(log, tt.address) {
			t.Errorf("%q: want the address %q in the log:\n%s", tt.options, tt.address, log)
		}
	}
}

// The counts of an alias are those of its record too. A name that no record lists counts only for its
// authority.
func TestCountsOfAliases(t *testing.T) {
	data := t.TempDir()
	rules := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(rules, []byte(`[{"match": "r-{number:d}", "locations": [{"url": "https://example.org/{number}"}], "tests": [{"from": "urn:dns:example.org:r-1", "to": ["https://example.org/1"]}]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	succeeds(t, "--data", data, "authority", "put", "urn:dns:example.org", "--owner", "a", "--owner", "b", "--rules", rules)
	succeeds(t, "--data", data, "put", "urn:dns:example.org:known", "https://example.org/known", "--same-as", "urn:dns:example.org:misprint")
	p := start(t, data, "--no-access-log")
	for i, n := range []string{"known", "misprint", "misprint", "r-1", "r-2"} {
		sendWith(t, "http://"+p.public+"/urn:dns:example.org:"+n, "User-Agent", fmt.Sprint("Mozilla/5.0 Firefox/140.", i))
	}
	for subject, want := range map[string][]string{
		"urn:dns:example.org:known":    {"total 3 0 0 0\n", "alias urn:dns:example.org:misprint 2 0 0 0\n"},
		"urn:dns:example.org:misprint": {"total 2 0 0 0\n"},
		"urn:dns:example.org:r-1":      {"total 0 0 0 0\n"},
		"urn:dns:example.org":          {"total 5 0 0 0\n", "urn:dns:example.org:misprint 2 0 0 0\n", "urn:dns:example.org:known 1 0 0 0\n"},
	} {
		got := succeeds(t, "--data", data, "stats", subject)
		for _, w := range want {
			if !strings.Contains(oneSpace(got), w) {
				t.Errorf("%s: no %q in\n%s", subject, w, got)
			}
		}
	}
}

// oneSpace replaces runs of spaces by one.
func oneSpace(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}

// TestCountsAndBackups checks what docs/reference/counts.md says: a backup has no counts. A data
// directory that was empty before the restore has no counts, unless the directory is copied. A restore
// in place of the store keeps them.
func TestCountsAndBackups(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	backup := filepath.Join(dir, "backup")
	succeeds(t, "--data", data, "put", "urn:example:known", "https://example.org/known")
	p := start(t, data, "--no-access-log")
	sendWith(t, "http://"+p.public+"/urn:example:known", "User-Agent", readerAgent)
	counted := func(data string) bool {
		t.Helper()
		return strings.Contains(oneSpace(succeeds(t, "--data", data, "stats", "urn:example:known")), "total 1 0 0 0\n")
	}
	if !counted(data) {
		t.Fatal("nothing was counted")
	}
	succeeds(t, "--data", data, "backup", backup)
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	for path := range findSecrets(t, nil, backup) {
		if strings.Contains(path, countsDir) {
			t.Errorf("the backup has %s", path)
		}
	}
	empty := filepath.Join(dir, "empty")
	succeeds(t, "--data", empty, "restore", backup)
	if counted(empty) {
		t.Error("an empty data directory has counts after a restore")
	}
	if err := os.CopyFS(filepath.Join(empty, countsDir), os.DirFS(filepath.Join(data, countsDir))); err != nil {
		t.Fatal(err)
	}
	if !counted(empty) {
		t.Error("the copied counts are not read")
	}
	if err := os.RemoveAll(filepath.Join(data, "store")); err != nil { // as a damaged store
		t.Fatal(err)
	}
	succeeds(t, "--data", data, "restore", backup)
	if !counted(data) {
		t.Error("a restore in place of the store removed the counts")
	}
}

// TestCountsAtEachListener checks that resolutions count at each listener and through proxies, and that
// requests of the gateway for names of others do not.
func TestCountsAtEachListener(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/uri-list")
		fmt.Fprint(w, "https://example.org/\r\n")
	}))
	defer other.Close()
	data := t.TempDir()
	for _, n := range []string{"first", "second"} {
		succeeds(t, "--data", data, "authority", "put", "urn:x-"+n, "--owner", "a", "--owner", "b")
		succeeds(t, "--data", data, "put", "urn:x-"+n+":1", "https://example.org/"+n)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "nomen.toml")
	if err := os.WriteFile(config, []byte("[[listen]]\naddress = \"127.0.0.1:0\"\n[[listen]]\naddress = \"127.0.0.1:0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := startCommand(
		exe, "serve", "--data", data, "--config", config, "--admin", "127.0.0.1:0", "--no-access-log", "--trusted-proxy", "127.0.0.1/32", "--host", "names.example",
		"--allow-private", "--ask-others", "own", "--proxy", "own", "--own-users", "127.0.0.0/8,192.0.2.0/24", "--default-resolver", other.URL+"/{name}", "--public-table", "none", "--dns", "127.0.0.1",
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.stop() })
	found := listening.FindAllStringSubmatch(p.output(), -1)
	var public []string
	for _, f := range found {
		if f[1] == "public" {
			public = append(public, f[2])
		}
	}
	if len(public) != 2 {
		t.Fatalf("listeners: %q", found)
	}
	total := func(subject string) (n int) {
		t.Helper()
		for line := range strings.Lines(oneSpace(succeeds(t, "--data", data, "stats", subject))) {
			_, _ = fmt.Sscanf(line, "total %d", &n)
		}
		return n
	}
	client := 0
	request := func(target string, more ...string) string {
		client++
		return "GET " + target + " HTTP/1.1\r\nHost: names.example\r\nUser-Agent: Mozilla/5.0 Firefox/140." + fmt.Sprint(client) + "\r\nConnection: close\r\n" + strings.Join(more, "\r\n") + "\r\n\r\n"
	}
	for _, tt := range []struct {
		what, at, request string
		want              int // resolutions of urn:x-first:1
	}{
		{"first listener", public[0], request("/urn:x-first:1"), 1},
		{"second listener", public[1], request("/urn:x-first:1"), 1},
		{"protocol of 1995", public[1], "GET urn:x-first:1 HTTP/1.0\r\nUser-Agent: Mozilla/5.0 Firefox/141\r\n\r\n", 1},
		{"reverse proxy", public[0], request("/urn:x-first:1", "X-Forwarded-For: 192.0.2.1", ""), 1},
		{"forward proxy, URL of this server", public[0], request("http://names.example/urn:x-first:1"), 1},
		{"forward proxy, name", public[0], request("urn:x-first:1"), 1},
		{"gateway, page about a name here", public[0], request("/?name=urn:x-first:1"), 0},
		{"gateway, redirect of a handler", public[0], request("/-/handler?uri=web%2Burn%3Ax-first%3A1"), 0},
		{"admin listener", p.admin, request("/urn:x-first:1"), 0},
	} {
		before, all := total("urn:x-first:1"), total("")
		answer, err := exchange(tt.at, tt.request)
		if err != nil {
			t.Fatal(err)
		}
		if got := total("urn:x-first:1") - before; got != tt.want || total("")-all != tt.want {
			t.Errorf("%s: got %d resolutions, %d in total, want %d:\n%s", tt.what, got, total("")-all, tt.want, answer)
		}
	}
	for _, target := range []string{"/urn:x-foreign:1", "urn:x-foreign:1", "/urn:x-foreign:1?s=I2Ls"} {
		all := total("")
		answer, err := exchange(public[0], request(target))
		if err != nil {
			t.Fatal(err)
		}
		if got := total("") - all; got != 0 || !strings.Contains(answer, "https://example.org/") {
			t.Errorf("gateway, %s: got %d resolutions, want the answer of the other resolver and none:\n%s", target, got, answer)
		}
	}
}
