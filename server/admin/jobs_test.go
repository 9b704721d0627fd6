package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// A slowVerifier verifies until it is released or its context ends.
type slowVerifier struct {
	store.Store
	begun, end chan struct{}
	answered   *servertest.Buffer // the log of the requests that were answered
}

func (s *slowVerifier) Token(ctx context.Context, id string) (*store.Token, error) {
	return s.Store.(store.Tokens).Token(ctx, id)
}

func (s *slowVerifier) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	fault(store.Fault{Problem: "spoilt"})
	progress(7, 10)
	s.begun <- struct{}{}
	select {
	case <-s.end:
		return store.Head{Size: 10}, nil
	case <-ctx.Done():
		return store.Head{}, ctx.Err()
	}
}

// slow returns a client of a server whose verifications take as long as needed, and a
// function that returns clients with other rights.
func slow(t *testing.T, dir string) (*adminapi.Client, *slowVerifier, *server.Listening, func(adminapi.Grant) *adminapi.Client) {
	t.Helper()
	v := &slowVerifier{begun: make(chan struct{}, 100), end: make(chan struct{})}
	srv, s := newTestAPI(t, func(o *Options) {
		v.Store = o.Store.(store.Store)
		o.Store, o.Jobs = v, dir
		o.AccessLog, v.answered = servertest.Logged()
	})
	l := listen(t, srv)
	as := func(g adminapi.Grant) *adminapi.Client {
		return &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, g)}
	}
	return as(adminapi.AdministratorGrant()), v, l, as
}

// startJob sends an asynchronous request.
func startJob(t *testing.T, c *adminapi.Client, path, body string) (*http.Response, adminapi.Job) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+adminapi.Root+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Prefer", `handling=lenient, Respond-Async; x=1`)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var j adminapi.Job
	if err := json.NewDecoder(resp.Body).Decode(&j); err != nil {
		t.Fatal(err)
	}
	return resp, j
}

// await waits for the end of a job and returns it.
func await(t *testing.T, c *adminapi.Client, id string) adminapi.Job {
	t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		j, err := c.Job(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if j.State != adminapi.JobRunning {
			return j
		}
	}
	t.Fatalf("job %s does not end", id)
	return adminapi.Job{}
}

func TestJobAsync(t *testing.T) {
	c, _, _ := admin(t)
	resp, j := startJob(t, c, "import?why=spring", `{"name":"urn:example:one","locations":[{"url":"https://example.org/1"}]}`+"\n"+`{"name":"urn:example:two","locations":[{"url":"relative"}]}`)
	if resp.StatusCode != http.StatusAccepted || resp.Header.Get("Location") != "/api/v1/jobs/"+j.ID || resp.Header.Get("Nomen-Job") != j.ID ||
		resp.Header.Get("Preference-Applied") != "respond-async" || j.Kind != "import" {
		t.Errorf("%s, %v, %+v", resp.Status, resp.Header, j)
	}
	j = await(t, c, j.ID)
	if !j.Complete || j.State != "done" || j.Done != 2 || j.Result.Summary.Created != 1 || len(j.Result.Refusals) != 1 || j.Result.Summary.Import == "" {
		t.Errorf("import: %+v, %+v", j, j.Result)
	}
	for path, body := range map[string]string{
		"relocate": `{"from":"https://example.org/","to":"https://new.example/"}`,
		"verify":   "",
		"undo":     `{"batch":"` + j.Result.Summary.Import + `"}`,
	} {
		resp, j := startJob(t, c, path, body)
		if j = await(t, c, j.ID); resp.StatusCode != http.StatusAccepted || !j.Complete || j.Kind != path || j.Result == nil {
			t.Errorf("%s: %s, %+v", path, resp.Status, j)
		}
	}
	resp, _ = startJob(t, c, "relocate", `{"from":"x"`)
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a bad request: %s", resp.Status)
	}
	all, err := c.Jobs(t.Context())
	if err != nil || len(all) != 4 || all[3].Kind != "import" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := c.Job(t.Context(), "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a job that never was: %v", err)
	}
}

