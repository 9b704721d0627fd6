package memstore

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/nomen-project/nomen/store"
)

type jobs struct {
	rows       map[string]store.JobRow
	parts      map[jobPart][]byte
	head, born uint64 // number of the last write, and of the last write that added a job
}

type jobPart struct {
	id, file string
	part     int
}

// Jobs implements [store.JobStore].
func (s *Store) Jobs(ctx context.Context, after uint64) ([]store.JobRow, uint64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, 0, err
	}
	var all []store.JobRow
	for _, r := range s.jobs.rows {
		if r.Body = bytes.Clone(r.Body); r.Seq <= after {
			r.Body = nil
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b store.JobRow) int { return cmp.Compare(a.ID, b.ID) })
	return all, s.jobs.head, nil
}

// PutJobs implements [store.JobStore].
func (s *Store) PutJobs(ctx context.Context, after uint64, rows ...store.JobRow) (uint64, error) {
	if err := store.CheckJobs(rows); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	for _, r := range rows {
		if s.jobs.conflicts(r, after) {
			return 0, store.ErrJobChanged
		}
	}
	s.jobs.head++
	for _, r := range rows {
		s.jobs.put(r)
	}
	return s.jobs.head, nil
}

func (j *jobs) conflicts(r store.JobRow, after uint64) bool {
	old, ok := j.rows[r.ID]
	if !ok {
		return r.Body != nil && (r.Seq != 0 || j.born > after)
	}
	return old.Seq != r.Seq && !bytes.Equal(old.Body, r.Body)
}

func (j *jobs) put(r store.JobRow) {
	if r.Body == nil {
		delete(j.rows, r.ID)
		j.drop(r.ID, "")
		return
	}
	if _, ok := j.rows[r.ID]; !ok {
		j.born = j.head
	}
	if j.rows == nil {
		j.rows, j.parts = map[string]store.JobRow{}, map[jobPart][]byte{}
	}
	j.rows[r.ID] = store.JobRow{ID: r.ID, Seq: j.head, Body: bytes.Clone(r.Body)}
}

func (j *jobs) drop(id, file string) {
	for p := range j.parts {
		if p.id == id && (file == "" || p.file == file) {
			delete(j.parts, p)
		}
	}
}

// PutJobPart implements [store.JobStore].
func (s *Store) PutJobPart(ctx context.Context, id, file string, part int, data []byte) error {
	if err := store.CheckJobPart(id, file, part, data); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if _, ok := s.jobs.rows[id]; !ok {
		return store.ErrNotFound
	}
	s.jobs.parts[jobPart{id, file, part}] = bytes.Clone(data)
	return nil
}

// JobPart implements [store.JobStore].
func (s *Store) JobPart(ctx context.Context, id, file string, part int) ([]byte, error) {
	if err := store.CheckJobPart(id, file, part, nil); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	data, ok := s.jobs.parts[jobPart{id, file, part}]
	if !ok {
		return nil, store.ErrNotFound
	}
	return bytes.Clone(data), nil
}

// DropJobFile implements [store.JobStore].
func (s *Store) DropJobFile(ctx context.Context, id, file string) error {
	if err := store.CheckJobKey(id, file); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.jobs.drop(id, file)
	return nil
}
