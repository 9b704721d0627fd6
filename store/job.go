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

// A JobStore is a store that also keeps the jobs of its servers, and the files of jobs, so that
// every server knows all jobs. Jobs are not in the log, nor in listings, exports or backups, and
// have no history. The leases of a JobStore show whether the server that runs a job is alive. IDs
// and file names have the form of keys of a [Vault].
type JobStore interface {
	Vault

	// Jobs returns all jobs, and the number of the last write. It leaves out the Body of a job that
	// was not stored after the write number after.
	Jobs(ctx context.Context, after uint64) (rows []JobRow, head uint64, err error)

	// PutJobs stores all rows or none, and returns the number of this write. It returns
	// ErrJobChanged if a stored job does not have the Seq of its row, because another server has
	// changed it. It also returns ErrJobChanged if a row is new, with Seq 0, and another server has
	// added a job after the write number after. A row whose body is already stored does not
	// conflict, so the caller may repeat a call whose result was lost.
	PutJobs(ctx context.Context, after uint64, rows ...JobRow) (uint64, error)

	// PutJobPart stores a part of a file of a job, or returns ErrNotFound if the job does not
	// exist. Parts are numbered from 0.
	PutJobPart(ctx context.Context, id, file string, part int, data []byte) error

	// JobPart returns a part of a file of a job, or ErrNotFound.
	JobPart(ctx context.Context, id, file string, part int) ([]byte, error)

	// DropJobFile removes a file of a job if it exists.
	DropJobFile(ctx context.Context, id, file string) error
}

// JobStoreOf returns r as a JobStore, or an error that wraps [errors.ErrUnsupported].
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

// CheckJobPart returns an error unless a [JobStore] accepts this part of a file.
func CheckJobPart(id, file string, part int, data []byte) error {
	if part < 0 || len(data) > MaxJobPart {
		return fmt.Errorf("store: part %d of %s of job %s: %d bytes exceed the limit of %d, or the number is negative", part, file, id, len(data), MaxJobPart)
	}
	return CheckJobKey(id, file)
}