// A job that fails says why, and how to continue.
func TestJobFails(t *testing.T) {
	c, _, _ := admin(t)
	_, j := startJob(t, c, "relocate", `{"from":"x","to":"javascript:1"}`)
	if j = await(t, c, j.ID); j.State != "failed" || j.Complete || j.Problem == nil || j.Problem.Field != "to" || j.Next == "" {
		t.Errorf("%+v", j)
	}
	_, j = startJob(t, c, "verify?since=9:"+strings.Repeat("0", 64), "")
	if j = await(t, c, j.ID); j.State != "failed" || !strings.HasSuffix(j.Problem.Type, "unknown-head") && j.Problem.Status != http.StatusConflict {
		t.Errorf("%+v, %+v", j, j.Problem)
	}
}

// Every token can list and cancel its own jobs; an administrator of all names those of
// all tokens.
func TestJobRights(t *testing.T) {
	root, v, _, as := slow(t, "")
	scoped := as(adminapi.Grant{Who: "s", Role: "administrator", Prefixes: []string{"urn:dns:example.org"}})
	editor := as(adminapi.Grant{Who: "s", Role: "editor"}) // of the same person
	_, j := startJob(t, root, "verify", "")
	<-v.begun
	_, own := startJob(t, scoped, "relocate", `{"from":"https://example.org/","to":"https://new.example/"}`)
	await(t, scoped, own.ID)
	for _, c := range []*adminapi.Client{scoped, editor, as(adminapi.Grant{Who: "r", Role: "reader"})} {
		if _, err := c.Job(t.Context(), j.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another token sees the job: %v", err)
		}
		if _, err := c.CancelJob(t.Context(), j.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another token cancels the job: %v", err)
		}
	}
	if all, err := scoped.Jobs(t.Context()); err != nil || len(all) != 1 || all[0].ID != own.ID {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := editor.Jobs(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := root.Jobs(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if j, err := root.CancelJob(t.Context(), j.ID); err != nil || j.State != "cancelled" || j.Complete || j.Done != 7 || j.Total != 10 || j.Result.FaultCount != 1 {
		t.Errorf("%+v, %v", j, err)
	}
	if j, err := root.CancelJob(t.Context(), own.ID); err != nil || j.State != "done" {
		t.Errorf("a job that has ended: %+v, %v", j, err)
	}
}

// A job is cancelled when the token that started it is revoked, here or by another node,
// or expires; its result says so.
func TestJobEndsWithToken(t *testing.T) {
	var now atomic.Int64
	now.Store(testNow.Unix())
	v := &slowVerifier{begun: make(chan struct{}, 100), end: make(chan struct{})}
	srv, s := newTestAPI(t, func(o *Options) {
		v.Store = o.Store.(store.Store)
		o.Store, o.Now = v, func() time.Time { return time.Unix(now.Load(), 0).UTC() }
	})
	l := listen(t, srv)
	as := func(g adminapi.Grant) *adminapi.Client {
		return &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, g)}
	}
	idOf := func(c *adminapi.Client) string {
		id, _, _ := adminapi.SplitToken(c.Token)
		return id
	}
	root := as(adminapi.AdministratorGrant())
	_, lasting := startJob(t, root, "verify", "")
	<-v.begun
	for _, tt := range []struct {
		name string
		do   func(c *adminapi.Client) error
		want string
	}{
		{"revoked", func(c *adminapi.Client) error { return root.Revoke(t.Context(), idOf(c)) }, "the token that started the job was revoked; the changes the job made remain"},
		{"revoked by another node", func(c *adminapi.Client) error {
			return registrar.New(s, registrar.Options{Now: func() time.Time { return testNow }}).RevokeToken(t.Context(), registrar.Operator(), idOf(c), "")
		}, "the token that started the job was revoked; the changes the job made remain"},
		{"expired", func(*adminapi.Client) error { now.Add(7200); return nil }, "the token that started the job has expired; the changes the job made remain"},
	} {
		c := as(adminapi.Grant{Who: "x", Role: "administrator", Expires: testNow.Add(time.Hour)})
		_, j := startJob(t, c, "verify", "")
		<-v.begun
		if err := tt.do(c); err != nil {
			t.Fatal(err)
		}
		j = await(t, root, j.ID)
		if j.State != "cancelled" || j.Complete || j.Problem == nil || j.Problem.Status != http.StatusForbidden || j.Problem.Detail != tt.want || j.Next == "" || j.Done != 7 {
			t.Errorf("%s: %+v, %+v", tt.name, j, j.Problem)
		}
	}
	if j, err := root.Job(t.Context(), lasting.ID); err != nil || j.State != "running" {
		t.Errorf("a job of another token: %+v, %v", j, err)
	}

	// An import whose body is still being sent.
	now.Store(testNow.Unix())
	c := as(adminapi.Grant{Who: "e", Role: "editor"})
	body, send := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/api/v1/import", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Content-Type", "application/jsonl")
	id := adminapi.NewJobID()
	req.Header.Set(adminapi.JobHeader, id)
	answer := make(chan string, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body) // the server closes the connection
		answer <- string(b)
	}()
	if _, err := io.WriteString(send, `{"name":"urn:example:one","locations":[{"url":"https://example.org/1"}]}`+"\n"); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if _, err := root.Job(t.Context(), id); err == nil {
			break
		}
	}
	if err := root.Revoke(t.Context(), idOf(c)); err != nil {
		t.Fatal(err)
	}
	if b := <-answer; !strings.Contains(b, "was revoked") {
		t.Errorf("the answer to the import: %s", b)
	}
	send.Close()
	j := await(t, root, id)
	if j.State != "cancelled" || j.Problem == nil || !strings.Contains(j.Problem.Detail, "was revoked") {
		t.Errorf("import: %+v, %+v", j, j.Problem)
	}
}

