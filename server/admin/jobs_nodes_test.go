package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// A pair is two servers that share a store and its jobs. The one called here is in workshop.api.
type pair struct {
	*workshop
	here, there *API
	death       *death // of the server here
}

// A death is the end of a server without a shutdown.
type death struct {
	run  string
	dead atomic.Bool
}

// A frailStore is the store as one server sees it.
type frailStore struct {
	store.JobStore
	*death
	own bool // it is the server that can die
}

var errDead = &store.AwayError{Cause: "the server is dead", Err: errors.New("dead")}

func (k frailStore) fails() bool { return k.own && k.dead.Load() }

func (k frailStore) Jobs(ctx context.Context, after uint64) ([]store.JobRow, uint64, error) {
	if k.fails() {
		return nil, 0, errDead
	}
	return k.JobStore.Jobs(ctx, after)
}

func (k frailStore) PutJobs(ctx context.Context, after uint64, rows ...store.JobRow) (uint64, error) {
	if k.fails() {
		return 0, errDead
	}
	return k.JobStore.PutJobs(ctx, after, rows...)
}

// Lease treats the lease of a dead server as expired.
func (k frailStore) Lease(ctx context.Context, key, holder string, d time.Duration) (bool, error) {
	switch {
	case k.fails():
		return false, errDead
	case k.dead.Load() && strings.HasSuffix(key, k.run):
		return true, nil
	}
	return k.JobStore.Lease(ctx, key, holder, d)
}

// onPairs runs a test with two servers on each kind of store that several servers can share.
func onPairs(t *testing.T, test func(p *pair)) {
	t.Run("memstore", func(t *testing.T) {
		m := memstore.New()
		test(newPair(t, m, m))
	})
	if testing.Short() {
		return
	}
	t.Run("pgstore", func(t *testing.T) {
		server, err := pgtest.Start(pgtest.Options{})
		if err != nil {
			testrun.Missing(t, fmt.Sprintf("PostgreSQL (%v)", err))
		}
		t.Cleanup(func() { _ = server.Stop() })
		var nodes [2]store.Store
		for i := range nodes {
			s, err := pgstore.Open(t.Context(), pgstore.Options{URL: server.URL()})
			if err == nil {
				nodes[i], err = cachestore.New(t.Context(), s, cachestore.Options{})
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = nodes[i].Close() })
		}
		test(newPair(t, nodes[0], nodes[1]))
	})
}

func newPair(t *testing.T, here, there store.Store) *pair {
	t.Helper()
	fill(t, here)
	p := &pair{workshop: &workshop{T: t, store: here}, death: &death{}}
	p.here = p.open(here, true)
	p.there = p.open(there, false)
	p.death.run = p.here.jobs.shared.run
	p.api = p.here
	if _, err := p.as("root", registrar.Administrator).PutAuthority(t.Context(), &store.Authority{Prefix: name.MustParsePrefix("urn:x-shop"), Owners: []string{"mailto:shop@example.org"}}, 0, ""); err != nil {
		t.Fatal(err)
	}
	return p
}

// open returns a server.
func (p *pair) open(s store.Store, mortal bool) *API {
	p.Helper()
	api, _ := newTestAPI(p.T, func(o *Options) {
		o.Now = time.Now // as at the database
		o.Store, o.Registrar, o.Jobs = s, registrar.New(s, registrar.Options{Now: o.Now}), filepath.Join(p.TempDir(), "jobs")
		o.SharedJobs = frailStore{s.(store.JobStore), p.death, mortal}
		o.SecondPerson = adminapi.SecondPerson{Redact: true, RelocateAbove: 2}
	})
	p.Cleanup(func() { api.Shutdown(context.Background()) })
	return api
}

// at returns a client of one of the servers.
func (p *pair) at(api *API, who string, role registrar.Role) *adminapi.Client {
	p.api = api
	return p.as(who, role)
}

