package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A desk is an interface for changes: the local registrar, or that of a server.
type desk interface {
	Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error)
	Apply(ctx context.Context, reqs []registrar.Request, why string) ([]registrar.Outcome, error)
	Preview(ctx context.Context, reqs []registrar.Request) ([]registrar.Outcome, error)
	Retire(ctx context.Context, n name.Name, r registrar.Retirement, why string) (registrar.Outcome, error)
	Delete(ctx context.Context, n name.Name, expected uint64, why string) (registrar.Outcome, error)
	PutAuthority(ctx context.Context, a *store.Authority, expected uint64, why string) (registrar.Outcome, error)
	Redact(ctx context.Context, n name.Name, r registrar.Redaction) (registrar.Outcome, error)
	RedactAuthority(ctx context.Context, p name.Prefix, r registrar.Redaction) (registrar.Outcome, error)
	Relocate(ctx context.Context, r registrar.Relocation) (registrar.Relocated, error)
	Import(ctx context.Context, r io.Reader, o bulk.ImportOptions) (bulk.Summary, error)
}

// localDesk is the registrar with the rights of a token.
type localDesk struct {
	*registrar.Registrar
	actor registrar.Actor
}

func (l localDesk) Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error) {
	return l.Registrar.Put(ctx, l.actor, req, why)
}

func (l localDesk) Apply(ctx context.Context, reqs []registrar.Request, why string) ([]registrar.Outcome, error) {
	return l.Registrar.Apply(ctx, l.actor, reqs, why)
}

func (l localDesk) Preview(ctx context.Context, reqs []registrar.Request) ([]registrar.Outcome, error) {
	return l.Registrar.Preview(ctx, l.actor, reqs)
}

func (l localDesk) Retire(ctx context.Context, n name.Name, r registrar.Retirement, why string) (registrar.Outcome, error) {
	return l.Registrar.Retire(ctx, l.actor, n, r, why)
}

func (l localDesk) Delete(ctx context.Context, n name.Name, expected uint64, why string) (registrar.Outcome, error) {
	return l.Registrar.Delete(ctx, l.actor, n, expected, why)
}

func (l localDesk) PutAuthority(ctx context.Context, a *store.Authority, expected uint64, why string) (registrar.Outcome, error) {
	return l.Registrar.PutAuthority(ctx, l.actor, a, expected, why)
}

func (l localDesk) Redact(ctx context.Context, n name.Name, r registrar.Redaction) (registrar.Outcome, error) {
	return l.Registrar.Redact(ctx, l.actor, n, r)
}

func (l localDesk) RedactAuthority(ctx context.Context, p name.Prefix, r registrar.Redaction) (registrar.Outcome, error) {
	return l.Registrar.RedactAuthority(ctx, l.actor, p, r)
}

func (l localDesk) Relocate(ctx context.Context, r registrar.Relocation) (registrar.Relocated, error) {
	return l.Registrar.Relocate(ctx, l.actor, r)
}

func (l localDesk) Import(ctx context.Context, r io.Reader, o bulk.ImportOptions) (bulk.Summary, error) {
	return bulk.Import(ctx, l.Registrar, l.actor, r, o)
}

// putRequest returns a request for a name of the fixture's authority.
func putRequest(element, url string) registrar.Request {
	r := &store.Record{Spelling: "urn:dns:example.org:" + element}
	if url != "" {
		r.Locations = []nomen.Location{{URL: url}}
	}
	return registrar.Request{Record: r, Expected: store.AnyRevision}
}

