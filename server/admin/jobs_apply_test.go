package admin

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A workshop is an API that keeps files, with clients inside the process.
type workshop struct {
	*testing.T
	api   *API
	store store.Store
	dir   string
	now   func() time.Time // the clock; that of the fixture if nil
}

func newWorkshop(t *testing.T) *workshop { return newWorkshopOn(t, memstore.New(), nil) }

// newWorkshopOn returns a workshop with an empty store and a clock, which is that of the fixture if
// nil.
func newWorkshopOn(t *testing.T, s store.Store, now func() time.Time) *workshop {
	w := &workshop{T: t, store: s, now: now, dir: filepath.Join(t.TempDir(), "jobs")}
	fill(t, s)
	w.api = w.node(w.dir)
	t.Cleanup(func() { w.api.Shutdown(context.Background()) })
	if _, err := w.as("root", registrar.Administrator).PutAuthority(t.Context(), &store.Authority{Prefix: name.MustParsePrefix("urn:x-shop"), Owners: []string{"mailto:shop@example.org"}}, 0, ""); err != nil {
		t.Fatal(err)
	}
	return w
}

// restart replaces the API by one that reads the same directory and store.
func (w *workshop) restart() {
	w.Helper()
	w.api.Shutdown(context.Background())
	w.api = w.node(w.dir)
}

// node returns another API of the same store.
func (w *workshop) node(dir string) *API {
	w.Helper()
	now := w.now
	if now == nil {
		now = func() time.Time { return testNow }
	}
	next := apiOf(w.T, w.store, now, func(o *Options) {
		o.Jobs = dir
		if w.shared() {
			o.SharedJobs = w.store.(store.JobStore)
		}
	})
	w.Cleanup(func() { next.Shutdown(context.Background()) })
	return next
}

// shared reports whether the jobs are in the store, as in the tests of TestSharedJobs and of
// databases.
func (w *workshop) shared() bool {
	return strings.HasPrefix(w.Name(), "TestSharedJobs") || strings.Contains(w.Name(), "/pgstore/")
}

func (w *workshop) as(who string, role registrar.Role, prefixes ...string) *adminapi.Client {
	g := registrar.Grant{Role: role}
	for _, p := range prefixes {
		g.Prefixes = append(g.Prefixes, name.MustParsePrefix(p))
	}
	return w.api.Client(registrar.Actor{Who: who, Grants: []registrar.Grant{g}})
}

func (w *workshop) editor() *adminapi.Client { return w.as("u-1", registrar.Editor) }

// upload does a dry run of a file that is kept.
func (w *workshop) upload(c *adminapi.Client, text string, o bulk.ImportOptions) adminapi.Job {
	w.Helper()
	o.Format, o.DryRun = bulk.CSV, true
	j, err := c.StartImport(w.Context(), strings.NewReader(text), o, adminapi.Background{Keep: true, FileName: "a.csv"})
	if err != nil {
		w.Fatal(err)
	}
	return await(w.T, c, j.ID)
}

// apply applies a dry run and waits for the end.
func (w *workshop) apply(c *adminapi.Client, j adminapi.Job, a adminapi.Application) adminapi.Job {
	w.Helper()
	if j.Upload != nil && a.SHA256 == "" {
		a.SHA256 = j.Upload.SHA256
	}
	next, err := c.ApplyJob(w.Context(), j.ID, a)
	if err != nil {
		w.Fatal(err)
	}
	return await(w.T, c, next.ID)
}

func (w *workshop) url(spelling string) string {
	w.Helper()
	rec, err := w.store.Get(w.Context(), name.MustParse(spelling), time.Time{})
	if err != nil || len(rec.Locations) == 0 {
		return ""
	}
	return rec.Locations[0].URL
}

const threeRows = "name,url,dc:title\nurn:x-shop:1,https://a.example/1,One\nurn:x-shop:2,relative,Two\nurn:x-shop:3,https://a.example/3,Three\n"

