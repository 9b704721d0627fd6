//go:build clients

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A passedResponse is what a test compares: all but what belongs to one connection or names the server.
type passedResponse struct {
	status int
	header http.Header
	body   string
}

// request returns the request as bytes.
func (c passedCase) request() string {
	length := ""
	if c.body != "" {
		length = fmt.Sprintf("Content-Length: %d\r\n", len(c.body))
	}
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%s%sConnection: close\r\n\r\n%s", cmp.Or(c.method, "GET"), c.target, machineHost, c.fields, length, c.body)
}

// ask sends a request over a connection of its own.
func (c passedCase) ask(dial func() (net.Conn, error)) (passedResponse, error) {
	conn, err := dial()
	if err != nil {
		return passedResponse{}, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { _, _ = io.WriteString(conn, c.request()) }() // the response may come before all is sent
	r, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: c.method})
	if err != nil {
		return passedResponse{}, err
	}
	return newPassedResponse(r)
}

// askHTTP2 sends a request by HTTP/2.
func (c passedCase) askHTTP2(client *http.Client) (passedResponse, error) {
	r, err := http.NewRequest(cmp.Or(c.method, "GET"), "https://"+machineHost+"/", strings.NewReader(c.body))
	if err != nil {
		return passedResponse{}, err
	}
	r.URL.Opaque = "//" + machineHost + c.target // is sent as it is
	r.Header.Set("User-Agent", "")
	for field := range strings.Lines(c.fields) {
		name, value, _ := strings.Cut(strings.TrimSpace(field), ": ")
		r.Header.Set(name, value)
	}
	answer, err := client.Do(r)
	if err != nil {
		return passedResponse{}, err
	}
	if answer.ProtoMajor != 2 {
		return passedResponse{}, fmt.Errorf("%s instead of HTTP/2", answer.Proto)
	}
	return newPassedResponse(answer)
}

func newPassedResponse(r *http.Response) (passedResponse, error) {
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	for _, own := range []string{"Date", "Server", "Connection", "Keep-Alive", "Via", "Alt-Svc", "Content-Length"} {
		r.Header.Del(own)
	}
	return passedResponse{r.StatusCode, r.Header, string(body)}, err
}

// difference says what a proxy changed, or "same".
func difference(got, want passedResponse) string {
	if got.header.Get("Access-Control-Allow-Origin") == "" && want.header.Get("Access-Control-Allow-Origin") != "" {
		return fmt.Sprintf("%d, its own page", got.status)
	}
	if got.status != want.status {
		return fmt.Sprint(got.status)
	}
	var changed []string
	for name := range want.header {
		if listed(got.header[name]) != listed(want.header[name]) {
			changed = append(changed, "`"+name+"`")
		}
	}
	for name := range got.header {
		if want.header[name] == nil {
			changed = append(changed, "`"+name+"` added")
		}
	}
	if got.body != want.body {
		changed = append(changed, "body")
	}
	if changed == nil {
		return "same"
	}
	slices.Sort(changed)
	return strings.Join(changed, ", ")
}

// listed returns the values of a list field without spaces after commas: Apache httpd writes
// Vary anew.
func listed(values []string) string {
	return strings.ReplaceAll(strings.Join(values, ","), ", ", ",")
}

// A proxiedMachine is a machine with a proxy in front of the server.
type proxiedMachine struct {
	*machine
	ways   map[string]func(passedCase) (passedResponse, error) // through the proxy
	direct func() (net.Conn, error)
}

func newProxiedMachine(m *machine, n *internet) *proxiedMachine {
	trust := &tls.Config{RootCAs: n.roots, ServerName: machineHost, NextProtos: []string{"http/1.1"}}
	plain := func() (net.Conn, error) { return net.Dial("tcp", m.addr+":80") }
	secure := func() (net.Conn, error) { return tls.Dial("tcp", m.addr+":443", trust) }
	http2 := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       20 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: n.roots}, ForceAttemptHTTP2: true, DisableCompression: true,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("tcp", m.addr+":443") },
		},
	}
	return &proxiedMachine{m, map[string]func(passedCase) (passedResponse, error){
		"HTTP/1.1":      func(c passedCase) (passedResponse, error) { return c.ask(plain) },
		"HTTP/1.1, TLS": func(c passedCase) (passedResponse, error) { return c.ask(secure) },
		"HTTP/2":        func(c passedCase) (passedResponse, error) { return c.askHTTP2(http2) },
	}, func() (net.Conn, error) { return net.Dial("tcp", m.addr+":4500") }}
}