// deskSteps are run in order with each desk, and must return the same results.
var deskSteps = []struct {
	title string
	do    func(ctx context.Context, d desk) any
}{
	{"create", func(ctx context.Context, d desk) any {
		return outcome(d.Put(ctx, putRequest("new", "https://a.example/"), "why"))
	}},
	{"again", func(ctx context.Context, d desk) any {
		return outcome(d.Put(ctx, putRequest("new", "https://a.example/"), "why"))
	}},
	{"keep", func(ctx context.Context, d desk) any {
		req := putRequest("new", "https://b.example/")
		req.Existing = registrar.Keep
		return outcome(d.Put(ctx, req, ""))
	}},
	{"refuse", func(ctx context.Context, d desk) any {
		req := putRequest("new", "https://b.example/")
		req.Existing = registrar.Refuse
		return outcome(d.Put(ctx, req, ""))
	}},
	{"fail on conflict, unchanged", func(ctx context.Context, d desk) any {
		req := putRequest("new", "https://a.example/")
		req.Existing = registrar.Refuse
		return outcome(d.Put(ctx, req, ""))
	}},
	{"another spelling", func(ctx context.Context, d desk) any {
		req := putRequest("new", "https://a.example/")
		req.Record.Spelling = "URN:DNS:example.org:new"
		return outcome(d.Put(ctx, req, ""))
	}},
	{"by name only, in full", func(ctx context.Context, d desk) any {
		req := putRequest("new", "https://c.example/")
		req.Record.Name, req.Record.Spelling = name.MustParse(req.Record.Spelling), ""
		return outcome(d.Put(ctx, req, ""))
	}},
	{"name and spelling that differ", func(ctx context.Context, d desk) any {
		req := putRequest("new", "https://c.example/")
		req.Record.Name = name.MustParse("urn:dns:example.org:other")
		return outcome(d.Put(ctx, req, ""))
	}},
	{"a batch that undoes itself", func(ctx context.Context, d desk) any {
		reqs := []registrar.Request{putRequest("new", "https://d.example/"), putRequest("new", "https://e.example/"), putRequest("secret", "javascript:x")}
		reqs[1].Fields = registrar.FieldLocations
		outs, err := d.Preview(ctx, reqs)
		applied, err2 := d.Apply(ctx, reqs, "both")
		return []any{outs, err, applied, err2}
	}},
	{"no authority", func(ctx context.Context, d desk) any {
		req := putRequest("", "https://d.example/")
		req.Record.Spelling = "urn:oid:1.2.3"
		return outcome(d.Put(ctx, req, ""))
	}},
	{"a wrong revision", func(ctx context.Context, d desk) any {
		req := putRequest("new", "https://f.example/")
		req.Expected = 1
		return outcome(d.Put(ctx, req, ""))
	}},
	{"or create", func(ctx context.Context, d desk) any {
		req := putRequest("newer", "https://f.example/")
		req.Expected, req.OrCreate = 5, true
		return outcome(d.Put(ctx, req, ""))
	}},
	{"retire", func(ctx context.Context, d desk) any {
		return outcome(d.Retire(ctx, name.MustParse("urn:dns:example.org:new"), registrar.Retirement{
			Reason: "withdrawn", Successors: []string{"urn:dns:example.org:unknown"}, Expected: store.AnyRevision,
		}, "asked"))
	}},
	{"retire, without successors", func(ctx context.Context, d desk) any {
		return outcome(d.Retire(ctx, name.MustParse("urn:dns:example.org:new"), registrar.Retirement{
			Reason: "withdrawn again", Successors: []string{}, Expected: store.AnyRevision,
		}, "asked"))
	}},
	{"a script", func(ctx context.Context, d desk) any {
		return outcome(d.Put(ctx, putRequest("new", "javascript:1"), ""))
	}},
	{"delete an active name", func(ctx context.Context, d desk) any {
		return outcome(d.Delete(ctx, name.MustParse("urn:dns:example.org:alb002"), store.AnyRevision, ""))
	}},
	{"delete a reserved name", func(ctx context.Context, d desk) any {
		return outcome(d.Delete(ctx, name.MustParse("urn:dns:example.org:secret"), 1, "never mind"))
	}},
	{"redact", func(ctx context.Context, d desk) any {
		return outcome(d.Redact(ctx, name.MustParse("urn:dns:example.org:new"), registrar.Redaction{
			Revisions: []uint64{1}, Reason: "a private address", Expected: store.AnyRevision,
		}))
	}},
	{"an authority", func(ctx context.Context, d desk) any {
		return outcome(d.PutAuthority(ctx, &store.Authority{Prefix: name.MustParsePrefix("urn:oid:1"), Owners: []string{"a"}}, 0, ""))
	}},
	{"an authority's history", func(ctx context.Context, d desk) any {
		return outcome(d.RedactAuthority(ctx, name.MustParsePrefix("urn:oid:1"), registrar.Redaction{Reason: "x", Expected: 4}))
	}},
	{"relocate", func(ctx context.Context, d desk) any {
		var moved []string
		sum, err := d.Relocate(ctx, registrar.Relocation{
			From: "https://example.org/", To: "https://moved.example/", DryRun: true, Why: "moved",
			Moved: func(n name.Name, from, to string) { moved = append(moved, n.Key(), from, to) },
		})
		return []any{moved, sum, err}
	}},
	{"import", func(ctx context.Context, d desk) any {
		var all []any
		for _, o := range []bulk.ImportOptions{
			{DryRun: true}, {OnConflict: bulk.Keep}, {OnConflict: bulk.Fail}, {OnConflict: bulk.Replace}, {}, {}, {Retired: true},
		} {
			o.Format, o.Why = bulk.CSV, "a table"
			o.Refused = func(r bulk.Refusal) { r.Err = nil; all = append(all, r) }
			o.Warned = func(w bulk.Warning) { all = append(all, w) }
			o.Changed = func(c bulk.Change) { all = append(all, c) }
			o.Doubted = func(d bulk.Doubts) { all = append(all, d) }
			sum, err := d.Import(ctx, strings.NewReader("name,url\n"+
				"urn:dns:example.org:alb002,https://x.example/\n"+
				"urn:dns:example.org:alb002,https://y.example/\n"+
				"urn:dns:example.org:new,https://x.example/\nurn:dns:example.org:x,https://x.example/\nurn:oid:2.5,https://x.example/\nurn:x,https://x.example/\n"), o)
			all = append(all, sum, err)
		}
		return all
	}},
}

