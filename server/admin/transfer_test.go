package admin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func TestAdminImportTables(t *testing.T) {
	c, s, _ := admin(t)
	ctx := t.Context()
	const text = "name,url,dc:title\nurn:example:1,https://a.example/,A\nurn:example:1,https://b.example/,\nurn:example:2,c.html,\n"
	for _, tt := range []struct {
		format     bulk.Format
		policy     bulk.Conflict
		want       bulk.Summary
		wantChange []bulk.Change
		wantDoubts bulk.Doubts
	}{
		{bulk.CSV, bulk.Merge, bulk.Summary{Read: 2, Created: 1, Refused: 1}, []bulk.Change{{Line: 2, Name: "urn:example:1", Created: true}}, bulk.Doubts{Uncovered: 1}},
		{bulk.TSV, bulk.Fail, bulk.Summary{Read: 2, Unchanged: 1, Refused: 1}, nil, bulk.Doubts{}},
	} {
		in := text
		if tt.format == bulk.TSV {
			in = strings.ReplaceAll(text, ",", "\t")
		}
		var refused []bulk.Refusal
		var changes []bulk.Change
		var doubts bulk.Doubts
		got, err := c.Import(ctx, strings.NewReader(in), bulk.ImportOptions{
			Format: tt.format, OnConflict: tt.policy, Who: "cataloguer", Why: "spring",
			Refused: func(r bulk.Refusal) { refused = append(refused, r) },
			Changed: func(change bulk.Change) { changes = append(changes, change) },
			Doubted: func(d bulk.Doubts) { doubts = d },
		})
		got.Seconds, tt.want.Import = 0, got.Import
		if err != nil || got != tt.want || !cmp.Equal(changes, tt.wantChange) || len(refused) != 1 || refused[0].Line != 4 || refused[0].Field != "url" || doubts != tt.wantDoubts {
			t.Errorf("%s: %+v, %v; %+v, %+v, %+v; want %+v, %+v, %+v", tt.format, got, err, refused, changes, doubts, tt.want, tt.wantChange, tt.wantDoubts)
		}
	}
	for change, err := range s.(store.Historian).History(ctx, name.MustParse("urn:example:1")) {
		if err != nil || change.Who != "cataloguer" || change.Why != "spring" {
			t.Errorf("history: %+v, %v", change, err)
		}
	}
	var bad *bulk.LineError
	_, err := c.Import(ctx, strings.NewReader("name,colour\n"), bulk.ImportOptions{Format: bulk.CSV})
	if !errors.As(err, &bad) || bad.Line != 1 || bad.Column != 6 || bad.Field != "colour" {
		t.Errorf("an unknown column: %#v", err)
	}
	var denied *registrar.DeniedError
	editor := &adminapi.Client{URL: c.URL, Token: grant(t, s, adminapi.Grant{Who: "editor", Role: "editor"})}
	if _, err := editor.Import(ctx, strings.NewReader(""), bulk.ImportOptions{Who: "another"}); !errors.As(err, &denied) || denied.Need != registrar.Administrator {
		t.Errorf("an editor in the name of another user: %#v", err)
	}
	local := &adminapi.Client{URL: c.URL, Token: grant(t, s, adminapi.Grant{Who: "local", Role: "administrator", Prefixes: []string{"urn:example"}})}
	if _, err := local.Import(ctx, strings.NewReader(""), bulk.ImportOptions{Who: "another"}); !errors.As(err, &denied) {
		t.Errorf("an administrator with prefixes in the name of another user: %#v", err)
	}
}

// The format of a body can be given by its media type.
func TestAdminImportMediaType(t *testing.T) {
	c, _, _ := admin(t)
	for kind, body := range map[string]string{
		"text/csv": "name\nurn:example:1\n",
		"text/csv; charset=utf-8; header=present":  "name\nurn:example:2\n",
		"text/tab-separated-values":                "name\turl\nurn:example:3\t\n",
		"application/jsonl":                        `{"name":"urn:example:4"}`,
		"application/x-www-form-urlencoded; odd=;": `{"name":"urn:example:5"}`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/api/v1/import", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+c.Token)
		req.Header.Set("Content-Type", kind)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Contains(answer, []byte(`"created":1`)) {
			t.Errorf("%s: %s, %v", kind, answer, err)
		}
		if !resp.Close {
			t.Errorf("%s: no Connection: close", kind)
		}
	}
}

