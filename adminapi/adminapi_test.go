package adminapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func TestNamesInPaths(t *testing.T) {
	for _, tt := range [][2]string{
		{"urn:ietf:rfc:2648", "urn:ietf:rfc:2648"},
		{"urn:example:a%2Fb", "urn:example:a%2Fb"},
		{"urn%3Aexample%3Aa%252Fb", "urn:example:a%2Fb"},
		{"urn%3aexample%3Aa%2Fhistory", "urn:example:a/history"},
		{"a%2Fb:c", "a%2Fb:c"},
		{"%3Ax", "%3Ax"},
		{"urn%3Ax%", "urn%3Ax%"},
		{"urn%3", "urn%3"},
		{"", ""},
	} {
		if got := UnescapeName(tt[0]); got != tt[1] {
			t.Errorf("UnescapeName(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}

func FuzzNamesInPaths(f *testing.F) {
	f.Add("urn:example:a%2Fb~'é")
	f.Add("x+y:z")
	f.Fuzz(func(t *testing.T, s string) {
		scheme, _, ok := strings.Cut(s, ":")
		if !ok || scheme == "" || strings.ContainsFunc(scheme, func(r rune) bool { return r > '~' || EscapeName(string(r)) != string(r) }) {
			return // no name
		}
		escaped := EscapeName(s)
		if got := UnescapeName(escaped); got != s {
			t.Errorf("%q escaped is %q, and back %q", s, escaped, got)
		}
		if strings.ContainsAny(escaped, "/?#: \r\n") {
			t.Errorf("%q escaped is %q", s, escaped)
		}
	})
}

func TestTokens(t *testing.T) {
	spelling, token := NewToken(AdministratorGrant(), time.Unix(0, 0))
	id, secret, ok := SplitToken(spelling)
	if !ok || id != token.ID || !Matches(token, secret) || Matches(token, secret+"x") || strings.Contains(fmt.Sprint(token), secret) {
		t.Errorf("%q for %+v", spelling, token)
	}
	for _, bad := range []string{"", ".", "a", "a.", ".b", "a." + strings.Repeat("b", maxToken)} {
		if _, _, ok := SplitToken(bad); ok {
			t.Errorf("%.20q is a token", bad)
		}
	}
	if other, _ := NewToken(AdministratorGrant(), time.Unix(0, 0)); other == spelling {
		t.Error("two tokens are the same")
	}
}

// TestFullDisk checks that the problem of a full disk says what to do, and becomes the same error
// again.
func TestFullDisk(t *testing.T) {
	err := &fs.PathError{Op: "write", Path: "/backup/000004.sst", Err: syscall.ENOSPC}
	p := NewProblem(fmt.Errorf("backup: %w", err))
	if p.Status != 507 || p.Type != ProblemPath+"disk-full" || !strings.Contains(p.Detail, "/backup/000004.sst") {
		t.Errorf("got %+v", p)
	}
	if back := p.err(); !errors.Is(back, syscall.ENOSPC) || back.Error() != p.Detail {
		t.Errorf("back: %v", back)
	}
	if k, ok := KindOf("disk-full"); !ok || k.Title != p.Title || !strings.Contains(k.Remedy, "Free some space") {
		t.Errorf("%+v", k)
	}
}

func TestProblemsRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
	}{
		{&name.Error{Input: "urn:x", Offset: 3, Rule: "NSS", Message: "empty"}, 400},
		{&RequestError{Line: 2, Column: 7, Field: "status", Message: "unknown"}, 400},
		{&registrar.RefusalError{Name: "urn:x:y", Field: "locations[0].url", Offset: 2, Rule: "scheme", Message: "no script"}, 422},
		{&registrar.DeniedError{Who: "a", Role: registrar.Editor, Need: registrar.Owner, Name: "urn:x:y", Why: "it is special"}, 403},
		{&registrar.DeniedError{Who: "a", Role: registrar.Reader, Need: registrar.Editor, Name: "urn:x:y"}, 403},
		{&registrar.DeniedError{Who: "a", Role: registrar.Editor, Need: registrar.Editor, Name: "urn:x:y"}, 403},
		{&registrar.DeniedError{Who: "a", Role: registrar.Administrator, Need: registrar.Administrator, Name: "tokens", Why: "they are for all names"}, 403},
		{&store.ConflictError{Key: "urn:x:y", Expected: 0, Current: 4}, 409},
		{&store.StateError{Key: "urn:x:y", Rule: "never deleted"}, 409},
		{&store.LimitError{Key: "urn:x:y", What: "note", Size: 9, Limit: 8}, 413},
		{&bulk.LineError{Line: 1, Column: 6, Name: "urn:example:1", Field: "colour", Message: "unknown column"}, 400},
		{store.ErrNotFound, 404},
		{ErrUnauthorized, 401},
		{ErrUnknownToken, 401},
		{ErrUnavailable, 503},
		{&store.AwayError{Cause: "the database cannot be reached"}, 503},
		{&store.UnknownError{}, 500},
		{store.ErrReadOnly, 403},
		{&FullError{Detail: "the disk is full: 3 MiB are free, 16 have to be"}, 507},
		{&JobsError{Status: 429, Detail: "too many jobs"}, 429},
		{&JobsError{Status: 503, Detail: "too many jobs"}, 503},
		{&StatusError{Kind: KindHost, Status: 421, Detail: "another server"}, 421},
		{&store.StateError{Key: "urn:x:y", Rule: "was last changed later", Clock: true}, 409},
		{&store.AwayError{Cause: "the clock is wrong", Clock: true}, 503},
		{&StatusError{Status: 405, Detail: "PATCH is not offered here"}, 405},
	} {
		p := NewProblem(fmt.Errorf("wrapped: %w", tt.err))
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Problem
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if got := back.err(); p.Status != tt.status || !reflect.DeepEqual(got, tt.err) {
			t.Errorf("%#v became %#v with status %d", tt.err, got, p.Status)
		}
	}
	conflict := &store.ConflictError{Key: "k", Expected: 1, Current: 2}
	if p := NewProblem(&PreconditionError{conflict}); p.Status != 412 || !reflect.DeepEqual(p.err(), conflict) {
		t.Errorf("a precondition: %+v", p)
	}
	var broken *bulk.BrokenError
	if err := NewProblem(&bulk.BrokenError{Line: 7, Err: io.ErrUnexpectedEOF}).err(); !errors.As(err, &broken) || broken.Line != 7 {
		t.Errorf("a broken import: %#v", err)
	}
	secret := errors.New("the password of the disk")
	if p := NewProblem(secret); p.Status != 500 || strings.Contains(p.Detail, "password") {
		t.Errorf("a failure tells: %+v", p)
	}
	if p := NewProblem(context.Canceled); p.Status != 503 {
		t.Errorf("a cancelled request: %+v", p)
	}
}

// A denied client learns which role or prefix is required.
func TestDeniedDetail(t *testing.T) {
	for _, tt := range []struct {
		err  registrar.DeniedError
		want string
	}{
		{registrar.DeniedError{Who: "w", Need: registrar.Editor, Name: "urn:x:y"}, `this needs the role editor; "w" has the role reader`},
		{registrar.DeniedError{Who: "w", Role: registrar.Editor, Need: registrar.Editor, Name: "urn:x:y"}, `the prefixes granted to "w" do not cover it`},
		{
			registrar.DeniedError{Role: registrar.Administrator, Need: registrar.Administrator, Name: "tokens", Anywhere: true},
			"this needs the role administrator for all names",
		},
		{
			registrar.DeniedError{Need: registrar.Administrator, Name: "urn:x", Anywhere: true, Why: "it would answer for others"},
			"it would answer for others; this needs the role administrator for all names",
		},
	} {
		p := NewProblem(&tt.err)
		if p.Detail != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.err, p.Detail, tt.want)
		}
		if got := p.err(); got.Error() != tt.err.Error() {
			t.Errorf("crossed: %q, want %q", got, tt.err.Error())
		}
	}
}