// A server answers for the dry run of another server, and applies exactly its file, once.
func TestNodesApply(t *testing.T) {
	onPairs(t, func(p *pair) {
		here, there := p.at(p.here, "u-1", registrar.Editor), p.at(p.there, "u-1", registrar.Editor)
		dry := p.upload(here, threeRows, bulk.ImportOptions{})
		seen, err := there.Job(p.Context(), dry.ID)
		if err != nil || seen.State != adminapi.JobDone || seen.Result.Summary.Refused != 1 || len(seen.Result.Changes) != 2 || !seen.Upload.Kept || seen.Upload.SHA256 != dry.Upload.SHA256 {
			p.Fatalf("at the other server: %+v, %v", seen, err)
		}
		if all, err := there.Jobs(p.Context()); err != nil || len(all) != 1 {
			p.Errorf("list: %+v, %v", all, err)
		}
		if _, err := p.at(p.there, "u-2", registrar.Editor).Job(p.Context(), dry.ID); !errors.Is(err, store.ErrNotFound) {
			p.Errorf("another person: %v", err)
		}
		var first, second bytes.Buffer
		if err := errors.Join(here.Rejects(p.Context(), dry.ID, &first), there.Rejects(p.Context(), dry.ID, &second)); err != nil || first.String() != second.String() || !strings.Contains(first.String(), "urn:x-shop:2,relative") {
			p.Errorf("rejected lines: %q and %q, %v", &first, &second, err)
		}
		var bad *adminapi.RequestError
		if _, err := there.ApplyJob(p.Context(), dry.ID, adminapi.Application{SkipRejected: true, SHA256: "0"}); !errors.As(err, &bad) || bad.Field != "sha256" {
			p.Errorf("another file: %v", err)
		}
		done := p.apply(there, dry, adminapi.Application{SkipRejected: true})
		if !done.Complete || done.Result.Summary.Created != 2 || p.url("urn:x-shop:3") != "https://a.example/3" {
			p.Fatalf("applied: %+v, %+v", done, done.Problem)
		}
		again, err := here.ApplyJob(p.Context(), dry.ID, adminapi.Application{SkipRejected: true, SHA256: dry.Upload.SHA256})
		if err != nil || again.ID != done.ID {
			p.Errorf("applied again: %s and %s, %v", again.ID, done.ID, err)
		}
	})
}

// Of several requests at two servers that apply a dry run or have one key, one starts a job.
func TestNodesRace(t *testing.T) {
	onPairs(t, func(p *pair) {
		here, there := p.at(p.here, "u-1", registrar.Editor), p.at(p.there, "u-1", registrar.Editor)
		dry := p.upload(here, threeRows, bulk.ImportOptions{})
		var jobs, undos sync.Map
		var all sync.WaitGroup
		for i := range 8 {
			c := []*adminapi.Client{here, there}[i%2]
			all.Go(func() {
				j, err := c.ApplyJob(p.Context(), dry.ID, adminapi.Application{SkipRejected: true, SHA256: dry.Upload.SHA256})
				if err != nil {
					p.Error(err)
				}
				jobs.Store(j.ID, true)
				j, err = c.StartUndo(p.Context(), registrar.Undoing{Batch: "1-none", DryRun: true}, adminapi.Background{Key: "key"})
				if err != nil {
					p.Error(err)
				}
				undos.Store(j.ID, true)
			})
		}
		all.Wait()
		for what, m := range map[string]*sync.Map{"apply": &jobs, "key": &undos} {
			n := 0
			m.Range(func(id, _ any) bool {
				n++
				_ = await(p.T, there, id.(string))
				return true
			})
			if n != 1 {
				p.Errorf("%s: %d jobs", what, n)
			}
		}
	})
}

// A job that runs on one server can be seen and cancelled on the other.
func TestNodesCancel(t *testing.T) {
	onPairs(t, func(p *pair) {
		v := &slowVerifier{Store: p.store, begun: make(chan struct{}, 1), end: make(chan struct{})}
		p.here.store = v
		here, there := p.at(p.here, "root", registrar.Administrator), p.at(p.there, "root", registrar.Administrator)
		ended := make(chan error, 1)
		go func() {
			_, err := here.Verify(p.Context(), func(store.Fault) {}, nil)
			ended <- err
		}()
		<-v.begun
		all, err := there.Jobs(p.Context())
		if err != nil || len(all) != 1 || all[0].State != adminapi.JobRunning {
			p.Fatalf("at the other server: %+v, %v", all, err)
		}
		id := all[0].ID
		for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if j, err := there.Job(p.Context(), id); err == nil && j.Done == 7 && j.Total == 10 && j.Result.FaultCount == 1 {
				break
			} else if err != nil || time.Now().After(until) {
				p.Fatalf("progress: %+v, %v", j, err)
			}
		}
		if j, err := p.at(p.there, "u-1", registrar.Administrator).CancelJob(p.Context(), id); err != nil || j.State != adminapi.JobCancelled {
			p.Errorf("cancelled: %+v, %v", j, err)
		}
		if err := <-ended; err == nil {
			p.Error("the verification was not cancelled")
		}
		if j, err := here.Job(p.Context(), id); err != nil || j.State != adminapi.JobCancelled {
			p.Errorf("at its server: %+v, %v", j, err)
		}
	})
}

