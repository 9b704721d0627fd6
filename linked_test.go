package nomen_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A program that imports the server links neither DNS nor Prometheus, nor the admin API or a store.
// It can pass its own to the server.
func TestWhatTheServerLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./server").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 50 {
		t.Fatalf("go list found only %d packages", len(linked))
	}
	for _, p := range linked {
		for _, unwanted := range []string{
			"github.com/miekg/dns", "github.com/prometheus/", "github.com/jackc/pgx", "github.com/cockroachdb/pebble",
			module + "/discover", module + "/client", module + "/fetch", module + "/server/", module + "/store/", module + "/mint/reserve",
		} {
			if p == unwanted || strings.HasPrefix(p, strings.TrimSuffix(unwanted, "/")+"/") {
				t.Errorf("package server links %s", p)
			}
		}
	}
}