// A job continues if the connection breaks, and ends when the client cancels it.
func TestJobOutlivesConnection(t *testing.T) {
	c, v, _, _ := slow(t, "")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/api/v1/verify", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	<-v.begun
	id := resp.Header.Get("Nomen-Job")
	resp.Body.Close()
	for until := time.Now().Add(time.Minute); !strings.Contains(v.answered.String(), "/api/v1/verify") && time.Now().Before(until); {
		time.Sleep(5 * time.Millisecond)
	}
	if j, err := c.Job(t.Context(), id); err != nil || j.State != "running" || j.Complete || j.Done != 7 {
		t.Errorf("after the connection: %+v, %v", j, err)
	}
	v.end <- struct{}{}
	if j := await(t, c, id); !j.Complete || j.Result.Head.Size != 10 || j.Result.FaultCount != 1 {
		t.Errorf("%+v", j)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-v.begun
		cancel()
	}()
	if _, err := c.Verify(ctx, func(store.Fault) {}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that ends: %v", err)
	}
	if all, err := c.Jobs(t.Context()); err != nil || len(all) != 2 || all[0].State != "cancelled" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestJobLimits(t *testing.T) {
	defaults := Limits{}.withDefaults()
	root, v, _, as := slow(t, "")
	for range defaults.TokenJobs {
		startJob(t, root, "verify", "")
		<-v.begun
	}
	resp, _ := startJob(t, root, "verify", "")
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Errorf("one more of the same token: %s", resp.Status)
	}
	for range defaults.Jobs - defaults.TokenJobs {
		startJob(t, as(adminapi.AdministratorGrant()), "verify", "")
		<-v.begun
	}
	c := as(adminapi.AdministratorGrant())
	resp, _ = startJob(t, c, "verify", "")
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("one more: %s", resp.Status)
	}
	var status *adminapi.JobsError
	if _, err := c.Import(t.Context(), strings.NewReader(""), bulk.ImportOptions{}); !errors.As(err, &status) || status.Status != http.StatusServiceUnavailable || status.After != retryJob {
		t.Errorf("an import: %#v", err)
	}
	close(v.end)
	if all, err := root.Jobs(t.Context()); err != nil || len(all) != defaults.Jobs {
		t.Errorf("%d jobs, %v", len(all), err)
	}
}