// A second person can decide at any server, and only one decision counts.
func TestNodesSecondPerson(t *testing.T) {
	onPairs(t, func(p *pair) {
		for i := range 3 {
			p.locate(fmt.Sprintf("urn:x-shop:%d", i), fmt.Sprintf("https://old.example/%d", i))
		}
		here := p.at(p.here, "u-1", registrar.Editor)
		j := p.relocate(here)
		if again, err := p.at(p.there, "u-1", registrar.Editor).Relocate(p.Context(), registrar.Relocation{From: "https://old.example/", To: "https://new.example/", Why: "moved"}); p.waiting(err).ID != j.ID {
			p.Errorf("asked twice: %+v", again)
		}
		var approved, refused atomic.Int32
		var all sync.WaitGroup
		for i, api := range []*API{p.here, p.there, p.here, p.there} {
			c := p.at(api, fmt.Sprint("u-", 10+i), registrar.Editor)
			all.Go(func() {
				_, err := c.ApproveJob(p.Context(), j.ID)
				var status *adminapi.StatusError
				switch {
				case err == nil:
					approved.Add(1)
				case errors.As(err, &status) && status.Status == http.StatusConflict:
					refused.Add(1)
				default:
					p.Error(err)
				}
			})
		}
		all.Wait()
		if approved.Load() != 1 || refused.Load() != 3 {
			p.Errorf("%d approvals and %d refusals", approved.Load(), refused.Load())
		}
		if done := await(p.T, here, j.ID); !done.Complete || p.url("urn:x-shop:0") != "https://new.example/0" {
			p.Errorf("%+v, %+v", done, done.Problem)
		}
		p.api = p.here
		p.locate("urn:x-shop:0", "https://old.example/0")
		p.locate("urn:x-shop:1", "https://old.example/1")
		p.locate("urn:x-shop:2", "https://old.example/2")
		next := p.relocate(here)
		if _, err := p.at(p.there, "u-2", registrar.Editor).RejectJob(p.Context(), next.ID, "not now"); err != nil {
			p.Fatal(err)
		}
		if got, err := here.Job(p.Context(), next.ID); err != nil || got.State != adminapi.JobRejected || got.Approval.Reason != "not now" {
			p.Errorf("rejected: %+v, %v", got, err)
		}
	})
}

// If the server that applies a dry run dies, the other server says so, and applies the same file.
func TestNodesDeath(t *testing.T) {
	onPairs(t, func(p *pair) {
		stuck := &stuckStore{Store: p.store, begun: make(chan struct{}, 1)}
		here, there := p.at(p.here, "u-1", registrar.Editor), p.at(p.there, "u-1", registrar.Editor)
		dry := p.upload(here, threeRows, bulk.ImportOptions{})
		p.here.registrar = registrar.New(stuck, registrar.Options{Now: p.here.now})
		j, err := here.ApplyJob(p.Context(), dry.ID, adminapi.Application{SkipRejected: true, SHA256: dry.Upload.SHA256})
		if err != nil {
			p.Fatal(err)
		}
		<-stuck.begun
		if got, err := there.Job(p.Context(), j.ID); err != nil || got.State != adminapi.JobRunning {
			p.Fatalf("while it runs: %+v, %v", got, err)
		}
		if again, err := there.ApplyJob(p.Context(), dry.ID, adminapi.Application{SkipRejected: true, SHA256: dry.Upload.SHA256}); err != nil || again.ID != j.ID {
			p.Errorf("applied again while it runs: %+v, %v", again, err)
		}
		p.death.dead.Store(true)
		got, err := there.Job(p.Context(), j.ID)
		if err != nil || got.State != adminapi.JobInterrupted || got.Problem == nil || !strings.Contains(got.Next, dry.ID) {
			p.Fatalf("after the death: %+v, %v", got, err)
		}
		if done := p.apply(there, dry, adminapi.Application{SkipRejected: true}); !done.Complete || done.ID == j.ID || p.url("urn:x-shop:1") == "" {
			p.Errorf("applied again: %+v, %+v", done, done.Problem)
		}
		p.death.dead.Store(false) // the server was only cut off, and learns that its job was interrupted
		if got := await(p.T, here, j.ID); got.State != adminapi.JobInterrupted {
			p.Errorf("at the server that was cut off: %+v", got)
		}
	})
}

// A stuckStore makes no changes until the context of the caller ends.
type stuckStore struct {
	store.Store
	begun chan struct{}
}