// A dry run whose file is kept says what would change and what is rejected, and is applied once.
func TestApplyImport(t *testing.T) {
	w := newWorkshop(t)
	c := w.editor()
	dry := w.upload(c, threeRows, bulk.ImportOptions{Why: "spring"})
	if r := dry.Result; !dry.CanApply() || dry.Subject != "a.csv" || r.Summary.Created != 2 || r.Summary.Refused != 1 || len(r.Changes) != 2 ||
		r.Changes[0].Name != "urn:x-shop:1" || len(r.Changes[0].Differences) == 0 || !dry.Upload.Kept || !dry.Upload.Rejects || dry.Upload.Head == nil {
		t.Fatalf("dry run: %+v, %+v, %+v", dry, dry.Result, dry.Upload)
	}
	var rejects bytes.Buffer
	if err := c.Rejects(t.Context(), dry.ID, &rejects); err != nil || !strings.Contains(rejects.String(), "name,url,dc:title,error\r\nurn:x-shop:2,relative,Two,\"line 3: ") {
		t.Errorf("rejects: %q, %v", rejects.String(), err)
	}
	var status *adminapi.StatusError
	if _, err := c.ApplyJob(t.Context(), dry.ID, adminapi.Application{SHA256: dry.Upload.SHA256}); !errors.As(err, &status) || !strings.Contains(status.Detail, "rejected 1 records") {
		t.Errorf("without skip_rejected: %v", err)
	}
	var bad *adminapi.RequestError
	if _, err := c.ApplyJob(t.Context(), dry.ID, adminapi.Application{SkipRejected: true, SHA256: "0"}); !errors.As(err, &bad) || bad.Field != "sha256" {
		t.Errorf("another file: %v", err)
	}
	if w.url("urn:x-shop:1") != "" {
		t.Error("the dry run changed a name")
	}
	done := w.apply(c, dry, adminapi.Application{SkipRejected: true})
	if !done.Complete || done.DryRunOf != dry.ID || done.Result.Summary.Created != 2 || done.Total != 3 || w.url("urn:x-shop:1") != "https://a.example/1" {
		t.Errorf("apply: %+v, %+v", done, done.Result)
	}
	if again := w.apply(c, dry, adminapi.Application{SkipRejected: true}); again.ID != done.ID {
		t.Errorf("applied twice: %s and %s", again.ID, done.ID)
	}
	dry, err := c.Job(t.Context(), dry.ID)
	if files, _ := filepath.Glob(filepath.Join(w.dir, "*"+uploadSuffix)); err != nil || dry.Applied != done.ID || dry.Upload.Kept || len(files) > 0 {
		t.Errorf("after applying: %+v, %+v, %q, %v", dry, dry.Upload, files, err)
	}
	for change, err := range store.History(t.Context(), w.store, name.MustParse("urn:x-shop:1")) {
		if err != nil || change.Why != "spring" || change.Who != "u-1" || change.Batch != done.Import {
			t.Errorf("history: %+v, %v", change, err)
		}
	}
}

// Names of the file that others have changed since the dry run are reported before anything is
// imported, also after a restart of the server. Changes of other names do not matter.
func TestApplyAfterOtherChanges(t *testing.T) {
	w := newWorkshop(t)
	file := "name,url\nurn:x-shop:1,https://a.example/1\nurn:x-shop:2,https://a.example/2\n"
	first := w.upload(w.editor(), file, bulk.ImportOptions{})
	w.apply(w.editor(), first, adminapi.Application{})
	dry := w.upload(w.editor(), strings.ReplaceAll(file, "a.example", "b.example"), bulk.ImportOptions{OnConflict: bulk.Replace})
	if d := dry.Result.Changes[0].Differences; len(d) != 2 || d[0].Before != "https://a.example/1" || d[1].After != "https://b.example/1" {
		t.Errorf("differences: %+v", d)
	}
	w.put("urn:x-shop:2", "https://other.example/")
	w.put("urn:x-shop:9", "https://other.example/")
	w.restart()
	c := w.editor()
	stopped := w.apply(c, dry, adminapi.Application{})
	if stopped.State != adminapi.JobFailed || stopped.Result.Intervening == nil || stopped.Result.Intervening.Count != 1 ||
		stopped.Result.Intervening.Names[0] != "urn:x-shop:2" || w.url("urn:x-shop:1") != "https://a.example/1" {
		t.Fatalf("%+v, %+v", stopped, stopped.Result)
	}
	w.put("urn:x-shop:1", "https://another.example/")
	seen := adminapi.Application{Seen: stopped.Result.Intervening.Head}
	stopped = w.apply(c, dry, seen)
	if stopped.State != adminapi.JobFailed || stopped.Result.Intervening.Names[0] != "urn:x-shop:1" {
		t.Fatalf("a later change: %+v, %+v", stopped, stopped.Result)
	}
	done := w.apply(c, dry, adminapi.Application{Seen: stopped.Result.Intervening.Head})
	if !done.Complete || w.url("urn:x-shop:1") != "https://b.example/1" || w.url("urn:x-shop:2") != "https://b.example/2" {
		t.Errorf("%+v, %+v", done, done.Result)
	}
}

