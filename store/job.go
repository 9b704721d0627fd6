package store

import (
	"context"
	"errors"
	"fmt"
)

// The limits of a [JobStore].
const (
	MaxJobID   = 200     // length of an ID or the name of a file, in bytes
	MaxJob     = 8 << 20 // length of a job, in bytes
	MaxJobPart = 1 << 20 // length of a part of a file, in bytes
)

// A JobRow is a job as a [JobStore] keeps it.
type JobRow struct {
	ID   string
	Seq  uint64 // number of the write that stored the job; 0 for a new job
	Body []byte // nil removes the job and its files
}

// ErrJobChanged is returned by [JobStore.PutJobs] if another server has changed or added jobs.
var ErrJobChanged = errors.New("store: another server has changed the jobs")

// A JobStore is a store that also keeps the background jobs of its servers, with their files, so
// that every server knows all jobs. Jobs are not in the log, nor in listings, exports or backups,
// and have no history. A server that runs a job holds a lease in the [Vault], which shows that the
// server is alive. The IDs and file names of jobs have the form of keys of a Vault.
type JobStore interface {
	Vault

	// Jobs returns all jobs, and the number of the last write. A job has its Body only if it was
	// stored after the write whose number is the parameter after.
	Jobs(ctx context.Context, after uint64) (rows []JobRow, head uint64, err error)

	// PutJobs stores all rows or none, and returns the number of this write. If another server has
	// changed a job, so that the stored job does not have the Seq of the row, PutJobs returns
	// ErrJobChanged. A row for a new job has the Seq 0. If there is such a row, and another server
	// has added a job after the write whose number is the parameter after, PutJobs also returns
	// ErrJobChanged. A row whose body is already stored does not conflict. The caller may therefore
	// repeat a call whose result was lost.
	PutJobs(ctx context.Context, after uint64, rows ...JobRow) (uint64, error)

	// PutJobPart stores a part of a file of a job, or returns ErrNotFound if the job does not
	// exist. Parts are numbered from 0.
	PutJobPart(ctx context.Context, id, file string, part int, data []byte) error

	// JobPart returns a part of a file of a job, or ErrNotFound.
	JobPart(ctx context.Context, id, file string, part int) ([]byte, error)

	// DropJobFile removes a file of a job if it exists.
	DropJobFile(ctx context.Context, id, file string) error
}

// JobStoreOf returns r as a JobStore. If r is not a JobStore, the error wraps
// [errors.ErrUnsupported].
func JobStoreOf(r Reader) (JobStore, error) {
	if k, ok := r.(JobStore); ok {
		return k, nil
	}
	return nil, unable(r, "keep jobs")
}

// CheckJobs returns an error unless rows have the form that a [JobStore] accepts.
func CheckJobs(rows []JobRow) error {
	for _, r := range rows {
		if err := CheckJobKey(r.ID); err != nil {
			return err
		}
		if len(r.Body) > MaxJob {
			return fmt.Errorf("store: job %s: %d bytes exceed the limit of %d", r.ID, len(r.Body), MaxJob)
		}
	}
	return nil
}

// CheckJobKey returns an error unless the IDs or file names have the form that a [JobStore]
// accepts.
func CheckJobKey(keys ...string) error {
	for _, key := range keys {
		if err := CheckSecret(key, nil); err != nil {
			return fmt.Errorf("store: invalid ID %q of a job or its file: must be 1 to %d letters, digits and \".+-_\", not beginning with \".\"", key, MaxJobID)
		}
	}
	return nil
}

// CheckJobPart returns an error unless a [JobStore] accepts the given part of a file.
func CheckJobPart(id, file string, part int, data []byte) error {
	if part < 0 || len(data) > MaxJobPart {
		return fmt.Errorf("store: part %d of %s of job %s: %d bytes exceed the limit of %d, or the number is negative", part, file, id, len(data), MaxJobPart)
	}
	return CheckJobKey(id, file)
}
