//go:build faults

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// soon is the maximum time of an answer that counts as given "at once".
const soon = time.Second

// memory is the memory limit of a server of these tests, in MiB. Its cache then has 16 MiB.
const memory = "528"

// patience is the time after which the test considers an operation to hang.
const patience = 30 * time.Second

// An output collects what a process writes. It is safe for concurrent use.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// A server is a nomen process that serves.
type server struct {
	t      *testing.T
	data   string
	public string // URL
	admin  string // URL
	out    output
	seen   int // number of bytes of out that the method lines has returned
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	status int           // exit status, when ended is closed
}

var listeners = regexp.MustCompile(`(public|admin) listener at ([^\s"]+)`)

// serve starts a server of a data directory and waits until it listens. It is killed
// when the test ends, if it still runs.
func serve(t *testing.T, data string, args ...string) *server {
	t.Helper()
	s, err := tryServe(t, data, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	return s
}

// start starts a server.
func start(t *testing.T, data string, args ...string) *server {
	t.Helper()
	s := &server{t: t, data: data, ended: make(chan struct{})}
	args = append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--no-access-log", "--log-format", "text"}, args...)
	s.cmd = exec.Command(binary, args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait()
		s.status = s.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.ended })
	return s
}

// tryServe is like serve, for a server whose start may fail.
func tryServe(t *testing.T, data string, args ...string) (*server, error) {
	t.Helper()
	s := start(t, data, args...)
	for last := time.Now().Add(patience); time.Now().Before(last); time.Sleep(10 * time.Millisecond) {
		for _, m := range listeners.FindAllStringSubmatch(s.out.String(), -1) {
			switch url := "http://" + m[2]; m[1] {
			case "public":
				s.public = url
			case "admin":
				s.admin = url
			}
		}
		if s.public != "" && s.admin != "" {
			return s, nil
		}
		select {
		case <-s.ended:
			return s, fmt.Errorf("the server ended with status %d", s.status)
		default:
		}
	}
	return s, errors.New("the server does not listen")
}

// stop ends the server with SIGTERM and returns how long that took.
func (s *server) stop() time.Duration {
	s.t.Helper()
	begun := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Errorf("stop: %v", err)
	}
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Errorf("the server did not end within %v of SIGTERM:\n%s", patience, s.out.String())
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	return time.Since(begun)
}

// running reports whether the process has not ended.
func (s *server) running() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// lines returns the lines of the log since the last call.
func (s *server) lines() []string {
	text := s.out.String()
	fresh := strings.TrimSpace(text[s.seen:])
	s.seen = len(text)
	if fresh == "" {
		return nil
	}
	return strings.Split(fresh, "\n")
}

// A reply is the result of trying a door.
type reply struct {
	status int // HTTP status or exit status; 0 without an answer
	body   string
	took   time.Duration
	header http.Header
}

// short returns the status, and says if the answer took long.
func (r reply) short() string {
	s := fmt.Sprint(r.status)
	if r.status == 0 {
		s = "no answer"
	}
	if r.took > soon {
		s += " after seconds"
	}
	return s
}

var client = &http.Client{
	Timeout:       patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// ask sends one request.
func ask(method, url, token, contentType, body string) reply {
	begun := time.Now()
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		return reply{body: err.Error()}
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := client.Do(req)
	if err != nil {
		return reply{body: err.Error(), took: time.Since(begun)}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{body: err.Error(), took: time.Since(begun)}
	}
	return reply{resp.StatusCode, string(text), time.Since(begun), resp.Header}
}

// command runs nomen on a data directory. If the command does not end within patience, the status
// of the reply is 0.
func command(data string, args ...string) reply {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append(args, "--data", data)...)
	out, _ := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return reply{body: "hung: " + string(out), took: time.Since(begun)}
	}
	return reply{status: cmd.ProcessState.ExitCode(), body: string(out), took: time.Since(begun)}
}

// known is a name that every server of these tests has, and its location.
const (
	known    = "urn:example:known"
	location = "https://example.org/known"
)

