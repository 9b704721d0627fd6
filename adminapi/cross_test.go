package adminapi

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// full sets every field of v, and of what it holds, to something other than zero.
// Functions and fields of the types that it does not know stay as they are.
func full(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case name.Name:
		v.Set(reflect.ValueOf(name.MustParse("urn:example:a")))
		return
	case name.Prefix:
		v.Set(reflect.ValueOf(name.MustParsePrefix("urn:example")))
		return
	case time.Duration:
		v.Set(reflect.ValueOf(time.Minute))
		return
	case store.Head:
		v.Set(reflect.ValueOf(store.Head{Size: 1, Hash: [32]byte{1}}))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("urn:example:a")
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		full(t, v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		full(t, key)
		full(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				full(t, v.Field(i))
			}
		}
	case reflect.Func:
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[error]() {
			v.Set(reflect.ValueOf(store.ErrNotFound))
		}
	default:
		t.Fatalf("the test knows no %s", v.Type())
	}
}

// crossed returns what arrives at the other end of the admin interface.
func crossed[W any](t *testing.T, wire W) (back W) {
	t.Helper()
	b, err := Encode(wire)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return back
}

// Each field of the types of the admin API is transferred with its value. If a new field is not
// transferred, this test fails.
func TestEveryFieldCrosses(t *testing.T) {
	equal := cmp.Options{
		cmp.Comparer(func(a, b name.Name) bool { return a == b }), cmp.Comparer(func(a, b name.Prefix) bool { return a == b }),
		cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) }),
		cmpopts.IgnoreUnexported(registrar.Relocation{}),
	}
	check := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(got, want, equal); diff != "" {
			t.Errorf("%s does not arrive as it was sent:\n%s", what, diff)
		}
	}
	var req registrar.Request
	full(t, reflect.ValueOf(&req).Elem())
	req.Record.Status = "active"
	for title, spelling := range map[string]string{"both": "urn:example:a", "name alone": "", "two names": "urn:example:b", "no URI": "a"} {
		req.Record.Spelling = spelling
		for _, existing := range []registrar.Existing{registrar.Update, registrar.Keep, registrar.Refuse} {
			req.Existing = existing
			got, err := crossed(t, newRequest(req)).Registrar()
			if err != nil {
				t.Fatal(err)
			}
			if title == "both" {
				got.Record.Name = req.Record.Name // the spelling tells it
			}
			check("a request with "+title, got, req)
		}
	}

	var out registrar.Outcome
	full(t, reflect.ValueOf(&out).Elem())
	check("an outcome", crossed(t, NewOutcome(out)).outcome(), out)

	var ret registrar.Retirement
	full(t, reflect.ValueOf(&ret).Elem())
	check("a retirement", crossed(t, Retirement{ret, revisionOrNil(ret.Expected), ""}).Registrar(), ret)
	for _, successors := range [][]string{nil, {}} {
		ret.Successors = successors
		if got := crossed(t, Retirement{Retirement: ret}).Successors; (got == nil) != (successors == nil) {
			t.Errorf("successors %#v became %#v", successors, got)
		}
	}

	var red registrar.Redaction
	full(t, reflect.ValueOf(&red).Elem())
	check("a redaction", crossed(t, Redaction{red, revisionOrNil(red.Expected)}).Registrar(), red)

	var rel registrar.Relocation
	full(t, reflect.ValueOf(&rel).Elem())
	check("a relocation", crossed(t, rel), rel)

	change := store.Change{Record: new(store.Record)}
	for i := range reflect.TypeFor[store.Change]().NumField() {
		switch reflect.TypeFor[store.Change]().Field(i).Name {
		case "Authority", "Token", "User", "Rights", "Delete", "Redacted", "Expected", "UseOnly", "AnyTime": // a change is about one thing
		default:
			full(t, reflect.ValueOf(&change).Elem().Field(i))
		}
	}
	entry := &store.Entry{Seq: 1, Change: change.Clone(), Salt: [16]byte{1}, Digest: [32]byte{1}}
	got, err := crossed(t, NewEntry(entry)).Stored()
	if err != nil {
		t.Fatal(err)
	}
	check("an entry", got, entry)
	change.Record, change.User = nil, new(store.User)
	full(t, reflect.ValueOf(change.User).Elem())
	entry.Change = change.Clone()
	if got, err = crossed(t, NewEntry(entry)).Stored(); err != nil {
		t.Fatal(err)
	}
	check("an entry of a user", got, entry)
	j := NewEntry(entry)
	j.Key += "x"
	if _, err := crossed(t, j).Stored(); err == nil {
		t.Error("an entry of a user with the key of another")
	}
	change.User, change.Rights = nil, new(store.TokenRights)
	full(t, reflect.ValueOf(change.Rights).Elem())
	entry.Change = change.Clone()
	if got, err = crossed(t, NewEntry(entry)).Stored(); err != nil {
		t.Fatal(err)
	}
	check("an entry of the rights of a token", got, entry)
	j = NewEntry(entry)
	j.Key += "x"
	if _, err := crossed(t, j).Stored(); err == nil {
		t.Error("an entry of rights with the key of another token")
	}

	var g registrar.Granting
	full(t, reflect.ValueOf(&g).Elem())
	check("a granting", crossed(t, Granting{g, revisionOrNil(g.Expected), ""}).Registrar(), g)

	for _, v := range []any{new(bulk.Summary), new(bulk.Refusal), new(bulk.Warning), new(bulk.Change), new(bulk.Doubts), new(registrar.Relocated), new(registrar.Undoing), new(registrar.Reversal), new(registrar.Undone)} {
		full(t, reflect.ValueOf(v).Elem())
		b, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(v).Elem()).Interface()
		if err := json.Unmarshal(b, back); err != nil {
			t.Fatal(err)
		}
		if r, ok := v.(*bulk.Refusal); ok {
			r.Err = nil // for those who have the records here
		}
		check(reflect.TypeOf(v).String(), back, v)
	}
}
