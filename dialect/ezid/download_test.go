package ezid

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/bulk/from"
	fromezid "github.com/nomen-project/nomen/bulk/from/ezid"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

const dataciteXML = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI">10.9999/X</identifier><titles><title>A &amp; B</title></titles></resource>`

// filled returns a fixture with identifiers of several kinds.
func filled(t *testing.T) *fixture {
	t.Helper()
	f := open(t)
	for _, tt := range []struct{ id, text string }{
		{"ark:/99999/fk4one", "_target: https://example.org/1\nerc.who: Proust, Marcel\nerc.what: 100%25 sure <\nnote: a%0Ab"},
		{"ark:/99999/fk4two", "_status: reserved\n_target: https://example.org/2\n_export: no"},
		{"ark:/99999/x3", "_target: https://example.org/3\n_profile: dc\ndc.title: Three\n_owner: apitest"},
		{"ark:/99999/x4", "_target: https://example.org/4"},
		{"doi:10.9999/X", "datacite: " + strings.NewReplacer("%", "%25", "\n", "%0A").Replace(dataciteXML)},
	} {
		if status, text := f.ask(t, http.MethodPut, "/id/"+tt.id, "T.owner", tt.text); status != 201 {
			t.Fatal(tt.id, status, text)
		}
	}
	if status, text := f.ask(t, http.MethodPost, "/id/ark:/99999/x4", "T.owner", "_status: unavailable | withdrawn"); status != 200 {
		t.Fatal(status, text)
	}
	other := &store.Record{Name: name.MustParse("ark:12345/other"), Spelling: "ark:12345/other", Status: nomen.Active}
	if _, err := f.store.Apply(t.Context(), []store.Change{{Record: other, Time: start}}); err != nil {
		t.Fatal(err)
	}
	return f
}

