package admin

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// A data directory that was moved away does not appear again because of a job.
func TestJobsWithoutDataDirectory(t *testing.T) {
	data, away := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "away")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	srv, _ := newTestAPI(t, func(o *Options) { o.Jobs = filepath.Join(data, "jobs") })
	save := func() error {
		srv.jobs.save()
		f, err := srv.jobs.spool(strings.NewReader("x"))
		if err == nil {
			_ = f.Close()
		}
		return err
	}
	if err := save(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(data, away); err != nil {
		t.Fatal(err)
	}
	if err := save(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a body was stored: %v", err)
	}
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data directory is there again: %v", err)
	}
	if err := os.Rename(away, data); err != nil {
		t.Fatal(err)
	}
	if err := save(); err != nil {
		t.Error(err)
	}
}

// The problem of a body that cannot be stored, or not be read, has the right status, and does
// not show the path of the server's files.
func TestJobUnstored(t *testing.T) {
	srv, _ := newTestAPI(t, func(o *Options) { o.Jobs = filepath.Join(t.TempDir(), "jobs") })
	for _, tt := range []struct {
		err    error
		status int
	}{
		{unstored(&fs.PathError{Op: "write", Path: "/srv/names/jobs/1.body", Err: syscall.ENOSPC}), http.StatusInsufficientStorage},
		{unstored(&fs.PathError{Op: "write", Path: "/srv/names/jobs/1.body", Err: syscall.EDQUOT}), http.StatusInsufficientStorage},
		{unstored(&fs.PathError{Op: "open", Path: "/srv/names/jobs/1.body", Err: syscall.EROFS}), http.StatusServiceUnavailable},
		{unstored(&fs.PathError{Op: "open", Path: "/srv/names/jobs/1.body", Err: fs.ErrPermission}), http.StatusServiceUnavailable},
	} {
		if p := jobProblem(tt.err); p.Status != tt.status || strings.Contains(p.Detail, "/srv") {
			t.Errorf("%v: %d %s, want %d", tt.err, p.Status, p.Detail, tt.status)
		}
		resp := httptest.NewRecorder()
		if srv.problem(resp, tt.err); resp.Code != tt.status || resp.Header().Get("Retry-After") != "5" {
			t.Errorf("%v: %d with Retry-After %q, want %d with 5", tt.err, resp.Code, resp.Header().Get("Retry-After"), tt.status)
		}
	}
	_, err := srv.jobs.spool(io.MultiReader(strings.NewReader("x"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if p := jobProblem(err); p.Status != http.StatusBadRequest || !strings.Contains(p.Detail, "request body truncated") {
		t.Errorf("a body that breaks off: %+v", p)
	}
}
