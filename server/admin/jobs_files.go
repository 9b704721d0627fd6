package admin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
)

// Suffixes of the files of a dry run. They are appended to the ID of the job.
const (
	uploadSuffix  = ".upload"  // the file to import
	rejectsSuffix = ".rejects" // the rejected lines
)

// Limits of the files that jobs keep.
const (
	maxUploads     = 20       // number of files of dry runs that can be applied
	maxUploadBytes = 16 << 30 // total size of these files
	maxRejects     = 64 << 20 // bytes of the rejected lines of one job
)

var errNoFile = &adminapi.StatusError{Kind: adminapi.KindJobEnded, Status: http.StatusConflict, Detail: "the server no longer has the file of this dry run; send the file again"}

func (js *jobTable) path(id, suffix string) string { return filepath.Join(js.dir, id+suffix) }

func (js *jobTable) keep(ctx context.Context, j *job, f *spooled) error {
	if err := js.putFile(ctx, j.ID, uploadSuffix, f.File); err != nil {
		return err
	}
	js.mu.Lock()
	j.Upload.Kept = true
	js.saveSoon(j)
	js.mu.Unlock()
	err := js.change(ctx, func() error {
		js.thin()
		return nil
	})
	if err != nil {
		js.log.Info("files of earlier jobs remain", "err", err) // the next call of keep tries again to delete them
	}
	return nil
}

func (js *jobTable) putFile(ctx context.Context, id, suffix string, f *os.File) error {
	if js.shared != nil {
		return js.putParts(ctx, id, suffix, f)
	}
	if err := os.Rename(f.Name(), js.path(id, suffix)); err != nil {
		return unstored(err)
	}
	return nil
}

func (js *jobTable) openFile(ctx context.Context, id, suffix string) (*os.File, error) {
	if js.shared != nil {
		return js.fetch(ctx, id, suffix)
	}
	return os.Open(js.path(id, suffix))
}

func (js *jobTable) open(ctx context.Context, j *job) (*os.File, error) {
	f, err := js.openFile(ctx, j.ID, uploadSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoFile
	}
	return f, err
}

// thin deletes the files of the oldest jobs if there are too many files. The caller must hold mu.
func (js *jobTable) thin() {
	files, size := 0, int64(0)
	for _, j := range slices.Backward(js.all) {
		if j.Upload == nil || !j.Upload.Kept {
			continue
		}
		files, size = files+1, size+j.Upload.Size
		if (files > maxUploads || size > maxUploadBytes) && j.State != adminapi.JobRunning && !j.unsaved(js) && !js.applies(j) {
			js.forget(j)
		}
	}
}

// applies reports whether a job is applying the dry run j. The caller must hold mu.
func (js *jobTable) applies(j *job) bool {
	by := js.find(j.Applied)
	return by != nil && by.State == adminapi.JobRunning
}

// forget deletes the file of a job. The caller must hold mu.
func (js *jobTable) forget(j *job) {
	j.Upload.Kept = false
	if js.shared != nil {
		js.touch(j)
		js.shared.dropped = append(js.shared.dropped, j.ID)
		return
	}
	_ = os.Remove(js.path(j.ID, uploadSuffix)) // if Remove fails, the next start removes the file
}

// discard deletes all files of a job. The caller must hold mu.
func (js *jobTable) discard(j *job) {
	if js.shared != nil {
		js.shared.removed = append(js.shared.removed, j.ID)
		return
	}
	if j.Upload != nil {
		js.forget(j)
		_ = os.Remove(js.path(j.ID, rejectsSuffix)) // if Remove fails, the next start removes the file
	}
}

// sweep removes files without a job. It must be called once, before the table is used.
func (js *jobTable) sweep() {
	for _, suffix := range []string{uploadSuffix, rejectsSuffix} {
		files, _ := filepath.Glob(filepath.Join(js.dir, "*"+suffix)) // no error, because the pattern is valid
		for _, file := range files {
			j := js.find(strings.TrimSuffix(filepath.Base(file), suffix))
			if j == nil || j.Upload == nil || suffix == uploadSuffix && !j.Upload.Kept {
				_ = os.Remove(file) // if Remove fails, the next start tries again
			}
		}
	}
}

type rejectsFile struct {
	jobs *jobTable
	job  *job
	file *os.File // created by the first write
	left int
	cut  bool
}

var errCut = errors.New("too many rejected lines")

func (r *rejectsFile) Write(p []byte) (n int, err error) {
	if r.file == nil && !r.cut {
		r.file, err = r.jobs.createSpool()
	}
	if r.cut = r.cut || err != nil || len(p) > r.left; r.cut {
		return 0, errCut
	}
	r.left -= len(p)
	n, err = r.file.Write(p)
	r.cut = err != nil
	return n, err
}

func (r *rejectsFile) close(ctx context.Context) {
	if r.file == nil {
		return
	}
	defer drop(r.file)
	if err := r.jobs.putFile(ctx, r.job.ID, rejectsSuffix, r.file); err != nil {
		r.jobs.log.Warn("rejected lines cannot be saved", "job", r.job.ID, "err", err)
		return
	}
	if err := r.file.Close(); err != nil {
		r.cut = true
	}
	r.jobs.update(r.job, func(j *adminapi.Job, _ *adminapi.JobResult) {
		j.Upload.Rejects, j.Upload.RejectsCut = true, r.cut
	})
}

func (s *API) getRejects(c *call) error {
	j, err := s.job(c)
	if err != nil {
		return err
	}
	s.jobs.mu.Lock()
	ready := j.Upload != nil && j.Upload.Rejects
	s.jobs.mu.Unlock()
	if !ready {
		return &adminapi.StatusError{Status: http.StatusNotFound, Detail: "this job has no rejected lines"}
	}
	f, err := s.jobs.openFile(c.r.Context(), j.ID, rejectsSuffix)
	if err != nil {
		return unstored(err)
	}
	defer f.Close()
	format := j.Upload.RejectsFormat()
	describe(c.w.Header(), format.MediaType())
	c.w.Header().Set("Content-Disposition", `attachment; filename="rejected-`+j.ID+"."+format.String()+`"`)
	if c.r.Method == http.MethodHead {
		return nil
	}
	_, err = io.Copy(s.paced(c), f)
	return ignored(err)
}