// put changes a name as another user would.
func (w *workshop) put(spelling, url string) {
	w.Helper()
	text := "name,url\n" + spelling + "," + url + "\n"
	o := bulk.ImportOptions{Format: bulk.CSV, OnConflict: bulk.Replace}
	if _, err := w.as("u-2", registrar.Editor).Import(w.Context(), strings.NewReader(text), o); err != nil {
		w.Fatal(err)
	}
}

// Only those who see a job can apply it or get its rejected lines.
func TestApplyRights(t *testing.T) {
	w := newWorkshop(t)
	dry := w.upload(w.editor(), threeRows, bulk.ImportOptions{})
	a := adminapi.Application{SHA256: dry.Upload.SHA256, SkipRejected: true}
	other := w.as("u-2", registrar.Owner)
	if _, err := other.ApplyJob(t.Context(), dry.ID, a); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another user applies: %v", err)
	}
	if err := other.Rejects(t.Context(), dry.ID, &bytes.Buffer{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another user gets the rejected lines: %v", err)
	}
	var bad *adminapi.RequestError
	if _, err := other.StartImport(t.Context(), strings.NewReader(""), bulk.ImportOptions{DryRun: true}, adminapi.Background{Keep: true, File: dry.ID}); !errors.As(err, &bad) || bad.Field != "file" {
		t.Errorf("another user uses the file: %v", err)
	}
	var denied *registrar.DeniedError
	if _, err := w.as("u-1", registrar.Reader).ApplyJob(t.Context(), dry.ID, a); !errors.As(err, &denied) {
		t.Errorf("the user is only a reader now: %v", err)
	}
	done := w.apply(w.as("u-1", registrar.Editor, "urn:x-other"), dry, a)
	if done.Result.Summary.Refused != 3 || w.url("urn:x-shop:1") != "" {
		t.Errorf("the user has lost the rights on the names: %+v", done.Result.Summary)
	}
	if again := w.apply(w.as("root", registrar.Administrator), w.upload(w.editor(), threeRows, bulk.ImportOptions{}), adminapi.Application{SkipRejected: true}); !again.Complete {
		t.Errorf("an administrator applies the dry run of another user: %+v", again)
	}
}

// The same request with the same key starts one job, even if both arrive at once. A key for
// another request is another request.
func TestJobKey(t *testing.T) {
	w := newWorkshop(t)
	send := func(text, key string) string {
		o := bulk.ImportOptions{Format: bulk.CSV, DryRun: true}
		j, err := w.editor().StartImport(t.Context(), strings.NewReader(text), o, adminapi.Background{Keep: true, Key: key})
		if err != nil {
			t.Error(err)
		}
		return j.ID
	}
	ids := make([]string, 4)
	var group sync.WaitGroup
	for i := range ids {
		group.Go(func() { ids[i] = send(threeRows, "k") })
	}
	group.Wait()
	if ids[0] != ids[1] || ids[0] != ids[2] || ids[0] != ids[3] {
		t.Errorf("one request, several jobs: %q", ids)
	}
	if id := send(threeRows+"\n", "k"); id == ids[0] {
		t.Error("another file, the same job")
	}
	if id := send(threeRows, "l"); id == ids[0] {
		t.Error("another key, the same job")
	}
	if id := send(threeRows, ""); id == ids[0] {
		t.Error("no key, the same job")
	}
	j, err := w.as("u-2", registrar.Editor).StartImport(t.Context(), strings.NewReader(threeRows), bulk.ImportOptions{Format: bulk.CSV, DryRun: true}, adminapi.Background{Keep: true, Key: "k"})
	if err != nil || j.ID == ids[0] {
		t.Errorf("the key of another user: %+v, %v", j, err)
	}
	for _, id := range append(ids, j.ID) {
		await(t, w.as("root", registrar.Administrator), id)
	}
	rel := registrar.Relocation{From: "https://a.example/", To: "https://b.example/", DryRun: true}
	one, err := w.editor().StartRelocation(t.Context(), rel, adminapi.Background{Key: "k"})
	two, err2 := w.editor().StartRelocation(t.Context(), rel, adminapi.Background{Key: "k"})
	if err := errors.Join(err, err2); err != nil || one.ID != two.ID || one.ID == ids[0] {
		t.Errorf("relocation: %s, %s, %v", one.ID, two.ID, err)
	}
	await(t, w.editor(), one.ID)
}