func outcome(out registrar.Outcome, err error) any { return []any{out, err} }

// The registrar behaves the same locally and through the admin API.
func TestDesks(t *testing.T) {
	equal := cmp.Options{
		cmp.Comparer(func(a, b name.Name) bool { return a == b }), cmp.Comparer(func(a, b name.Prefix) bool { return a == b }),
		cmp.Comparer(func(a, b error) bool { return a == nil && b == nil || a != nil && b != nil && said(a) == said(b) }),
		cmpopts.EquateEmpty(), cmpopts.IgnoreFields(bulk.Summary{}, "Seconds", "Import"),
	}
	for _, role := range []adminapi.Grant{
		adminapi.AdministratorGrant(),
		{Who: "an editor", Role: "editor", Prefixes: []string{"urn:dns:example.org"}},
	} {
		c, _, _ := admin(t)
		srv, s := newTestAPI(t, nil)
		spelling := grant(t, s, role)
		id, _, _ := adminapi.SplitToken(spelling)
		token, err := s.Token(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		actor, err := registrar.Bearer(token)
		if err != nil {
			t.Fatal(err)
		}
		if role.Who != adminapi.AdministratorGrant().Who {
			granted, err := c.Grant(t.Context(), role)
			if err != nil {
				t.Fatal(err)
			}
			c.Token = granted.Token
		}
		local := localDesk{srv.registrar, actor}
		for _, step := range deskSteps {
			want, got := step.do(t.Context(), local), step.do(t.Context(), c)
			if diff := cmp.Diff(got, want, equal); diff != "" {
				t.Errorf("%s, %s: the server (-) and the registrar (+) differ:\n%s", role.Who, step.title, diff)
			}
		}
	}
}

// said returns the text of an error. The table of routes rejects a role that is too low
// before the registrar can say why another is needed.
func said(err error) string {
	var denied *registrar.DeniedError
	if errors.As(err, &denied) {
		brief := *denied
		brief.Why = ""
		return brief.Error()
	}
	return err.Error()
}

// notTransferred are the options of imports and exports that apply to one process and are
// not sent.
var notTransferred = []string{"Now", "Scratch", "Progress", "Refused", "Warned", "Changed", "Doubted", "Begun", "After", "Rejects", "Position", "Pins"}

// Every option of an import or export that a client can set arrives at the server.
func TestEveryOptionCrosses(t *testing.T) {
	for _, tt := range []struct {
		options any
		send    func(c *adminapi.Client, v any) error
		receive func(c *call) (any, error)
	}{
		{
			&bulk.ImportOptions{}, func(c *adminapi.Client, v any) error {
				_, err := c.Import(context.Background(), strings.NewReader(""), *v.(*bulk.ImportOptions))
				return err
			},
			func(c *call) (any, error) { o, err := c.importOptions(); return &o, err },
		},
		{
			&bulk.ExportOptions{}, func(c *adminapi.Client, v any) error {
				_, err := c.Export(context.Background(), io.Discard, *v.(*bulk.ExportOptions))
				return err
			},
			func(c *call) (any, error) { o, err := c.exportOptions(); return &o, err },
		},
	} {
		v := reflect.ValueOf(tt.options).Elem()
		for i := range v.NumField() {
			field := v.Type().Field(i).Name
			if slices.Contains(notTransferred, field) {
				continue
			}
			options := reflect.New(v.Type())
			set(t, options.Elem().Field(i))
			if field == "Sheet" || field == "Spreadsheet" { // for tables only
				options.Elem().FieldByName("Format").Set(reflect.ValueOf(bulk.CSV))
			}
			got := received(t, func(c *adminapi.Client) error { return tt.send(c, options.Interface()) }, tt.receive)
			if want := options.Elem().Field(i).Interface(); !reflect.DeepEqual(reflect.ValueOf(got).Elem().Field(i).Interface(), want) {
				t.Errorf("%T.%s: sent %v, arrived as %v", tt.options, field, want, reflect.ValueOf(got).Elem().Field(i))
			}
		}
	}
}

// set sets an option to a value other than zero.
func set(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case bulk.Sheet:
		v.Set(reflect.ValueOf(bulk.Sheet{Encoding: "windows-1252", Delimiter: ";", Columns: []string{"a b=name", "c="}, Split: []string{"dc:creator=||"}, Spreadsheet: true}))
		return
	case time.Time:
		v.Set(reflect.ValueOf(testNow))
		return
	case []nomen.Status:
		v.Set(reflect.ValueOf([]nomen.Status{nomen.Active, nomen.Retired}))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x y")
	case reflect.Int32:
		v.SetInt(';')
	case reflect.Uint8, reflect.Int:
		v.Set(reflect.ValueOf(1).Convert(v.Type()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		set(t, v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		set(t, key)
		set(t, value)
		v.SetMapIndex(key, value)
	default:
		t.Fatalf("the test knows no %s", v.Type())
	}
}

// received returns what the server receives for a request of the client.
func received(t *testing.T, send func(*adminapi.Client) error, receive func(*call) (any, error)) (got any) {
	t.Helper()
	var err error
	c := &adminapi.Client{URL: "http://127.0.0.1", HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		r.URL, _ = url.Parse(r.URL.String())
		got, err = receive(&call{r: r, actor: registrar.Operator(), q: r.URL.Query()})
		return nil, errors.New("nothing is answered")
	})}}
	_ = send(c) // fails, since there is no response
	if err != nil {
		t.Fatal(err)
	}
	return got
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