func TestRequestsRoundTrip(t *testing.T) {
	for _, want := range []registrar.Request{
		{Record: &store.Record{Spelling: "urn:x:y"}, Expected: store.AnyRevision},
		{Record: &store.Record{Spelling: "urn:x:y"}, Fields: registrar.FieldName | registrar.FieldReason, Add: true, Expected: 0},
		{Record: &store.Record{Spelling: "urn:x:y"}, Fields: registrar.FieldLocations, Expected: 7, OrCreate: true},
	} {
		got, err := newRequest(want).Registrar()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
	}
	var missing *RequestError
	if _, err := (Request{}).Registrar(); !errors.As(err, &missing) {
		t.Errorf("a request without a record: %v", err)
	}
	var bad *name.Error
	if _, err := (Request{Key: "urn:x y", Request: registrar.Request{Record: &store.Record{}}}).Registrar(); !errors.As(err, &bad) {
		t.Errorf("a bad key: %v", err)
	}
	for _, text := range []string{`{"fields":["colour"]}`, `{"fields":"name"}`, `{"existing":"forget"}`} {
		if err := json.Unmarshal([]byte(text), new(Request)); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

// An invalid response is an error, never a wrong result.
func TestStrangeServer(t *testing.T) {
	var answer func(w http.ResponseWriter)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		answer(w)
	}))
	defer srv.Close()
	c := &Client{URL: srv.URL + "/"}
	say := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	ctx := t.Context()
	for title, a := range map[string]func(http.ResponseWriter){
		"page":       say(200, "<html>"),
		"not found":  say(404, "404 page not found"),
		"empty":      say(200, ""),
		"half":       say(200, `{"outcomes":[`),
		"no outcome": say(200, `{"outcomes":[]}`),
	} {
		answer = a
		if out, err := c.Put(ctx, registrar.Request{Record: &store.Record{}}, ""); err == nil || out.Err == nil {
			t.Errorf("%s: put: %+v, %v", title, out, err)
		}
		if sum, err := c.Import(ctx, strings.NewReader("{}"), bulk.ImportOptions{}); err == nil {
			t.Errorf("%s: import: %+v", title, sum)
		}
		if sum, err := c.Export(ctx, io.Discard, bulk.ExportOptions{}); err == nil {
			t.Errorf("%s: export: %+v", title, sum)
		}
	}
	answer = say(200, `{"progress":{"read":5}}`+"\n")
	var last bulk.Summary
	sum, err := c.Import(ctx, strings.NewReader("{}"), bulk.ImportOptions{Progress: func(s bulk.Summary) { last = s }})
	if err == nil || !cmp.Equal(sum, last) || sum.Read != 5 {
		t.Errorf("an import that broke off: %+v, %v", sum, err)
	}
	srv.Close()
	if _, err := c.Version(ctx); err == nil {
		t.Error("a server that is not there")
	}
}

// TestFailureText: an explanation is not preceded by the words of the status 500.
func TestFailureText(t *testing.T) {
	for _, tt := range []struct {
		err  StatusError
		want string
	}{
		{StatusError{Status: 500, Detail: "cannot write to /root"}, "adminapi: cannot write to /root"},
		{StatusError{Status: 500}, "adminapi: 500 Internal Server Error: "},
		{StatusError{Status: 502, Detail: "no answer"}, "adminapi: 502 Bad Gateway: no answer"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