// newData makes a data directory with the name known and n others.
func newData(t *testing.T, data string, n int) {
	t.Helper()
	for _, args := range [][]string{{"put", known, location}, {"authority", "put", "urn:example", "--owner", "a", "--list"}} {
		if r := command(data, args...); r.status != 0 {
			t.Fatalf("%s: %+v", args[0], r)
		}
	}
	if n == 0 {
		return
	}
	file := filepath.Join(t.TempDir(), "names.jsonl")
	if err := os.WriteFile(file, []byte(someNames("bulk", n)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := command(data, "import", file); r.status != 0 {
		t.Fatalf("import: %+v", r)
	}
}

// someNames returns n records as lines of JSON.
func someNames(kind string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"name":"urn:example:%s-%d","locations":[{"url":"https://example.org/%[1]s/%[2]d"}]}`+"\n", kind, i)
	}
	return b.String()
}

func (s *server) token() string {
	text, err := os.ReadFile(filepath.Join(s.data, "admin.token"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// A door is one interface of a server that the tests try.
type door struct {
	name string
	want int // the status without a fault
	try  func() reply
}

// summary tries all doors. If all have the same result, it returns this result, such as "answered";
// otherwise it lists the doors for each result.
func summary(doors []door) (text string, answers map[string]reply) {
	answers = map[string]reply{}
	by := map[string][]string{}
	var order []string
	for _, d := range doors {
		r := d.try()
		answers[d.name] = r
		key := r.short()
		if r.status == d.want && r.took <= soon {
			key = "answered"
		}
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], d.name)
	}
	if len(order) == 1 {
		return order[0], answers
	}
	slices.Sort(order)
	var parts []string
	for _, key := range order {
		parts = append(parts, key+": "+strings.Join(by[key], ", "))
	}
	return strings.Join(parts, "; "), answers
}

// readers returns the doors that only read.
func (s *server) readers(token string) []door {
	get := func(url string) func() reply {
		return func() reply { return ask("GET", url, token, "", "") }
	}
	return []door{
		{"GET", 303, func() reply { return ask("GET", s.public+"/"+known, "", "", "") }},
		{"HEAD", 303, func() reply { return ask("HEAD", s.public+"/"+known, "", "", "") }},
		{"I2C", 200, func() reply { return ask("GET", s.public+"/"+known+"?s=I2C", "", "", "") }},
		{"batch", 200, func() reply { return ask("POST", s.public+"/-/resolve", "", "text/uri-list", known+"\r\n") }},
		{"list", 200, func() reply { return ask("GET", s.public+"/-/list/urn:example", "", "", "") }},
		{"admin", 200, get(s.admin + "/api/v1/names/" + known)},
		{"export", 200, get(s.admin + "/api/v1/export")},
		{"head", 200, get(s.admin + "/api/v1/head")},
	}
}

var refusedImport = regexp.MustCompile(`"status":(\d+)`)

// writers returns the doors that write. The number n makes their names new.
func (s *server) writers(token string, n int) []door {
	json := func(method, path, body string) func() reply {
		return func() reply { return ask(method, s.admin+"/api/v1/"+path, token, "application/json", body) }
	}
	record := fmt.Sprintf(`{"name":"urn:example:put-%d","locations":[{"url":"https://example.org/%[1]d"}]}`, n)
	return []door{
		{"PUT", 201, json("PUT", fmt.Sprintf("names/urn:example:put-%d", n), record)},
		{"batch", 200, json("POST", "names", fmt.Sprintf(`{"requests":[{"record":{"name":"urn:example:batch-%d","locations":[{"url":"https://example.org/%[1]d"}]}}]}`, n))},
		{"import", 200, func() reply {
			r := ask("POST", s.admin+"/api/v1/import", token, "application/jsonl", someNames(fmt.Sprintf("import-%d", n), 1))
			if m := refusedImport.FindStringSubmatch(r.body); m != nil { // the answer is a stream
				r.status, _ = strconv.Atoi(m[1])
			}
			return r
		}},
		{"token", 201, json("POST", "tokens", fmt.Sprintf(`{"who":"t%d","role":"reader"}`, n))},
	}
}

// until tries all doors repeatedly until the function ok returns true for the result, but at most
// for the time patience.
func (s *server) until(token string, n *int, ok func(probe) bool) probe {
	s.t.Helper()
	var p probe
	for last := time.Now().Add(patience); time.Now().Before(last); time.Sleep(100 * time.Millisecond) {
		*n++
		if p = s.look(token, *n); ok(p) {
			return p
		}
	}
	s.t.Errorf("still: %s", p)
	return p
}

// String describes the probe on one line.
func (p probe) String() string {
	return fmt.Sprintf("reads %s, writes %s, healthz %s, readyz %s, metrics %s, %q", p.reads, p.writes, p.healthz.text(), p.readyz.text(), p.metrics, p.answers["PUT"].body)
}

// isWell reports whether everything is answered as without a fault.
func (p probe) isWell() bool {
	return p.reads == "answered" && p.writes == "answered" && p.healthz.status == 200 && p.readyz.status == 200
}

// A probe is the state of a server at one moment, as its clients see it.
type probe struct {
	reads, writes   string
	healthz, readyz reply
	metrics         string
	answers         map[string]reply // of the writers
}

// look tries all doors. In the probe, metrics has nomen_storage_readable, nomen_storage_writable,
// and nomen_clock_accepted if it is 0.
func (s *server) look(token string, n int) probe {
	var p probe
	p.reads, _ = summary(s.readers(token))
	p.writes, p.answers = summary(s.writers(token, n))
	p.healthz = ask("GET", s.public+"/-/healthz", "", "", "")
	p.readyz = ask("GET", s.public+"/-/readyz", "", "", "")
	var gauges []string
	for line := range strings.Lines(ask("GET", s.admin+"/-/metrics", "", "", "").body) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && (name == "nomen_storage_readable" || name == "nomen_storage_writable") || name == "nomen_clock_accepted" && value == "0" {
			gauges = append(gauges, strings.TrimPrefix(strings.TrimPrefix(name, "nomen_storage_"), "nomen_")+" "+value)
		}
	}
	p.metrics = strings.Join(gauges, ", ")
	return p
}

// text returns the status and the body as text.
func (r reply) text() string {
	return fmt.Sprintf("%s `%s`", r.short(), strings.TrimSpace(r.body))
}
