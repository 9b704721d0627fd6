package admin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/store"
)

type savedJobs struct {
	Version int    `json:"version"`
	Jobs    []*job `json:"jobs"`
}

func (js *jobTable) file() string { return filepath.Join(js.dir, jobsFile) }

// saveSoon schedules a save. After a crash, the changes since the last save are lost. The caller
// must hold mu.
func (js *jobTable) saveSoon(j *job) {
	js.changed, j.dirty = true, true
	if js.dir == "" && js.shared == nil || js.saving {
		return
	}
	js.saving = true
	time.AfterFunc(saveEvery, js.save)
}

// makeDir creates the directory for jobs. It does not create the parent, which is the data
// directory: if the data directory was moved or deleted, it must not be created again.
func (js *jobTable) makeDir() error {
	if err := os.Mkdir(js.dir, durable.PrivateDir); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// save writes the jobs to the file. It writes shared jobs to the store instead.
func (js *jobTable) save() {
	js.writing.Lock()
	defer js.writing.Unlock()
	js.mu.Lock()
	js.saving = false
	js.mu.Unlock()
	var err error
	if js.shared != nil {
		err = js.saveShared()
	} else {
		err = js.saveFile()
	}
	js.mu.Lock()
	defer js.mu.Unlock()
	switch {
	case err != nil && !js.failed:
		js.log.Error("jobs cannot be saved", "file", js.file(), "err", err)
	case err == nil && js.failed:
		js.log.Info("jobs are saved again", "file", js.file())
	}
	js.failed = err != nil
}

func (js *jobTable) saveFile() error {
	js.mu.Lock()
	js.tidy()
	b, err := json.Marshal(savedJobs{jobsVersion, js.all})
	js.mu.Unlock()
	if err == nil {
		err = js.makeDir()
	}
	if err == nil {
		err = durable.Write(durable.Disk{Mode: durable.Private}, js.file(), b)
	}
	return err
}

// saveShared stores the jobs of this server. If this fails, it schedules another attempt.
func (js *jobTable) saveShared() error {
	ctx, cancel := context.WithTimeout(context.Background(), tendTime)
	defer cancel()
	js.mu.Lock()
	closing := js.closing
	js.mu.Unlock()
	if closing { // close stores the jobs; the store may be closed after that
		return nil
	}
	err := js.sync(ctx)
	js.mu.Lock()
	defer js.mu.Unlock()
	if err != nil && !js.closing && !js.saving {
		js.saving = true
		time.AfterFunc(saveEvery, js.save)
	}
	return err
}

// unsaved reports whether a shared job must be stored before it is removed. The caller must hold
// mu.
func (j *job) unsaved(js *jobTable) bool { return js.shared != nil && j.dirty && js.owns(j) }

// A spooled is the stored body of a request.
type spooled struct {
	*os.File
	size int64
	sum  string // SHA-256 in hexadecimal
}

// spool stores the body of a request in a file for a job, which can then read it after the
// response. The error distinguishes failures of the client, bodies that are too large, and failures
// of the disk.
func (js *jobTable) spool(body io.Reader) (*spooled, error) {
	f, err := js.createSpool()
	if err != nil {
		return nil, unstored(err)
	}
	in, sum := &bodyReader{Reader: body}, sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(in, maxSpool+1))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	switch {
	case in.err != nil:
		err = &adminapi.RequestError{Message: "request body truncated: " + shown.Error(in.err)}
	case err != nil:
		err = unstored(err)
	case n > maxSpool:
		err = &store.LimitError{What: "body", Size: maxSpool + 1, Limit: maxSpool}
	}
	if err != nil {
		drop(f)
		return nil, err
	}
	return &spooled{f, n, hex.EncodeToString(sum.Sum(nil))}, nil
}

func (js *jobTable) createSpool() (*os.File, error) {
	if js.dir != "" {
		if err := js.makeDir(); err != nil {
			return nil, err
		}
	}
	return os.CreateTemp(cmp.Or(js.dir, os.TempDir()), "*"+spoolSuffix)
}

// unstored returns the error for a body that cannot be stored. The error does not contain paths.
func unstored(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &adminapi.FullError{Detail: "the request body cannot be stored: the disk of the server is full"}
	}
	return &store.AwayError{Cause: "the request body cannot be stored on the server's disk", Err: err}
}

type bodyReader struct {
	io.Reader
	err error
}

func (r *bodyReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// maxSpool is the maximum size of the body of an import in the background, in bytes.
const maxSpool = 4 << 30

func drop(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name()) // if Remove fails, the next start removes the file
}