// ask sends a request. A body that begins with "format=" is a form.
func (f *fixture) ask(t *testing.T, method, path, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", basic(token))
	}
	if strings.HasPrefix(body, "format=") {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := f.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// request requests a download, and returns the path of its file.
func (f *fixture) request(t *testing.T, token, form string) string {
	t.Helper()
	status, text := f.ask(t, http.MethodPost, "/download_request", token, form)
	path, ok := strings.CutPrefix(text, "success: https://id.example.org")
	if status != 200 || !ok {
		t.Fatalf("%s: got %d %s, want a URL", form, status, text)
	}
	return path
}

// download returns the content of a download.
func (f *fixture) download(t *testing.T, token, form string) string {
	t.Helper()
	path := f.request(t, token, form)
	f.building.running.Wait()
	status, text := f.ask(t, http.MethodGet, path, "", "")
	if status != 200 {
		t.Fatalf("%s: got %d %s", path, status, text)
	}
	var r io.Reader
	var err error
	if strings.HasSuffix(path, ".zip") {
		archive, errZip := zip.NewReader(strings.NewReader(text), int64(len(text)))
		if errZip != nil || len(archive.File) != 1 {
			t.Fatal(errZip)
		}
		r, err = archive.File[0].Open()
	} else {
		r, err = gzip.NewReader(strings.NewReader(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// Each format has the identifiers for which the user has rights, with all elements.
func TestDownloadFormats(t *testing.T) {
	f := filled(t)
	for _, tt := range []struct{ form, golden string }{
		{"format=anvl&compression=gzip", "download.anvl"},
		{"format=xml&compression=zip&convertTimestamps=yes", "download.xml"},
		{"format=csv&column=_id&column=_status&column=_mappedTitle&column=note&column=none", "download.csv"},
	} {
		want, err := os.ReadFile("testdata/" + tt.golden)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.download(t, "T.reader", tt.form); got != string(want) {
			t.Errorf("%s:\n got %s\nwant %s", tt.form, got, want)
		}
	}
	if got := f.download(t, "T.other", "format=anvl"); got != "" {
		t.Errorf("a user with rights for other names got %q, want nothing", got)
	}
}

// The constraints of a request select identifiers.
func TestDownloadConstraints(t *testing.T) {
	f := filled(t)
	second := func(n int64) string { return fmt.Sprint(start.Unix() + n) }
	const one, two, three, four, doi = "ark:/99999/fk4one", "ark:/99999/fk4two", "ark:/99999/x3", "ark:/99999/x4", "doi:10.9999/X"
	for _, tt := range []struct {
		form string
		want []string
	}{
		{"", []string{one, two, three, four, doi}},
		{"&type=doi", []string{doi}},
		{"&type=ark&type=uuid", []string{one, two, three, four}},
		{"&status=reserved", []string{two}},
		{"&status=unavailable&status=reserved", []string{two, four}},
		{"&exported=no", []string{two}},
		{"&permanence=test", []string{one, two}},
		{"&permanence=real", []string{three, four, doi}},
		{"&profile=dc", []string{three}},
		{"&owner=apitest", []string{three}},
		{"&ownergroup=Example+Library", []string{one, two, four, doi}},
		{"&owner=apitest&ownergroup=Example+Library", []string{one, two, three, four, doi}},
		{"&owner=other", nil},
		{"&createdAfter=" + second(3), []string{three, four, doi}},
		{"&createdBefore=" + second(3), []string{one, two}},
		{"&createdAfter=2026-11-22T04:00:02Z&createdBefore=2026-11-22T04:00:04Z", []string{two, three}},
		{"&updatedAfter=" + second(6), []string{four}},
		{"&updatedBefore=" + second(6), []string{one, two, three, doi}},
	} {
		text := f.download(t, "T.reader", "format=csv&column=_id"+tt.form)
		if got := strings.Fields(text); !slices.Equal(got[1:], tt.want) {
			t.Errorf("%s: got %q, want %q", tt.form, got[1:], tt.want)
		}
	}
}

// What was downloaded as ANVL or XML can be imported, and is then the same.
func TestDownloadRoundTrip(t *testing.T) {
	f := filled(t)
	for _, format := range []string{"anvl", "xml"} {
		text := f.download(t, "T.reader", "format="+format)
		var lines bytes.Buffer
		out := from.NewOutput("file", &lines)
		i := slices.IndexFunc(fromezid.Formats(), func(f from.Format) bool { return f.Name == "ezid-"+format })
		in := &from.Input{Reader: strings.NewReader(text), File: "file", Base: "https://id.example.org"}
		if err := fromezid.Formats()[i].Convert(t.Context(), in, out); err != nil || len(out.Report().Refused) > 0 {
			t.Fatal(format, err, out.Report().Refused, text)
		}
		again := memstore.New()
		_, err := bulk.Import(t.Context(), registrar.New(again, registrar.Options{Now: f.now}), registrar.Operator(), &lines, bulk.ImportOptions{
			Format: bulk.JSONLines, Refused: func(r bulk.Refusal) { t.Error(format, r) },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"ark:99999/fk4one", "ark:99999/fk4two", "ark:99999/x3", "ark:99999/x4", "doi:10.9999/x"} {
			got, want := elementsIn(t, again, id), elementsIn(t, f.store, id)
			if format == "xml" && want["datacite"] != "" {
				_, want["datacite"], _ = strings.Cut(want["datacite"], "?>\n") // the declaration cannot be in another document
			}
			for label := range want {
				if label != ezid.Updated && got[label] != want[label] {
					t.Errorf("%s of %s: got %q, want %q", label, id, got[label], want[label])
				}
			}
		}
	}
}

func elementsIn(t *testing.T, s store.Reader, id string) ezid.Elements {
	t.Helper()
	rec, err := s.Get(t.Context(), name.MustParse(id), time.Time{})
	if err != nil {
		t.Fatal(id, err)
	}
	return ezid.Of(rec, "https://id.example.org")
}

// A slowStore lists nothing until ready is closed.
type slowStore struct {
	store.Reader
	ready chan struct{}
}

func (s slowStore) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	<-s.ready
	return s.Reader.List(ctx, scan)
}

// A file is not found until it is complete, and a user has one request at a time. It is private on
// disk, and is kept for a week.
func TestDownloadLife(t *testing.T) {
	f := filled(t)
	slow := slowStore{f.store, make(chan struct{})}
	f.Handler.Store = slow
	path := f.request(t, "T.reader", "format=anvl")
	if status, _ := f.ask(t, http.MethodGet, path, "", ""); status != 404 {
		t.Errorf("got %d for an incomplete file, want 404", status)
	}
	if status, text := f.ask(t, http.MethodPost, "/download_request", "T.editor", "format=xml"); status != 503 || text != "error: concurrency limit exceeded" {
		t.Errorf("got %d %s for a second request of the user, want 503", status, text)
	}
	other := f.request(t, "T.other", "format=anvl")
	close(slow.ready)
	f.building.running.Wait()
	if status, _ := f.ask(t, http.MethodGet, other, "", ""); status != 200 {
		t.Errorf("got %d for the file of another user, want 200", status)
	}
	files, err := filepath.Glob(filepath.Join(f.Downloads, "*", filepath.Base(path)))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for file, want := range map[string]os.FileMode{files[0]: 0o600, f.Downloads: 0o700 | os.ModeDir} {
		if info, err := os.Stat(file); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want mode %v", file, info, err, want)
		}
	}
	f.public.Store(true)
	if status, _ := f.ask(t, http.MethodGet, path, "", ""); status != 403 {
		t.Errorf("got %d over a connection that others can read, want 403", status)
	}
	f.public.Store(false)
	for age, want := range map[time.Duration]int{keepFile - time.Hour: 200, keepFile + time.Hour: 404} {
		at := f.now().Add(-age)
		if err := os.Chtimes(files[0], at, at); err != nil {
			t.Fatal(err)
		}
		if status, _ := f.ask(t, http.MethodGet, path, "", ""); status != want {
			t.Errorf("after %v: got %d, want %d", age, status, want)
		}
	}
	at := f.now().Add(-2 * keepFile)
	if err := os.Chtimes(files[0], at, at); err != nil {
		t.Fatal(err)
	}
	f.download(t, "T.other", "format=anvl")
	if _, err := os.Stat(files[0]); !os.IsNotExist(err) {
		t.Errorf("the old file is still there: %v", err)
	}
}

// Each user has a limited number of files, and all users together too.
func TestDownloadLimits(t *testing.T) {
	f := filled(t)
	for range maxOwnFiles + 2 {
		f.download(t, "T.reader", "format=csv&column=_id")
	}
	files, err := filepath.Glob(filepath.Join(f.Downloads, "*", "*"))
	if err != nil || len(files) != maxOwnFiles {
		t.Errorf("got %d files, %v, want %d", len(files), err, maxOwnFiles)
	}
	full := filepath.Join(f.Downloads, "full")
	if err := os.Mkdir(full, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range maxFiles {
		if err := os.WriteFile(filepath.Join(full, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, text := f.ask(t, http.MethodPost, "/download_request", "T.reader", "format=anvl"); status != 503 {
		t.Errorf("got %d %s with too many files, want 503", status, text)
	}
	if err := (&Handler{Options: f.Options}).writeDownload(t.Context(), &download{format: "xml"}, "x", &capped{io.Discard, 10}); err == nil {
		t.Error("a file that is too large was written")
	}
}

// A server without a directory for downloads, such as one that was started read-only, rejects them.
func TestDownloadForbidden(t *testing.T) {
	f := filled(t)
	f.Downloads = ""
	if status, text := f.ask(t, http.MethodPost, "/download_request", "T.reader", "format=anvl"); status != 403 || text != "error: forbidden" {
		t.Errorf("got %d %s, want 403", status, text)
	}
}

// Any form is either an error or a download, and any element can be written.
func FuzzDownload(f *testing.F) {
	for _, form := range []string{"format=anvl", "format=csv&column=_id", "format=xml&createdAfter=5&status=public", "format=csv&column=_mappedTitle&type=ark", "format=anvl&updatedBefore=2026-11-22T04:00:00Z"} {
		f.Add(form, dataciteXML)
	}
	f.Add("format=xml", "<a><![CDATA[x]]></a>")
	f.Add("format=xml", "<!DOCTYPE a><a/>")
	f.Add("format=xml", "</element><element name=\"_owner\">x")
	f.Fuzz(func(t *testing.T, text, value string) {
		form, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		d, failure := parseDownload(form)
		if (d == nil) == failure.ok() {
			t.Fatalf("%q: %v, %v", text, d, failure)
		}
		e := ezid.Elements{"datacite": value, "note": value}
		if d != nil {
			d.accepts("ark:/99999/fk4", e)
			d.row("ark:/99999/fk4", &store.Record{}, e)
		}
		all := "<records>" + string(appendXML(nil, "ark:/99999/fk4", e)) + "</records>"
		out := from.NewOutput("file", io.Discard)
		i := slices.IndexFunc(fromezid.Formats(), func(f from.Format) bool { return f.Name == "ezid-xml" })
		if err := fromezid.Formats()[i].Convert(t.Context(), &from.Input{Reader: strings.NewReader(all), File: "file"}, out); err != nil {
			t.Errorf("%s: %v", all, err)
		}
	})
}
