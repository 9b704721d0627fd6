package admin

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// The lines of an import say that it is not complete, up to the last. An import whose
// body stalls can be cancelled, and the records received so far remain.
func TestJobImport(t *testing.T) {
	c, s, _ := admin(t)
	body, in := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/api/v1/import", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	go func() {
		for i := range 5001 {
			fmt.Fprintf(in, `{"name":"urn:example:%d","locations":[{"url":"https://example.org/1"}]}`+"\n", i)
		}
	}()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"created":5000`) || !strings.Contains(lines.Text(), `"complete":false`) {
		t.Errorf("%s, %v", lines.Text(), lines.Err())
	}
	start := time.Now()
	j, err := c.CancelJob(t.Context(), resp.Header.Get("Nomen-Job"))
	if err != nil || j.State != "cancelled" || j.Done < 5000 || j.Result.Summary.Import == "" || time.Since(start) > 30*time.Second {
		t.Errorf("%+v, %v, after %v", j, err, time.Since(start))
	}
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	if !strings.Contains(last, `"summary":`) || !strings.Contains(last, "was cancelled") || !strings.Contains(last, `"complete":false`) {
		t.Errorf("the end: %s", last)
	}
	if n, _, err := store.Count(t.Context(), s); err != nil || n < 5000 {
		t.Errorf("%d names, %v", n, err)
	}
	if _, err := c.Undo(t.Context(), registrar.Undoing{Batch: j.Result.Summary.Import}); err != nil {
		t.Error(err)
	}
	whole := exchange(t, hostOf(t, c), "POST /api/v1/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nAuthorization: Bearer "+c.Token+"\r\n\r\n")
	if !strings.Contains(whole, `"complete":true`) {
		t.Errorf("%s", whole)
	}
}

func hostOf(t *testing.T, c *adminapi.Client) net.Addr {
	t.Helper()
	addr, err := net.ResolveTCPAddr("tcp", strings.TrimPrefix(c.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// Spreadsheet markers are added and removed in every format and compression, and by
// asynchronous jobs as by requests.
func TestJobSpreadsheet(t *testing.T) {
	c, _, _ := admin(t)
	record := `{"name":"urn:example:f","metadata":{"title":["=1+1"],"description":["'=quoted"]}}`
	_, j := startJob(t, c, "import", record)
	if j = await(t, c, j.ID); !j.Complete || j.Result.Summary.Created != 1 {
		t.Fatalf("%+v", j)
	}
	for _, f := range []bulk.Format{bulk.CSV, bulk.TSV} {
		for compression, named := range map[bulk.Compression]string{bulk.Plain: "none", bulk.Gzip: "gzip", bulk.Zstd: "zstd"} {
			for _, marked := range []bool{false, true} {
				what := fmt.Sprint(f, " ", named, " marked=", marked)
				var file strings.Builder
				if _, err := c.Export(t.Context(), &file, bulk.ExportOptions{Format: f, Compression: compression, Spreadsheet: marked}); err != nil {
					t.Fatal(what, err)
				}
				if compression == bulk.Plain && strings.Contains(file.String(), "'=1+1") != marked {
					t.Errorf("%s: %s", what, file.String())
				}
				query := fmt.Sprintf("import?format=%s&compression=%s&on_conflict=replace&dry_run=true&spreadsheet=", f, named)
				for _, unmark := range []bool{false, true} {
					_, j := startJob(t, c, query+fmt.Sprint(unmark), file.String())
					j = await(t, c, j.ID)
					if !j.Complete || j.Result.Summary == nil || (j.Result.Summary.Changed == 0) != (marked == unmark) {
						t.Errorf("%s, unmark=%t: %+v, %+v", what, unmark, j, j.Result)
					}
				}
			}
		}
	}
	if _, j := startJob(t, c, "import?format=jsonl&spreadsheet=true", record); j.ID != "" {
		t.Errorf("a job for cells that there are not: %+v", j)
	}
}