func TestJobID(t *testing.T) {
	c, _, l := admin(t)
	for _, tt := range []struct{ id, want string }{
		{"k3m7qx7a2b", "Nomen-Job: k3m7qx7a2b\r\n"},
		{"k3m7qx7a2b", "HTTP/1.1 400 "},
		{"../../etc/x", "HTTP/1.1 400 "},
		{"K3M7QX7A2C", "HTTP/1.1 400 "},
	} {
		got := exchange(t, l.Admin, "POST /api/v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nNomen-Job: "+tt.id+"\r\nContent-Length: 0\r\nAuthorization: Bearer "+c.Token+"\r\n\r\n")
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.id, got)
		}
	}
}

// A server that shuts down interrupts its jobs, responds to waiting clients, and reports
// the jobs as interrupted after its next start.
func TestJobsSurviveRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jobs")
	c, v, l, _ := slow(t, dir)
	_, done := startJob(t, c, "relocate", `{"from":"https://example.org/","to":"https://new.example/"}`)
	await(t, c, done.ID)
	failed := make(chan error)
	go func() {
		_, err := c.Verify(context.Background(), func(store.Fault) {}, nil)
		failed <- err
	}()
	<-v.begun
	start := time.Now()
	if err := l.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the end took %v", took)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "the server was stopped") {
		t.Errorf("the waiting client gets %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, jobsFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"+spoolSuffix), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	srv, _ := newTestAPI(t, func(o *Options) { o.Jobs = dir })
	all := srv.jobs.all
	if len(all) != 2 || all[0].ID != done.ID || all[0].State != "done" || all[0].Result.Relocated.Names == 0 || all[0].Token == "" {
		t.Fatalf("%+v", all)
	}
	if j := all[1]; j.State != "interrupted" || j.Complete || j.Done != 7 || j.Problem == nil || j.Next == "" || j.Result.FaultCount != 1 {
		t.Errorf("%+v", j)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*"+spoolSuffix)); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	// A server without changes writes nothing, since its disk may be read-only.
	written, err := os.Stat(filepath.Join(dir, jobsFile))
	if err != nil {
		t.Fatal(err)
	}
	srv.jobs.close(t.Context())
	if info, err := os.Stat(filepath.Join(dir, jobsFile)); err != nil || !os.SameFile(info, written) {
		t.Errorf("the file was written again, or is gone: %v", err)
	}
	// A server that was killed could not save the state.
	b, err := json.Marshal(savedJobs{jobsVersion, []*job{{Job: adminapi.Job{ID: "k", Kind: "import", State: "running", Done: 5000, Import: "7-abc", Result: &adminapi.JobResult{Summary: &bulk.Summary{Read: 5000, Created: 5000, Import: "7-abc"}}}}}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, jobsFile), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	srv, _ = newTestAPI(t, func(o *Options) { o.Jobs = dir })
	if j := srv.jobs.all[0]; j.State != "interrupted" || !strings.Contains(j.Next, "import the same file again") || !strings.Contains(j.Next, "or undo import 7-abc") {
		t.Errorf("%+v", j)
	}
	if err := os.WriteFile(filepath.Join(dir, jobsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if srv, _ = newTestAPI(t, func(o *Options) { o.Jobs = dir }); len(srv.jobs.all) != 0 {
		t.Errorf("a file that is damaged: %v", srv.jobs.all)
	}
}
