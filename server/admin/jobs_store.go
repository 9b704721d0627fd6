package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
)

// A savedJobs is the content of the file.
type savedJobs struct {
	Version int    `json:"version"`
	Jobs    []*job `json:"jobs"`
}

func (js *jobs) file() string { return filepath.Join(js.dir, jobsFile) }

// saveSoon schedules a save; mu must be held. A crash loses at most the changes since the
// last one.
func (js *jobs) saveSoon() {
	js.changed = true
	if js.dir == "" || js.saving {
		return
	}
	js.saving = true
	time.AfterFunc(saveEvery, js.save)
}

// makeDir creates the directory of the jobs, but not the data directory above it: one that
// was moved away or deleted must not appear again.
func (js *jobs) makeDir() error {
	if err := os.Mkdir(js.dir, durable.PrivateDir); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// save writes the file.
func (js *jobs) save() {
	js.writing.Lock()
	defer js.writing.Unlock()
	js.mu.Lock()
	js.saving = false
	js.tidy()
	b, err := json.Marshal(savedJobs{jobsVersion, js.all})
	failed := js.failed
	js.mu.Unlock()
	if err == nil {
		err = js.makeDir()
	}
	if err == nil {
		err = durable.Write(durable.Disk{Mode: durable.Private}, js.file(), b)
	}
	if err != nil && !failed {
		js.log.Error("jobs cannot be saved", "file", js.file(), "err", err)
	}
	js.mu.Lock()
	js.failed = err != nil
	js.mu.Unlock()
}

// spool stores the body of a request for a job that reads it after the response.
func (js *jobs) spool(body io.Reader) (*os.File, error) {
	dir := cmp.Or(js.dir, os.TempDir())
	if js.dir != "" {
		if err := js.makeDir(); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(dir, "*"+spoolSuffix)
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, io.LimitReader(body, maxSpool+1))
	if err == nil && n > maxSpool {
		err = &store.LimitError{What: "body", Size: maxSpool + 1, Limit: maxSpool}
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		drop(f)
		return nil, err
	}
	return f, nil
}

// maxSpool limits the body of an asynchronous import, in bytes.
const maxSpool = 4 << 30

// drop removes a spool.
func drop(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name()) // otherwise removed at the next start
}