// compare returns what the proxy changes in a case, in whatever way it is sent.
func (m *proxiedMachine) compare(t *testing.T, c passedCase) string {
	t.Helper()
	want, err := c.ask(m.direct)
	if err != nil || want.status != c.status {
		t.Errorf("%s: the server itself: %d %v, want %d\n%.300s", c.what, want.status, err, c.status, want.body)
	}
	found := map[string][]string{}
	for _, way := range slices.Sorted(maps.Keys(m.ways)) {
		if way == "HTTP/2" && c.noHTTP2 {
			continue
		}
		got, err := m.ways[way](c)
		d := difference(got, want)
		if err != nil {
			d = err.Error()
		}
		if d != "same" {
			t.Logf("%s, %s: %s\n got %.300q %.100q\nwant %.300q %.100q", c.what, way, d, fmt.Sprint(got.header), got.body, fmt.Sprint(want.header), want.body)
		}
		found[d] = append(found[d], way)
	}
	var all []string
	for _, d := range slices.Sorted(maps.Keys(found)) {
		if len(found) > 1 {
			d += " (" + strings.Join(found[d], "; ") + ")"
		}
		all = append(all, d)
	}
	return strings.Join(all, ", ")
}

// A neededSetting is a line of a configuration, a case that goes wrong without it, and what nomen
// doctor then says, "" if it does not notice.
type neededSetting struct{ setting, breaks, doctor string }

// What doctor says about proxies.
const (
	anonymousClients = "clients that send the fields Forwarded or X-Forwarded-For are anonymous"
	chosenHost       = "clients can choose the host that the server sees"
	oldHTTP          = "a proxy speaks HTTP/1.0 to the server"
)

// proxies are the pages of the guide, the files of the configuration, the cases of conformance
// that are not applicable behind each proxy beside those of [notBehind], and the settings that it needs.
var proxies = []struct {
	page, file, not string
	settings        []neededSetting
}{
	{page: "nginx", file: "/etc/nginx/sites-available/nomen", settings: []neededSetting{
		{"s#4500;#4500/;#", "an escaped slash", "names with %2F are changed"},
		{"client_max_body_size", "200, batch of 2 MB", ""},
		{"proxy_http_version", "308, redirect", oldHTTP},
		{"proxy_set_header X-Forwarded-For", clientsAddress, "clients can choose the address that the server sees"},
		{"proxy_set_header X-Forwarded-Host", "200, element, with fields of other proxies", chosenHost},
		{"proxy_set_header Forwarded", clientsAddress, anonymousClients},
		{"proxy_b", "200, header of 25 kB", ""},
	}},
	// Go's HTTP server expects a version, and has its own reason phrases.
	{page: "caddy", file: "/etc/caddy/Caddyfile", not: "Y95-32/simple Y95-43/urn Y95-42/where", settings: []neededSetting{
		{"s#http://id.example.edu, ##", "303, redirect", ""},
		{"compression off", "200, header of 25 kB", ""},
		{"header_up -Forwarded", clientsAddress, anonymousClients},
		{`s#reverse_proxy 127#uri path_regexp /{2,} /\n\t&#`, "two slashes", "names with // are changed"},
	}},
	{page: "apache", file: "/etc/apache2/nomen-proxy.conf", settings: []neededSetting{
		{"AllowEncodedSlashes", "an escaped slash", "names with %2F do not arrive"},
		{"s# nocanon##", "two slashes", "names with // are changed"},
		{`s#Match "^/.*" "\(.*\)$0"# "/" "\1/"#`, "an empty first segment", ""},
		{"s# responsefieldsize=65536##", "303, location of 20 kB", ""},
		{"unset Forwarded", clientsAddress, anonymousClients},
		{"no-gzip", "200, text with gzip", ""},
		{`s#SetEnv no-gzip 1#&\nSetEnv force-proxy-request-1.0 1#`, "308, redirect", oldHTTP},
	}},
}

// clientsAddress stands for the address of the client in the log of the server.
const clientsAddress = "client address"