// A dry run of a relocation or an undo says what it would change, and whose names these are.
func TestApplyRelocationAndUndo(t *testing.T) {
	w := newWorkshop(t)
	c := w.editor()
	w.apply(c, w.upload(c, "name,url\nurn:x-shop:1,https://old.example/1\nurn:x-shop:2,https://old.example/2\n", bulk.ImportOptions{}), adminapi.Application{})
	j, err := c.StartRelocation(t.Context(), registrar.Relocation{From: "https://old.example/", To: "https://new.example/", DryRun: true, Why: "moved"}, adminapi.Background{})
	if err != nil {
		t.Fatal(err)
	}
	dry := await(t, c, j.ID)
	want := adminapi.Moved{Key: "urn:x-shop:1", From: "https://old.example/1", To: "https://new.example/1"}
	if r := dry.Result; !dry.CanApply() || len(r.Moved) != 2 || r.Moved[0] != want || len(r.Reach) != 1 || r.Reach[0].Prefix != "urn:x-shop" || r.Reach[0].Names != 2 || r.Reach[0].Owners[0] != "mailto:shop@example.org" {
		t.Fatalf("%+v, %+v", dry, dry.Result)
	}
	w.restart()
	c = w.editor()
	done := w.apply(c, dry, adminapi.Application{})
	if !done.Complete || w.url("urn:x-shop:2") != "https://new.example/2" || done.Result.Moved != nil {
		t.Errorf("%+v, %+v", done, done.Result)
	}
	if j, err = c.StartUndo(t.Context(), registrar.Undoing{Batch: done.Import, DryRun: true}, adminapi.Background{}); err != nil {
		t.Fatal(err)
	}
	if dry = await(t, c, j.ID); len(dry.Result.Reverted) != 2 || dry.Result.Undone.Restored != 2 {
		t.Errorf("%+v", dry.Result)
	}
	if done = w.apply(c, dry, adminapi.Application{}); !done.Complete || w.url("urn:x-shop:2") != "https://old.example/2" {
		t.Errorf("%+v, %+v", done, done.Result)
	}
	if _, err := c.ApplyJob(t.Context(), done.ID, adminapi.Application{}); err == nil {
		t.Error("a job that is not a dry run was applied")
	}
}

// A failed dry run can be repeated with other options on the file that the server has.
func TestUploadAgain(t *testing.T) {
	w := newWorkshop(t)
	c := w.editor()
	dry := w.upload(c, "Id;Link\nurn:x-shop:1;https://a.example/1\n", bulk.ImportOptions{})
	if dry.State != adminapi.JobFailed || dry.Problem.Line != 1 || !dry.Upload.Kept || dry.CanApply() {
		t.Fatalf("%+v, %+v", dry, dry.Problem)
	}
	o := bulk.ImportOptions{Format: bulk.CSV, DryRun: true, Sheet: bulk.Sheet{Columns: []string{"Id=name", "Link=url"}}}
	j, err := c.StartImport(t.Context(), http.NoBody, o, adminapi.Background{Keep: true, File: dry.ID})
	if err != nil {
		t.Fatal(err)
	}
	j = await(t, c, j.ID)
	if done := w.apply(c, j, adminapi.Application{}); !done.Complete || w.url("urn:x-shop:1") != "https://a.example/1" {
		t.Errorf("%+v, %+v", done, done.Problem)
	}
}

