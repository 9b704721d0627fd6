package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A ruleChanger changes the rule about a second person of a running server.
type ruleChanger struct {
	*testing.T
	process *process
	config  string
	api     *adminapi.Client
}

// set writes the rule, reloads the configuration by a hangup or over the API, and waits until the
// server has the rule.
func (r *ruleChanger) set(hangup bool, table string, want adminapi.SecondPerson) {
	r.Helper()
	err := os.WriteFile(r.config, []byte(table), 0o600)
	if err == nil && hangup {
		err = r.process.cmd.Process.Signal(syscall.SIGHUP)
	} else if err == nil {
		_, err = r.api.Reload(r.Context())
	}
	if err != nil {
		r.Fatal(err)
	}
	for end := time.Now().Add(startTimeout); ; time.Sleep(5 * time.Millisecond) {
		v, err := r.api.Version(r.Context())
		if err == nil && v.SecondPerson == want {
			return
		}
		if time.Now().After(end) || !hangup {
			r.Fatalf("got %+v, %v, want %+v", v.SecondPerson, err, want)
		}
	}
}

// relocate relocates the three names of a host.
func (r *ruleChanger) relocate(host string) error {
	_, err := r.api.Relocate(r.Context(), registrar.Relocation{From: "https://" + host + "/", To: "https://new.example/"})
	return err
}

// waits returns the ID of the job that waits because of a request.
func (r *ruleChanger) waits(err error) string {
	r.Helper()
	var e *adminapi.WaitingError
	if !errors.As(err, &e) {
		r.Fatalf("got %v, want a job that waits", err)
	}
	return e.Job.ID
}

// state checks the state of a job.
func (r *ruleChanger) state(id, want string) {
	r.Helper()
	if j, err := r.api.Job(r.Context(), id); err != nil || j.State != want {
		r.Errorf("got %+v, %v, want the state %s", j, err, want)
	}
}

// TestReloadSecondPerson: a reload switches the rule on and off, and changes its number. It is for
// new requests only: what waits still waits, and only another person can approve it.
func TestReloadSecondPerson(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, config := filepath.Join(dir, "data"), filepath.Join(dir, "nomen.toml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &ruleChanger{T: t, process: start(t, data, "--config", config), config: config}
	r.api = adminClient(t, data)
	for i, host := range []string{"a.example", "b.example", "c.example"} {
		for k := range 3 {
			rec := &store.Record{Spelling: fmt.Sprintf("urn:dns:example.org:%d-%d", i, k), Locations: []nomen.Location{{URL: fmt.Sprintf("https://%s/%d", host, k)}}}
			rec.Name = name.MustParse(rec.Spelling)
			if _, err := r.api.Put(t.Context(), registrar.Request{Record: rec, Expected: 0}, ""); err != nil {
				t.Fatal(err)
			}
		}
	}

	r.set(true, "[second-person]\nrelocate-above = 2\n", adminapi.SecondPerson{RelocateAbove: 2})
	id := r.waits(r.relocate("a.example"))
	r.set(false, "[second-person]\nrelocate-above = 3\nredact = true\n", adminapi.SecondPerson{RelocateAbove: 3, Redact: true})
	if err := r.relocate("b.example"); err != nil {
		t.Errorf("a relocation of three names: %v", err)
	}
	n, red := name.MustParse("urn:dns:example.org:1-0"), registrar.Redaction{Revisions: []uint64{1}, Reason: "court", Expected: store.AnyRevision}
	_, err := r.api.Redact(t.Context(), n, red)
	redaction := r.waits(err)
	r.state(id, adminapi.JobWaiting)

	r.set(true, "", adminapi.SecondPerson{})
	r.state(id, adminapi.JobWaiting)
	var status *adminapi.StatusError
	if _, err := r.api.ApproveJob(t.Context(), id); !errors.As(err, &status) || status.Status != 403 {
		t.Errorf("approved by the person who asked: %v", err)
	}
	if err := r.relocate("c.example"); err != nil {
		t.Errorf("without the rule: %v", err)
	}
	granted, err := r.api.Grant(t.Context(), adminapi.Grant{Who: "ben", Role: "editor"})
	if err != nil {
		t.Fatal(err)
	}
	ben := &adminapi.Client{URL: r.api.URL, Token: granted.Token}
	if j, err := ben.ApproveJob(t.Context(), id); err != nil || j.State != adminapi.JobDone || j.Result.Relocated.Names != 3 {
		t.Errorf("approved without the rule: %+v, %v", j, err)
	}

	if _, err := r.api.CancelJob(t.Context(), redaction); err != nil {
		t.Error(err)
	}
	r.state(redaction, adminapi.JobCancelled)
	if out, err := r.api.Redact(t.Context(), n, red); err != nil || out.Result.Revision != 3 {
		t.Errorf("redacted without the rule: %+v, %v", out, err)
	}
	r.set(false, "[second-person]\nredact = true\n", adminapi.SecondPerson{Redact: true})
	_, err = r.api.Redact(t.Context(), name.MustParse("urn:dns:example.org:2-0"), red)
	r.waits(err)
}
