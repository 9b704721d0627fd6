//go:build faults

package faults

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// The clock was in the year 2090 for the last change, and is right again.
func TestFaultClockOnceAhead(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	newData(t, data, 10)
	s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(data, "store")})
	if err != nil {
		t.Fatal(err)
	}
	far := time.Now().AddDate(64, 0, 0)
	reg := registrar.New(s, registrar.Options{Now: func() time.Time { return far }})
	_, err = reg.Put(t.Context(), registrar.Operator(), registrar.Request{
		Record:   &store.Record{Spelling: "urn:example:future", Status: nomen.Active, Locations: []nomen.Location{{URL: location}}},
		OrCreate: true, Expected: store.AnyRevision,
	}, "")
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if r := command(data, "put", "urn:example:refused", location); r.status != 3 || !strings.Contains(r.body, "--clock-ok") {
		t.Errorf("put: %+v", r)
	}
	if r := command(data, "verify"); r.status != 1 || strings.Count(r.body, "fault: ") != 1 || !strings.Contains(r.body, "dated in the future") {
		t.Errorf("verify: %+v", r)
	}
	server := serve(t, data, "--memory", memory)
	p := server.look(server.token(), 1)
	told := 0
	for _, line := range server.lines() {
		if strings.Contains(line, "rejecting changes: set the clock") && strings.Contains(line, "--clock-ok") {
			told++
		}
	}
	server.stop()
	server = serve(t, data, "--memory", memory, "--clock-ok")
	after := server.look(server.token(), 2)
	server.stop()

	// The repair.
	repaired := filepath.Join(t.TempDir(), "repaired")
	r := command(data, "migrate", "--from", "pebble:"+filepath.Join(data, "store"), "--to", "pebble:"+repaired, "--repair-times")
	if r.status != 0 || !strings.Contains(r.body, "1 change dated after") {
		t.Errorf("migrate --repair-times: %+v", r)
	}
	if r := command(data, "verify", "--store", "pebble:"+repaired); r.status != 0 {
		t.Errorf("verify of the repaired store: %+v", r)
	}
	emit(t, Row{
		Fault: "last change dated in 2090", Reads: p.reads, Writes: p.writes,
		Healthz: p.healthz.text(), Readyz: p.readyz.text(), Metrics: p.metrics,
		Log: fmt.Sprintf("%d line", told), After: "`--clock-ok`: writes " + after.writes + "; `migrate --repair-times`",
	})
}
