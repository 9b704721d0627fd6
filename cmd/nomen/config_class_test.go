package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// TestOptionClasses: each option of serve is in exactly one class, and each class names only
// options that exist.
func TestOptionClasses(t *testing.T) {
	serve, _, err := (&cli{}).root().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]int{}
	for _, options := range optionClasses() {
		for name := range strings.FieldsSeq(options) {
			classes[name]++
		}
	}
	options := map[string]bool{"help": true, "running": true}
	add := func(f *pflag.Flag) { options[f.Name] = true }
	serve.InheritedFlags().VisitAll(add)
	serve.Flags().VisitAll(add)
	for name := range options {
		if n := classes[name]; n != 1 {
			t.Errorf("--%s is in %d classes of optionClasses, want 1", name, n)
		}
	}
	for name := range classes {
		if !options[name] {
			t.Errorf("optionClasses has --%s, which serve does not have", name)
		}
	}
}

// TestConfigKeys: every key of the file is explained, with an example that the program accepts.
func TestConfigKeys(t *testing.T) {
	known := knownOptions((&cli{}).root())
	keys := map[string]bool{}
	for _, k := range configKeys() {
		keys[k.Key] = true
		if k.Meaning == "" || k.Type == "" || strings.Contains(k.Example, `"..."`) {
			t.Errorf("%s is not explained: %+v", k.Key, k)
		}
		if !strings.HasPrefix(k.Key, "authority.") {
			if _, err := parseConfig("example", []byte(k.Example), known); err != nil {
				t.Errorf("%s: %v in the example\n%s", k.Key, err, k.Example)
			}
			continue
		}
		var file fileTables
		d := toml.NewDecoder(strings.NewReader(k.Example)).DisallowUnknownFields()
		if err := d.Decode(&file); err != nil {
			t.Errorf("%s: %v in the example\n%s", k.Key, err, k.Example)
		}
	}
	tables := reflect.TypeFor[fileTables]()
	for table := range tables.Fields() {
		element := table.Type.Elem()
		if element.Kind() == reflect.Pointer {
			element = element.Elem()
		}
		eachKey(element, func(name string) {
			if key := strings.ToLower(table.Name) + "." + name; !keys[key] {
				t.Errorf("%s is not explained", key)
			}
		})
	}
}

// eachKey calls f for the keys of a table.
func eachKey(table reflect.Type, f func(string)) {
	for field := range table.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
		switch {
		case field.Anonymous:
			eachKey(field.Type, f)
		case name == "-" || !field.IsExported():
		case name != "":
			f(name)
		default:
			if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != "" {
				name = tag
			}
			if name == "" {
				name = strings.ToLower(field.Name)
			}
			f(name)
		}
	}
}

// TestShownValue checks that the passwords of the hook are hidden, and that a value looks the same
// whether it is the default or was set.
func TestShownValue(t *testing.T) {
	var o backupFlags
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.register(f)
	check := func(name, want string) {
		t.Helper()
		if got := shownValue(f.Lookup(name)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	check("backup.every", "24h")
	check("backup.to", "none")
	check("backup.hook-timeout", "6h")
	if err := f.Parse([]string{"--backup.every", "24h", "--backup.to", "/srv", "--backup.hook-timeout", "1h0m30s", "--backup.hook", "restic", "--backup.hook", "--repo=rest:https://u:secret@h/", "--backup.hook", "--password", "--backup.hook", "secret"}); err != nil {
		t.Fatal(err)
	}
	check("backup.every", "24h")
	check("backup.to", `"/srv"`)
	check("backup.hook-timeout", "1h0m30s")
	check("backup.hook", `["restic", "--repo=rest:https://u:xxxxx@h/", "--password", "xxxxx"]`)
	for text, want := range map[string]string{"0s": "0s", "1m0s": "1m", "10m0s": "10m", "10h0m0s": "10h", "1h10m0s": "1h10m", "5s": "5s"} {
		if got := shortDuration(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestUnknownVariables checks that NOMEN_ variables that are not options are reported, except those
// of tests.
func TestUnknownVariables(t *testing.T) {
	known := map[string]bool{"public-url": true, "limits.burst": true, "config": false}
	got := unknownVariables([]string{"NOMEN_PUBLIC_URL=x", "NOMEN_LIMITS_BURST=1", "NOMEN_CONFIG=f", "NOMEN_TEST_PROGRAM=1", "NOMEN_LONG=1", "PATH=x", "NOMEN_PUBLC_URL=x", "NOMEN_ZZZ=1"}, known)
	want := []string{
		`environment: NOMEN_PUBLC_URL is not the variable of an option; did you mean "NOMEN_PUBLIC_URL"?`,
		`environment: NOMEN_ZZZ is not the variable of an option`,
	}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i].Error() != want[i] {
			t.Errorf("got %v, want %s", got[i], want[i])
		}
	}
}
