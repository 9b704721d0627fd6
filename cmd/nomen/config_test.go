package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/nomen-project/nomen/store"
)

// TestAuthorityTable: whatever an authority can say, a configuration file can.
func TestAuthorityTable(t *testing.T) {
	set := []string{"modified", "revision", "redacted"} // by the store
	got, want := tags(reflect.TypeFor[authorityTable](), "toml"), tags(reflect.TypeFor[store.Authority](), "json")
	want = slices.DeleteFunc(want, func(key string) bool { return slices.Contains(set, key) })
	if !slices.Equal(got, want) {
		t.Errorf("a file knows\n%q\nan authority\n%q", got, want)
	}
}

// tags returns the keys of a type, of what it holds with a point before them, in
// their order.
func tags(of reflect.Type, tag string) []string {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || !strings.HasPrefix(of.PkgPath(), "github.com/nomen-project/") && of.PkgPath() != "main" {
		return nil
	}
	var all []string
	for f := range of.Fields() {
		if f.Anonymous {
			all = append(all, tags(f.Type, tag)...)
			continue
		}
		key, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		if key == "" {
			continue
		}
		all = append(all, key)
		for _, inner := range tags(f.Type, tag) {
			all = append(all, key+"."+inner)
		}
	}
	return all
}

// TestAuthorityTablePolicy: what a file says of a policy is the policy.
func TestAuthorityTablePolicy(t *testing.T) {
	const text = `
[[authority]]
prefix = "urn:x-a"
max_age = 60
access_note = "ask us"
services = ["I2L", "I2C"]
keywords = {c = ["toc"], s = []}
r_component = {toc = "c=toc"}
delegation = {mode = "redirect", to = "https://r.example/{+name}{?s,c}"}

[[authority.rules]]
match = "n{id:d1-9}"
parts = {id = {pad = 3}}
locations = [{url = "https://h.example/{id}", lang = "fi", valid_from = "2026-01-01T00:00:00Z"}]
same_as = ["urn:x-b:{id}"]
tests = [{from = "urn:x-a:n5", to = ["https://h.example/005"]}]
`
	const want = `{"rules":[{"match":"n{id:d1-9}","parts":{"id":{"pad":3}},"locations":[{"url":"https://h.example/{id}","lang":"fi","valid_from":"2026-01-01T00:00:00Z"}],` +
		`"same_as":["urn:x-b:{id}"],"tests":[{"from":"urn:x-a:n5","to":["https://h.example/005"]}]}],"delegation":{"mode":"redirect","to":"https://r.example/{+name}{?s,c}"},` +
		`"access_note":"ask us","services":["I2L","I2C"],"keywords":{"c":["toc"],"s":[]},"r_component":{"toc":"c=toc"},"max_age":60}`
	var file struct{ Authority []authorityTable }
	if err := toml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	a, err := file.Authority[0].authority()
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := a.Compile(); err != nil {
		t.Error(err)
	}
}
