package pages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/xlsx/xlsxtest"
	"github.com/nomen-project/nomen/store"
)

// multipartForm returns a form with a file, which comes last.
func multipartForm(t *testing.T, form url.Values, name, content string) (contentType string, body *bytes.Buffer) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for _, key := range sortedKeys(form) {
		if key == "upload" { // the field for the file
			continue
		}
		for _, value := range form[key] {
			if err := w.WriteField(key, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	part, err := w.CreateFormFile("upload", name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), body
}

// upload sends the form for a file.
func (s *site) upload(form url.Values, name, content string) *answer {
	s.t.Helper()
	kind, body := multipartForm(s.t, form, name, content)
	r := httptest.NewRequest(http.MethodPost, uploadPath, body)
	r.Header.Set("Content-Type", kind)
	return s.do(r)
}

// follow gets the page of the job to which an answer redirects, once the job has ended.
func (s *site) follow(a *answer) (*answer, string) {
	s.t.Helper()
	path := strings.TrimPrefix(a.Header().Get("Location"), Root)
	if a.Code != http.StatusSeeOther || !strings.HasPrefix(path, "jobs/") {
		s.t.Fatalf("got %d to %q:\n%s", a.Code, path, a.text())
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if page := s.get(path); !strings.Contains(page.Body.String(), "<progress") {
			return page, path
		}
	}
	s.t.Fatalf("%s does not end", path)
	return nil, ""
}

// applyForm returns the form that applies a dry run.
func (a *answer) applyForm(path string) url.Values {
	a.t.Helper()
	return a.form(Root + path + "/apply")
}

// rows returns a table of names, of which some rows are broken.
func sheet(n, broken int) string {
	var b strings.Builder
	b.WriteString("name,url,dc:title\n")
	for i := range n {
		url := "https://shelf.example/"
		if broken > 0 && i%(n/broken) == n/broken-1 {
			url = "shelf "
		}
		fmt.Fprintf(&b, "urn:dns:example.org:row%05d,%s%d,Title %d\n", i, url, i, i)
	}
	return b.String()
}

// A spreadsheet is checked, its good rows are applied, and its bad rows are downloaded, corrected
// and uploaded again.
func TestUpload(t *testing.T) {
	for _, broken := range []int{3, 200} {
		s := newSite(t).as("editor")
		form := s.get("upload").form(uploadPath)
		form.Set("why", "spring list")
		page, path := s.follow(s.upload(form, `C:\lists\books.csv`, sheet(5000, broken)))
		page.want(200, "books.csv", "Import (dry run)", "Records in the file 5,000", fmt.Sprintf("New %s", number(5000-broken)), fmt.Sprintf("Rejected %d", broken),
			"urn:dns:example.org:row00000", "https://shelf.example/0", fmt.Sprintf("url shelf %d ", 5000/broken-1), "Download the rejected lines", fmt.Sprintf("Leave out %d rejected", broken))
		if got := len(page.elements("tbody")); got != 51 { // 50 changes and one table of rejected lines
			t.Errorf("%d tables and changes, want 51", got)
		}
		if _, err := s.find("urn:dns:example.org:row00000"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the dry run changed a name: %v", err)
		}
		apply := page.applyForm(path)
		s.send(path+"/apply", apply).want(422, fmt.Sprintf("The dry run rejected %d lines", broken))
		done, _ := s.follow(s.send(path+"/apply", fill(apply, "skip_rejected", "1")))
		done.want(200, "done", fmt.Sprintf("New %s", number(5000-broken)), "Undo this job", "Download the rejected lines", "Upload the corrected lines")
		if !slices.ContainsFunc(done.elements("a"), func(a *html.Node) bool { return attribute(a, "href") == Root+path+"/rejects" }) {
			t.Error("the page of the import does not lead to the rejected lines of its dry run")
		}
		if got := s.record("urn:dns:example.org:row00000"); got.Locations[0].URL != "https://shelf.example/0" {
			t.Errorf("got %+v", got)
		}
		file := s.get(path + "/rejects")
		if got := strings.Count(file.Body.String(), "\n"); file.Code != 200 || got != broken+1 || !strings.Contains(file.Header().Get("Content-Disposition"), `.csv"`) ||
			!strings.HasPrefix(file.Body.String(), "\uFEFFname,url,dc:title,error\r\nurn:dns:example.org:row") {
			t.Errorf("got %d, %d lines, %v, %.300q", file.Code, got, file.Header(), file.Body)
		}
		again := ""
		for _, a := range page.elements("a") {
			if strings.HasPrefix(attribute(a, "href"), uploadPath+"?") && strings.Contains(attribute(a, "href"), "spreadsheet=1") {
				again = strings.TrimPrefix(attribute(a, "href"), Root)
			}
		}
		correct := s.get(again).form(uploadPath)
		if correct.Get("why") != "spring list" || correct.Get("spreadsheet") != "1" {
			t.Errorf("%s: %v", again, correct)
		}
		page, path = s.follow(s.upload(correct, "rejected.csv", strings.ReplaceAll(file.Body.String(), "shelf ", "https://shelf.example/")))
		page.want(200, fmt.Sprintf("New %d", broken), "Rejected 0")
		done, _ = s.follow(s.send(path+"/apply", page.applyForm(path)))
		done.want(200, fmt.Sprintf("New %d", broken))
	}
}

func number(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// find returns a record, or the error.
func (s *site) find(spelling string) (*store.Record, error) {
	return s.store.Get(s.t.Context(), mustParse(spelling), time.Time{})
}

// Files as spreadsheet programs write them are read, and others are explained.
func TestUploadFiles(t *testing.T) {
	const row = "urn:dns:example.org:new,https://a.example/,Gr\u00fc\u00dfe\n"
	for _, tt := range []struct {
		what, name, content string
		form                url.Values
		want                []string
	}{
		{"BOM and Windows line ends", "a.csv", "\uFEFFname,url,dc:title\r\n" + strings.ReplaceAll(row, "\n", "\r\n"), nil, []string{"New 1", "Gr\u00fc\u00dfe"}},
		{"semicolons", "a.csv", strings.ReplaceAll("name,url,dc:title\n"+row, ",", ";"), nil, []string{"New 1", "Gr\u00fc\u00dfe"}},
		{"tabs", "a.tsv", strings.ReplaceAll("name,url,dc:title\n"+row, ",", "\t"), nil, []string{"New 1"}},
		{"JSON Lines", "a.jsonl", `{"name":"urn:dns:example.org:new","locations":[{"url":"https://a.example/"}]}`, nil, []string{"New 1"}},
		{"another encoding", "a.csv", "name,dc:title\nurn:dns:example.org:new,Gr\xfc\xdfe\n", nil, []string{"New 0", "Rejected 1", "is not UTF-8"}},
		{"another encoding that is named", "a.csv", "name,dc:title\nurn:dns:example.org:new,Gr\xfc\xdfe\n", url.Values{"encoding": {"windows-1252"}}, []string{"New 1", "Gr\u00fc\u00dfe"}},
		{"other titles", "a.csv", "Id;Link;Price\nurn:dns:example.org:new;https://a.example/;3\n", url.Values{"map": {"Id=name\r\nLink=url\r\nPrice="}}, []string{"New 1"}},
		{"unknown titles", "a.csv", "Id;Link\nurn:dns:example.org:new;https://a.example/\n", nil, []string{"failed", "Line 1, column 1", "unknown columns: Id", "with other options"}},
		{"empty", "a.csv", "", nil, []string{"failed", "the file is empty"}},
		{"empty JSON Lines", "a.jsonl", "", nil, []string{"done", "Records in the file 0"}},
		{"only a header", "a.csv", "name,url\n", nil, []string{"done", "Records in the file 0"}},
		{"a workbook that is called CSV", "a.csv", "PK\x03\x04...", nil, []string{"failed", "save the sheet as CSV"}},
		{"a replaced location", "a.csv", "name,url\n" + alb + ",https://replaced.example/\n", url.Values{"on_conflict": {"replace"}}, []string{"Changed 1", "https://replaced.example/"}},
	} {
		s := newSite(t).as("editor")
		form := tt.form
		if form == nil {
			form = url.Values{}
		}
		page, path := s.follow(s.upload(form, tt.name, tt.content))
		page.want(200, tt.want...)
		page.wantHarmless(tt.what)
		if t.Failed() {
			t.Fatalf("%s: %s", tt.what, path)
		}
	}
}

// A workbook is checked and applied. The page names the cells at fault, and the rejected rows are CSV.
func TestUploadWorkbook(t *testing.T) {
	s := newSite(t).as("editor")
	rows := [][]any{{"name", "url"}, {"urn:dns:example.org:book1", "https://shelf.example/1"}, {"urn:dns:example.org:book2", "shelf 2"}}
	file := string(xlsxtest.Workbook(t, xlsxtest.Sheet{Name: "Books", Rows: rows}, xlsxtest.Sheet{Name: "Notes", Rows: rows}))
	form := s.get("upload").form(uploadPath)
	form.Set("why", "spring list")
	page, _ := s.follow(s.upload(form, "books.xlsx", file))
	page.want(200, "the workbook has several sheets: choose one of Books, Notes")
	form.Set("sheet", "Books")
	form.Set("key", "another")
	page, path := s.follow(s.upload(form, "books.xlsx", file))
	page.want(200, "New 1", "Rejected 1", "Books!B3", "urn:dns:example.org:book2")
	done, _ := s.follow(s.send(path+"/apply", fill(page.applyForm(path), "skip_rejected", "1")))
	done.want(200, "done", "New 1")
	if got := s.record("urn:dns:example.org:book1"); got.Locations[0].URL != "https://shelf.example/1" {
		t.Errorf("got %+v", got)
	}
	if got := s.get(path + "/rejects"); !strings.HasPrefix(got.Body.String(), "\uFEFFname,url,error\r\nurn:dns:example.org:book2,shelf 2,\"Books!B3: ") && !strings.HasPrefix(got.Body.String(), "\uFEFFname,url,error\r\nurn:dns:example.org:book2,shelf 2,Books!B3: ") {
		t.Errorf("got %d %.300q", got.Code, got.Body)
	}
}

// An error in the form is shown next to its field, and what was entered stays.
func TestUploadFaults(t *testing.T) {
	s := newSite(t).as("editor")
	for _, tt := range []struct {
		what, name string
		form       url.Values
		fault      string
	}{
		{"no file", "", url.Values{}, "Choose a file."},
		{"an old workbook", "a.xls", url.Values{}, "does not say which format"},
		{"no suffix", "list", url.Values{}, "does not say which format"},
		{"a map for nginx", "a.csv", url.Values{"format": {"nginx-map"}}, "does not say which format"},
		{"an unknown encoding", "a.csv", url.Values{"encoding": {"klingon"}}, "klingon"},
		{"an unknown column", "a.csv", url.Values{"map": {"a=b"}}, "unknown column"},
	} {
		form := url.Values{"on_conflict": {"keep"}, "strict": {"1"}}
		for key, values := range tt.form {
			form[key] = values
		}
		if form.Get("why") == "" {
			form.Set("why", "kept text")
		}
		a := s.upload(form, tt.name, "name\n"+alb+"\n")
		a.want(422, tt.fault)
		got := a.form(uploadPath)
		if got.Get("on_conflict") != "keep" || got.Get("strict") != "1" || strings.TrimSpace(got.Get("why")) != form.Get("why") {
			t.Errorf("%s: the form has %.500v", tt.what, got)
		}
	}
	s.post("upload", "why", "sent again").want(422, "Choose a file.")
	if jobs := s.get("jobs"); jobs.Code != 200 {
		t.Errorf("got %d", jobs.Code)
	} else {
		jobs.want(200, "There are no jobs")
	}
	s.upload(url.Values{"why": {"a\x01b"}}, "a.csv", "name\n").want(422, "contains the control character")
}

// endless announces a size, and never ends.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(copy(p, bytes.Repeat([]byte("x"), len(p))))
	return len(p), nil
}

// A file that is too large is rejected: at once if its size is announced, otherwise at the limit.
func TestUploadSize(t *testing.T) {
	s := newSite(t).as("editor")
	body := &endless{}
	r := httptest.NewRequest(http.MethodPost, uploadPath, body)
	r.ContentLength = 2 << 30
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	s.do(r).want(413, "at most 1 GiB")
	if body.read > 0 {
		t.Errorf("%d bytes were read", body.read)
	}
	r = httptest.NewRequest(http.MethodPost, uploadPath, io.MultiReader(strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"upload\"; filename=\"a.csv\"\r\n\r\n"), io.LimitReader(&endless{}, 2<<30)))
	r.ContentLength = -1
	r.Body = http.MaxBytesReader(httptest.NewRecorder(), r.Body, 1<<20) // as the limit of the pages, but sooner
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	s.do(r).want(413, "at most 1 GiB")
	r = httptest.NewRequest(http.MethodPost, uploadPath, strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"upload\"; filename=\"a.csv\"\r\n\r\nname\nurn"))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	s.do(r).want(422, "truncated")
	r = httptest.NewRequest(http.MethodPost, uploadPath, strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"why\"\r\n\r\n"+strings.Repeat("x", maxUploadText+1)+"\r\n--x--\r\n"))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	s.do(r).want(400, "too large")
	s.get("jobs").want(200, "There are no jobs")
}

