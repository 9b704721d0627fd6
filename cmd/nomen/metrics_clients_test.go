//go:build clients

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientPromtool checks the alerts, and the metrics of a running server, with the tool of
// Prometheus.
func TestClientPromtool(t *testing.T) {
	out, err := exec.Command("promtool", "check", "rules", "../../contrib/prometheus/alerts.yml").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	out, err = exec.Command("promtool", "test", "rules", "testdata/alerts_test.yml").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	p := start(t, filepath.Join(t.TempDir(), "data"), "--demo")
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(send(t, "GET", "http://"+p.admin+"/-/metrics", "").body)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
