package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/nomen-project/nomen/store"
)

// TestAuthorityTable checks that a configuration file can set every field of an authority, except
// those that the store sets.
func TestAuthorityTable(t *testing.T) {
	set := []string{"modified", "revision", "redacted"}
	eachField(reflect.TypeFor[store.Authority](), func(f reflect.StructField) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		want := key
		if slices.Contains(set, key) {
			want = "-"
		}
		if got := cmp.Or(f.Tag.Get("toml"), strings.ToLower(f.Name)); got != want { // go-toml ignores the case of names
			t.Errorf("%s: the key in TOML is %q, want %q", f.Name, got, want)
		}
	})
}

// eachField calls f for the fields of a type of this module, and of the types of its fields.
func eachField(of reflect.Type, f func(reflect.StructField)) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || !strings.HasPrefix(of.PkgPath(), "github.com/nomen-project/") {
		return
	}
	for field := range of.Fields() {
		if field.IsExported() && !field.Anonymous {
			f(field)
		}
		eachField(field.Type, f)
	}
}

// TestAuthorityTablePolicy checks that the policy of an authority is as the file says.
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
	var file struct{ Authority []*store.Authority }
	if err := toml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	a := file.Authority[0]
	if got := a.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := a.Compile(); err != nil {
		t.Error(err)
	}
}

// Without --config and NOMEN_CONFIG, commands about a server take the configuration of the
// package, if there is one, and say so.
func TestSystemConfig(t *testing.T) {
	t.Setenv("NOMEN_CONFIG", "") // so that it is restored
	os.Unsetenv("NOMEN_CONFIG")
	file := filepath.Join(t.TempDir(), "nomen.toml")
	taken := func(args ...string) (config, said string) {
		t.Helper()
		var errs bytes.Buffer
		c := &cli{streams: streams{err: &errs}, sources: map[string]optionSource{}}
		cmd := c.root()
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		c.sayConfig(cmd, file)
		return c.config, errs.String()
	}
	if config, said := taken(); config != "" || said != "" {
		t.Errorf("without the file: %q, %q", config, said)
	}
	if err := os.WriteFile(file, []byte("rate = 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if config, said := taken(); config != file || said != "nomen: using "+file+"; --config names another file\n" {
		t.Errorf("with the file: %q, %q", config, said)
	}
	if config, said := taken("--config", "x"); config != "x" || said != "" {
		t.Errorf("with --config: %q, %q", config, said)
	}
	t.Setenv("NOMEN_CONFIG", "x")
	if config, said := taken(); config != "" || said != "" {
		t.Errorf("with NOMEN_CONFIG: %q, %q", config, said)
	}
}