// A form that is sent twice starts one job, also if both arrive at once, or after going back. The
// same form with another file starts another job.
func TestUploadTwice(t *testing.T) {
	s := newSite(t).as("editor")
	form := s.get("upload").form(uploadPath)
	targets := make([]string, 3)
	var group sync.WaitGroup
	for i := range targets {
		group.Go(func() { targets[i] = s.upload(form, "a.csv", sheet(3, 0)).Header().Get("Location") })
	}
	group.Wait()
	if targets[0] == "" || targets[0] != targets[1] || targets[0] != targets[2] {
		t.Errorf("one form, several jobs: %q", targets)
	}
	if other := s.upload(form, "a.csv", sheet(4, 0)).Header().Get("Location"); other == targets[0] {
		t.Error("another file, the same job")
	}
	path := strings.TrimPrefix(targets[0], Root)
	page, _ := s.follow(s.upload(form, "a.csv", sheet(3, 0)))
	apply := page.applyForm(path)
	one, two := s.send(path+"/apply", apply), s.send(path+"/apply", apply)
	if one.Header().Get("Location") == "" || one.Header().Get("Location") != two.Header().Get("Location") {
		t.Errorf("applied twice: %q, %q", one.Header().Get("Location"), two.Header().Get("Location"))
	}
	s.follow(one)
	if a := s.get(path); strings.Contains(a.Body.String(), "/apply") {
		t.Errorf("the dry run can be applied again:\n%s", a.text())
	}
}