// A file that was damaged on the disk, or is gone, is not imported.
func TestApplyDamaged(t *testing.T) {
	w := newWorkshop(t)
	c := w.editor()
	dry := w.upload(c, "name\nurn:x-shop:1\n", bulk.ImportOptions{})
	file := w.api.jobs.path(dry.ID, uploadSuffix)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(file, []byte("name\nurn:x-shop:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if j := w.apply(c, dry, adminapi.Application{}); j.State != adminapi.JobFailed || !strings.Contains(j.Problem.Detail, "has changed since") {
		t.Errorf("%+v, %+v", j, j.Problem)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var status *adminapi.StatusError
	if _, err := c.ApplyJob(t.Context(), dry.ID, adminapi.Application{SHA256: dry.Upload.SHA256}); !errors.As(err, &status) || status.Detail != errNoFile.Detail {
		t.Errorf("without the file: %v", err)
	}
}

// Old files are deleted, and files without a job are removed at the start.
func TestUploadsAreDeleted(t *testing.T) {
	w := newWorkshop(t)
	c := w.editor()
	first := w.upload(c, threeRows, bulk.ImportOptions{})
	for range maxUploads {
		w.upload(c, threeRows, bulk.ImportOptions{})
	}
	j, err := c.Job(t.Context(), first.ID)
	if files, _ := filepath.Glob(filepath.Join(w.dir, "*"+uploadSuffix)); err != nil || j.Upload.Kept || len(files) != maxUploads {
		t.Errorf("%+v, %v; %d files", j.Upload, err, len(files))
	}
	for _, suffix := range []string{uploadSuffix, rejectsSuffix} {
		if err := os.WriteFile(w.api.jobs.path("aaaaaaaaaa", suffix), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.restart()
	if left, _ := filepath.Glob(filepath.Join(w.dir, "aaaaaaaaaa*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if files, _ := filepath.Glob(filepath.Join(w.dir, "*"+uploadSuffix)); len(files) != maxUploads {
		t.Errorf("%d files after the restart", len(files))
	}
}

// Requests with invalid parameters about a kept file are rejected, and leave no file.
func TestKeepParameters(t *testing.T) {
	w := newWorkshop(t)
	for _, tt := range []struct {
		dry  bool
		b    adminapi.Background
		want string
	}{
		{false, adminapi.Background{Keep: true}, "keep"},
		{true, adminapi.Background{File: "x"}, "file"},
		{true, adminapi.Background{Keep: true, File: "x"}, "file"},
		{true, adminapi.Background{Keep: true, Key: strings.Repeat("k", adminapi.MaxKey+1)}, adminapi.KeyHeader},
	} {
		var bad *adminapi.RequestError
		_, err := w.editor().StartImport(t.Context(), strings.NewReader(""), bulk.ImportOptions{DryRun: tt.dry}, tt.b)
		if !errors.As(err, &bad) || bad.Field != tt.want {
			t.Errorf("%+v: %v, want an error about %s", tt.b, err, tt.want)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(w.dir, "*"+spoolSuffix)); len(files) > 0 {
		t.Errorf("left: %q", files)
	}
	api, _ := newTestAPI(t, nil)
	w.api = api
	j, err := w.editor().StartImport(t.Context(), strings.NewReader(""), bulk.ImportOptions{DryRun: true}, adminapi.Background{Keep: true})
	if err == nil || !strings.Contains(err.Error(), "no directory") {
		t.Errorf("without a directory: %+v, %v", j, err)
	}
}

// The number of records of a dry run is estimated from the position in the file.
func TestImportEstimate(t *testing.T) {
	w := newWorkshop(t)
	run := &importRun{api: w.api, job: &job{}, size: 1000}
	run.note(bulk.Summary{Read: 50})
	for _, tt := range []struct {
		offset int64
		want   uint64
	}{{100, 500}, {999, 50}, {0, 0}, {1000, 0}, {5000, 0}} { // beyond the size: the file is compressed
		if run.estimate(tt.offset); run.job.Total != tt.want {
			t.Errorf("at byte %d: got %d, want %d", tt.offset, run.job.Total, tt.want)
		}
	}
	dry := w.upload(w.editor(), threeRows, bulk.ImportOptions{})
	if dry.Total != 0 || dry.Done != 3 {
		t.Errorf("at the end: %d of %d", dry.Done, dry.Total)
	}
}

// What an interrupted attempt to apply a dry run has changed does not prevent the next attempt.
func TestApplyAfterInterruption(t *testing.T) {
	w := newWorkshop(t)
	c := w.editor()
	dry := w.upload(c, "name,url\nurn:x-shop:1,https://a.example/1\nurn:x-shop:2,https://a.example/2\n", bulk.ImportOptions{})
	rec := &store.Record{Name: name.MustParse("urn:x-shop:1"), Locations: []nomen.Location{{URL: "https://a.example/1"}}}
	if _, err := w.store.Apply(t.Context(), []store.Change{{Record: rec, Time: testNow, Batch: "9-abcdefgh"}}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	close(ended)
	w.api.jobs.all = append(w.api.jobs.all, &job{Job: adminapi.Job{ID: "aaaaaaaaaa", Kind: adminapi.JobImport, State: adminapi.JobInterrupted, DryRunOf: dry.ID, Import: "9-abcdefgh", Ended: testNow}, ended: ended})
	if done := w.apply(c, dry, adminapi.Application{}); !done.Complete || done.Result.Summary.Unchanged != 1 || done.Result.Summary.Created != 1 {
		t.Errorf("%+v, %+v, %+v", done, done.Problem, done.Result)
	}
}