// notBehind are cases that no proxy passes on, or that need no proxy.
const notBehind = "Y95-30/bare Y95-38/urn Y95-02/case Y95-08/query Y95-64/follow Y95-63/reserved RFC2169-3.1/302 RFC2169-3.4/N2Rs RFC7089-4.5.3/none RFC7089-4.2.1/prefix "

// TestClientProxies follows the pages of the guide about proxies, each on a machine of its own,
// and compares the responses through the proxy with those of the server.
func TestClientProxies(t *testing.T) {
	if !enterNetwork(t) {
		return
	}
	base := baseOfMachines(t)
	deb := debs(t)["nomen_1.0.0-1_amd64.deb"]
	n := connectInternet(t)
	results, followed := map[string][]string{}, [][2]string{{"put-a-proxy-in-front.md", "machine"}}
	for _, proxy := range proxies {
		followed = append(followed, [2]string{"production/" + proxy.page + ".md", "machine"})
		t.Run(proxy.page, func(t *testing.T) {
			m := newProxiedMachine(bootMachine(t, base, n), n)
			m.write(t, homeOnMachine+"/nomen.deb", deb, 0o644)
			m.run(t, "apt-get install -y -q ./nomen.deb")
			m.follow(t, "production/"+proxy.page+".md", "machine")
			m.follow(t, "put-a-proxy-in-front.md", "machine")
			m.load(t)
			for _, c := range passedCases() {
				results[c.what] = append(results[c.what], m.compare(t, c))
			}
			if others := m.otherAddresses(t); len(others) > 0 {
				t.Errorf("the server takes another address for the client's: %q", others)
			}
			m.doctorOfProxy(t)
			for _, s := range proxy.settings {
				m.without(t, proxy.file, s)
			}
			m.conform(t, n, notBehind+proxy.not)
			m.protocol1995(t)
			m.drain(t)
		})
	}
	checkFollowed(t, followed)
	if !t.Failed() {
		compareProxyTable(t, results)
	}
}

// compareProxyTable compares the results with the table in the document.
func compareProxyTable(t *testing.T, results map[string][]string) {
	t.Helper()
	var table strings.Builder
	table.WriteString("| request | nomen | nginx | Caddy | Apache httpd |\n| --- | --- | --- | --- | --- |\n")
	for _, c := range passedCases() {
		fmt.Fprintf(&table, "| %s | %d | %s |\n", c.what, c.status, strings.Join(results[c.what], " | "))
	}
	const file, begin, end = "../../docs/howto/put-a-proxy-in-front.md", "<!-- measured by make test-clients: begin -->\n", "<!-- measured by make test-clients: end -->"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(source), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table", file)
	}
	t.Logf("\n%s", table.String())
	if old == table.String() {
		return
	}
	if *updateDocs {
		err = os.WriteFile(file, []byte(before+begin+table.String()+end+after), 0o644)
	}
	t.Errorf("%s has another table: %v", file, err)
}

// without checks that a case goes wrong without a setting, and that the setting is therefore needed.
func (m *proxiedMachine) without(t *testing.T, file string, needed neededSetting) {
	t.Helper()
	setting, breaks := needed.setting, needed.breaks
	reload := "systemctl reload $(systemctl list-units --no-legend --plain nginx.service caddy.service apache2.service | cut -d' ' -f1) && sleep 0.5"
	edit := setting // of sed: removes the lines with the setting, unless it is a substitution
	if !strings.HasPrefix(setting, "s#") {
		edit = "/" + setting + "/d"
	}
	m.run(t, fmt.Sprintf("cp %s /var/tmp/kept && sed -i '%s' %s && %s", file, edit, file, reload))
	wrong := false
	for _, c := range passedCases() {
		if breaks == clientsAddress && strings.Contains(c.fields, "203.0.113") {
			_, _ = c.ask(m.direct)
			_, _ = m.ways["HTTP/1.1"](c)
			wrong = wrong || len(m.otherAddresses(t)) > 0
		}
		if c.what == breaks {
			want, _ := c.ask(m.direct)
			got, _ := m.ways["HTTP/1.1"](c)
			wrong = difference(got, want) != "same"
			t.Logf("without %s: %s: %s", setting, c.what, difference(got, want))
		}
	}
	if !wrong {
		t.Errorf("the setting %s is not needed: without it, %s is right", setting, breaks)
	}
	if said := m.doctor(""); !strings.Contains(said, needed.doctor) {
		t.Errorf("without %s nomen doctor does not say %q but\n%s", setting, needed.doctor, said)
	}
	m.run(t, fmt.Sprintf("cp /var/tmp/kept %s && %s", file, reload))
	m.run(t, "journalctl --rotate -q && journalctl --vacuum-time=1s -q")
}

