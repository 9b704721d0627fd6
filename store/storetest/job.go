package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nomen-project/nomen/store"
)

// A jobStore wraps a JobStore with functions that check the results of calls.
type jobStore struct {
	*suite
	store.JobStore
}

func newJobStore(s *suite) jobStore { return jobStore{s, s.Store.(store.JobStore)} }

// put writes jobs and returns the number of the write.
func (k jobStore) put(want error, after uint64, rows ...store.JobRow) uint64 {
	k.Helper()
	seq, err := k.PutJobs(k.Context(), after, rows...)
	if !errors.Is(err, want) {
		k.Fatalf("PutJobs after %d: %v, want %v", after, err, want)
	}
	return seq
}

// want checks all jobs. An expected job has the form ID@SEQ=BODY.
func (k jobStore) want(after uint64, head uint64, want ...string) {
	k.Helper()
	rows, got, err := k.Jobs(k.Context(), after)
	var all []string
	for _, r := range rows {
		all = append(all, fmt.Sprintf("%s@%d=%s", r.ID, r.Seq, r.Body))
	}
	if err != nil || got != head || strings.Join(all, " ") != strings.Join(want, " ") {
		k.Errorf("jobs after %d: %v, head %d, %v, want %v, head %d", after, all, got, err, want, head)
	}
}

func row(id string, seq uint64, body string) store.JobRow {
	return store.JobRow{ID: id, Seq: seq, Body: []byte(body)}
}

// jobRows checks that PutJobs writes either all jobs or none, and only if no other server has
// changed them.
func jobRows(s *suite) {
	k := newJobStore(s)
	k.want(0, 0)
	one := k.put(nil, 0, row("a", 0, "A"))
	if one != 1 {
		s.Fatalf("the first write has the number %d", one)
	}
	k.want(0, 1, "a@1=A")
	k.put(store.ErrJobChanged, 0, row("b", 0, "B")) // another job was added meanwhile
	k.put(store.ErrJobChanged, 1, row("a", 0, "other"))
	k.put(store.ErrJobChanged, 1, row("a", 7, "other"))
	k.put(store.ErrJobChanged, 1, row("c", 1, "C")) // the job c was removed, or never existed
	k.want(0, 1, "a@1=A")
	k.put(nil, 0, row("a", 0, "A")) // repeated
	k.want(1, 2, "a@2=A")
	k.put(nil, 2, row("a", 2, "A2"), row("b", 0, "B"), row("c", 0, "C"))
	k.want(2, 3, "a@3=A2", "b@3=B", "c@3=C")
	k.put(store.ErrJobChanged, 3, row("a", 3, "A3"), row("b", 2, "late"))
	k.put(nil, 2, row("a", 3, "A3")) // changes of others do not matter
	k.want(3, 4, "a@4=A3", "b@3=", "c@3=")
	k.put(store.ErrJobChanged, 4, store.JobRow{ID: "b", Seq: 2})
	k.put(nil, 4, store.JobRow{ID: "b", Seq: 3}, store.JobRow{ID: "never", Seq: 3})
	k.want(5, 5, "a@4=", "c@3=")
	k.put(nil, 5, row("d", 0, "D")) // removing a job does not count as adding one
	for _, id := range []string{"", "a/b", ".a", strings.Repeat("x", store.MaxJobID+1)} {
		if _, err := k.PutJobs(s.Context(), 6, row(id, 0, "x")); err == nil {
			s.Errorf("the ID %q was accepted", id)
		}
	}
	if _, err := k.PutJobs(s.Context(), 6, store.JobRow{ID: "a", Seq: 4, Body: make([]byte, store.MaxJob+1)}); err == nil {
		s.Error("a job that is too large was accepted")
	}
	s.hidden()
}

// jobRace simulates several servers that add a job at the same time. It checks that exactly one of
// them succeeds.
func jobRace(s *suite) {
	k := newJobStore(s)
	var wins atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			switch _, err := k.PutJobs(s.Context(), 0, row(fmt.Sprint("j", i), 0, "x")); {
			case err == nil:
				wins.Add(1)
			case !errors.Is(err, store.ErrJobChanged):
				s.Error(err)
			}
		})
	}
	all.Wait()
	if rows, _, err := k.Jobs(s.Context(), 0); wins.Load() != 1 || len(rows) != 1 || err != nil {
		s.Errorf("%d servers added a job, and there are %d: %v", wins.Load(), len(rows), err)
	}
}

// jobFiles checks that a job keeps the parts of its files until it is removed.
func jobFiles(s *suite) {
	k, ctx := newJobStore(s), s.Context()
	part := func(file string, n int, want []byte) {
		s.Helper()
		switch got, err := k.JobPart(ctx, "a", file, n); {
		case want == nil && !errors.Is(err, store.ErrNotFound):
			s.Errorf("part %d of %s: %v, want ErrNotFound", n, file, err)
		case want != nil && (err != nil || !bytes.Equal(got, want)):
			s.Errorf("part %d of %s: %d bytes, %v, want %d", n, file, len(got), err, len(want))
		}
	}
	put := func(file string, n int, data []byte) {
		s.Helper()
		if err := k.PutJobPart(ctx, "a", file, n, data); err != nil {
			s.Fatal(err)
		}
	}
	part("f", 0, nil)
	if err := k.PutJobPart(ctx, "a", "f", 0, []byte("x")); !errors.Is(err, store.ErrNotFound) {
		s.Errorf("a file without a job: %v", err)
	}
	k.put(nil, 0, row("a", 0, "A"))
	large := bytes.Repeat([]byte{0, 1, 0xFF, 'x'}, store.MaxJobPart/4)
	put("f", 0, []byte("first"))
	put("f", 0, large)
	put("f", 1, []byte("end"))
	put("g", 0, []byte("other"))
	part("f", 0, large)
	part("f", 1, []byte("end"))
	part("f", 2, nil)
	if err := k.DropJobFile(ctx, "a", "f"); err != nil {
		s.Fatal(err)
	}
	part("f", 0, nil)
	part("f", 1, nil)
	part("g", 0, []byte("other"))
	k.put(nil, 1, store.JobRow{ID: "a", Seq: 1})
	k.put(nil, 2, row("a", 0, "A"))
	part("g", 0, nil)
	for _, err := range []error{
		k.PutJobPart(ctx, "a", "f", 0, append(large, 0)), k.PutJobPart(ctx, "a", "f", -1, nil), k.PutJobPart(ctx, "a", "../f", 0, nil), k.DropJobFile(ctx, "a/b", "f"),
	} {
		if err == nil || errors.Is(err, store.ErrNotFound) {
			s.Errorf("a part that is invalid: %v", err)
		}
	}
}

func jobsClosed(s *suite) {
	k := newJobStore(s)
	k.put(nil, 0, row("a", 0, "A"))
	check := func(what string, want error) {
		s.Helper()
		ctx := s.Context()
		if what == "ended" {
			ctx = s.ended()
		}
		_, _, rerr := k.Jobs(ctx, 0)
		_, werr := k.PutJobs(ctx, 1, row("a", 1, "B"))
		_, perr := k.JobPart(ctx, "a", "f", 0)
		for i, err := range []error{rerr, werr, perr, k.PutJobPart(ctx, "a", "f", 0, []byte("x")), k.DropJobFile(ctx, "a", "f")} {
			if !errors.Is(err, want) {
				s.Errorf("%s, call %d: %v, want %v", what, i, err, want)
			}
		}
	}
	check("ended", s.ended().Err())
	if err := s.Close(); err != nil {
		s.Fatal(err)
	}
	check("closed", store.ErrClosed)
}
