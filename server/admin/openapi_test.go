package admin

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

type openAPIDocument struct {
	OpenAPI    string
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Parameters map[string]openAPIParameter
		Schemas    map[string]struct {
			Properties map[string]json.RawMessage
		}
	}
}

func readOpenAPI(t *testing.T) openAPIDocument {
	t.Helper()
	var doc openAPIDocument
	if err := json.Unmarshal(adminapi.OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOpenAPIHasEveryRoute(t *testing.T) {
	s, _ := newTestAPI(t, nil)
	want := []string{
		"GET /-/healthz", "GET /-/readyz", "GET /-/metrics", "GET /-/openapi.json",
		"GET /{target}", "GET /uri-res/{service}", "POST /-/resolve", "GET /-/list/{prefix}", "GET /-/timemap/{target}", "GET /-/timemap/link/{target}", "GET /-/timegate/{target}",
		"GET /-/registry/{path}", "GET /-/handler", "GET /-/proxy.pac", // public
	}
	for _, op := range s.operations() {
		want = append(want, op.method+" "+adminapi.Root+op.path)
	}
	var got []string
	for path, methods := range readOpenAPI(t).Paths {
		for method := range methods {
			if method != "parameters" {
				got = append(got, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("described:\n%s\nserved:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// An openAPIParameter is a parameter, or a reference to one.
type openAPIParameter struct {
	Ref      string `json:"$ref"`
	Name, In string
}

// The parameters in the query are those that the operation knows.
func TestOpenAPIHasEveryParameter(t *testing.T) {
	s, _ := newTestAPI(t, nil)
	doc := readOpenAPI(t)
	for _, op := range s.operations() {
		if op.params == unchecked {
			continue
		}
		var described struct{ Parameters []openAPIParameter }
		if err := json.Unmarshal(doc.Paths[adminapi.Root+op.path][strings.ToLower(op.method)], &described); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range described.Parameters {
			if _, name, ok := strings.Cut(p.Ref, "#/components/parameters/"); ok {
				p = doc.Components.Parameters[name]
			}
			if p.In == "query" {
				got = append(got, p.Name)
			}
		}
		want := strings.Fields(op.params)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s %s: described %q, known %q", op.method, op.path, got, want)
		}
	}
}

func TestOpenAPIHasEveryField(t *testing.T) {
	doc := readOpenAPI(t)
	for name, v := range map[string]any{
		"Version": adminapi.Version{}, "Page": adminapi.Page{}, "Batch": adminapi.Batch{}, "Request": adminapi.Request{},
		"Results": adminapi.Results{}, "Outcome": adminapi.Outcome{}, "Retirement": adminapi.Retirement{},
		"History": adminapi.History{}, "Revision": adminapi.Revision{}, "Event": adminapi.Event{}, "Job": adminapi.Job{}, "JobResult": adminapi.JobResult{}, "Jobs": adminapi.Jobs{},
		"Authorities": adminapi.Authorities{}, "Grant": adminapi.Grant{}, "Granted": adminapi.Granted{},
		"Tokens": adminapi.Tokens{}, "Minting": adminapi.Minting{}, "Token": adminapi.Token{}, "Problem": adminapi.Problem{},
		"Record": store.Record{}, "Authority": store.Authority{}, "Location": nomen.Location{}, "Warning": registrar.Warning{},
		"Redaction": adminapi.Redaction{}, "Entry": adminapi.Entry{}, "Head": adminapi.Head{}, "Proof": adminapi.Proof{}, "Place": adminapi.Place{},
		"Relocation": registrar.Relocation{}, "Relocated": registrar.Relocated{}, "Undoing": registrar.Undoing{}, "Undone": registrar.Undone{}, "Reversal": registrar.Reversal{}, "BackupRequest": adminapi.BackupRequest{},
		"Report": adminapi.Report{}, "Progress": adminapi.Progress{}, "Fault": adminapi.Fault{}, "Moved": adminapi.Moved{}, "Refused": adminapi.Refused{},
		"Misses": adminapi.Misses{}, "Miss": misses.Miss{}, "Hiding": adminapi.Hiding{}, "Link": adminapi.Link{}, "Links": adminapi.Links{}, "LinkStatus": adminapi.LinkStatus{}, "LinkHost": adminapi.LinkHost{}, "LinkChanges": adminapi.LinkChanges{}, "LinkHostChange": adminapi.LinkHostChange{}, "LinkRequest": adminapi.LinkRequest{}, "Ignoring": adminapi.Ignoring{}, "Statistics": adminapi.Statistics{}, "NameCount": adminapi.NameCount{}, "HostCount": adminapi.HostCount{}, "LocationFault": adminapi.LocationFault{}, "Activity": adminapi.Activity{}, "MonthReport": adminapi.MonthReport{}, "MonthMiss": adminapi.MonthMiss{}, "MonthLinks": adminapi.MonthLinks{}, "Changes": adminapi.Changes{}, "DayCount": adminapi.DayCount{}, "PersonCount": adminapi.PersonCount{}, "Settings": adminapi.Settings{}, "Setting": adminapi.Setting{}, "Reloaded": adminapi.Reloaded{}, "SettingChange": adminapi.SettingChange{},
		"User": store.User{}, "UserGrant": store.UserGrant{}, "Users": adminapi.Users{}, "Granting": adminapi.Granting{},
		"Application": adminapi.Application{}, "Upload": adminapi.Upload{}, "JobChange": adminapi.JobChange{}, "Difference": adminapi.Difference{}, "Reach": adminapi.Reach{}, "Intervening": adminapi.Intervening{}, "Approval": adminapi.Approval{}, "SecondPerson": adminapi.SecondPerson{}, "Rejection": adminapi.Rejection{},
		"Summary": bulk.Summary{}, "Refusal": bulk.Refusal{}, "Change": bulk.Change{},
	} {
		got := slices.Sorted(maps.Keys(doc.Components.Schemas[name].Properties))
		if want := jsonFields(reflect.TypeOf(v)); !slices.Equal(got, want) {
			t.Errorf("%s: described %q, in Go %q", name, got, want)
		}
	}
}

func jsonFields(t reflect.Type) []string {
	var all []string
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous { // its fields are those of the object
			all = append(all, jsonFields(f.Type)...)
		}
		tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if tag != "" && tag != "-" {
			all = append(all, tag)
		}
	}
	slices.Sort(all)
	return slices.Compact(all) // a field may hide an embedded one
}
