package main

import (
	"net"
	"strings"
	"testing"
	"time"
)

// The metrics of a running server have its connections, Gopher's among them, its names and its
// build. They are on the admin listener, and with an option on the public one.
func TestMetricsOfServer(t *testing.T) {
	p := start(t, t.TempDir(), "--demo", "--gopher", "127.0.0.1:0", "--public-metrics")
	_, gopher, _ := strings.Cut(p.output(), "gopher listener at ")
	gopher, _, _ = strings.Cut(gopher, `"`)
	c, err := net.Dial("tcp", gopher)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, at := range []string{p.admin, p.public} {
		want := []string{
			`nomen_connections{listener="gopher"} 1`, `nomen_names 9154`, "nomen_log_size 9155", "nomen_ready 1",
			`nomen_build_info{goversion="go1.`, `nomen_cache_capacity_bytes{cache="blocks"} `, "nomen_log_lines_dropped_total 0", "nomen_background_rest_seconds_total ",
			`nomen_jobs{kind="backup",state="done"} 0`, `nomen_upstream_requests{state="running"} 0`, "nomen_misses_total 0",
		}
		var missing []string
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			body, found := send(t, "GET", "http://"+at+"/-/metrics", "").body, missing[:0]
			for _, line := range want {
				if !strings.Contains(body, "\n"+line) {
					found = append(found, line)
				}
			}
			if missing = found; len(missing) == 0 {
				break
			}
		}
		if len(missing) > 0 {
			t.Errorf("%s: the metrics lack %q", at, missing)
		}
	}
}