// Between the dry run and the change, the server is restarted, and a colleague changes a name.
func TestUploadMeanwhile(t *testing.T) {
	s := newSite(t).as("editor")
	file := "name,url\n" + alb + ",https://new.example/\nurn:dns:example.org:other,https://new.example/2\n"
	_, path := s.follow(s.upload(url.Values{"on_conflict": {"replace"}}, "a.csv", file))
	s.restart()
	s.change(alb, "a colleague", at("https://colleague.example/"))
	page := s.get(path)
	failed, _ := s.follow(s.send(path+"/apply", page.applyForm(path)))
	failed.want(200, "failed", "changed 1 name of this file since the dry run", alb, "Apply it only if")
	if got := s.record(alb).Locations[0].URL; got != "https://colleague.example/" {
		t.Errorf("got %s", got)
	}
	done, _ := s.follow(s.send(path+"/apply", failed.applyForm(path)))
	done.want(200, "done", "Changed 1", "New 1")
	if got := s.record(alb).Locations[0].URL; got != "https://new.example/" {
		t.Errorf("got %s", got)
	}
}

// Users without the role, or with rights on other names, get what the API says.
func TestUploadRights(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"upload", "relocate", "retire", "merge"} {
		s.as("reader").get(path).want(403, "You do not have the rights")
		if body := s.as("reader").get("names").Body.String(); strings.Contains(body, `href="/-/ui/`+path+`"`) {
			t.Errorf("the navigation of a reader has %s", path)
		}
	}
	file := "name,url\n" + alb + ",https://evil.example/\n"
	s.as("reader").upload(url.Values{}, "a.csv", file).want(403, "You do not have the rights")
	page, _ := s.as("other").follow(s.as("other").upload(url.Values{}, "a.csv", file))
	page.want(200, "Rejected 1", "permission denied")
	_, path := s.as("editor").follow(s.as("editor").upload(url.Values{"as": {"u-admin"}}, "a.csv", file))
	for _, who := range []string{"other", "reader", "anna"} {
		s.as(who).get(path).want(404)
		s.as(who).get(path + "/rejects").want(404)
		for _, action := range []string{"/apply", "/cancel", "/undo"} {
			s.as(who).post(path+action, "skip_rejected", "1").want(404)
		}
		if strings.Contains(s.as(who).get("jobs").Body.String(), path) {
			t.Errorf("%s sees the job of another user", who)
		}
	}
	s.as("admin").get(path).want(200, "u-editor")
	done, _ := s.as("editor").follow(s.as("editor").send(path+"/apply", fill(s.as("editor").get(path).applyForm(path), "dry_run", "1", "as", "u-admin")))
	done.want(200, "Changed 1")
	for change, err := range store.History(t.Context(), s.store, mustParse(alb)) {
		if err != nil || change.Who != "u-editor" {
			t.Errorf("got %+v, %v", change, err)
		}
		break
	}
}

