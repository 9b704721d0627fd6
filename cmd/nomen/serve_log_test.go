package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sendWith sends a request for a page with header fields.
func sendWith(t *testing.T, url string, fields ...string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// loggedKeys are the keys of the access log in the documentation.
func loggedKeys(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/howto/watch-the-service.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "### Keys of the access log")
	table, _, _ = strings.Cut(table, "`--no-access-log`")
	var keys []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(table, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent  = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// If standard error is not a terminal, each line of it is a JSON object. By default no line has
// the full address of a client.
func TestLogIsJSON(t *testing.T) {
	for _, tt := range []struct{ addresses, v4, v6 string }{
		{"", "203.0.113.0", "2001:db8:1::"},
		{"full", "203.0.113.77", "2001:db8:1:2::77"},
		{"none", "", ""},
	} {
		t.Run(tt.addresses, func(t *testing.T) {
			args := []string{"--trusted-proxy", "127.0.0.1/32"}
			if tt.addresses != "" {
				args = append(args, "--access-log-addresses", tt.addresses)
			}
			p := start(t, t.TempDir(), args...)
			public := "http://" + p.public
			sendWith(t, public+"/urn:example:a?x=%01%22", "X-Forwarded-For", "203.0.113.77", "Referer", "http://203.0.113.77/", "Traceparent", parent)
			sendWith(t, public+"/urn:example:b", "Forwarded", `for="[2001:db8:1:2::77]"`, "Traceparent", "00-bad")
			sendWith(t, "http://"+p.admin+"/-/healthz")
			if err := p.stop(); err != nil {
				t.Fatal(err)
			}
			var requests []map[string]any
			for line := range strings.Lines(p.output()) {
				var v map[string]any
				if err := json.Unmarshal([]byte(line), &v); err != nil || v["time"] == "" || v["level"] == "" || v["msg"] == "" {
					t.Errorf("%v: %s", err, line)
				}
				if v["msg"] == "request" {
					requests = append(requests, v)
				}
			}
			if len(requests) != 3 {
				t.Fatalf("%d requests are logged:\n%s", len(requests), p.output())
			}
			if got, _ := requests[0]["remote"].(string); got != tt.v4 || requests[0]["trace_id"] != traceID {
				t.Errorf("IPv4: %v", requests[0])
			}
			if got, _ := requests[1]["remote"].(string); got != tt.v6 || requests[1]["trace_id"] != nil {
				t.Errorf("IPv6: %v", requests[1])
			}
			if full := strings.Contains(p.output(), "203.0.113.77") || strings.Contains(p.output(), "2::77"); full != (tt.addresses == "full") {
				t.Errorf("full addresses: %v:\n%s", full, p.output())
			}
			for key := range requests[0] {
				if !slices.Contains(loggedKeys(t), key) {
					t.Errorf("the key %s is not documented", key)
				}
			}
			if tt.addresses == "" {
				for _, key := range loggedKeys(t) {
					if requests[0][key] == nil {
						t.Errorf("the key %s does not exist", key)
					}
				}
			}
		})
	}
}

// Why a server cannot start is in the log too.
func TestFailureIsLogged(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var stderr bytes.Buffer
	status := run(t.Context(), []string{"serve", "--data", t.TempDir(), "--listen", l.Addr().String(), "--admin", "127.0.0.1:0"}, streams{err: &stderr})
	lines := slices.Collect(strings.Lines(stderr.String()))
	var v map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &v); err != nil || v["level"] != "ERROR" || !strings.Contains(v["msg"].(string), l.Addr().String()) || status != exitFailure {
		t.Errorf("status %d, %v: %s", status, err, stderr.String())
	}
}

func TestLogFlags(t *testing.T) {
	for _, args := range [][]string{{"--log-format", "xml"}, {"--access-log-addresses", "some"}} {
		var stderr bytes.Buffer
		status := run(t.Context(), append([]string{"serve", "--data", t.TempDir()}, args...), streams{err: &stderr})
		if status != exitUsage || !strings.Contains(stderr.String(), args[0]+` "`+args[1]+`": must be `) {
			t.Errorf("%v: status %d, %s", args, status, stderr.String())
		}
	}
}

// Lines that cannot be written to standard error are counted, both lines of the log and other
// messages.
func TestLostLines(t *testing.T) {
	c := &cli{streams: streams{err: brokenWriter{}}}
	log := c.openLog(&logFlags{format: logAuto, addresses: addressesTruncated})
	log.Info("one")
	fmt.Fprintln(c.err, "nomen: warning: two")
	if got := c.lostLines.Load(); got != 2 {
		t.Errorf("got %d", got)
	}
}

// The errors of reads and writes do not have the addresses of clients.
func TestErrorsWithoutPeers(t *testing.T) {
	tcp := func(s string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(s)) }
	broken := &net.OpError{Op: "write", Net: "tcp", Source: tcp("192.0.2.1:80"), Addr: tcp("203.0.113.77:4711"), Err: errors.New("broken pipe")}
	for _, tt := range []struct {
		err       error
		addresses string
		want      string
	}{
		{fmt.Errorf("copy: %w", broken), addressesTruncated, "copy: connection failed: broken pipe"},
		{errors.Join(broken, errors.New("connection to and fro"), broken), addressesNone, "connection failed: broken pipe\nconnection to and fro\nconnection failed: broken pipe"},
		{broken, addressesFull, "connection to 203.0.113.77:4711 failed: broken pipe"},
		{&net.OpError{Op: "read", Net: "tcp", Addr: tcp("203.0.113.77:4711"), Err: errors.New("reset")}, addressesNone, "connection failed: reset"},
		{&net.OpError{Op: "dial", Net: "tcp", Addr: tcp("203.0.113.77:80"), Err: errors.New("refused")}, addressesNone, "cannot connect to 203.0.113.77:80: refused"},
	} {
		o := logFlags{addresses: tt.addresses}
		if got := o.replace(nil)(nil, slog.Any("err", tt.err)).Value.String(); got != tt.want {
			t.Errorf("%v, %s: got %q, want %q", tt.err, tt.addresses, got, tt.want)
		}
	}
}

// A value of a log line cannot break it, and durations are written with their unit.
func TestJSONValues(t *testing.T) {
	var b bytes.Buffer
	c := &cli{streams: streams{err: &b}}
	log := c.openLog(&logFlags{format: logJSON, addresses: addressesTruncated})
	log.Info("a", "text", "b\r\n\x1b[2J\u202e", "took", 90*time.Second)
	if got := b.String(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\r\u202e") || !strings.Contains(got, `"took":"1m30s"`) {
		t.Errorf("got %q", got)
	}
}