func TestAdminExportFormats(t *testing.T) {
	c, s, _ := admin(t)
	ctx := t.Context()
	for _, r := range []*store.Record{
		{Name: name.FromKey("urn:formats:A"), Locations: []nomen.Location{{URL: "https://a.example/$"}}},
		{Name: name.FromKey("urn:formats:a"), Locations: []nomen.Location{{URL: "https://a.example/a"}}},
	} {
		if _, err := s.Apply(ctx, []store.Change{{Record: r, Expected: store.AnyRevision, Time: time.Unix(1, 0)}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		format  bulk.Format
		has     string
		want    bulk.Summary
		refused []string
	}{
		{bulk.JSONLines, `{"name":"urn:formats:A","status":"active","locations":[{"url":"https://a.example/$"}],"metadata":{},"same_as":[],"successors":[],"reason":""}`, bulk.Summary{Read: 2}, nil},
		{bulk.CSV, "\nurn:formats:A,active,https://a.example/$,", bulk.Summary{Read: 2}, nil},
		{bulk.TSV, "\nurn:formats:A\tactive\thttps://a.example/$\t", bulk.Summary{Read: 2}, nil},
		{bulk.NginxMap, "\n" + `"/urn:formats:A" "https://a.example/${nomen_dollar}";`, bulk.Summary{Read: 1, Refused: 1}, []string{"urn:formats:a"}},
		{bulk.ApacheMap, "\n/urn:formats:A https://a.example/$\n", bulk.Summary{Read: 2}, nil},
		{bulk.EZIDCSV, "_id,_created,", bulk.Summary{Refused: 2}, []string{"urn:formats:A", "urn:formats:a"}},
		{bulk.URIList, "# urn:formats:A\r\nhttps://a.example/$\r\n", bulk.Summary{Read: 2}, nil},
	} {
		var out bytes.Buffer
		var refused []string
		o := bulk.ExportOptions{Format: tt.format, Prefix: "urn:formats:", Refused: func(r bulk.Refusal) { refused = append(refused, r.Name) }}
		got, err := c.Export(ctx, &out, o)
		got.Seconds = 0
		if err != nil || got != tt.want || !slices.Equal(refused, tt.refused) || !strings.Contains(out.String(), tt.has) {
			t.Errorf("%s: %+v, %v, refused %q, want %+v\n%s", tt.format, got, err, refused, tt.want, &out)
		}
	}
	var bad *adminapi.RequestError
	if _, err := c.Export(ctx, io.Discard, bulk.ExportOptions{Format: bulk.CSV, Revisions: true}); !errors.As(err, &bad) || bad.Field != "revisions" {
		t.Errorf("revisions in CSV: %#v", err)
	}
	var out bytes.Buffer
	if _, err := c.Export(ctx, &out, bulk.ExportOptions{Revisions: true, Prefix: "urn:formats:A"}); err != nil || !strings.HasSuffix(out.String(), `"modified":"1970-01-01T00:00:01Z","revision":1}`+"\n") {
		t.Errorf("revisions: %s, %v", &out, err)
	}
}

// TestAdminKeys checks that a client that needs only the first names requests few.
func TestAdminKeys(t *testing.T) {
	c, s, _ := admin(t)
	ctx := t.Context()
	var changes []store.Change
	var want []string
	for i := range 2500 {
		n := name.FromKey(fmt.Sprintf("urn:keys:%05d", i))
		changes = append(changes, store.Change{Record: &store.Record{Name: n}, Expected: 0, Time: time.Unix(1, 0)})
		want = append(want, n.Key())
	}
	if _, err := s.Apply(ctx, changes); err != nil {
		t.Fatal(err)
	}
	asked := 0
	c.HTTP = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		asked++
		return http.DefaultTransport.RoundTrip(r)
	})}
	keys := func(prefix string, most int) (got []string) {
		for n, err := range c.Keys(ctx, prefix) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, n.Key()); len(got) == most {
				break
			}
		}
		return got
	}
	if got := keys("urn:keys:", -1); !slices.Equal(got, want) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
	asked = 0
	if got := keys("urn:keys:", 3); !slices.Equal(got, want[:3]) || asked != 1 {
		t.Errorf("%q in %d requests", got, asked)
	}
	if got := keys("urn:none:", -1); got != nil {
		t.Errorf("%q", got)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/api/v1/names?only=values", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("only=values: %v, %v", resp.Status, err)
	}
	resp.Body.Close()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
