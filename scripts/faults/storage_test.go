//go:build faults

package faults

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// The disk fills up while the server runs, and has room again.
func TestFaultFullDiskWhileServing(t *testing.T) {
	d := newDisk(t, 96, 0)
	data := filepath.Join(d.dir, "data")
	newData(t, data, 100)
	s := serve(t, data, "--cache", "16")
	token := s.token()
	if p := s.look(token, 0); p.reads != "answered" || p.writes != "answered" {
		t.Fatalf("without a fault: %+v", p)
	}
	s.lines()
	empty := d.fill(0)
	time.Sleep(200 * time.Millisecond)
	p := s.look(token, 1)
	log := s.lines()
	empty()
	time.Sleep(200 * time.Millisecond)
	again := s.look(token, 2)
	emit(t, Row{
		Fault: "disk full while serving", Reads: p.reads, Writes: p.writes,
		Healthz: p.healthz.text(), Readyz: p.readyz.text(), Metrics: p.metrics,
		Log: fmt.Sprintf("%d lines", len(log)), After: "by itself; writes " + again.writes,
	})
	t.Logf("%+v\n%q", p, log)
	if took := s.stop(); took > 2*time.Second {
		t.Errorf("stopping took %v", took)
	}
}