// Fields without content count too, so that a sender who is not signed in cannot fill the memory.
func TestUploadFields(t *testing.T) {
	for _, who := range []string{"admin", ""} {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		for range 50_000 {
			if err := w.WriteField("x", ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, uploadPath, &body)
		r.Header.Set("Content-Type", w.FormDataContentType())
		if got, want := newSite(t).as(who).do(r).Code, http.StatusBadRequest; got != want {
			t.Errorf("user %q: status %d, want %d", who, got, want)
		}
	}
}

// What was entered is kept if the session has ended; the file has to be chosen again.
func TestUploadSignedOut(t *testing.T) {
	s := newSite(t)
	a := s.as("").upload(url.Values{"why": {"kept text"}, "on_conflict": {"replace"}}, "a.csv", sheet(3, 0))
	a.want(401, "Send the form again")
	again := s.as("editor").send("upload", a.form(uploadPath))
	again.want(422, "Choose a file.")
	if form := again.form(uploadPath); strings.TrimSpace(form.Get("why")) != "kept text" || form.Get("on_conflict") != "replace" {
		t.Errorf("the form has %v", form)
	}
}

// A failed dry run can be repeated with other options without sending the file again.
func TestUploadOtherOptions(t *testing.T) {
	s := newSite(t).as("editor")
	page, path := s.follow(s.upload(url.Values{}, "a.csv", "Id;Link\nurn:dns:example.org:new;https://a.example/\n"))
	id := strings.TrimPrefix(path, "jobs/")
	again := ""
	for _, a := range page.elements("a") {
		if strings.Contains(attribute(a, "href"), "file="+id) {
			again = strings.TrimPrefix(attribute(a, "href"), Root)
		}
	}
	form := s.get(again)
	form.want(200, "the file a.csv is used again")
	kind, body := multipartForm(t, fill(form.form(uploadPath), "map", "Id=name\nLink=url"), "", "")
	r := httptest.NewRequest(http.MethodPost, uploadPath, body)
	r.Header.Set("Content-Type", kind)
	page, _ = s.follow(s.do(r))
	page.want(200, "a.csv", "New 1")
	s.as("anna").get(again).without("a.csv")
}

// The reader of a job that runs sees how far it is, and can stop the page from loading again.
func TestJobRuns(t *testing.T) {
	s := newSite(t).as("editor")
	v := &jobView{Job: runningJob(), Running: true, Own: true}
	v.Refresh, v.Minutes = true, 2
	w := httptest.NewRecorder()
	c := s.pages.newRequest(w, httptest.NewRequest(http.MethodGet, Root, nil))
	c.session = &Session{Actor: people()["editor"]}
	c.show(http.StatusOK, "job", v)
	a := &answer{w, t}
	a.want(200, "1,200 of 5,000, 40 per second.", "About 2 minutes left.", "continues if you close this page", "loads again every 3 seconds", "Cancel this job")
	if body := a.Body.String(); !strings.Contains(body, `http-equiv="refresh" content="3"`) || strings.Contains(body, "autofocus") || !strings.Contains(body, `max="5000" value="1200"`) {
		t.Errorf("got %s", body)
	}
	done, path := s.follow(s.upload(url.Values{}, "a.csv", sheet(3, 0)))
	if strings.Contains(done.Body.String(), "http-equiv") {
		t.Error("the page of a job that has ended loads again")
	}
	s.post(path + "/cancel").wantSee(Root + path)
	s.get("jobs/none").want(404)
	s.post(path+"/undo").want(422, "no changes that can be undone")
	s.get(path + "/rejects").want(404)
}

func runningJob() adminapi.Job {
	return adminapi.Job{ID: "aaaaaaaaaa", Kind: adminapi.JobImport, State: adminapi.JobRunning, Unit: "records", Done: 1200, Total: 5000, Rate: 40.4, Started: time.Unix(1e9, 0)}
}

// A timed is a response of a connection with deadlines.
type timed struct {
	*httptest.ResponseRecorder
	reads, writes int
}

func (w *timed) SetReadDeadline(time.Time) error  { w.reads++; return nil }
func (w *timed) SetWriteDeadline(time.Time) error { w.writes++; return nil }

// An upload may take longer than the limit of the server for other requests: each step has a
// deadline of its own, and so has the response.
func TestUploadDeadlines(t *testing.T) {
	s := newSite(t).as("editor")
	kind, body := multipartForm(t, url.Values{}, "a.csv", sheet(3, 0))
	r := httptest.NewRequest(http.MethodPost, uploadPath, io.MultiReader(bytes.NewReader(body.Next(50)), body))
	r.Header.Set("Content-Type", kind)
	r.AddCookie(&http.Cookie{Name: "who", Value: "editor"})
	w := &timed{ResponseRecorder: httptest.NewRecorder()}
	if s.pages.ServeHTTP(w, r); w.Code != http.StatusSeeOther || w.reads < 2 || w.writes == 0 {
		t.Errorf("got %d, %d deadlines for reading, %d for writing", w.Code, w.reads, w.writes)
	}
}