// otherAddresses returns the lines of the server's log with addresses that the client does not have.
func (m *proxiedMachine) otherAddresses(t *testing.T) (others []string) {
	t.Helper()
	log, _ := m.try("journalctl --no-pager -u nomen | grep -F urn:x-s303:1 | grep -vF /api/")
	for line := range strings.Lines(log) {
		if strings.Contains(line, "203.0.113") || !strings.Contains(line, "192.0.2.") {
			others = append(others, line)
		}
	}
	return others
}

// conform runs the conformance tests through the proxy.
func (m *proxiedMachine) conform(t *testing.T, n *internet, not string) {
	t.Helper()
	dir := t.TempDir()
	hosts, roots := filepath.Join(dir, "hosts"), filepath.Join(dir, "roots.pem")
	if err := errors.Join(os.WriteFile(hosts, []byte(m.addr+" "+machineHost+"\n"), 0o644), os.WriteFile(roots, n.issue, 0o644)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "--bind", hosts, "/etc/hosts").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer func() { _ = exec.Command("umount", "/etc/hosts").Run() }()
	got, want := conforms(t, append(conformFlags, "--ca", roots, "https://"+machineHost)...), strings.Fields(not)
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("not applicable: %q, want %q", got, want)
	}
}

// protocol1995 checks that clients of the protocol of 1995 reach the server beside the proxy.
func (m *proxiedMachine) protocol1995(t *testing.T) {
	t.Helper()
	for _, tt := range []struct{ request, want string }{
		{"GET alb002\r\n\r\n", "https://www.names.example/2"},
		{"GET alb002 HTTP/1.0\r\n\r\n", "HTTP/1.0 200 "},
	} {
		if got, err := raw(m.addr+":4500", tt.request); err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%q: %q %v, want %q", tt.request, got, err, tt.want)
		}
	}
}

// drain checks that a server that is being stopped says so through the proxy.
func (m *proxiedMachine) drain(t *testing.T) {
	t.Helper()
	c := passedCase{what: "503", target: "/-/readyz", status: 503}
	m.run(t, "systemctl stop --no-block nomen")
	for last := time.Now().Add(4 * time.Second); time.Now().Before(last); time.Sleep(20 * time.Millisecond) {
		if r, err := c.ask(m.direct); err == nil && r.status == 503 {
			break
		}
	}
	if got := m.compare(t, c); got != "same" {
		t.Errorf("503: %s", got)
	}
}

// load publishes the names of the cases.
func (m *machine) load(t *testing.T) {
	t.Helper()
	m.write(t, "/var/tmp/names.jsonl", []byte(proxyNames()+conformNames), 0o644)
	var script bytes.Buffer
	const put = "nomen authority put --data /var/lib/nomen --owner archive --owner library "
	for _, status := range []string{"301", "302", "303", "307", "308"} {
		fmt.Fprintf(&script, put+"urn:x-s%s --redirect-status %[1]s\n", status)
	}
	script.WriteString("set -e\n" + put + "urn:x-odd --list\n" + put + "urn:x-closed --access denied\n" + put + "urn:x-court --access legal\n")
	script.WriteString(put[:len(put)-len("--owner archive --owner library ")] + "urn:dns:names.example --owner a --owner b --contact mailto:names@names.example --parent urn:dns:example --child urn:dns:sub.names.example --list --default\n")
	script.WriteString("nomen import --data /var/lib/nomen /var/tmp/names.jsonl\nnomen retire --data /var/lib/nomen urn:x-odd:withdrawn --reason withdrawn\n")
	script.WriteString("nomen retire --data /var/lib/nomen urn:dns:names.example:old7 --reason withdrawn\n")
	script.WriteString("nomen retire --data /var/lib/nomen urn:dns:names.example:old1 --reason 'a new number' --successor urn:dns:names.example:alb002\n")
	m.run(t, script.String())
	time.Sleep(2 * time.Second) // Last-Modified is never in the future
}