func (s *stuckStore) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	s.begun <- struct{}{}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// While the store is unavailable, no job starts, and nothing of it remains.
func TestNodesWithoutStore(t *testing.T) {
	onPairs(t, func(p *pair) {
		here := p.at(p.here, "root", registrar.Administrator)
		p.death.dead.Store(true)
		if _, err := here.StartUndo(p.Context(), registrar.Undoing{Batch: "1-none", DryRun: true}, adminapi.Background{}); !errors.As(err, new(*store.AwayError)) {
			p.Errorf("start: %v", err)
		}
		if _, err := here.Jobs(p.Context()); !errors.As(err, new(*store.AwayError)) {
			p.Errorf("list: %v", err)
		}
		p.death.dead.Store(false)
		if all, err := here.Jobs(p.Context()); err != nil || len(all) != 0 {
			p.Errorf("afterwards: %+v, %v", all, err)
		}
	})
}

// The jobs that an earlier program has left in the directory are moved to the store, with their
// files.
func TestNodesAdoptDirectory(t *testing.T) {
	onPairs(t, func(p *pair) {
		old := newWorkshop(t)
		old.store, old.now = p.store, time.Now
		old.dir = filepath.Join(p.TempDir(), "jobs")
		old.api = old.node(old.dir)
		dry := old.upload(old.editor(), threeRows, bulk.ImportOptions{})
		old.api.Set(Settings{SecondPerson: adminapi.SecondPerson{Redact: true}})
		old.locate("urn:x-shop:0", "https://a.example/0")
		old.locate("urn:x-shop:0", "https://b.example/0")
		waits := old.redact(old.as("u-1", registrar.Administrator))
		old.api.Shutdown(p.Context())

		next, _ := newTestAPI(p.T, func(o *Options) {
			o.Now = time.Now
			o.Store, o.Registrar, o.Jobs = p.store, registrar.New(p.store, registrar.Options{Now: o.Now}), old.dir
			o.SharedJobs = p.store.(store.JobStore)
		})
		p.Cleanup(func() { next.Shutdown(context.Background()) })
		if all, err := p.at(next, "u-1", registrar.Editor).Jobs(p.Context()); err != nil || len(all) != 2 {
			p.Fatalf("jobs: %+v, %v", all, err)
		}
		if files, err := os.ReadDir(old.dir); err != nil || len(files) != 0 {
			p.Errorf("files that remain: %v, %v", files, err)
		}
		there := p.at(p.there, "u-1", registrar.Editor)
		var rejects bytes.Buffer
		if err := there.Rejects(p.Context(), dry.ID, &rejects); err != nil || !strings.Contains(rejects.String(), "urn:x-shop:2,relative") {
			p.Errorf("rejected lines: %q, %v", &rejects, err)
		}
		if done := p.apply(there, dry, adminapi.Application{SkipRejected: true}); !done.Complete {
			p.Errorf("applied: %+v", done.Problem)
		}
		if done, err := p.at(p.there, "u-2", registrar.Administrator).ApproveJob(p.Context(), waits.ID); err != nil || done.State != adminapi.JobDone {
			p.Errorf("approved: %+v, %v", done, err)
		}
	})
}

// Old jobs are removed from the store with their files. The files of the oldest dry runs are
// removed before their jobs.
func TestNodesRemoveJobs(t *testing.T) {
	onPairs(t, func(p *pair) {
		here, there := p.at(p.here, "u-1", registrar.Editor), p.at(p.there, "u-1", registrar.Editor)
		first := p.upload(here, threeRows, bulk.ImportOptions{})
		for range maxUploads {
			_ = p.upload(here, threeRows, bulk.ImportOptions{})
		}
		if j, err := there.Job(p.Context(), first.ID); err != nil || j.Upload.Kept {
			p.Errorf("the oldest file: %+v, %v", j, err)
		}
		jobStore := p.store.(store.JobStore)
		if _, err := jobStore.JobPart(p.Context(), first.ID, fileOf(uploadSuffix), 0); !errors.Is(err, store.ErrNotFound) {
			p.Errorf("the oldest file: %v", err)
		}
		for _, api := range []*API{p.here, p.there} {
			api.jobs.now = func() time.Time { return time.Now().Add(maxEndedAge) }
		}
		last := p.upload(there, threeRows, bulk.ImportOptions{})
		if all, err := here.Jobs(p.Context()); err != nil || len(all) != 1 || all[0].ID != last.ID {
			p.Errorf("%d jobs remain, %v", len(all), err)
		}
		if rows, _, err := jobStore.Jobs(p.Context(), 0); err != nil || len(rows) != 1 {
			p.Errorf("%d jobs remain in the store, %v", len(rows), err)
		}
	})
}
