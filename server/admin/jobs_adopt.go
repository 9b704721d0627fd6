package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/store"
)

// load reads the jobs of earlier runs from the file. A job that was running when the server ended
// counts as interrupted.
func (js *jobTable) load() ([]*job, error) {
	var saved savedJobs
	b, err := os.ReadFile(js.file())
	if err == nil {
		err = json.Unmarshal(b, &saved)
	}
	if err == nil && saved.Version != jobsVersion {
		err = fmt.Errorf("version %d, expected %d", saved.Version, jobsVersion)
	}
	for _, j := range saved.Jobs {
		j.ended = make(chan struct{})
		close(j.ended)
		if j.State == adminapi.JobRunning {
			j.end(js.now(), nil, errJobInterrupted)
			js.changed = true
		}
	}
	return saved.Jobs, err
}

// adopt moves jobs to the store that a server without shared jobs left in the directory. It must
// succeed once before jobs are read for the first time. The caller must hold js.writing.
func (js *jobTable) adopt(ctx context.Context) error {
	if js.shared.adopted || js.dir == "" {
		return nil
	}
	all, err := js.load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		js.shared.adopted = true
		return nil
	case err != nil:
		js.log.Warn("cannot read the jobs of earlier runs", "file", js.file(), "err", err)
		js.shared.adopted = true
		return nil
	}
	for range maxJobConflicts {
		if err = js.adoptRows(ctx, all); !errors.Is(err, store.ErrJobChanged) {
			break
		}
	}
	for i := 0; i < len(all) && err == nil; i++ {
		err = js.adoptFiles(ctx, all[i])
	}
	if err == nil {
		err = os.Remove(js.file())
	}
	if err == nil {
		js.log.Info("moved the jobs of earlier runs to the database", "file", js.file(), "jobs", len(all))
		js.shared.adopted = true
	}
	return err
}

// adoptRows stores the jobs that are not in the store.
func (js *jobTable) adoptRows(ctx context.Context, all []*job) error {
	rows, head, err := js.shared.jobStore.Jobs(ctx, 0)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, r := range rows {
		known[r.ID] = true
	}
	var missing []store.JobRow
	for _, j := range all {
		if known[j.ID] {
			continue
		}
		b, err := json.Marshal(savedJobs{jobsVersion, []*job{j}})
		if err != nil {
			return err
		}
		missing = append(missing, store.JobRow{ID: j.ID, Body: b})
	}
	if len(missing) > 0 {
		_, err = js.shared.jobStore.PutJobs(ctx, head, missing...)
	}
	return err
}

func (js *jobTable) adoptFiles(ctx context.Context, j *job) error {
	for _, suffix := range []string{uploadSuffix, rejectsSuffix} {
		f, err := os.Open(js.path(j.ID, suffix))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(js.putParts(ctx, j.ID, suffix, f), f.Close())
		}
		if err == nil || errors.Is(err, store.ErrNotFound) { // not found: the job was removed concurrently
			err = os.Remove(js.path(j.ID, suffix))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func fileOf(suffix string) string { return suffix[1:] }

func (js *jobTable) putParts(ctx context.Context, id, suffix string, f *os.File) error {
	in, part := io.NewSectionReader(f, 0, 1<<62), make([]byte, store.MaxJobPart)
	for n := 0; ; n++ {
		size, err := io.ReadFull(in, part)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return unstored(err)
		}
		if size > 0 || n == 0 {
			if err := js.shared.jobStore.PutJobPart(ctx, id, fileOf(suffix), n, part[:size]); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// fetch copies a file of a job from the store to an unlinked temporary file.
func (js *jobTable) fetch(ctx context.Context, id, suffix string) (*os.File, error) {
	f, err := js.createSpool()
	if err != nil {
		return nil, unstored(err)
	}
	_ = os.Remove(f.Name()) // if Remove fails, the next start removes the file
	for n := 0; err == nil; n++ {
		var part []byte
		if part, err = js.shared.jobStore.JobPart(ctx, id, fileOf(suffix), n); err == nil {
			_, err = f.Write(part)
		} else if errors.Is(err, store.ErrNotFound) && n > 0 {
			if _, err = f.Seek(0, io.SeekStart); err == nil {
				return f, nil
			}
		}
	}
	_ = f.Close()
	if errors.Is(err, store.ErrNotFound) {
		err = fs.ErrNotExist
	}
	return nil, err
}
